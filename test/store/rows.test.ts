// Exchanges found by the time they began at, and a database of before reservations had a table of their own.

import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { MIGRATIONS } from '../../src/store/sqlite/migrations.ts'
import { rowAt } from '../../src/store/sqlite/rows.ts'
import { bench } from '../ledger/support.ts'
import { cleanUp, NOW, newPath, open } from './support.ts'

afterEach(cleanUp)

describe('the first exchange from a time on', () => {
  test('is found whichever rows are gone and however many began at once', () =>
    fc.assert(
      fc.property(
        fc.array(fc.record({ after: fc.nat(3), gap: fc.nat(3) }), { maxLength: 40, size: 'max' }),
        fc.nat(130),
        (steps, time) => {
          const db = new Database(':memory:')
          db.run('CREATE TABLE exchanges (row integer PRIMARY KEY, started_at integer)')
          const rows: { row: number; at: number }[] = []
          for (const { after, gap } of steps) {
            const last = rows.at(-1) ?? { row: 0, at: 0 }
            rows.push({ row: last.row + 1 + gap, at: last.at + after })
          }
          for (const { row, at } of rows) db.run('INSERT INTO exchanges VALUES (?, ?)', [row, at])
          expect(rowAt(db, time)).toBe(rows.find(({ at }) => at >= time)?.row)
          db.close()
        },
      ),
      { numRuns: 300 },
    ))
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
  expect((await store.lastUsed(['key_1'])).get('key_1')).toBe(NOW)
  bench(store)
  expect(await page('key_1')).toEqual([3, 2, 1])
  expect((await seen())[1]).toEqual([2, 'req_2', 'failed', 5])
  expect(store.keys.get('key_1')?.tokensUsed).toBe(12)
})
