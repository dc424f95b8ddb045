// Presets in a configuration: by the environment alone, by name, and what overrides what.

import { afterAll, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createCatalogue } from '../../src/catalogue/catalogue.ts'
import { startWarnings } from '../../src/config/start.ts'
import { type Config, loadConfig, problemLine } from '../../src/config.ts'

const root = mkdtempSync(join(tmpdir(), 'sluice-presets-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))

type Given = { yaml?: string; env?: Record<string, string> }
const load = ({ yaml, env = {} }: Given) => {
  const cwd = mkdtempSync(join(root, 'case-'))
  if (yaml !== undefined) writeFileSync(join(cwd, 'sluice.yaml'), yaml)
  return loadConfig({ env, cwd })
}
const config = (given: Given): Config => {
  const loaded = load(given)
  if (!loaded.ok) throw new Error(loaded.problems.map(problemLine).join('\n'))
  return loaded.config
}
const problems = (given: Given): string[] => {
  const loaded = load(given)
  return loaded.ok ? [] : loaded.problems.map(problemLine)
}
const providerOf = (given: Given, id: string) => config(given).providers.find((provider) => provider.id === id)
const upstreamOf = (given: Given, name: string) => createCatalogue(config(given)).resolve(name)?.upstream
const accountsOf = (given: Given) =>
  config(given).providers.flatMap(({ id, preset, accounts }) =>
    accounts.map(({ baseUrl, credential }) => [id, preset, baseUrl, credential]),
  )

const A = { ANTHROPIC_API_KEY: 'sk-a' }
const B = { OPENAI_API_KEY: 'sk-b' }
const NEUTRAL_A = { VENDOR_A_BASE_URL: 'http://127.0.0.1:9101', VENDOR_A_API_KEY: 'secret-a' }

describe('a variable that is not read is told of by what its name means', () => {
  const unread = (env: Record<string, string>, yaml?: string) =>
    config(yaml === undefined ? { env } : { env, yaml }).warnings.filter((line) =>
      /^[A-Z_]+ is (?:not read|set but)/.test(line),
    )
  test.each<[Record<string, string>, string[]]>([
    [{ OPENAI_KEY: 'k' }, ['OPENAI_KEY is not read: set OPENAI_API_KEY']],
    [{ OPEN_AI_APIKEY: 'k' }, ['OPEN_AI_APIKEY is not read: set OPENAI_API_KEY']],
    [{ ANTHROPIC_AUTH_TOKEN: 'k' }, ['ANTHROPIC_AUTH_TOKEN is not read: set ANTHROPIC_API_KEY']],
    [{ CLAUDE_API_KEY: 'k' }, ['CLAUDE_API_KEY is not read: set ANTHROPIC_API_KEY']],
    [{ VENDORA_API_KEY: 'k' }, ['VENDORA_API_KEY is not read: set VENDOR_A_API_KEY']],
    [{ ...B, OPENAI_API_BASE: 'http://127.0.0.1:9/v1' }, ['OPENAI_API_BASE is not read: set OPENAI_BASE_URL']],
    [
      { GROQ_API_KEY: 'k', GROQ_BASE_URL: 'http://127.0.0.1:9/v1' },
      ['GROQ_BASE_URL is not read: write it as base_url of an account of groq'],
    ],
    [
      { OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' },
      ['OPENAI_BASE_URL is set but OPENAI_API_KEY is not: openai is not configured'],
    ],
    [{ ...B, OPENAI_KEY: 'k', OPENAI_ORG_ID: 'o', OPENAI_API_KEY_PATH: 'p', MY_OPENAI_KEY: 'k' }, []],
    [{ OPENAI_KEY: '', GOOGLE_CLOUD_PROJECT: 'p', GOOGLE_API_KEY: 'k' }, []],
    [{ ANTROPIC_API_KEY: 'k' }, ['ANTROPIC_API_KEY is not read: did you mean ANTHROPIC_API_KEY?']],
    [
      { OPENIA_API_KEY: 'k', FOO_API_KEY: 'k', GROK_API_KEY: 'k' },
      ['OPENIA_API_KEY is not read: did you mean OPENAI_API_KEY?'],
    ],
    [{ ...B, ANTROPIC_API_KEY: 'k' }, []],
  ])('%j', (env, told) => {
    expect(unread(env)).toEqual(told)
  })
  test('and not where the file says which providers there are', () => {
    const yaml = 'providers: { groq: { preset: groq, accounts: [{ credential: env:GROQ_KEY }] } }'
    expect(unread({ GROQ_KEY: 'k' }, yaml)).toEqual([])
  })
})

describe('the environment alone', () => {
  test.each([
    [A, [['vendor_a', 'anthropic', 'https://api.anthropic.com', 'sk-a']]],
    [{ ...A, ANTHROPIC_BASE_URL: 'http://127.0.0.1:9/' }, [['vendor_a', 'anthropic', 'http://127.0.0.1:9', 'sk-a']]],
    [B, [['vendor_b', 'openai', 'https://api.openai.com/v1', 'sk-b']]],
    [{ ...B, OPENAI_BASE_URL: 'http://127.0.0.1:9/v1' }, [['vendor_b', 'openai', 'http://127.0.0.1:9/v1', 'sk-b']]],
    [
      { ...A, ...B, GROQ_API_KEY: 'gsk' },
      [
        ['vendor_a', 'anthropic', 'https://api.anthropic.com', 'sk-a'],
        ['vendor_b', 'openai', 'https://api.openai.com/v1', 'sk-b'],
        ['groq', 'groq', 'https://api.groq.com/openai/v1', 'gsk'],
      ],
    ],
    [{ ...A, ...NEUTRAL_A }, [['vendor_a', undefined, 'http://127.0.0.1:9101', 'secret-a']]],
    [{ ...A, VENDOR_A_API_KEY: 'secret-a' }, [['vendor_a', 'anthropic', 'https://api.anthropic.com', 'sk-a']]],
    [{ ANTHROPIC_API_KEY: '' }, []],
    [{ ANTHROPIC_BASE_URL: 'http://127.0.0.1:9' }, []],
    [{ AWS_BEARER_TOKEN_BEDROCK: 'k' }, []],
    [
      { AWS_BEARER_TOKEN_BEDROCK: 'k', AWS_REGION: 'eu-west-1' },
      [['bedrock', 'bedrock', 'https://bedrock-mantle.eu-west-1.api.aws/anthropic', 'k']],
    ],
  ] as [Record<string, string>, (string | undefined)[][]][])('%j', (env, accounts) => {
    expect(accountsOf({ env })).toEqual(accounts)
  })

  test('shows no vendor the key of a gateway, which clients have in its variable', () => {
    const env = { ANTHROPIC_API_KEY: `sk-sl-${'a'.repeat(43)}` }
    const { providers, warnings } = config({ env })
    expect(providers.flatMap(({ accounts }) => accounts)).toEqual([])
    expect(warnings).toContainEqual(expect.stringContaining('ANTHROPIC_API_KEY holds a key of a gateway'))
    expect(accountsOf({ env: { ...env, ANTHROPIC_BASE_URL: 'https://gateway.example' } })).toHaveLength(1)
  })

  test('counts for nothing beside a file that says who the providers are', () => {
    const yaml = 'providers: { vendor_b: { accounts: [] } }'
    expect(accountsOf({ yaml, env: { ...A, ...B } })).toEqual([])
    expect(accountsOf({ yaml: 'limits: { rpm: 5 }', env: A })).toHaveLength(1)
  })

  test('keeps a neutral vendor neutral: its ids, its header', () => {
    const { providers, models, brands } = config({ env: { ...A, ...NEUTRAL_A } })
    expect(providers[0]?.versionHeader?.name).toBe('vendorA-version')
    expect(models[0]?.upstream).toBe('vendorA-opus-4-8')
    expect(brands).toEqual([])
  })

  test.each([
    ['claude-opus-4-8', 'claude-opus-4-8'],
    ['claude-opus-4.8', 'claude-opus-4-8'],
    ['vendorA-opus-4-8', 'claude-opus-4-8'],
    ['auto', 'claude-opus-4-8'],
    ['gpt-5.5', 'gpt-5.5'],
    ['vendorB-5.4-mini', 'gpt-5.4-mini'],
    ['vendorB-image-1', 'gpt-image-1'],
    ['vendorB-imagegen-3', 'dall-e-3'],
    ['claude-opus-5-5', 'claude-opus-5-5'],
    ['claude-haiku-4-5-20251001', 'claude-haiku-4-5'],
  ])('is asked for %s as %s', (name, upstream) => {
    expect(upstreamOf({ env: { ...A, ...B } }, name)).toBe(upstream)
  })

  test('lists no model that the vendor has shut down, and still answers by its id', () => {
    const catalogue = createCatalogue(config({ env: B }))
    const listed = catalogue.list().map(({ id }) => id)
    expect(listed).toContain('vendorB-5.5')
    for (const gone of ['vendorB-4', 'vendorB-image-1', 'vendorB-imagegen-3']) {
      expect(listed).not.toContain(gone)
      expect(catalogue.resolve(gone)?.id).toBe(gone)
    }
  })
})

describe('a preset by name', () => {
  const at = (members: string) => `providers: { mine: { preset: ${members} } }`

  test('gives all that the file leaves out, and nothing that it says', () => {
    const yaml = at('fireworks, wires: [messages], auth: x-api-key, version_header: null, timeouts: { idle: 9s }')
    const given = { yaml, env: { FIREWORKS_API_KEY: 'fw' } }
    expect(providerOf(given, 'mine')).toMatchObject({
      ...{ id: 'mine', preset: 'fireworks', wires: ['messages'], auth: 'x-api-key' },
      accounts: [{ name: 'main', baseUrl: 'https://api.fireworks.ai/inference/v1', credential: 'fw', weight: 1 }],
    })
    expect(providerOf(given, 'mine')?.versionHeader).toBeUndefined()
    expect(providerOf(given, 'mine')?.timeouts.idleMs).toBe(9_000)
  })

  test('fills in what accounts leave out', () => {
    const yaml = at('groq, accounts: [{ name: a }, { name: b, base_url: "http://127.0.0.1:9/v1", credential: env:K }]')
    expect(accountsOf({ yaml, env: { GROQ_API_KEY: 'gsk', K: 'k' } })).toEqual([
      ['mine', 'groq', 'https://api.groq.com/openai/v1', 'gsk'],
      ['mine', 'groq', 'http://127.0.0.1:9/v1', 'k'],
    ])
  })

  test('asks a server on this machine without a credential', () => {
    expect(accountsOf({ yaml: at('ollama') })).toEqual([['mine', 'ollama', 'http://127.0.0.1:11434/v1', 'none']])
  })

  test('takes the neutral variables as the account of a vendor that it sets up', () => {
    const yaml = 'providers: { vendor_a: { preset: anthropic } }'
    expect(accountsOf({ yaml, env: NEUTRAL_A })).toEqual([
      ['vendor_a', 'anthropic', 'http://127.0.0.1:9101', 'secret-a'],
    ])
    expect(upstreamOf({ yaml, env: NEUTRAL_A }, 'auto')).toBe('claude-opus-4-8')
  })

  test('a misspelt name is told with the one that was meant', () => {
    expect(problems({ yaml: at('antropic') })).toEqual([expect.stringMatching(/; did you mean "anthropic"\?$/)])
  })

  test.each([
    [at('antropic'), 'providers.mine.preset: found "antropic", allowed: "anthropic"'],
    [
      at('groq, accounts: [{ name: a }]'),
      'accounts[0].credential: found nothing, allowed: env:NAME, file:PATH or the secret itself, or the environment variable GROQ_API_KEY',
    ],
    [
      at('azure-openai, accounts: [{ name: a, credential: env:K }]'),
      'accounts[0].base_url: found nothing, allowed: a URL, or the environment variable AZURE_OPENAI_ENDPOINT',
    ],
  ])('%s is wrong', (yaml, message) => {
    expect(problems({ yaml, env: { K: 'k' } })).toEqual([expect.stringContaining(message)])
  })

  test.each([
    [at('groq'), {}, 'providers.mine has no account: set GROQ_API_KEY, or list one'],
    [at('bedrock'), { AWS_ACCESS_KEY_ID: 'i' }, 'set AWS_SECRET_ACCESS_KEY and AWS_REGION, or list one'],
    [
      at('openai'),
      { OPENAI_API_KEY: 'k', OPENAI_BASE_URL: 'http://api.openai.com/v1' },
      'mine, account main: its credential can be read on the way by http; write https:// in the base URL',
    ],
    [at('bedrock'), { AWS_BEARER_TOKEN_BEDROCK: 'k' }, 'AWS_BEARER_TOKEN_BEDROCK is set but AWS_REGION is not'],
    [
      at('azure-openai'),
      { AZURE_OPENAI_API_KEY: 'k', AZURE_OPENAI_ENDPOINT: 'https://name.openai.azure.com' },
      'gpt-image-2.6-sunburst: until models sets one (price: { input, output }, or "sluice models prices"',
    ],
    [
      'providers: { vendor_a: { preset: groq } }',
      { GROQ_API_KEY: 'k' },
      'auto is vendorB-5.5: no provider has vendorA-opus-4-8',
    ],
  ] as [string, Record<string, string>, string][])('%s warns', (yaml, env, sentence) => {
    expect(config({ yaml, env }).warnings).toContainEqual(expect.stringContaining(sentence))
  })

  test('says nothing of a price that the file sets', () => {
    const yaml = `${at('deepseek')}\nmodels: { deepseek-flash: { price: { input: 1, output: 2 } } }`
    expect(config({ yaml, env: { DEEPSEEK_API_KEY: 'k' } }).warnings).toEqual([])
  })
})

test('Bedrock is asked by a signature where the machine has but the usual keys of Amazon', () => {
  const keys = { AWS_ACCESS_KEY_ID: 'i', AWS_SECRET_ACCESS_KEY: 's', AWS_REGION: 'eu-west-1' }
  const yaml = 'providers: { bedrock: { preset: bedrock } }'
  const authAt = (env: Record<string, string>, written = yaml) => {
    const found = providerOf({ env, yaml: written }, 'bedrock')
    return [found?.auth, ...(found?.accounts.map(({ credential }) => credential) ?? [])]
  }
  expect(authAt(keys)).toEqual(['aws-sigv4', 'i:s'])
  expect(authAt({ ...keys, AWS_BEARER_TOKEN_BEDROCK: 'k' })).toEqual(['bearer', 'k'])
  expect(
    authAt({ ...keys, K: 'k' }, yaml.replace('bedrock }', 'bedrock, accounts: [{ credential: env:K }] }')),
  ).toEqual(['bearer', 'k'])
  expect(accountsOf({ env: keys })).toEqual([])
})

describe('what nobody serves is not listed beside what is served', () => {
  const listedAt = (given: Given) =>
    createCatalogue(config(given))
      .list()
      .map(({ id }) => id)
  const isNeutral = (id: string) => /^vendor[AB]-/.test(id)
  test.each<[string, Given, RegExp | undefined]>([
    ['one vendor', { env: A }, /^vendorA-/],
    ['the other', { env: B }, /^vendorB-/],
    ['a vendor beside the contract', { env: { GROQ_API_KEY: 'k' } }, undefined],
    ['both', { env: { ...A, ...B } }, /^vendor[AB]-/],
  ])('%s', (_, given, neutral) => {
    const found = listedAt(given)
    expect(found.filter(isNeutral).every((id) => neutral?.test(id))).toBe(true)
    expect(found.some((id) => neutral?.test(id) ?? true)).toBe(true)
    // It still leads to the word that says so.
    expect(createCatalogue(config(given)).resolve('vendorA-opus-4-8')).toBeDefined()
  })
  test('a stand-in serves it', () => {
    const yaml = 'providers: { vendor_b: { preset: openai } }\nfallbacks: { vendorA-opus-4-8: [vendorB-5.5] }'
    expect(listedAt({ yaml, env: B }).filter((id) => id.startsWith('vendorA-'))).toEqual(['vendorA-opus-4-8'])
  })
  test.each<[Given]>([[{}], [{ env: NEUTRAL_A }], [{ yaml: 'providers: { groq: { preset: groq } }' }]])(
    'and all of the contract is by neutral names alone, or by none: %j',
    (given) => {
      expect(listedAt(given).filter(isNeutral)).toHaveLength(12)
    },
  )
})

describe('a model that several vendors sell', () => {
  const env = { ...A, OPENROUTER_API_KEY: 'or', AWS_BEARER_TOKEN_BEDROCK: 'aws', AWS_REGION: 'eu-west-1' }
  test('has an id at each, and falls back from one to the other as configured', () => {
    const yaml = `
providers: { vendor_a: { preset: anthropic }, openrouter: { preset: openrouter }, bedrock: { preset: bedrock } }
fallbacks: { claude-opus-4-8: [bedrock/claude-opus-4-8, openrouter/claude-opus-4-8] }
`
    const { fallbacks } = config({ yaml, env })
    expect(fallbacks).toEqual({ 'vendorA-opus-4-8': ['bedrock/claude-opus-4-8', 'openrouter/claude-opus-4-8'] })
    const of = (name: string) => upstreamOf({ yaml, env }, name)
    expect([of('claude-opus-4-8'), ...(fallbacks['vendorA-opus-4-8'] ?? []).map(of)]).toEqual([
      'claude-opus-4-8',
      'anthropic.claude-opus-4-8',
      'anthropic/claude-opus-4.8',
    ])
  })

  test('is plainly named where only one does', () => {
    expect(upstreamOf({ yaml: 'providers: { or: { preset: openrouter } }', env }, 'claude-opus-4-8')).toBe(
      'anthropic/claude-opus-4.8',
    )
  })

  test('is asked for by the id of the provider that it is moved to', () => {
    const yaml =
      'providers: { vendor_a: { preset: anthropic }, vendor_b: { preset: openrouter } }\nmodels: { claude-haiku-4-5: { provider: vendor_b } }'
    expect(upstreamOf({ yaml, env }, 'vendorA-haiku-4-5')).toBe('anthropic/claude-haiku-4.5')
  })
})

test.each([
  ['openrouter', '', true, []],
  ['openrouter', ', price: { input: 0, output: 0 }', false, []],
  ['openrouter', ', price: { input: 2, output: 3 }', false, []],
  ['xai', '', true, []],
  ['vllm', '', false, [expect.stringContaining('models.tale-1 has no price')]],
])('a model of %s that sets “%s” of its price costs as told, or not', (preset, price, wanted, warned) => {
  const { models, warnings } = config({
    yaml: `providers: { p: { preset: ${preset}, accounts: [{ base_url: "http://127.0.0.1:9/v1", credential: "env:K" }] } }
models: { tale-1: { provider: p${price} } }`,
    env: { K: 'k' },
  })
  expect(models.find(({ id }) => id === 'tale-1')?.price.asTold === true).toBe(wanted)
  expect(warnings.filter((sentence) => sentence.includes('tale-1'))).toEqual(warned)
})

test('a price of a preset whose vendor tells what it charged counts where that is not told, one that is given always', () => {
  const priced = (more: string) =>
    config({
      yaml: `providers: { p: { preset: xai, accounts: [{ base_url: "http://127.0.0.1:9/v1", credential: "env:K" }] } }${more}`,
      env: { K: 'k' },
    }).models.find(({ id }) => id === 'grok-4.7')?.price
  expect(priced('')).toMatchObject({ input: 2, output: 6, asTold: true })
  expect(priced('\nmodels: { grok-4.7: { context: 1000 } }')).toMatchObject({ input: 2, output: 6, asTold: true })
  expect(priced('\nmodels: { grok-4.7: { price: { input: 3 } } }')?.asTold).toBeUndefined()
})

test.each([
  ['one vendor’s key', {}, B, 'vendorB-5.5'],
  ['another’s', {}, { DEEPSEEK_API_KEY: 'k' }, 'deepseek-v4-pro'],
  ['the keys of several', {}, { ANTHROPIC_API_KEY: 'k', ...B }, 'vendorA-opus-4-8'],
  ['no key', {}, {}, 'vendorA-opus-4-8'],
  ['a file that names another', { yaml: 'aliases: { auto: vendorB-5.4 }' }, B, 'vendorB-5.4'],
])('with %s auto is a model that is served', (_, yaml, env, auto) => {
  const { aliases, warnings } = config({ ...yaml, env })
  expect([aliases.auto, warnings.filter((line) => line.includes('auto'))]).toEqual([auto, []])
})

describe('a start warns', () => {
  const account = (url: string, more = '') =>
    `providers: { vendor_a: { ${more}accounts: [{ name: m, base_url: "${url}", credential: env:K }] } }`
  const warned = (yaml: string, env: Record<string, string> = {}) =>
    startWarnings(config({ yaml, env: { K: 'k', ...env } }))

  test.each([
    [
      'https://api.anthropic.com',
      'api.anthropic.com would be sent the neutral id vendorA-opus-4-8 (and 4 more), which no vendor knows: give vendor_a "preset: anthropic", or set ANTHROPIC_API_KEY in place of VENDOR_A_API_KEY',
    ],
    ['https://llm.example/v1', 'llm.example would be sent the neutral id vendorA-opus-4-8'],
    ['http://10.0.0.7:9', '10.0.0.7 would be sent the neutral id'],
    ['http://localhost:8080', "its base URL is this gateway's own address, localhost:8080"],
  ])('of %s', (url, sentence) => {
    expect(warned(account(url))).toEqual([expect.stringContaining(sentence)])
  })

  const KEPT = 'stored_answers.keep is 0: a '
  const STORE = 'postgres://sluice@localhost/sluice'
  test.each<[string, Record<string, string>, string[]]>([
    ['stored_answers: { keep: 0 }', { SLUICE_STORE: STORE }, [`${KEPT}node alone`]],
    ['stored_answers: { keep: 0 }\nworkers: 2', {}, [`${KEPT}worker alone`]],
    ['stored_answers: { keep: 0 }', {}, []],
    ['stored_answers: { keep: 1h }', { SLUICE_STORE: STORE }, []],
  ])('of answers that others do not know: %s %o', (yaml, env, told) => {
    expect(startWarnings(config({ yaml, env }))).toEqual(told.map((each) => expect.stringContaining(each)))
  })

  test.each([
    account('http://127.0.0.1:9101'),
    account('http://localhost:9101'),
    account('http://[::1]:9101'),
    account('https://gateway.example', 'preset: sluice, '),
    account('https://llm.example', 'preset: anthropic, '),
    'limits: { rpm: 1 }',
  ])('of nothing in %s', (yaml) => {
    expect(warned(yaml)).toEqual([])
  })

  test.each([
    [
      { OPENAI_API_KEY: 'sk-ant-api03-x' },
      "vendor_b, account main: its credential has the form of Anthropic's, not of OpenAI's",
    ],
    [{ GROQ_API_KEY: 'xai-x' }, "groq, account main: its credential has the form of xAI's, not of Groq's"],
    [{ MOONSHOT_API_KEY: 'sk-or-v1-x' }, "its credential has the form of OpenRouter's"],
  ])('of a credential of another vendor: %j', (env, sentence) => {
    expect(startWarnings(config({ env }))).toContainEqual(expect.stringContaining(sentence))
  })

  test.each([
    { OPENAI_API_KEY: 'sk-proj-x' },
    { OPENAI_API_KEY: 'sk-1234' },
    { OPENAI_API_KEY: 'sk-ant-x', OPENAI_BASE_URL: 'https://relay.example/v1' },
    { AZURE_OPENAI_API_KEY: 'sk-ant-x', AZURE_OPENAI_ENDPOINT: 'https://mine.openai.azure.com' },
  ])('of no credential that may be right: %j', (env) => {
    expect(startWarnings(config({ env })).filter((line) => line.includes('has the form'))).toEqual([])
  })

  test('that auto leads to a vendor that is not set up', () => {
    const neutral = { VENDOR_B_BASE_URL: 'http://127.0.0.1:9102/v1', VENDOR_B_API_KEY: 'secret-b' }
    expect(warned('limits: { rpm: 1 }', neutral)).toEqual([
      'auto is vendorA-opus-4-8, and vendor_a is not configured: aliases: { auto: vendorB-5.5 } names one that is',
    ])
  })
})

describe('all that is wrong is told in one round', () => {
  test('of the shape, of what is behind it, and of the environment', () => {
    const yaml = `
listen: { prt: 1 }
limits: { rpm: fast }
providers: { vendor_a: { accounts: [{ name: m, base_url: "ftp://x", credential: env:NONE }] } }
aliases: { quick: no-such-model }
max_tries: -1
`
    expect(
      problems({ yaml, env: { SLUICE_PORT: 'x' } }).map((line) => line.split(': ').slice(0, 2).join(': ')),
    ).toEqual([
      'sluice.yaml: listen.prt',
      'sluice.yaml: limits.rpm',
      'sluice.yaml: max_tries',
      'sluice.yaml: providers.vendor_a.accounts[0].base_url',
      'sluice.yaml: providers.vendor_a.accounts[0].credential',
      'sluice.yaml: aliases.quick',
      'SLUICE_PORT: found "x", allowed',
    ])
  })

  test.each([
    'providers: 5\nmodels: { mine: { provider: local } }',
    'models: 5\naliases: { a: mine }',
    'models: { mine: 5 }\naliases: { a: mine }',
    'providers: { local: { wires: [nope] } }\nmodels: { mine: { provider: local } }',
    'models: { mine: { provider: vendor_a, context: -1, max_output: 999999 } }',
    'models: { mine: { provider: 5 } }',
  ])('and nothing that only follows: %j', (yaml) => {
    expect(problems({ yaml })).toHaveLength(1)
  })
})
