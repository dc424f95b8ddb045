// Quotas that renew: a key's used tokens are set back to 0 when a day, a week or a month begins, in UTC.

import { DAY_MS, startOfSpan } from '../lib/spans.ts'

export const RENEWALS = ['day', 'week', 'month'] as const
export type Renewal = (typeof RENEWALS)[number]

/** What of a key decides when its quota renews. Times in ms since the epoch. */
type Renewing = {
  renews?: Renewal | undefined
  renewedAt?: number | undefined
  createdAt: number
  revokedAt?: number | undefined
}

/** When each takes place, within a sentence. */
export const RENEWAL_TIMES: Record<Renewal, string> = {
  day: 'every day',
  week: 'every Monday',
  month: 'on the first of every month',
}

/** When the period that a time lies in began, in ms since the epoch. Weeks begin on Monday. */
const beginningOf = (renews: Renewal, at: number): number => {
  const day = startOfSpan(at, DAY_MS)
  if (renews === 'day') return day
  const date = new Date(day)
  if (renews === 'week') return day - ((date.getUTCDay() + 6) % 7) * DAY_MS
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
}

/** When the next period begins, in ms since the epoch. */
export const nextRenewal = (renews: Renewal, now: number): number => {
  const began = beginningOf(renews, now)
  if (renews === 'day') return began + DAY_MS
  // A day or more into the next period.
  return beginningOf(renews, began + (renews === 'week' ? 7 : 32) * DAY_MS)
}

/**
 * Whether a key's quota is to be renewed now: a period has begun since it was last, or that was in a time to come. An
 * expired key is renewed too: it may be extended within its period.
 */
export const isRenewalDue = (key: Renewing, now: number): boolean =>
  key.renews !== undefined &&
  key.revokedAt === undefined &&
  (renewedAt(key) < beginningOf(key.renews, now) || isRenewedAhead(key, now))

/**
 * Whether a key was renewed more than a day from now: the clock was wrong then, and without a renewal there would be none
 * until that day; or it is wrong now.
 */
export const isRenewedAhead = (key: Renewing, now: number): boolean => renewedAt(key) > now + DAY_MS

const renewedAt = (key: Renewing): number => key.renewedAt ?? key.createdAt
