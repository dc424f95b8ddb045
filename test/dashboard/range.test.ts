// Which months a page can ask for, and from when to when: those of the gateway's time zone.

import { afterEach, expect, setSystemTime, test } from 'bun:test'
import { datesOf, isMonth, lastMonths, monthAfter, spanOf, thisMonth } from '../../src/dashboard/page/lib/range.ts'

afterEach(() => void setSystemTime())

/** Where it is the first of a month, or the last, before it is so by UTC or after. */
test.each([
  ['Asia/Phnom_Penh', '2026-11-30T18:00:00Z', '2026-12'],
  ['UTC', '2026-11-30T18:00:00Z', '2026-11'],
  ['America/Los_Angeles', '2027-01-01T05:00:00Z', '2026-12'],
  ['Pacific/Kiritimati', '2026-12-31T10:00:00Z', '2027-01'],
] as const)('by the clocks of %s, %s lies in %s', (zone, now, month) => {
  setSystemTime(new Date(now))
  expect(thisMonth(zone)).toBe(month)
  expect(lastMonths(undefined, zone)[0]?.[0]).toBe(month)
  expect(isMonth(month, zone)).toBe(true)
  expect(isMonth(monthAfter(month, 1), zone)).toBe(false)
  // The month under way ends now, the one before with its last day.
  expect(spanOf(month, zone)).toEqual({ since: `${month}-01`, until: new Date(now).toISOString(), step: 'day' })
  const before = monthAfter(month, -1)
  expect(spanOf(before, zone)).toEqual({ since: `${before}-01`, until: `${month}-01`, step: 'day' })
})

test.each([
  ['Asia/Phnom_Penh', '2026-10-31T17:00:00.000Z', '2026-11-30T17:00:00.000Z'],
  ['UTC', '2026-11-01T00:00:00.000Z', '2026-12-01T00:00:00.000Z'],
  ['America/Los_Angeles', '2026-11-01T07:00:00.000Z', '2026-12-01T08:00:00.000Z'],
])('a table of the whole November by the clocks of %s is called after its first and last day', (zone, since, until) => {
  expect(datesOf({ since, until }, zone)).toEqual(['2026-11-01', '2026-11-30'])
})

test.each([
  ['UTC', '2026-11-30T18:00:00Z', '2026-11-24', '2026-11-01'],
  ['Asia/Phnom_Penh', '2026-11-30T18:00:00Z', '2026-11-25', '2026-11-02'],
  // A day of 25 hours lies between.
  ['America/Los_Angeles', '2026-11-06T07:30:00Z', '2026-10-30', '2026-10-07'],
  ['America/Los_Angeles', '2026-03-10T07:30:00Z', '2026-03-04', '2026-02-09'],
])('by the clocks of %s, days back from %s begin on %s and %s', (zone, now, week, thirty) => {
  setSystemTime(new Date(now))
  const until = new Date(now).toISOString()
  expect(spanOf('7d', zone)).toEqual({ since: week, until, step: 'day' })
  expect(spanOf('30d', zone)).toEqual({ since: thirty, until, step: 'day' })
  const day = spanOf('24h', zone)
  expect([Date.parse(day.until) - Date.parse(day.since), day.step]).toEqual([23 * 3_600_000, 'hour'])
})
