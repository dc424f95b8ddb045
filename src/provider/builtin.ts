// The two providers every gateway knows, as data. A configuration adds their accounts and overrides what differs.

import type { Provider, Timeouts } from './provider.ts'

export const DEFAULT_TIMEOUTS: Timeouts = {
  connectMs: 5_000,
  firstByteMs: 600_000,
  idleMs: 300_000,
  totalMs: 3_600_000,
}

export const BUILTIN_PROVIDERS: readonly Provider[] = [
  {
    id: 'vendor_a',
    wires: ['messages'],
    auth: 'x-api-key',
    versionHeader: { name: 'vendorA-version', value: '2023-06-01' },
    brand: undefined,
    accounts: [],
    timeouts: DEFAULT_TIMEOUTS,
    quirks: {},
  },
  {
    id: 'vendor_b',
    wires: ['responses', 'chat-completions', 'images'],
    auth: 'bearer',
    versionHeader: undefined,
    brand: undefined,
    accounts: [],
    timeouts: DEFAULT_TIMEOUTS,
    quirks: {},
  },
]
