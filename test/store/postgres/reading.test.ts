// What PostgreSQL tells of exchanges, against SQLite: the same exchanges in both, the same questions to both. The sums in
// PostgreSQL are added by several nodes at once, a few rows at a time.

import { Database } from 'bun:sqlite'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { OTHER_TAGS } from '../../../src/ledger/tags.ts'
import { calendarOf, UTC } from '../../../src/lib/calendar.ts'
import type { PageQuery, SeriesQuery } from '../../../src/store/insight.ts'
import { move } from '../../../src/store/moving.ts'
import { type Client, createClient } from '../../../src/store/postgres/client.ts'
import { createInsight } from '../../../src/store/postgres/insight.ts'
import { migrate } from '../../../src/store/postgres/migrate.ts'
import { MOVED_TABLES, writePostgres } from '../../../src/store/postgres/moving.ts'
import { createQueries } from '../../../src/store/postgres/queries.ts'
import { createSums } from '../../../src/store/postgres/sums.ts'
import { openStore } from '../../../src/store/sqlite/index.ts'
import { readSqlite } from '../../../src/store/sqlite/moving.ts'
import { USAGE_BY } from '../../../src/store/usage.ts'
import { postgresMissing, testPostgres } from '../../support/postgres.ts'
import { cleanUp, DAY, HOUR, newPath } from '../support.ts'
import { FROM, HOURS, type Made, record, some } from './made.ts'

afterEach(cleanUp)

const SUMS = ['usage_hours', 'usage_days', 'usage_models', 'usage_accounts', 'usage_tags', 'usage_tools']
const ZONES = ['UTC', 'Asia/Kathmandu', 'Europe/Berlin', 'America/St_Johns']
describe.skipIf(postgresMissing !== undefined)('in PostgreSQL', () => {
  let url = ''
  let client: Client
  beforeAll(async () => {
    url = (await (await testPostgres()).database()).url
    client = createClient(url)
    await migrate(client, 'a test')
  })
  afterAll(async () => {
    await client.close()
  })

  const clear = async (): Promise<void> => {
    const tables = await client.query<{ name: string }>(
      "SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' AND tablename NOT IN ('migrations', 'versions')",
    )
    await client.query(`TRUNCATE ${tables.map(({ name }) => name).join(', ')}`)
  }

  /** The same in both, the sums of PostgreSQL made anew by nodes side by side. */
  const both = async (zone: string, made: readonly Made[], clock = () => FROM + HOURS * HOUR) => {
    const calendar = calendarOf(zone) ?? UTC
    const path = newPath()
    const ids = await record(path, zone, made)
    await clear()
    await readSqlite(path, (from) => writePostgres(url, (to) => move(MOVED_TABLES, from, to)))
    await client.query('UPDATE exchanges SET summed = false')
    await client.query(`TRUNCATE ${SUMS.join(', ')}`)
    const nodes = [1, 2, 3].map((n) => createSums(client, calendar, n * 3))
    await Promise.all([...nodes, ...nodes].map((node) => node.add()))
    const sums = createSums(client, calendar)
    return {
      ...{ path, ids, sqlite: openStore(path, { calendar, clock }) },
      insight: createInsight(client, calendar, sums),
      queries: createQueries(client, clock, calendar, sums),
    }
  }

  const inOrder = (rows: readonly object[]): string[] => rows.map((row) => JSON.stringify(row)).sort()

  test(
    'sums are those of SQLite, row by row',
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...ZONES),
          fc.array(some, { maxLength: 40, size: 'max' }),
          async (zone, made) => {
            const { path, sqlite } = await both(zone, made)
            await sqlite.close()
            using db = new Database(path, { readonly: true })
            for (const table of SUMS) {
              const columns = db.query<{ name: string }, []>(`SELECT name FROM pragma_table_info('${table}')`).all()
              const text = `SELECT ${columns.map(({ name }) => name).join(', ')} FROM ${table}`
              expect([table, inOrder(await client.query(text))]).toEqual([
                table,
                inOrder(db.query<object, []>(text).all()),
              ])
            }
          },
        ),
        { numRuns: 10 },
      ),
    120_000,
  )

  const range = fc.tuple(fc.nat(HOURS), fc.nat(HOURS)).map(([a, b]) => [Math.min(a, b), Math.max(a, b)] as const)
  const asking = fc.record({
    hours: range,
    keys: fc.option(fc.uniqueArray(fc.nat(3)), { nil: undefined }),
    model: fc.option(fc.constantFrom('a', 'b'), { nil: undefined }),
    outcome: fc.option(fc.constantFrom('done', 'refused', 'failed', 'aborted', 'open'), { nil: undefined }),
    limit: fc.integer({ min: 1, max: 9 }),
    isOpen: fc.boolean(),
  })

  test(
    'every question is answered as by SQLite',
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.constantFrom(...ZONES),
          fc.array(some, { maxLength: 60, size: 'max' }),
          fc.array(asking, { minLength: 4, maxLength: 4 }),
          async (zone, made, asked) => {
            const { ids, sqlite, insight, queries } = await both(zone, made)
            const calendar = calendarOf(zone) ?? UTC
            const same = async (name: string, a: unknown, b: unknown) =>
              expect([name, await b]).toEqual([name, await a])
            for (const { hours, keys, model, outcome, limit, isOpen } of asked) {
              const keyIds = keys?.map((i) => ids[i] ?? '')
              const [since, until] = hours.map((hour) => FROM + hour * HOUR + 17) as [number, number]
              const time = isOpen ? {} : { since, until }
              for (const by of USAGE_BY) {
                const query = { by, keyIds: by === 'account' || by === 'provider' ? undefined : keyIds }
                await same(by, sqlite.insight.usage(query), insight.usage(query))
                const part = { ...query, sinceMs: since, untilMs: isOpen ? undefined : until }
                await same(by, sqlite.insight.usage(part), queries.usage(part))
                if (by === 'day') continue
                for (const step of ['hour', 'day'] as const) {
                  if (by === 'tag' && step === 'hour') continue
                  const edge = (at: number) =>
                    step === 'hour' ? calendar.hourOf(at) : calendar.startOf(calendar.dayOf(at))
                  const series: SeriesQuery = { ...query, by, step, since: edge(since), until: edge(until) }
                  if (by === 'key') series.keyIds ??= ids
                  if (by === 'member' || by === 'team') series.model = model
                  await same(`${by} by ${step}`, sqlite.insight.series(series), insight.series(series))
                }
              }
              const shares = { step: 'hour', since, until, keyIds: keyIds ?? ids, model } as const
              await same('shares', sqlite.insight.shares(shares), insight.shares(shares))
              for (const most of ['tokens', 'cost', 'requests'] as const) {
                const top = await insight.topKeys({ since, until, limit, most, model })
                await same('top', sqlite.insight.topKeys({ since, until, limit, most, model }), top)
              }
              await same('kept', sqlite.insight.hoursKept(since), insight.hoursKept(since))
              await same(
                'refused',
                sqlite.insight.refused({ since, until, keyIds }),
                insight.refused({ since, until, keyIds }),
              )
              const unfinished = { since, until, keyIds: keyIds ?? ids }
              await same('unfinished', sqlite.insight.unfinished(unfinished), insight.unfinished(unfinished))
              await same('lately', sqlite.insight.lately(limit), insight.lately(limit))
              const late = { since, until, keyIds, model }
              expect(inOrder(await insight.latencies(late))).toEqual(inOrder(await sqlite.insight.latencies(late)))
              let query: PageQuery = { limit, keyIds, model, outcome, ...time }
              for (;;) {
                const page = await sqlite.insight.exchangePage(query)
                expect(await insight.exchangePage(query)).toEqual(page)
                if (page.next === undefined) break
                query = { ...query, before: page.next }
              }
              await same('latest', sqlite.exchanges({ limit }), queries.exchanges({ limit }))
              await same('one', sqlite.exchanges({ limit, id: 'x3' }), queries.exchanges({ limit, id: 'x3' }))
              await same('audit', sqlite.audit({ limit }), queries.audit({ limit }))
              await same('of a key', sqlite.audit({ limit, target: ids[1] }), queries.audit({ limit, target: ids[1] }))
              await same('used', sqlite.lastUsed(keyIds ?? ids), queries.lastUsed(keyIds ?? ids))
            }
            await sqlite.close()
          },
        ),
        { numRuns: 8 },
      ),
    240_000,
  )

  test(
    'pruning leaves what SQLite leaves',
    () =>
      fc.assert(
        fc.asyncProperty(fc.array(some, { maxLength: 50, size: 'max' }), fc.nat(HOURS), async (made, hour) => {
          const { sqlite, ids, insight, queries } = await both('Europe/Berlin', made)
          const before = FROM + hour * HOUR
          while ((await sqlite.prune(before, 5)) === 5);
          while ((await queries.prune(before, 5)) === 5);
          expect(await queries.exchanges({ limit: 99 })).toEqual(await sqlite.exchanges({ limit: 99 }))
          const since = FROM - DAY
          for (const keyIds of [undefined, ids])
            expect(await insight.refused({ since, until: 9e12, keyIds })).toEqual(
              await sqlite.insight.refused({ since, until: 9e12, keyIds }),
            )
          expect(await insight.hoursKept(since)).toBe(await sqlite.insight.hoursKept(since))
          const query = { by: 'key', sinceMs: before + HOUR } as const
          expect(await queries.usage(query)).toEqual(await sqlite.usage(query))
          await sqlite.close()
        }),
        { numRuns: 8 },
      ),
    120_000,
  )

  /** Rows as many nodes commit them, by clocks that differ: their times are up to a minute astray. */
  const astray = fc.array(
    fc.record({
      key: fc.nat(2),
      model: fc.constantFrom('a', 'b'),
      outcome: fc.constantFrom('done', 'failed', 'aborted'),
      after: fc.nat(30_000),
      clock: fc.constantFrom(0, 0, -59_000, -7, 20_000),
      gap: fc.nat(2),
    }),
    { maxLength: 60, size: 'max' },
  )

  test(
    'pages have all that began in a range, though rows do not follow the times to the second',
    () =>
      fc.assert(
        fc.asyncProperty(
          astray,
          fc.record({
            limit: fc.integer({ min: 1, max: 9 }),
            keys: fc.option(fc.uniqueArray(fc.nat(2)), { nil: undefined }),
            model: fc.option(fc.constantFrom('a', 'b'), { nil: undefined }),
            outcome: fc.option(fc.constantFrom('done', 'failed'), { nil: undefined }),
            since: fc.nat(900_000),
            until: fc.nat(900_000),
          }),
          fc.boolean(),
          async (made, { keys, since, until, ...asked }, many) => {
            await clear()
            let at = FROM
            let row = 0
            const rows = made.map(({ key, after, clock, gap, model, outcome }) => {
              at += after
              row += 1 + gap
              return { row, id: `x${row}`, key_id: `k${key}`, model, outcome, started_at: at + clock }
            })
            await client.query(
              `INSERT INTO exchanges (row, id, key_id, model, wire, stream, started_at, input_estimate, reserved, outcome, summed)
             SELECT row, id, key_id, model, 'messages', false, started_at, 1, 1, outcome, true
             FROM json_to_recordset($1::text::json)
               AS given(row bigint, id text, key_id text, model text, started_at bigint, outcome text)`,
              [JSON.stringify(rows)],
            )
            const insight = createInsight(client, UTC, createSums(client, UTC))
            // Of very many keys the rows are checked as they come.
            const others = many ? Array.from({ length: 600 }, (_, i) => `none${i}`) : []
            const keyIds = keys === undefined ? undefined : [...keys.map((key) => `k${key}`), ...others]
            const query = { ...asked, keyIds, since: FROM + since, until: FROM + until }
            const found: number[] = []
            for (let before: number | undefined; ; ) {
              const page = await insight.exchangePage({ ...query, before })
              found.push(...page.rows.map((each) => each.row))
              if (page.next === undefined) break
              before = page.next
            }
            const wanted = rows
              .filter(
                ({ key_id, model, outcome }) =>
                  keyIds?.includes(key_id) !== false &&
                  (asked.model ?? model) === model &&
                  (asked.outcome ?? outcome) === outcome,
              )
              .filter(({ started_at }) => started_at >= query.since && started_at < query.until)
            expect(found).toEqual(wanted.map((each) => each.row).reverse())
          },
        ),
        { numRuns: 60 },
      ),
    120_000,
  )

  test('a rare match far back is found over pages that read a bounded number of rows each', async () => {
    await clear()
    await client.query(
      `INSERT INTO exchanges (row, id, key_id, model, wire, stream, started_at, input_estimate, reserved, outcome, summed)
       SELECT i, 'x' || i, 'k' || i % 2, CASE WHEN i % 9000 = 1 THEN 'b' ELSE 'a' END, 'messages', false, $1 + i, 1, 1,
         CASE WHEN i % 9000 = 1 THEN 'failed' ELSE 'done' END, true FROM generate_series(1::bigint, 30000::bigint) AS i`,
      [FROM],
    )
    const insight = createInsight(client, UTC, createSums(client, UTC))
    const pages = async (query: Omit<PageQuery, 'limit'>) => {
      const found: number[][] = []
      for (let before: number | undefined; ; ) {
        const page = await insight.exchangePage({ limit: 2, ...query, before })
        found.push(page.rows.map(({ row }) => row))
        if (page.next === undefined) return found
        before = page.next
      }
    }
    const wanted = [27_001, 18_001, 9_001, 1]
    expect((await pages({ model: 'b', outcome: 'failed' })).flat()).toEqual(wanted)
    for (const keyIds of [['k1'], ['k0', 'k1']]) {
      expect((await pages({ keyIds, model: 'b' })).flat()).toEqual(wanted)
      expect((await insight.exchangePage({ limit: 9, keyIds, model: 'b' })).next).toBeGreaterThan(1)
    }
    const many = ['k1', ...Array.from({ length: 600 }, (_, i) => `none${i}`)]
    expect((await pages({ keyIds: many, model: 'b' })).flat()).toEqual(wanted)
    expect((await insight.exchangePage({ limit: 2, keyIds: many.slice(1) })).next).toBeGreaterThan(1)
    expect((await pages({ keyIds: ['k0'], model: 'b' })).flat()).toEqual([])
    expect((await pages({ model: 'b', since: FROM + 9_000, until: FROM + 27_001 })).flat()).toEqual([18_001, 9_001])
  })

  test('a key has a hundred tags on a day, whichever nodes add them; the rest are summed together', async () => {
    await clear()
    const add = async (from: number, count: number, day: number): Promise<void> => {
      await client.query(
        `INSERT INTO exchanges (id, key_id, model, wire, stream, started_at, input_estimate, reserved, outcome, input, tag)
         SELECT gen_random_uuid(), 'k', 'a', 'messages', false, $2::bigint, 1, 1, 'done', 1, 't' || i
         FROM generate_series($1::bigint, $1::bigint + $3::bigint - 1) AS i`,
        [from, FROM + day * DAY, count],
      )
    }
    await add(0, 60, 0)
    await createSums(client, UTC).add()
    await add(50, 80, 0)
    await add(200, 20, 1)
    await Promise.all([1, 2].map(() => createSums(client, UTC, 33).add()))
    const queries = createQueries(client, () => FROM, UTC, createSums(client, UTC))
    const { rows } = await queries.usage({ by: 'tag' })
    expect(rows).toHaveLength(121)
    expect(rows.find(({ group }) => group === OTHER_TAGS)?.requests).toBe(30)
    expect(rows.reduce((sum, { requests }) => sum + requests, 0)).toBe(160)
  })

  test('what was settled is added without a read', async () => {
    await clear()
    const stop = createSums(client, UTC).watch(1)
    await client.query(
      `INSERT INTO exchanges (id, key_id, model, wire, stream, started_at, input_estimate, reserved, outcome, input)
       VALUES ('x', 'k', 'a', 'messages', false, $1::bigint, 1, 1, 'done', 7)`,
      [FROM],
    )
    let rows: object[] = []
    while (rows.length === 0) rows = await client.query('SELECT input FROM usage_days')
    expect(rows).toEqual([{ input: 7 }])
    stop()
  })

  test('a figure past all counting holds up no others', async () => {
    await clear()
    await client.query(
      `INSERT INTO exchanges (id, key_id, model, wire, stream, started_at, input_estimate, reserved, outcome, input, server_tools)
       SELECT 'x' || i, 'k', 'a', 'messages', false, $1::bigint, 1, 1, 'done', $2::bigint, '{"search":1.5,"fetch":2}'
       FROM generate_series(1, 3) AS i`,
      [FROM, Number.MAX_SAFE_INTEGER],
    )
    const queries = createQueries(client, () => FROM, UTC, createSums(client, UTC, 2))
    expect((await queries.usage({ by: 'model' })).rows).toMatchObject([
      { requests: 3, input: Number.MAX_SAFE_INTEGER, serverTools: { search: 0, fetch: 6 } },
    ])
  })
})
