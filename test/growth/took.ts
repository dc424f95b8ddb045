// How long something took: told always, and held to a bound only where one is given, as on a busy machine all takes longer.

import { expect } from 'bun:test'

export const took = (what: string, mostMs?: number): (() => void) => {
  const since = performance.now()
  return () => {
    const ms = Math.round(performance.now() - since)
    console.info(`${what}: ${ms} ms`)
    if (mostMs !== undefined) expect(ms).toBeLessThanOrEqual(mostMs)
  }
}
