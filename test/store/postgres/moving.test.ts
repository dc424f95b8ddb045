// A store moved to PostgreSQL and back is the same, row by row; and what cannot be moved is left as it was.

import { Database } from 'bun:sqlite'
import { afterEach, describe, expect, test } from 'bun:test'
import { copyFileSync, existsSync, readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import fc from 'fast-check'
import { type Bound, createCredentials, keyPath } from '../../../src/entries/credentials.ts'
import { UTC } from '../../../src/lib/calendar.ts'
import { DEFAULT_LIMITS } from '../../../src/members/member.ts'
import type { KeptEntry } from '../../../src/store/entries.ts'
import { type Moved, move, type Writer } from '../../../src/store/moving.ts'
import { createClient } from '../../../src/store/postgres/client.ts'
import { MOVED_TABLES, readPostgres, writePostgres } from '../../../src/store/postgres/moving.ts'
import { openPostgres } from '../../../src/store/postgres/open.ts'
import { openStore } from '../../../src/store/sqlite/index.ts'
import { readSqlite, writeSqlite } from '../../../src/store/sqlite/moving.ts'
import { postgresMissing, type TestDatabase, testPostgres } from '../../support/postgres.ts'
import { ACTOR, bearer, cleanUp, newKey, newPath, open } from '../support.ts'
import { FROM, record, some } from './made.ts'

const dropped: TestDatabase[] = []
afterEach(async () => {
  await cleanUp()
  for (const database of dropped.splice(0)) await database.drop()
})

const newUrl = async (): Promise<string> => {
  const database = await (await testPostgres()).database()
  dropped.push(database)
  return database.url
}

const there = (path: string, url: string, through = (writer: Writer): Writer => writer): Promise<Moved> =>
  readSqlite(path, (from) => writePostgres(url, (to) => move(MOVED_TABLES, from, through(to))))
const back = (url: string, path: string): Promise<Moved> =>
  readPostgres(url, UTC, (from) => writeSqlite(path, (to) => move(MOVED_TABLES, from, to)))

/** Every row of every table. */
const dump = (path: string): Record<string, string[]> => {
  using db = new Database(path, { readonly: true })
  const tables = db.query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1").all()
  return Object.fromEntries(
    tables
      .filter(({ name }) => name !== 'migrations')
      .map(({ name }) => [
        name,
        db
          .query<object, []>(`SELECT * FROM ${name}`)
          .all()
          .map((row) => JSON.stringify(row))
          .sort(),
      ]),
  )
}

const CREDENTIAL = 'a credential of an account'

/** What the key beside a database opens. */
const openedIn = (entries: KeptEntry[], path: string, bound: Bound) => {
  const sealed = entries.find(({ name }) => name === 'p/one')?.credential
  return (
    sealed && createCredentials({ dataDir: dirname(path), sealKeys: undefined, store: undefined }).open(sealed, bound)
  )
}

/** Adds something of every table that exchanges do not fill. */
const furnish = async (path: string) => {
  const store = openStore(path, { clock: () => FROM })
  const member = await store.members.add(
    { name: 'Chan Dara', role: 'admin', limits: DEFAULT_LIMITS, passwordHash: 'a hash', teamId: null },
    ACTOR,
  )
  const { key, secret } = await store.keys.issue(
    newKey({ label: 'with \u{1f512}', ownerId: member.id, expiresAt: 9e12 }),
    ACTOR,
  )
  await store.budgets.set(`key:${key.id}`, { unit: 'usd', amount: 5e6, renews: 'day', warnAt: [50] }, ACTOR)
  const credentials = createCredentials({ dataDir: dirname(path), sealKeys: undefined, store: undefined })
  const bound = { account: 'p/one', baseUrl: 'http://127.0.0.1:1' }
  const credential = credentials.seal(CREDENTIAL, bound)
  await store.prices.keep([{ model: 'm', price: '{"input":1,"text":"é"}' }])
  await store.entries.change(
    [{ section: 'accounts', name: 'p/one', next: () => ({ value: { base_url: bound.baseUrl }, credential }) }],
    ACTOR,
  )
  await store.close()
  using db = new Database(path)
  db.run(`INSERT INTO sessions (hash, member_id, created_at, expires_at, seen_at) VALUES ('s', ?, 1, 2, 3)`, [
    member.id,
  ])
  db.run(`INSERT INTO settings VALUES ('a setting', ?, 1)`, [JSON.stringify({ deep: ['é', null, 1.5] })])
  db.run(`INSERT INTO second_factors VALUES (?, 'secret', 1, 2, 3)`, [member.id])
  db.run(`INSERT INTO recovery_codes VALUES (?, 'code')`, [member.id])
  db.run(`INSERT INTO admin_tokens (id, label, hash, created_by, created_at) VALUES ('t', 'l', 'h', ?, 1)`, [member.id])
  db.run(`INSERT INTO alerts_told VALUES ('cause', 'period', 1)`)
  db.run(`INSERT INTO alerts_waiting VALUES ('a', 'r', 1, '{"b":[1]}')`)
  db.run(`INSERT INTO kept_conversations VALUES (3, ?, 4, 5)`, [key.id])
  db.run(`INSERT INTO kept_answers VALUES (7, 3, ?, 'resp', NULL, NULL, 5, 6, 8)`, [key.id])
  db.run(`INSERT INTO kept_pieces VALUES (7, 'output', 0, ?)`, ['é'.repeat(700_000)])
  db.run(`INSERT INTO kept_items VALUES ('item', ?, 7)`, [key.id])
  db.run(`INSERT INTO kept_totals VALUES (?, 5)`, [key.id])
  db.run(`INSERT INTO budget_marks VALUES (9, 1, 'gateway', 2, 50, 'usd', 3, 4)`)
  return { secret, keyId: key.id, bound }
}

describe.skipIf(postgresMissing !== undefined)('a store that is moved', () => {
  test(
    'to PostgreSQL and back is the same, row by row, and opens what it opened',
    () =>
      fc.assert(
        fc.asyncProperty(fc.array(some, { minLength: 5, maxLength: 30, size: 'max' }), async (made) => {
          const [path, other, url] = [newPath(), newPath(), await newUrl()]
          await record(path, 'UTC', made)
          const { secret, keyId, bound } = await furnish(path)
          const before = dump(path)
          const moved = await there(path, url)
          expect(moved.sealed).toBe(1)
          for (const { name, rows } of moved.tables) expect([name, rows]).toEqual([name, before[name]?.length ?? 0])
          // Keys authenticate there, members sign in, credentials open.
          const node = await openPostgres(url, { clock: () => FROM })
          expect((await node.keys.authenticate(bearer(secret))).id).toBe(keyId)
          expect(await node.members.credentials('Chan Dara')).toMatchObject({ passwordHash: 'a hash' })
          const [moved1] = (await node.entries.list()).filter(({ name }) => name === 'p/one')
          expect(moved1?.credential).toBeDefined()
          await node.close()
          expect(await back(url, other)).toEqual(moved)
          expect(dump(other)).toEqual(before)
          for (const [table, rows] of Object.entries(before))
            if (rows.length === 0) expect(table).toMatch(/^usage|^refus|^exch|^reser|^backg/)
          copyFileSync(keyPath(dirname(path)), keyPath(dirname(other)))
          const store = openStore(other, { clock: () => FROM })
          expect((await store.keys.authenticate(bearer(secret))).id).toBe(keyId)
          expect(openedIn(await store.entries.list(), other, bound)).toEqual({ value: CREDENTIAL })
          await store.close()
        }),
        { numRuns: 4 },
      ),
    120_000,
  )

  test('goes on with the numbers it had, and holds what is in flight', async () => {
    const [path, url] = [newPath(), await newUrl()]
    const one = {
      key: 0,
      model: 'a',
      account: undefined,
      tag: undefined,
      input: 5,
      output: 5,
      estimated: false,
    } as const
    const made = (outcome: 'open' | 'done', at: number) => ({
      ...one,
      ...{ reasoning: undefined, firstByteMs: undefined, tools: undefined },
      outcome,
      at,
    })
    const [keyId = ''] = await record(path, 'UTC', [made('done', 1), made('open', 2), made('open', 3)])
    const rows = (await openStore(path).insight.exchangePage({ limit: 9 })).rows
    await there(path, url)
    const client = createClient(url)
    const held = rows.filter(({ outcome }) => outcome === null).reduce((sum, { reserved }) => sum + reserved, 0)
    expect(await client.query('SELECT tokens_held, tokens_used FROM keys WHERE id = $1', [keyId])).toEqual([
      { tokens_held: held, tokens_used: 10 },
    ])
    expect(await client.query("SELECT nextval('exchange_rows') AS row")).toEqual([{ row: 4 }])
    const [audit] = await client.query<{ row: number; last: number }>(
      `INSERT INTO audit (at, actor_kind, actor_id, action, target) VALUES (1, 'cli', 'x', 'y', 'z')
       RETURNING row, (SELECT max(row) FROM audit) AS last`,
    )
    expect(audit?.row).toBe((audit?.last ?? 0) + 1)
    // A node that looks for those of nodes that are gone finds them.
    expect(
      await client.query('SELECT count(*) AS count FROM reservations WHERE node NOT IN (SELECT id FROM nodes)'),
    ).toEqual([{ count: 2 }])
    await client.close()
  })

  test('stays where it is when its server runs, or the database it goes to is in use', async () => {
    const [path, url] = [newPath(), await newUrl()]
    const store = open(path)
    await store.keys.issue(newKey(), ACTOR)
    store.journal.claim(() => undefined)
    expect(there(path, url)).rejects.toThrow(`A server is running on ${path}; stop it first.`)
    await store.close()
    await there(path, url)
    expect(there(path, url)).rejects.toThrow('is in use already: its table')
    expect(back(url, path)).rejects.toThrow(`There is a database at ${path} already`)
    const client = createClient(url)
    await client.query("INSERT INTO nodes VALUES ('n', (extract(epoch FROM clock_timestamp()) * 1000)::bigint + 60000)")
    const other = newPath()
    expect(back(url, other)).rejects.toThrow('stop all of them first')
    expect(existsSync(other)).toBe(false)
    await client.close()
    expect(there(join(dirname(other), 'none.db'), url)).rejects.toThrow('There is no database at')
  })

  test('is not moved at all where a table does not arrive whole', async () => {
    const [path, other, url] = [newPath(), newPath(), await newUrl()]
    await record(path, 'UTC', [])
    const losing = (writer: Writer): Writer => ({
      ...writer,
      write: (table, rows) => writer.write(table, table.name === 'keys' ? rows.slice(1) : rows),
    })
    expect(there(path, url, losing)).rejects.toThrow(
      'The table keys did not arrive as it was read, so nothing was moved.',
    )
    expect((await there(path, url)).tables.find(({ name }) => name === 'keys')?.rows).toBe(4)
    const failing = readPostgres(url, UTC, (from) => writeSqlite(other, (to) => move(MOVED_TABLES, from, losing(to))))
    expect(failing).rejects.toThrow('did not arrive')
    await failing.catch(() => undefined)
    expect(readdirSync(dirname(other)).filter((name) => !name.endsWith('.lock'))).toEqual([])
    await back(url, other)
    expect(dump(other)).toEqual(dump(path))
  })

  test('waits for a server that was killed to be started once more', async () => {
    const [path, url] = [newPath(), await newUrl()]
    const one = {
      key: 0,
      model: 'a',
      account: undefined,
      tag: undefined,
      input: 5,
      output: 5,
      estimated: false,
    } as const
    await record(path, 'UTC', [
      { ...one, ...{ reasoning: undefined, firstByteMs: undefined, tools: undefined }, outcome: 'open', at: 1 },
    ])
    const db = new Database(path)
    db.run('DELETE FROM background_answers')
    db.close()
    expect(there(path, url)).rejects.toThrow('start it once more and stop it')
  })
})
