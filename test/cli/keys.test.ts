// `keys` on a data directory, beside a running store and without one.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { openStore } from '../../src/store/sqlite/index.ts'
import { openTerminal, type Terminal } from './terminal.ts'

let terminal: Terminal
beforeEach(() => {
  terminal = openTerminal()
})
afterEach(() => terminal.close())

const type = (...words: string[]) => terminal.type(...words)
const json = async (...words: string[]) => {
  const { code, out, err } = await type(...words, '--json')
  if (code !== 0) throw new Error(`exit code ${code}: ${err}`)
  return JSON.parse(out)
}
const create = (...words: string[]) => json('keys', 'create', '--label', 'alice', ...words)

describe('keys create', () => {
  test('says so where it begins a database, which a server elsewhere does not read', async () => {
    const note = `note: a new database is made: ${join(terminal.cwd, 'data', 'sluice.db')}`
    expect((await type('keys', 'create', '--label', 'first')).err).toContain(note)
    expect((await type('keys', 'create', '--label', 'second')).err).not.toContain('note')
    const { out } = await type('keys', 'create', '--label', 'third', '--data', 'other', '--json')
    expect(JSON.parse(out)).toMatchObject({ label: 'third' })
  })

  test('prints one JSON document with every member', async () => {
    expect(await create('--tokens', '5000', '--expires', '90d', '--models', 'auto,vendorB-*', '--rpm', '60')).toEqual({
      id: expect.stringMatching(/^key_/),
      key: expect.stringMatching(/^sk-sl-[0-9A-Za-z]{43}$/),
      label: 'alice',
      last_four: expect.stringMatching(/^[0-9A-Za-z]{4}$/),
      tokens_total: 5000,
      tokens_extra: 0,
      tokens_used: 0,
      tokens_remaining: 5000,
      renews: null,
      renews_at: null,
      expires_at: '2026-11-30T00:00:00.000Z',
      models: ['vendorA-opus-4-8', 'vendorB-*'],
      rpm: 60,
      tpm: null,
      concurrency: null,
      server_tools: 'all',
      budget: null,
      ips: null,
      capture: 'none',
      old_secret_until: null,
      status: 'active',
      created_at: '2026-09-01T00:00:00.000Z',
    })
  })

  test('gives a million tokens, a year and every model by default', async () => {
    expect(await create()).toMatchObject({
      tokens_total: 1_000_000,
      expires_at: '2027-09-01T00:00:00.000Z',
      models: ['*'],
    })
  })

  test('makes a key that the store takes', async () => {
    const { key, id } = await create()
    const store = openStore(join(terminal.cwd, 'data', 'sluice.db'), { clock: () => terminal.clock.now })
    expect((await store.keys.authenticate(new Headers({ 'x-api-key': key }))).id).toBe(id)
    expect((await store.audit({ limit: 10 })).map(({ actor, action }) => ({ actor, action }))).toEqual([
      { actor: { kind: 'cli', id: 'cli' }, action: 'key.issue' },
    ])
    await store.close()
  })

  test('shows the secret once, with a note, to people', async () => {
    const { out, err } = await type('keys', 'create', '--label', 'bob')
    const secret = /sk-sl-\w{43}/.exec(out)?.[0] ?? 'none'
    expect(err).toContain('will not be shown again')
    const id = /key_\w+/.exec(out)?.[0] ?? 'none'
    for (const words of [
      ['keys', 'list'],
      ['keys', 'show', id],
      ['keys', 'show', id, '--json'],
    ]) {
      expect((await type(...words)).out).not.toContain(secret)
    }
  })

  test.each([
    ['2027-01-31', '2027-02-01T00:00:00.000Z'],
    ['2027-01-31T10:00', '2027-01-31T10:00:00.000Z'],
    ['2027-01-31T10:00:00+07:00', '2027-01-31T03:00:00.000Z'],
    ['12h', '2026-09-01T12:00:00.000Z'],
  ])('reads --expires %s', async (written, expires_at) => {
    expect(await create('--expires', written)).toMatchObject({ expires_at })
  })

  test.each([
    [['keys', 'create'], '--label is required'],
    [['keys', 'create', '--label', ' '], '--label is required'],
    [['keys', 'create', '--label', 'x'.repeat(201)], '--label: found 201 characters, allowed: 200 at most.'],
    [['keys', 'create', '--label'], '--label needs a value.'],
    [['keys', 'create', '--label', '--json'], '--label needs a value.'],
    [
      ['keys', 'create', '--label', 'x', '--tokens', '1.5'],
      '--tokens: found "1.5", allowed: a whole number, 0 or more, such as 500k or 1M.',
    ],
    [['keys', 'create', '--label', 'x', '--tokens', '-1'], '--tokens: found "-1"'],
    [['keys', 'create', '--label', 'x', '--tokens', '99999999999999999999'], '--tokens: found "99999999999999999999"'],
    [['keys', 'create', '--label', 'x', '--rpm', 'many'], '--rpm: found "many"'],
    [
      ['keys', 'create', '--label', 'x', '--expires', 'soon'],
      '--expires: found "soon", allowed: a duration such as 90d',
    ],
    [
      ['keys', 'create', '--label', 'x', '--expires', '2020-01-01'],
      '--expires: found "2020-01-01", allowed: a time in the future.',
    ],
    [['keys', 'create', '--label', 'x', '--expires', '2027-02-31T99:00Z'], '--expires: found'],
    [['keys', 'create', '--label', 'x', '--expires', '99999999d'], 'allowed: a time before the year 10000'],
    [
      ['keys', 'create', '--label', 'x', '--models', 'vendorA-opus-4-9'],
      'no known model; did you mean "vendorA-opus-4-8"?',
    ],
    [
      ['keys', 'create', '--label', 'x', '--models', 'zz'],
      '--models: found "zz", which is no known model; "sluice models" lists them.',
    ],
    [['keys', 'create', '--label', 'x', '--models', 'gpt-*'], "which no model's id matches"],
    [['keys', 'create', '--label', 'x', '--ips', 'none'], 'such as 203.0.113.7,10.0.0.0/8, or any.'],
    [['keys', 'create', '--label', 'x', '--capture', 'all'], '--capture: found "all", allowed: content or none.'],
    [['keys', 'create', '--label', 'x', '--models', ','], '--models: found an empty list'],
    [
      ['keys', 'create', '--label', 'x', '--server-tools', 'mcp,all'],
      '--server-tools: found "all", allowed: all, none, or',
    ],
    [['keys', 'create', '--label', 'x', '--server-tools', ','], '--server-tools: found ",", allowed: all, none, or'],
    [['keys', 'create', '--label', 'x', 'y'], 'Unexpected argument "y".'],
    [['keys', 'create', '--lable', 'x'], 'Unknown flag --lable; did you mean --label?'],
    [['keys', 'create', '--label', 'x', '--json=yes'], '--json takes no value.'],
    [['keys', 'update', 'key_x'], 'Nothing to change'],
    [
      ['keys', 'update', 'key_x', '--tokens', '1', '--add-tokens', '1'],
      '--tokens and --add-tokens cannot be used together.',
    ],
    [
      ['keys', 'update', 'key_x', '--add-tokens', '1', '--once', 'a', '--rpm', '3'],
      '--once goes with --add-tokens alone: make other changes by a command of their own.',
    ],
    [['keys', 'update', 'key_x', '--add-tokens', '1', '--once', ' '], '--once must be 1 to 255 characters of ASCII.'],
    [['keys', 'update', 'key_x', '--label', ' '], '--label must not be empty.'],
    [['keys', 'create', '--label', 'a\tb'], '--label must not have line breaks or other invisible characters.'],
    [
      ['keys', 'update', 'key_x', '--rpm', 'none'],
      '--rpm: found "none", allowed: a whole number, 0 or more, such as 500k or 1M, or default.',
    ],
    [['keys', 'update', 'key_x', '--label', 'x'.repeat(201)], '--label: found 201 characters'],
    [['keys', 'rotate', 'key_x', '--grace', 'a while'], '--grace: found "a while"'],
    [['keys', 'rotate', 'key_x', '--grace', '721h'], '--grace: found "721h", allowed: 30d at most.'],
    [['keys', 'show'], 'Missing ID: its id (key_…) or its label, where one key alone has it.'],
    [['keys', 'create', 'dara'], 'Unexpected argument "dara". Did you mean --label dara?'],
    [['keys', 'create', 'dara lim'], 'Did you mean --label "dara lim"?'],
    [['keys', 'create', '--label', 'x', '--tokens', '1.5e3'], '--tokens: found "1.5e3"'],
    [['keys', 'create', '--label', 'x', '--tokens', '0.0001k'], '--tokens: found "0.0001k"'],
    [['keys', 'create', '--label', 'x', '--tokens', '9999999999M'], '--tokens: found'],
    [['keys', 'create', '--label', 'x', '--expires', 'never'], 'every key has an end'],
    [['keys'], '"sluice keys" takes: create, list, show, update, revoke, rotate.'],
    [['keys', 'creat'], 'Did you mean "sluice keys create"?'],
  ])('wrong words end with 2 and a sentence, and make nothing: %j', async (words, sentence) => {
    const { code, out, err } = await type(...words)
    expect({ code, out }).toEqual({ code: 2, out: '' })
    expect(err).toContain(sentence)
    expect(err).not.toContain('fault of sluice')
    expect(existsSync(join(terminal.cwd, 'data'))).toBe(false)
  })
})

test.each([
  ['show', []],
  ['update', ['--tokens', '1']],
  ['revoke', []],
  ['rotate', []],
])('keys %s of an unknown key ends with 1 and makes no database', async (name, words) => {
  const { code, out, err } = await type('keys', name, 'key_none', ...words)
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).toContain('There is no key "key_none"')
  expect(existsSync(join(terminal.cwd, 'data'))).toBe(false)
})

test('keys list shows every key, oldest first, as a table and as JSON', async () => {
  expect(await json('keys', 'list')).toEqual([])
  const first = await create()
  terminal.clock.now += 1000
  const second = await create('--expires', '1h')
  terminal.clock.now += 3_600_000
  expect((await json('keys', 'list')).map(({ id, status }: { id: string; status: string }) => [id, status])).toEqual([
    [first.id, 'active'],
    [second.id, 'expired'],
  ])
  const { out } = await type('keys', 'list')
  expect(out.split('\n')).toHaveLength(3)
  expect(out).toStartWith('ID ')
})

test('columns stand under each other whatever script a label is written in', async () => {
  const labels = ['alice', 'ជំរាបសួរ', '客服机器人', '👩🏽‍🚀 crew']
  for (const label of labels) await json('keys', 'create', '--label', label)
  const [head = '', ...rows] = (await type('keys', 'list')).out.split('\n')
  const before = (line: string, word: string) => Bun.stringWidth(line.slice(0, line.indexOf(word)))
  expect(rows.map((row) => before(row, 'active'))).toEqual(labels.map(() => before(head, 'STATUS')))
})

describe('keys update', () => {
  test('changes what is named and leaves the rest', async () => {
    const { id, key, ...before } = await create('--tokens', '100', '--tpm', '5')
    const after = await json(
      'keys',
      'update',
      id,
      '--label=new',
      '--add-tokens',
      '50',
      '--models',
      'vendorB-4o',
      '--rpm',
      '0',
    )
    expect(after).toEqual({
      ...before,
      id,
      label: 'new',
      tokens_total: 150,
      tokens_remaining: 150,
      models: ['vendorB-4o'],
      rpm: 0,
    })
    expect(await json('keys', 'show', id)).toEqual(after)
    expect(await json('keys', 'update', id, '--tokens', '7')).toMatchObject({ tokens_total: 7 })
  })

  test('tops up the period of a quota that renews, or every one to come, and says which', async () => {
    const { id } = await create('--renews', 'month', '--tokens', '100')
    const update = (...args: string[]) => json('keys', 'update', id, ...args)
    expect(await update('--add-tokens', '30')).toMatchObject({ tokens_total: 130, tokens_extra: 30 })
    expect(await update('--add-tokens', '5', '--lasting')).toMatchObject({ tokens_total: 135, tokens_extra: 30 })
    const { out } = await type('keys', 'show', id)
    expect(out).toContain('30 of the tokens are for this period alone')
    for (const _ of [1, 2])
      expect(await update('--add-tokens', '5', '--once', 'invoice 7')).toMatchObject({ tokens_total: 140 })
  })

  test('makes a quota renew, and stops it', async () => {
    const { id } = await create('--renews', 'month')
    const shown = await json('keys', 'show', id)
    expect(shown).toMatchObject({ renews: 'month', renews_at: expect.stringMatching(/-01T00:00:00\.000Z$/) })
    expect((await type('keys', 'show', id)).out).toMatch(/renews +every month, next at \d{4}-\d\d-01T/)
    expect(await json('keys', 'update', id, '--renews', 'week')).toMatchObject({ renews: 'week' })
    expect(await json('keys', 'update', id, '--renews', 'never')).toMatchObject({ renews: null, renews_at: null })
    expect(await type('keys', 'update', id, '--renews', 'yearly')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--renews: found "yearly", allowed: day, week, month or never.'),
    })
  })

  test('counts tokens from 0 again', async () => {
    const { id } = await create()
    const path = join(terminal.cwd, 'data', 'sluice.db')
    const { Database } = await import('bun:sqlite')
    const database = new Database(path)
    database.run('UPDATE keys SET tokens_used = 900000')
    database.close()
    expect(await json('keys', 'show', id)).toMatchObject({ tokens_used: 900_000, tokens_remaining: 100_000 })
    expect(await json('keys', 'update', id, '--reset-usage')).toMatchObject({
      tokens_used: 0,
      tokens_remaining: 1_000_000,
    })
  })
})

test('a revoked key stays listed and gets no new secret', async () => {
  const { id } = await create()
  expect(await json('keys', 'revoke', id)).toMatchObject({ status: 'revoked' })
  expect(await json('keys', 'show', id)).toMatchObject({ status: 'revoked' })
  expect(await type('keys', 'rotate', id)).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining('is revoked'),
  })
})

test.each([
  ['0', false],
  ['24h', true],
])('keys rotate --grace %s gives a new secret; the old one works on: %p', async (grace, works) => {
  const { id, key } = await create()
  const rotated: { id: string; key: string } = await json('keys', 'rotate', id, '--grace', grace)
  expect(rotated.id).toBe(id)
  expect(rotated.key).toMatch(/^sk-sl-[0-9A-Za-z]{43}$/)
  expect(rotated.key).not.toBe(key)
  const store = openStore(join(terminal.cwd, 'data', 'sluice.db'), { clock: () => terminal.clock.now + 1 })
  const opens = async (secret: string) => {
    try {
      return (await store.keys.authenticate(new Headers({ 'x-api-key': secret }))).id === id
    } catch {
      return false
    }
  }
  expect([await opens(rotated.key), await opens(key)]).toEqual([true, works])
  await store.close()
})

test('what is said of an old secret is true: it ends with its key, and with the next rotation', async () => {
  const { id } = await create('--expires', '12h')
  const first = await type('keys', 'rotate', id, '--grace', '24h')
  expect(first.err).toContain('The old key stays valid until 2026-09-01T12:00:00.000Z.')
  expect(await json('keys', 'show', id)).toMatchObject({ old_secret_until: '2026-09-01T12:00:00.000Z' })
  const second = await type('keys', 'rotate', id, '--grace', '1h')
  expect(second.err).toContain('The old key stays valid until 2026-09-01T01:00:00.000Z.')
  expect(second.err).toContain('note: an older key, valid until 2026-09-01T12:00:00.000Z, has ended')
  expect((await type('keys', 'show', id)).out).toContain('old key  valid until 2026-09-01T01:00:00.000Z')
  terminal.clock.now += 3_600_000
  const third = await type('keys', 'rotate', id)
  expect(third.err).not.toContain('valid until')
  expect(await json('keys', 'show', id)).toMatchObject({ old_secret_until: null })
})

test('the data directory is chosen by flag over environment over file', async () => {
  writeFileSync(
    join(terminal.cwd, 'sluice.yaml'),
    'data: in-file\nproviders: { vendor_a: { brand: claude, accounts: [{ name: m, base_url: env:NOT_HERE, credential: env:NOR_THIS }] } }',
  )
  expect(await create('--models', 'claude-*,claude-haiku-4.5')).toMatchObject({
    models: ['vendorA-*', 'vendorA-haiku-4-5'],
  })
  terminal.env.SLUICE_DATA = 'in-env'
  await create()
  await create('--data', 'in-flag')
  for (const name of ['in-file', 'in-env', 'in-flag'])
    expect(existsSync(join(terminal.cwd, name, 'sluice.db'))).toBe(true)
})

test('a database of something else is refused with 1', async () => {
  writeFileSync(join(terminal.cwd, 'sluice.db'), 'not a database at all')
  const { code, out, err } = await type('keys', 'list', '--data', '.')
  expect({ code, out }).toEqual({ code: 1, out: '' })
  expect(err).not.toContain('fault of sluice')
})

test.each([
  ['1M', 1_000_000],
  ['500k', 500_000],
  ['1.1m', 1_100_000],
  ['2B', 2_000_000_000],
  ['1_000_000', 1_000_000],
  ['0', 0],
])('--tokens %s is %d', async (written, count) => {
  expect((await create('--tokens', written)).tokens_total).toBe(count)
})

describe('a key by its label', () => {
  const labelled = (label: string) => json('keys', 'create', '--label', label)

  test('is the one key that has it, in every command on one key', async () => {
    const { id } = await labelled('dara')
    await labelled('bob')
    expect((await json('keys', 'show', 'dara')).id).toBe(id)
    expect((await json('keys', 'update', 'dara', '--tokens', '5k')).tokens_total).toBe(5_000)
    expect((await json('keys', 'rotate', 'dara')).id).toBe(id)
    expect((await type('usage', '--key', 'dara')).code).toBe(0)
    expect((await json('keys', 'revoke', 'dara')).status).toBe('revoked')
  })

  test('may begin as ids do', async () => {
    const { id } = await labelled('key_for_ci')
    expect((await json('keys', 'show', 'key_for_ci')).id).toBe(id)
  })

  test('is refused where several have it, those that are revoked aside', async () => {
    const [one, two] = [await labelled('dara'), await labelled('dara')]
    const { code, err } = await type('keys', 'show', 'dara')
    expect(code).toBe(1)
    for (const { id } of [one, two]) expect(err).toContain(id)
    await type('keys', 'revoke', one.id)
    expect((await json('keys', 'show', 'dara')).id).toBe(two.id)
    expect(await type('keys', 'show', 'dar')).toMatchObject({ code: 1, err: expect.stringContaining('no key "dar"') })
  })
})
