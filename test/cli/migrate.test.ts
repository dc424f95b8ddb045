// `migrate` as it is typed.

import { afterEach, describe, expect, test } from 'bun:test'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { postgresMissing, type TestDatabase, testPostgres } from '../support/postgres.ts'
import { openTerminal, type Terminal } from './terminal.ts'

const opened: Terminal[] = []
const dropped: TestDatabase[] = []
afterEach(async () => {
  for (const terminal of opened.splice(0)) terminal.close()
  for (const database of dropped.splice(0)) await database.drop()
})

const terminalWith = (env: Record<string, string> = {}): Terminal => {
  const terminal = openTerminal(env)
  opened.push(terminal)
  return terminal
}

describe('what cannot be meant', () => {
  const URL_OF = 'postgres://sluice:hush@127.0.0.1:1/sluice'
  test.each([
    [[], '--from is missing: sqlite:DIR or postgres://user@host:5432/database.'],
    [['--from', 'sqlite:a'], '--to is missing: sqlite:DIR or postgres://user@host:5432/database.'],
    [['--from', 'sqlite:a', '--to', 'sqlite:b'], 'One of --from and --to is SQLite, the other PostgreSQL.'],
    [['--from', URL_OF, '--to', URL_OF], 'One of --from and --to is SQLite, the other PostgreSQL.'],
    [['--from', 'hush', '--to', URL_OF], '--from must be sqlite:DIR or postgres://user@host:5432/database.'],
  ])('%j ends with 2 and a sentence', async (words, sentence) => {
    expect(await terminalWith().type('migrate', ...words)).toEqual({ code: 2, out: '', err: sentence })
  })

  test('a database that is not there is told without its password, and nothing is made', async () => {
    const terminal = terminalWith()
    await terminal.type('keys', 'create', '--label', 'a', '--tokens', '5', '--models', '*', '--data', 'here')
    const { code, out, err } = await terminal.type('migrate', '--from', 'sqlite:here', '--to', URL_OF)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(err).toContain('cannot be reached')
    expect(err).not.toContain('hush')
    const back = await terminal.type('migrate', '--from', URL_OF, '--to', 'sqlite:there')
    expect(back).toMatchObject({ code: 1, out: '' })
    expect(existsSync(join(terminal.cwd, 'there/sluice.db'))).toBe(false)
  })
})

test.skipIf(postgresMissing !== undefined)(
  'a data directory goes to PostgreSQL and into another one',
  async () => {
    const database = await (await testPostgres()).database()
    dropped.push(database)
    const terminal = terminalWith({ SLUICE_STORE: database.url })
    // The commands on a data directory have no other store.
    const local = terminalWith()
    const here = join(terminal.cwd, 'here')
    await local.type('keys', 'create', '--label', 'alice', '--tokens', '500', '--models', '*', '--data', here)
    const key = JSON.parse((await local.type('keys', 'list', '--json', '--data', here)).out)
    const there = await terminal.type('migrate', '--from', 'sqlite:here')
    expect(there).toMatchObject({ code: 0, out: '' })
    expect(there.err).toContain('  keys: 1')
    expect(there.err).not.toContain('sluice.key')
    expect(await terminal.type('migrate', '--from', 'sqlite:here')).toMatchObject({
      code: 1,
      err: expect.stringContaining('is in use already: its table'),
    })
    const { code, out } = await terminal.type('migrate', '--to', 'sqlite:new', '--json')
    expect({ code, keys: JSON.parse(out).tables.keys }).toEqual({ code: 0, keys: 1 })
    const data = join(terminal.cwd, 'new')
    expect(JSON.parse((await local.type('keys', 'list', '--json', '--data', data)).out)).toEqual(key)
  },
  120_000,
)
