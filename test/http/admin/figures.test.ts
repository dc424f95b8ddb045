// What the dashboard is told of traffic: exchanges and why they went where they went, sums, health, the live stream.

import { Database } from 'bun:sqlite'
import { beforeAll, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import type { Output } from '../../../src/admin-api/contract.ts'
import * as S from '../../../src/admin-api/schema.ts'
import { databasePath } from '../../../src/config.ts'
import { calendarOf, UTC } from '../../../src/lib/calendar.ts'
import { type Frame, FrameReader } from '../../../src/lib/sse.ts'
import { NOW } from '../../store/support.ts'
import { MESSAGE } from '../../support/provider/message.ts'
import { gate, json, type Script, type Scripted, sse, startScripted } from '../../support/provider/scripted.ts'
import { stopAfterAll } from '../../support/stopping.ts'
import { until } from '../../support/until.ts'
import { type Desk, expectShape, refusal, startDesk } from './support.ts'

const SECRET_PROMPT = 'the launch code is 0000'
const SECRET_ANSWER = 'understood, 0000 it is'
const PROVIDER_TEXT = 'internal detail of the provider'
const DAY_MS = 86_400_000

const answer = (input = 3, cached = 0, output = 2) =>
  json({
    ...MESSAGE,
    content: [{ type: 'text', text: SECRET_ANSWER }],
    usage: { input_tokens: input, cache_read_input_tokens: cached, output_tokens: output },
  })
const failure = (status: number) =>
  json({ type: 'error', error: { type: 'api_error', message: PROVIDER_TEXT } }, status)

/** An answer on the responses wire: what a fallback to the other vendor speaks. */
const response = (usage: object, more: object = {}) =>
  json({
    ...more,
    ...{ id: 'resp_1', object: 'response', created_at: 1, model: 'up', status: 'completed' },
    output: [
      {
        ...{ type: 'message', id: 'm', role: 'assistant', status: 'completed' },
        content: [{ type: 'output_text', text: 'hi', annotations: [] }],
      },
    ],
    usage,
  })

const hello = { model: 'auto', max_tokens: 10, messages: [{ role: 'user', content: SECRET_PROMPT }] }

let desk: Desk
let provider: Scripted
let scripts: Script[] = []
let own: { id: string; secret: string }
let foreign: { id: string; secret: string }

beforeAll(async () => {
  provider = await startScripted(() => scripts.shift() ?? answer())
  desk = await startDesk({
    vendorA: `${provider.origin}?token=hidden`,
    vendorB: `${provider.origin}/v1`,
    config: {
      fallbacks: { 'vendorA-opus-4-8': ['vendorB-5.5'] },
    },
    clock,
  })
})
stopAfterAll(() => [desk, provider])
beforeEach(async () => {
  scripts = []
  own = await desk.issue({ label: 'own', ownerId: desk.member.member.id, tokensTotal: 100_000 })
  foreign = await desk.issue({ label: 'foreign' })
})

const ask = async (secret: string, body: object = hello): Promise<Response> => {
  const response = await desk.post('/v1/messages', body, { 'x-api-key': secret })
  await response.text()
  await desk.idle()
  return response
}
/** What an admin is told of the exchange that this was the answer of. */
const explained = (response: Response) =>
  desk.call('exchanges.get', desk.admin, { id: response.headers.get('x-request-id') ?? '' })
const list = (input: object = {}) => desk.call('exchanges.list', desk.admin, input)
/** From noon on, so that no day ends while the tests run. */
const clock = (): number => NOW + Math.round(performance.now() - BEGUN)
const BEGUN = performance.now()
const TODAY = new Date(NOW).toISOString().slice(0, 10)

describe('an exchange', () => {
  test('is listed and explained: checks, quota before and after, route, attempt; neither prompt nor answer', async () => {
    scripts = [answer(100, 40, 7)]
    const response = await ask(own.secret)
    const id = response.headers.get('x-request-id') ?? ''
    const { items } = await list({ key: own.id })
    expect(items).toMatchObject([
      {
        ...{ id, model: 'vendorA-opus-4-8', wire: 'messages', outcome: 'done', status: 200, attempts: 1 },
        ...{ input: 100, cache_read: 40, output: 7, tokens: 147, estimated: false, key: { id: own.id, label: 'own' } },
        ...{ cost_micro_usd: 100 * 5 + 20 + 7 * 25, cost_khr: Math.round((695 * 4100) / 1e6) },
      },
    ])
    const told = await desk.call('exchanges.get', desk.admin, { id })
    expect(told.exchange).toEqual(items[0] as Output<'exchanges.get'>['exchange'])
    expect(told.checks.map(({ name, passed }) => [name, passed])).toEqual([
      ...['authentication', 'rate limit', 'request', 'model', 'permission', 'quota'].map(
        (name) => [name, true] as [string, boolean],
      ),
    ])
    expect(told.quota).toMatchObject({ billed: 147, left_before: 100_000, left_after: 99_853 })
    expect(told.route).toMatchObject({ mode: 'pass', client_wire: 'messages', provider_wire: 'messages' })
    expect(told.attempts).toMatchObject([
      { provider: 'vendor_a', account: 'main', result: 'answered', error_code: null },
    ])
    expect(told.raw_usage).toMatchObject({ input_tokens: 100 })
    expect(told.bill).toMatchObject({
      lines: [
        { what: 'input', count: 100, usd: 5, micro_usd: 500 },
        { what: 'cache_read', count: 40, usd: 0.5, micro_usd: 20 },
        { what: 'output', count: 7, usd: 25, micro_usd: 175 },
      ],
      ...{ long_context_above: null, factors: {} },
    })
    const text = JSON.stringify(told)
    for (const word of [SECRET_PROMPT, SECRET_ANSWER, own.secret]) expect(text).not.toContain(word)
  })
  test('has its bill by the model and in the class of service that answered', async () => {
    scripts = [
      failure(500),
      response({ input_tokens: 100, output_tokens: 10, total_tokens: 110, cost: 0.0005 }, { service_tier: 'flex' }),
    ]
    const told = await explained(await ask(own.secret))
    expect(told.raw_usage).toMatchObject({ service_tier: 'flex' })
    expect(told.exchange.cost_micro_usd).toBe(250 + 150)
    expect(told.bill).toMatchObject({
      lines: [
        { what: 'input', count: 100, usd: 2.5, micro_usd: 250 },
        { what: 'output', count: 10, usd: 15, micro_usd: 150 },
      ],
      ...{ factors: { flex: 0.5 }, told_micro_usd: 500 },
    })
    const id = told.exchange.id
    expect((await desk.call('exchanges.get', desk.member, { id })).bill?.told_micro_usd).toBeNull()
  })
  test('that moved to another target tells every attempt, by status and code and never by the provider’s text', async () => {
    scripts = [failure(500), response({ input_tokens: 5, output_tokens: 1, total_tokens: 6 })]
    const answered = await ask(own.secret, { ...hello, top_k: 5 })
    expect(answered.status).toBe(200)
    const told = await explained(answered)
    expect(told.attempts).toMatchObject([
      {
        provider: 'vendor_a',
        model: 'vendorA-opus-4-8',
        result: 'failed',
        error_code: 'upstream_error',
        provider_status: 500,
      },
      { provider: 'vendor_b', model: 'vendorB-5.5', result: 'answered', error_code: null },
    ])
    expect(told.route).toMatchObject({ mode: 'translate', provider_wire: 'responses' })
    expect(told.route.why.join(' ')).toContain('fallback')
    expect(told.dropped).toContain('top_k')
    expect(JSON.stringify(told)).not.toContain(PROVIDER_TEXT)
  })
  test('that a provider took on another of its wires went to one target', async () => {
    const message = 'This model is only supported in v1/responses and not in v1/chat/completions.'
    const figures = { input_tokens: 5, output_tokens: 1, total_tokens: 6 }
    scripts = [json({ error: { message, code: null } }, 404), response(figures)]
    const body = { model: 'vendorB-5.5', messages: hello.messages }
    const answered = await desk.post('/v1/chat/completions', body, { 'x-api-key': own.secret })
    expect([answered.status, await answered.text().then((text) => text.includes('hi'))]).toEqual([200, true])
    await desk.idle()
    const told = await explained(answered)
    expect(told.attempts.map(({ wire, result }) => [wire, result])).toEqual([
      ['chat-completions', 'failed'],
      ['responses', 'answered'],
    ])
    expect(told.route.why).toEqual([
      'The provider was reached on responses: the request was translated from chat-completions.',
      'A target was tried on two wires of its provider: the first would not do.',
    ])
  })
  test('that a provider took in another form was asked again on the same wire', async () => {
    const refusal = { code: 'unsupported_parameter', param: 'max_tokens', message: PROVIDER_TEXT }
    const choices = [{ index: 0, message: { role: 'assistant', content: 'hi' }, finish_reason: 'stop' }]
    const usage = { prompt_tokens: 5, completion_tokens: 1, total_tokens: 6 }
    scripts = [json({ error: refusal }, 400), json({ id: 'c', object: 'chat.completion', choices, usage })]
    const body = { model: 'vendorB-5.4', messages: hello.messages, max_tokens: 100 }
    const answered = await desk.post('/v1/chat/completions', body, { 'x-api-key': own.secret })
    expect(answered.status).toBe(200)
    await desk.idle()
    const told = await explained(answered)
    expect(told.attempts.map(({ wire, result }) => [wire, result])).toEqual([
      ['chat-completions', 'failed'],
      ['chat-completions', 'answered'],
    ])
    expect(told.route.why).toEqual([
      'The provider was reached on the wire of the client.',
      'A target was asked again in another form: it had refused the one before.',
    ])
  })
  test('tells a member no word of the provider’s, nor what the operator calls things', async () => {
    const code = 'code-of-the-provider'
    scripts = [
      json({ error: { type: 'server_error', code, message: PROVIDER_TEXT } }, 400, {
        'request-id': 'id-of-the-provider',
      }),
    ]
    const failed = (await ask(own.secret)).headers.get('x-request-id') ?? ''
    scripts = [answer(100, 20, 7)]
    const answered = (await ask(own.secret)).headers.get('x-request-id') ?? ''
    const hidden = [code, 'id-of-the-provider', 'main', 'input_tokens', PROVIDER_TEXT]
    for (const id of [failed, answered]) {
      const told = await desk.call('exchanges.get', desk.member, { id })
      for (const word of hidden) expect(JSON.stringify(told)).not.toContain(word)
      expect(told).toMatchObject({ exchange: { account: null }, route: { upstream_model: null }, raw_usage: null })
      expect(told.attempts).toMatchObject([{ account: null, provider_status: null, provider_code: null }])
    }
    expect((await desk.call('exchanges.get', desk.admin, { id: answered })).raw_usage).not.toBeNull()
    const { items } = await desk.call('exchanges.list', desk.member)
    expect(items.filter(({ account }) => account !== null)).toEqual([])
  })
  test('that failed keeps its attempts and bills nothing', async () => {
    scripts = [failure(400)]
    const response = await ask(own.secret)
    const told = await explained(response)
    expect(told.exchange).toMatchObject({ tokens: 0, attempts: 1, status: response.status })
    expect(told.attempts).toMatchObject([{ result: 'failed', provider_status: 400 }])
    expect(told.quota).toMatchObject({ billed: 0, left_before: 100_000, left_after: 100_000 })
  })
  test('whose answer broke off after it had begun says so', async () => {
    const start = { type: 'message', id: 'm', role: 'assistant', model: 'up', content: [], usage: { input_tokens: 3 } }
    const said = [
      { type: 'message_start', message: start },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Half' } },
    ]
    scripts = [sse(said.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`).join(''))]
    const response = await ask(own.secret, { ...hello, stream: true })
    const told = await explained(response)
    expect(told.exchange).toMatchObject({ outcome: 'failed', status: 200 })
    expect(told.route.why.join()).toContain('broke off')
  })
  test('of another’s key is not there for a member, in the list nor by its id', async () => {
    const id = (await ask(foreign.secret)).headers.get('x-request-id') ?? ''
    await ask(own.secret)
    const { items } = await desk.call('exchanges.list', desk.member)
    expect(items.length).toBeGreaterThan(0)
    const keys = await desk.call('keys.list', desk.member, { limit: 200 })
    const theirs = new Set(keys.items.map((key) => key.id))
    expect(items.every(({ key }) => theirs.has(key.id))).toBe(true)
    expect((await desk.request('exchanges.get', desk.member, { id })).status).toBe(404)
  })
  test('is found by every filter, and pages hold each once, newest first', async () => {
    scripts = [answer(), failure(400), answer(), answer(), failure(400)]
    for (let i = 0; i < 5; i++) await ask(own.secret)
    const ids: string[] = []
    for (let before: number | null | undefined; before !== null; ) {
      const page = await list({ key: own.id, limit: 2, ...(before === undefined ? {} : { before }) })
      expect(page.items.length).toBeLessThanOrEqual(2)
      ids.push(...page.items.map(({ id }) => id))
      before = page.next
    }
    expect(ids).toHaveLength(5)
    expect(new Set(ids).size).toBe(5)
    const whole = await list({ key: own.id })
    expect(ids).toEqual(whole.items.map(({ id }) => id))
    expect((await list({ key: own.id, outcome: 'done' })).items).toHaveLength(3)
    expect((await list({ key: own.id, model: 'vendorB-4o' })).items).toHaveLength(0)
    const all = (await list({ limit: 200 })).items
    for (const outcome of ['done', 'refused', 'failed', 'open'] as const) {
      const found = (await list({ outcome, limit: 200 })).items
      expect(found).toEqual(all.filter((item) => item.outcome === outcome))
    }
    const { started_at } = whole.items[2] ?? { started_at: '' }
    const since = (await list({ key: own.id, since: started_at })).items
    const until = (await list({ key: own.id, until: started_at })).items
    expect(since.every((item) => item.started_at >= started_at)).toBe(true)
    expect(since.length + until.length).toBe(5)
  })
})

describe('usage', () => {
  test('adds up, however it is cut: by nothing, by model, by key, for a key, for a member', async () => {
    scripts = [answer(100, 300, 5), answer(10, 0, 5)]
    await ask(own.secret)
    await ask(own.secret)
    await ask(foreign.secret)
    const reports = await Promise.all(
      (['none', 'model', 'key'] as const).map((by) => desk.call('usage.get', desk.admin, { by })),
    )
    for (const report of reports) {
      expect(report.totals).toEqual((reports[0] as Output<'usage.get'>).totals)
      const sum = report.series.reduce((tokens, { totals }) => tokens + totals.tokens, 0)
      expect(sum).toBe(report.totals.tokens)
      for (const { points, totals } of report.series) {
        expect(points.reduce((tokens, point) => tokens + point.tokens, 0)).toBe(totals.tokens)
        expect(points).toHaveLength(30)
      }
    }
    const one = await desk.call('usage.get', desk.admin, {
      key: own.id,
      step: 'hour',
      since: new Date(clock() - 3_600_000).toISOString(),
    })
    expect(one.totals).toMatchObject({ requests: 2, input: 110, cache_read: 300, output: 10, tokens: 420 })
    expect(one.cache_hit_share).toBeCloseTo(300 / 410)
    expect(one.latency.sampled).toBe(2)
    expect(one.latency.total_ms?.p50).toBeLessThanOrEqual(one.latency.total_ms?.p99 ?? -1)
    const { key } = await desk.call('keys.list', desk.admin, { search: own.id }).then(({ items: [key] }) => ({ key }))
    expect(key?.spark.at(-1)).toBe(420)
    expect(key?.last_used_at).not.toBeNull()
    expect((await desk.call('keys.usage', desk.member, { id: own.id })).series.map(({ group }) => group)).toEqual([
      'vendorA-opus-4-8',
    ])
    const theirs = await desk.call('usage.get', desk.member, { by: 'key' })
    expect(theirs.series.map(({ group }) => group)).not.toContain(foreign.id)
    expect(theirs.series.map(({ group }) => group)).toContain(own.id)
  })
  test('of more keys than a chart holds keeps the largest and puts the rest together', async () => {
    const keys = await Promise.all(Array.from({ length: 15 }, (_, i) => desk.issue({ label: `many ${i}` })))
    for (const [i, { secret }] of keys.entries()) {
      scripts = [answer(1_000_000 + i)]
      await ask(secret)
    }
    const { series, totals } = await desk.call('usage.get', desk.admin, {
      by: 'key',
      since: TODAY,
    })
    expect(series).toHaveLength(13)
    expect(series.at(-1)?.group).toBe('other')
    expect(series[0]).toMatchObject({ group: keys[14]?.id, label: 'many 14' })
    expect(series.reduce((tokens, each) => tokens + each.totals.tokens, 0)).toBe(totals.tokens)
  })
  test('puts first what costs most, or was asked for most often, where that is what is looked at', async () => {
    const dear = await desk.issue({ label: 'dear' })
    const often = await desk.issue({ label: 'often' })
    scripts = [answer(0, 0, 9_000_000)]
    await ask(dear.secret, { ...hello, max_tokens: 64_000 })
    const { series: known } = await desk.call('usage.get', desk.admin, { by: 'key', most: 'requests' })
    for (let i = 0; i <= (known[0]?.totals.requests ?? 0); i++) await ask(often.secret)
    const first = async (most: string) =>
      (await desk.call('usage.get', desk.admin, { by: 'key', since: TODAY, most })).series[0]?.group
    expect([await first('cost'), await first('requests')]).toEqual([dear.id, often.id])
  })
  test('in a table is of the days that were asked for, by model and by key', async () => {
    await ask(own.secret)
    const tomorrow = new Date(Date.parse(TODAY) + DAY_MS).toISOString()
    for (const by of ['model', 'key', 'day'] as const) {
      const sum = async (range: object) =>
        (await desk.call('usage.table', desk.admin, { by, ...range })).rows.reduce((all, row) => all + row.requests, 0)
      const all = await sum({})
      expect(all).toBeGreaterThan(0)
      expect([await sum({ since: TODAY, until: tomorrow }), await sum({ until: TODAY })]).toEqual([all, 0])
    }
    const none = await desk.request('usage.table', desk.admin, { since: TODAY, until: TODAY })
    expect(await refusal(none)).toMatchObject({ status: 400, message: 'since: expected a time before until.' })
    await ask(foreign.secret)
    const theirs = await desk.call('usage.table', desk.member, { by: 'key' })
    expect(theirs.rows.find(({ group }) => group === own.id)).toMatchObject({ requests: 1, tokens: 5 })
    expect(theirs.rows.some(({ group }) => group === foreign.id)).toBe(false)
    const one = await desk.call('usage.table', desk.member, { by: 'model' })
    const requests = (table: Output<'usage.table'>) => table.rows.reduce((sum, row) => sum + row.requests, 0)
    expect(requests(one)).toBe(requests(theirs))
    expect(one.rows.map(({ group }) => group)).toEqual([...new Set(one.rows.map(({ group }) => group))])
  })
  test('a key that is used for the first time has its own line at once where there are few', async () => {
    const groups = async () => {
      const { series } = await desk.call('usage.get', desk.admin, { by: 'key', model: 'vendorA-opus-4-7' })
      return series.map(({ group }) => group).sort()
    }
    await ask(own.secret, { ...hello, model: 'vendorA-opus-4-7' })
    expect(await groups()).toEqual([own.id])
    await ask(foreign.secret, { ...hello, model: 'vendorA-opus-4-7' })
    expect(await groups()).toEqual([own.id, foreign.id].sort())
  })
  test('the hours of a key that are past their keeping are told in days, and none is missing from its sums', async () => {
    const { store, ledger } = desk.server.gateway
    const dawn = NOW - (NOW % DAY_MS)
    const since = new Date(dawn - 2 * DAY_MS + 3_600_000).toISOString()
    await ask(own.secret)
    await ledger.flush()
    const asked = { id: own.id, since, step: 'hour' } as const
    expect(await desk.call('keys.usage', desk.admin, asked)).toMatchObject({ step: 'hour', totals: { requests: 1 } })
    const db = new Database(databasePath(desk.config))
    // As it would be had the key been used two days ago, and its hours been removed since.
    db.run(
      `INSERT INTO usage_days SELECT day - ?, key_id, model, requests, errors, input, cache_read, cache_write, output,
       reasoning, cost_micro_usd, fees_micro_usd FROM usage_days WHERE key_id = ?`,
      [2 * DAY_MS, own.id],
    )
    db.close()
    const whole = await desk.call('keys.usage', desk.admin, asked)
    expect(whole).toMatchObject({ step: 'day', totals: { requests: 2 } })
    expect(whole.since).toBe(new Date(dawn - 2 * DAY_MS).toISOString())
    expect(await desk.call('usage.get', desk.admin, { since, step: 'hour', key: own.id })).toMatchObject({
      step: 'day',
      totals: { requests: 2 },
    })
    expect(await desk.call('usage.get', desk.admin, { since, step: 'hour', by: 'key' })).toMatchObject({ step: 'day' })
    expect(await desk.call('usage.get', desk.admin, { since, step: 'hour' })).toMatchObject({ step: 'hour' })
    const recent = new Date(dawn).toISOString()
    expect(await desk.call('keys.usage', desk.admin, { ...asked, since: recent })).toMatchObject({ step: 'hour' })
    expect(await store.insight.hoursKept(dawn - 3 * DAY_MS)).toBe(false)
  })
  test('the holder of a key reads their own history with it, and nobody else’s', async () => {
    scripts = [answer(100, 300, 5)]
    await ask(own.secret)
    await ask(foreign.secret)
    const response = await desk.get('/v1/usage/history?days=7', { 'x-api-key': own.secret })
    const history = (await response.json()) as { days: { at: string; tokens: number }[]; models: object[]; key: object }
    expect(history.days).toHaveLength(7)
    expect(history.days.at(-1)).toMatchObject({ tokens: 405, requests: 1, cost_micro_usd: 100 * 5 + 150 + 5 * 25 })
    expect(history.models).toMatchObject([{ model: 'vendorA-opus-4-8', tokens: 405 }])
    expect(history.key).toEqual({
      capture: 'none',
      renews: null,
      budgets: [],
      time_zone: 'UTC',
      allowed_models: ['*'],
      limits: { rpm: null, tpm: null, concurrency: null },
    })
    const monthly = { label: 'monthly', renews: 'month', models: ['vendorA-*'], rpm: 5 } as const
    const { secret } = await desk.call('keys.create', desk.admin, { ...monthly, models: [...monthly.models] })
    const terms = await (await desk.get('/v1/usage/history', { 'x-api-key': secret })).json()
    expect(terms).toMatchObject({
      key: { renews: { every: 'month' }, allowed_models: ['vendorA-*'], limits: { rpm: 5, tpm: null } },
    })
    expect(new Date((terms as { key: { renews: { at: string } } }).key.renews.at).getUTCDate()).toBe(1)
    expect((await desk.get('/v1/usage/history?days=0', { 'x-api-key': own.secret })).status).toBe(400)
    expect((await fetch(`${desk.url}/v1/usage/history`)).status).toBe(401)
  })
})

describe('what serves', () => {
  test('models and accounts tell health and prices and never a credential', async () => {
    await ask(own.secret)
    const models = await desk.call('models.list', desk.admin)
    const opus = models.items.find(({ id }) => id === 'vendorA-opus-4-8')
    expect(opus).toMatchObject({
      aliases: ['auto'],
      available: true,
      price: { input: 5, output: 25 },
      fallbacks: ['vendorB-5.5'],
    })
    expect(opus?.targets.map(({ provider }) => provider)).toEqual(['vendor_a', 'vendor_b'])
    const accounts = await desk.call('accounts.list', desk.admin)
    expect(accounts.items.map(({ provider, name }) => `${provider}/${name}`)).toEqual([
      'vendor_a/main',
      'vendor_b/main',
    ])
    expect(accounts.items[0]).toMatchObject({ base_url: provider.origin, in_flight: 0, state: 'closed' })
    const settings = await desk.call('settings.get', desk.admin)
    const text = JSON.stringify([models, accounts, settings])
    for (const secret of ['secret-a', 'secret-b', 'hidden']) expect(text).not.toContain(secret)
    expect((await desk.call('models.list', desk.member)).items.every(({ targets }) => targets.length === 0)).toBe(true)
  })
  test('an account that keeps failing is shown as open, with since when', async () => {
    const before = await desk.call('accounts.list', desk.admin)
    expect(before.items.map(({ state }) => state)).toEqual(['closed', 'closed'])
    scripts = [answer(), ...Array.from({ length: 10 }, () => failure(500))]
    await ask(own.secret)
    const asked = clock()
    for (let i = 0; i < 5; i++) await ask(own.secret, { ...hello, model: 'vendorA-haiku-4-5' })
    const { items } = await desk.call('accounts.list', desk.admin)
    expect(items[0]).toMatchObject({ provider: 'vendor_a', state: 'open' })
    const haiku = () => items[0]?.models.find(({ model }) => model === 'vendorA-haiku-4-5')
    expect(haiku()).toMatchObject({ state: 'open', in_flight: 0, failures: 5 })
    expect(Date.parse(haiku()?.failing_since ?? '')).toBeWithin(asked, clock() + 1)
    const opus = items[0]?.models.find(({ model }) => model === 'vendorA-opus-4-8')
    expect(opus).toMatchObject({ failures: 0, failing_since: null })
  })
  test('an account shows what only its owner can mend, until it answers again', async () => {
    const trouble = async () => {
      const { items } = await desk.call('accounts.list', desk.admin)
      return items[0]?.models.find(({ model }) => model === 'vendorA-sonnet-5')?.trouble
    }
    const refusal = (status: number, message: string) =>
      json({ type: 'error', error: { type: 'invalid_request_error', message } }, status)
    const asked = { ...hello, model: 'vendorA-sonnet-5' }
    const upstream = desk.server.gateway.catalogue.resolve('vendorA-sonnet-5')?.upstream ?? ''
    for (const [script, due] of [
      [refusal(400, 'Your credit balance is too low.'), { what: 'no_money', upstream: null }],
      [refusal(404, `model: ${upstream}`), { what: 'unknown_model', upstream }],
      [answer(), null],
    ] as const) {
      scripts = [script]
      await ask(own.secret, asked)
      expect(await trouble()).toEqual(due)
    }
  })
  test('an account does not answer for another whose name goes on from its own', async () => {
    const { health, providers } = desk.server.gateway
    const vendor = providers.get('vendor_a')
    const [main] = vendor?.accounts ?? []
    if (vendor === undefined || main === undefined) throw new Error('vendor_a has no account')
    vendor.accounts.push({ ...main, name: 'main/eu' })
    const begunAt = health.begin('vendor_a/main/eu/vendorA-opus-4-7')
    const { items } = await desk.call('accounts.list', desk.admin)
    health.ended('vendor_a/main/eu/vendorA-opus-4-7', begunAt)
    vendor.accounts.pop()
    expect(items.map(({ name, in_flight }) => [name, in_flight])).toEqual([
      ['main', 0],
      ['main/eu', 1],
      ['main', 0],
    ])
  })
  test('what is open in the process comes back to rest', async () => {
    const hold = gate()
    const held = answer()
    scripts = [{ ...held, steps: [hold, ...(held.steps as string[])] }]
    const index = provider.requests.length
    const running = ask(own.secret, { ...hello, model: 'vendorA-sonnet-5' })
    await provider.arrived(index)
    expect(await desk.call('state', desk.admin)).toMatchObject({
      open_exchanges: 1,
      open_reservations: 1,
      provider_attempts: 1,
    })
    expect((await desk.call('keys.get', desk.admin, { id: own.id })).tokens_held).toBeGreaterThan(0)
    hold.open()
    await running
    expect(await desk.call('state', desk.admin)).toMatchObject({
      open_exchanges: 0,
      open_reservations: 0,
      provider_attempts: 0,
    })
  })
})

describe('settings', () => {
  test('are in force at once, told as set here, in the audit, and go back to the configuration', async () => {
    const rate = async () =>
      ((await (await desk.get('/v1/usage')).json()) as { rate: { khr_per_usd: number } }).rate.khr_per_usd
    expect(await rate()).toBe(4100)
    const key_defaults = { tokens_total: 42, expires_days: 2, models: ['auto'] }
    const set = await desk.call('settings.put', desk.admin, {
      khr_per_usd: 4000,
      key_defaults,
      limits: { rpm: 1, tpm: 0, concurrency: 0 },
    })
    expect(set).toMatchObject({ khr_per_usd: 4000, overridden: ['khr_per_usd', 'limits', 'key_defaults'] })
    expect(await rate()).toBe(4000)
    const { key } = await desk.call('keys.create', desk.admin, { label: 'by default' })
    expect(key).toMatchObject({ tokens_total: 42, models: ['vendorA-opus-4-8'] })
    const limited = await desk.issue()
    expect([(await ask(limited.secret)).status, (await ask(limited.secret)).status]).toEqual([200, 429])
    const beside = await desk.call('settings.put', desk.admin, {
      limits: { tpm: 9_000_000 },
      key_defaults: { expires_days: 3 },
    })
    expect(beside).toMatchObject({
      limits: { rpm: 1, tpm: 9_000_000, concurrency: 0 },
      key_defaults: { tokens_total: 42, expires_days: 3, models: ['vendorA-opus-4-8'] },
    })
    const back = await desk.call('settings.put', desk.admin, { khr_per_usd: null, key_defaults: null, limits: null })
    expect(back).toMatchObject({ khr_per_usd: 4100, overridden: [] })
    expect((await ask(limited.secret)).status).toBe(200)
    const { items } = await desk.call('audit.list', desk.admin, { target: 'khr_per_usd' })
    expect(items.map(({ before, after }) => [before, after])).toEqual([
      [4000, null],
      [null, 4000],
    ])
    // The configuration's own object is nobody's to change.
    expect(desk.config).toMatchObject({ khrPerUsd: 4100, limits: { rpm: 0 } })
  })
})

async function* framesOf(bytes: ReadableStream<Uint8Array>): AsyncGenerator<Frame> {
  const reader = new FrameReader()
  for await (const chunk of bytes) yield* reader.push(chunk)
}

test('what accounts cost in thirty days is what usage says of the same days, today the last of them', async () => {
  scripts = [answer(100, 40, 7)]
  await ask(own.secret)
  const { gateway } = desk.server
  const kept = gateway.clock
  const sums: number[][] = []
  try {
    for (const days of [0, 29, 30, 31]) {
      const now = NOW + days * DAY_MS
      Object.assign(gateway, { clock: () => now })
      const since = new Date(now - 29 * DAY_MS).toISOString().slice(0, 10)
      const until = new Date(now).toISOString()
      const { totals } = await desk.call('usage.get', desk.admin, { since, until, step: 'day', by: 'none' })
      const { items } = await desk.call('accounts.list', desk.admin)
      expect(new Set(items.map(({ spent_since }) => spent_since.slice(0, 10)))).toEqual(new Set([since]))
      sums.push([items.reduce((sum, { spent_micro_usd }) => sum + spent_micro_usd, 0), totals.cost_micro_usd])
    }
  } finally {
    Object.assign(gateway, { clock: kept })
  }
  for (const [ofAccounts, ofAll] of sums) expect(ofAccounts).toBe(ofAll ?? -1)
  expect(sums.map(([cost = 0]) => cost > 0)).toEqual([true, true, false, false])
})

test('usage without a range is of thirty days, today or the last of them included', async () => {
  const spanOf = async (asked: { until?: string; step?: 'hour' | 'day' }): Promise<[string, string]> => {
    const { since, until } = await desk.call('usage.get', desk.admin, { by: 'none', ...asked })
    return [since, until]
  }
  const today = Math.floor(desk.server.gateway.clock() / DAY_MS) * DAY_MS
  const dayAt = (days: number): string => new Date(today + days * DAY_MS).toISOString()
  expect(await spanOf({})).toEqual([dayAt(-29), dayAt(1)])
  expect(await spanOf({ until: dayAt(0) })).toEqual([dayAt(-30), dayAt(0)])
  expect((await spanOf({ step: 'hour' }))[0]).toBe(dayAt(-29))
})

describe('the live stream', () => {
  const watch = async (person: Desk['admin']) => {
    const response = await desk.request('live', person)
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    const frames = framesOf(response.body as ReadableStream<Uint8Array>)
    return {
      response,
      next: async (event: string): Promise<unknown> => {
        for (;;) {
          const { value, done } = await frames.next()
          if (done) return undefined
          if (value?.event === event) return JSON.parse(value.data)
        }
      },
      stop: () => frames.return?.(undefined),
    }
  }
  test('shows an exchange as it ends, to an admin and its owner, and ends without a trace', async () => {
    // What was refused before is told of once it is written, which is before it is read.
    await list({ outcome: 'refused' })
    const [admin, member] = [await watch(desk.admin), await watch(desk.member)]
    const counters = await admin.next('counters')
    expectShape(S.Counters, counters)
    expect((await desk.call('state', desk.admin)).live_streams).toBe(2)
    await ask(foreign.secret)
    await ask(own.secret)
    const [first, second] = [await admin.next('exchange'), await admin.next('exchange')]
    expectShape(S.Exchange, first)
    expect(first).toMatchObject({ key: { id: foreign.id }, outcome: 'done' })
    expect(second).toMatchObject({ key: { id: own.id } })
    expect(await member.next('exchange')).toEqual({ ...(second as S.Exchange), account: null })
    const { items } = await list({ key: own.id })
    expect(items[0]).toEqual({ ...(second as S.Exchange), ended_at: items[0]?.ended_at ?? null })
    await Promise.all([admin.stop(), member.stop()])
    await until(async () => (await desk.call('state', desk.admin)).live_streams <= 0)
  })
  test('is open six times for one session or token at most, and again once one has ended', async () => {
    const { secret } = await desk.server.gateway.membership.issueToken('watch', undefined, desk.admin.member)
    for (const person of [desk.admin, { ...desk.admin, headers: { authorization: `Bearer ${secret}` } }]) {
      const begun = async (by: Desk['admin']) => {
        const watching = await watch(by)
        await watching.next('counters')
        return watching
      }
      const open = await Promise.all(Array.from({ length: 6 }, () => begun(person)))
      const seventh = await desk.request('live', person)
      expect([seventh.status, seventh.headers.get('x-gateway-error-code')]).toEqual([429, 'rate_limit_exceeded'])
      expect(Number(seventh.headers.get('retry-after'))).toBeGreaterThan(0)
      const another = await begun(await desk.signedIn(desk.admin.member))
      await another.stop()
      await open.pop()?.stop()
      await until(async () => (await desk.call('state', desk.admin)).live_streams <= 5)
      open.push(await begun(person))
      await Promise.all(open.map((each) => each.stop()))
      await until(async () => (await desk.call('state', desk.admin)).live_streams <= 0)
    }
  })
  test('has no body for HEAD, and leaves nothing watching', async () => {
    const response = await fetch(`${desk.url}/admin/api/live`, { method: 'HEAD', headers: desk.admin.headers })
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8'])
    expect((await desk.call('state', desk.admin)).live_streams).toBe(0)
  })
  test('tells reasoning, and the cost by the prices of the model that answered', async () => {
    const admin = await watch(desk.admin)
    scripts = [
      failure(500),
      response({ input_tokens: 1_000, output_tokens: 900, output_tokens_details: { reasoning_tokens: 700 } }),
    ]
    await ask(foreign.secret)
    const told = (await admin.next('exchange')) as S.Exchange
    const { items } = await list({ key: foreign.id })
    expect(told).toEqual({ ...told, ...items[0], ended_at: told.ended_at })
    expect(told).toMatchObject({ model: 'vendorA-opus-4-8', provider: 'vendor_b', reasoning: 700, output: 900 })
    const served = desk.server.gateway.catalogue.resolve('vendorB-5.5')?.price ?? { input: 0, output: 0 }
    expect(told.cost_micro_usd).toBe(1_000 * served.input + 900 * served.output)
    await admin.stop()
  })
  test('counts for a member what their own keys do, for an admin everything', async () => {
    const counted = async (person: Desk['admin']): Promise<S.Counters> => {
      const stream = await watch(person)
      const counters = (await stream.next('counters')) as S.Counters
      await stream.stop()
      return counters
    }
    const before = [await counted(desk.admin), await counted(desk.member)] as const
    scripts = [failure(400)]
    await ask(own.secret)
    await ask(own.secret)
    await ask(foreign.secret)
    const hold = gate()
    scripts = [own, own, foreign].map(() => ({ ...answer(), steps: [hold, ...(answer().steps as string[])] }))
    const index = provider.requests.length
    const running = [own, own, foreign].map(({ secret }) => ask(secret))
    await Promise.all([0, 1, 2].map((i) => provider.arrived(index + i)))
    const after = [await counted(desk.admin), await counted(desk.member)] as const
    expect(after.map(({ finished }, i) => finished - (before[i]?.finished ?? 0))).toEqual([3, 2])
    expect(after.map(({ errors }, i) => errors - (before[i]?.errors ?? 0))).toEqual([1, 1])
    expect(after.map((counters) => counters.open_exchanges)).toEqual([3, 2])
    hold.open()
    await Promise.all(running)
  })
  test('ends when the right to see it does', async () => {
    const person = await desk.join('Short', 'admin')
    const stream = await watch(person)
    await desk.call('members.update', desk.admin, { id: person.member.id, role: 'member' })
    expect(await stream.next('exchange')).toBeUndefined()
  })
  test('ends where nobody can say whether the right to see it is still there', async () => {
    const stream = await watch(await desk.join('Unknown', 'admin'))
    const asking = spyOn(desk.server.gateway.membership, 'session').mockRejectedValue(new Error('no database'))
    try {
      expect(await stream.next('exchange')).toBeUndefined()
    } finally {
      asking.mockRestore()
    }
  })
})

test('the time before has as many days, also where the clocks were changed in it', async () => {
  let now = Date.UTC(2026, 2, 2, 22, 30)
  const timeZone = 'Europe/Berlin'
  const config = { timeZone, calendar: calendarOf(timeZone) ?? UTC }
  const there = await startDesk({ vendorA: provider.origin, config, clock: () => now })
  const key = await there.issue({ label: 'k' })
  const used = async (at: number): Promise<void> => {
    now = at
    const headers = { 'x-api-key': key.secret }
    await (await there.post('/v1/messages', hello, headers)).text()
    await there.idle()
  }
  // The 29 days before the first of April begin on the third of March.
  for (const at of [now, Date.UTC(2026, 2, 3, 12), Date.UTC(2026, 2, 31, 12)]) await used(at)
  const admin = await there.signedIn(there.admin.member)
  const asked = { since: '2026-04-01', until: '2026-04-30', compare: true }
  for (const input of [asked, { ...asked, key: key.id }]) {
    const { step, before } = await there.call('usage.get', admin, input)
    expect([step, before?.totals.requests]).toEqual(['day', 2])
  }
  await there.stop()
})
