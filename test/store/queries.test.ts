// What operators read of past exchanges, and what pruning leaves.

import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Key } from '../../src/keys/key.ts'
import type { Outcome } from '../../src/ledger/ledger.ts'
import { BLOCK_ROWS, MODEL_BLOCK_ROWS } from '../../src/store/sqlite/schema.ts'
import { ask, settlement } from '../ledger/support.ts'
import { type AnyStore, closeAll, type Place, STORES } from './stores.ts'
import { ACTOR, DAY, HOUR, NOW, newKey, newPath, open } from './support.ts'

afterEach(closeAll)

type Past = { at: number; key: number; model: string; outcome: Outcome; input: number; output: number }

/** A store whose exchanges were made at their times. */
const history = async (place: Place, pasts: Past[]): Promise<{ store: AnyStore; ids: string[] }> => {
  const time = { now: NOW }
  const { store, books } = await place.serve({ clock: () => time.now })
  const keys: Key[] = []
  for (const label of ['key 0', 'key 1'])
    keys.push((await store.keys.issue(newKey({ label, tokensTotal: 1e12, expiresAt: 9e12 }), ACTOR)).key)
  for (const { at, key, model, outcome, input, output } of pasts) {
    const shown = keys[key]
    if (shown === undefined) throw new Error('no such key')
    time.now = at
    books.settle(await books.reserve(ask(shown, { model })), settlement({ outcome, usage: { input, output } }))
  }
  await books.written()
  return { store, ids: keys.map((key) => key.id) }
}

const past = (more: Partial<Past> = {}): Past => ({
  ...{ at: NOW, key: 0, model: 'vendorB-5.5', outcome: 'done', input: 10, output: 1 },
  ...more,
})

describe.each(STORES)('in %s', (_, { newPlace, runs }) => {
  describe('usage', () => {
    test('groups by model, key and day', async () => {
      const { store, ids } = await history(await newPlace('once'), [
        past({ at: NOW - DAY }),
        past({ key: 1, outcome: 'failed' }),
        past({ model: 'vendorB-4o', outcome: 'aborted' }),
        past({ outcome: 'refused', input: 0, output: 0 }),
      ])
      const figures = async (by: 'model' | 'key' | 'day') =>
        (await store.usage({ by })).rows.map(({ group, requests, errors, input }) => [group, requests, errors, input])
      expect(await figures('model')).toEqual([
        ['vendorB-4o', 1, 0, 10],
        ['vendorB-5.5', 3, 2, 20],
      ])
      expect(await figures('day')).toEqual([
        ['2026-08-31', 1, 0, 10],
        ['2026-09-01', 3, 2, 20],
      ])
      expect(await figures('key')).toEqual(
        [
          [ids[0] ?? '', 3, 1, 20],
          [ids[1] ?? '', 1, 1, 10],
        ].sort(([a], [b]) => (String(a) < String(b) ? -1 : 1)),
      )
      const models = (await store.usage({ by: 'model', keyIds: ids.slice(0, 1) })).rows.map(({ group, requests }) => [
        group,
        requests,
      ])
      expect(models).toEqual([
        ['vendorB-4o', 1],
        ['vendorB-5.5', 2],
      ])
      expect((await store.usage({ by: 'day', keyIds: ids.slice(1, 2), sinceMs: 0 })).rows).toEqual([
        {
          ...{ group: '2026-09-01', requests: 1, errors: 1, input: 10, cacheRead: 0, cacheWrite: 0, output: 1 },
          ...{ reasoning: 0, costMicroUsd: 75, feesMicroUsd: 0 },
        },
      ])
    })

    test('covers from the full hour of `since` to the UTC day of `until` and equals the sum of the exchanges between', () =>
      fc.assert(
        fc.asyncProperty(
          fc.array(
            fc.record({
              ...{ hoursAgo: fc.integer({ min: 0, max: 80 }), input: fc.nat(1_000), key: fc.nat(1) },
              model: fc.constantFrom('a', 'b', 'c'),
            }),
          ),
          fc.integer({ min: 0, max: 90 * HOUR }),
          fc.option(fc.integer({ min: -HOUR, max: 90 * HOUR }), { nil: undefined }),
          async (pasts, agoMs, untilAgoMs) => {
            const pastOnes = pasts.map(({ hoursAgo, ...more }) => past({ at: NOW - hoursAgo * HOUR, ...more }))
            const { store, ids } = await history(
              await newPlace('once'),
              pastOnes.sort((a, b) => a.at - b.at),
            )
            const from = NOW - agoMs - ((NOW - agoMs) % HOUR)
            const untilMs = untilAgoMs === undefined ? undefined : NOW - untilAgoMs
            const end = untilMs === undefined ? Number.POSITIVE_INFINITY : Math.ceil(untilMs / DAY) * DAY
            for (const keyIds of [undefined, ids.slice(1, 2), ids, []]) {
              const rows = (await store.exchanges({ limit: 1_000 }))
                .filter((row) => keyIds?.includes(row.keyId) ?? true)
                .filter((row) => row.startedAt >= from && row.startedAt < end)
              for (const by of ['model', 'key', 'day'] as const) {
                const { rows: usage } = await store.usage({ by, sinceMs: NOW - agoMs, untilMs, keyIds })
                const groups = usage.map(({ group }) => group)
                expect(groups).toEqual([...new Set(groups)].sort())
                expect(usage.reduce((sum, row) => sum + row.requests, 0)).toBe(rows.length)
                expect(usage.reduce((sum, row) => sum + row.input, 0)).toBe(
                  rows.reduce((sum, row) => sum + (row.input ?? 0), 0),
                )
              }
            }
            await closeAll()
          },
        ),
        { numRuns: runs(30) },
      ))
  })

  describe('exchanges', () => {
    test('come newest first, and one by its id', async () => {
      const { store } = await history(
        await newPlace('once'),
        Array.from({ length: 24 }, (_, i) => past({ at: NOW + i, key: i % 2 })),
      )
      const all = await store.exchanges({ limit: 100 })
      expect(all.map((row) => row.startedAt)).toEqual(Array.from({ length: 24 }, (_, i) => NOW + 23 - i))
      expect(await store.exchanges({ limit: 5 })).toEqual(all.slice(0, 5))
      expect(await store.exchanges({ limit: 9, id: all[7]?.id })).toEqual(all.slice(7, 8))
    })
  })

  describe('pruning', () => {
    test('removes in steps, leaves what is newer or still open, and keeps the daily sums', async () => {
      const time = { now: NOW - 10 * DAY }
      const { store, books } = await (await newPlace('once')).serve({ clock: () => time.now })
      const { key } = await store.keys.issue(newKey({ tokensTotal: 1e9, expiresAt: 9e12 }), ACTOR)
      const stays = await books.reserve(ask(key))
      for (let day = 10; day > 0; day--) {
        time.now = NOW - day * DAY
        books.settle(await books.reserve(ask(key)), settlement())
      }
      await books.written()
      time.now = NOW
      const before = (await store.usage({ by: 'day' })).rows
      const steps: number[] = [await store.prune(NOW - 4 * DAY, 4)]
      while ((steps.at(-1) ?? 0) > 0) steps.push(await store.prune(NOW - 4 * DAY, 4))
      expect(steps.every((step) => step <= 4)).toBe(true)
      expect(steps.at(-1)).toBe(0)
      const left = await store.exchanges({ limit: 100 })
      expect(left.map((row) => row.startedAt).sort()).toEqual(
        [NOW - 10 * DAY, ...[4, 3, 2, 1].map((day) => NOW - day * DAY)].sort(),
      )
      expect(left.find((row) => row.outcome === null)?.id).toBe(stays.exchangeId)
      expect(await store.exchanges({ limit: 3 })).toEqual(left.slice(0, 3))
      expect((await store.usage({ by: 'day' })).rows).toEqual(before)
      expect((await store.usage({ by: 'day', sinceMs: NOW - 8 * DAY + HOUR })).rows).toEqual(before.slice(3))
      // Of a key the hours of that day are gone: the whole day stands for them.
      expect((await store.usage({ by: 'day', sinceMs: NOW - 8 * DAY + HOUR, keyIds: [key.id] })).rows).toEqual(
        before.slice(2),
      )
      const from = async (days: number, keyIds?: string[]) =>
        NOW - ((await store.usage({ by: 'day', sinceMs: NOW - days * DAY + HOUR + 1, keyIds })).since ?? 0)
      expect([await from(8), await from(8, [key.id]), await from(3, [key.id]), await from(20, [key.id])]).toEqual([
        8 * DAY - HOUR,
        8 * DAY + (NOW % DAY),
        3 * DAY - HOUR,
        20 * DAY - HOUR,
      ])
      expect((await store.usage({ by: 'day' })).since).toBeUndefined()
      await store.refresh()
      expect(key.tokensUsed).toBe(10 * 150)
    })

    test('removes how many were refused oldest first', async () => {
      const store = await (await newPlace('once')).open(() => NOW)
      const at = (days: number) => NOW - days * DAY
      const counts = [4, 6, 3, 5].map((days) => ({ keyId: 'key_a', hour: at(days), code: `c${days}`, count: days }))
      await store.refusals.write({ refusals: [], counts })
      const left = async () => {
        const found = await store.insight.refused({ since: 0, until: NOW, keyIds: ['key_a'] })
        return found.map(({ count }) => count)
      }
      for (const days of [[5, 4, 3], [4, 3], [3]]) {
        expect(await store.prune(at(2), 1)).toBe(1)
        expect(await left()).toEqual(days)
      }
    })
  })
})

test('pruning a file removes what is listed of blocks whose rows are gone', async () => {
  const path = newPath()
  const store = open(path)
  const db = new Database(path)
  for (const block of [0, 1, 2, 3]) {
    db.run(
      `INSERT INTO exchanges (row, id, key_id, model, wire, stream, started_at, input_estimate, reserved, outcome)
         VALUES (?, 'x', 'key_1', 'a', 'messages', 0, ?, 1, 1, 'done')`,
      [block * BLOCK_ROWS + 7, NOW + block],
    )
    db.run("INSERT INTO exchange_blocks VALUES (?, 'key_1'), (?, 'key_2')", [block, block])
    db.run("INSERT INTO exchange_models VALUES ('a', ?)", [(block * BLOCK_ROWS) / MODEL_BLOCK_ROWS])
  }
  const blocks = () => [
    db.query('SELECT DISTINCT block FROM exchange_blocks ORDER BY 1').values().flat(),
    db.query(`SELECT block * ${MODEL_BLOCK_ROWS} / ${BLOCK_ROWS} FROM exchange_models ORDER BY 1`).values().flat(),
  ]
  const steps: number[] = []
  for (let i = 0; i < 4; i++) steps.push(await store.prune(NOW + 2, 3))
  expect(steps).toEqual([3, 3, 2, 0])
  expect(blocks()).toEqual([
    [2, 3],
    [2, 3],
  ])
  while ((await store.prune(NOW + 9, 10)) > 0);
  // The next rows come into the last block, of keys and models that are known to be noted in it.
  expect(blocks()).toEqual([
    [2, 3],
    [2, 3],
  ])
  db.close()
})
