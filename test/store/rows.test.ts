// Exchanges found by the time they began at, and a database of before reservations had a table of their own.

import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createClient } from '../../src/store/postgres/client.ts'
import { asked } from '../../src/store/postgres/reading.ts'
import { endBefore as endInPostgres } from '../../src/store/postgres/rows.ts'
import { readInTurn } from '../../src/store/reading/ask.ts'
import { MIGRATIONS } from '../../src/store/sqlite/migrations.ts'
import { endBefore as endInFile } from '../../src/store/sqlite/rows.ts'
import { bench } from '../ledger/support.ts'
import { ownDatabase } from './postgres/support.ts'
import { closeAll, STORES } from './stores.ts'
import { NOW, newPath, open } from './support.ts'

afterEach(closeAll)

type Row = { row: number; at: number }

/** A table of such rows, and the number after the last of them that began before a time. */
const TABLES = {
  SQLite: async () => {
    const db = new Database(':memory:')
    db.run('CREATE TABLE exchanges (row integer PRIMARY KEY, started_at integer)')
    return {
      async fill(rows: readonly Row[]) {
        db.run('DELETE FROM exchanges')
        for (const { row, at } of rows) db.run('INSERT INTO exchanges VALUES (?, ?)', [row, at])
      },
      endBefore: async (time: number, latest?: number) => endInFile(db, time, latest),
      close: async () => db.close(),
    }
  },
  PostgreSQL: async () => {
    const client = createClient(await ownDatabase(), { max: 1 })
    const of = { table: 'began', at: 'started_at' }
    await client.query('CREATE TABLE began (row bigint PRIMARY KEY, started_at bigint)')
    return {
      fill: (rows: readonly Row[]) =>
        client.query(
          `WITH gone AS (DELETE FROM began WHERE row <> ALL($1::bigint[]))
           INSERT INTO began SELECT * FROM unnest($1::bigint[], $2::bigint[])
           ON CONFLICT (row) DO UPDATE SET started_at = excluded.started_at`,
          [rows.map(({ row }) => row), rows.map(({ at }) => at)],
        ),
      endBefore: (time: number, latest?: number) =>
        readInTurn(endInPostgres(time, latest, of), (asking) => asked(client, asking)),
      close: () => client.close(),
    }
  },
}

describe.each(STORES)('in %s', (name, { runs }) => {
  test('exchanges that began before a time end where the next begins, whichever rows are gone', async () => {
    const { fill, endBefore, close } = await TABLES[name as keyof typeof TABLES]()
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ after: fc.nat(3), gap: fc.nat(3), ahead: fc.nat(9).map((n) => n === 0) }), {
          ...{ maxLength: 40, size: 'max' },
        }),
        fc.nat(130),
        async (steps, time) => {
          const rows: Row[] = []
          let at = 0
          for (const { after, gap, ahead } of steps) {
            at += after
            // By a clock that was wrong: of a time to come.
            rows.push({ row: (rows.at(-1)?.row ?? 0) + 1 + gap, at: ahead ? 1_000 : at })
          }
          await fill(rows)
          const end = await endBefore(time, 999)
          const right = rows.filter(({ at }) => at < 1_000)
          expect(right.filter(({ row }) => row < end)).toEqual(right.filter(({ at }) => at < time))
        },
      ),
      { numRuns: runs(300) },
    )
    await close()
  })
})

test('migration moves the open exchanges of an older database, loses none, and they settle as before', async () => {
  const path = newPath()
  const db = new Database(path)
  db.run('CREATE TABLE migrations (position integer PRIMARY KEY, name text NOT NULL, at integer NOT NULL)')
  for (const [position, { name, sql }] of MIGRATIONS.slice(0, 3).entries()) {
    db.run(sql)
    db.run('INSERT INTO migrations VALUES (?, ?, 0)', [position, name])
  }
  db.run(`INSERT INTO keys (id, label, hash, created_at, expires_at, tokens_total, tokens_used, models, version)
    VALUES ('key_1', 'a', 'h', 0, ${NOW + 1}, 1000, 7, '["*"]', 1)`)
  const begun = "'key_1', 'vendorA-opus-4-8', 'messages', 1, 10, 100"
  db.run(`INSERT INTO exchanges (row, id, started_at, key_id, model, wire, stream, input_estimate, reserved, outcome, input)
    VALUES (1, 'req_1', ${NOW - 2}, ${begun}, 'done', 7)`)
  db.run(`INSERT INTO exchanges (row, id, started_at, key_id, model, wire, stream, input_estimate, reserved, input)
    VALUES (2, 'req_2', ${NOW - 1}, ${begun}, 5)`)
  db.run(`INSERT INTO exchanges (row, id, started_at, key_id, model, wire, stream, input_estimate, reserved, outcome, input)
    VALUES (3, 'req_3', ${NOW}, ${begun}, 'failed', 0)`)
  db.close()
  const store = open(path)
  const seen = async () =>
    (await store.exchanges({ limit: 9 })).map(({ row, id, outcome, input }) => [row, id, outcome, input])
  expect(await seen()).toEqual([
    [3, 'req_3', 'failed', 0],
    [2, 'req_2', null, 5],
    [1, 'req_1', 'done', 7],
  ])
  // No block of before says whose rows it has: any key's may be there.
  const page = async (id: string) =>
    (await store.insight.exchangePage({ limit: 9, keyIds: [id] })).rows.map(({ row }) => row)
  expect([await page('key_1'), await page('key_2')]).toEqual([[3, 2, 1], []])
  // Which models are in it was read from the index of before.
  const ofModel = async (model: string) =>
    (await store.insight.exchangePage({ limit: 9, model })).rows.map(({ row }) => row)
  expect([await ofModel('vendorA-opus-4-8'), await ofModel('vendorA-haiku-4-5')]).toEqual([[3, 2, 1], []])
  expect((await store.lastUsed(['key_1'])).get('key_1')).toBe(NOW)
  bench(store)
  expect(await page('key_1')).toEqual([3, 2, 1])
  expect((await seen())[1]).toEqual([2, 'req_2', 'failed', 5])
  expect(store.keys.get('key_1')?.tokensUsed).toBe(12)
})
