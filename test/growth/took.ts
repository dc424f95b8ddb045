// How long something took: told always, and held to a bound only where one is given, as on a busy machine all takes longer.

import { expect } from 'bun:test'
import { availableParallelism, loadavg } from 'node:os'

/** How many of what runs are the nodes, the database and the clients of a test. */
const OWN = 4

/** By how much a machine is slower on which others are busy, now or when the long form began: by so much bounds are wider. */
export const slack = (): number =>
  Math.max(Number(process.env.SLUICE_SLACK ?? 1), ((loadavg()[0] ?? 0) - OWN) / availableParallelism())

export const took = (what: string, mostMs?: number): (() => void) => {
  const since = performance.now()
  return () => told(what, performance.now() - since, mostMs)
}

export const told = (what: string, ms: number, mostMs?: number): void => {
  console.info(`${what}: ${Math.round(ms)} ms`)
  if (mostMs !== undefined) expect(ms).toBeLessThanOrEqual(mostMs * slack())
}
