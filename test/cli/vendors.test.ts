// The commands that name vendors by presets and ask them: config init --preset, config check --ask, models fetch.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { PRESETS, presetNamed } from '../../src/provider/presets/index.ts'
import { type RealVendors, startRealVendors, VENDOR_KEYS } from '../support/provider/real-vendors.ts'
import { openTerminal, type Terminal } from './terminal.ts'

let vendors: RealVendors
beforeAll(async () => {
  vendors = await startRealVendors()
})
afterAll(() => vendors.stop())

let terminal: Terminal
beforeEach(() => {
  terminal = openTerminal()
})
afterEach(() => terminal.close())
const type = (...words: string[]) => terminal.type(...words)
const file = (yaml: string) => writeFileSync(join(terminal.cwd, 'sluice.yaml'), yaml)
const withA = (credential: string = VENDOR_KEYS.a) =>
  Object.assign(terminal.env, { ANTHROPIC_API_KEY: credential, ANTHROPIC_BASE_URL: vendors.a })

describe('config init --preset', () => {
  test.each([...PRESETS.map(({ name }) => name), PRESETS.map(({ name }) => name).join(',')])(
    '%s writes a file that check passes as it is',
    async (names) => {
      expect((await type('config', 'init', '--preset', names)).code).toBe(0)
      const { code, out, err } = await type('config', 'check')
      expect([code, err.includes('found')]).toEqual([0, false])
      for (const name of names.split(',')) expect(out).toContain(name)
      // With its credential it is served, and `auto` leads to a model of it; without, that alone is missing.
      const presets = PRESETS.filter(({ name }) => names.split(',').includes(name))
      for (const { env, baseUrl } of presets) {
        for (const variable of [...env.credential.slice(0, 1), ...(baseUrl.match(/[A-Z_]{2,}/g) ?? [])])
          terminal.env[variable] = 'eu-west-1'
      }
      expect(err).not.toContain('no provider is configured')
      expect(err).not.toContain("this gateway's own address")
      expect((await type('config', 'check')).err).not.toContain('auto is')
    },
  )

  test('refuses a name that it does not know', async () => {
    expect(await type('config', 'init', '--preset', 'anthropic,gorq')).toMatchObject({
      code: 2,
      err: expect.stringMatching(/--preset: found "gorq", allowed: anthropic, .*; did you mean "groq"\?/),
    })
  })
})

test('models lists what the vendors of the environment have', async () => {
  Object.assign(terminal.env, { OPENAI_API_KEY: VENDOR_KEYS.b })
  const { models } = JSON.parse((await type('models', '--json')).out) as { models: { id: string; upstream: string }[] }
  const ids = models.map(({ id }) => id)
  expect(ids).toContain('vendorB-5.5')
  expect(ids).not.toContain('vendorB-4')
  expect(models.find(({ id }) => id === 'vendorB-5.5')?.upstream).toBe('gpt-5.5')
})

describe('config check --ask', () => {
  test('tells of each model, and ends with 1 where one is wrong', async () => {
    withA()
    const { code, out } = await type('config', 'check', '--ask')
    expect(out).toMatch(/ok +vendor_a\/main +vendorA-opus-4-8 → claude-opus-4-8 +answers/)
    expect(out).toMatch(/WRONG +vendor_a\/main +claude-opus-5-5 +it knows no claude-opus-5-5; it has /)
    expect(code).toBe(1)
  })

  test('ends with 0 where all answer', async () => {
    withA()
    const newer = presetNamed('anthropic')?.models.map(({ id }) => `${id}: { upstream: claude-opus-4-8 }`) ?? []
    file(`models: { ${newer.join(', ')} }\n`)
    const { code, out } = await type('config', 'check', '--ask')
    expect([code, out.includes('WRONG')]).toEqual([0, false])
  })

  test('is one document with --json', async () => {
    withA('sk-wrong')
    const { code, out } = await type('config', 'check', '--ask', '--json')
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      ok: false,
      asked: [
        {
          provider: 'vendor_a',
          account: 'main',
          model: null,
          upstream: null,
          ok: false,
          verdict: 'credential-refused',
        },
      ],
    })
    expect(out).not.toContain('sk-wrong')
  })

  test('asks the account that is named, and no other', async () => {
    withA('sk-wrong')
    Object.assign(terminal.env, { OPENAI_API_KEY: VENDOR_KEYS.b, OPENAI_BASE_URL: vendors.b })
    file('providers: { vendor_a: { preset: anthropic }, vendor_b: { preset: openai } }\n')
    const { out } = await type('config', 'check', '--ask', '--account', 'vendor_b/main')
    expect(out).toContain('vendorB-5.5 → gpt-5.5')
    expect(out).not.toContain('vendor_a/main ')
    expect(await type('config', 'check', '--ask', '--account', 'vendor_c')).toMatchObject({
      code: 2,
      err: expect.stringContaining('--account: found "vendor_c", allowed: vendor_a/main, vendor_b/main.'),
    })
  })

  test.each([
    [['config', 'check', '--ask'], 'No account is configured'],
    [['accounts', 'test'], 'No account is configured'],
    [['models', 'fetch'], 'No account is configured'],
  ])('%j says that there is none to ask, of no bill, and fails', async (words, none) => {
    const { code, out, err } = await type(...words)
    expect([code, out]).toEqual([1, expect.stringContaining(none)])
    expect(err).not.toContain('asking')
  })

  test('tells where a neutral id would leave this machine', async () => {
    Object.assign(terminal.env, { VENDOR_A_BASE_URL: 'http://nowhere.invalid', VENDOR_A_API_KEY: 'k' })
    const { err, out } = await type('config', 'check', '--ask')
    expect(err).toContain('nowhere.invalid would be sent the neutral id vendorA-opus-4-8')
    expect(out).toContain('no host nowhere.invalid is known')
  })
})

describe('models fetch', () => {
  test('prints what the list has beside the configured models, as YAML that the configuration takes', async () => {
    const server = Bun.serve({
      port: 0,
      fetch: () =>
        Response.json({
          data: [
            { id: 'openai/gpt-oss-120b' },
            { id: 'new/model:free', context_length: 4096, pricing: { prompt: '0.000001', completion: '0.000002' } },
            { id: 'vendorB-4o' },
          ],
        }),
    })
    const at = `[{ name: main, base_url: "http://127.0.0.1:${server.port}/v1", credential: env:K }]`
    const yaml = `providers: { mine: { preset: groq, accounts: ${at} } }\n`
    terminal.env.K = 'k'
    file(yaml)
    const { code, out } = await type('models', 'fetch', '--account', 'mine')
    const asJson = await type('models', 'fetch', '--json')
    await server.stop(true)
    expect(code).toBe(0)
    expect(Bun.YAML.parse(out)).toEqual({
      models: {
        'new/model:free': { provider: 'mine', context: 4096, price: { input: 1, output: 2 } },
        'mine/vendorB-4o': { provider: 'mine', upstream: 'vendorB-4o' },
      },
    })
    expect(JSON.parse(asJson.out)).toMatchObject([{ provider: 'mine', account: 'main', models: [{}, {}] }])
    file(`${yaml}${out}\n`)
    expect((await type('config', 'check')).code).toBe(0)
  })

  test('tells of a model at each provider that has it, and once of what two of its accounts have', async () => {
    const server = Bun.serve({ port: 0, fetch: () => Response.json({ data: [{ id: 'new' }, { id: 'new' }] }) })
    const accounts = (...names: string[]) =>
      names.map((name) => `{ name: ${name}, base_url: "http://127.0.0.1:${server.port}/v1", credential: env:K }`)
    const yaml = `providers:
  one: { preset: groq, accounts: [${accounts('main', 'spare')}] }
  two: { preset: groq, accounts: [${accounts('main')}] }
`
    terminal.env.K = 'k'
    file(yaml)
    const { out } = await type('models', 'fetch')
    const asJson = await type('models', 'fetch', '--json')
    await server.stop(true)
    expect(out.match(/provider:/g)).toHaveLength(2)
    expect(Bun.YAML.parse(out)).toEqual({
      models: { new: { provider: 'one' }, 'two/new': { provider: 'two', upstream: 'new' } },
    })
    const names = (JSON.parse(asJson.out) as { models: { name: string }[] }[]).map(({ models }) => models[0]?.name)
    expect(names).toEqual(['new', 'new', 'two/new'])
    file(`${yaml}${out}\n`)
    expect((await type('config', 'check')).code).toBe(0)
  })

  test('says so where there is no list', async () => {
    withA('sk-wrong')
    expect(await type('models', 'fetch')).toMatchObject({
      code: 1,
      err: expect.stringContaining('vendor_a/main gives no list of models'),
    })
  })
})
