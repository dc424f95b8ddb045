// The contract of the client API, a row per line of it, through a listening gateway.

import { beforeAll, describe, expect, test } from 'bun:test'
import { brotliCompressSync, deflateSync, gzipSync, zstdCompressSync } from 'node:zlib'
import type { ErrorCode } from '../../src/errors.ts'
import { ERRORS } from '../../src/errors.ts'
import { ENDPOINTS, servedAt } from '../../src/http/endpoints.ts'
import { VERSION } from '../../src/version.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { MESSAGE } from '../support/provider/message.ts'
import { json, type Script, type Scripted, sse, startScripted } from '../support/provider/scripted.ts'
import { stopAfterAll } from '../support/stopping.ts'

const chatAnswer = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'up',
  choices: [
    { index: 0, message: { role: 'assistant', content: 'hi', refusal: null }, finish_reason: 'stop', logprobs: null },
  ],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
}
const messagesAnswer = {
  ...MESSAGE,
  content: [{ type: 'text', text: 'hi' }],
  usage: { input_tokens: 3, output_tokens: 2 },
}
const responsesAnswer = {
  id: 'resp_1',
  object: 'response',
  created_at: 1,
  status: 'completed',
  model: 'up',
  output: [{ id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [] }],
  usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
}
const chat = { model: 'vendorB-5.5', messages: [{ role: 'user', content: 'hi' }] }
const messages = { model: 'vendorA-opus-4-8', max_tokens: 10, messages: [{ role: 'user', content: 'hi' }] }
const responses = { model: 'vendorB-5.5', input: 'hi' }
const images = { model: 'vendorB-image-1', prompt: 'a lock', size: '256x256' }

const POSTS = [
  ['/v1/chat/completions', chat],
  ['/v1/responses', responses],
  ['/v1/messages', messages],
  ['/v1/images/generations', images],
  ['/v1/messages/count_tokens', messages],
  ['/v1/responses/input_tokens', responses],
] as const

let script: Script
let provider: Scripted
let gateway: TestGateway

beforeAll(async () => {
  provider = await startScripted(() => script)
  gateway = await startGateway({ vendorA: provider.origin, vendorB: `${provider.origin}/v1` })
})
stopAfterAll(() => [gateway, provider])

/** The whole of what every error promises, whatever the endpoint. */
const expectError = async (response: Response, code: ErrorCode, path: string): Promise<string> => {
  const row = ERRORS[code]
  expect(response.status).toBe(row.status)
  expect(response.headers.get('x-gateway-error-code')).toBe(code)
  expect(response.headers.get('x-request-id')).toMatch(/^req_/)
  expect(response.headers.get('content-type')).toContain('application/json')
  expect(response.headers.get('cache-control')).toBe('no-store')
  const body = (await response.json()) as { type?: string; error: { message: string; type: string; code: string } }
  expect(body.error.code).toBe(code)
  expect(body.error.type).toBe(row.type)
  expect(body.error.message.length).toBeGreaterThan(10)
  if (path.includes('/messages')) {
    expect(body.type).toBe('error')
    expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'))
  }
  if ([401, 402, 403, 404, 413].includes(row.status)) expect(response.headers.get('x-should-retry')).toBe('false')
  if ([429, 503].includes(row.status)) expect(Number(response.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  return body.error.message
}

describe('endpoints', () => {
  test.each(['/v1', '/v1/', '/v1/v1'])('GET %s needs no key and lists the endpoints', async (path) => {
    const response = await fetch(`${gateway.url}${path}`)
    expect(response.status).toBe(200)
    expect(await response.json()).toEqual({
      object: 'gateway',
      name: 'sluice',
      version: VERSION,
      status: 'ok',
      endpoints: ENDPOINTS.map(({ method, path, wire }) => ({ method, path, wire })),
      documentation: '/docs',
    })
  })

  test('a path of many slashes is looked up in linear time', () => {
    expect(servedAt(`${'/'.repeat(300_000)}x`)).toBeUndefined()
    expect(servedAt(`/v1${'/'.repeat(300_000)}`)?.path).toBe('/v1')
  })

  test('GET /v1/models lists the twelve models, in the shape both vendors SDKs read', async () => {
    const body = (await (await gateway.get('/v1/models')).json()) as { data: Record<string, unknown>[] } & Record<
      string,
      unknown
    >
    expect(body.data.map(({ id }) => id)).toEqual([
      'vendorA-opus-4-8',
      'vendorA-opus-4-7',
      'vendorA-sonnet-5',
      'vendorA-sonnet-4-6',
      'vendorA-haiku-4-5',
      'vendorB-5.5',
      'vendorB-5.4',
      'vendorB-5.4-mini',
      'vendorB-4o',
      'vendorB-4',
      'vendorB-image-1',
      'vendorB-imagegen-3',
    ])
    expect(body).toMatchObject({
      object: 'list',
      first_id: 'vendorA-opus-4-8',
      last_id: 'vendorB-imagegen-3',
      has_more: false,
    })
    const [first] = body.data
    expect(Object.keys(first ?? {})).toEqual([
      'id',
      'object',
      'type',
      'created',
      'created_at',
      'owned_by',
      'display_name',
      'provider',
      'family',
      'input_modalities',
      'output_modalities',
      'context_window',
      'max_output_tokens',
      'max_input_tokens',
      'max_tokens',
      'reasoning',
    ])
  })

  test.each([
    ['limit=2', ['vendorA-opus-4-8', 'vendorA-opus-4-7'], true],
    ['limit=2&after_id=vendorB-4', ['vendorB-image-1', 'vendorB-imagegen-3'], false],
    ['limit=2&before_id=vendorA-sonnet-4-6', ['vendorA-opus-4-7', 'vendorA-sonnet-5'], true],
    ['before_id=vendorA-opus-4-7', ['vendorA-opus-4-8'], false],
  ])('GET /v1/models?%s gives that page', async (query, ids, more) => {
    const body = (await (await gateway.get(`/v1/models?${query}`)).json()) as {
      data: { id: string }[]
      has_more: boolean
    }
    expect(body.data.map(({ id }) => id)).toEqual(ids)
    expect(body.has_more).toBe(more)
  })

  test.each(['after_id=nope', 'before_id=nope', 'limit=2&after_id=auto'])(
    'GET /v1/models?%s names no model of the list: 400 invalid_request, for a first page would never end',
    async (query) => {
      const message = await expectError(await gateway.get(`/v1/models?${query}`), 'invalid_request', '')
      expect(message).toContain(query.includes('after') ? 'after_id' : 'before_id')
    },
  )

  test('GET /v1/models lists only what the key may use', async () => {
    const { secret } = await gateway.issue({ models: ['vendorA-*'] })
    const body = (await (await gateway.get('/v1/models', { authorization: `Bearer ${secret}` })).json()) as {
      data: { id: string }[]
    }
    expect(body.data.map(({ id }) => id).every((id) => id.startsWith('vendorA-'))).toBe(true)
    expect(body.data.length).toBe(5)
  })

  test('GET /v1/models tells of which models an effort may be asked', async () => {
    const { data } = (await (await gateway.get('/v1/models')).json()) as { data: { id: string; reasoning: boolean }[] }
    expect(data.filter(({ reasoning }) => !reasoning).map(({ id }) => id)).toEqual([
      'vendorB-4o',
      'vendorB-4',
      'vendorB-image-1',
      'vendorB-imagegen-3',
    ])
  })

  test('nor of those of a provider that takes none', async () => {
    const config = onlyProvider('http://127.0.0.1:9', { quirks: { noReasoning: true } })
    const local = await startGateway({ config })
    const { data } = (await (await local.get('/v1/models')).json()) as { data: { reasoning: boolean }[] }
    expect(data.filter(({ reasoning }) => reasoning)).toEqual([])
    await local.stop()
  })

  test.each([
    ['auto', 'vendorA-opus-4-8'],
    ['vendorA-opus-4.8', 'vendorA-opus-4-8'],
    ['vendorB-5.4-mini', 'vendorB-5.4-mini'],
    ['vendorB-5.4-mini/', 'vendorB-5.4-mini'],
  ])('GET /v1/models/%s is %s', async (name, id) => {
    expect(((await (await gateway.get(`/v1/models/${name}`)).json()) as { id: string }).id).toBe(id)
  })

  test('GET /v1/models/{unknown} is 404 invalid_model', async () => {
    await expectError(await gateway.get('/v1/models/nope'), 'invalid_model', '/v1/models/nope')
  })

  test('GET /v1/usage has exactly the fields of the contract', async () => {
    const expiresAt = Date.UTC(2030, 0, 2, 3, 4, 5, 6)
    const { secret } = await gateway.issue({ label: 'Dara', tokensTotal: 1_000, expiresAt })
    const response = await gateway.get('/v1/usage', { 'x-api-key': secret })
    expect(await response.json()).toEqual({
      label: 'Dara',
      tokens_total: 1_000,
      tokens_used: 0,
      tokens_remaining: 1_000,
      expires_at: '2030-01-02T03:04:05.006Z',
      status: 'active',
      rate: { khr_per_usd: 4100 },
    })
  })

  test.each(['/v1/nope', '/v2', '/v1/chat', '/nope', '/v1/completions', '/v1/responses/compact/x'])(
    '%s is 404 not_found',
    async (path) => {
      await expectError(await gateway.post(path, {}), 'not_found', path)
    },
  )

  test.each([
    ['GET', '/v1/chat/completions', 'POST'],
    ['DELETE', '/v1/messages', 'POST'],
    ['PUT', '/v1/responses', 'POST'],
    ['GET', '/v1/images/generations', 'POST'],
    ['POST', '/v1/models', 'GET, HEAD'],
    ['POST', '/v1/usage', 'GET, HEAD'],
    ['POST', '/v1', 'GET, HEAD'],
    ['POST', '/v1/v1', 'GET, HEAD'],
    ['PATCH', '/v1/models/auto', 'GET, HEAD'],
    ['PUT', '/healthz', 'GET, HEAD'],
    ['POST', '/health', 'GET, HEAD'],
    ['POST', '/readyz', 'GET, HEAD'],
    ['POST', '/docs', 'GET, HEAD'],
    ['DELETE', '/docs/openapi.json', 'GET, HEAD'],
    ['POST', '/dashboard/keys', 'GET, HEAD'],
    ['OPTIONS', '/usage', 'GET, HEAD'],
  ])('%s %s is 405 with Allow: %s', async (method, path, allow) => {
    const response = await fetch(gateway.url + path, { method })
    expect(response.headers.get('allow')).toBe(allow)
    await expectError(response, 'method_not_allowed', path)
  })

  test.each([
    ['GET', '/v1/usage//'],
    ['HEAD', '/v1//'],
    ['POST', '/v1/messages//'],
  ])('%s %s is 404 not_found, and not a wrong method', async (method, path) => {
    const response = await fetch(gateway.url + path, { method })
    expect(response.headers.get('allow')).toBeNull()
    expect(response.headers.get('x-gateway-error-code')).toBe('not_found')
    expect(response.status).toBe(404)
  })

  test('a WebSocket upgrade where none is spoken, or one that is none, is 426, on which agents fall back at once', async () => {
    for (const path of ['/v1/chat/completions', '/v1/messages', '/v1/responses']) {
      const response = await gateway.get(path, { upgrade: 'websocket', connection: 'upgrade' })
      expect([response.status, response.headers.get('x-gateway-error-code')]).toEqual([426, 'method_not_allowed'])
    }
  })

  test.each(['/v1/models', '/v1/models/auto', '/v1/usage', '/v1/usage/history'])(
    'GET %s answers on a doubled /v1 as well',
    async (path) => {
      const plain = await gateway.get(path)
      const doubled = await gateway.get(`/v1${path}`)
      expect(doubled.status).toBe(200)
      expect(await doubled.json()).toEqual(await plain.json())
    },
  )

  test.each([
    ['/chat/completions', '/v1/chat/completions'],
    ['/messages', '/v1/messages'],
    ['/models', '/v1/models'],
  ])('%s without /v1 is 404 not_found and says where it is', async (path, right) => {
    const message = await expectError(await fetch(gateway.url + path, { method: 'POST' }), 'not_found', '')
    expect(message).toContain(`at ${right}`)
  })

  test.each([
    ['/v1//chat//completions', 'It is at /v1/chat/completions.'],
    ['/V1/Chat/Completions', 'It is at /v1/chat/completions.'],
    ['/models/vendorA-opus-4-8', 'It is at /v1/models/{id}: end the base URL in /v1.'],
    ['/proxy/v1/embeddings/', 'It is at /v1/embeddings: leave /proxy out of the base URL.'],
    [
      '/anthropic/v1/messages/count_tokens',
      'It is at /v1/messages/count_tokens: leave /anthropic out of the base URL.',
    ],
    ['/llm/responses', 'It is at /v1/responses: write /v1 for /llm in the base URL.'],
    ['/v1/messages/messages', 'It is at /v1/messages: write /v1 for /v1/messages in the base URL.'],
    [
      '/openai/deployments/a/images/edits',
      'It is at /v1/images/edits: write /v1 for /openai/deployments/a in the base URL.',
    ],
    ['/proxy/v1/models', 'It is at /v1/models: leave /proxy out of the base URL.'],
    ['/proxy/models', 'GET /v1 lists the endpoints.'],
    ['/v1/completions', 'Did you mean /v1/chat/completions?'],
    ['/v1/embedding', 'Did you mean /v1/embeddings?'],
    ['/v1/threads/t/messages', 'GET /v1 lists the endpoints.'],
    ['/api/tags', 'GET /v1 lists the endpoints.'],
    [`/${'x'.repeat(300)}/v1/messages`, 'GET /v1 lists the endpoints.'],
  ])('%s is 404 not_found and says what is meant', async (path, says) => {
    const message = await expectError(await fetch(gateway.url + path, { method: 'POST' }), 'not_found', '')
    expect(message).toEndWith(` here. ${says}`)
  })

  test('GET /health is GET /healthz, without a key: what measures model servers asks for it before anything else', async () => {
    const answers = ['/health', '/health/', '/healthz'].map(async (path) => {
      const response = await fetch(gateway.url + path)
      return [response.status, await response.json()]
    })
    for (const answer of await Promise.all(answers)) expect(answer).toEqual([200, { status: 'ok' }])
  })

  test('the root path names the dashboard', async () => {
    const message = await expectError(await gateway.get('/'), 'not_found', '')
    expect(message).toBe('There is no / here. The dashboard is at /dashboard, and GET /v1 lists the endpoints.')
  })

  test.each(['/v1/messages/batches', '/v1/v1/messages/batches'])(
    '%s is 404 not_found, as messages clients read it',
    async (path) => {
      const response = await gateway.post(path, {})
      expect(response.headers.get('request-id')).toBe(response.headers.get('x-request-id'))
      expect(await response.clone().json()).toMatchObject({ type: 'error' })
      await expectError(response, 'not_found', path)
    },
  )

  test.each(['/v1', '/healthz', '/readyz', '/docs', '/docs/openapi.json', '/dashboard', '/v1/models', '/nope', '/'])(
    'GET %s carries a request id, as every response does',
    async (path) => {
      expect((await gateway.get(path)).headers.get('x-request-id')).toMatch(/^req_/)
    },
  )

  test.each(POSTS)('%s answers on a doubled /v1 as well', async (path, body) => {
    const response = await fetch(`${gateway.url}/v1${path}`, { method: 'POST', body: JSON.stringify(body) })
    await expectError(response, 'missing_api_key', path)
  })
})

describe('authentication', () => {
  test.each(POSTS)('%s without a key is 401 missing_api_key, before the body is read', async (path) => {
    await expectError(await fetch(gateway.url + path, { method: 'POST', body: '{' }), 'missing_api_key', path)
  })

  test.each(['/v1/models', '/v1/usage', '/v1/models/auto'])(
    'GET %s without a key is 401 missing_api_key',
    async (path) => {
      await expectError(await fetch(gateway.url + path), 'missing_api_key', path)
    },
  )

  test.each(POSTS)('%s with a wrong key is 401 invalid_api_key', async (path, body) => {
    await expectError(await gateway.post(path, body, { authorization: 'Bearer sk-sl-wrong' }), 'invalid_api_key', path)
  })

  test('an expired key is 401 invalid_api_key', async () => {
    const { secret } = await gateway.issue({ expiresAt: Date.now() - 1 })
    await expectError(await gateway.post('/v1/chat/completions', chat, { 'x-api-key': secret }), 'invalid_api_key', '')
  })

  test('a revoked key is 401 invalid_api_key', async () => {
    const { id, secret } = await gateway.issue()
    await gateway.server.gateway.store.keys.revoke(id, { kind: 'cli', id: 'test' })
    await expectError(await gateway.post('/v1/chat/completions', chat, { 'x-api-key': secret }), 'invalid_api_key', '')
  })

  test('x-api-key is accepted like a bearer token', async () => {
    script = json(chatAnswer)
    expect((await gateway.post('/v1/chat/completions', chat, { 'x-api-key': gateway.secret })).status).toBe(200)
  })

  test('with both headers Authorization is used', async () => {
    script = json(chatAnswer)
    const good = { authorization: `Bearer ${gateway.secret}`, 'x-api-key': 'wrong' }
    expect((await gateway.post('/v1/chat/completions', chat, good)).status).toBe(200)
    const bad = { authorization: 'Bearer wrong', 'x-api-key': gateway.secret }
    await expectError(await gateway.post('/v1/chat/completions', chat, bad), 'invalid_api_key', '')
  })

  test.each(['Basic dXNlcjpwYXNz', 'Bearer', 'Bearer ', 'sk-sl-x', 'Bearer a b'])(
    'Authorization: %s carries no usable token and is invalid_api_key even beside a right x-api-key',
    async (authorization) => {
      await expectError(
        await gateway.post('/v1/chat/completions', chat, { authorization, 'x-api-key': gateway.secret }),
        'invalid_api_key',
        '',
      )
    },
  )

  test('a key that may not use the model is 403 permission_denied', async () => {
    const { secret } = await gateway.issue({ models: ['vendorA-*'] })
    await expectError(
      await gateway.post('/v1/chat/completions', chat, { 'x-api-key': secret }),
      'permission_denied',
      '',
    )
  })

  test.each([
    ['/v1/messages', { ...messages, model: 'auto' }],
    ['/v1/chat/completions', { ...chat, model: 'vendorB-image-1' }],
    ['/v1/images/generations', { ...images, model: 'vendorB-4o' }],
    ['/v1/images/generations', images],
    ['/v1/messages/count_tokens', messages],
  ])('with hide_forbidden_models, %s says of a forbidden model what it says of none: %o', async (path, body) => {
    const hiding = await startGateway({ config: { hideForbiddenModels: true } })
    const key = { 'x-api-key': (await hiding.issue({ models: ['vendorB-4'] })).secret }
    const none = { ...body, model: 'nope' }
    const forbidden = await expectError(await hiding.post(path, body, key), 'invalid_model', path)
    const unknown = await expectError(await hiding.post(path, none, key), 'invalid_model', path)
    await hiding.stop()
    expect(forbidden).toBe(unknown.replace('"nope"', `"${body.model}"`))
  })

  test('a key with no credit left is 402 quota_exhausted, and may still read models and usage', async () => {
    const { secret } = await gateway.issue({ tokensTotal: 0 })
    const key = { 'x-api-key': secret }
    await expectError(await gateway.post('/v1/messages', messages, key), 'quota_exhausted', '/v1/messages')
    expect((await gateway.get('/v1/models', key)).status).toBe(200)
    expect(await (await gateway.get('/v1/usage', key)).json()).toMatchObject({
      status: 'exhausted',
      tokens_remaining: 0,
    })
  })
})

describe('order of checks', () => {
  const rows: [string, string, Record<string, unknown> | string, 'limited' | 'poor' | 'narrow' | 'none', ErrorCode][] =
    [
      ['the key comes before all', '/v1/messages', '{', 'none', 'invalid_api_key'],
      ['JSON before the request', '/v1/messages', '{', 'poor', 'invalid_json'],
      ['the request before the model', '/v1/messages', { model: 'nope' }, 'poor', 'invalid_request'],
      ['the model before permission', '/v1/messages', { ...messages, model: 'nope' }, 'narrow', 'invalid_model'],
      ['permission before quota', '/v1/messages', messages, 'narrow', 'permission_denied'],
      ['quota before the provider', '/v1/messages', messages, 'poor', 'quota_exhausted'],
    ]
  test.each(rows)('%s', async (_, path, body, kind, code) => {
    const { secret } =
      kind === 'poor'
        ? await gateway.issue({ tokensTotal: 0 })
        : await gateway.issue({ models: ['vendorB-4'], tokensTotal: 0 })
    await expectError(await gateway.post(path, body, { 'x-api-key': kind === 'none' ? 'x' : secret }), code, path)
  })

  test('the rate limit comes before the body is read', async () => {
    script = json(messagesAnswer)
    const { secret } = await gateway.issue({ rpm: 1 })
    const key = { 'x-api-key': secret }
    expect((await gateway.post('/v1/messages', messages, key)).status).toBe(200)
    await expectError(await gateway.post('/v1/messages', '{', key), 'rate_limit_exceeded', '/v1/messages')
  })
})

describe('models and aliases', () => {
  const rows: [string, string, Record<string, unknown>, string][] = [
    ['auto', '/v1/messages', messages, 'vendorA-opus-4-8'],
    ['vendorA-opus-4.8', '/v1/messages', messages, 'vendorA-opus-4-8'],
    ['vendorA-sonnet-4.6', '/v1/messages', messages, 'vendorA-sonnet-4-6'],
    ['vendorB-5.5', '/v1/chat/completions', chat, 'vendorB-5.5'],
  ]
  test.each(rows)('%s answers on %s under its catalogue id', async (model, path, body, id) => {
    script = json(path === '/v1/messages' ? messagesAnswer : chatAnswer)
    const response = await gateway.post(path, { ...body, model })
    expect(((await response.json()) as { model: string }).model).toBe(id)
  })

  test.each(['nope', 'VENDORA-OPUS-4-8', 'vendorA-opus', 'vendorB-5-5', 'Auto', 'vendorA-opus-4-8 '])(
    'model "%s" is 404 invalid_model',
    async (model) => {
      await expectError(await gateway.post('/v1/chat/completions', { ...chat, model }), 'invalid_model', '')
    },
  )

  test('an image model on chat is 404 invalid_model with the right endpoint named', async () => {
    const message = await expectError(
      await gateway.post('/v1/chat/completions', { ...chat, model: 'vendorB-image-1' }),
      'invalid_model',
      '',
    )
    expect(message).toContain('/v1/images/generations')
  })

  test('a text model on images is 404 invalid_model with the right endpoints named', async () => {
    const message = await expectError(
      await gateway.post('/v1/images/generations', { ...images, model: 'vendorB-4o' }),
      'invalid_model',
      '',
    )
    expect(message).toContain('/v1/chat/completions')
  })

  const url = 'https://example.com/a.png'
  const pictures: [string, string, Record<string, unknown>][] = [
    [
      '/v1/chat/completions',
      'messages.0.content.0',
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url } }] }] },
    ],
    [
      '/v1/responses',
      'input.0.content.0',
      { input: [{ role: 'user', content: [{ type: 'input_image', image_url: url }] }] },
    ],
    [
      '/v1/messages',
      'messages.0.content.0',
      { max_tokens: 9, messages: [{ role: 'user', content: [{ type: 'image', source: { type: 'url', url } }] }] },
    ],
    [
      '/v1/responses',
      'input.1.output.1',
      {
        input: [
          { type: 'function_call', call_id: 'a', name: 'look', arguments: '{}' },
          {
            ...{ type: 'function_call_output', call_id: 'a' },
            output: [
              { type: 'input_text', text: 'Seen.' },
              { type: 'input_image', image_url: url },
            ],
          },
        ],
      },
    ],
  ]
  test.each(pictures)(
    'an image to a text-only model on %s is 400 invalid_request naming %s',
    async (path, member, body) => {
      const response = await gateway.post(path, { ...body, model: 'vendorB-4' })
      const { error } = (await response.clone().json()) as { error: { param: string } }
      expect(error.param).toBe(member)
      expect(await expectError(response, 'invalid_request', path)).toContain(member)
    },
  )

  test.each([{ response_format: { type: 'regex', regex: 'a+' } }, { messages: [{ role: 'reviewer', content: 'hi' }] }])(
    'what only its own server knows passes to a text-only model as to any other: %o',
    async (more) => {
      script = json(chatAnswer)
      const body = { ...chat, model: 'vendorB-4', ...more }
      expect((await gateway.post('/v1/chat/completions', body)).status).toBe(200)
      expect(JSON.parse(provider.requests.at(-1)?.text ?? '')).toMatchObject(more)
    },
  )

  test('a provider that is not configured is 503 service_unavailable with x-should-retry: false', async () => {
    const bare = await startGateway({})
    const response = await bare.post('/v1/chat/completions', chat)
    expect(response.headers.get('x-should-retry')).toBe('false')
    await expectError(response, 'service_unavailable', '')
    await bare.stop()
  })
})

describe('bad input', () => {
  test.each(POSTS)('%s: truncated JSON is 400 invalid_json', async (path, body) => {
    await expectError(await gateway.post(path, JSON.stringify(body).slice(0, -1)), 'invalid_json', path)
  })

  test.each(POSTS)('%s: malformed UTF-8 is 400 invalid_json', async (path) => {
    const bytes = new Uint8Array([
      ...new TextEncoder().encode('{"model":"'),
      0xff,
      0xfe,
      ...new TextEncoder().encode('"}'),
    ])
    await expectError(await gateway.post(path, bytes as unknown as string), 'invalid_json', path)
  })

  test.each(POSTS)('%s: an empty body is 400 invalid_json', async (path) => {
    await expectError(await gateway.post(path, ''), 'invalid_json', path)
  })

  test.each(['[]', '"x"', '1', 'null', 'true'])('a body that is %s is 400 invalid_request', async (body) => {
    await expectError(await gateway.post('/v1/chat/completions', body), 'invalid_request', '')
  })

  const wrong: [string, Record<string, unknown>, string][] = POSTS.flatMap(([path, body]) =>
    Object.keys(body).flatMap((name): [string, Record<string, unknown>, string][] => [
      [path, { ...body, [name]: undefined }, name],
      [path, { ...body, [name]: name === 'n' ? 'x' : { wrong: true } }, name],
      [path, { ...body, [name]: false }, name],
    ]),
  )
  /** What an endpoint can do without. */
  const OPTIONAL: [string, string][] = [
    ['/v1/images/generations', 'size'],
    ['/v1/messages/count_tokens', 'max_tokens'],
  ]
  const isLeftOut = ([path, body, name]: (typeof wrong)[number]): boolean =>
    body[name] === undefined && OPTIONAL.some(([at, member]) => at === path && member === name)
  test.each(wrong.filter((row) => !isLeftOut(row)))(
    '%s with %j is 400 invalid_request naming the field',
    async (path, body, name) => {
      expect(await expectError(await gateway.post(path, body), 'invalid_request', path)).toContain(name)
    },
  )

  const said: [string, Record<string, unknown>, string][] = [
    ['/v1/chat/completions', { ...chat, stream: 'yes' }, 'stream: expected true or false.'],
    ['/v1/chat/completions', { ...chat, max_tokens: 0 }, 'max_tokens: expected a whole number of 1 or more.'],
    ['/v1/chat/completions', { ...chat, model: '' }, 'model: expected a string that is not empty.'],
    ['/v1/chat/completions', { ...chat, model: 5 }, 'model: expected a string that is not empty.'],
    ['/v1/chat/completions', { ...chat, messages: [] }, 'messages: expected an array that is not empty.'],
    ['/v1/chat/completions', { ...chat, messages: [{ content: 'x' }] }, 'messages.0.role: is required.'],
    ['/v1/chat/completions', { ...chat, messages: ['x'] }, 'messages.0: expected an object.'],
    [
      '/v1/chat/completions',
      { ...chat, messages: [{ role: 'user', content: 5 }] },
      'messages.0.content: expected a string or an array.',
    ],
    ['/v1/messages', { ...messages, stream: 1 }, 'stream: expected true or false.'],
    ['/v1/messages', { ...messages, messages: {} }, 'messages: expected an array.'],
    [
      '/v1/messages',
      { ...messages, messages: [{ role: 'robot', content: 'x' }] },
      'messages.0.role: expected "user", "assistant" or "system".',
    ],
    ['/v1/messages', { ...messages, messages: [{ role: 'user' }] }, 'messages.0.content: is required.'],
    [
      '/v1/messages',
      { ...messages, messages: [{ role: 'user', content: 5 }] },
      'messages.0.content: expected a string or an array.',
    ],
    ['/v1/responses', { model: 'nope' }, 'input: is required.'],
    ['/v1/responses', { model: 'nope', previous_response_id: null }, 'input: is required.'],
    ['/v1/responses', { ...responses, input: null }, 'input: expected a string or an array.'],
    ['/v1/responses', { ...responses, input: 5 }, 'input: expected a string or an array.'],
    ['/v1/images/generations', { ...images, size: 'big' }, 'size: expected a size such as 1024x1024, or auto.'],
    ['/v1/images/generations', { ...images, n: 0 }, 'n: expected a whole number from 1 to 10.'],
  ]
  test.each(said)('%s with %j says in words what is allowed', async (path, body, message) => {
    expect(await expectError(await gateway.post(path, body), 'invalid_request', path)).toBe(message)
  })

  test.each([{ previous_response_id: 'resp_1' }, { conversation: 'conv_1' }, { prompt: { id: 'pmpt_1' } }])(
    'a responses request with %j needs no input: the provider has one',
    async (member) => {
      script = json(responsesAnswer)
      expect((await gateway.post('/v1/responses', { model: 'vendorB-5.5', ...member })).status).toBe(200)
    },
  )

  test('30 MB by Content-Length is 413 payload_too_large', async () => {
    await expectError(
      await gateway.post('/v1/messages', 'x'.repeat(30 * 1024 * 1024)),
      'payload_too_large',
      '/v1/messages',
    )
  })

  test('30 MB by chunks is 413 payload_too_large', async () => {
    const chunk = new Uint8Array(1024 * 1024).fill(120)
    let left = 30
    const body = new ReadableStream({ pull: (out) => (left-- > 0 ? out.enqueue(chunk) : out.close()) })
    const response = await fetch(`${gateway.url}/v1/messages`, {
      method: 'POST',
      body,
      headers: { authorization: `Bearer ${gateway.secret}` },
    })
    await expectError(response, 'payload_too_large', '/v1/messages')
  })

  test('a body just under the limit passes', async () => {
    script = json(messagesAnswer)
    const content = 'x'.repeat(24 * 1024 * 1024)
    expect((await gateway.post('/v1/messages', { ...messages, messages: [{ role: 'user', content }] })).status).toBe(
      200,
    )
  })

  test.each(['vendorA-opus-4-8', 'vendorB-5.5'])(
    'nesting of 10,000 levels to %s is answered and the server goes on',
    async (model) => {
      script = json(model.startsWith('vendorA') ? messagesAnswer : chatAnswer)
      const deep = `${'{"a":'.repeat(10_000)}1${'}'.repeat(10_000)}`
      const body = `{"model":"${model}","max_tokens":5,"messages":[{"role":"user","content":"x"}],"metadata":${deep}}`
      const response = await gateway.post('/v1/messages', body)
      expect(response.status).toBeLessThan(503)
      expect([200, 400, 502]).toContain(response.status)
      expect((await gateway.get('/v1')).status).toBe(200)
    },
  )

  const packed = (coding: string, bytes: Uint8Array): Promise<Response> =>
    gateway.post('/v1/messages', bytes, { 'content-encoding': coding, authorization: `Bearer ${gateway.secret}` })

  test.each([
    ['gzip', gzipSync],
    ['x-gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
    ['ZSTD', zstdCompressSync],
  ])('a body compressed as %s is decompressed, and reaches the provider plain', async (coding, pack) => {
    script = json(messagesAnswer)
    expect((await packed(coding, pack(JSON.stringify(messages)))).status).toBe(200)
    const sent = provider.requests.at(-1)
    expect(sent?.headers['content-encoding']).toBeUndefined()
    expect(JSON.parse(sent?.text ?? '{}').messages).toEqual(messages.messages)
  })

  test.each([
    ['gzip', gzipSync],
    ['deflate', deflateSync],
    ['br', brotliCompressSync],
    ['zstd', zstdCompressSync],
  ])('a body compressed as %s that expands past the limit is 413 payload_too_large', async (coding, pack) => {
    await expectError(
      await packed(coding, pack(Buffer.alloc(30 * 1024 * 1024, 'x'))),
      'payload_too_large',
      '/v1/messages',
    )
  })

  test.each([
    ['gzip', Buffer.from('{}')],
    ['gzip', gzipSync(JSON.stringify(messages)).subarray(0, -9)],
    ['zstd', gzipSync('{}')],
    ['compress', Buffer.from('{}')],
    ['gzip, gzip', gzipSync(gzipSync('{}'))],
  ])('a body that is not compressed as %s, or in an unknown way, is refused with a sentence', async (coding, bytes) => {
    await expectError(await packed(coding, bytes), 'invalid_request', '/v1/messages')
  })
})

describe('streams', () => {
  test("a stream has the contract's headers", async () => {
    script = sse(
      'data: {"id":"x","object":"chat.completion.chunk","created":1,"model":"up","choices":[{"index":0,"delta":{"role":"assistant","content":"a"},"finish_reason":"stop"}]}\n\ndata: [DONE]\n\n',
    )
    const response = await gateway.post('/v1/chat/completions', { ...chat, stream: true })
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    expect(response.headers.get('cache-control')).toBe('no-cache, no-transform')
    expect(response.headers.get('x-accel-buffering')).toBe('no')
    expect(await response.text()).toContain('[DONE]')
  })
})
