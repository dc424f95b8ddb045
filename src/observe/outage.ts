// What fails for a while, as a log tells of it: once when it begins, when another cause shows, once a minute while it lasts, and
// when it is over.

import type { Later } from '../store/patience.ts'

type Options = {
  began(cause: unknown): void
  lasts(cause: unknown, forMs: number): void
  over(forMs: number): void
  /** Whether nothing waits for it any more. */
  isOver(): boolean
  /** Milliseconds. */
  stopwatch(): number
  later: Later
}

/** It is not over before nothing has failed for so long: whoever tries hears of it sooner, be it a statement of ten seconds. */
const QUIET_MS = 12_000
const AGAIN_MS = 60_000
const LOOK_MS = 1_000
/** Told of at once: some are other words with every failure. */
const MOST_CAUSES = 8

/** In words: its figures may be others each time (a block, a process, an address). */
const wordsOf = (cause: unknown): string => String(cause).replace(/\d+/g, '0')

/** Returns what is to be told of each failure. */
export const createOutage = ({ began, lasts, over, isOver, stopwatch, later }: Options): ((cause: unknown) => void) => {
  /** `causes`: in words, those that were told. */
  let known: { since: number; last: number; told: number; cause: unknown; causes: Set<string> } | undefined
  const look = (): void => {
    if (known === undefined) return
    const now = stopwatch()
    if (now - known.last >= QUIET_MS && isOver()) {
      over(known.last - known.since)
      known = undefined
      return
    }
    const { causes } = known
    const cause = wordsOf(known.cause)
    // What breaks off first is often not what stays in the way.
    const isOther = causes.size < MOST_CAUSES && !causes.has(cause)
    if (now - known.told >= AGAIN_MS || isOther) {
      known.told = now
      if (isOther) causes.add(cause)
      lasts(known.cause, now - known.since)
    }
    later(look, LOOK_MS)
  }
  return (cause) => {
    const now = stopwatch()
    if (known !== undefined) {
      known.last = now
      known.cause = cause
      return
    }
    known = { since: now, last: now, told: now, cause, causes: new Set([wordsOf(cause)]) }
    began(cause)
    later(look, LOOK_MS)
  }
}
