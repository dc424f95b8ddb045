// How a database gets its tables, and which ones are refused.

import { afterEach, describe, expect, test } from 'bun:test'
import { createClient } from '../../../src/store/postgres/client.ts'
import {
  NOTHING_ENDS,
  nothingConcerned,
  TURN,
  type TurnRow,
  turnOf,
  turnParams,
} from '../../../src/store/postgres/ledger/turn.ts'
import { migrate } from '../../../src/store/postgres/migrate.ts'
import { MIGRATIONS, type Migration } from '../../../src/store/postgres/migrations.ts'
import { openPostgres, tryPostgres } from '../../../src/store/postgres/open.ts'
import { postgresMissing } from '../../support/postgres.ts'
import { newKey } from '../support.ts'
import { dropAll, newDatabase, nodeOn, ownDatabase } from './support.ts'

const added: Migration = { name: 'added', sql: 'CREATE TABLE added (id text)' }
const contracted: Migration = { name: 'contracted', sql: 'DROP TABLE added', contracts: true }
const WHERE = 'sluice at db'

const clients: ReturnType<typeof createClient>[] = []
const clientOn = (url: string) => {
  const client = createClient(url)
  clients.push(client)
  return client
}

afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
  await dropAll()
})

const namesIn = async (url: string): Promise<string[]> =>
  (await clientOn(url).query<{ name: string }>('SELECT name FROM migrations ORDER BY position')).map(({ name }) => name)

describe.skipIf(postgresMissing !== undefined)('migrating PostgreSQL', () => {
  test('nodes that start together on an empty database apply each migration once', async () => {
    const url = await newDatabase('empty')
    const nodes = await Promise.all([nodeOn(url), nodeOn(url), nodeOn(url)])
    expect(await namesIn(url)).toEqual(MIGRATIONS.map(({ name }) => name))
    for (const node of nodes) expect(node.keys.list()).toEqual([])
  })

  test('a database that is up to date is not changed', async () => {
    const url = await ownDatabase()
    const client = clientOn(url)
    const state = () => client.query('SELECT pg_current_xact_id_if_assigned() AS own, count(*) AS rows FROM migrations')
    const before = await state()
    await migrate(client, WHERE)
    expect(await state()).toEqual(before)
  })

  test('one that adds leaves nodes of the version before running, and lets them start', async () => {
    const url = await ownDatabase()
    const before = await nodeOn(url)
    await migrate(clientOn(url), WHERE, [...MIGRATIONS, added])
    await before.refresh()
    await before.settings.write({ a: 1 }, { kind: 'cli', id: 'test' })
    const another = await nodeOn(url)
    expect(await another.settings.read()).toEqual({ a: 1 })
  })

  test('one that takes something away ends nodes of a version that does not know it', async () => {
    const url = await ownDatabase()
    const before = await nodeOn(url)
    await migrate(clientOn(url), WHERE, [...MIGRATIONS, added, contracted])
    const refusal = expect.objectContaining({
      name: 'StoreError',
      message: expect.stringMatching(/^The database .+ was changed by a newer version of sluice; use that version/),
    })
    expect(openPostgres(url)).rejects.toEqual(refusal)
    await before.refresh()
    expect(before.settings.write({ a: 1 }, { kind: 'cli', id: 'test' })).rejects.toEqual(refusal)
    expect(before.probe()).rejects.toEqual(refusal)
    await migrate(clientOn(url), WHERE, [...MIGRATIONS, added, contracted])
  })

  test('a database whose migrations are others is of a newer version', async () => {
    const url = await ownDatabase()
    const client = clientOn(url)
    await client.query(`UPDATE migrations SET name = 'another' WHERE position = 0`)
    expect(migrate(client, WHERE)).rejects.toThrow(
      'The database sluice at db was changed by a newer version of sluice; use that version to open it.',
    )
  })

  test('tables of another program are refused and left as they are; those of extensions are nobody’s', async () => {
    const url = await newDatabase('empty')
    const client = clientOn(url)
    await client.query('CREATE TABLE keys (theirs text)')
    expect(migrate(client, WHERE)).rejects.toThrow(
      'The database sluice at db holds tables of another program; make one for sluice alone.',
    )
    expect(await client.query(`SELECT tablename FROM pg_tables WHERE schemaname = 'public'`)).toEqual([
      { tablename: 'keys' },
    ])
    await client.query('DROP TABLE keys')
    await client.query('CREATE VIEW theirs AS SELECT 1 AS one')
    await migrate(client, WHERE)
  })

  test('tables may be in a schema of their own, which the search_path of the user names', async () => {
    const url = await newDatabase('empty')
    const admin = clientOn(url)
    await admin.query('CREATE SCHEMA own')
    await admin.query('CREATE TABLE keys (theirs text)')
    const node = await nodeOn(`${url}?search_path=own`)
    await node.keys.issue(newKey(), { kind: 'cli', id: 'test' })
    expect(await admin.query('SELECT count(*) AS n FROM own.keys')).toEqual([{ n: 1 }])
    expect(await admin.query('SELECT relname FROM pg_class WHERE relnamespace = 2200')).toEqual([{ relname: 'keys' }])
    await expect(admin.query('SELECT nextval($1)', ['exchange_rows'])).rejects.toThrow()
    await nodeOn(`${url}?search_path=own`)
  })

  test('one is tried without a trace, and refused as a start would refuse it', async () => {
    const TABLES = `SELECT relname FROM pg_class WHERE relnamespace = 2200 AND relkind = 'r'`
    const empty = await newDatabase('empty')
    expect(await tryPostgres(empty)).toMatch(/^\d+/)
    expect(await clientOn(empty).query(TABLES)).toEqual([])
    const made = await ownDatabase()
    const admin = clientOn(made)
    const state = () => admin.query('SELECT count(*) AS n FROM versions')
    const before = await state()
    await tryPostgres(made)
    expect(await state()).toEqual(before)
    const role = `tried_${crypto.randomUUID().slice(0, 8)}`
    await admin.query(`CREATE ROLE ${role} LOGIN`)
    await admin.query(`GRANT SELECT ON ALL TABLES IN SCHEMA public TO ${role}`)
    const by = (url: string): string => url.replace(/\/\/[^@]*@/, `//${role}@`)
    await expect(tryPostgres(by(made))).rejects.toThrow('permission denied for table versions')
    await expect(tryPostgres(by(empty))).rejects.toThrow('permission denied for schema public')
    await expect(tryPostgres(`${made}?default_transaction_read_only=on`)).rejects.toThrow('takes no writes')
    await expect(tryPostgres(`${empty}?search_path=nowhere`)).rejects.toThrow(
      'make the first schema of its search_path',
    )
    await clientOn(empty).query('CREATE TABLE theirs (id text)')
    await expect(tryPostgres(empty)).rejects.toThrow('holds tables of another program')
    await admin.query(`DROP OWNED BY ${role}`)
    await admin.query(`DROP ROLE ${role}`)
  })

  test('whatever that schema is called', async () => {
    for (const name of ['Team A', 'OWN', "it's", 'a"b', 'ü', 'select']) {
      const url = await newDatabase('empty')
      const quoted = `"${name.replaceAll('"', '""')}"`
      await clientOn(url).query(`CREATE SCHEMA ${quoted}`)
      const node = await nodeOn(`${url}?search_path=${encodeURIComponent(quoted)}`)
      await node.keys.issue(newKey(), { kind: 'cli', id: 'test' })
      expect(await clientOn(url).query(`SELECT count(*) AS n FROM ${quoted}.keys`)).toEqual([{ n: 1 }])
    }
  })

  test('whose tables they are serves and changes them; another may serve, as far as it is let', async () => {
    const url = await ownDatabase()
    const admin = clientOn(url)
    const role = `lesser_${crypto.randomUUID().slice(0, 8)}`
    await admin.query(`CREATE ROLE ${role} LOGIN`)
    const at = new URL(url)
    at.username = role
    await expect(openPostgres(at.href)).rejects.toThrow(
      'permission denied for table migrations: make its user the owner of the database, or grant it that.',
    )
    await admin.query(`GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO ${role}`)
    await admin.query(`GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO ${role}`)
    const node = await nodeOn(at.href)
    const { key } = await node.keys.issue(newKey(), { kind: 'cli', id: 'test' })
    const lesser = clientOn(at.href)
    await lesser.query('SELECT sluice_beat($1, 60000), sluice_life()', ['one'])
    const wish = { at: 1, id: 'exc_1', key_id: key.id, seen: 100, model: 'm', wire: 'messages', stream: false }
    const asks = JSON.stringify([{ ...wish, started_at: 1, input_estimate: 1, reserved: 1, reserved_micro_usd: 0 }])
    const parts = { node: 'one', concerned: { ...nothingConcerned(), keys: new Set([key.id]) } }
    const params = turnParams(
      { ...parts, ending: NOTHING_ENDS, asking: [['exc_1'], asks, false, []] },
      { rpm: 0, tpm: 0, concurrency: 0 },
    )
    expect(turnOf((await lesser.query<TurnRow>(TURN, params))[0]).told ?? null).toBeNull()
    expect(await lesser.query('SELECT id FROM reservations')).toEqual([{ id: 'exc_1' }])
    await migrate(clientOn(url), WHERE, [...MIGRATIONS, added])
    await node.close()
    await admin.query(`DROP OWNED BY ${role}`)
    await admin.query(`DROP ROLE ${role}`)
  })

  test('a database that cannot hold every text is refused before anything is made in it', async () => {
    const url = await newDatabase('empty')
    const admin = clientOn(url)
    const name = `${new URL(url).pathname.slice(1)}_latin`
    await admin.query(`CREATE DATABASE ${name} TEMPLATE template0 LOCALE_PROVIDER libc ENCODING 'LATIN1' LOCALE 'C'`)
    const at = new URL(url)
    at.pathname = name
    await expect(openPostgres(at.href)).rejects.toThrow("cannot hold every text: make one with ENCODING 'UTF8'")
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
  })

  test('a migration that fails leaves none of those it was to be applied with', async () => {
    const url = await newDatabase('empty')
    const client = clientOn(url)
    const broken: Migration = {
      name: 'broken',
      sql: 'CREATE TABLE half (id text)--> statement-breakpoint\nSELECT wrong',
    }
    expect(migrate(client, WHERE, [...MIGRATIONS, broken])).rejects.toThrow()
    await expect(client.query('SELECT 1 FROM keys')).rejects.toThrow()
    await migrate(client, WHERE)
    expect(await namesIn(url)).toEqual(MIGRATIONS.map(({ name }) => name))
  })
})
