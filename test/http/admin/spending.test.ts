// Usage by member, team, account, provider and tag: as the admin API tells it, and to whom.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { MESSAGE } from '../../support/provider/message.ts'
import { json, type Scripted, startScripted } from '../../support/provider/scripted.ts'
import { type Desk, refusal, startDesk } from './support.ts'

let desk: Desk
let provider: Scripted
let teamId: string
const spend = async (secret: string, tag?: string) => {
  const body = { model: 'vendorA-opus-4-8', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }
  const headers = { 'x-api-key': secret, ...(tag === undefined ? {} : { 'x-gateway-tag': tag }) }
  const response = await desk.post('/v1/messages', body, headers)
  const text = await response.text()
  await desk.idle()
  return { status: response.status, text, id: response.headers.get('x-request-id') ?? '' }
}

beforeAll(async () => {
  provider = await startScripted(() =>
    json({
      ...MESSAGE,
      content: [{ type: 'text', text: 'yes' }],
      usage: { input_tokens: 100, output_tokens: 20 },
    }),
  )
  desk = await startDesk({ vendorA: provider.origin })
  const { store } = desk.server.gateway
  teamId = (await store.teams.add({ name: 'crew' }, { kind: 'cli', id: 'test' })).id
  await store.members.update(desk.member.member.id, { teamId }, { kind: 'cli', id: 'test' })
  const own = (await desk.issue({ label: 'own', ownerId: desk.member.member.id })).secret
  await spend(own, 'red')
  await spend(own, 'red')
  await spend(own)
  await spend((await desk.issue({ label: 'gateway' })).secret, 'blue')
})
afterAll(async () => {
  await desk.stop()
  await provider.stop()
})

const table = async (by: string, who = desk.admin) =>
  (await desk.call('usage.table', who, { by })).rows.map(({ label, requests, tokens }) => [label, requests, tokens])

test.each([
  [
    'member',
    [
      ["the gateway's own", 1, 120],
      ['Mia', 3, 360],
    ],
  ],
  [
    'team',
    [
      ['no team', 1, 120],
      ['crew', 3, 360],
    ],
  ],
  ['account', [['vendor_a/main', 4, 480]]],
  ['provider', [['vendor_a', 4, 480]]],
  [
    'tag',
    [
      ['no tag', 1, 120],
      ['blue', 1, 120],
      ['red', 2, 240],
    ],
  ],
])('by %s', async (by, rows) => {
  expect(new Set(await table(by))).toEqual(new Set(rows))
  const { series, totals } = await desk.call('usage.get', desk.admin, { by })
  expect(new Set(series.map(({ label, totals: sums }) => [label, sums.requests, sums.tokens]))).toEqual(new Set(rows))
  expect(totals.tokens).toBe(480)
})

test('each day of each account by itself is what it comes to together', async () => {
  const { rows } = await desk.call('usage.table', desk.admin, { by: 'account', daily: true })
  const day = new Date().toISOString().slice(0, 10)
  expect(rows).toMatchObject([{ day, label: 'vendor_a/main', requests: 4, tokens: 480 }])
  const refused = await refusal(await desk.request('usage.table', desk.admin, { by: 'key', daily: true }))
  expect([refused.status, refused.message]).toEqual([400, expect.stringContaining('Name one key')])
})

test('keys have their owners beside them', async () => {
  const { rows } = await desk.call('usage.table', desk.admin, { by: 'key' })
  expect(rows.map(({ label, owner }) => [label, owner]).sort()).toEqual([
    ['gateway', null],
    ['own', 'Mia'],
  ])
})

describe('a member', () => {
  test('sees what their own keys were tagged with', async () => {
    expect(new Set(await table('tag', desk.member))).toEqual(
      new Set([
        ['no tag', 1, 120],
        ['red', 2, 240],
      ]),
    )
  })
  test.each(['account', 'provider', 'team'])('is told nothing by %s', async (by) => {
    for (const name of ['usage.table', 'usage.get'] as const)
      expect((await refusal(await desk.request(name, desk.member, { by }))).status).toBe(403)
  })
})

test.each(['account', 'provider'])('by %s there is no single key', async (by) => {
  const [key] = desk.server.gateway.store.keys.list()
  const refused = await refusal(await desk.request('usage.table', desk.admin, { by, key: key?.id }))
  expect(refused).toMatchObject({ status: 400, message: expect.stringContaining('Leave the key out') })
})

describe('a tag', () => {
  const secret = async () => (await desk.issue({ label: 'tagged' })).secret
  test('is on its exchange', async () => {
    const { id } = await spend(await secret(), '  customer 7  ')
    expect((await desk.call('exchanges.get', desk.admin, { id })).exchange.tag).toBe('customer 7')
  })
  test.each(['x'.repeat(65), 'caf\u00e9'])(
    'of %p is refused with what it may be, before anything is spent',
    async (tag) => {
      const before = provider.requests.length
      const { status, text } = await spend(await secret(), tag)
      expect([status, JSON.parse(text).error.param]).toEqual([400, 'x-gateway-tag'])
      expect(provider.requests.length).toBe(before)
    },
  )
  test('reaches no provider', async () => {
    await spend(await secret(), 'for us alone')
    expect(JSON.stringify(provider.requests.at(-1))).not.toContain('for us alone')
  })
})

test('a group keeps its place, whatever others use', async () => {
  const places = async () =>
    Object.fromEntries(
      (await desk.call('usage.get', desk.admin, { by: 'key' })).series.map(({ label, place }) => [label, place]),
    )
  const before = await places()
  const dear = await desk.issue({ label: 'dear' })
  for (let i = 0; i < 5; i++) await spend(dear.secret)
  const after = await places()
  expect(after.dear).toBeGreaterThan(Math.max(...Object.values(before)))
  expect(after).toMatchObject(before)
})
