// Keys as admins and members make, change and end them by the admin API.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { asObject } from '../../../src/ir/json.ts'
import { permits } from '../../../src/keys/key.ts'
import { NO_USAGE } from '../../../src/relay/meter.ts'
import { whileAnotherWrites } from '../../support/another-writer.ts'
import { journalOf, SYSTEM } from '../../support/gateway.ts'
import { type Desk, refusal, startDesk } from './support.ts'

let desk: Desk
beforeAll(async () => {
  desk = await startDesk()
})
afterAll(() => desk.stop())

const DAY = 86_400_000
const inDays = (days: number): string => new Date(Date.now() + days * DAY).toISOString()
const usage = (secret: string) => desk.get('/v1/usage', { 'x-api-key': secret })

describe('an admin', () => {
  test.each([
    ['keys.top-up', { tokens: 7 }],
    ['keys.reset', {}],
  ] as const)('changes a key while another process is writing, once that is done: %s', async (name, input) => {
    const { keys } = desk.server.gateway.store
    const { id } = await desk.issue({ tokensTotal: 10 })
    const { result, waited } = await whileAnotherWrites(desk.config, () =>
      desk.request(name, desk.admin, { id, ...input }),
    )
    expect([result.status, waited]).toEqual([200, 2])
    expect(keys.get(id)?.tokensTotal).toBe('tokens' in input ? 17 : 10)
    const { items } = await desk.call('audit.list', desk.admin, { target: id })
    expect(items.map(({ action }) => action)).toEqual(['key.update', 'key.issue'])
  })

  test('makes a key that works, and no other answer ever holds its secret', async () => {
    const { key, secret } = await desk.call('keys.create', desk.admin, { label: ' ci ', models: ['auto', 'vendorB-*'] })
    expect(key).toMatchObject({
      ...{ label: 'ci', status: 'active', tokens_total: 1_000_000, tokens_used: 0, rpm: null },
      ...{ models: ['vendorA-opus-4-8', 'vendorB-*'], owner: { id: desk.admin.member.id, name: 'Ada' } },
    })
    expect((await usage(secret)).status).toBe(200)
    for (const name of ['keys.get', 'keys.list', 'audit.list'] as const) {
      const input = name === 'keys.get' ? { id: key.id } : {}
      const text = JSON.stringify(await desk.call(name, desk.admin, input))
      expect(text).toContain(key.id)
      expect(text).not.toContain(secret)
    }
  })

  test('tops up once by a name, however often it is sent', async () => {
    const { key } = await desk.call('keys.create', desk.admin, { label: 'named', tokens_total: 17 })
    const { id } = key
    const topUp = (tokens: number, name: string) =>
      desk.request('keys.top-up', desk.admin, { id, tokens }, { 'idempotency-key': name })
    for (const _ of [1, 2]) expect(await (await topUp(3, 'invoice 7')).json()).toMatchObject({ tokens_total: 20 })
    for (const refused of [await topUp(3, 'x'.repeat(256)), await topUp(4, 'invoice 7')])
      expect(await refusal(refused)).toMatchObject({ status: 400, message: expect.stringContaining('Idempotency-Key') })
  })

  test('changes, tops up, resets, rotates and revokes; each is in force at once and in the audit by name', async () => {
    const { key, secret } = await desk.call('keys.create', desk.admin, { label: 'one', tokens_total: 10, owner: null })
    const id = key.id
    expect(key.owner).toBeNull()
    expect(await desk.call('keys.update', desk.admin, { id, label: 'two', rpm: 5, concurrency: 0 })).toMatchObject({
      ...{ label: 'two', rpm: 5, concurrency: 0, tokens_total: 10 },
    })
    expect((await desk.call('keys.update', desk.admin, { id, rpm: null })).rpm).toBeNull()
    expect((await desk.call('keys.top-up', desk.admin, { id, tokens: 7 })).tokens_total).toBe(17)
    await desk.call('keys.reset', desk.admin, { id })
    const rotated = await desk.call('keys.rotate', desk.admin, { id, grace_seconds: 60 })
    const grace = Date.parse(rotated.key.old_secret_until ?? '') - Date.now()
    expect(grace).toBeWithin(1, 60_001)
    expect([(await usage(secret)).status, (await usage(rotated.secret)).status]).toEqual([200, 200])
    const again = await desk.call('keys.rotate', desk.admin, { id })
    expect(again.key.old_secret_until).toBeNull()
    expect((await usage(rotated.secret)).status).toBe(401)
    expect((await desk.call('keys.revoke', desk.admin, { id })).status).toBe('revoked')
    expect((await usage(again.secret)).status).toBe(401)
    const late = await desk.request('keys.update', desk.admin, { id, label: 'three' })
    expect(await refusal(late)).toMatchObject({ status: 400 })
    const { items } = await desk.call('audit.list', desk.admin, { target: id })
    expect(items.map(({ action }) => action)).toEqual([
      ...[
        'key.revoke',
        'key.rotate',
        'key.rotate',
        'key.update',
        'key.update',
        'key.update',
        'key.update',
        'key.issue',
      ],
    ])
    expect(new Set(items.map(({ actor }) => actor.name))).toEqual(new Set(['Ada']))
  })
  test('finds keys by label, id, owner and status, in any order, page by page', async () => {
    const owner = (await desk.join('Olga', 'member')).member.id
    for (const label of ['zeta', 'Alpha', 'mid']) await desk.call('keys.create', desk.admin, { label, owner })
    const list = (input: object) => desk.call('keys.list', desk.admin, { owner, ...input })
    const labels = async (input: object) => (await list(input)).items.map(({ label }) => label)
    expect(await labels({ sort: 'label', order: 'asc' })).toEqual(['Alpha', 'mid', 'zeta'])
    expect(await labels({ sort: 'label', order: 'asc', limit: 1, offset: 1 })).toEqual(['mid'])
    expect(await list({ limit: 1 })).toMatchObject({ total: 3 })
    expect(await labels({ search: 'ALPH' })).toEqual(['Alpha'])
    expect((await list({ search: 'olga' })).total).toBe(3)
    expect((await list({ status: 'revoked' })).total).toBe(0)
  })
  test.each([
    ['keys.create', {}, 'label'],
    ['keys.create', { label: 'x', tokens_total: -1 }, 'tokens_total'],
    ['keys.create', { label: 'x', tokens_total: 1.5 }, 'tokens_total'],
    ['keys.create', { label: 'x', models: [] }, 'models'],
    ['keys.create', { label: 'x', models: ['no-such-model'] }, 'models'],
    ['keys.create', { label: 'x', models: ['vendorC-*'] }, 'models'],
    ['keys.create', { label: 'x', expires_at: 'tomorrow' }, 'expires_at'],
    ['keys.create', { label: 'x', expires_at: '2001-01-01' }, 'expires_at'],
    ['keys.create', { label: 'x', owner: 'mem_nobody' }, 'owner'],
    ['keys.create', { label: 'x', labell: 'x' }, 'labell'],
    ['keys.create', { label: 'a\nb' }, 'label'],
    ['keys.create', { label: 'a \u001b[2J' }, 'label'],
    ['keys.create', { label: 'paid \u202eegap' }, 'label'],
    ['tokens.create', { label: '  ' }, 'label'],
    ['tokens.create', { label: 'a\u0000b' }, 'label'],
    ['tokens.create', { label: 'a\u2067b' }, 'label'],
    ['keys.list', { limit: 0 }, 'limit'],
    ['keys.list', { limit: 'ten' }, 'limit'],
    ['keys.list', { colour: 'red' }, 'colour'],
    ['exchanges.list', { since: 'x' }, 'since'],
    ['usage.get', { since: '2026-02-01', until: '2026-01-01' }, 'since'],
    ['usage.get', { since: '1990-01-01', step: 'hour' }, 'since'],
  ] as const)('%s with %j is 400 and names %s', async (name, input, member) => {
    const response = await desk.request(name, desk.admin, input)
    expect(response.status).toBe(400)
    const { error } = (await response.json()) as { error: { param: string | null; message: string } }
    expect(`${error.param} ${error.message}`).toContain(member)
  })
  test.each(['{', '[]', 'null', '"x"', ''])('a body of %j is refused in the envelope', async (body) => {
    const response = await fetch(`${desk.url}/admin/api/keys`, {
      ...{ method: 'POST', body, headers: { ...desk.admin.headers, origin: desk.url } },
    })
    expect(response.status).toBe(400)
    expect((await refusal(response)).code).toMatch(/^invalid_(json|request)$/)
  })
  test('a body past any use is 413', async () => {
    const response = await desk.request('keys.create', desk.admin, { label: 'x'.repeat(300_000) })
    expect(response.status).toBe(413)
  })
})

test.each(['<script>alert(1)</script>', '"><img src=x onerror=alert(1)>', 'a</script>b', "';--", '{{7*7}}'])(
  'a label of %j comes back as it is, as JSON that no browser runs',
  async (label) => {
    await desk.call('keys.create', desk.admin, { label })
    const response = await desk.request('keys.list', desk.admin, { search: label })
    expect(response.headers.get('content-type')).toMatch(/^application\/json/)
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    const { items } = (await response.json()) as { items: { label: string }[] }
    expect(items.map((item) => item.label)).toEqual([label])
  },
)

describe('a member', () => {
  test('sees, changes and is told of their own keys only', async () => {
    const { key: foreign } = await desk.call('keys.create', desk.admin, { label: 'not theirs' })
    const { key: own } = await desk.call('keys.create', desk.member, { label: 'own' })
    expect(own.owner).toEqual({ id: desk.member.member.id, name: 'Mia' })
    expect((await desk.call('keys.list', desk.member)).items.map(({ id }) => id)).toEqual([own.id])
    const id = foreign.id
    for (const [name, ask] of [
      ['keys.get', (id: string) => ({ id })],
      ['keys.update', (id: string) => ({ id, label: 'x' })],
      ['keys.top-up', (id: string) => ({ id, tokens: 1 })],
      ['keys.rotate', (id: string) => ({ id })],
      ['keys.revoke', (id: string) => ({ id })],
      ['keys.usage', (id: string) => ({ id })],
      ['usage.get', (id: string) => ({ key: id })],
      ['exchanges.list', (id: string) => ({ key: id })],
    ] as const) {
      // Whether there is such a key is not to be told either.
      const nothing = await refusal(await desk.request(name, desk.member, ask('key_none')))
      expect(nothing.status).toBe(404)
      expect(await refusal(await desk.request(name, desk.member, ask(id)))).toEqual(nothing)
    }
    expect((await desk.call('keys.get', desk.admin, { id })).status).toBe('active')
  })

  const limits = {
    maxKeys: 2,
    maxTokensPerKey: 1_000,
    maxExpiryDays: 30,
    models: ['vendorB-*', 'vendorA-haiku-4-5'],
    serverTools: ['web_search', 'mcp'],
  }
  test('gets defaults that fit their limits', async () => {
    const person = await desk.join('Dan', 'member', limits)
    const { key } = await desk.call('keys.create', person, { label: 'x' })
    expect(key).toMatchObject({ tokens_total: 1_000, models: limits.models })
    expect(Date.parse(key.expires_at)).toBeLessThanOrEqual(Date.now() + 30 * DAY)
  })
  test('names tools at the vendor as vendors do, within their limits', async () => {
    const person = await desk.join('Tom', 'member', limits)
    const { key } = await desk.call('keys.create', person, { label: 'x', server_tools: ['web_search_20250305'] })
    expect(key.server_tools).toEqual(['web_search'])
    const change = (server_tools: 'all' | 'none') => desk.call('keys.update', person, { id: key.id, server_tools })
    expect([(await change('none')).server_tools, (await change('all')).server_tools]).toEqual(['none', 'all'])
  })
  test('has any key where their admin set no limit', async () => {
    const free = { maxKeys: null, maxTokensPerKey: null, maxExpiryDays: null, models: ['*'] }
    const person = await desk.join('Uma', 'member', free)
    const wish = { label: 'x', tokens_total: 5_000_000_000, expires_at: inDays(3_000), models: ['*'] }
    for (let made = 0; made < 3; made++) {
      const { key } = await desk.call('keys.create', person, wish)
      expect(key).toMatchObject({ tokens_total: wish.tokens_total, models: ['*'] })
    }
  })
  test.each([
    ['tokens_total', { tokens_total: 1_001 }],
    ['expires_at', { expires_at: inDays(31) }],
    ['models', { models: ['*'] }],
    ['server_tools', { server_tools: ['web_search', 'code_interpreter'] }],
    ['models', { models: ['vendorA-opus-4-8'] }],
    ['models', { models: ['auto'] }],
    ['models', { models: ['vendorA-*'] }],
    ['models', { models: ['vendor*'] }],
    ['owner', { owner: 'mem_other' }],
    ['owner', { owner: null }],
  ] as const)('is refused a key whose %s is past them: %j', async (param, input) => {
    const person = await desk.join(`Eve ${crypto.randomUUID()}`, 'member', limits)
    const response = await desk.request('keys.create', person, { label: 'x', ...input })
    expect(response.status).toBe(403)
    expect(await response.json()).toMatchObject({ error: { code: 'permission_denied', param } })
    expect((await desk.call('keys.list', person)).total).toBe(0)
  })
  test('is made keys by an admin within them, in words for the admin; what is changed later is the admin’s affair', async () => {
    const { member } = await desk.join('Gina', 'member', limits)
    const make = (input: object) => desk.request('keys.create', desk.admin, { label: 'x', owner: member.id, ...input })
    for (const [param, input] of [
      ['tokens_total', { tokens_total: 1_001 }],
      ['expires_at', { expires_at: inDays(31) }],
      ['models', { models: ['*'] }],
    ] as const) {
      const response = await make(input)
      expect(response.status).toBe(403)
      const { error } = (await response.json()) as { error: { param: string; message: string } }
      expect(error).toMatchObject({ param, message: expect.stringContaining('of Gina') })
    }
    const { key } = await desk.call('keys.create', desk.admin, { label: 'x', owner: member.id, rpm: 0 })
    expect(key).toMatchObject({ tokens_total: 1_000, models: limits.models, owner: { name: 'Gina' }, rpm: 0 })
    expect((await make({})).status).toBe(200)
    expect(await refusal(await make({}))).toMatchObject({
      status: 403,
      message: expect.stringContaining('Gina may have 2'),
    })
    await desk.call('keys.top-up', desk.admin, { id: key.id, tokens: 5_000 })
    expect(await desk.call('keys.get', desk.admin, { id: key.id })).toMatchObject({ tokens_total: 6_000 })
    const admin = await desk.join('Gus A', 'admin', limits)
    await desk.call('keys.create', desk.admin, { label: 'x', owner: admin.member.id, tokens_total: 9_000 })
  })
  test('has the tokens of a key once: only an admin can make them renew, and the member can end that', async () => {
    const person = await desk.join('Ida', 'member', limits)
    const asked = { label: 'x', renews: 'month' } as const
    expect(await refusal(await desk.request('keys.create', person, asked))).toMatchObject({ status: 403 })
    const { key } = await desk.call('keys.create', desk.admin, { ...asked, owner: person.member.id })
    expect(key).toMatchObject({ renews: 'month', renews_at: expect.stringMatching(/-01T00:00:00\.000Z$/) })
    const change = (renews: 'day' | 'month' | null) => desk.request('keys.update', person, { id: key.id, renews })
    expect(await refusal(await change('day'))).toMatchObject({ status: 403 })
    expect((await change('month')).status).toBe(200)
    expect(await (await change(null)).json()).toMatchObject({ renews: null, renews_at: null })
    const other = await desk.call('keys.create', desk.admin, asked)
    const revoked = await desk.call('keys.revoke', desk.admin, { id: other.key.id })
    expect(revoked).toMatchObject({ renews: 'month', renews_at: null })
    const unlimited = await desk.join('Ivo', 'member', { ...limits, maxTokensPerKey: null })
    expect((await desk.request('keys.create', unlimited, asked)).status).toBe(200)
  })
  test('may use what lies within', async () => {
    const person = await desk.join('Finn', 'member', limits)
    const models = ['vendorB-5.*', 'vendorB-*', 'vendorA-haiku-4.5']
    const { key } = await desk.call('keys.create', person, {
      label: 'x',
      models,
      tokens_total: 10,
      expires_at: inDays(30),
    })
    expect(key.models).toEqual(['vendorB-5.*', 'vendorB-*', 'vendorA-haiku-4-5'])
    await desk.call('keys.top-up', person, { id: key.id, tokens: 990 })
    const more = await desk.request('keys.top-up', person, { id: key.id, tokens: 1 })
    expect(more.status).toBe(403)
    const reset = await desk.request('keys.reset', person, { id: key.id })
    expect(reset.status).toBe(403)
  })
  test('has no way around the number of keys: a used key counts until it expires, an unused one can be exchanged', async () => {
    const person = await desk.join('Gus', 'member', limits)
    const make = () => desk.request('keys.create', person, { label: 'x' })
    const first = await desk.call('keys.create', person, { label: 'x' })
    expect((await make()).status).toBe(200)
    expect((await make()).status).toBe(403)
    await desk.call('keys.revoke', person, { id: first.key.id })
    const second = await desk.call('keys.create', person, { label: 'y' })
    journalOf(desk.server.gateway).charge({ keyId: second.key.id, budgets: [] }, { tokens: 5, microUsd: 0 })
    await desk.call('keys.revoke', person, { id: second.key.id })
    expect(await refusal(await make())).toMatchObject({ status: 403, code: 'permission_denied' })
  })
  test('has none by keys that live for a moment: a used one counts for a day', async () => {
    const person = await desk.join('Kim', 'member', { ...limits, maxKeys: 1 })
    const { store } = desk.server.gateway
    const { key } = await desk.call('keys.create', person, { label: 'x' })
    await store.keys.update(key.id, { expiresAt: Date.now() }, SYSTEM)
    journalOf({ store }).charge({ keyId: key.id, budgets: [] }, { tokens: 5, microUsd: 0 })
    expect((await desk.request('keys.create', person, { label: 'y' })).status).toBe(403)
  })
  test('has no more tokens by keys made anew every day: what ended ones used is used', async () => {
    const person = await desk.join('Lea', 'member', { ...limits, maxKeys: 2, maxExpiryDays: 30 })
    const { store } = desk.server.gateway
    const make = (tokens_total: number) => desk.request('keys.create', person, { label: 'x', tokens_total })
    const useUp = async (tokens: number) => {
      const { key } = (await (await make(1_000)).json()) as { key: { id: string } }
      journalOf({ store }).charge({ keyId: key.id, budgets: [] }, { tokens, microUsd: 0 })
      const made = store.keys.get(key.id)
      // A day has gone by.
      if (made !== undefined) Object.assign(made, { createdAt: made.createdAt - DAY, expiresAt: Date.now() - 1 })
      return made
    }
    await useUp(1_000)
    const second = await useUp(300)
    expect(await refusal(await make(701))).toMatchObject({ status: 403, message: expect.stringContaining('700 left') })
    const { key } = (await (await make(600)).json()) as { key: { id: string } }
    expect((await desk.request('keys.top-up', person, { id: key.id, tokens: 101 })).status).toBe(403)
    expect((await desk.request('keys.top-up', person, { id: key.id, tokens: 100 })).status).toBe(200)
    // What was used longer ago than a key may be valid counts no more.
    if (second !== undefined) second.createdAt -= 30 * DAY
    expect((await make(300)).status).toBe(200)
  })
  test('has none by requests in flight either: a key that is revoked under them counts on', async () => {
    const person = await desk.join('Ivy', 'member', { ...limits, maxKeys: 1 })
    const { ledger, store } = desk.server.gateway
    const { id } = (await desk.call('keys.create', person, { label: 'x' })).key
    const key = store.keys.get(id)
    if (key === undefined) throw new Error('the key is gone')
    const reservation = await ledger.reserve({
      ...{ exchangeId: 'req_held', key, model: 'vendorA-haiku-4-5', wire: 'messages', stream: true },
      ...{ inputEstimate: 1, outputCap: 10, maxOutput: 10, answers: 1, fixed: false },
    })
    await desk.call('keys.revoke', person, { id })
    expect((await desk.request('keys.create', person, { label: 'y' })).status).toBe(403)
    const ended = { outcome: 'failed', status: 502, errorCode: 'upstream_error', model: 'vendorA-haiku-4-5' } as const
    ledger.settle(reservation, { ...ended, ...NO_USAGE, attempts: 1, totalMs: 1 })
    expect((await desk.request('keys.create', person, { label: 'y' })).status).toBe(200)
  })
  test('has none by keys that had expired either', async () => {
    const person = await desk.join('Jan', 'member', { ...limits, maxKeys: 1 })
    const first = (await desk.call('keys.create', person, { label: 'x' })).key
    await desk.server.gateway.store.keys.update(first.id, { expiresAt: Date.now() }, SYSTEM)
    const second = (await desk.call('keys.create', person, { label: 'y' })).key
    const goOn = () => desk.request('keys.update', person, { id: first.id, expires_at: inDays(1) })
    expect((await goOn()).status).toBe(403)
    await desk.call('keys.revoke', person, { id: second.id })
    expect((await goOn()).status).toBe(200)
  })
  test('may let a used key that has expired go on: it takes no room beside itself', async () => {
    const person = await desk.join('Lou', 'member', { ...limits, maxKeys: 1 })
    const { store } = desk.server.gateway
    const { id } = (await desk.call('keys.create', person, { label: 'x' })).key
    journalOf({ store }).charge({ keyId: id, budgets: [] }, { tokens: 5, microUsd: 0 })
    await store.keys.update(id, { expiresAt: Date.now() }, SYSTEM)
    expect((await desk.request('keys.update', person, { id, expires_at: inDays(1) })).status).toBe(200)
  })
  test('cannot cut the expiry of a key short, nor loosen a limit that stands', async () => {
    const person = await desk.join('Hana', 'member', limits)
    const { key } = await desk.call('keys.create', person, { label: 'x', rpm: 10, expires_at: inDays(5) })
    const id = key.id
    for (const input of [{ expires_at: inDays(4) }, { rpm: 11 }, { rpm: 0 }, { rpm: null }]) {
      expect((await desk.request('keys.update', person, { id, ...input })).status).toBe(403)
    }
    expect(await desk.call('keys.update', person, { id, rpm: 9, expires_at: inDays(6) })).toMatchObject({ rpm: 9 })
    // The networks that an admin has set are made fewer, not more.
    const bound = { id, ips: ['10.0.0.0/8', '2001:db8::/32'] }
    expect(await desk.call('keys.update', desk.admin, bound)).toMatchObject(bound)
    for (const ips of [null, ['11.0.0.0/8'], ['10.0.0.0/7'], ['10.1.0.0/16', '::/0']]) {
      expect(await refusal(await desk.request('keys.update', person, { id, ips }))).toMatchObject({ status: 403 })
    }
    expect(await desk.call('keys.update', person, { id, ips: ['10.1.0.0/16'] })).toMatchObject({ ips: ['10.1.0.0/16'] })
  })
  test('sees that what is said with a key of theirs is captured, and may end that, in the audit', async () => {
    const person = await desk.join('Kanha', 'member', limits)
    const { key, secret } = await desk.call('keys.create', person, { label: 'private' })
    const { id } = key
    expect(key.capture).toBe('none')
    expect((await desk.call('keys.update', desk.admin, { id, capture: 'content' })).capture).toBe('content')
    expect((await desk.call('keys.get', person, { id })).capture).toBe('content')
    const history = await desk.get('/v1/usage/history', { 'x-api-key': secret })
    expect(await history.json()).toMatchObject({ key: { capture: 'content' } })
    expect((await desk.call('keys.update', person, { id, label: 'still' })).capture).toBe('content')
    expect((await desk.call('keys.update', person, { id, capture: 'none' })).capture).toBe('none')
    const { items } = await desk.call('audit.list', desk.admin, { target: id })
    const changes = items.map(({ actor, before, after }) => [
      actor.name,
      asObject(before).capture,
      asObject(after).capture,
    ])
    expect(changes).toEqual([
      ['Kanha', 'content', undefined],
      ['Kanha', 'content', 'content'],
      ['Ada', undefined, 'content'],
      ['Kanha', undefined, undefined],
    ])
    const stranger = await desk.join('Other', 'member', limits)
    expect((await desk.request('keys.update', stranger, { id, capture: 'content' })).status).toBe(404)
  })
  test('whose models are patterns: what lies within them by letter lies within them by every model', () => {
    const letter = fc.constantFrom('a', 'b', '-')
    const pattern = fc.array(fc.oneof(letter, fc.constant('*')), { maxLength: 6 }).map((pieces) => pieces.join(''))
    const id = fc.array(letter, { maxLength: 6 }).map((letters) => letters.join(''))
    fc.assert(
      fc.property(pattern, pattern, id, (wide, narrow, model) => {
        const within = permits({ models: [wide] }, narrow)
        if (within && permits({ models: [narrow] }, model)) expect(permits({ models: [wide] }, model)).toBe(true)
      }),
      { numRuns: 5_000 },
    )
  })
})

test('a pattern under a brand is kept in the words of the catalogue, and opens what it names', async () => {
  const branded = await startDesk({ config: { brands: [{ neutral: 'vendorA', branded: 'claude' }] } })
  try {
    const { key, secret } = await branded.call('keys.create', branded.admin, { label: 'x', models: ['claude-haiku-*'] })
    expect(key.models).toEqual(['vendorA-haiku-*'])
    const response = await branded.get('/v1/models', { 'x-api-key': secret })
    const { data } = (await response.json()) as { data: { id: string }[] }
    expect(data.map(({ id }) => id)).toEqual(['vendorA-haiku-4-5'])
  } finally {
    await branded.stop()
  }
})
