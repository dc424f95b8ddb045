// What is open in the process: what comes back to rest when nothing is under way.

import { allFigures, sumOf } from '../../observe/workers.ts'
import type { Part } from './call.ts'

export const state: Part<'state'> = {
  state: ({ gateway }) => {
    const figures = allFigures(gateway)
    return {
      open_exchanges: sumOf(figures, 'open'),
      open_reservations: gateway.ledger.openCount(),
      pending_requests: sumOf(figures, 'pending'),
      provider_attempts: figures.flatMap(({ targets }) => targets).reduce((sum, { inFlight }) => sum + inFlight, 0),
      live_streams: gateway.live.watching(),
      draining: gateway.draining,
      uptime_ms: Math.round(performance.now()),
      rss_bytes: sumOf(figures, 'rssBytes'),
      heap_bytes: sumOf(figures, 'heapBytes'),
    }
  },
}
