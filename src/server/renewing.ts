// Renews the quotas of keys, and budgets, when a day, a week or a month begins, in steps short enough that no request waits for one.

import type { Gateway } from '../gateway.ts'
import { isRenewalDue, isRenewedAhead, type Renewing, renewingOf } from '../keys/renewal.ts'
import { BELIEVED_AFTER_MS } from './pruning.ts'
import { createSteps } from './steps.ts'

/** How soon after midnight it begins, and how often it looks whether a new day has. */
const EVERY_MS = 1_000

/** Something that renews. `now`: as it is; undefined where it is there no more. */
type Due = { now: () => Renewing | undefined; renew: () => Promise<unknown> }

/** Runs until the returned function is called; begins at once with what became due while no server ran. */
export const startRenewing = (gateway: Gateway): (() => void) => {
  const { store, clock, stopwatch, log } = gateway
  const { calendar } = gateway.config
  /** The day of which all is done. */
  let day: number | undefined
  /** What was due on `found`, the last of it renewed first. */
  let due: Due[] = []
  let found: number | undefined
  let failing = false
  /** Since when keys have been renewed in a time to come, by the stopwatch. */
  let doubtedAt: number | undefined
  const isDue = ({ now }: Due): boolean => {
    const known = now()
    return known !== undefined && isRenewalDue(known, clock(), calendar)
  }
  const all = (): Due[] => [
    ...store.keys.list().map((key): Due => ({ now: () => renewingOf(key), renew: () => store.keys.renew(key.id) })),
    ...store.budgets.list().map(
      ({ id }): Due => ({
        now() {
          const budget = store.budgets.get(id)
          return budget && { renews: budget.renews, at: budget.since }
        },
        renew: () => store.budgets.renew(id),
      }),
    ),
  ]

  const renewing = createSteps(
    async () => {
      const next = due.at(-1)
      // In a pause a key may have been revoked, or a budget taken away.
      if (next !== undefined && isDue(next)) await next.renew()
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
    doubtedAt = due.some((each) => isRenewedAhead(each.now()?.at ?? 0, now)) ? (doubtedAt ?? stopwatch()) : undefined
    return doubtedAt === undefined || stopwatch() - doubtedAt >= BELIEVED_AFTER_MS
  }
  const look = (): void => {
    const today = calendar.dayOf(clock())
    if (today === day) doubtedAt = undefined
    if (renewing.isRunning() || today === day || !gateway.isKeeper()) return
    due = all().filter(isDue)
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
