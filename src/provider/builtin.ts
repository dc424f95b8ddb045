// The two providers every gateway knows, as data. A configuration adds their accounts and overrides what differs.

import type { Provider, Timeouts } from './provider.ts'

const DEFAULT_TIMEOUTS: Timeouts = {
  connectMs: 5_000,
  firstByteMs: 600_000,
  idleMs: 300_000,
  totalMs: 3_600_000,
}

/** A provider of which nothing else is said. */
export const blankProvider = (id: string): Provider => ({
  id,
  wires: [],
  auth: 'bearer',
  versionHeader: undefined,
  brand: undefined,
  accounts: [],
  timeouts: DEFAULT_TIMEOUTS,
  quirks: {},
})

export const BUILTIN_PROVIDERS: readonly Provider[] = [
  {
    ...blankProvider('vendor_a'),
    wires: ['messages'],
    auth: 'x-api-key',
    versionHeader: { name: 'vendorA-version', value: '2023-06-01' },
  },
  {
    ...blankProvider('vendor_b'),
    wires: ['responses', 'chat-completions', 'images', 'embeddings', 'moderations', 'audio'],
  },
]
