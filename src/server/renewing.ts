// Renews the quotas of keys when a day, a week or a month begins, in steps short enough that no request waits for one.

import type { Gateway } from '../gateway.ts'
import type { Key } from '../keys/key.ts'
import { isRenewalDue, isRenewedAhead } from '../keys/renewal.ts'
import { DAY_MS } from '../lib/spans.ts'
import { BELIEVED_AFTER_MS } from './pruning.ts'
import { createSteps } from './steps.ts'

/** How soon after midnight it begins, and how often it looks whether a new day has. */
const EVERY_MS = 1_000

/** Runs until the returned function is called; begins at once with what became due while no server ran. */
export const startRenewing = ({ store, clock, stopwatch, log }: Gateway): (() => void) => {
  /** The UTC day of which all is done. */
  let day: number | undefined
  /** The keys that were due on `found`, the last of them renewed first. */
  let due: Key[] = []
  let found: number | undefined
  let failing = false
  /** Since when keys have been renewed in a time to come, by the stopwatch. */
  let doubtedAt: number | undefined
  const isDue = (key: Key): boolean => isRenewalDue(key, clock())

  const renewing = createSteps(
    () => {
      const key = due.at(-1)
      // In a pause it may have been revoked.
      if (key !== undefined && isDue(key)) store.keys.renew(key.id)
      due.pop()
      if (due.length > 0) return true
      day = found
      failing = false
      return false
    },
    (cause) => {
      if (!failing) log.warn('quotas could not be renewed: tried again every second', { cause: String(cause) })
      failing = true
    },
  )
  /** Whether the clock can be right: one that is behind would have what is used up start again. */
  const isBelieved = (): boolean => {
    const now = clock()
    doubtedAt = due.some((key) => isRenewedAhead(key, now)) ? (doubtedAt ?? stopwatch()) : undefined
    return doubtedAt === undefined || stopwatch() - doubtedAt >= BELIEVED_AFTER_MS
  }
  const look = (): void => {
    const today = Math.floor(clock() / DAY_MS)
    if (today === day) doubtedAt = undefined
    if (renewing.isRunning() || today === day) return
    due = store.keys.list().filter(isDue)
    found = today
    if (isBelieved()) renewing.run()
  }
  look()
  const rounds = setInterval(look, EVERY_MS)
  rounds.unref()
  return () => {
    clearInterval(rounds)
    renewing.stop()
  }
}
