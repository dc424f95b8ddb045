// How long something took: told always, and held to a bound only where one is given, as on a busy machine all takes longer.

import { expect } from 'bun:test'

/** By how much a machine is slower on which others are busy, as the long form has found it: by so much bounds are wider. */
export const SLACK = Number(process.env.SLUICE_SLACK ?? 1)

export const took = (what: string, mostMs?: number): (() => void) => {
  const since = performance.now()
  return () => told(what, performance.now() - since, mostMs)
}

export const told = (what: string, ms: number, mostMs?: number): void => {
  console.info(`${what}: ${Math.round(ms)} ms`)
  if (mostMs !== undefined) expect(ms).toBeLessThanOrEqual(mostMs * SLACK)
}
