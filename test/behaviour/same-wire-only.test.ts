// Endpoints whose requests are never translated: they pass to providers of their own wire, admitted, limited, billed,
// failed over and refused as those of every other endpoint.

import { afterAll, beforeEach, describe, expect, spyOn, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import { blankProvider } from '../../src/provider/builtin.ts'
import type { Provider } from '../../src/provider/provider.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { modelOf, withModels } from '../support/models.ts'
import { type Script, type Scripted, startScripted } from '../support/provider/scripted.ts'

const json = (body: object, status = 200): Script => ({
  status,
  headers: { 'content-type': 'application/json' },
  steps: [JSON.stringify(body)],
})

const vectors = (usage?: object) =>
  json({ object: 'list', model: 'up-embed', data: [{ object: 'embedding', index: 0, embedding: [0.25, -1] }], usage })
const verdict = json({ id: 'modr-1', model: 'up-judge', results: [{ flagged: false, categories: {} }] })

const account = (name: string, baseUrl: string) => ({ name, baseUrl, credential: `secret-${name}`, weight: 1 })

let next: (index: number) => Script = () => vectors()
const provider: Scripted = await startScripted((_, index) => next(index))
const vendorB: Provider = {
  ...blankProvider('vendor_b'),
  wires: ['responses', 'embeddings', 'moderations'],
  accounts: [account('one', `${provider.origin}/v1`), account('two', `${provider.origin}/v1`)],
}
const elsewhere: Provider = { ...vendorB, id: 'elsewhere', wires: ['chat-completions'] }
const gateway: TestGateway = await startGateway({
  config: {
    providers: [vendorB, elsewhere],
    models: withModels(
      modelOf('embed', 'embedding'),
      modelOf('judge', 'moderation'),
      modelOf('mute', 'embedding', { provider: 'elsewhere' }),
    ),
  },
})
afterAll(async () => {
  await gateway.stop()
  await provider.stop()
})
beforeEach(() => {
  provider.requests.length = 0
})

const errorOf = async (response: Response) => {
  const { error } = (await response.json()) as { error: { code: string; message: string; param: string | null } }
  return { status: response.status, ...error }
}

/** The one row of an exchange, and what its key has used. */
const booked = async (response: Response, keyId: string) => {
  await response.arrayBuffer()
  await gateway.idle()
  const { store } = gateway.server.gateway
  const [row] = await store.exchanges({ limit: 1, id: response.headers.get('x-request-id') ?? '' })
  return { row, used: store.keys.get(keyId)?.tokensUsed }
}

/** Of one vector. */
const LONG = Array.from({ length: 1_500 }, (_, at) => Math.sin(at))

describe('embeddings', () => {
  const asked = '{ "input" : ["a lock", "a canal"], "model": "embed",  "dimensions":2, "unknown": 1.50 }'

  test('pass byte for byte, but for the name of the model', async () => {
    next = () => vectors({ prompt_tokens: 7, total_tokens: 7 })
    const response = await gateway.post('/v1/embeddings', asked)
    expect(await response.json()).toMatchObject({ object: 'list', model: 'embed', data: [{ embedding: [0.25, -1] }] })
    const [sent] = provider.requests
    expect(sent?.path).toBe('/v1/embeddings')
    expect(sent?.text).toBe(asked.replace('"embed"', '"up-embed"'))
  })

  test('are billed by the provider’s figures', async () => {
    next = () => vectors({ prompt_tokens: 7, total_tokens: 7 })
    const { id, secret } = await gateway.issue()
    const response = await gateway.post('/v1/embeddings', asked, { authorization: `Bearer ${secret}` })
    const { row, used } = await booked(response, id)
    expect(row).toMatchObject({ input: 7, output: 0, estimated: false, outcome: 'done', wire: 'embeddings' })
    expect(used).toBe(7)
    expect(row?.costMicroUsd).toBe(7)
  })

  test.each([
    ['texts', { input: 'x'.repeat(400) }, 100, undefined],
    ['tokens', { input: [Array.from({ length: 90 }, (_, at) => at)] }, 90, undefined],
    ['texts, of which they were not counted,', { input: 'x'.repeat(400) }, 100, { prompt_tokens: 0, total_tokens: 0 }],
  ])('without figures are billed by an estimate of the %s', async (_, more, least, usage) => {
    next = () => vectors(usage)
    const { id, secret } = await gateway.issue()
    const response = await gateway.post(
      '/v1/embeddings',
      { model: 'embed', ...more },
      { authorization: `Bearer ${secret}` },
    )
    const { row, used } = await booked(response, id)
    expect(row).toMatchObject({ output: 0, estimated: true })
    expect(used).toBeGreaterThanOrEqual(least)
    expect(used).toBeLessThan(least * 1.3)
  })

  test.each([
    ['tokens', [Array.from({ length: 90 }, (_, at) => at)]],
    ['text', 'a lock on a canal '.repeat(80)],
  ])('of more %s than the key has left are refused, and nobody is asked', async (_, input) => {
    const { secret } = await gateway.issue({ tokensTotal: 80 })
    const response = await gateway.post(
      '/v1/embeddings',
      { model: 'embed', input },
      { authorization: `Bearer ${secret}` },
    )
    expect(await errorOf(response)).toMatchObject({ status: 402, code: 'quota_exhausted' })
    expect(provider.requests).toEqual([])
  })

  test('that come as numbers are packed where they stand', async () => {
    next = () => json({ data: [null, { embedding: [1] }], usage: { prompt_tokens: 1 } })
    const response = await gateway.post('/v1/embeddings', { model: 'embed', input: 'a', encoding_format: 'base64' })
    expect(await response.json()).toMatchObject({ data: [null, { embedding: 'AACAPw==' }] })
  })

  test.each([
    ['packed', 'base64'],
    ['passed as they came', 'float'],
  ] as const)('of more than a megabyte are %s one by one: the answer is never parsed whole', async (_, format) => {
    const row = (index: number) => ({ object: 'embedding', index, embedding: [0.25, index, -1e-7, ...LONG] })
    const body = { object: 'list', model: 'up-embed', data: Array.from({ length: 120 }, (_, at) => row(at)) }
    next = () => json({ ...body, note: '[1, 2]', usage: { prompt_tokens: 3, total_tokens: 3 } })
    const parse = spyOn(JSON, 'parse')
    const { id, secret } = await gateway.issue()
    const asked = { model: 'embed', input: ['a'], encoding_format: format }
    const response = await gateway.post('/v1/embeddings', asked, { authorization: `Bearer ${secret}` })
    const text = await response.text()
    const longest = Math.max(...parse.mock.calls.map(([text]) => String(text).length))
    parse.mockRestore()
    const told = JSON.parse(text)
    expect([told.model, told.note, told.data.length]).toEqual(['embed', '[1, 2]', 120])
    for (const [at, { embedding }] of told.data.entries()) {
      const numbers = new Float32Array(row(at).embedding)
      expect(embedding).toEqual(
        format === 'base64' ? Buffer.from(numbers.buffer).toString('base64') : row(at).embedding,
      )
    }
    expect(longest).toBeLessThan(200_000)
    expect((await booked(new Response(), id)).used).toBe(3)
  })

  test('go to another account where the first fails, and say nothing of it', async () => {
    next = (index) => (index % 2 === 0 ? json({ error: { message: 'provider text' } }, 500) : vectors())
    const response = await gateway.post('/v1/embeddings', asked)
    expect(response.status).toBe(200)
    expect(new Set(provider.requests.map(({ headers }) => headers.authorization)).size).toBe(2)
  })

  test.each([
    ['a list without vectors', { object: 'list' }],
    ['an error that says 200', { error: { message: 'provider text', code: 'server_error' } }],
  ])('whose answer is %s fail in the gateway’s words', async (_, body) => {
    next = () => json(body)
    const error = await errorOf(await gateway.post('/v1/embeddings', asked))
    expect(error).toMatchObject({ status: 502, code: 'upstream_error' })
    expect(error.message).not.toContain('provider text')
  })

  test('that the provider refuses for what they hold are told so', async () => {
    next = () => json({ error: { message: 'provider text', code: 'content_policy_violation' } }, 400)
    expect(await errorOf(await gateway.post('/v1/embeddings', asked))).toMatchObject({
      status: 400,
      code: 'content_policy_violation',
    })
  })

  test.each<[number, JsonObject]>([
    [400, { error: { message: 'provider text', type: 'invalid_request_error', param: 'dimensions' } }],
    [422, { detail: [{ type: 'less_than', loc: ['body', 'dimensions'], msg: 'provider text' }] }],
    [400, { error: "'dimensions' is not supported" }],
  ])('that the provider refuses for a member name it, if the client has written it: %p %p', async (status, body) => {
    next = () => json(body, status)
    const error = await errorOf(await gateway.post('/v1/embeddings', asked))
    expect(error).toMatchObject({ status: 400, code: 'invalid_request', param: 'dimensions' })
    expect(error.message).not.toContain('provider text')
    const other = await errorOf(await gateway.post('/v1/embeddings', { model: 'embed', input: 'a' }))
    expect(other).toMatchObject({ status: 502, code: 'upstream_error' })
  })

  test.each([
    [{ model: 'embed' }, 'input'],
    [{ model: 'embed', input: [] }, 'input'],
    [{ input: 'a lock' }, 'model'],
    [{ model: 'embed', input: 'a lock', dimensions: 0 }, 'dimensions'],
  ])('%j is refused and names %s', async (body, param) => {
    expect(await errorOf(await gateway.post('/v1/embeddings', body))).toMatchObject({
      status: 400,
      code: 'invalid_request',
      param,
    })
    expect(provider.requests).toEqual([])
  })
})

describe('moderations', () => {
  test.each(['{"input":"a lock"}', '{"input":"a lock","model":null}'])(
    'name the first model that moderates and the key may use where the client names none: %s',
    async (body) => {
      next = () => verdict
      const response = await gateway.post('/v1/moderations', body)
      expect(await response.json()).toMatchObject({ model: 'judge', results: [{ flagged: false }] })
      expect(JSON.parse(provider.requests[0]?.text ?? '')).toEqual({ input: 'a lock', model: 'up-judge' })
    },
  )

  test('are 404 for a key that may use none', async () => {
    const { secret } = await gateway.issue({ models: ['embed'] })
    const response = await gateway.post('/v1/moderations', { input: 'a' }, { authorization: `Bearer ${secret}` })
    expect(await errorOf(response)).toMatchObject({ status: 404, code: 'invalid_model' })
  })

  test('count what they read against the quota', async () => {
    next = () => verdict
    const { id, secret } = await gateway.issue()
    const response = await gateway.post(
      '/v1/moderations',
      { model: 'judge', input: 'a lock on a canal' },
      { authorization: `Bearer ${secret}` },
    )
    const { row, used } = await booked(response, id)
    expect(row).toMatchObject({ output: 0, estimated: true, wire: 'moderations' })
    expect(used).toBeGreaterThan(0)
  })
})

const REQUESTS = [
  ['/v1/embeddings', { model: 'embed', input: 'a lock' }],
  ['/v1/moderations', { model: 'judge', input: 'a lock' }],
] as const

describe.each(REQUESTS)('%s', (path, body) => {
  const ask = (more: object, secret?: string) =>
    gateway.post(path, { ...body, ...more }, secret === undefined ? {} : { authorization: `Bearer ${secret}` })

  test('needs a key', async () => {
    expect(await errorOf(await ask({}, 'sk-wrong'))).toMatchObject({ status: 401, code: 'invalid_api_key' })
  })

  test('needs a key that may use the model', async () => {
    const { secret } = await gateway.issue({ models: ['vendorB-5.5'] })
    expect(await errorOf(await ask({}, secret))).toMatchObject({ status: 403, code: 'permission_denied' })
  })

  test('needs tokens', async () => {
    const { secret } = await gateway.issue({ tokensTotal: 1 })
    next = () => (path === '/v1/embeddings' ? vectors({ prompt_tokens: 5 }) : verdict)
    await (await ask({}, secret)).text()
    expect(await errorOf(await ask({}, secret))).toMatchObject({ status: 402, code: 'quota_exhausted' })
  })

  test('keeps to the key’s limit of requests', async () => {
    const { secret } = await gateway.issue({ rpm: 1 })
    next = () => (path === '/v1/embeddings' ? vectors() : verdict)
    const first = await ask({}, secret)
    expect([first.status, first.headers.get('x-ratelimit-remaining-requests')]).toEqual([200, '0'])
    await first.text()
    expect(await errorOf(await ask({}, secret))).toMatchObject({ status: 429, code: 'rate_limit_exceeded' })
  })

  test('names the right endpoint for a model of another kind', async () => {
    const error = await errorOf(await ask({ model: 'vendorB-5.5' }))
    expect(error).toMatchObject({ status: 404, code: 'invalid_model' })
    expect(error.message).toContain('/v1/chat/completions')
    const other = await errorOf(
      await gateway.post('/v1/chat/completions', { model: body.model, messages: [{ role: 'user', content: 'x' }] }),
    )
    expect(other).toMatchObject({ status: 404, code: 'invalid_model' })
    expect(other.message).toContain(path)
  })

  test('answers in one piece, whatever `stream` says', async () => {
    next = () => (path === '/v1/embeddings' ? vectors() : verdict)
    const response = await ask({ stream: true })
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toMatchObject({ model: body.model })
  })

  test('is listed, and takes no GET', async () => {
    const { endpoints } = (await (await gateway.get('/v1')).json()) as { endpoints: object[] }
    expect(endpoints).toContainEqual(expect.objectContaining({ method: 'POST', path }))
    expect((await gateway.get(path)).status).toBe(405)
  })
})

test('a model whose provider does not speak the wire is 404, and nobody is asked', async () => {
  const error = await errorOf(await gateway.post('/v1/embeddings', { model: 'mute', input: 'a' }))
  expect(error).toMatchObject({ status: 404, code: 'invalid_model' })
  expect(error.message).toContain('does not speak the embeddings wire')
  expect(provider.requests).toEqual([])
})
