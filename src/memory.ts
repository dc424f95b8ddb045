// The bound on memory: whether the process holds more than it may, looked at seldom enough to cost nothing.

import { residentBytes } from './process.ts'

export type Memory = {
  /** Whether a request more is too much, beside those `inside`. With none inside one is always let in. */
  past(limitBytes: number, inside: number): boolean
}

/** Between two looks. A burst may pass the limit by what arrives within it. */
const LOOK_EVERY_MS = 50
/** Between two collections asked for. */
const COLLECT_EVERY_MS = 1_000

export const createMemory = (read: () => number = residentBytes, collect: () => void = () => Bun.gc(true)): Memory => {
  let lookedAt = Number.NEGATIVE_INFINITY
  let collectedAt = Number.NEGATIVE_INFINITY
  let bytes = 0
  return {
    past(limitBytes, inside) {
      const now = performance.now()
      if (now - lookedAt >= LOOK_EVERY_MS) {
        lookedAt = now
        bytes = read()
        // The runtime keeps what it may need again: only what is left after a collection counts.
        if (bytes > limitBytes && now - collectedAt >= COLLECT_EVERY_MS) {
          collect()
          collectedAt = performance.now()
          bytes = read()
        }
      }
      return bytes > limitBytes && inside > 0
    },
  }
}
