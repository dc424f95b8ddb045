// A refused request is a row: found by the id its client was given, with the check it did not pass and what it was told; counted.

import { beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { MANUAL, withTables } from '../../../scripts/failures.ts'
import type { Output } from '../../../src/admin-api/contract.ts'
import { type Frame, FrameReader } from '../../../src/lib/sse.ts'
import { MESSAGE } from '../../support/provider/message.ts'
import { json, type Script, type Scripted, startScripted } from '../../support/provider/scripted.ts'
import { stopAfterAll } from '../../support/stopping.ts'
import { type Desk, refusal, startDesk } from './support.ts'

const PROVIDER_TEXT = 'a word of the provider'
const WHISPER = 'nobody else may read this prompt'
const answer = () =>
  json({
    ...MESSAGE,
    content: [{ type: 'text', text: 'yes' }],
    usage: { input_tokens: 3, output_tokens: 2 },
  })
const hello = { model: 'vendorA-opus-4-8', max_tokens: 10, messages: [{ role: 'user', content: WHISPER }] }

let desk: Desk
let provider: Scripted
let scripts: Script[] = []
beforeAll(async () => {
  provider = await startScripted(() => scripts.shift() ?? answer())
  desk = await startDesk({ vendorA: provider.origin, config: { bodyLimitBytes: 200_000 } })
})
stopAfterAll(() => [desk, provider])
beforeEach(() => {
  scripts = []
})

type Made = { id: string; secret: string }
const mine = (more: Parameters<Desk['issue']>[0] = {}): Promise<Made> =>
  desk.issue({ label: 'mine', ownerId: desk.member.member.id, ...more })

const ask = async ({ secret }: Made, body: unknown = hello, headers = {}) => {
  const response = await desk.post('/v1/messages', body, { 'x-api-key': secret, ...headers })
  const id = response.headers.get('x-request-id') ?? ''
  const { error } = (await response.json()) as { error?: { code: string; message: string } }
  await desk.idle()
  return { id, status: response.status, code: error?.code, message: error?.message }
}
const found = (id: string, who = desk.admin) => desk.call('exchanges.get', who, { id })
const failedOf = ({ checks }: Output<'exchanges.get'>) => checks.filter(({ passed }) => !passed)

const ONE = { rpm: 1 }
const KINDS: [string, number, Parameters<Desk['issue']>[0], unknown, string][] = [
  ['no JSON', 400, {}, '{"model": ', 'request'],
  ['no request of the wire', 400, {}, { ...hello, messages: 7 }, 'request'],
  ['nothing left', 402, { tokensTotal: 0 }, hello, 'quota'],
  ['a model of others', 403, { models: ['vendorA-haiku-4-5'] }, hello, 'permission'],
  ['a network of others', 403, { ips: ['203.0.113.0/24'] }, hello, 'address'],
  ['no such model', 404, {}, { ...hello, model: 'vendorZ-1' }, 'model'],
  ['too much', 413, {}, { ...hello, messages: [{ role: 'user', content: 'x'.repeat(300_000) }] }, 'body size'],
]

test.each(KINDS)('%s (%d) is found by its id, listed, and says which check it did not pass', async (...kind) => {
  const [, status, more, body, check] = kind
  const key = await mine(more)
  const got = await ask(key, body)
  expect(got.status).toBe(status)
  for (const who of [desk.admin, desk.member]) {
    const told = await found(got.id, who)
    expect(failedOf(told)).toEqual([{ name: check, passed: false, detail: got.message ?? '' }])
    expect(told.checks[0]).toMatchObject({ name: 'authentication', passed: true })
    expect(told.failure?.happened).toContain(got.message ?? '')
    expect(told.exchange).toMatchObject({ outcome: 'refused', status, error_code: got.code, address: '127.0.0.1' })
    expect(told.quota).toBeNull()
    expect(JSON.stringify(told)).not.toContain(WHISPER)
    const { items } = await desk.call('exchanges.list', who, { outcome: 'refused', key: key.id })
    expect(items).toEqual([told.exchange])
  }
  const { refused, error_share } = await desk.call('keys.usage', desk.member, { id: key.id })
  expect([refused, error_share]).toEqual([[{ code: got.code ?? '', count: 1 }], 1])
})

test('too many (429) and too busy (503) are refused before their bodies are read, and found all the same', async () => {
  const key = await mine(ONE)
  expect((await ask(key)).status).toBe(200)
  const limited = await ask(key)
  expect([limited.status, failedOf(await found(limited.id))[0]?.name]).toEqual([429, 'rate limit'])
  desk.server.gateway.draining = true
  const busy = await ask(key)
  desk.server.gateway.draining = false
  const told = await found(busy.id)
  expect([busy.status, failedOf(told)[0]?.name, told.route.why]).toEqual([
    503,
    'capacity',
    ['It came to /v1/messages and was refused before any provider was called.'],
  ])
})

test('a count that is refused is a row too; a key nobody knows is none', async () => {
  const key = await mine({ models: ['vendorA-haiku-4-5'] })
  const counting = await desk.post('/v1/messages/count_tokens', hello, { 'x-api-key': key.secret })
  expect(counting.status).toBe(403)
  expect((await found(counting.headers.get('x-request-id') ?? '')).route.why[0]).toContain('count_tokens')
  const unknown = await desk.post('/v1/messages', hello, { 'x-api-key': 'sk-sl-nobody' })
  const missing = await desk.request('exchanges.get', desk.admin, { id: unknown.headers.get('x-request-id') ?? '' })
  expect((await refusal(missing)).status).toBe(404)
})

test('what was refused to others is not there for a member', async () => {
  const foreign = await desk.issue({ label: 'foreign', tokensTotal: 0 })
  const { id } = await ask(foreign)
  expect((await desk.request('exchanges.get', desk.member, { id })).status).toBe(404)
  const { items } = await desk.call('exchanges.list', desk.member, { outcome: 'refused', limit: 200 })
  expect(items.map((each) => each.id)).not.toContain(id)
})

test('the overview counts it beside what failed, in no sum', async () => {
  const before = await desk.call('usage.get', desk.admin)
  const key = await mine(ONE)
  scripts = [json({ type: 'error', error: { type: 'api_error', message: PROVIDER_TEXT } }, 400)]
  await ask(key)
  for (let i = 0; i < 3; i++) await ask(key)
  const after = await desk.call('usage.get', desk.admin)
  const limited = (of: typeof after) => of.refused.find(({ code }) => code === 'rate_limit_exceeded')?.count ?? 0
  const all = (of: typeof after) => of.refused.reduce((sum, { count }) => sum + count, 0)
  expect(limited(after) - limited(before)).toBe(3)
  expect(after.totals.requests - before.totals.requests).toBe(1)
  expect(after.error_share).toBe((after.totals.errors + all(after)) / (after.totals.requests + all(after)))
})

test('a flood of one key is answered as fast as ever, kept within its bound and counted whole', async () => {
  const key = await mine(ONE)
  await ask(key)
  const flood = 1_200
  for (let at = 0; at < flood; at += 100)
    await Promise.all(
      Array.from({ length: 100 }, () =>
        desk.post('/v1/messages', hello, { 'x-api-key': key.secret }).then((response) => response.arrayBuffer()),
      ),
    )
  const { refused } = await desk.call('keys.usage', desk.admin, { id: key.id })
  expect(refused).toEqual([{ code: 'rate_limit_exceeded', count: flood }])
  let kept = 0
  for (let before: number | undefined; ; ) {
    const asked = { outcome: 'refused', key: key.id, limit: 200, ...(before === undefined ? {} : { before }) }
    const page = await desk.call('exchanges.list', desk.admin, asked)
    kept += page.items.length
    if (page.next === null) break
    before = page.next
  }
  expect(kept).toBe(1_000)
})

test('it is in the live view and its counters', async () => {
  const response = await desk.request('live', desk.member)
  const reader = response.body?.getReader()
  if (reader === undefined) throw new Error('no stream')
  const frames = new FrameReader()
  const come: Frame[] = []
  const next = async (event: string) => {
    for (;;) {
      const frame = come.shift()
      if (frame?.event === event) return JSON.parse(frame.data)
      if (frame !== undefined) continue
      const { value, done } = await reader.read()
      if (done) throw new Error('it ended')
      come.push(...frames.push(value))
    }
  }
  const begun = await next('counters')
  const { id } = await ask(await mine({ tokensTotal: 0 }))
  expect(await next('exchange')).toMatchObject({ id, outcome: 'refused', status: 402 })
  const after = await next('counters')
  expect([after.finished - begun.finished, after.errors - begun.errors]).toEqual([1, 1])
  await reader.cancel()
})

test('it outlives a stop', async () => {
  const key = await mine({ tokensTotal: 0 })
  const { id } = await ask(key)
  await desk.server.gateway.refusals.flush()
  expect(await desk.server.gateway.store.exchanges({ limit: 1, id })).toMatchObject([{ id, keyId: key.id }])
})

describe('the page of what failed begins with what happened, why most often, and what to do', () => {
  const FAILURES: [number, object, RegExp, RegExp][] = [
    [401, { type: 'authentication_error' }, /vendor_a \/ main answered 401/, /credential/],
    [404, { type: 'not_found_error' }, /answered 404/, /upstream/],
    [429, { type: 'rate_limit_error' }, /answered 429/, /limits at the provider/],
    [529, { type: 'overloaded_error' }, /answered 529/, /overloaded/],
    [500, { type: 'api_error' }, /answered 500/, /provider itself failed/],
  ]
  test.each(FAILURES)('provider status %d', async (status, error, happened, why) => {
    scripts = Array.from({ length: 8 }, () =>
      json({ type: 'error', error: { ...error, message: PROVIDER_TEXT } }, status),
    )
    const { id } = await ask(await mine())
    const { failure } = await found(id)
    expect(failure?.happened).toMatch(happened)
    expect(failure?.why).toMatch(why)
    expect(failure?.todo).not.toBe('')
    const theirs = JSON.stringify((await found(id, desk.member)).failure)
    for (const word of ['main', 'vendor_a', PROVIDER_TEXT, 'credential']) expect(theirs).not.toContain(word)
    expect(theirs).toContain(id)
  })
  test('of what went well it says nothing', async () => {
    expect((await found((await ask(await mine())).id)).failure).toBeNull()
  })
  test('and the manual says the same: "bun run failures" makes its tables anew', async () => {
    const manual = await Bun.file(MANUAL).text()
    expect(manual).toBe(withTables(manual))
  })
})
