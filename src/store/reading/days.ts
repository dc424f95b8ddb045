// Days and hours of a time zone in the words of SQL, for sums that are kept by the time their hours began at.

import type { Calendar } from '../../lib/calendar.ts'
import { DAY_MS, HOUR_MS } from '../../lib/spans.ts'

/** How far ahead of UTC the clocks are at an hour of this range: a number, or one for each part between two changes of the clocks. */
const offsetIn = (since: number, until: number, calendar: Calendar): string => {
  const parts: string[] = []
  let { ms, until: end } = calendar.offsetAt(since)
  while (end < until) {
    parts.push(`WHEN hour < ${end} THEN ${ms}`)
    const next = calendar.offsetAt(end)
    ms = next.ms
    end = next.until
  }
  return parts.length === 0 ? `${ms}` : `CASE ${parts.join(' ')} ELSE ${ms} END`
}

/** The day of an hour, as a calendar names it. The range is bounded: it has a few changes of the clocks a year. */
export const dayIn = (since: number, until: number, calendar: Calendar): string => {
  const offset = offsetIn(since, until, calendar)
  return `(hour + (${offset})) / ${DAY_MS} * ${DAY_MS}`
}

/** When an hour began by these clocks: those of before another zone was set may stand across them. */
export const hourIn = (since: number, until: number, calendar: Calendar): string => {
  const offset = offsetIn(since, until, calendar)
  return `(hour + (${offset})) / ${HOUR_MS} * ${HOUR_MS} - (${offset})`
}
