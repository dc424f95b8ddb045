// The playground's key: a member's own for an hour, in no list, within their limits, gone when they sign out.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { type DemoProviders, startDemoProviders } from '../../../src/demo/index.ts'
import { type Desk, refusal, startDesk } from './support.ts'

let providers: DemoProviders
let desk: Desk
const clock = { now: Date.UTC(2026, 8, 1) }
beforeAll(async () => {
  providers = await startDemoProviders()
  const { VENDOR_A_BASE_URL: vendorA = '', VENDOR_A_API_KEY: key = '' } = providers.env
  desk = await startDesk({ vendorA, keys: { vendorA: key }, clock: () => clock.now })
})
afterAll(async () => {
  await desk.stop()
  await providers.stop()
})

const ask = async (secret: string): Promise<number> => {
  const body = { model: 'vendorA-haiku-4-5', messages: [{ role: 'user', content: 'Hi' }] }
  return (await desk.post('/v1/chat/completions', body, { authorization: `Bearer ${secret}` })).status
}

describe('the key of the playground', () => {
  test('works for an hour, and no longer', async () => {
    const { secret, expires_at } = await desk.call('playground.key', desk.admin)
    expect(Date.parse(expires_at) - clock.now).toBe(3_600_000)
    expect(await ask(secret)).toBe(200)
    clock.now += 3_600_000
    expect(await ask(secret)).toBe(401)
  })

  test('is in no list, is told in the audit, and its figures are its owner’s', async () => {
    const mia = await desk.join('Listed', 'member')
    const { secret, key_id } = await desk.call('playground.key', mia)
    expect(await ask(secret)).toBe(200)
    await desk.idle()
    expect((await desk.call('keys.list', mia)).items).toEqual([])
    expect(JSON.stringify(await desk.call('keys.list', desk.admin))).not.toContain(key_id)
    const { items } = await desk.call('members.list', desk.admin)
    expect(items.find(({ id }) => id === mia.member.id)?.keys).toBe(0)
    const told = await desk.call('audit.list', desk.admin, { target: key_id })
    expect(told.items).toMatchObject([{ action: 'key.issue', actor: { name: 'Listed' } }])
    expect(JSON.stringify(told)).not.toContain(secret)
    expect((await desk.call('usage.get', mia)).totals.requests).toBe(1)
    expect(await desk.call('keys.get', mia, { id: key_id })).toMatchObject({ purpose: 'playground' })
  })

  test('ends when its owner signs out, and where another takes its place', async () => {
    const mia = await desk.join('Leaving', 'member')
    const first = await desk.call('playground.key', mia)
    const second = await desk.call('playground.key', mia)
    expect([await ask(first.secret), await ask(second.secret)]).toEqual([401, 200])
    await desk.call('session.sign-out', mia)
    expect(await ask(second.secret)).toBe(401)
  })

  test('is no way around a member’s limits: models, tokens over all keys', async () => {
    const limits = { maxKeys: 1, maxTokensPerKey: 5_000, models: ['vendorB-*'] }
    const mia = await desk.join('Bounded', 'member', limits)
    const made = await desk.call('playground.key', mia)
    expect(made.tokens_total).toBe(5_000)
    expect(await ask(made.secret)).toBe(403)
    // It takes no place of theirs.
    await desk.call('keys.create', mia, { label: 'own', tokens_total: 5_000 })
    expect(await refusal(await desk.request('playground.key', mia))).toMatchObject({ status: 403 })
  })

  test('cannot be made to last, nor to hold more', async () => {
    const { key_id: id } = await desk.call('playground.key', desk.admin)
    const later = new Date(clock.now + 86_400_000).toISOString()
    for (const [name, input] of [
      ['keys.update', { id, expires_at: later }],
      ['keys.top-up', { id, tokens: 5 }],
      ['keys.rotate', { id }],
      ['keys.reset', { id }],
    ] as const)
      expect(await refusal(await desk.request(name, desk.admin, input))).toMatchObject({ status: 400 })
  })

  test('is for people, twenty times an hour', async () => {
    const { secret } = await desk.server.gateway.membership.issueToken('script', undefined, desk.admin.member)
    const script = { headers: { authorization: `Bearer ${secret}` } }
    expect((await desk.request('playground.key', script)).status).toBe(403)
    const eager = await desk.join('Eager', 'member')
    for (let time = 0; time < 20; time++) await desk.call('playground.key', eager)
    const refused = await desk.request('playground.key', eager)
    expect(refused.status).toBe(429)
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
    clock.now += 3_600_000
    await desk.call('playground.key', eager)
  })
})

test('keys tell the last four characters of their secret, and of the one after it', async () => {
  const { key, secret } = await desk.call('keys.create', desk.admin, { label: 'four' })
  expect(key.last_four).toBe(secret.slice(-4))
  const rotated = await desk.call('keys.rotate', desk.admin, { id: key.id })
  expect(rotated.key.last_four).toBe(rotated.secret.slice(-4))
})
