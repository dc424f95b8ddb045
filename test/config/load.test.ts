// The configuration as it is read: what counts before what, and what is said of what is wrong.

import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir, totalmem } from 'node:os'
import { join } from 'node:path'
import { BUILTIN_MODELS } from '../../src/catalogue/builtin.ts'
import { createCatalogue } from '../../src/catalogue/catalogue.ts'
import { shownStore } from '../../src/config/store.ts'
import { type Config, type Flags, loadConfig, problemLine } from '../../src/config.ts'

const root = mkdtempSync(join(tmpdir(), 'sluice-config-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

type Given = { yaml?: string; env?: Record<string, string>; flags?: Flags; files?: Record<string, string> }

const load = ({ yaml, env = {}, flags = {}, files = {} }: Given) => {
  const cwd = mkdtempSync(join(root, 'case-'))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text)
  if (yaml !== undefined) writeFileSync(join(cwd, 'sluice.yaml'), yaml)
  return { loaded: loadConfig({ env, cwd, flags }), cwd }
}
const config = (given: Given): Config => {
  const { loaded } = load(given)
  if (!loaded.ok) throw new Error(loaded.problems.map(problemLine).join('\n'))
  return loaded.config
}
const problems = (given: Given): string[] => {
  const { loaded } = load(given)
  return loaded.ok ? [] : loaded.problems.map(problemLine)
}

const ENV_A = { VENDOR_A_BASE_URL: 'http://127.0.0.1:9101', VENDOR_A_API_KEY: 'secret-a' }
const ENV_B = { VENDOR_B_BASE_URL: 'http://127.0.0.1:9102/v1', VENDOR_B_API_KEY: 'secret-b' }

const WHOLE = `
listen: { host: 0.0.0.0, port: 9000 }
data: ./state
body_limit: 1MB
body_timeout: 10s
rate: { khr_per_usd: 4000.5 }
providers:
  vendor_a:
    wires: [messages]
    auth: bearer
    version_header: { name: claude-version, value: "2024-01-01" }
    brand: claude
    accounts:
      - { name: main, base_url: "http://127.0.0.1:9101", credential: env:KEY_A, weight: 3 }
      - { name: spare, base_url: env:SPARE_URL, credential: file:spare.key }
  vendor_b:
    accounts:
      - { name: main, base_url: "http://127.0.0.1:9102/v1/", credential: env:KEY_B }
    timeouts: { connect: 500ms, idle: 2m }
    quirks: { max_tokens_field: max_tokens, rejects: [store] }
  local:
    wires: [chat-completions]
    accounts: [{ base_url: "http://127.0.0.1:9103/v1", credential: env:KEY_B }]
models:
  vendorA-opus-4-8: { upstream: opus-4-8-20260101, context: 150000, max_output: 32000, price: { output: 26, cache_write_1h: 11, long_context: { above: 9, cache_write: 12 } } }
  local-llama: { provider: local, price: { input: 1, output: 2, long_context: { above: 200000, output: 3 }, service_tiers: { flex: 0.5 } }, input: [text, image], created: 2026-01-31 }
aliases: { fast: claude-haiku-4.5, auto: local-llama }
fallbacks: { claude-opus-4-8: [vendorB-5.5, local-llama] }
limits: { rpm: 60 }
keep_alive: 5s
early_start: 1m
drain: 0
retention: 400d
max_tries: 2
max_open_exchanges: 100
workers: 4
max_memory: 1.5GB
trust_proxy: [10.0.0.0/8, "2001:db8::7"]
hide_forbidden_models: true
log: { level: debug }
metrics: { enabled: true, token: env:METRICS }
alerts:
  webhooks:
    team: { url: env:HOOK, format: slack }
    pager: { url: "https://pager.test/hook", secret: env:METRICS, only: [storage] }
  email: { to: [ops@example.com], from: Gateway <sluice@example.com>, host: mail.test, user: env:KEY_A, password: env:KEY_B }
  marks: [100, 50, 100]
  expiring: 3d
  resting: 5m
  error_rate: { above: 0.25, within: 1h }
otlp: { endpoint: "http://127.0.0.1:4318/", headers: { authorization: env:METRICS }, service: gate, sample: 0.1 }
`

const WHOLE_ENV = {
  KEY_A: 'a',
  KEY_B: 'b',
  SPARE_URL: 'http://spare.test',
  METRICS: 'm',
  HOOK: 'https://hooks.test/T0/secret',
}
const WHOLE_FILES = { 'spare.key': 's\n' }

describe('a configuration', () => {
  test('needs no file: the environment alone configures both providers', () => {
    const { providers, file, listen, bodyLimitBytes, bodyTimeoutMs, aliases, keepAliveMs, earlyStartMs, ...rest } =
      config({ env: { ...ENV_A, ...ENV_B } })
    expect(file).toBeUndefined()
    expect(listen).toEqual({ host: '127.0.0.1', port: 8080 })
    expect({ bodyLimitBytes, bodyTimeoutMs, keepAliveMs, earlyStartMs }).toEqual({
      bodyLimitBytes: 26_214_400,
      bodyTimeoutMs: 30_000,
      keepAliveMs: 15_000,
      earlyStartMs: 20_000,
    })
    expect({ tries: rest.maxTries, open: rest.maxOpenExchanges, memory: rest.maxMemoryBytes }).toEqual({
      tries: 3,
      open: 0,
      memory: Math.floor(0.75 * Math.min(totalmem(), process.constrainedMemory() || totalmem())),
    })
    expect(aliases).toEqual({ auto: 'vendorA-opus-4-8' })
    expect(
      providers.map(({ id, wires, auth, versionHeader, accounts }) => ({ id, wires, auth, versionHeader, accounts })),
    ).toEqual([
      {
        id: 'vendor_a',
        wires: ['messages'],
        auth: 'x-api-key',
        versionHeader: { name: 'vendorA-version', value: '2023-06-01' },
        accounts: [{ name: 'main', baseUrl: 'http://127.0.0.1:9101', credential: 'secret-a', weight: 1 }],
      },
      {
        id: 'vendor_b',
        wires: ['responses', 'chat-completions', 'images', 'embeddings', 'moderations', 'audio'],
        auth: 'bearer',
        versionHeader: undefined,
        accounts: [{ name: 'main', baseUrl: 'http://127.0.0.1:9102/v1', credential: 'secret-b', weight: 1 }],
      },
    ])
  })

  test('takes headers of a provider, its secrets by reference and without a warning for what is none', () => {
    const yaml =
      'providers: { vendor_a: { headers: { X-Project: p1, CF-Access-Client-Secret: env:CF, User-Agent: curl } } }'
    const { providers, warnings } = config({ yaml, env: { ...ENV_A, CF: 'sk' } })
    expect(providers[0]?.headers).toEqual({ 'x-project': 'p1', 'cf-access-client-secret': 'sk', 'user-agent': 'curl' })
    expect(warnings).toEqual([])
  })

  test('starts with nothing at all, and says that no provider is configured', () => {
    const { providers, warnings } = config({})
    expect(providers.flatMap((provider) => provider.accounts)).toEqual([])
    expect(warnings).toEqual([expect.stringContaining('no provider is configured')])
  })

  test('takes every member of a file', () => {
    const whole = config({ yaml: WHOLE, env: WHOLE_ENV, files: WHOLE_FILES })
    expect(whole.listen).toEqual({ host: '0.0.0.0', port: 9000 })
    expect(whole).toMatchObject({
      bodyLimitBytes: 1_048_576,
      bodyTimeoutMs: 10_000,
      khrPerUsd: 4000.5,
      limits: { rpm: 60, tpm: 0, concurrency: 0 },
      keepAliveMs: 5_000,
      earlyStartMs: 60_000,
      drainMs: 0,
      workers: 4,
      retentionMs: 400 * 86_400_000,
      maxTries: 2,
      maxOpenExchanges: 100,
      maxMemoryBytes: 1.5 * 1024 ** 3,
      hideForbiddenModels: true,
      log: { level: 'debug' },
      metrics: { enabled: true, token: 'm' },
      otlp: {
        ...{ endpoint: 'http://127.0.0.1:4318', headers: { authorization: 'm' }, resource: { 'service.name': 'gate' } },
        ...{ traces: true, metrics: true, sample: 0.1 },
      },
      alerts: {
        receivers: [
          { kind: 'webhook', name: 'team', url: 'https://hooks.test/T0/secret', format: 'slack', secret: undefined },
          {
            kind: 'webhook',
            name: 'pager',
            url: 'https://pager.test/hook',
            format: 'json',
            secret: 'm',
            only: ['storage'],
          },
          {
            ...{ kind: 'email', name: 'email', to: ['ops@example.com'], from: 'Gateway <sluice@example.com>' },
            ...{ host: 'mail.test', port: 587, security: 'starttls', login: { user: 'a', password: 'b' } },
          },
        ],
        marks: [50, 100],
        expiringMs: 3 * 86_400_000,
        restingMs: 300_000,
        errorRate: { above: 0.25, requests: 20, withinMs: 3_600_000 },
      },
      aliases: { auto: 'local-llama', fast: 'vendorA-haiku-4-5' },
      fallbacks: { 'vendorA-opus-4-8': ['vendorB-5.5', 'local-llama'] },
      brands: [{ neutral: 'vendorA', branded: 'claude' }],
      warnings: [],
    })
    const [a, b, local] = whole.providers
    expect(a).toMatchObject({
      auth: 'bearer',
      versionHeader: { name: 'claude-version', value: '2024-01-01' },
      brand: 'claude',
      accounts: [
        { name: 'main', credential: 'a', weight: 3 },
        { name: 'spare', baseUrl: 'http://spare.test', credential: 's', weight: 1 },
      ],
    })
    expect(b?.accounts[0]?.baseUrl).toBe('http://127.0.0.1:9102/v1')
    expect(b?.timeouts).toEqual({ connectMs: 500, firstByteMs: 600_000, idleMs: 120_000, totalMs: 3_600_000 })
    expect(b?.quirks).toEqual({ maxTokensField: 'max_tokens', rejects: ['store'] })
    expect(local).toMatchObject({ id: 'local', wires: ['chat-completions'], auth: 'bearer' })
  })

  test('overrides a model member by member and adds new ones after the built-in', () => {
    const { models } = config({ yaml: WHOLE, env: WHOLE_ENV, files: WHOLE_FILES })
    expect(models).toHaveLength(13)
    expect(models[0]).toMatchObject({
      id: 'vendorA-opus-4-8',
      upstream: 'opus-4-8-20260101',
      contextWindow: 150_000,
      maxOutput: 32_000,
      price: {
        ...{ input: 5, output: 26, cacheRead: 0.5, cacheWrite: 6.25, cacheWrite1h: 11 },
        long: { input: 5, output: 26, cacheRead: 0.5, cacheWrite: 12, above: 9 },
      },
      quirks: { noSampling: true },
    })
    expect(models[12]).toMatchObject({
      id: 'local-llama',
      provider: 'local',
      upstream: 'local-llama',
      kind: 'text',
      inputModalities: ['text', 'image'],
      price: {
        ...{ input: 1, output: 2, cacheRead: 1, cacheWrite: 1 },
        long: { input: 1, output: 3, cacheRead: 1, cacheWrite: 1, above: 200_000 },
        serviceTiers: { flex: 0.5 },
      },
      createdAt: Date.UTC(2026, 0, 31) / 1000,
    })
  })

  test('takes a header whose value is a bearer token or stands in quotes', () => {
    const yaml = `providers: { vendor_a: { headers: { CF-AIG-Authorization: Bearer t, If-Match: '"x"' } } }`
    expect(config({ yaml, env: ENV_A }).providers[0]?.headers).toEqual({
      'cf-aig-authorization': 'Bearer t',
      'if-match': '"x"',
    })
  })

  test('keeps of a built-in price what the file leaves as it is', () => {
    const built = BUILTIN_MODELS.find(({ id }) => id === 'vendorB-5.5')?.price
    if (built === undefined) throw new Error('no such model')
    const priceOf = (set: string, name = 'vendorB-5.5') =>
      config({ yaml: `models: { ${name}: ${set} }` }).models.find(({ id }) => id === name)?.price
    expect(priceOf('{ upstream: x }')).toEqual(built)
    expect(priceOf('{ price: { service_tiers: { flex: 0.5 } } }')).toEqual({ ...built, serviceTiers: { flex: 0.5 } })
    // A long prompt's price goes with those of the others.
    expect(priceOf('{ price: { input: 1, output: 2 } }')).toEqual({
      input: 1,
      output: 2,
      cacheRead: 0.5,
      cacheWrite: 5,
      serviceTiers: { flex: 0.5, priority: 2.5, fast: 2.5 },
      perCall: { web_search: 0.01, file_search: 0.0025 },
    })
    // Tools by the name that each has here, whatever its vendor's version is called.
    // Of an image model, which is billed by the picture or by tokens.
    const each = { perImage: { default: 0.04 } }
    const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
    expect(priceOf('{ price: { per_image: { default: 0.04 } } }', 'vendorB-image-1')).toEqual({ ...none, ...each })
    expect(priceOf('{ price: { per_image: { default: 0.04 }, input: 2 } }', 'vendorB-image-1')).toMatchObject({
      ...each,
      ...{ input: 2, output: 40 },
    })
    expect(priceOf('{ price: { per_image: { default: 0.04 } } }')).toEqual({ ...built, ...each })
    expect(priceOf('{ price: { per_call: { web-search_20250305: 0.02, mcp: 0 } } }')).toEqual({
      ...built,
      perCall: { web_search: 0.02, file_search: 0.0025, mcp: 0 },
    })
  })

  test('lets a branded id override the model it names', () => {
    const yaml = 'providers: { vendor_a: { brand: claude } }\nmodels: { claude-opus-4.8: { upstream: x } }'
    const { models } = config({ yaml })
    expect(models).toHaveLength(12)
    expect(models[0]).toMatchObject({ id: 'vendorA-opus-4-8', upstream: 'x' })
  })

  test('makes a catalogue as it stands', () => {
    const catalogue = createCatalogue(config({ yaml: WHOLE, env: WHOLE_ENV, files: WHOLE_FILES }))
    expect(catalogue.resolve('auto')?.id).toBe('local-llama')
    expect(catalogue.resolve('claude-opus-4.8')?.id).toBe('vendorA-opus-4-8')
  })

  test('keeps cap within a window that was made smaller', () => {
    expect(config({ yaml: 'models: { vendorA-opus-4-8: { context: 1000 } }' }).models[0]?.maxOutput).toBe(1000)
  })

  test.each([
    '',
    '# nothing\n',
    'aliases:\nproviders:\nmodels:\n',
    'providers: { vendor_a: , vendor_b: { timeouts: } }',
  ])('reads %j as one that says nothing', (yaml) => {
    expect(config({ yaml, env: ENV_A }).providers[0]?.accounts).toHaveLength(1)
  })

  test.each([
    ['http://a.test', 'http://a.test'],
    [' http://a.test/ \n', 'http://a.test'],
    ['http://a.test/v1?', 'http://a.test/v1'],
    ['http://a.test/?region=x', 'http://a.test/?region=x'],
  ])('takes the base URL %j as %p', (written, baseUrl) => {
    const { providers } = config({ env: { ...ENV_A, VENDOR_A_BASE_URL: written } })
    expect(providers[0]?.accounts[0]?.baseUrl).toBe(baseUrl)
  })

  test('drops the version header where the file says null', () => {
    const { providers } = config({ yaml: 'providers: { vendor_a: { version_header: null } }' })
    expect(providers[0]?.versionHeader).toBeUndefined()
  })

  test('leaves accounts and credentials unread for commands that only need the data directory', () => {
    const { cwd } = load({ yaml: WHOLE })
    const loaded = loadConfig({ env: {}, cwd, secrets: 'skip' })
    expect(loaded.ok && loaded.config.dataDir).toBe(join(cwd, 'state'))
    expect(loaded.ok && loaded.config.providers.flatMap((provider) => provider.accounts)).toEqual([])
  })
})

describe('precedence: flag, environment, file, default', () => {
  const yaml = 'listen: { host: file.test, port: 1 }\ndata: in-file'
  const env = { SLUICE_HOST: 'env.test', SLUICE_PORT: '2', SLUICE_DATA: 'in-env' }
  const flags = { host: 'flag.test', port: '3', data: 'in-flag' }
  test.each([
    ['default', {}, '127.0.0.1', 8080, 'data'],
    ['file', { yaml }, 'file.test', 1, 'in-file'],
    ['environment', { yaml, env }, 'env.test', 2, 'in-env'],
    ['flag', { yaml, env, flags }, 'flag.test', 3, 'in-flag'],
    [
      'file, where the environment holds empty values',
      { yaml, env: { SLUICE_HOST: '', SLUICE_PORT: '', SLUICE_DATA: '' } },
      'file.test',
      1,
      'in-file',
    ],
    [
      'file, where Kubernetes fills the variable for a service called sluice',
      { yaml, env: { SLUICE_PORT: 'tcp://10.96.0.1:80' } },
      'file.test',
      1,
      'in-file',
    ],
    ['an address in brackets', { flags: { host: '[::1]' } }, '::1', 8080, 'data'],
  ] as [string, Given, string, number, string][])('%s', (_, given, host, port, data) => {
    const { loaded, cwd } = load(given)
    expect(loaded.ok && { ...loaded.config.listen, data: loaded.config.dataDir }).toEqual({
      host,
      port,
      data: join(cwd, data),
    })
  })

  test('of the file itself: flag over environment over ./sluice.yaml', () => {
    const files = { 'env.yaml': 'listen: { port: 2 }', 'flag.yaml': 'listen: { port: 3 }' }
    const yaml = 'listen: { port: 1 }'
    const portOf = (given: Given) => config({ yaml, files, ...given }).listen.port
    expect(portOf({})).toBe(1)
    expect(portOf({ env: { SLUICE_CONFIG: 'env.yaml' } })).toBe(2)
    expect(portOf({ env: { SLUICE_CONFIG: 'env.yaml' }, flags: { config: 'flag.yaml' } })).toBe(3)
  })

  test('a file that lists accounts rules over VENDOR_A_BASE_URL', () => {
    const yaml = 'providers: { vendor_a: { accounts: [{ name: x, base_url: "http://file.test", credential: env:K }] } }'
    const { providers } = config({ yaml, env: { ...ENV_A, K: 'k' } })
    expect(providers[0]?.accounts.map(({ baseUrl }) => baseUrl)).toEqual(['http://file.test'])
  })

  test('paths in a file start from the file', () => {
    const { cwd } = load({ yaml: 'data: d' })
    const loaded = loadConfig({ env: {}, cwd: root, flags: { config: join(cwd, 'sluice.yaml') } })
    expect(loaded.ok && loaded.config.dataDir).toBe(join(cwd, 'd'))
  })
})

describe('the store for limits that nodes share', () => {
  const SHARED = { SLUICE_STORE: 'postgres://db/sluice' }
  const WRITTEN = 'redis://:s3cret@limits:6379'
  test.each<[string, Partial<Given>, string | undefined]>([
    ['is none where nobody names one', { env: SHARED }, undefined],
    ['stands in the file', { yaml: `limits_store: ${WRITTEN}`, env: SHARED }, WRITTEN],
    ['is named by the file', { yaml: 'limits_store: env:AT', env: { ...SHARED, AT: WRITTEN } }, WRITTEN],
    ['stands in the environment', { env: { ...SHARED, SLUICE_LIMITS_STORE: WRITTEN } }, WRITTEN],
    [
      'is that of the environment where both have one',
      { yaml: 'limits_store: redis://other', env: { ...SHARED, SLUICE_LIMITS_STORE: WRITTEN } },
      WRITTEN,
    ],
    [
      'is told with a store in the file',
      { yaml: 'store: postgres://db/x\nlimits_store: valkey://10.1.2.3/2' },
      'valkey://10.1.2.3/2',
    ],
    [
      'may be anywhere by TLS',
      { yaml: 'limits_store: rediss://limits.example.com', env: SHARED },
      'rediss://limits.example.com',
    ],
  ])('%s', (_, given, store) => {
    expect(config(given).limitsStore).toBe(store)
  })

  test.each([
    ['postgres://limits/x', 'limits_store: found something else, allowed: a Valkey or Redis server'],
    ['"redis://:s3#cret@limits"', 'limits_store: found a URL that cannot be read: in its user and password'],
    ['redis://u:s3cret@limits/name', 'limits_store: found something else, allowed: '],
    ['env:NO_SUCH', 'limits_store: found env:NO_SUCH, but the environment variable NO_SUCH is not set'],
    ['redis://u:s3cret@limits.example.com', 'limits_store: found limits.example.com, which is no private address'],
  ])('%s is refused, and its password is not told', (store, told) => {
    const text = problems({ yaml: `limits_store: ${store}`, env: SHARED }).join('\n')
    expect(text).toContain(told)
    expect(text).not.toContain('s3cret')
  })

  test('is refused where nodes share no database, and shown without what opens it', () => {
    const alone = 'found one, and no store: limits are counted elsewhere by nodes over PostgreSQL alone'
    expect(problems({ yaml: 'limits_store: redis://limits' })).toEqual([`sluice.yaml: limits_store: ${alone}`])
    expect(problems({ env: { SLUICE_LIMITS_STORE: 'redis://limits' } })).toEqual([`SLUICE_LIMITS_STORE: ${alone}`])
    expect(shownStore(WRITTEN)).toBe('redis://limits:6379')
  })
})

describe('the database that nodes share', () => {
  const URL_WRITTEN = 'postgres://sluice:s3cret@db/sluice'
  test.each<[string, Partial<Given>, string | undefined]>([
    ['is none where nobody names one', {}, undefined],
    ['stands in the file', { yaml: `store: ${URL_WRITTEN}` }, URL_WRITTEN],
    ['is named by the file', { yaml: 'store: env:DB', env: { DB: URL_WRITTEN } }, URL_WRITTEN],
    ['stands in a file of its own', { yaml: 'store: file:db', files: { db: `${URL_WRITTEN}\n` } }, URL_WRITTEN],
    ['stands in the environment', { env: { SLUICE_STORE: URL_WRITTEN } }, URL_WRITTEN],
    ['is named by the environment', { env: { SLUICE_STORE: 'env:DB', DB: URL_WRITTEN } }, URL_WRITTEN],
    [
      'is that of the environment where both have one',
      { yaml: 'store: postgres://other/x', env: { SLUICE_STORE: URL_WRITTEN } },
      URL_WRITTEN,
    ],
    [
      'may be called by the other name',
      { yaml: 'store: postgresql://db:6432/x?prepare=false' },
      'postgres://db:6432/x?prepare=false',
    ],
    [
      'may be at several hosts, one of which is the primary',
      { yaml: 'store: "postgresql://db-1@db-1,db-2:5433/x?target_session_attrs=read-write"' },
      'postgres://db-1@db-1,db-2:5433/x?target_session_attrs=read-write',
    ],
    [
      'may be at a socket of this machine',
      { yaml: 'store: "postgres:///x?host=/run/postgresql"' },
      'postgres://localhost/x?host=/run/postgresql',
    ],
    ['may be another machine of the same network', { yaml: 'store: postgres://10.1.2.3/x' }, 'postgres://10.1.2.3/x'],
    [
      'may be anywhere by TLS',
      { yaml: 'store: postgres://db.example.com/x?sslmode=verify-full' },
      'postgres://db.example.com/x?sslmode=verify-full',
    ],
  ])('%s', (_, given, store) => {
    expect(config(given).store).toBe(store)
  })

  test('is warned of where its password stands in the file itself', () => {
    const told = (given: Partial<Given>) => config(given).warnings.filter((warning) => warning.includes('store'))
    expect(told({ yaml: `store: ${URL_WRITTEN}` })).toEqual([
      'sluice.yaml: store holds the password itself; env:NAME or file:PATH keeps it out of the file',
    ])
    expect(told({ yaml: 'store: postgres://sluice@db/sluice' })).toEqual([])
    expect(told({ env: { SLUICE_STORE: URL_WRITTEN } })).toEqual([])
  })

  test('is shown without what opens it', () => {
    expect(shownStore('postgres://sluice:s3cret@db-1,db-2:5433/books')).toBe('postgres://db-1,db-2:5433/books')
    expect(shownStore('postgres://sluice:s3cret@db:5433/books?sslmode=require&password=s3cret')).toBe(
      'postgres://db:5433/books',
    )
  })

  test.each([
    ...['s3/cret', '12/cret', 's3?cret', '12#cret', 's3%cret', 'a@s3/cret', '%ff'].map((password) => [
      `"postgres://me:${password}@db/x"`,
      'store: found a URL that cannot be read: in its user and password, write / as %2F',
    ]),
    ['mysql://db/x', 'store: found something else, allowed: a database such as postgres://user@host/name'],
    ['postgres://db', 'store: found something else, allowed: '],
    ['postgres:///x', 'store: found something else, allowed: '],
    ['"postgres://u:s3cret @"', 'store: found something else, allowed: '],
    ['env:NO_SUCH', 'store: found env:NO_SUCH, but the environment variable NO_SUCH is not set'],
    ['postgres://u:s3cret@db/x?sslmode=on', 'store: found an unknown sslmode, allowed: disable, prefer, require'],
    [
      'postgres://u:s3cret@db.example.com/x',
      'store: found db.example.com, which is no private address, without TLS; add ?sslmode=verify-full',
    ],
    [
      'postgres://u:s3cret@203.0.113.9/x?sslmode=prefer',
      'store: found 203.0.113.9, which is no private address, without TLS',
    ],
    ['5', 'store: found a number, allowed: a database'],
  ])('%s is refused, and its password is not told', (store, told) => {
    const text = problems({ yaml: `store: ${store}` }).join('\n')
    expect(text).toContain(told)
    expect(text).not.toContain('s3cret')
  })

  test.each([
    [
      { yaml: 'store: postgres://db/x\nworkers: 2' },
      'workers: found 2, allowed: 1 where the store is PostgreSQL: for more processes start more nodes on the same database',
    ],
    [
      { yaml: 'store: postgres://db/x', flags: { workers: '3' } },
      '--workers: found "3", allowed: 1 where the store is PostgreSQL',
    ],
    [
      { yaml: 'workers: 4', env: { SLUICE_STORE: 'postgres://db/x' } },
      'workers: found 4, allowed: 1 where the store is PostgreSQL',
    ],
  ])('goes with one process to a node: %j', (given, told) => {
    expect(problems(given).join('\n')).toContain(told)
  })
})

const account = (members: string) => `providers: { vendor_a: { accounts: [{ ${members} }] } }`

describe('a wrong configuration is told with its place, what was found and what is allowed', () => {
  test.each([
    ['listen: { port: heavy }', 'listen.port: found "heavy", allowed: a whole number from 0 to 65535'],
    ['listen: { port: 70000 }', 'listen.port: found 70000, allowed: a whole number from 0 to 65535'],
    ['listen: { prot: 1 }', 'listen.prot: unknown member, did you mean "port"? Allowed: host, port'],
    ['listen: { host: "http://0.0.0.0" }', 'listen.host: found "http://0.0.0.0", allowed: an address alone'],
    ['data: ~/sluice', 'data: found "~/sluice", allowed: a path as it is: ~ and variables are not replaced'],
    ['data: $HOME/sluice', 'data: found "$HOME/sluice", allowed: a path as it is'],
    [`data: "/var/\${NAME}"`, `data: found "/var/\${NAME}", allowed: a path as it is`],
    ['data: env:SLUICE_FOLDER', 'data: found "env:SLUICE_FOLDER", allowed: a path as it is'],
    ['port: 1', 'port: unknown member, did you mean "listen.port"? Allowed: listen, data, '],
    [
      'providers: { a: { preset: openai, credential: k } }',
      'providers.a.credential: unknown member, did you mean "accounts[0].credential"? Allowed: ',
    ],
    [
      account('credential: env:K, baseUrl: k'),
      'accounts[0].baseUrl: unknown member, did you mean "base_url"? Allowed: ',
    ],
    [
      'providers: { vendor_a: { baseUrl: k } }',
      'vendor_a.baseUrl: unknown member, did you mean "accounts[0].base_url"? Allowed: ',
    ],
    ['groq: { preset: groq }', 'groq: unknown member, did you mean "providers.groq"? Allowed: '],
    ['providers: { groq: "preset:groq" }', 'proxy, accounts, timeouts, quirks; a colon needs a blank behind it'],
    ['zzz: 1', 'zzz: unknown member, allowed: listen, data, '],
    ['tls: {}', 'tls: unknown member, allowed: listen, data, '],
    ['listen_host: x', 'listen_host: unknown member, did you mean "listen.host"? Allowed: '],
    [
      'providers: { a: { preset: groq, api_key: k } }',
      'a.api_key: unknown member, did you mean "accounts[0].credential"?',
    ],
    [
      account('credential: env:K, base_url: "http://x", token: k'),
      'accounts[0].token: unknown member, did you mean "credential"? Allowed: ',
    ],
    [account('credential: env:K, url: k'), 'accounts[0].url: unknown member, did you mean "base_url"? Allowed: '],
    ['providers: [{ name: a }]', 'providers: found a list, allowed: a mapping, each under its name'],
    [
      'providers: { a: { wires: messages } }',
      'wires: found a string, allowed: a list that is not empty; did you mean [messages]?',
    ],
    ['fallbacks: { a: vendorB-4o }', 'fallbacks.a: found a string, allowed: a list; did you mean [vendorB-4o]?'],
    ['providers: { a: { wires: 7 } }', 'wires: found a number, allowed: a list that is not empty'],
    ['listen: 8080', 'listen: found a number, allowed: a mapping of host, port'],
    ['- listen', 'found a list, allowed: a mapping'],
    ['just text', 'found a string, allowed: a mapping'],
    ['body_limit: 25mb', 'body_limit: found "25mb", allowed: a size such as 512KB or 25MB, or a number of bytes'],
    ['body_timeout: 0s', 'body_timeout: found "0s", allowed: a duration such as 500ms'],
    ['body_timeout: 30', 'body_timeout: found 30, allowed: a duration such as 500ms'],
    ['max_memory: lots', 'max_memory: found "lots", allowed: a size such as 512MB or 2GB, or 0'],
    ['max_memory: -1', 'max_memory: found -1, allowed: '],
    ['workers: 0', 'workers: found 0, allowed: a whole number from 1 to 64'],
    ['workers: 65', 'workers: found 65, allowed: a whole number from 1 to 64'],
    ['max_open_exchanges: -1', 'max_open_exchanges: found -1, allowed: a whole number of 0 or more'],
    ['keep_alive: 15', 'keep_alive: found 15, allowed: a duration such as 500ms'],
    ['keep_alive: 0s', 'keep_alive: found "0s", allowed: a duration such as 500ms'],
    ['early_start: 25d', 'early_start: found 25d, allowed: a duration of up to 24d'],
    ['retention: soon', 'retention: found "soon", allowed: a duration such as 15s, 24h or 90d, or 0'],
    ['max_tries: 0', 'max_tries: found 0, allowed: a whole number of 1 or more'],
    ['limits: { rpm: -1 }', 'limits.rpm: found -1, allowed: a whole number of 0 or more'],
    ['rate: { khr_per_usd: .inf }', 'rate.khr_per_usd: found Infinity, allowed: a number above 0'],
    ['rate: { khr_per_usd: 0 }', 'rate.khr_per_usd: found 0, allowed: a number above 0'],
    [
      'rate: { khr_per_usd: 1e10 }',
      'rate.khr_per_usd: found 10000000000, allowed: a number above 0 and up to 1000000000',
    ],
    ['log: { level: loud }', 'log.level: found "loud", allowed: "debug", "info", "warn", "error", "silent"'],
    [
      'trust_proxy: [10.0.0.0/8, proxy.example]',
      'trust_proxy[1]: found "proxy.example", allowed: an address or a network, such as 10.0.0.0/8',
    ],
    ['hide_forbidden_models: yes please', 'hide_forbidden_models: found "yes please", allowed: true or false'],
    [
      'providers: { vendor_a: { wires: [message] } }',
      'providers.vendor_a.wires[0]: found "message", allowed: "messages", "responses", "chat-completions", "images"',
    ],
    [
      'providers: { vendor_a: { wires: [] } }',
      'providers.vendor_a.wires: found an empty list, allowed: a list that is not empty',
    ],
    ['providers: { vendor_a: { wires: [messages, messages] } }', 'providers.vendor_a.wires: found a wire twice'],
    [
      'providers: { vendor_a: { auth: basic } }',
      'providers.vendor_a.auth: found "basic", allowed: "x-api-key", "api-key", "bearer"',
    ],
    ['providers: { vendor_a: { brand: a.b } }', 'providers.vendor_a.brand: found "a.b", allowed: a word'],
    [
      'providers: { vendor_a: { acounts: [] } }',
      'providers.vendor_a.acounts: unknown member, did you mean "accounts"?',
    ],
    [
      'providers: { vendor_a: { accounts: [null] } }',
      'providers.vendor_a.accounts[0]: found nothing, allowed: a mapping',
    ],
    ['providers: { vendor_d: {} }', 'providers.vendor_d.wires: found nothing, allowed: the wires it speaks'],
    ['providers: { local: }', 'providers.local.wires: found nothing, allowed: the wires it speaks'],
    ['providers: { version_header: }', 'providers.version_header.wires: found nothing, allowed: the wires it speaks'],
    [
      'providers: { vendor_b: { timeouts: { idle: 30d } } }',
      'providers.vendor_b.timeouts.idle: found 30d, allowed: a duration of up to 24d',
    ],
    [
      account('name: m, base_url: "http://x"'),
      'providers.vendor_a.accounts[0].credential: found nothing, allowed: env:NAME, file:PATH',
    ],
    [
      account('name: m, credential: env:K, weight: heavy'),
      'providers.vendor_a.accounts[0].weight: found "heavy", allowed: a number above 0',
    ],
    [
      account('name: m, base_url: "http://x", credential: env:NOPE'),
      'credential: found env:NOPE, but the environment variable NOPE is not set; set it, or remove what uses it',
    ],
    [
      account('name: m, base_url: "http://x", credential: file:none.key'),
      'none.key, but the file cannot be read (no such file or folder)',
    ],
    [
      account('name: m, base_url: "http://x", credential: "two\\nlines"'),
      'credential: found a line break or another character that no header carries',
    ],
    [
      account('name: m, base_url: "http://x", credential: "  "'),
      'credential: found nothing but blanks, allowed: printable ASCII characters',
    ],
    [account('name: m, base_url: "http://x", credential: "file:."'), 'but the file cannot be read (it is a folder)'],
    [
      'providers: { vendor_a: { version_header: { name: a b, value: x } } }',
      'providers.vendor_a.version_header.name: found "a b", allowed: the name of a header',
    ],
    [
      'providers: { vendor_a: { version_header: { name: v, value: "x\\ny" } } }',
      'providers.vendor_a.version_header.value: found "x\\ny", allowed: printable ASCII characters',
    ],
    [
      'providers: { vendor_a: { version_header: { name: X-Api-Key, value: x } } }',
      'providers.vendor_a.version_header.name: found "X-Api-Key", which the gateway fills itself, allowed: another header',
    ],
    [
      'providers: { vendor_a: { headers: { a b: x } } }',
      'providers.vendor_a.headers["a b"]: found "a b", allowed: the name of a header',
    ],
    [
      'providers: { vendor_a: { headers: { Authorization: x } } }',
      'providers.vendor_a.headers.Authorization: found "Authorization", which the gateway fills itself, allowed: another header',
    ],
    [
      'providers: { vendor_a: { headers: { X-Project: a, x-project: b } } }',
      'providers.vendor_a.headers.x-project: found "x-project" a second time, allowed: each header once',
    ],
    [
      'providers: { vendor_a: { headers: { VendorA-Version: x } } }',
      'providers.vendor_a.headers.VendorA-Version: found "VendorA-Version", which the gateway fills itself, allowed: another header',
    ],
    [
      'providers: { vendor_a: { headers: { X-Project: env:NOPE } } }',
      'providers.vendor_a.headers.X-Project: found env:NOPE, but the environment variable NOPE is not set',
    ],
    [
      'providers: { vendor_a: { headers: { X-Project: "a\\nb" } } }',
      'providers.vendor_a.headers.X-Project: found a line break or another character that no header carries',
    ],
    [
      account('name: m, base_url: ftp://x, credential: env:K'),
      'base_url: found something that is not a URL, allowed: an http or https URL',
    ],
    [
      account('name: m, base_url: "localhost:8080/v1", credential: env:K'),
      'base_url: found something that is not a URL, allowed: an http or https URL, which begins with http:// or https://',
    ],
    [
      account(`name: m, base_url: '"http://127.0.0.1/v1"', credential: env:K`),
      'base_url: found a URL in quotes, allowed: one without them',
    ],
    [
      account('name: m, base_url: "http://u:p@x", credential: env:K'),
      'base_url: found a URL with a user, a password or a fragment',
    ],
    [
      'providers: { vendor_a: { accounts: [{ name: m, credential: env:K }, { name: m, credential: env:K }] } }',
      'providers.vendor_a.accounts[1].name: found "m" a second time, allowed: a name of its own',
    ],
    [
      'providers: { vendor_a: { accounts: [{ credential: env:K }, { credential: env:K }] } }',
      'providers.vendor_a.accounts[1].name: found nothing, allowed: a name of its own',
    ],
    [
      'models: { mine: { provider: vendor_c } }',
      'models.mine.provider: found "vendor_c", which is no known provider, did you mean "vendor_a"?',
    ],
    ['models: { mine: { upstream: x } }', 'models.mine.provider: found nothing, allowed: vendor_a, vendor_b'],
    ['models: { mine: }', 'models.mine.provider: found nothing, allowed: vendor_a, vendor_b'],
    ['models: { vendorA-opus-4-9: { upstream: x } }', 'or did you mean the model "vendorA-opus-4-8"?'],
    [
      'models: { "vendorB-5.5": { context: 0 } }',
      'models["vendorB-5.5"].context: found 0, allowed: a whole number of 1 or more',
    ],
    [
      'models: { vendorB-4: { max_output: 99999 } }',
      'models.vendorB-4.max_output: found 99999, allowed: a whole number up to the context of 32768',
    ],
    [
      'models: { vendorB-4: { price: { input: -1 } } }',
      'models.vendorB-4.price.input: found -1, allowed: a number from 0 to 1000000',
    ],
    [
      'models: { vendorB-4: { price: { long_context: { above: 9, output: 1000001 } } } }',
      'models.vendorB-4.price.long_context.output: found 1000001, allowed: a number from 0 to 1000000',
    ],
    [
      'models: { vendorB-4: { created: 2026-02-31x } }',
      'models.vendorB-4.created: found "2026-02-31x", allowed: a date',
    ],
    [
      'models: { "a b": { provider: vendor_a } }',
      'models["a b"]: found "a b", allowed: a model id without blanks or *',
    ],
    ['models: { vendorA-opus-4.8: {}, vendorA-opus-4-8: {} }', 'found the model vendorA-opus-4-8 a second time'],
    [
      'aliases: { fast: vendorA-haiku-4-4 }',
      'aliases.fast: found "vendorA-haiku-4-4", which is no known model, did you mean "vendorA-haiku-4-5"?',
    ],
    ['aliases: { fast: auto }', 'aliases.fast: found "auto", which is no known model'],
    [
      'aliases: { vendorB-4: vendorB-4o }',
      'aliases.vendorB-4: found the id of a model, allowed: a name that no model has',
    ],
    ['fallbacks: { nope: [vendorB-4] }', 'fallbacks.nope: found "nope", which is no known model'],
    ['fallbacks: { nope: }', 'fallbacks.nope: found "nope", which is no known model'],
    [
      'fallbacks: { vendorB-4: [vendorB-4o, vendorB-9] }',
      'fallbacks.vendorB-4[1]: found "vendorB-9", which is no known model',
    ],
    ['admin: { listen: 8081 }', 'admin.listen: found 8081, allowed: an address and a port'],
    ['admin: { listen: 127.0.0.1 }', 'admin.listen: found "127.0.0.1", allowed: an address and a port'],
    ['admin: { listen: "::1:8081" }', 'admin.listen: found "::1:8081", allowed: an address and a port'],
    ['admin: { listen: "h:99999" }', 'admin.listen: found "h:99999", allowed: a port from 0 to 65535'],
    ['admin: { listen: "127.0.0.1:8080" }', 'admin.listen: found 127.0.0.1:8080, which is listen itself'],
    ['admin: { hosts: [] }', 'admin.hosts: found an empty list'],
    ['admin: { hosts: ["https://x"] }', 'admin.hosts[0]: found "https://x", allowed: a host name'],
    ['admin: { hosts: [ok.example, "a/b"] }', 'admin.hosts[1]: found "a/b", allowed: a host name'],
    ['admin: { api: gateway.example }', 'admin.api: found "gateway.example", allowed: an address such as'],
    ['fallbacks: { vendorB-4: [vendorB-4] }', 'fallbacks.vendorB-4[0]: found vendorB-4 itself, allowed: another model'],
    [
      'fallbacks: { vendorB-4: [vendorB-image-1] }',
      'fallbacks.vendorB-4[0]: found a model of kind image, allowed: models of kind text',
    ],
  ])('%s', (yaml, message) => {
    const found = problems({ yaml, env: { K: 'k' } })
    expect(found).toEqual([expect.stringContaining(message)])
    expect(found[0]).toStartWith('sluice.yaml: ')
  })

  test.each([
    ['a: 1\nlisten: [1,\n', 2],
    ['listen:\n\tport: 1', 2],
    ['data: "open\nlog: {}', 1],
    ['listen: {\n  port: 1 }\nlog: { level: info }\n  x: 1', 4],
  ])('a file that is not YAML is told by its line: %j', (yaml, line) => {
    expect(problems({ yaml })).toEqual([expect.stringMatching(new RegExp(`^sluice.yaml:${line}: not valid YAML: `))])
  })

  test.each([
    [{ flags: { port: '1x' } }, '--port: found "1x", allowed: a whole number from 0 to 65535'],
    [{ env: { SLUICE_DATA: '~/sluice' } }, 'SLUICE_DATA: found "~/sluice", allowed: a path as it is'],
    [{ flags: { data: '~' } }, '--data: found "~", allowed: a path as it is'],
    [{ flags: { host: '0.0.0.0:80' } }, '--host: found "0.0.0.0:80", allowed: an address alone, such as 0.0.0.0'],
    [
      { yaml: 'alerts: { webhooks: { one: { url: "https://h.test" } } }' },
      'sluice.yaml: alerts.webhooks.one.secret: found nothing, allowed: env:NAME or file:PATH',
    ],
    [
      { yaml: 'alerts: { webhooks: { one: { url: "ftp://h.test", format: slack } } }' },
      'sluice.yaml: alerts.webhooks.one.url: found something else, allowed: an http or https URL',
    ],
    [
      { yaml: 'alerts: { webhooks: { email: { url: "https://h.test", format: slack } } }' },
      'sluice.yaml: alerts.webhooks.email: found the name email, which the e-mail has',
    ],
    [
      { yaml: 'alerts: { email: { to: [a@b.test], from: a@b.test, host: m, user: x } }' },
      'sluice.yaml: alerts.email: found a user alone, allowed: user and password, or neither',
    ],
    [
      { yaml: 'alerts: { email: { to: [nobody], from: a@b.test, host: m } }' },
      'sluice.yaml: alerts.email.to[0]: found "nobody", allowed: an e-mail address',
    ],
    [
      { yaml: 'alerts: { webhooks: { one: { url: "https://h.test", format: slack, only: [quotas] } } }' },
      'did you mean "quota"?',
    ],
    [
      { yaml: 'otlp: { endpoint: nowhere }' },
      'sluice.yaml: otlp.endpoint: found something else, allowed: an http or https URL, such as http://127.0.0.1:4318',
    ],
    [
      { env: { OTEL_EXPORTER_OTLP_ENDPOINT: 'nowhere' } },
      'OTEL_EXPORTER_OTLP_ENDPOINT: found something else, allowed: an http or https URL',
    ],
    [{ env: { SLUICE_PORT: '65536' } }, 'SLUICE_PORT: found "65536", allowed: a whole number from 0 to 65535'],
    [{ flags: { config: 'none.yaml' } }, 'none.yaml: the file cannot be read (no such file or folder)'],
    [{ env: { SLUICE_CONFIG: 'gone.yaml' } }, 'gone.yaml: the file cannot be read (no such file or folder)'],
    [
      { env: { VENDOR_A_BASE_URL: 'http://x' } },
      'VENDOR_A_API_KEY: found nothing, allowed: the credential for VENDOR_A_BASE_URL',
    ],
    [
      { env: { ...ENV_A, VENDOR_A_API_KEY: 'two\nlines' } },
      'VENDOR_A_API_KEY: found a line break or another character that no header carries',
    ],
    [
      { env: { ...ENV_A, VENDOR_A_API_KEY: '"sk-secret"' } },
      'VENDOR_A_API_KEY: found a text in quotes, which would be sent with it, allowed: the text without them',
    ],
    [
      { env: { ...ENV_A, VENDOR_A_API_KEY: 'Bearer sk-secret' } },
      'VENDOR_A_API_KEY: found a text that begins with Bearer, allowed: what follows it',
    ],
    // biome-ignore lint/suspicious/noTemplateCurlyInString: so people write it
    ...['${NAME}', '$NAME', 'os.environ/NAME'].map((written) => [
      { env: { ...ENV_A, VENDOR_A_API_KEY: written } },
      'VENDOR_A_API_KEY: found the name of a variable, which would be sent in place of what it holds',
    ]),
    [{ env: { ...ENV_B, VENDOR_B_BASE_URL: 'x' } }, 'VENDOR_B_BASE_URL: found something that is not a URL'],
  ] as [Given, string][])('%j', (given, message) => {
    expect(problems(given)).toEqual([expect.stringContaining(message)])
  })

  test('all at once', () => {
    expect(problems({ yaml: 'listen: { prt: 1 }\nlimits: { rpm: x }\nmax_tries: -1' })).toHaveLength(3)
  })
})

describe('OpenTelemetry', () => {
  const endpoint = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' }

  test('is exported to nowhere unless it is said', () => {
    expect(config({}).otlp).toBeUndefined()
    expect(config({ env: { ...endpoint, OTEL_SDK_DISABLED: 'true' } }).otlp).toBeUndefined()
  })

  test('is told by its own variables too', () => {
    const env = {
      ...endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: 'authorization=Bearer%20x, x-team = us',
      OTEL_SERVICE_NAME: 'mine',
      OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test,service.name=other',
      OTEL_METRICS_EXPORTER: 'none',
    }
    expect(config({ env }).otlp).toEqual({
      ...{ endpoint: 'http://127.0.0.1:4318', headers: { authorization: 'Bearer x', 'x-team': 'us' } },
      resource: { 'deployment.environment.name': 'test', 'service.name': 'mine' },
      ...{ traces: true, metrics: false, sample: 1 },
    })
  })

  test('warns of what speaks gRPC', () => {
    const grpc = config({ env: { ...endpoint, OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' } })
    expect([grpc.otlp, grpc.warnings.join()]).toEqual([undefined, expect.stringContaining('http/protobuf alone')])
    const { warnings } = config({ yaml: 'otlp: { endpoint: "http://127.0.0.1:4317" }' })
    expect(warnings.join()).toContain('4318')
  })
})

describe('a secret is never shown', () => {
  const SECRET = 'sk-very-secret-0001'
  test.each([
    account(`name: m, base_url: "http://x", credential: "env:${SECRET}"`),
    account(`name: m, base_url: "${SECRET}", credential: env:K`),
    account(`name: m, base_url: "http://${SECRET}@x", credential: env:K`),
    account(`name: m, credential: ["${SECRET}"]`),
    `providers: { vendor_a: { accounts: ["${SECRET}"] } }`,
    `providers: { vendor_a: "${SECRET}" }`,
    `metrics: { token: { value: "${SECRET}" } }`,
    `alerts: { webhooks: { one: { url: "${SECRET}", format: slack } } }`,
    `alerts: { webhooks: { one: { url: ["${SECRET}"], secret: { of: "${SECRET}" } } } }`,
    `alerts: { email: { to: [a@b.test], from: a@b.test, host: m, password: "${SECRET}" } }`,
    `providers: { vendor_a: { accounts: [{ name: m, credential: "${SECRET}" } }`,
  ])('in the problems of %s', (yaml) => {
    const found = problems({ yaml, env: { K: 'k' } })
    expect(found.length).toBeGreaterThan(0)
    expect(found.join('\n')).not.toContain(SECRET)
  })

  test('in the warning about one written into the file', () => {
    const { warnings, providers } = config({ yaml: account(`name: m, base_url: "http://x", credential: ${SECRET}`) })
    expect(providers[0]?.accounts[0]?.credential).toBe(SECRET)
    expect(warnings).toEqual([
      'sluice.yaml: providers.vendor_a.accounts[0].credential holds the secret itself; env:NAME or file:PATH keeps it out of the file',
    ])
  })
})

describe('the operator is warned', () => {
  test.each([
    [{ yaml: account('name: m, credential: env:K') }, 'providers.vendor_a.accounts[0] has no base_url and is not used'],
    [
      { files: { 'sluice.yml': 'listen: { port: 9 }' }, env: ENV_A },
      'sluice.yml is not read: rename it to sluice.yaml, or start with --config sluice.yml',
    ],
    [{ yaml: 'body_limit: 25' }, 'body_limit is 25 bytes, and larger bodies are refused; is 25MB meant?'],
    [
      { env: { ...ENV_A, VENDOR_B_BASE_URL: 'http://h:1', VENDOR_B_API_KEY: 'k' } },
      'vendor_b, account main: the base URL has no path',
    ],
    [
      { env: { VENDOR_B_BASE_URL: 'http://h:1/v1/chat/completions', VENDOR_B_API_KEY: 'k' } },
      'vendor_b, account main: the base URL ends in /chat/completions, which the gateway adds itself',
    ],
    [
      { env: { VENDOR_A_BASE_URL: 'http://h:1/v1/messages/', VENDOR_A_API_KEY: 'k' } },
      'vendor_a, account main: the base URL ends in /messages, which the gateway adds itself',
    ],
    [{ env: { ...ENV_A, VENDOR_B_API_KEY: 'k' } }, 'VENDOR_B_API_KEY is set but VENDOR_B_BASE_URL is not'],
    [{ yaml: 'models: { mine: { provider: vendor_a } }', env: ENV_A }, 'models.mine has no price'],
    [
      { yaml: 'models: { mine: { provider: vendor_a, price: { input: 3 } } }', env: ENV_A },
      'models.mine.price has no output, which counts as 0',
    ],
    [
      { yaml: 'models: { mine: { provider: vendor_a, price: { output: 3 } } }', env: ENV_A },
      'models.mine.price has no input, which counts as 0',
    ],
    [
      { yaml: 'models: { vendorA-opus-4-8: { price: { cache_read: 5e-7 } } }', env: ENV_A },
      'models.vendorA-opus-4-8.price.cache_read is 5e-7 USD per million tokens; is 0.5 meant?',
    ],
    [
      { yaml: 'models: { vendorA-opus-4-8: { price: { long_context: { above: 9, output: 3.75e-5 } } } }', env: ENV_A },
      'models.vendorA-opus-4-8.price.long_context.output is 0.0000375 USD per million tokens; is 37.5 meant?',
    ],
  ] as [Given, string][])('of %j', (given, sentence) => {
    expect(config(given).warnings).toContainEqual(expect.stringContaining(sentence))
  })
})

describe('proxies', () => {
  const AWAY = { VENDOR_A_BASE_URL: 'https://a.example', VENDOR_A_API_KEY: 'secret-a' }
  const SOCKS = 'socks5://user:hidden@127.0.0.1:1080'

  test.each<[Record<string, string>, string | undefined]>([
    [{ ALL_PROXY: SOCKS }, 'ALL_PROXY'],
    [{ all_proxy: 'socks5h://127.0.0.1:1080' }, 'all_proxy'],
    [{ HTTPS_PROXY: 'socks4://127.0.0.1:1080', ALL_PROXY: 'http://127.0.0.1:1' }, 'HTTPS_PROXY'],
    [{ https_proxy: 'http://127.0.0.1:1', HTTPS_PROXY: SOCKS }, 'HTTPS_PROXY'],
    // What decides for https is a proxy that is spoken, or there is none.
    [{ HTTPS_PROXY: 'http://127.0.0.1:1', ALL_PROXY: SOCKS }, undefined],
    [{ HTTP_PROXY: SOCKS }, undefined],
    [{ HTTPS_PROXY: '127.0.0.1:3128' }, undefined],
    [{ ALL_PROXY: '' }, undefined],
    [{ ALL_PROXY: SOCKS, NO_PROXY: 'b.example,.example' }, undefined],
  ])('that would be passed by stop the start: %j', (env, name) => {
    const found = problems({ env: { ...AWAY, ...env } })
    if (name === undefined) return expect(found).toEqual([])
    expect(found).toHaveLength(1)
    expect(found[0]).toStartWith(`${name}: found a proxy of the scheme socks`)
    expect(found[0]).toContain('providers.vendor_a, account main, in NO_PROXY')
    expect(found[0]).not.toContain('hidden')
  })

  test.each(['http://127.0.0.1:9101', 'http://localhost:9101', 'http://[::1]:9101'])(
    'are not asked for what is on this machine: %s',
    (url) => {
      expect(problems({ env: { ...AWAY, VENDOR_A_BASE_URL: url, ALL_PROXY: SOCKS } })).toEqual([])
    },
  )

  const own = (proxy: string) => `providers: { vendor_a: { proxy: ${JSON.stringify(proxy)} } }`
  const proxyOf = (given: Given) => config(given).providers[0]?.proxy

  test('of a provider stand over the environment', () => {
    const env = { ...AWAY, ALL_PROXY: SOCKS, MINE: 'http://me:hidden@proxy.example:3128' }
    expect(proxyOf({ yaml: own('env:MINE'), env })).toBe(env.MINE)
    expect(proxyOf({ yaml: own('none'), env })).toBe(false)
    expect(proxyOf({ env: AWAY })).toBe(undefined)
  })

  test.each([SOCKS, 'proxy.example:3128', 'ftp://x', 'env:NOT_SET'])('of a provider are refused: %s', (proxy) => {
    const found = problems({ yaml: own(proxy), env: AWAY })
    expect(found).toHaveLength(1)
    expect(found[0]).toContain('providers.vendor_a.proxy')
    expect(found[0]).not.toContain('hidden')
  })

  test('of a provider that NO_PROXY keeps from being used are told of', () => {
    const { warnings } = config({ yaml: own('http://p.example:1'), env: { ...AWAY, NO_PROXY: 'a.example' } })
    expect(warnings.join()).toContain('its proxy is not used')
  })
})
