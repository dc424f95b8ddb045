// Numbers and times as people read them, in the viewer's language and zone.

import { HOUR_MS } from '../../../lib/spans.ts'

const number = (options?: Intl.NumberFormatOptions) => new Intl.NumberFormat(undefined, options)
const inDollars = (options?: Intl.NumberFormatOptions) => number({ style: 'currency', currency: 'USD', ...options })
// By its code: many systems have no glyph for the riel's sign.
const inRiel = (options: Intl.NumberFormatOptions) =>
  number({ style: 'currency', currency: 'KHR', currencyDisplay: 'code', ...options })
const COMPACT = { notation: 'compact', maximumFractionDigits: 1 } as const

const whole = number()
const short = number(COMPACT)
const tenths = number({ minimumFractionDigits: 1, maximumFractionDigits: 1 })
const hundredths = number({ minimumFractionDigits: 2, maximumFractionDigits: 2 })
const dollars = inDollars()
const cents = inDollars({ minimumSignificantDigits: 2, maximumSignificantDigits: 2 })
const fine = inDollars({ minimumFractionDigits: 6 })
const price = inDollars({ maximumFractionDigits: 6 })
const shortDollars = inDollars(COMPACT)
const wholeDollars = inDollars({ maximumFractionDigits: 0 })
const riel = inRiel({ maximumFractionDigits: 0 })
const shortRiel = inRiel(COMPACT)
const share = number({ style: 'percent', maximumFractionDigits: 1 })
const moment = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })
const precise = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' })
const date = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const brief = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit' })
const field = new Intl.NumberFormat('en')
const clock = new Intl.DateTimeFormat(undefined, { hour: '2-digit', minute: '2-digit', second: '2-digit' })
const relative = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' })

/** 1,234,567 */
export const count = (value: number): string => whole.format(value)
/** 1 key, 2 keys */
export const counted = (value: number, word: string): string => `${count(value)} ${word}${value === 1 ? '' : 's'}`
/** As it stands in a field: grouped the way `readCount` reads it back in any language. */
export const countField = (value: number): string => field.format(value)
/** The same where null is no limit, which an empty field stands for. */
export const limitField = (value: number | null): string => (value === null ? '' : countField(value))
/** 1.2M */
export const compact = (value: number): string => (Math.abs(value) < 10_000 ? whole.format(value) : short.format(value))
/** 1.2K: where figures stand below each other on an axis, all in one way. */
export const scale = (value: number): string => short.format(value)
export const percent = (value: number | null): string => (value === null ? '–' : share.format(value))

/** Micro-USD as dollars; what is under a cent keeps two digits that mean something. */
export const usd = (microUsd: number): string => {
  const value = microUsd / 1e6
  return value !== 0 && Math.abs(value) < 0.01 ? cents.format(value) : dollars.format(value)
}
/** As long as a large figure has room for: 123.4M from a hundred million. */
export const countFigure = (value: number): string => (value < 100_000_000 ? whole : short).format(value)
/** The same: no cents from ten thousand dollars up, $1.2M from a million. */
export const usdFigure = (microUsd: number): string => {
  const value = microUsd / 1e6
  if (value < 10_000) return usd(microUsd)
  return (value < 1_000_000 ? wholeDollars : shortDollars).format(value)
}
/** On an axis. */
export const usdScale = (microUsd: number): string =>
  microUsd < 10_000e6 ? usd(microUsd) : shortDollars.format(microUsd / 1e6)
/** What one exchange cost, to the micro-USD: with as many digits in every row, so that they stand below each other. */
export const usdFine = (microUsd: number): string => fine.format(microUsd / 1e6)
/** A price in dollars, with the digits it has. */
export const usdPrice = (value: number): string => price.format(value)
/** For costs that stand below each other: six digits while all are small, else cents, and what is less is said to be. */
export const usdColumn = (costs: number[]): ((microUsd: number) => string) => {
  const tiny = (cost: number): boolean => cost !== 0 && Math.abs(cost) < 10_000
  if (costs.some(tiny) && costs.every((cost) => Math.abs(cost) < 1_000_000)) return usdFine
  return (microUsd) => (tiny(microUsd) ? `< ${dollars.format(0.01)}` : dollars.format(microUsd / 1e6))
}
export const khr = (value: number): string => riel.format(value)
/** KHR 1.2M */
export const khrShort = (value: number): string => (value < 10_000 ? riel : shortRiel).format(value)

/** 840 ms, 1.20 s, 12.0 s, 2.0 min, 3.0 h */
export const duration = (ms: number | null): string => {
  if (ms === null) return '–'
  if (ms < 1_000) return `${whole.format(Math.round(ms))} ms`
  if (ms < 60_000) return `${(ms < 10_000 ? hundredths : tenths).format(ms / 1_000)} s`
  return ms < HOUR_MS ? `${tenths.format(ms / 60_000)} min` : `${tenths.format(ms / HOUR_MS)} h`
}

export const dateTime = (iso: string): string => moment.format(new Date(iso))
export const exact = (iso: string): string => precise.format(new Date(iso))
export const day = (iso: string): string => date.format(new Date(iso))
/** The time of day for today, date and time for what is older. */
export const timeOf = (iso: string): string => {
  const at = new Date(iso)
  return at.toDateString() === new Date().toDateString() ? clock.format(at) : brief.format(at)
}

const STEPS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
]

/** 3 hours ago, in 2 months, now */
export const ago = (iso: string, now: number): string => {
  const seconds = (Date.parse(iso) - now) / 1_000
  const step = STEPS.find(([, size]) => Math.abs(seconds) >= size)
  return step === undefined ? relative.format(0, 'second') : relative.format(Math.trunc(seconds / step[1]), step[0])
}

/** The value of a datetime-local field in the viewer's zone. */
export const toLocalField = (iso: string): string => {
  const at = new Date(iso)
  return new Date(at.getTime() - at.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
}
