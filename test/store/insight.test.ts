// Pages of exchanges against a plain filter over all of them, whatever is asked for and however they lie.

import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Key } from '../../src/keys/key.ts'
import type { OpenExchange, SettledExchange } from '../../src/ledger/journal.ts'
import type { Outcome } from '../../src/ledger/ledger.ts'
import type { PageQuery } from '../../src/store/insight.ts'
import { LIST_ALL } from '../../src/store/sqlite/blocks.ts'
import { BLOCK_ROWS } from '../../src/store/sqlite/schema.ts'
import { type AnyStore, closeAll, type Place, STORES } from './stores.ts'
import { ACTOR, NOW, newKey, newPath, open, refusalOf } from './support.ts'

afterEach(closeAll)

const MODELS = ['a', 'b']
const OUTCOMES = ['done', 'refused', 'failed', 'aborted'] as const
type Made = { key: number; model: string; outcome: Outcome | 'open' | 'kept out'; after: number }

/** Those that begin in one moment come as clients do who ask together. */
const fill = async (place: Place, made: readonly Made[]) => {
  const time = { now: NOW }
  const { store, books } = await place.serve({ clock: () => time.now, prices: () => undefined })
  const keys: Key[] = []
  for (const label of ['a', 'b', 'c'])
    keys.push((await store.keys.issue(newKey({ label, tokensTotal: 1e12, expiresAt: 9e12 }), ACTOR)).key)
  const one = async ({ key, model, outcome }: Made, id: string): Promise<void> => {
    const ask = { wire: 'messages', stream: false, inputEstimate: 1, outputCap: 1, maxOutput: 1 } as const
    const owner = keys[key]
    if (owner === undefined) throw new Error('no such key')
    if (outcome === 'kept out')
      return store.refusals.write({ refusals: [refusalOf({ id, keyId: owner.id, at: time.now, model })], counts: [] })
    const reservation = await books.reserve({ ...ask, exchangeId: id, key: owner, model })
    if (outcome === 'open') return
    books.settle(reservation, { outcome, usage: { input: 1 }, estimated: false, status: 200, attempts: 1, totalMs: 1 })
  }
  let together: Promise<void>[] = []
  for (const [i, each] of made.entries()) {
    time.now += each.after
    together.push(one(each, `x${i}`))
    const next = made[i + 1]
    if (next?.after === 0 && next.outcome !== 'kept out' && each.outcome !== 'kept out' && together.length < 100)
      continue
    await Promise.all(together)
    together = []
  }
  await books.written()
  return { store, keys }
}

const everyPage = async (store: AnyStore, query: PageQuery): Promise<string[]> => {
  const ids: string[] = []
  for (let before = query.before; ; ) {
    const { rows, next } = await store.insight.exchangePage({ ...query, before })
    expect(rows.length).toBeLessThanOrEqual(query.limit)
    ids.push(...rows.map((row) => row.id))
    if (next === undefined) return ids
    before = next
  }
}

const some = fc.record({
  key: fc.nat(2),
  model: fc.constantFrom(...MODELS),
  outcome: fc.constantFrom(...OUTCOMES, 'open' as const, 'kept out' as const),
  after: fc.nat(3),
})

/** Their clock goes back as well, by less than a minute in all. */
const astray = fc
  .array(fc.tuple(some, fc.nat(59_000)), { maxLength: 40, size: 'max' })
  .map((made) => made.map(([each, at], i): Made => ({ ...each, after: at - (made[i - 1]?.[1] ?? 0) })))

describe.each(STORES)('pages of exchanges in %s', (_, { newPlace, runs }) => {
  test.each([
    ['', fc.array(some, { maxLength: 40, size: 'max' }), fc.nat(60)],
    [', where the clock was set back too', astray, fc.nat(60_000)],
  ] as const)(
    'every filter, page by page, gives the same as a plain scan, newest first%s',
    (_, exchanges, time) =>
      fc.assert(
        fc.asyncProperty(
          exchanges,
          fc.record({
            limit: fc.integer({ min: 1, max: 7 }),
            keys: fc.option(fc.uniqueArray(fc.nat(2)), { nil: undefined }),
            model: fc.option(fc.constantFrom(...MODELS), { nil: undefined }),
            outcome: fc.option(fc.constantFrom(...OUTCOMES, 'open' as const), { nil: undefined }),
            since: fc.option(time, { nil: undefined }),
            until: fc.option(time, { nil: undefined }),
          }),
          async (made, { limit, keys: asked, model, outcome, since, until }) => {
            const { store, keys } = await fill(await newPlace('once'), made)
            const keyIds = asked?.map((i) => keys[i]?.id ?? '')
            const from = since === undefined ? undefined : NOW + since
            const to = until === undefined ? undefined : NOW + until
            const wanted = made
              .map((each, i) => ({
                ...each,
                i,
                at: NOW + made.slice(0, i + 1).reduce((sum, { after }) => sum + after, 0),
              }))
              .filter((each) => asked === undefined || asked.includes(each.key))
              .filter((each) => model === undefined || each.model === model)
              .filter(
                (each) => outcome === undefined || (each.outcome === 'kept out' ? 'refused' : each.outcome) === outcome,
              )
              .filter(({ at }) => (from === undefined || at >= from) && (to === undefined || at < to))
              .map(({ i }) => `x${i}`)
              .reverse()
            expect(await everyPage(store, { limit, keyIds, model, outcome, since: from, until: to })).toEqual(wanted)
            await closeAll()
          },
        ),
        { numRuns: runs(150) },
      ),
    120_000,
  )

  test('a rare match far back is found over pages that may be empty, each with bounded work', async () => {
    const rare = (i: number) => i % 4_000 === 0
    const made = Array.from({ length: 12_001 }, (_, i): Made => {
      return { key: i % 2, model: rare(i) ? 'b' : 'a', outcome: 'done', after: 0 }
    })
    const { store, keys } = await fill(await newPlace('once'), made)
    const wanted = ['x12000', 'x8000', 'x4000', 'x0']
    expect(await everyPage(store, { limit: 2, model: 'b', outcome: 'done' })).toEqual(wanted)
    const keyIds = keys.map(({ id }) => id)
    expect(await everyPage(store, { limit: 2, keyIds, model: 'b' })).toEqual(wanted)
    expect(await everyPage(store, { limit: 2, keyIds: keyIds.slice(1, 2), model: 'b' })).toEqual([])
  })
})

describe('exchanges of keys and models among many of others', () => {
  const ROWS = 80 * BLOCK_ROWS
  const RARE = [3, 5 * BLOCK_ROWS, ROWS - 1]
  const MINE = 'key_mine'

  /** `key_mine` has the rows of RARE, of the model `rare`; `key_other` all others; every seventh failed. `noted`: blocks know their keys. */
  const many = async (noted: boolean) => {
    const path = newPath()
    await open(path).close()
    const db = new Database(path)
    db.run('PRAGMA synchronous = OFF')
    db.run(
      `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?1)
       INSERT INTO exchanges (row, id, key_id, model, wire, stream, started_at, input_estimate, reserved, outcome)
       SELECT i, 'x' || i, iif(i IN (SELECT value FROM json_each(?2)), 'key_mine', 'key_other'),
         iif(i IN (SELECT value FROM json_each(?2)), 'rare', 'a'), 'messages', 0,
         ${NOW} + i, 1, 1, iif(i % 7 = 0, 'failed', 'done') FROM n`,
      [ROWS, JSON.stringify(RARE)],
    )
    for (const list of LIST_ALL) db.run(list)
    if (!noted) db.run("UPDATE OR REPLACE exchange_blocks SET key_id = ''")
    db.close()
    return open(path)
  }
  const rowsOf = async (store: AnyStore, query: Partial<PageQuery>): Promise<number[]> =>
    (await everyPage(store, { limit: 2, keyIds: [MINE], ...query })).map((id) => Number(id.slice(1)))

  test('are found though the first write of their block failed half way', async () => {
    const store = open()
    const { key } = await store.keys.issue(newKey(), ACTOR)
    const begun: OpenExchange = {
      ...{ row: 0, exchangeId: 'x', keyId: key.id, model: 'a', wire: 'messages', stream: false },
      ...{ startedAt: NOW, inputEstimate: 1, reserved: 1, reservedMicroUsd: 0, budgets: [] },
    }
    const ended: SettledExchange = {
      open: begun,
      settlement: { outcome: 'done', usage: {}, estimated: false, status: 200, attempts: 1, totalMs: 1 },
      ...{ endedAt: NOW, costMicroUsd: 0, feesMicroUsd: 0, rawUsage: undefined, leftAfter: undefined },
    }
    store.journal.claim(() => undefined)
    store.journal.write({ opened: [begun], progressed: [], settled: [] })
    // No row is written twice: both are refused together.
    expect(() => store.journal.write({ opened: [], progressed: [], settled: [ended, ended] })).toThrow()
    store.journal.write({ opened: [], progressed: [], settled: [ended] })
    expect(await everyPage(store, { limit: 9, keyIds: [key.id] })).toEqual(['x'])
    expect(await everyPage(store, { limit: 9, model: 'a' })).toEqual(['x'])
  })

  test('are found in one page where their blocks are listed, and in short pages where any block may hold them', async () => {
    const wanted = RARE.toReversed()
    const noted = await many(true)
    expect(await noted.insight.exchangePage({ limit: 3, keyIds: [MINE] })).toMatchObject({ next: undefined })
    const unknown = await many(false)
    const { rows, next } = await unknown.insight.exchangePage({ limit: 3, keyIds: [MINE] })
    expect(rows.map(({ row }) => row)).toEqual(wanted.slice(0, 1))
    expect(next).toBe(57 * BLOCK_ROWS)
    for (const store of [noted, unknown]) {
      expect(await rowsOf(store, {})).toEqual(wanted)
      expect(await rowsOf(store, { outcome: 'failed' })).toEqual(wanted.filter((row) => row % 7 === 0))
      expect(await rowsOf(store, { outcome: 'done' })).toEqual(wanted.filter((row) => row % 7 !== 0))
      expect(await rowsOf(store, { since: NOW + 4, until: NOW + ROWS - 1 })).toEqual(wanted.slice(1, 2))
      expect(await rowsOf(store, { before: 3 })).toEqual([])
      expect(await rowsOf(store, { keyIds: ['key_none'] })).toEqual([])
    }
  })

  test('of a model are found in the blocks that list it, and in no others', async () => {
    const store = await many(true)
    const wanted = RARE.toReversed()
    expect(await store.insight.exchangePage({ limit: 3, model: 'rare' })).toMatchObject({ next: undefined })
    expect(await store.insight.exchangePage({ limit: 3, model: 'none' })).toEqual({ rows: [], next: undefined })
    const ofModel = (query: Partial<PageQuery>) => rowsOf(store, { keyIds: undefined, model: 'rare', ...query })
    expect(await ofModel({})).toEqual(wanted)
    expect(await ofModel({ outcome: 'failed' })).toEqual(wanted.filter((row) => row % 7 === 0))
    expect(await ofModel({ outcome: 'done' })).toEqual(wanted.filter((row) => row % 7 !== 0))
    expect(await ofModel({ since: NOW + 4, until: NOW + ROWS - 1 })).toEqual(wanted.slice(1, 2))
    expect(await ofModel({ before: ROWS - 1 })).toEqual(wanted.slice(1))
    expect(await ofModel({ keyIds: [MINE] })).toEqual(wanted)
    expect(await ofModel({ keyIds: ['key_other'] })).toEqual([])
    // A page of a model that is everywhere ends in the block where it is full.
    const { rows, next } = await store.insight.exchangePage({ limit: 3, model: 'a' })
    expect(rows.map(({ row }) => row)).toEqual([ROWS, ROWS - 2, ROWS - 3])
    expect(next).toBe(ROWS - 3)
  })

  test('of very many keys are looked up in steps', async () => {
    const store = await many(true)
    const crowd = [...Array.from({ length: 1_000 }, (_, i) => `key_${i}`), MINE]
    const { rows, next } = await store.insight.exchangePage({ limit: 3, keyIds: crowd })
    expect(rows.map(({ row }) => row)).toEqual([ROWS - 1])
    expect(next).toBeGreaterThan(0)
    expect(await rowsOf(store, { keyIds: crowd })).toEqual(RARE.toReversed())
  })
})
