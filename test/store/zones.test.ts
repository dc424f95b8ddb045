// Sums by the days and hours of a time zone: those of the rows, counted apart by the runtime's own clocks.

import { afterEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { calendarOf, dateOf, dayAfter, UTC } from '../../src/lib/calendar.ts'
import { ask, settlement } from '../ledger/support.ts'
import { closeAll, type Place, STORES } from './stores.ts'
import { ACTOR, HOUR, newKey } from './support.ts'

afterEach(closeAll)

const ZONES = ['UTC', 'Asia/Phnom_Penh', 'Asia/Kathmandu', 'Europe/Berlin', 'America/St_Johns', 'Africa/Cairo']

/** The date of a moment, and its hour, as the clocks there show them. */
const shownIn = (zone: string) => {
  const format = new Intl.DateTimeFormat('en-CA', { timeZone: zone, year: 'numeric', month: '2-digit', day: '2-digit' })
  return (at: number): string => format.format(at)
}

/** Exchanges of one key at these times, in their order, a token of input more for each. */
const record = async (place: Place, zone: string, times: readonly number[], keyId?: string): Promise<string> => {
  const time = { now: times[0] ?? 0 }
  const { store, books, close } = await place.serve({ clock: () => time.now, calendar: calendarOf(zone) ?? UTC })
  const id = keyId ?? (await store.keys.issue(newKey({ tokensTotal: 1e9, expiresAt: 9e12 }), ACTOR)).key.id
  for (const at of times) {
    time.now = at
    const key = store.keys.get(id)
    if (key === undefined) throw new Error('no key')
    const reservation = await books.reserve(ask(key))
    books.settle(reservation, settlement({ usage: { input: 1 }, serverTools: { web_search: 1 } }))
  }
  await books.written()
  // What is read is summed.
  await store.usage({ by: 'day' })
  await close()
  return id
}

const counted = (times: readonly number[], name: (at: number) => string): Record<string, number> => {
  const sums: Record<string, number> = {}
  for (const at of times) sums[name(at)] = (sums[name(at)] ?? 0) + 1
  return sums
}

describe.each(ZONES)('in %s', (zone) => {
  const calendar = calendarOf(zone) ?? UTC
  const dateIn = shownIn(zone)

  test('a moment lies in the day that the clocks there show, and days follow each other without a gap', () => {
    const moment = fc.integer({ min: Date.UTC(2000, 0), max: Date.UTC(2040, 0) })
    fc.assert(
      fc.property(moment, (at) => {
        const day = calendar.dayOf(at)
        expect(dateOf(day)).toBe(dateIn(at))
        const [start, next] = [calendar.startOf(day), calendar.startOf(dayAfter(day))]
        expect(start <= at && at < next).toBe(true)
        expect([dateIn(start), dateIn(start - 1)]).toEqual([dateOf(day), dateOf(dayAfter(day, -1))])
        expect([22, 23, 23.5, 24, 24.5, 25]).toContain((next - start) / HOUR)
        const hour = calendar.hourOf(at)
        expect(hour <= at && at - hour < HOUR && hour >= start).toBe(true)
        expect(calendar.hourOf(hour)).toBe(hour)
      }),
    )
  })
})

describe.each(STORES)('in %s', (_, { newPlace, runs }) => {
  test.each(ZONES)('sums by day in %s are those of the rows, over changes of the clocks', async (zone) => {
    const calendar = calendarOf(zone) ?? UTC
    const dateIn = shownIn(zone)
    const begin = fc.constantFrom(
      Date.UTC(2026, 2, 27),
      Date.UTC(2026, 9, 23),
      Date.UTC(2026, 3, 22),
      Date.UTC(2028, 1, 27),
    )
    const steps = fc.array(fc.integer({ min: 1, max: 9 * HOUR }), { minLength: 5, maxLength: 30, size: 'max' })
    await fc.assert(
      fc.asyncProperty(begin, steps, fc.nat(1000), async (from, gaps, cut) => {
        let at = from
        const times = gaps.map((gap) => (at += gap))
        const place = await newPlace()
        const id = await record(place, zone, times)
        const store = await place.open(() => at, calendar)
        const byDay = async (keyIds?: string[], sinceMs?: number, untilMs?: number) =>
          Object.fromEntries(
            (await store.usage({ by: 'day', keyIds, sinceMs, untilMs })).rows.map((row) => [row.group, row.requests]),
          )
        const whole = counted(times, dateIn)
        expect(await byDay()).toEqual(whole)
        expect(await byDay([id])).toEqual(whole)
        const tools = (await store.usage({ by: 'day' })).rows.map((row) => [row.group, row.serverTools?.web_search])
        expect(Object.fromEntries(tools)).toEqual(whole)
        // From an hour on, and up to the end of a day.
        const since = calendar.hourOf(from + (cut / 1000) * (at - from))
        const later = counted(
          times.filter((time) => time >= since),
          dateIn,
        )
        expect(await byDay(undefined, since)).toEqual(later)
        expect(await byDay([id], since)).toEqual(later)
        const endDay = calendar.dayOf(since)
        const earlier = counted(
          times.filter((time) => calendar.dayOf(time) < endDay),
          dateIn,
        )
        expect(await byDay([id], undefined, calendar.startOf(endDay))).toEqual(earlier)
        expect(await byDay(undefined, undefined, calendar.startOf(endDay))).toEqual(earlier)
        const [first, last] = [calendar.dayOf(from), dayAfter(calendar.dayOf(at))]
        for (const keyIds of [undefined, [id]])
          for (const step of ['day', 'hour'] as const) {
            const range = { since: calendar.startOf(first), until: calendar.startOf(last) }
            const rows = await store.insight.series({ step, by: 'none', keyIds, ...range })
            const start = (time: number) =>
              step === 'hour' ? calendar.hourOf(time) : calendar.startOf(calendar.dayOf(time))
            expect(Object.fromEntries(rows.map((row) => [row.at, row.requests]))).toEqual(
              counted(times, (time) => `${start(time)}`),
            )
          }
        await closeAll()
      }),
      { numRuns: runs(8) },
    )
  })

  test('sums go by another zone from when it is set, and what was summed before stays as it was', async () => {
    const place = await newPlace()
    // 20:00 UTC is the next day in Phnom Penh.
    const [before, after] = [Date.UTC(2026, 10, 1, 20), Date.UTC(2026, 10, 5, 20)]
    const id = await record(place, 'UTC', [before])
    await record(place, 'Asia/Phnom_Penh', [after], id)
    const store = await place.open(() => after, calendarOf('Asia/Phnom_Penh') ?? UTC)
    expect((await store.usage({ by: 'day', keyIds: [id] })).rows.map(({ group }) => group)).toEqual([
      '2026-11-01',
      '2026-11-06',
    ])
    // The whole gateway's are kept by the hour, and can be counted anew.
    expect((await store.usage({ by: 'day' })).rows.map(({ group }) => group)).toEqual(['2026-11-02', '2026-11-06'])
  })
})
