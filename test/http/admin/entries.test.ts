// Accounts, models, names and prices at run time: in force at once, for admins who have proven who they are, and no secret of
// theirs told again.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { Account, Preset } from '../../../src/admin-api/schema.ts'
import { HOUR_MS } from '../../../src/lib/spans.ts'
import { createAccounts } from '../../../src/observe/accounts.ts'
import { type RealVendors, startRealVendors, VENDOR_KEYS } from '../../support/provider/real-vendors.ts'
import { type Desk, refusal, startDesk } from './support.ts'

let vendors: RealVendors
let desk: Desk
beforeAll(async () => {
  vendors = await startRealVendors()
  desk = await startDesk()
})
afterAll(async () => {
  await desk.stop()
  await vendors.stop()
})

const ofA = () => ({ preset: 'anthropic', base_url: vendors.a, credential: VENDOR_KEYS.a })
const main = { provider: 'vendor_a', account: 'main' }

const ask = (model: string) => desk.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }] })

const accountsOf = async (): Promise<Account[]> => (await desk.call('accounts.list', desk.admin)).items

beforeEach(async () => {
  for (const { section, name, managed } of (await desk.call('entries.list', desk.admin)).items.toReversed()) {
    if (managed === 'store' && section !== 'accounts' && section !== 'providers')
      await desk.call('entries.remove', desk.admin, { section, name })
  }
  for (const { provider, name } of await accountsOf())
    await desk.call('accounts.remove', desk.admin, { provider, account: name })
})

describe('an account', () => {
  test('answers as soon as it is added, and no more once it is removed', async () => {
    expect((await ask('claude-opus-4-8')).status).toBe(404)
    const made = await desk.call('accounts.create', desk.admin, ofA())
    expect(made).toMatchObject({
      ...{ provider: 'vendor_a', name: 'main', preset: 'anthropic', managed: 'store', problem: null },
      credential: { kind: 'sealed', name: null, last_four: null },
    })
    expect((await ask('claude-opus-4-8')).status).toBe(200)
    await desk.call('accounts.remove', desk.admin, main)
    expect(await accountsOf()).toEqual([])
    expect((await ask('vendorA-opus-4-8')).status).toBe(503)
  })

  test('is tried before it is kept, by a word from its cheapest model', async () => {
    const right = await desk.call('accounts.try', desk.admin, ofA())
    expect(right.items).toMatchObject([{ model: 'vendorA-haiku-4-5', ok: true, verdict: 'answers' }])
    const wrong = await desk.call('accounts.try', desk.admin, { ...ofA(), credential: 'sk-ant-of-another-place' })
    expect(wrong.items).toMatchObject([{ ok: false, verdict: 'credential-refused' }])
    expect(await accountsOf()).toEqual([])
    expect(
      (await desk.call('audit.list', desk.admin, { target: 'vendor_a/main', limit: 1 })).items[0]?.action,
    ).not.toBe('account.add')
  })

  test('of a key that is whole shows its last four characters, and nobody is told more', async () => {
    const credential = 'sk-ant-REDACT-ME-REDACT-ME-1234'
    const made = await desk.call('accounts.create', desk.admin, { ...ofA(), credential })
    expect(made.credential.last_four).toBe('1234')
    await desk.call('accounts.test', desk.admin, main)
    await desk.call('accounts.update', desk.admin, { ...main, weight: 2 })
    const told = await Promise.all([
      desk.call('accounts.list', desk.admin),
      desk.call('entries.list', desk.admin),
      desk.call('audit.list', desk.admin),
      desk.call('models.list', desk.admin),
      desk.call('settings.get', desk.admin),
    ])
    expect(JSON.stringify(told)).not.toContain('REDACT')
    expect(told[2].items[0]).toMatchObject({ action: 'account.change', target: 'vendor_a/main' })
  })

  test('takes another credential and another address together, and tells of its last failure until then', async () => {
    await desk.call('accounts.create', desk.admin, { ...ofA(), credential: 'sk-ant-of-another-place' })
    expect((await ask('claude-opus-4-8')).ok).toBe(false)
    await desk.idle()
    expect((await accountsOf())[0]?.last_error).toMatchObject({
      words: expect.stringContaining('refused the credential'),
    })
    const alone = await desk.request('accounts.update', desk.admin, { ...main, base_url: `${vendors.a}/other` })
    expect(await refusal(alone)).toMatchObject({ status: 400, message: expect.stringContaining('set it again') })
    await desk.call('accounts.update', desk.admin, { ...main, credential: VENDOR_KEYS.a })
    expect((await ask('claude-opus-4-8')).status).toBe(200)
    await desk.idle()
    const [after] = await accountsOf()
    expect(after?.spent_micro_usd).toBeGreaterThan(0)
    expect(after?.first_byte_ms).not.toBeNull()
    // A start later, and in another process, the same is told.
    const { gateway } = desk.server
    Object.assign(gateway, { accounts: createAccounts(Date.now) })
    const { spent_micro_usd = 0, first_byte_ms, last_error } = after ?? {}
    const [next] = await accountsOf()
    expect(next).toMatchObject({ spent_micro_usd, last_error: { error_code: last_error?.error_code } })
    expect(Math.abs((next?.first_byte_ms ?? 1e9) - (first_byte_ms ?? 0))).toBeLessThan(1_000)
    expect(Date.now() - Date.parse(next?.last_used_at ?? '')).toBeLessThan(60_000)
    // Of an account that is in none of the latest exchanges the sums alone know.
    gateway.store.insight.lately = async () => []
    const [later] = await accountsOf()
    expect(later).toMatchObject({ spent_micro_usd, first_byte_ms: null, last_error: null })
    const used = Date.parse(later?.last_used_at ?? '')
    expect(used % HOUR_MS).toBe(0)
    expect(Date.now() - used).toBeLessThan(2 * HOUR_MS)
  })

  test('finds its place: beside its like, in the contract, else under a name of its own', async () => {
    const placed = async (input: object) => {
      const { provider, name } = await desk.call('accounts.create', desk.admin, input)
      return `${provider}/${name}`
    }
    expect(await placed(ofA())).toBe('vendor_a/main')
    expect(await placed(ofA())).toBe('vendor_a/main-2')
    expect(await placed({ preset: 'groq', credential: 'gsk_x' })).toBe('groq/main')
    expect(await placed({ preset: 'ollama', base_url: 'http://127.0.0.1:11434/v1' })).toBe('ollama/main')
    const own = { provider: 'mine', wires: ['chat-completions'], base_url: 'http://10.0.0.9/v1', credential: 'x' }
    expect(await placed({ ...own, name: 'rack' })).toBe('mine/rack')
    expect(await placed({ provider: 'mine', base_url: 'http://10.0.0.10/v1', credential: 'y' })).toBe('mine/main')
  })

  test.each([
    ['no place', { credential: 'x' }, 'preset: name one'],
    ['a preset that there is not', { preset: 'antropic', credential: 'x' }, 'Did you mean "anthropic"?'],
    ['no credential', { preset: 'anthropic' }, 'credential: say what it is shown'],
    [
      'no address',
      { preset: 'litellm', credential: 'x', base_url: ' ' },
      'base_url: found something that is not a URL',
    ],
    ["a gateway's key", { preset: 'anthropic', credential: `sk-sl-${'a'.repeat(43)}` }, 'a key of a gateway'],
    ['a provider of no wires', { provider: 'mine', base_url: 'http://10.0.0.9/v1', credential: 'x' }, 'wires'],
    [
      'wires that there are not',
      { provider: 'mine', wires: ['telex'], base_url: 'http://h/v1', credential: 'x' },
      'wires[0]',
    ],
    ['what Google gives the machine', { preset: 'vertex', base_url: 'https://h/v1', credential: 'x' }, 'auth: google'],
    [
      'a file of the machine',
      { preset: 'anthropic', credential: 'file:/etc/hostname' },
      'credential: set the credential',
    ],
  ])('with %s is refused in words', async (_, input, words) => {
    const refused = await refusal(await desk.request('accounts.create', desk.admin, input))
    expect(refused).toMatchObject({ status: 400, code: 'invalid_request' })
    expect(refused.message).toContain(words)
    expect(await accountsOf()).toEqual([])
  })

  test('that there is already stays as it is', async () => {
    await desk.call('accounts.create', desk.admin, ofA())
    const again = await desk.request('accounts.create', desk.admin, { ...ofA(), name: 'main', credential: 'sk-other' })
    expect((await refusal(again)).message).toBe('name: vendor_a has an account main already.')
    expect((await ask('claude-opus-4-8')).status).toBe(200)
  })

  test('streams that are under way when it goes end as they began', async () => {
    await desk.call('accounts.create', desk.admin, ofA())
    const body = { model: 'claude-opus-4-8', stream: true, messages: [{ role: 'user', content: 'Hi' }] }
    const stream = await desk.post('/v1/chat/completions', body)
    await desk.call('accounts.remove', desk.admin, main)
    expect(await stream.text()).toContain('[DONE]')
  })
})

describe('models, names and prices', () => {
  test('are served at once, and are what they were when they are removed', async () => {
    await desk.call('accounts.create', desk.admin, ofA())
    const put = (section: string, name: string, value: unknown) =>
      desk.call('entries.put', desk.admin, { section, name, value })
    await put('models', 'canal', {
      provider: 'vendor_a',
      upstream: 'claude-haiku-4-5',
      price: { input: 100, output: 200 },
    })
    await put('models', 'claude-haiku-4-5', { price: { input: 3, output: 7 } })
    await put('aliases', 'quick', 'canal')
    await put('fallbacks', 'canal', ['claude-sonnet-5'])
    expect((await ask('quick')).status).toBe(200)
    const { items, aliases } = await desk.call('models.list', desk.admin)
    expect(aliases.quick).toBe('canal')
    expect(items.find(({ id }) => id === 'canal')).toMatchObject({
      price: { input: 100, output: 200 },
      fallbacks: ['vendorA-sonnet-5'],
    })
    expect(items.find(({ id }) => id === 'vendorA-haiku-4-5')?.price).toMatchObject({ input: 3, output: 7 })
    await desk.call('entries.remove', desk.admin, { section: 'models', name: 'claude-haiku-4-5' })
    const after = await desk.call('models.list', desk.admin)
    expect(after.items.find(({ id }) => id === 'vendorA-haiku-4-5')?.price.input).toBe(1)
  })

  test('a model with a slash in its id has a place in the path', async () => {
    const name = 'vendor/of a kind'.replaceAll(' ', '-')
    await desk.call('entries.put', desk.admin, { section: 'models', name, value: { provider: 'vendor_b' } })
    const { items } = await desk.call('entries.list', desk.admin, { section: 'models' })
    expect(items).toMatchObject([{ name, managed: 'store', problem: null }])
  })

  test('what something else leans on stays', async () => {
    await desk.call('entries.put', desk.admin, { section: 'models', name: 'm', value: { provider: 'vendor_b' } })
    await desk.call('entries.put', desk.admin, { section: 'aliases', name: 'a', value: 'm' })
    const gone = await desk.request('entries.remove', desk.admin, { section: 'models', name: 'm' })
    expect(await refusal(gone)).toMatchObject({ status: 400, message: expect.stringContaining('aliases.a') })
    const never = await desk.request('entries.remove', desk.admin, { section: 'aliases', name: 'never' })
    expect((await refusal(never)).status).toBe(404)
  })
})

describe('who may', () => {
  test('an admin token may, for scripts; a member may not', async () => {
    const { secret } = await desk.server.gateway.membership.issueToken('script', undefined, desk.admin.member)
    const script = { headers: { authorization: `Bearer ${secret}` } }
    expect(await desk.call('accounts.create', script, ofA())).toMatchObject({ provider: 'vendor_a' })
    for (const name of ['accounts.create', 'accounts.try', 'entries.list', 'presets.list', 'reload'] as const)
      expect((await desk.request(name, desk.member, ofA())).status).toBe(403)
  })

  test('not from another page', async () => {
    const foreign = await desk.request('accounts.create', desk.admin, ofA(), { origin: 'https://elsewhere.example' })
    expect(foreign.status).toBe(403)
  })
})

test('a key pasted tells its vendor, and only one', async () => {
  const { items } = await desk.call('presets.list', desk.admin)
  const named = (credential: string): string[] =>
    items
      .filter(({ credential_shape: shape }: Preset) => shape !== null && new RegExp(shape).test(credential))
      .map(({ name }) => name)
  expect(named('sk-ant-api03-abcdef')).toEqual(['anthropic'])
  expect(named('sk-proj-abcdef')).toEqual(['openai'])
  expect(named('sk-or-v1-abcdef')).toEqual(['openrouter'])
  expect(named('gsk_abcdef')).toEqual(['groq'])
  expect(named(`AIza${'x'.repeat(35)}`)).toEqual(['gemini'])
  expect(named(`sk-${'0'.repeat(32)}`)).toEqual(['deepseek'])
  expect(named('hello')).toEqual([])
})
