// Counts of refusals as they are kept, in either dialect.

import type { RefusedCount } from '../refusals.ts'

/** Under this key id the counts of all keys together are kept. */
const ALL_KEYS = ''

/** The counts of single keys, each once, and with them those of all keys together. */
export const withAll = (counts: readonly RefusedCount[]): RefusedCount[] => {
  const summed = new Map<string, RefusedCount>()
  for (const { keyId, hour, code, count } of counts)
    for (const of of [keyId, ALL_KEYS]) {
      const name = `${of} ${hour} ${code}`
      summed.set(name, { keyId: of, hour, code, count: count + (summed.get(name)?.count ?? 0) })
    }
  return [...summed.values()]
}
