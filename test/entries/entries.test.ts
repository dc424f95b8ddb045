// What stands beside the configuration: read by the same rules, sealed, merged, and at rest where it does not fit.

import { afterEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Config, loadConfig } from '../../src/config.ts'
import { resealAccounts } from '../../src/entries/accounts.ts'
import { type Credentials, createCredentials } from '../../src/entries/credentials.ts'
import { type AccountValue, type Change, createEntries } from '../../src/entries/entries.ts'
import { openStore } from '../../src/store/sqlite/index.ts'
import type { SqliteStore } from '../../src/store/store.ts'
import { SYSTEM } from '../support/gateway.ts'

const SECRET = 'sk-0123456789abcdefWXYZ'

let directory = ''
const open: SqliteStore[] = []

afterEach(async () => {
  for (const store of open.splice(0)) await store.close()
  rmSync(directory, { recursive: true, force: true })
})

const configOf = (yaml: string, env: Record<string, string> = {}): Config => {
  writeFileSync(join(directory, 'sluice.yaml'), yaml)
  const loaded = loadConfig({ env, cwd: directory, flags: { data: directory } })
  if (!loaded.ok) throw new Error(JSON.stringify(loaded.problems))
  return loaded.config
}

const start = async (yaml = '', env: Record<string, string> = {}) => {
  directory = mkdtempSync(join(tmpdir(), 'sluice-entries-'))
  const config = configOf(yaml, env)
  const store = openStore(join(directory, 'sluice.db'))
  open.push(store)
  const credentials = createCredentials({ ...config, dataDir: directory })
  const seen: Config[] = []
  const make = (base: Config, with_: Credentials = credentials) =>
    createEntries({ base, store: store.entries, credentials: with_, changed: (next) => seen.push(next) })
  return { config, store, credentials, seen, make, entries: await make(config) }
}

const account = (provider: string, name: string, more: Partial<AccountValue> = {}, credential = SECRET): Change => ({
  ...{ section: 'accounts', name: `${provider}/${name}`, credential },
  value: { provider, name, base_url: 'https://api.example/v1', ...more },
})

const GROQ: Change = { section: 'providers', name: 'groq', value: { preset: 'groq' } }

const accountsIn = (config: Config): string[] =>
  config.providers.flatMap(({ id, accounts }) => accounts.map(({ name }) => `${id}/${name}`))

const refusalOf = async (run: () => unknown): Promise<string> => {
  try {
    await run()
    return 'nothing'
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

describe('entries', () => {
  test('are in force at once: providers by preset, accounts, models, aliases and fallbacks', async () => {
    const { entries, seen } = await start('')
    await entries.change([GROQ, account('groq', 'main')], SYSTEM)
    await entries.change(
      [
        {
          section: 'models',
          name: 'small',
          value: { provider: 'groq', upstream: 'x-8b', price: { input: 1, output: 2 } },
        },
        { section: 'aliases', name: 'auto', value: 'small' },
        { section: 'fallbacks', name: 'vendorA-opus-4-8', value: ['small'] },
      ],
      SYSTEM,
    )
    const { providers, models, aliases, fallbacks } = seen.at(-1) ?? entries.config()
    expect(providers.find(({ id }) => id === 'groq')).toMatchObject({
      preset: 'groq',
      accounts: [{ name: 'main', credential: SECRET, baseUrl: 'https://api.example/v1', weight: 1 }],
    })
    expect(models.find(({ id }) => id === 'small')).toMatchObject({ upstream: 'x-8b', price: { input: 1, output: 2 } })
    expect({ auto: aliases.auto, fallbacks }).toEqual({ auto: 'small', fallbacks: { 'vendorA-opus-4-8': ['small'] } })
  })

  test('outlive a restart', async () => {
    const { entries, make, config } = await start('')
    await entries.change([GROQ, account('groq', 'main')], SYSTEM)
    expect((await make(config)).config().providers).toEqual(entries.config().providers)
  })

  test('of another process are found, and told once', async () => {
    const { entries, make, config, seen } = await start('')
    const other = await make(config)
    await entries.change([GROQ, account('groq', 'main')], SYSTEM)
    seen.length = 0
    await other.refresh()
    await other.refresh()
    expect(seen).toHaveLength(1)
    expect(accountsIn(other.config())).toEqual(['groq/main'])
  })

  test('add to what the file and the environment have, in place of nothing', async () => {
    const { entries } = await start('', { OPENAI_API_KEY: 'sk-of-the-environment' })
    await entries.change([account('vendor_b', 'second'), GROQ, account('groq', 'main')], SYSTEM)
    expect(accountsIn(entries.config())).toEqual(['vendor_b/main', 'vendor_b/second', 'groq/main'])
  })

  test('a provider that was set up at run time takes no credential from the environment', async () => {
    const { entries } = await start('providers: { vendor_b: { preset: openai, accounts: [] } }', {
      GROQ_API_KEY: 'gsk_of-the-machine',
    })
    await entries.change([GROQ], SYSTEM)
    expect(accountsIn(entries.config())).toEqual([])
  })
})

describe('the configuration holds where both speak of the same', () => {
  test.each([
    ['a provider', 'providers: { groq: { preset: groq, accounts: [] } }', GROQ],
    [
      'an account',
      'providers: { groq: { preset: groq, accounts: [{ name: main, credential: x }] } }',
      account('groq', 'main'),
    ],
    [
      'a model',
      'models: { vendorB-4: { upstream: mine } }',
      { section: 'models', name: 'vendorB-4', value: { upstream: 'y' } },
    ],
    ['an alias', 'aliases: { auto: vendorB-4 }', { section: 'aliases', name: 'auto', value: 'vendorB-5.5' }],
    [
      'fallbacks',
      'fallbacks: { vendorB-4: [vendorB-5.5] }',
      { section: 'fallbacks', name: 'vendorB-4', value: ['vendorB-5.4'] },
    ],
  ] satisfies [string, string, Change][])('%s', async (_, yaml, change: Change) => {
    const { entries, store } = await start(yaml)
    expect(await refusalOf(() => entries.change([change], SYSTEM))).toContain(
      'the configuration says something of it itself',
    )
    expect(await store.entries.list()).toEqual([])
  })

  test('what it says later puts what was set before at rest, and what it says no more puts it back in force', async () => {
    const { entries, config } = await start('')
    await entries.change(
      [GROQ, account('groq', 'main'), { section: 'aliases', name: 'auto', value: 'vendorB-5.5' }],
      SYSTEM,
    )
    await entries.rebase(configOf('aliases: { auto: vendorB-4 }'))
    expect(entries.config().aliases.auto).toBe('vendorB-4')
    expect(entries.list().map(({ name, problem }) => [name, problem === undefined])).toEqual([
      ['groq', true],
      ['groq/main', true],
      ['auto', false],
    ])
    expect(entries.config().warnings.join()).toContain('aliases auto: the configuration says something of it itself')
    await entries.rebase(config)
    expect(entries.config().aliases.auto).toBe('vendorB-5.5')
  })

  test('a branded name is the same model', async () => {
    const { entries } = await start(
      'providers: { vendor_a: { brand: claude } }\nmodels: { claude-opus-4-8: { upstream: x } }',
    )
    const change: Change = { section: 'models', name: 'vendorA-opus-4-8', value: { upstream: 'y' } }
    expect(await refusalOf(() => entries.change([change], SYSTEM))).toContain('a second time')
  })
})

describe('what does not fit', () => {
  test('rests alone: all others are served', async () => {
    const { entries, make, store } = await start('providers: { mine: { wires: [messages], accounts: [] } }')
    const models = Array.from({ length: 9 }, (_, at): Change => {
      const provider = at === 4 ? 'mine' : 'vendor_b'
      return { section: 'models', name: `m${at}`, value: { provider } }
    })
    await entries.change([...models, { section: 'aliases', name: 'four', value: 'm4' }], SYSTEM)
    const without = await make(configOf(''))
    expect(
      without
        .list()
        .filter(({ problem }) => problem !== undefined)
        .map(({ name }) => name),
    ).toEqual(['m4', 'four'])
    expect(without.config().models.filter(({ id }) => /^m\d$/.test(id))).toHaveLength(8)
    expect(await store.entries.list()).toHaveLength(10)
  })

  test('is refused where it leans on what is to go', async () => {
    const { entries } = await start('')
    await entries.change([GROQ, account('groq', 'main')], SYSTEM)
    const gone: Change = { section: 'providers', name: 'groq', value: undefined }
    expect(await refusalOf(() => entries.change([gone], SYSTEM))).toContain('Another entry leans on it')
    await entries.change([gone, { ...account('groq', 'main'), value: undefined }], SYSTEM)
    expect(accountsIn(entries.config())).toEqual([])
  })

  test.each([
    [
      'a member that no file may have',
      { section: 'models', name: 'm', value: { provider: 'vendor_b', contxt: 5 } },
      'did you mean "context"?',
    ],
    [
      'a provider that there is not',
      { section: 'models', name: 'm', value: { provider: 'vendor_x' } },
      'provider: found "vendor_x", which is no known provider, did you mean',
    ],
    [
      'a price below nothing',
      { section: 'models', name: 'vendorB-4', value: { price: { input: -1 } } },
      'price.input: found -1',
    ],
    ['an alias to nothing', { section: 'aliases', name: 'a', value: 'nothing-such' }, 'which is no known model'],
    ['a fallback to itself', { section: 'fallbacks', name: 'vendorB-4', value: ['vendorB-4'] }, 'vendorB-4 itself'],
    ['a name with blanks', { section: 'aliases', name: 'a b', value: 'vendorB-4' }, 'name: found "a b"'],
    ['no URL', account('vendor_b', 'x', { base_url: 'api.example' }), 'base_url: found something that is not a URL'],
    [
      'a URL with a password',
      account('vendor_b', 'x', { base_url: 'https://u:p@api.example' }),
      'base_url: found a URL with a user',
    ],
    ['a credential in quotes', account('vendor_b', 'x', {}, '"quoted"'), 'credential: found a text in quotes'],
    [
      'a variable of this machine as the credential',
      account('vendor_b', 'x', {}, 'env:HOME'),
      'credential: set the credential itself',
    ],
    [
      'a file of this machine as the credential',
      account('vendor_b', 'x', {}, 'file:/etc/hostname'),
      'credential: set the credential itself',
    ],
    [
      'a variable of this machine as the address',
      account('vendor_b', 'x', { base_url: 'env:HOME' }),
      'base_url: found something that is not a URL',
    ],
    [
      "the machine's own credentials for Google",
      { section: 'providers', name: 'v', value: { preset: 'vertex' } },
      'auth: google shows what this machine has',
    ],
    [
      'headers, which may be secret',
      { section: 'providers', name: 'v', value: { wires: ['messages'], headers: { a: 'b' } } },
      'headers: unknown member',
    ],
    ['an account of no provider', account('nobody', 'x'), 'there is no provider nobody'],
  ] satisfies [string, Change, string][])('%s is refused', async (_, change: Change, words) => {
    const { entries, store } = await start('')
    expect(await refusalOf(() => entries.change([change], SYSTEM))).toContain(words)
    expect(await store.entries.list()).toEqual([])
  })

  test.each([
    'http://169.254.10.20/v1',
    'http://2852039166/v1',
    'http://0xA9FE0A14/v1',
    'http://[fe80::1]/v1',
    'http://[::ffff:169.254.1.2]/v1',
    'http://metadata.google.internal/v1',
    'http://METADATA.google.internal./v1',
    'http://[fd00:ec2::254]/v1',
  ])('an address at which a machine is told of itself: %s', async (base_url) => {
    const { entries } = await start('')
    expect(await refusalOf(() => entries.change([account('vendor_b', 'x', { base_url })], SYSTEM))).toContain(
      'told of itself',
    )
  })

  test('an address of this network may be a model server', async () => {
    const { entries } = await start('')
    await entries.change([account('vendor_b', 'x', { base_url: 'http://127.0.0.1:11434/v1' })], SYSTEM)
    await entries.change([account('vendor_b', 'y', { base_url: 'http://192.168.1.7:8000/v1' })], SYSTEM)
    expect(accountsIn(entries.config())).toEqual(['vendor_b/x', 'vendor_b/y'])
  })
})

describe('admin.accounts', () => {
  const groqAt = (base_url: string): Change => account('groq', 'main', { base_url })

  test('presets: to their own address and to no other', async () => {
    const { entries } = await start('admin: { accounts: presets }')
    expect(await refusalOf(() => entries.change([GROQ, groqAt('https://groq.example/v1')], SYSTEM))).toContain(
      "preset's own",
    )
    expect(await refusalOf(() => entries.change([account('vendor_b', 'x')], SYSTEM))).toContain("preset's own")
    await entries.change([GROQ, groqAt('https://api.groq.com/openai/v1')], SYSTEM)
    expect(accountsIn(entries.config())).toEqual(['groq/main'])
  })

  test('none: those there are rest, and none is added', async () => {
    const { entries } = await start('')
    await entries.change([GROQ, groqAt('https://api.groq.com/openai/v1')], SYSTEM)
    await entries.rebase(configOf('admin: { accounts: none }'))
    expect(accountsIn(entries.config())).toEqual([])
    expect(entries.list().at(-1)?.problem).toContain('allows none but its own')
    expect(await refusalOf(() => entries.change([groqAt('https://api.groq.com/openai/v1')], SYSTEM))).toContain(
      'allows none',
    )
  })
})

describe('credentials', () => {
  test('are in no file as they are, and the key is readable by its owner alone', async () => {
    const { entries, store } = await start('')
    await entries.change([GROQ, account('groq', 'main')], SYSTEM)
    const written = ['sluice.db', 'sluice.db-wal', 'sluice.key'].map((file) =>
      readFileSync(join(directory, file), 'latin1'),
    )
    for (const text of written) expect(text).not.toContain(SECRET)
    expect(JSON.stringify(await store.audit({ limit: 10 }))).not.toContain(SECRET)
    expect(statSync(join(directory, 'sluice.key')).mode & 0o777).toBe(0o600)
  })

  test('stay where only the weight changes, and must be set again with another address', async () => {
    const { entries } = await start('')
    await entries.change([account('vendor_b', 'x')], SYSTEM)
    const keeping = (more: Partial<AccountValue>): Change => ({
      ...account('vendor_b', 'x', more),
      credential: undefined,
    })
    await entries.change([keeping({ weight: 3 })], SYSTEM)
    expect(entries.config().providers[1]?.accounts).toMatchObject([{ credential: SECRET, weight: 3 }])
    const elsewhere = keeping({ base_url: 'https://elsewhere.example/v1' })
    expect(await refusalOf(() => entries.change([elsewhere], SYSTEM))).toContain(
      'credential: set it again with the address',
    )
    await entries.change([{ ...elsewhere, credential: 'another-of-sixteen' }], SYSTEM)
    expect(entries.config().providers[1]?.accounts).toMatchObject([{ credential: 'another-of-sixteen' }])
  })

  test('short ones show nothing of themselves', async () => {
    const { entries, store } = await start('')
    await entries.change([account('vendor_b', 'x', {}, 'short')], SYSTEM)
    expect((await store.entries.list())[0]?.credential?.lastFour).toBeNull()
  })

  test('a row that was changed in the database is opened by no key: another address gets no credential', async () => {
    const { entries, store, make, config } = await start('')
    await entries.change([account('vendor_b', 'x')], SYSTEM)
    const value = { provider: 'vendor_b', name: 'x', base_url: 'https://thief.example/v1' }
    await store.entries.change([{ section: 'accounts', name: 'vendor_b/x', next: () => ({ value }) }], SYSTEM)
    const other = await make(config)
    expect(accountsIn(other.config())).toEqual([])
    expect(other.list()[0]?.problem).toContain('sealed for another address')
  })

  test.each([
    ['gone', undefined, 'is missing'],
    ['another', `${'ab'.repeat(32)}\n`, 'holds another key'],
    ['no key', 'hello\n', 'holds something else than keys'],
  ])('a key file that is %s puts accounts at rest, and nothing else', async (_, text, words) => {
    const { entries, make, config } = await start('')
    await entries.change(
      [GROQ, account('groq', 'main'), { section: 'aliases', name: 'fast', value: 'vendorB-5.4' }],
      SYSTEM,
    )
    const path = join(directory, 'sluice.key')
    const before = readFileSync(path, 'utf8')
    if (text === undefined) rmSync(path)
    else writeFileSync(path, text)
    const other = await make(config)
    expect(other.list().map(({ problem }) => problem ?? '')).toEqual(['', expect.stringContaining(words), ''])
    expect(other.config().aliases.fast).toBe('vendorB-5.4')
    writeFileSync(path, before)
    expect(accountsIn((await make(config)).config())).toEqual(['groq/main'])
  })

  test('by SLUICE_KEY: no file is made; another key before the old one seals anew and opens both', async () => {
    const [first, second] = ['11'.repeat(32), Buffer.alloc(32, 7).toString('base64')]
    const { entries, make, store, config } = await start('', { SLUICE_KEY: first })
    await entries.change([account('vendor_b', 'x')], SYSTEM)
    expect(() => statSync(join(directory, 'sluice.key'))).toThrow()
    const given = configOf('', { SLUICE_KEY: `${second},${first}` }).sealKeys
    const both = createCredentials({ ...config, dataDir: directory, sealKeys: given })
    expect(accountsIn((await make(config, both)).config())).toEqual(['vendor_b/x'])
    await (await make(config, both)).change([account('vendor_b', 'y')], SYSTEM)
    const byNew = createCredentials({ ...config, dataDir: directory, sealKeys: given?.slice(0, 1) })
    expect(accountsIn((await make(config, byNew)).config())).toEqual(['vendor_b/y'])
    expect(new Set((await store.entries.list()).map(({ credential }) => credential?.by)).size).toBe(2)
  })

  test('for nodes that share a database by nothing but SLUICE_KEY: a key of one machine would open nothing elsewhere', async () => {
    const { entries, make, store, config } = await start()
    const shared = (env: Record<string, string>) =>
      createCredentials({ ...configOf('', env), dataDir: directory, store: 'postgres://db/x' })
    const add = async (credentials: Credentials) =>
      (await make(config, credentials)).change([account('vendor_b', 'x')], SYSTEM)
    await expect(add(shared({}))).rejects.toThrow('set SLUICE_KEY to the same for all')
    expect(() => statSync(join(directory, 'sluice.key'))).toThrow()
    expect(await store.entries.list()).toEqual([])
    await add(shared({ SLUICE_KEY: '11'.repeat(32) }))
    expect(accountsIn((await make(config, shared({ SLUICE_KEY: '11'.repeat(32) }))).config())).toEqual(['vendor_b/x'])
    // A file that was copied to every node opens; a new key beside it would not reach the others.
    await entries.change([account('vendor_b', 'y')], SYSTEM)
    await expect(shared({}).rotate(async () => undefined)).rejects.toThrow('set SLUICE_KEY to the same for all')
  })

  test('one that cannot be sealed anew is told of once, however often the store begins anew', async () => {
    const { config, make, store } = await start()
    const by = (...keys: string[]) =>
      createCredentials({
        ...configOf('', { SLUICE_KEY: keys.map((key) => key.repeat(32)).join(',') }),
        dataDir: directory,
      })
    await (await make(config, by('11'))).change([account('vendor_b', 'x')], SYSTEM)
    await (await make(config, by('22'))).change([account('vendor_b', 'y')], SYSTEM)
    const inTheWay: typeof store.entries = {
      ...store.entries,
      reseal: async (next, actor) => {
        for (const entry of await store.entries.list()) next(entry)
        return store.entries.reseal(next, actor)
      },
    }
    expect(await resealAccounts(inTheWay, by('33', '22'), SYSTEM)).toEqual({
      resealed: 1,
      problems: [expect.stringContaining('vendor_b/x: SLUICE_KEY holds another key')],
    })
  })

  test('a SLUICE_KEY that is none stops the start, and is not repeated', () => {
    directory = mkdtempSync(join(tmpdir(), 'sluice-entries-'))
    const loaded = loadConfig({ env: { SLUICE_KEY: 'my-secret-word' }, cwd: directory })
    expect(JSON.stringify(loaded)).toContain('64 hexadecimal digits')
    expect(JSON.stringify(loaded)).not.toContain('my-secret-word')
  })
})
