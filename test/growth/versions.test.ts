// Nodes that start together on an empty database, nodes of two versions on one, and a move to it that is killed half way.

import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '../../src/store/postgres/client.ts'
import { openStore } from '../../src/store/sqlite/index.ts'
import { launch, PROGRAM } from '../binary/support/process.ts'
import { providersAt } from '../chaos/support/gateway.ts'
import { postgresMissing, testPostgres } from '../support/postgres.ts'
import { startScripted } from '../support/provider/scripted.ts'
import { stopsAfterEach } from '../support/stopping.ts'
import { postgresBooks, sample } from './books.ts'
import { issue, letIn, nodeAt, statusOf, until } from './fleet.ts'
import { IS_LONG } from './forms.ts'
import { endedOtherwise, requireBilled, startLoad, varied } from './load.ts'
import { startNodes } from './nodes.ts'

const stopping = stopsAfterEach()
const usual = async () => {
  const vendor = stopping(await startScripted(varied))
  return { providers: providersAt({ b: [vendor.origin] }) }
}

/** A version of before, which a release has left behind. */
const OLD = process.env.SLUICE_OLD_BINARY || undefined
if (OLD === undefined) console.warn('SKIPPED: nodes of two versions (name a binary of before by SLUICE_OLD_BINARY)')

describe.skipIf(postgresMissing !== undefined)('nodes', () => {
  test('that start together make the tables of an empty database once', async () => {
    const nodes = stopping(await startNodes(IS_LONG ? 4 : 2, await usual(), { isEmpty: true }))
    const made = await nodes.query<{ n: number; names: number }>(
      'SELECT count(*) AS n, count(DISTINCT name) AS names FROM migrations',
    )
    expect(made[0]?.n).toBe(made[0]?.names ?? 0)
    const { key: secret } = JSON.parse(await nodes.run('keys', 'create', '--label', 'first', '--json'))
    for (const node of nodes.all) expect(await statusOf(node.ask(String(secret)))).toBe(200)
    await nodes.books()
  })

  test('go on, and start, beside a newer version that has added to the tables; and end where one takes something away', async () => {
    const nodes = stopping(await startNodes(1, await usual()))
    await nodes.query(`
      INSERT INTO migrations (position, name, least, at)
      SELECT max(position) + 1, 'of a newer version', max(least), 1 FROM migrations`)
    await nodes.query('CREATE TABLE of_a_newer_version (id text); ALTER TABLE exchanges ADD of_a_newer_version text')
    const sampler = sample(nodes.reading)
    const load = startLoad(nodes, { secrets: [nodes.secret] })
    await nodes.start()
    await until(() => load.done() > 40)
    const tally = await load.stop()
    expect(endedOtherwise(tally)).toEqual([])
    await sampler.sound()
    await nodes.query(`
      INSERT INTO migrations (position, name, least, at)
      SELECT max(position) + 1, 'that takes away', max(position) + 2, 1 FROM migrations`)
    await expect(nodes.start()).rejects.toThrow('newer version of sluice')
    requireBilled(tally, await nodes.books())
  })

  test.skipIf(OLD === undefined)(
    'of the version before and of this one serve one database together',
    async () => {
      const program = (index: number): string[] => (index % 2 === 0 ? [OLD ?? ''] : PROGRAM)
      // The older one has made the tables.
      const nodes = stopping(await startNodes(1, await usual(), { program, isEmpty: true }))
      await nodes.start()
      await nodes.start()
      const small = await nodes.newKey({ tokens_total: 3_000 })
      const sampler = sample(nodes.reading)
      const load = startLoad(nodes, { secrets: [nodes.secret, small.secret] })
      await until(() => load.done() > 60)
      const tally = await load.stop()
      const limited = await nodes.newKey({ rpm: 25 })
      const asked = Array.from({ length: 60 }, (_, i) => statusOf(nodes.at(i % 3).ask(limited.secret)))
      expect((await Promise.all(asked)).filter((status) => status === 200)).toHaveLength(25)
      // Each takes over what the other had.
      for (const at of [0, 1]) {
        const [killed, ...left] = nodes.all.slice(at)
        const midst = startLoad(nodes, { secrets: [nodes.secret], among: () => (killed === undefined ? [] : [killed]) })
        await until(() => midst.done() > 10)
        killed?.child.kill('SIGKILL')
        // What it asked for last may come to be after it, and is held until it counts as gone.
        await until(async () => (await nodes.query('SELECT 1 FROM nodes')).length === left.length)
        await until(async () => (await nodes.query('SELECT 1 FROM reservations')).length === 0)
        await midst.stop()
        expect(await Promise.all(left.map((node) => statusOf(node.ask(nodes.secret))))).toEqual(left.map(() => 200))
      }
      expect(endedOtherwise(tally, '402', '429')).toEqual([])
      await sampler.sound()
      requireBilled(tally, await nodes.books())
    },
    120_000,
  )
})

describe.skipIf(postgresMissing !== undefined)('a move that is killed half way', () => {
  const newFolder = (): string => {
    const folder = mkdtempSync(join(tmpdir(), 'sluice-moved-'))
    stopping({ stop: async () => rmSync(folder, { recursive: true, force: true }) })
    return folder
  }
  /** With an exchange and two keys in it. */
  const usedFolder = async (): Promise<{ folder: string; secret: string }> => {
    const folder = newFolder()
    const vendor = await usual()
    writeFileSync(join(folder, 'sluice.yaml'), JSON.stringify({ listen: { port: 0 }, data: folder, ...vendor }))
    const store = openStore(join(folder, 'sluice.db'))
    const { secret } = await letIn(store)
    await issue(store)
    await store.close()
    const child = launch(PROGRAM, ['serve'], folder)
    const node = nodeAt(await child.ready(), child, folder, { token: '' })
    expect(await statusOf(node.ask(secret))).toBe(200)
    child.kill('SIGTERM')
    await child.exited
    return { folder, secret }
  }
  /** Begins a move that waits for a table of the database, and kills it there. */
  const killedAt = async (
    url: string,
    [table, mode]: [string, string],
    words: string[],
    cwd: string,
  ): Promise<void> => {
    const books = postgresBooks(url)
    const client = createClient(url, { max: 1 })
    await client.begin(async (tx) => {
      await tx.query(`LOCK TABLE ${table} IN ${mode} MODE`)
      const child = launch(PROGRAM, words, cwd)
      const waits = `SELECT 1 FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE '%${table}%'`
      await until(async () => (await books.query(waits)).length > 0)
      child.kill('SIGKILL')
      await child.exited
    })
    await client.close()
    await books.close()
  }

  test('leaves a database that is empty, and is begun again', async () => {
    const { folder, secret } = await usedFolder()
    const database = await (await testPostgres()).database()
    stopping({ stop: () => database.drop() })
    const words = ['migrate', '--from', `sqlite:${folder}`, '--to', database.url]
    // Its tables are there by then.
    const made = launch(PROGRAM, ['keys', 'list'], folder, { SLUICE_STORE: database.url })
    expect(await made.exited).toBe(0)
    await killedAt(database.url, ['audit', 'SHARE'], words, folder)
    const books = postgresBooks(database.url)
    expect(await books.query('SELECT 1 FROM keys')).toEqual([])
    const again = launch(PROGRAM, words, folder)
    expect([await again.exited, await again.err]).toEqual([0, expect.any(String)])
    expect(await books.broken()).toEqual([])
    expect(await books.query('SELECT 1 FROM keys')).toHaveLength(2)
    expect(await books.query('SELECT 1 FROM exchanges')).toHaveLength(1)
    expect(secret).toBeDefined()
    await books.close()
  })

  test('leaves no database where the file was to be, and is begun again', async () => {
    const { folder } = await usedFolder()
    const database = await (await testPostgres()).database()
    stopping({ stop: () => database.drop() })
    const there = launch(PROGRAM, ['migrate', '--from', `sqlite:${folder}`, '--to', database.url], folder)
    expect(await there.exited).toBe(0)
    const target = newFolder()
    const words = ['migrate', '--from', database.url, '--to', `sqlite:${target}`]
    await killedAt(database.url, ['audit', 'ACCESS EXCLUSIVE'], words, folder)
    expect(existsSync(join(target, 'sluice.db'))).toBe(false)
    const again = launch(PROGRAM, words, folder)
    expect([await again.exited, await again.err]).toEqual([0, expect.any(String)])
    const db = new Database(join(target, 'sluice.db'), { readonly: true })
    expect(db.query('SELECT count(*) AS n FROM exchanges').get()).toEqual({ n: 1 })
    db.close()
    // Nothing of the first is left.
    expect(readdirSync(target).filter((name) => !name.startsWith('sluice.db'))).toEqual([])
  })
})
