// Quotas and budgets that renew: what was used is set back to 0 when a day, a week or a month begins, by the clocks of the
// gateway's time zone.

import type { Calendar } from '../lib/calendar.ts'
import { DAY_MS } from '../lib/spans.ts'

export const RENEWALS = ['day', 'week', 'month'] as const
export type Renewal = (typeof RENEWALS)[number]

/** When each takes place, within a sentence. */
const RENEWAL_TIMES: Record<Renewal, string> = {
  day: 'every day',
  week: 'every Monday',
  month: 'on the first of every month',
}

/** When it takes place, as a sentence; nothing where it does not. */
export const renewalWords = (renews: Renewal | undefined, { zone }: Calendar): string =>
  renews === undefined ? '' : ` It renews ${RENEWAL_TIMES[renews]}, at 00:00 ${zone === 'UTC' ? zone : `(${zone})`}.`

/** The first day of the period that a day lies in. Weeks begin on Monday. */
const firstDayOf = (renews: Renewal, day: number): number => {
  if (renews === 'day') return day
  const date = new Date(day)
  if (renews === 'week') return day - ((date.getUTCDay() + 6) % 7) * DAY_MS
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
}

/** When the period that a time lies in began, in ms since the epoch. */
export const beginningOf = (renews: Renewal, at: number, calendar: Calendar): number =>
  calendar.startOf(firstDayOf(renews, calendar.dayOf(at)))

/** When the next period begins, in ms since the epoch. */
export const nextRenewal = (renews: Renewal, now: number, calendar: Calendar): number => {
  const first = firstDayOf(renews, calendar.dayOf(now))
  // A day or more into the next period.
  const days = renews === 'day' ? 1 : renews === 'week' ? 7 : 32
  return calendar.startOf(firstDayOf(renews, first + days * DAY_MS))
}

/** What renews. `at`: when it did last, or that was agreed. */
export type Renewing = { renews: Renewal | undefined; at: number }

/** What of a key decides when its quota renews. Times are milliseconds since the epoch. */
type OfKey = {
  createdAt: number
  revokedAt: number | undefined
  renewedAt?: number | undefined
  renews?: Renewal | undefined
}

/** An expired key is renewed too: it may be extended within its period. */
export const renewingOf = ({ renews, revokedAt, renewedAt, createdAt }: OfKey): Renewing => ({
  renews: revokedAt === undefined ? renews : undefined,
  at: renewedAt ?? createdAt,
})

/** Whether it is to be renewed now: a period has begun since it was last, or that was in a time to come. */
export const isRenewalDue = ({ renews, at }: Renewing, now: number, calendar: Calendar): boolean =>
  renews !== undefined && (at < beginningOf(renews, now, calendar) || isRenewedAhead(at, now))

/**
 * Whether something was renewed more than a day from now: the clock was wrong then, and without a renewal there would be none
 * until that day; or it is wrong now.
 */
export const isRenewedAhead = (at: number, now: number): boolean => at > now + DAY_MS
