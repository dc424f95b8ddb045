// Renews the quotas of keys when a day, a week or a month begins, in steps short enough that no request waits for one.

import type { Gateway } from './gateway.ts'
import type { Key } from './keys/key.ts'
import { isRenewalDue, isRenewedAhead } from './keys/renewal.ts'
import { BELIEVED_AFTER_MS } from './pruning.ts'

/** How soon after midnight it begins, and how often it looks whether a new day has. */
const EVERY_MS = 1_000
/** A step blocks the event loop about this long, and is followed by a pause. */
const STEP_MS = 3
const PAUSE_MS = 15
const DAY_MS = 86_400_000

/** Runs until the returned function is called; begins at once with what became due while no server ran. */
export const startRenewing = ({ store, clock, stopwatch, log }: Gateway): (() => void) => {
  /** The UTC day of which all is done. */
  let day: number | undefined
  let pause: Timer | undefined
  let failing = false
  /** Since when keys have been renewed in a time to come, by the stopwatch. */
  let doubtedAt: number | undefined
  const isDue = (key: Key): boolean => isRenewalDue(key, clock.now())

  /** Renews the last of these keys first; `found`: the day on which they were due. */
  const step = (keys: Key[], found: number): void => {
    pause = undefined
    const began = performance.now()
    try {
      for (let key = keys.at(-1); key !== undefined; key = keys.at(-1)) {
        if (performance.now() - began > STEP_MS) {
          pause = setTimeout(() => step(keys, found), PAUSE_MS).unref()
          return
        }
        // In a pause it may have been revoked.
        if (isDue(key)) store.keys.renew(key.id)
        keys.pop()
      }
      day = found
      failing = false
    } catch (error) {
      if (!failing) log.warn('quotas could not be renewed: tried again every second', { cause: String(error) })
      failing = true
    }
  }
  /** Whether the clock can be right: one that is behind would have what is used up start again. */
  const isBelieved = (due: readonly Key[]): boolean => {
    const now = clock.now()
    doubtedAt = due.some((key) => isRenewedAhead(key, now)) ? (doubtedAt ?? stopwatch.now()) : undefined
    return doubtedAt === undefined || stopwatch.now() - doubtedAt >= BELIEVED_AFTER_MS
  }
  const look = (): void => {
    const today = Math.floor(clock.now() / DAY_MS)
    if (today === day) doubtedAt = undefined
    if (pause !== undefined || today === day) return
    const due = store.keys.list().filter(isDue)
    if (isBelieved(due)) step(due, today)
  }
  look()
  const rounds = setInterval(look, EVERY_MS)
  rounds.unref()
  return () => {
    clearInterval(rounds)
    clearTimeout(pause)
  }
}
