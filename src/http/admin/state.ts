// What is open in the process: what comes back to rest when nothing is under way.

import { heapBytes, residentBytes } from '../../observe/process.ts'
import type { Part } from './call.ts'

export const state: Part<'state'> = {
  state: ({ gateway }) => ({
    open_exchanges: gateway.open.size,
    open_reservations: gateway.ledger.openCount(),
    pending_requests: gateway.listener?.pending() ?? 0,
    provider_attempts: gateway.health.states().reduce((sum, { inFlight }) => sum + inFlight, 0),
    live_streams: gateway.live.watching(),
    draining: gateway.draining,
    uptime_ms: Math.round(performance.now()),
    rss_bytes: residentBytes(),
    heap_bytes: heapBytes(),
  }),
}
