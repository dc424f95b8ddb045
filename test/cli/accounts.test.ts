// Accounts and other entries by the command line: on a data directory beside a running server, and on another machine's.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startDesk } from '../http/admin/support.ts'
import { openTerminal, type Terminal } from './terminal.ts'

const SECRET = 'sk-of-the-rack-0123456789'
const RACK = ['--provider', 'rack', '--wires', 'chat-completions', '--base-url', 'http://127.0.0.1:9/v1']

let terminal: Terminal
beforeEach(() => {
  terminal = openTerminal({ RACK_KEY: SECRET, OTHER_KEY: 'sk-another-of-the-rack-0123' })
})
afterEach(() => terminal.close())

const entries = async () => JSON.parse((await terminal.type('config', 'entries', '--json')).out) as object[]

describe('on a data directory', () => {
  test('an account is added, changed, tested and removed', async () => {
    const added = await terminal.type('accounts', 'add', ...RACK, '--credential-env', 'RACK_KEY')
    expect(added).toMatchObject({ code: 0, out: expect.stringContaining('Added rack/main.') })
    expect(readFileSync(join(terminal.cwd, 'data', 'sluice.db'), 'latin1')).not.toContain(SECRET)
    const changed = await terminal.type('accounts', 'update', 'rack/main', '--weight', '2')
    expect(changed).toMatchObject({ code: 0, out: 'Changed rack/main.' })
    expect(await entries()).toMatchObject([
      { section: 'providers', name: 'rack', value: { wires: ['chat-completions'] }, problem: null },
      { section: 'accounts', name: 'rack/main', value: { weight: 2 }, problem: null },
    ])
    const tested = await terminal.type('accounts', 'test', 'rack/main')
    expect(tested).toMatchObject({ code: 1, out: expect.stringContaining('nothing answers at') })
    expect((await terminal.type('accounts', 'remove', 'rack/main')).code).toBe(0)
    expect(await entries()).toEqual([])
  })

  test('an account is found by the preset of its provider, too', async () => {
    await terminal.type('accounts', 'add', 'anthropic', '--credential-env', 'RACK_KEY')
    const update = (name: string) => terminal.type('accounts', 'update', name, '--weight', '2')
    expect((await update('anthropic/main')).code).toBe(0)
    expect((await update('anthropic/other')).err).toContain('There are vendor_a/main.')
    expect((await update('openai/main')).code).toBe(1)
    expect((await terminal.type('accounts', 'remove', 'anthropic/main')).code).toBe(0)
    expect(await entries()).toEqual([])
  })

  test('a model, its price, an alias and fallbacks are set, listed and unset', async () => {
    const set = (...words: string[]) => terminal.type('config', 'set', ...words)
    const mine = '{ provider: vendor_b, price: { input: 2, output: 8, long_context: }, quirks: }'
    expect((await set('models', 'mine', mine)).code).toBe(0)
    expect((await set('models', 'vendorB-4', '{ price: }')).code).toBe(0)
    expect((await terminal.type('config', 'unset', 'models', 'vendorB-4')).code).toBe(0)
    expect((await set('aliases', 'quick', 'mine')).code).toBe(0)
    expect((await set('fallbacks', 'mine', '[vendorB-5.5]')).code).toBe(0)
    const { models, aliases } = JSON.parse((await terminal.type('models', '--json')).out)
    expect(models.at(-1)).toMatchObject({ id: 'mine', price: { input: 2, output: 8 } })
    expect(aliases.quick).toBe('mine')
    expect((await terminal.type('keys', 'create', '--label', 'k', '--models', 'mine')).code).toBe(0)
    expect((await terminal.type('config', 'unset', 'models', 'mine')).err).toContain('Another entry leans on it')
    expect((await terminal.type('config', 'unset', 'aliases', 'quick')).code).toBe(0)
    expect(await entries()).toHaveLength(2)
  })

  test.each([
    ['no credential', ['accounts', 'add', 'groq'], 1, 'No credential was given'],
    ['a variable that is not set', ['accounts', 'add', 'groq', '--credential-env', 'NONE'], 2, 'NONE is not set'],
    ['a preset that there is not, before the credential', ['accounts', 'add', 'grok'], 2, 'Did you mean "groq"?'],
    [
      'no address, before the credential',
      ['accounts', 'add', '--provider', 'rack', '--wires', 'messages'],
      2,
      'base_url',
    ],
    ['a weight of nothing', ['accounts', 'update', 'a/b', '--weight', '0'], 2, '--weight: found "0"'],
    ['nothing to change', ['accounts', 'update', 'a/b'], 2, 'Nothing to change'],
    ['a name without its provider', ['accounts', 'remove', 'main'], 2, 'PROVIDER/NAME'],
    ['an account that there is not', ['accounts', 'remove', 'a/b'], 1, 'There is no such account that was added'],
    ['another section', ['config', 'set', 'accounts', 'a/b', '{}'], 2, 'sluice accounts add'],
    ['a misspelt member', ['config', 'set', 'models', 'm', '{ provder: vendor_b }'], 2, 'did you mean "provider"?'],
  ])('%s is told in words', async (_, words, code, said) => {
    const told = await terminal.type(...words)
    expect(told.err).toContain(said)
    expect(told.code).toBe(code)
  })

  test('credentials are sealed anew by a new key; the old one opens nothing any more', async () => {
    await terminal.type('accounts', 'add', ...RACK, '--credential-env', 'RACK_KEY')
    const path = join(terminal.cwd, 'data', 'sluice.key')
    const before = readFileSync(path, 'utf8')
    expect(await terminal.type('accounts', 'reseal')).toMatchObject({ code: 0, out: 'Sealed 1 credential anew.' })
    expect(readFileSync(path, 'utf8')).not.toBe(before)
    expect(statSync(path).mode & 0o777).toBe(0o600)
    expect(await entries()).toMatchObject([{}, { problem: null }])
    writeFileSync(path, before)
    expect(await entries()).toMatchObject([{}, { problem: expect.stringContaining('another key') }])
  })

  test('by SLUICE_KEY, the first key seals what the second had', async () => {
    const [first, second] = ['11'.repeat(32), '22'.repeat(32)]
    terminal.env.SLUICE_KEY = first
    await terminal.type('accounts', 'add', ...RACK, '--credential-env', 'RACK_KEY')
    terminal.env.SLUICE_KEY = `${second},${first}`
    expect((await terminal.type('accounts', 'reseal', '--json')).out).toContain('"resealed": 1')
    terminal.env.SLUICE_KEY = second
    expect(await entries()).toMatchObject([{}, { problem: null }])
  })

  test('what was killed between two keys is opened by either', async () => {
    await terminal.type('accounts', 'add', ...RACK, '--credential-env', 'RACK_KEY')
    const path = join(terminal.cwd, 'data', 'sluice.key')
    writeFileSync(path, `${'33'.repeat(32)}\n${readFileSync(path, 'utf8')}`)
    expect(await entries()).toMatchObject([{}, { problem: null }])
    expect((await terminal.type('accounts', 'reseal')).out).toBe('Sealed 1 credential anew.')
    expect(readFileSync(path, 'utf8').trim().split('\n')).toHaveLength(1)
    expect(await entries()).toMatchObject([{}, { problem: null }])
  })

  test('a backup says that it is without the key', async () => {
    await terminal.type('accounts', 'add', ...RACK, '--credential-env', 'RACK_KEY')
    const { err } = await terminal.type('backup', 'copy.db')
    expect(err).toContain('sluice.key')
    expect(err).toContain('not in it')
  })
})

test("on another machine's server, in force at once", async () => {
  const desk = await startDesk()
  try {
    const { secret } = await desk.server.gateway.membership.issueToken('script', undefined, desk.admin.member)
    const there = ['--server', desk.url, '--token', secret]
    const added = await terminal.type('accounts', 'add', ...RACK, '--credential-env', 'RACK_KEY', ...there)
    expect(added).toMatchObject({ code: 0, out: expect.stringContaining('Added rack/main.') })
    expect(desk.server.gateway.providers.get('rack')?.accounts).toMatchObject([{ credential: SECRET }])
    expect((await terminal.type('config', 'set', 'aliases', 'quick', 'vendorB-5.4', ...there)).code).toBe(0)
    expect(desk.server.gateway.catalogue.resolve('quick')?.id).toBe('vendorB-5.4')
    expect((await terminal.type('config', 'entries', ...there)).out).toContain('in force')
    const elsewhere = ['--base-url', 'http://127.0.0.1:10/v1', ...there]
    expect((await terminal.type('accounts', 'update', 'rack/main', ...elsewhere)).err).toContain('set it again')
    const both = [...elsewhere, '--credential-env', 'OTHER_KEY']
    expect((await terminal.type('accounts', 'update', 'rack/main', ...both)).code).toBe(0)
    expect((await terminal.type('accounts', 'remove', 'rack/other', ...there)).err).toStartWith(
      'There is no such account that was added at run time.',
    )
    expect((await terminal.type('accounts', 'remove', 'rack/main', ...there)).code).toBe(0)
    expect(desk.server.gateway.providers.has('rack')).toBe(false)
  } finally {
    await desk.stop()
  }
})
