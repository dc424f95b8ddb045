// Refusals on their way to the store: within bounds whatever comes, none lost below them, and no flood of writes.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { calendarOf, UTC } from '../../src/lib/calendar.ts'
import { createRefusals } from '../../src/observe/refusals.ts'
import { KEPT_OF_KEY, type Refusal, type RefusalGroup, type RefusedCount } from '../../src/store/refusals.ts'
import { storeError } from '../../src/store/store.ts'
import { HOUR, NOW, refusalOf } from '../store/support.ts'

const bench = () => {
  const written: Refusal[] = []
  const groups: number[] = []
  const said: RefusalGroup[] = []
  const counts = new Map<string, number>()
  let due: (() => void)[] = []
  let failureOf: (group: readonly Refusal[]) => Error | undefined = () => undefined
  let lost = 0
  let busy = false
  const refusals = createRefusals({
    store: {
      async write(group) {
        said.push(group)
        const failure = failureOf(group.refusals)
        if (failure !== undefined) throw failure
        groups.push(group.refusals.length)
        written.push(...group.refusals)
        for (const { keyId, code, count } of group.counts)
          counts.set(`${keyId} ${code}`, (counts.get(`${keyId} ${code}`) ?? 0) + count)
      },
    },
    onLost: (count) => {
      lost += count
    },
    isBusy: () => busy,
    later: (run) => due.push(run),
  })
  return {
    ...{ refusals, written, groups, said, counts },
    lost: () => lost,
    fail: (by: Error | typeof failureOf | undefined) => {
      failureOf = typeof by === 'function' ? by : () => by
    },
    hold: (is: boolean) => {
      busy = is
    },
    /** Resolves once what came due has been written. */
    async tick(): Promise<void> {
      const now = due
      due = []
      for (const run of now) run()
      await new Promise<void>((resolve) => setImmediate(resolve))
    },
    due: () => due.length,
  }
}

const ids = (refusals: readonly Refusal[]): string[] => refusals.map(({ id }) => id)

test('what comes is written in its order, all of it, however it is spread over keys', () =>
  fc.assert(
    fc.asyncProperty(fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 300 }), fc.nat(5), async (keys, every) => {
      const { refusals, written, counts, tick, due, lost } = bench()
      for (const [i, keyId] of keys.entries()) {
        refusals.add(refusalOf({ id: `${i}`, keyId }))
        if (every > 0 && i % (every * 40) === 0) await tick()
      }
      while (due() > 0) await tick()
      expect(ids(written)).toEqual(keys.map((_, i) => `${i}`))
      expect(lost()).toBe(0)
      expect(refusals.waiting()).toBe(0)
      for (const keyId of new Set(keys))
        expect(counts.get(`${keyId} rate_limit_exceeded`)).toBe(keys.filter((each) => each === keyId).length)
    }),
  ))

describe('a flood', () => {
  const FLOOD = 200_000

  test('of one key is a few small writes; its latest are kept and all are counted', async () => {
    const { refusals, written, groups, counts, tick, due } = bench()
    for (let i = 0; i < FLOOD; i++) {
      refusals.add(refusalOf({ id: `${i}` }))
      if (i % 20_000 === 0) await tick()
    }
    expect(groups.length).toBeLessThanOrEqual(FLOOD / 20_000)
    expect(Math.max(...groups)).toBeLessThanOrEqual(64)
    expect(refusals.waiting()).toBeLessThanOrEqual(KEPT_OF_KEY)
    while (due() > 0) await tick()
    expect(ids(written.slice(-KEPT_OF_KEY))).toEqual(
      Array.from({ length: KEPT_OF_KEY }, (_, i) => `${FLOOD - KEPT_OF_KEY + i}`),
    )
    expect(counts.get('key_a rate_limit_exceeded')).toBe(FLOOD)
  })
  test('of many keys keeps within its bound, tells what it lost, and takes nothing from a key that is refused once', async () => {
    const { refusals, written, counts, tick, due, lost } = bench()
    refusals.add(refusalOf({ id: 'once', keyId: 'key_quiet' }))
    for (let i = 0; i < 20_000; i++) refusals.add(refusalOf({ id: `${i}`, keyId: `key_${i % 10}` }))
    refusals.add(refusalOf({ id: 'late', keyId: 'key_late' }))
    expect(refusals.waiting()).toBe(4_096)
    while (due() > 0) await tick()
    expect(written[0]?.id).toBe('once')
    expect(written.at(-1)?.id).toBe('late')
    // Of each key past its thousand the oldest would not be kept anyway; the rest of what is missing was lost, and told.
    expect(lost()).toBeGreaterThan(0)
    expect(written).toHaveLength(4_096)
    expect([...counts.values()].reduce((sum, count) => sum + count, 0)).toBe(20_002)
  })
  test('does not keep whoever reads waiting for what comes meanwhile', async () => {
    const { refusals, written } = bench()
    for (let i = 0; i < 500; i++) refusals.add(refusalOf({ id: `${i}` }))
    let flooding = true
    const more = (): void => {
      refusals.add(refusalOf({ id: 'more' }))
      if (flooding) setImmediate(more)
    }
    setImmediate(more)
    await refusals.settle()
    flooding = false
    expect(ids(written).filter((id) => id !== 'more')).toHaveLength(500)
  })
})

describe('a store that cannot be written', () => {
  test('loses nothing within the bound, holds up no reader, and gets all of it afterwards', async () => {
    const { refusals, written, counts, fail, tick } = bench()
    fail(storeError('The disk is full.'))
    for (let i = 0; i < 70; i++) refusals.add(refusalOf({ id: `${i}` }))
    await tick()
    await refusals.settle()
    await expect(refusals.flush()).rejects.toThrow('full')
    expect(written).toEqual([])
    fail(undefined)
    await refusals.flush()
    expect(written).toHaveLength(70)
    expect(counts.get('key_a rate_limit_exceeded')).toBe(70)
  })
  test('is told the same group again, and what has come meanwhile after it', async () => {
    const { refusals, written, said, counts, fail, tick } = bench()
    fail(storeError('The connection to the database was lost.'))
    for (const id of ['one', 'two']) refusals.add(refusalOf({ id }))
    await tick()
    refusals.add(refusalOf({ id: 'meanwhile' }))
    await tick()
    fail(undefined)
    await refusals.flush()
    const [first, again, whole, rest] = said
    expect([again, whole]).toEqual([first, first])
    expect(again === first && whole === first).toBe(true)
    expect(rest?.counts.map(({ count }) => count)).toEqual([1])
    expect(ids(written)).toEqual(['one', 'two', 'meanwhile'])
    expect(counts.get('key_a rate_limit_exceeded')).toBe(3)
  })
  test('is left to settlements that wait for it', async () => {
    const { refusals, written, hold, tick, due } = bench()
    hold(true)
    refusals.add(refusalOf())
    await tick()
    expect([written.length, due()]).toEqual([0, 1])
    hold(false)
    await tick()
    expect([written.length, due()]).toEqual([1, 0])
  })
  test('that refuses a group for what it holds gets the next', async () => {
    const { refusals, written, counts, fail, tick, lost } = bench()
    fail((group) => (group.some(({ id }) => id === 'odd') ? new Error('datatype mismatch') : undefined))
    refusals.add(refusalOf({ id: 'odd' }))
    await tick()
    refusals.add(refusalOf({ id: 'good' }))
    await tick()
    expect(ids(written)).toEqual(['good'])
    expect(lost()).toBe(1)
    // What is not kept one by one counts all the same.
    expect(counts.get('key_a rate_limit_exceeded')).toBe(2)
  })
  test('that refuses even the counts alone is not asked for them for ever', async () => {
    const { refusals, written, fail, tick, due } = bench()
    fail(new Error('datatype mismatch'))
    refusals.add(refusalOf({ id: 'odd' }))
    await tick()
    expect(due()).toBe(0)
    await refusals.flush()
    fail(undefined)
    refusals.add(refusalOf({ id: 'good' }))
    await tick()
    expect(ids(written)).toEqual(['good'])
  })
})

test('hours are counted apart', async () => {
  const counted: RefusedCount[] = []
  const refusals = createRefusals({
    store: { write: async ({ counts }) => void counted.push(...counts) },
    later: () => undefined,
  })
  for (const at of [NOW + 1, NOW + HOUR - 1, NOW + HOUR]) refusals.add(refusalOf({ at }))
  await refusals.flush()
  expect(counted.map(({ hour, count }) => [hour - NOW, count])).toEqual([
    [0, 2],
    [HOUR, 1],
  ])
})

test('hours go by the clocks there: an hour of Kathmandu begins at a quarter past one of UTC', async () => {
  const hours: number[] = []
  const refusals = createRefusals({
    store: { write: async ({ counts }) => void hours.push(...counts.map(({ hour }) => hour)) },
    calendar: calendarOf('Asia/Kathmandu') ?? UTC,
    later: () => undefined,
  })
  const quarter = Date.UTC(2026, 10, 27, 9, 15)
  for (const at of [quarter - 1, quarter, quarter + HOUR - 1]) refusals.add(refusalOf({ id: `${at}`, at }))
  await refusals.flush()
  expect(hours).toEqual([quarter - HOUR, quarter])
})
