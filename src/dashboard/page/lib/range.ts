// The spans of time pages look at: counted back from now, or a month of the gateway's time zone, as usage is kept by.

import { DAY_MS, HOUR_MS } from '../../../lib/spans.ts'

export const RANGES = [
  ['24h', '24 hours'],
  ['7d', '7 days'],
  ['30d', '30 days'],
  ['90d', '90 days'],
] as const

type Back = (typeof RANGES)[number][0]
/** 2026-10 */
export type Month = `${number}-${number}`
export type Range = Back | Month

const MONTHS = 12
const HOURS = 24
/** Days, the one under way included. */
const DAYS: Record<Exclude<Back, '24h'>, number> = { '7d': 7, '30d': 30, '90d': 90 }

const isBack = (text: string): text is Back => RANGES.some(([back]) => back === text)

const monthAt = (year: number, month: number): Month =>
  new Date(Date.UTC(year, month)).toISOString().slice(0, 7) as Month

/** 2026-10-31, by the clocks of a time zone. */
const dateIn = (timeZone: string, at: number): string => {
  const options = { timeZone, year: 'numeric', month: '2-digit', day: '2-digit' } as const
  const parts = new Intl.DateTimeFormat('en', options).formatToParts(at)
  return (['year', 'month', 'day'] as const).map((type) => parts.find((part) => part.type === type)?.value).join('-')
}

const daysBefore = (date: string, days: number): string =>
  new Date(Date.parse(date) - days * DAY_MS).toISOString().slice(0, 10)

/** The month it is in a time zone. */
export const thisMonth = (timeZone: string, now = Date.now()): Month => dateIn(timeZone, now).slice(0, 7) as Month

/** The first and the last date of a span of whole steps. */
export const datesOf = ({ since, until }: { since: string; until: string }, timeZone: string): [string, string] => [
  dateIn(timeZone, Date.parse(since)),
  dateIn(timeZone, Date.parse(until) - 1),
]

export const monthAfter = (month: Month, months: number): Month => {
  const at = new Date(month)
  return monthAt(at.getUTCFullYear(), at.getUTCMonth() + months)
}

/** One that has begun. */
export const isMonth = (text: string, timeZone: string): text is Month =>
  /^20\d\d-(0[1-9]|1[0-2])$/.test(text) && text <= thisMonth(timeZone)

export const isRange = (text: string | undefined, timeZone: string): text is Range =>
  text !== undefined && (isBack(text) || isMonth(text, timeZone))

/** What to ask the server for; whole steps, the one under way included. */
export const spanOf = (range: Range, timeZone: string): { since: string; until: string; step: 'hour' | 'day' } => {
  const now = Date.now()
  const until = new Date(now).toISOString()
  if (range === '24h') return { since: new Date(now - (HOURS - 1) * HOUR_MS).toISOString(), until, step: 'hour' }
  // Dates without a time are those of the gateway's zone, where a day may have 23 hours.
  if (isBack(range)) return { since: daysBefore(dateIn(timeZone, now), DAYS[range] - 1), until, step: 'day' }
  const isUnderWay = range === thisMonth(timeZone, now)
  return { since: `${range}-01`, until: isUnderWay ? until : `${monthAfter(range, 1)}-01`, step: 'day' }
}

const named = new Intl.DateTimeFormat(undefined, { month: 'long', year: 'numeric', timeZone: 'UTC' })

/** The last year of months by name, newest first, and `asked` where it is older. */
export const lastMonths = (asked: Month | undefined, timeZone: string): [Month, string][] => {
  const months = Array.from({ length: MONTHS }, (_, ago) => monthAfter(thisMonth(timeZone), -ago))
  return [...new Set(asked === undefined ? months : [...months, asked])].map((month) => [
    month,
    named.format(new Date(month)),
  ])
}
