// Days, hours and dates as the clocks of a time zone show them. A day is named by the first millisecond of the UTC day of its
// date, whatever zone it is of: days can be counted, compared and written without knowing where they were.

import { DAY_MS, HOUR_MS } from './spans.ts'

export type Calendar = {
  /** IANA, as it was given: `Asia/Phnom_Penh`. */
  readonly zone: string
  /** The day that a time lies in. */
  dayOf(at: number): number
  /** When a day begins, in ms since the epoch: its first moment, also where its clocks skip midnight. */
  startOf(day: number): number
  /** When the hour that a time lies in began, in ms since the epoch. */
  hourOf(at: number): number
  /** How far the clocks are ahead of UTC, in ms, and from when until when they are. */
  offsetAt(at: number): Offset
}

/** `from` inclusive, `until` exclusive; infinite where there is no end. */
type Offset = { readonly ms: number; readonly from: number; readonly until: number }

const ALWAYS: Offset = { ms: 0, from: Number.NEGATIVE_INFINITY, until: Number.POSITIVE_INFINITY }

export const UTC: Calendar = {
  zone: 'UTC',
  dayOf: (at) => floorTo(at, DAY_MS),
  startOf: (day) => day,
  hourOf: (at) => floorTo(at, HOUR_MS),
  offsetAt: () => ALWAYS,
}

/** Undefined for what is no time zone. */
export const calendarOf = (zone: string): Calendar | undefined => {
  if (zone === 'UTC') return UTC
  // An offset such as +07:00 is one to the runtime, and knows no summer.
  if (!/^[A-Za-z]/.test(zone)) return undefined
  try {
    at0(zone)
  } catch {
    return undefined
  }
  // Zones change their clocks a few times a year, and times come in order.
  let known = offsetIn(zone, 0)
  const offsetAt = (at: number): Offset => {
    if (at < known.from || at >= known.until) known = offsetIn(zone, at)
    return known
  }
  const starts = new Map<number, number>()
  return {
    zone,
    dayOf: (at) => floorTo(at + offsetAt(at).ms, DAY_MS),
    startOf(day) {
      const found = starts.get(day)
      if (found !== undefined) return found
      if (starts.size >= KEPT_STARTS) starts.clear()
      const start = startIn(zone, day)
      starts.set(day, start)
      return start
    },
    hourOf(at) {
      const { ms, from } = offsetAt(at)
      // An hour in which the clocks change by less than one begins anew there.
      return Math.max(floorTo(at + ms, HOUR_MS) - ms, from)
    },
    offsetAt,
  }
}

const KEPT_STARTS = 4_096

const floorTo = (at: number, span: number): number => Math.floor(at / span) * span

const at0 = (zone: string, at = 0): Temporal.ZonedDateTime =>
  Temporal.Instant.fromEpochMilliseconds(Math.floor(at)).toZonedDateTimeISO(zone)

const offsetIn = (zone: string, at: number): Offset => {
  const here = at0(zone, at)
  const next = here.getTimeZoneTransition('next')?.epochMilliseconds
  // The one before the next moment is the one that is in force.
  const last = here.add({ milliseconds: 1 }).getTimeZoneTransition('previous')?.epochMilliseconds
  return {
    ms: Math.round(here.offsetNanoseconds / 1e6),
    from: last ?? Number.NEGATIVE_INFINITY,
    until: next ?? Number.POSITIVE_INFINITY,
  }
}

const startIn = (zone: string, day: number): number =>
  Temporal.PlainDate.from(dateOf(day)).toZonedDateTime(zone).epochMilliseconds

/** `2026-09-01`. */
export const dateOf = (day: number): string => new Date(day).toISOString().slice(0, 10)

/** The day of a date such as `2026-09-01`; undefined for what is none. */
export const dayNamed = (date: string): number | undefined => {
  const day = /^\d{4}-\d{2}-\d{2}$/.test(date) ? Date.parse(date) : Number.NaN
  return !Number.isNaN(day) && dateOf(day) === date ? day : undefined
}

/** The next day. */
export const dayAfter = (day: number, days = 1): number => day + days * DAY_MS

/** The day that begins at a time or first after it: where a range that ends then ends in whole days. */
export const dayFrom = (at: number, calendar: Calendar): number => {
  const day = calendar.dayOf(at)
  return calendar.startOf(day) < at ? dayAfter(day) : day
}

export type Step = 'hour' | 'day'

/** When the step that a time lies in began. */
export const startOfStep = (at: number, step: Step, calendar: Calendar): number =>
  step === 'hour' ? calendar.hourOf(at) : calendar.startOf(calendar.dayOf(at))

/** When the next one begins. */
export const nextStep = (start: number, step: Step, calendar: Calendar): number =>
  step === 'hour' ? calendar.hourOf(start + HOUR_MS) : calendar.startOf(dayAfter(calendar.dayOf(start)))

/** When each step begins, from the one that `since` lies in to the last before `until`. */
export const stepsBetween = (since: number, until: number, step: Step, calendar: Calendar): number[] => {
  const steps: number[] = []
  for (let at = startOfStep(since, step, calendar); at < until; at = nextStep(at, step, calendar)) steps.push(at)
  return steps
}

/** When a date without a time begins, or with `end` ends; undefined for what is no date alone. */
export const timeOfDate = (text: string, calendar: Calendar, end = false): number | undefined => {
  const day = dayNamed(text)
  return day === undefined ? undefined : calendar.startOf(end ? dayAfter(day) : day)
}
