// The spans of time pages look at: counted back from now, or a month of the gateway's time zone, as usage is kept by.

import { HOUR_MS } from '../../../lib/spans.ts'

export const RANGES = [
  ['24h', '24 hours'],
  ['7d', '7 days'],
  ['30d', '30 days'],
  ['90d', '90 days'],
] as const

type Back = (typeof RANGES)[number][0]
/** 2026-10 */
type Month = `${number}-${number}`
export type Range = Back | Month

const MONTHS = 12
const SPANS: Record<Back, { hours: number; step: 'hour' | 'day' }> = {
  '24h': { hours: 23, step: 'hour' },
  '7d': { hours: 6 * 24, step: 'day' },
  '30d': { hours: 29 * 24, step: 'day' },
  '90d': { hours: 89 * 24, step: 'day' },
}

const isBack = (text: string): text is Back => Object.hasOwn(SPANS, text)

/** One that has begun. */
export const isMonth = (text: string): text is Month =>
  /^20\d\d-(0[1-9]|1[0-2])$/.test(text) && Date.parse(text) <= Date.now()

export const isRange = (text: string | undefined): text is Range =>
  text !== undefined && (isBack(text) || isMonth(text))

/** What to ask the server for; whole steps, the one under way included. */
export const spanOf = (range: Range): { since: string; until: string; step: 'hour' | 'day' } => {
  const now = Date.now()
  if (isBack(range)) {
    const { hours, step } = SPANS[range]
    return { since: new Date(now - hours * HOUR_MS).toISOString(), until: new Date(now).toISOString(), step }
  }
  const since = new Date(range)
  const end = Date.UTC(since.getUTCFullYear(), since.getUTCMonth() + 1)
  // Dates without a time are those of the gateway's zone.
  const until = end > now ? new Date(now).toISOString() : new Date(end).toISOString().slice(0, 10)
  return { since: since.toISOString().slice(0, 10), until, step: 'day' }
}

const named = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** The last year of months by name, newest first, and `asked` where it is older. */
export const lastMonths = (asked: Month | undefined): [Month, string][] => {
  const today = new Date()
  const months = Array.from({ length: MONTHS }, (_, ago) => {
    const at = Date.UTC(today.getUTCFullYear(), today.getUTCMonth() - ago)
    return new Date(at).toISOString().slice(0, 7) as Month
  })
  return [...new Set(asked === undefined ? months : [...months, asked])].map((month) => [
    month,
    named.format(new Date(month)),
  ])
}
