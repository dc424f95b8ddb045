// The responses wire by WebSocket: each response.create is an exchange as a POST's would be, whoever makes the answer.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import net from 'node:net'
import OpenAI from 'openai'
import { ResponsesWS } from 'openai/resources/responses/ws'
import type { JsonObject } from '../../src/ir/json.ts'
import {
  type DemoGateway,
  onlyProvider,
  SYSTEM,
  startDemoGateway,
  startGateway,
  type TestGateway,
} from '../support/gateway.ts'
import { gate, type Handler, type Scripted, startScripted } from '../support/provider/scripted.ts'
import { openSocket, type SocketClient } from '../support/socket.ts'

const MODELS = ['vendorA-opus-4-8', 'vendorB-5.5']
const create = (body: JsonObject): JsonObject => ({ type: 'response.create', model: 'vendorA-opus-4-8', ...body })
const kinds = (events: JsonObject[]): string[] => [...new Set(events.map(({ type }) => String(type)))]
const responseIn = (events: JsonObject[]): JsonObject & { id: string; output: JsonObject[] } =>
  events.at(-1)?.response as JsonObject & { id: string; output: JsonObject[] }
const textIn = (events: JsonObject[]): string =>
  events.map(({ type, delta }) => (type === 'response.output_text.delta' ? String(delta) : '')).join('')
const errorIn = (event: JsonObject | undefined): unknown[] => {
  const { code, param } = (event?.error ?? {}) as JsonObject
  return [event?.type, event?.status, code, ...(param === undefined || param === null ? [] : [param])]
}

const open: SocketClient[] = []
afterEach(() => {
  for (const client of open.splice(0)) client.close()
})
const connect = async (gateway: TestGateway, secret = gateway.secret, headers: Record<string, string> = {}) => {
  const client = await openSocket(gateway.url, { authorization: `Bearer ${secret}`, ...headers })
  open.push(client)
  return client
}

describe('with the demo’s vendors', () => {
  let gateway: DemoGateway
  beforeAll(async () => {
    gateway = await startDemoGateway()
  })
  afterAll(() => gateway.stop())
  const sent = (): JsonObject => JSON.parse(gateway.demo.requests.at(-1)?.body ?? '{}') as JsonObject

  test.each(MODELS)('%s answers with the events that a stream would have, and is billed as one', async (model) => {
    const client = await connect(gateway)
    client.send(create({ model, input: 'Say hello', store: false }))
    const events = await client.answer()
    const post = await gateway.post('/v1/responses', { model, input: 'Say hello', store: false, stream: true })
    const streamed = [...(await post.text()).matchAll(/^event: (.*)$/gm)].map(([, name]) => String(name))
    expect(kinds(events)).toEqual([...new Set(streamed)])
    expect(events.map(({ sequence_number: number }) => number)).toEqual(events.map((_, at) => at))
    expect(responseIn(events)).toMatchObject({ status: 'completed', model })
    await gateway.idle()
    const [second, first] = await gateway.server.gateway.store.exchanges({ limit: 2 })
    expect(first).toMatchObject({ model, wire: 'responses', stream: true, outcome: 'done', estimated: false })
    expect([first?.input, first?.wire, first?.stream]).toEqual([second?.input ?? 0, 'responses', true])
    expect(sent().type).toBeUndefined()
  })

  test.each(MODELS.flatMap((model) => [20_000, 100_000, 900_000, 1_500_000].map((size) => [model, size] as const)))(
    '%s is sent an event of %i characters whole',
    async (model, size) => {
      const client = await connect(gateway)
      const content = 'word '.repeat(size / 5)
      client.send(create({ model, input: [{ role: 'user', content }], store: false }))
      expect(responseIn(await client.answer())).toMatchObject({ status: 'completed', model })
      expect(JSON.stringify(sent())).toContain(content)
    },
  )

  test.each([true, false].flatMap((warms) => [100_000, 900_000, 1_500_000].map((size) => [size, warms] as const)))(
    'an event of %i characters, warming up: %p, is there to go on from',
    async (size, warms) => {
      const client = await connect(gateway)
      const content = 'word '.repeat(size / 5)
      client.send(create({ input: [{ role: 'user', content }], store: false, ...(warms && { generate: false }) }))
      const first = responseIn(await client.answer())
      expect(first).toMatchObject({ status: 'completed' })
      client.send(create({ input: 'go', store: false, previous_response_id: first.id }))
      expect(responseIn(await client.answer())).toMatchObject({ status: 'completed' })
      expect(JSON.stringify(sent())).toContain(content)
    },
  )

  test.each(MODELS)('%s goes on from an answer that nobody keeps, within its connection alone', async (model) => {
    const client = await connect(gateway)
    client.send(create({ model, input: 'one', store: false }))
    const first = responseIn(await client.answer())
    client.send(
      create({ model, input: [{ role: 'user', content: 'two' }], store: false, previous_response_id: first.id }),
    )
    const second = responseIn(await client.answer())
    client.send(create({ model, input: 'three', store: false, previous_response_id: second.id }))
    expect(responseIn(await client.answer()).status).toBe('completed')
    expect(sent().previous_response_id).toBeUndefined()
    expect(JSON.stringify(sent())).toMatch(/one.*assistant.*two.*assistant.*three/)
    const other = await connect(gateway)
    other.send(create({ model, input: 'four', store: false, previous_response_id: second.id }))
    expect(errorIn((await other.answer()).at(-1))).toEqual([
      'error',
      400,
      'previous_response_not_found',
      'previous_response_id',
    ])
    client.send(create({ model, input: 'five', store: false, previous_response_id: first.id }))
    expect(responseIn(await client.answer()).status).toBe('completed')
    expect(JSON.stringify(sent())).not.toContain('three')
  })

  test.each(MODELS)('%s goes on from an answer that is kept, on any connection', async (model) => {
    const client = await connect(gateway)
    client.send(create({ model, input: 'one' }))
    const { id } = responseIn(await client.answer())
    const other = await connect(gateway)
    other.send(create({ model, input: 'two', previous_response_id: id }))
    expect(responseIn(await other.answer()).status).toBe('completed')
    const stranger = await connect(gateway, (await gateway.issue()).secret)
    if (model !== 'vendorA-opus-4-8') return
    stranger.send(create({ model, input: 'two', previous_response_id: id }))
    expect(errorIn((await stranger.answer()).at(-1))[2]).toBe('previous_response_not_found')
  })

  test.each(MODELS)(
    '%s: a warm-up asks no model and costs nothing, and the next request goes on from it',
    async (model) => {
      const client = await connect(gateway)
      const from = gateway.demo.requests.length
      client.send(
        create({
          model,
          input: [{ role: 'user', content: 'rules' }],
          store: false,
          generate: false,
          instructions: 'Be kind.',
        }),
      )
      const events = await client.answer()
      expect(kinds(events)).toEqual(['response.created', 'response.in_progress', 'response.completed'])
      const warm = responseIn(events)
      expect(warm).toMatchObject({ status: 'completed', model, output: [], usage: { total_tokens: 0 } })
      expect(gateway.demo.requests.length).toBe(from)
      client.send(create({ model, input: 'go', store: false, previous_response_id: warm.id }))
      expect(responseIn(await client.answer()).status).toBe('completed')
      expect(JSON.stringify(sent())).toMatch(/rules.*go/)
      client.send(create({ model: 'nobody', input: [], generate: false }))
      expect(errorIn((await client.answer()).at(-1))).toEqual(['error', 404, 'invalid_model'])
    },
  )

  test('two requests on one lane are answered one after the other, in their order', async () => {
    const client = await connect(gateway)
    for (const input of ['first', 'second', 'third']) client.send(create({ input, store: false }))
    const answers = [await client.answer(), await client.answer(), await client.answer()]
    const ids = answers.map(
      (events) => new Set(events.flatMap(({ response }) => (response ? [(response as JsonObject).id] : []))),
    )
    expect(ids.map(({ size }) => size)).toEqual([1, 1, 1])
    for (const [at, input] of ['first', 'second', 'third'].entries()) expect(textIn(answers[at] ?? [])).toContain(input)
  })

  test('lanes are answered side by side, each event with its lane', async () => {
    const client = await connect(gateway)
    client.send(create({ input: 'left', stream_id: 'l' }))
    client.send(create({ input: 'right', stream_id: 'r "x"' }))
    const done = new Set<unknown>()
    const texts = new Map<unknown, string>()
    while (done.size < 2) {
      const event = await client.next()
      const lane = event.stream_id
      expect(['l', 'r "x"']).toContain(String(lane))
      texts.set(lane, (texts.get(lane) ?? '') + textIn([event]))
      if (event.type === 'response.completed') done.add(lane)
    }
    expect(texts.get('l')).toContain('left')
    expect(texts.get('r "x"')).toContain('right')
    client.send(create({ model: 'nobody', input: 'x', stream_id: 'l' }))
    expect((await client.next()).stream_id).toBe('l')
  })

  test('no lane may be said by null', async () => {
    const client = await connect(gateway)
    client.send(create({ input: 'one', stream_id: null }))
    const events = await client.answer()
    expect(responseIn(events).status).toBe('completed')
    expect(events.some((event) => 'stream_id' in event)).toBe(false)
  })

  test.each<[string, string | Uint8Array<ArrayBuffer> | JsonObject, unknown[]]>([
    ['half a JSON', '{"type":"response.create"', ['error', 400, 'invalid_json']],
    ['no object', '[1]', ['error', 400, 'invalid_request']],
    ['no type', '{}', ['error', 400, 'invalid_request', 'type']],
    ['an unknown event', { type: 'session.update' }, ['error', 400, 'invalid_request', 'type']],
    ['a binary frame', new TextEncoder().encode('{"type":"response.create"}'), ['error', 400, 'invalid_request']],
    ['a request without a model', { type: 'response.create', input: 'x' }, ['error', 400, 'invalid_request', 'model']],
    [
      'one in the background',
      create({ input: 'x', background: true }),
      ['error', 400, 'invalid_request', 'background'],
    ],
    ['a lane that is no text', create({ input: 'x', stream_id: 1 }), ['error', 400, 'invalid_request', 'stream_id']],
    ['an unknown model', create({ model: 'nobody', input: 'x' }), ['error', 404, 'invalid_model']],
    [
      'too deep a body',
      `{"type":"response.create","model":"vendorA-opus-4-8","input":${'['.repeat(5000)}${']'.repeat(5000)}}`,
      ['error', 400, 'invalid_request', 'input.0'],
    ],
  ])('%s is refused, and the connection goes on', async (_, event, expected) => {
    const client = await connect(gateway)
    client.send(event)
    expect(errorIn((await client.answer()).at(-1))).toEqual(expected)
    client.send(create({ input: 'still here' }))
    expect(responseIn(await client.answer()).status).toBe('completed')
  })

  test('what agents say beside is taken without a word, and what cannot be said in between is told', async () => {
    const client = await connect(gateway)
    client.send({ type: 'response.processed', response_id: 'resp_1' })
    client.send({ type: 'response.steer', previous_response_id: 'resp_1', input: 'No, left.' })
    expect(await client.next()).toMatchObject({
      type: 'response.steer.failed',
      steer: { previous_response_id: 'resp_1', input: 'No, left.' },
      error: { code: 'steering_not_supported' },
    })
  })

  test('keys have their limits and quotas here too, told with when to ask again', async () => {
    const slow = await connect(gateway, (await gateway.issue({ rpm: 1 })).secret)
    slow.send(create({ input: 'one' }))
    await slow.answer()
    slow.send(create({ input: 'two' }))
    const refused = (await slow.answer()).at(-1) ?? {}
    expect(errorIn(refused)).toEqual(['error', 429, 'rate_limit_exceeded'])
    expect(Number((refused.headers as JsonObject)['retry-after'])).toBeGreaterThan(0)
    const poor = await connect(gateway, (await gateway.issue({ tokensTotal: 1 })).secret)
    poor.send(create({ input: 'its last tokens' }))
    await poor.answer()
    poor.send(create({ input: 'one more' }))
    expect(errorIn((await poor.answer()).at(-1)).slice(1)).toEqual([402, 'quota_exhausted'])
    const narrow = await connect(gateway, (await gateway.issue({ models: ['vendorB-*'] })).secret)
    narrow.send(create({ input: 'x' }))
    expect(errorIn((await narrow.answer()).at(-1)).slice(1)).toEqual([403, 'permission_denied'])
  })

  test('no key, or a wrong one, opens none', async () => {
    const upgrade = {
      connection: 'upgrade',
      upgrade: 'websocket',
      'sec-websocket-version': '13',
      'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
    }
    for (const [headers, status] of [
      [{}, 401],
      [{ authorization: 'Bearer sk-sl-nobody' }, 401],
    ] as const) {
      const response = await fetch(`${gateway.url}/v1/responses`, { headers: { ...upgrade, ...headers } })
      expect([response.status, response.headers.get('x-gateway-error-code')?.endsWith('api_key')]).toEqual([
        status,
        true,
      ])
    }
    await expect(openSocket(gateway.url, {})).rejects.toThrow()
  })

  test('a revoked key ends its connections', async () => {
    const { id, secret } = await gateway.issue()
    const client = await connect(gateway, secret)
    await gateway.server.gateway.store.keys.revoke(id, SYSTEM)
    expect(errorIn(await client.next())).toEqual(['error', 401, 'invalid_api_key'])
    expect((await client.closed).code).toBe(1008)
  })

  test('one that has grown old is told so, in the words that agents know, once its last answer is over', async () => {
    const { sockets } = gateway.server.gateway
    const { maxAgeMs } = sockets
    sockets.maxAgeMs = 1
    try {
      const client = await connect(gateway)
      const event = await client.next()
      expect(errorIn(event)).toEqual(['error', 400, 'websocket_connection_limit_reached'])
      expect((await client.closed).code).toBe(1000)
    } finally {
      sockets.maxAgeMs = maxAgeMs
    }
  })

  test('a key that is for certain addresses is looked at with that of the connection', async () => {
    const { id, secret } = await gateway.issue({ ips: ['127.0.0.1', '::1'] })
    const client = await connect(gateway, secret)
    client.send(create({ input: 'here' }))
    expect(responseIn(await client.answer()).status).toBe('completed')
    await gateway.server.gateway.store.keys.update(id, { ips: ['10.0.0.0/8'] }, SYSTEM)
    expect(errorIn(await client.next()).slice(0, 3)).toEqual(['error', 403, 'permission_denied'])
    expect((await client.closed).code).toBe(1008)
    await expect(connect(gateway, secret)).rejects.toThrow()
  })

  test('a handshake that is refused to a known key is kept as a refused request, with whose and from where', async () => {
    const { id, secret } = await gateway.issue({ ips: ['10.0.0.0/8'] })
    await expect(connect(gateway, secret)).rejects.toThrow()
    const { refusals, store } = gateway.server.gateway
    await refusals.flush()
    const { rows } = await store.insight.exchangePage({ limit: 1, keyIds: [id] })
    expect(rows[0]).toMatchObject({
      ...{ keyId: id, outcome: 'refused', status: 403, errorCode: 'permission_denied', wire: 'responses' },
      ...{ address: expect.stringMatching(/127\.0\.0\.1|::1/), refusal: { failed: 'address', path: '/v1/responses' } },
    })
  })

  test('a plain GET is what it was, and so is an upgrade where none is spoken', async () => {
    const plain = await gateway.get('/v1/responses')
    expect([plain.status, plain.headers.get('allow')]).toEqual([405, 'POST'])
    gateway.server.gateway.config.websockets = false
    try {
      const upgrade = {
        connection: 'upgrade',
        upgrade: 'websocket',
        'sec-websocket-version': '13',
        'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
      }
      const response = await gateway.get('/v1/responses', upgrade)
      expect(response.status).toBe(426)
      expect(((await response.json()) as { error: JsonObject }).error.message).toContain('ask by POST')
    } finally {
      gateway.server.gateway.config.websockets = true
    }
  })

  test('the official client speaks it', async () => {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secret })
    const socket = new ResponsesWS(client)
    socket.send({ type: 'response.create', model: 'vendorA-opus-4-8', input: 'Say hello', store: false })
    const seen: string[] = []
    for await (const event of socket) {
      if (event.type === 'error') throw event.error
      if (event.type !== 'message') continue
      seen.push(event.message.type)
      if (event.message.type === 'response.completed') break
    }
    socket.close()
    expect([seen[0], seen.at(-1)]).toEqual(['response.created', 'response.completed'])
  })

  test('two hundred at once are all answered', async () => {
    const clients = await Promise.all(Array.from({ length: 200 }, () => connect(gateway)))
    for (const [at, client] of clients.entries())
      client.send(create({ model: MODELS[at % 2] ?? '', input: `number ${at}`, store: false }))
    const answers = await Promise.all(clients.map((client) => client.answer()))
    for (const [at, events] of answers.entries()) expect(textIn(events)).toContain(`number ${at}`)
    await gateway.idle()
    const { gateway: inner } = gateway.server
    expect([inner.open.size, inner.arriving.count, inner.ledger.openCount()]).toEqual([0, 0, 0])
    for (const client of clients) client.close()
    await Promise.all(clients.map(({ closed }) => closed))
  })
})

describe('with a provider that takes its time', () => {
  let provider: Scripted
  let gateway: TestGateway
  afterEach(async () => {
    await gateway.stop()
    await provider.stop()
  })
  const start = async (handler: Handler, wires: ('responses' | 'messages')[] = ['responses']) => {
    provider = await startScripted(handler)
    const base = wires[0] === 'messages' ? provider.origin : `${provider.origin}/v1`
    gateway = await startGateway({ config: onlyProvider(base, { wires }) })
  }
  const frame = (event: JsonObject): string => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`
  const response = (status: string, more: JsonObject = {}): JsonObject => ({
    ...{ id: 'resp_1', object: 'response', created_at: 1, status, model: 'up', output: [] },
    ...more,
  })
  const begun = frame({ type: 'response.created', response: response('in_progress') })
  const word = (delta: string): string =>
    frame({ type: 'response.output_text.delta', item_id: 'msg_1', output_index: 0, content_index: 0, delta })
  const item = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'hi' }] }
  const ended = frame({
    type: 'response.completed',
    response: response('completed', { usage: { input_tokens: 3, output_tokens: 1, total_tokens: 4 } }),
  })
  const sse = { 'content-type': 'text/event-stream' }

  test('events leave as they come, and a client that goes ends the call', async () => {
    const held = gate()
    await start(() => ({ headers: sse, steps: [begun, word('hel'), held, word('lo'), ended] }))
    const client = await connect(gateway)
    client.send(create({ input: 'x' }))
    expect((await client.next()).type).toBe('response.created')
    expect((await client.next()).delta).toBe('hel')
    client.socket.terminate()
    expect(await provider.requests[0]?.closed).toBe('aborted')
    held.open()
    await gateway.idle()
    expect((await gateway.server.gateway.store.exchanges({ limit: 1 }))[0]).toMatchObject({ outcome: 'aborted' })
  })

  test('one that its client cancels ends with an error, and its call with it; the next is answered', async () => {
    const held = gate()
    let asked = 0
    await start(() => ({
      headers: sse,
      steps: asked++ === 0 ? [begun, word('hel'), held, word('lo'), ended] : [begun, word('next'), ended],
    }))
    const client = await connect(gateway)
    client.send({ type: 'response.cancel' })
    expect(errorIn(await client.next())).toEqual(['error', 400, 'response_cancel_not_active'])
    client.send(create({ input: 'x', stream_id: 'a' }))
    client.send(create({ input: 'y', stream_id: 'a' }))
    expect((await client.next()).type).toBe('response.created')
    expect((await client.next()).delta).toBe('hel')
    for (const missed of [{}, { stream_id: 'b' }, { stream_id: 'a', response_id: 'resp_other' }]) {
      client.send({ type: 'response.cancel', ...missed })
      const told = await client.next()
      expect(errorIn(told)).toEqual(['error', 400, 'response_cancel_not_active'])
      expect(told.stream_id).toEqual(missed.stream_id)
    }
    client.send({ type: 'response.cancel', stream_id: 'a', response_id: 'resp_1' })
    const told = await client.next()
    expect([errorIn(told), told.stream_id]).toEqual([['error', 499, 'response_cancelled'], 'a'])
    expect(await provider.requests[0]?.closed).toBe('aborted')
    held.open()
    expect(textIn(await client.answer())).toBe('next')
    await gateway.idle()
    const outcomes = await gateway.server.gateway.store.exchanges({ limit: 2 })
    expect(outcomes.map(({ outcome }) => outcome)).toEqual(['done', 'aborted'])
    client.send({ type: 'response.cancel', stream_id: 'a' })
    expect(errorIn(await client.next())).toEqual(['error', 400, 'response_cancel_not_active'])
  })

  test('one whose provider has not answered is cancelled, too, with one word', async () => {
    await start(() => ({ end: 'hang' }))
    const client = await connect(gateway)
    client.send(create({ input: 'x' }))
    await provider.arrived(0)
    client.send({ type: 'response.cancel' })
    expect(errorIn(await client.next())).toEqual(['error', 499, 'response_cancelled'])
    await gateway.idle()
    client.send({ type: 'response.steer', input: 'x' })
    expect((await client.next()).type).toBe('response.steer.failed')
  })

  test('with as many under way as there may be, no other is begun, and each can be cancelled', async () => {
    await start(() => ({ end: 'hang' }))
    const client = await connect(gateway)
    for (let lane = 0; lane < 32; lane++) client.send(create({ input: 'x', stream_id: `lane ${lane}` }))
    await provider.arrived(31)
    client.send(create({ input: 'x', stream_id: 'another' }))
    expect(errorIn(await client.next())).toEqual(['error', 429, 'rate_limit_exceeded'])
    client.send({ type: 'response.cancel', stream_id: 'lane 5' })
    const told = await client.next()
    expect([errorIn(told), told.stream_id]).toEqual([['error', 499, 'response_cancelled'], 'lane 5'])
    client.socket.terminate()
    await gateway.idle()
  })

  test('items that a server tells as they come, and not at its end, go on within the connection', async () => {
    await start(() => ({
      headers: sse,
      steps: [begun, frame({ type: 'response.output_item.done', output_index: 0, item }), word('hi'), ended],
    }))
    const client = await connect(gateway)
    client.send(create({ input: 'one', store: false }))
    await client.answer()
    client.send(create({ input: 'two', store: false, previous_response_id: 'resp_1' }))
    await client.answer()
    const { input } = JSON.parse(provider.requests[1]?.text ?? '{}') as { input: JsonObject[] }
    expect(input.map(({ role }) => role)).toEqual(['user', 'assistant', 'user'])
  })

  test('a stream that breaks off ends with what POST would say, each part an event', async () => {
    const held = gate()
    await start(() => ({ headers: sse, steps: [begun, word('hel'), held], end: 'cut' }))
    const client = await connect(gateway)
    client.send(create({ input: 'x' }))
    expect([(await client.next()).type, (await client.next()).delta]).toEqual(['response.created', 'hel'])
    held.open()
    const events = await client.answer()
    expect(events.map(({ type }) => type)).toEqual(['response.failed', 'error'])
    expect(errorIn(events.at(-1))).toEqual(['error', undefined, 'upstream_error'])
    client.send({ type: 'response.steer', input: 'x' })
    expect((await client.next()).type).toBe('response.steer.failed')
  })

  test('a request that cannot be begun is told with its status', async () => {
    await start(() => ({
      status: 429,
      headers: { 'retry-after': '7' },
      steps: ['{"error":{"message":"slow","code":"rate_limit_exceeded"}}'],
    }))
    const client = await connect(gateway)
    client.send(create({ input: 'x' }))
    const [event = {}] = await client.answer()
    expect(errorIn(event)).toEqual(['error', 503, 'service_unavailable'])
    expect((event.headers as JsonObject)['retry-after']).toBe('7')
    expect(JSON.stringify(event)).not.toContain('slow')
  })

  test('of many requests on one connection the last are refused, and no frame may be larger than a body', async () => {
    const held = gate()
    await start(() => ({ headers: sse, steps: [held, begun, ended] }))
    const client = await connect(gateway)
    for (let at = 0; at < 40; at++) client.send(create({ input: `${at}`, stream_id: `${at}` }))
    const refused: JsonObject[] = []
    while (refused.length < 8) refused.push(await client.next())
    expect(refused.map(errorIn)).toEqual(refused.map(() => ['error', 429, 'rate_limit_exceeded']))
    held.open()
    let done = 0
    while (done < 32) if ((await client.next()).type === 'response.completed') done++
    const large = await connect(gateway)
    large.send(create({ input: 'x'.repeat(gateway.config.bodyLimitBytes + 100) }))
    expect(errorIn((await large.answer()).at(-1))).toEqual(['error', 413, 'payload_too_large'])
    large.send(create({ input: 'x'.repeat(gateway.config.bodyLimitBytes + 10_000) }))
    expect((await large.closed).code).toBeGreaterThanOrEqual(1006)
  })

  /** A connection that has become a WebSocket, and on which a test writes its own bytes. */
  const raw = async (): Promise<{ socket: net.Socket; answer: string }> => {
    const socket = net.connect(Number(new URL(gateway.url).port), '127.0.0.1')
    const lines = ['GET /v1/responses HTTP/1.1', 'host: x', 'connection: Upgrade', 'upgrade: websocket']
    const key = Buffer.from('0123456789abcdef').toString('base64')
    const more = ['sec-websocket-version: 13', `sec-websocket-key: ${key}`, `authorization: Bearer ${gateway.secret}`]
    socket.write([...lines, ...more, '', ''].join('\r\n'))
    const { promise: answered, resolve } = Promise.withResolvers<Buffer>()
    socket.once('data', resolve)
    return { socket, answer: String(await answered) }
  }

  test('the handshake is answered with what every answer has', async () => {
    await start(() => ({ headers: sse, steps: [begun, ended] }))
    const { socket, answer } = await raw()
    expect(answer).toMatch(/^HTTP\/1\.1 101 /)
    expect(answer).toMatch(/^x-content-type-options: nosniff\r$/im)
    expect(answer).toMatch(/^x-request-id: req_/im)
    socket.destroy()
  })

  test.each<[string, (socket: net.Socket) => void]>([
    ['half of its connection closed', (socket) => socket.end()],
    ['a frame that is not masked', (socket) => socket.write(Buffer.from([0x81, 0x02, 0x7b, 0x7d]))],
    ['a frame of no kind', (socket) => socket.write(Buffer.from([0x83, 0x80, 0, 0, 0, 0]))],
    ['its connection reset', (socket) => socket.resetAndDestroy()],
  ])('a client with %s ends its answer', async (_, leave) => {
    const held = gate()
    await start(() => ({ headers: sse, steps: [begun, held, ended] }))
    const { socket } = await raw()
    socket.on('error', () => undefined)
    socket.write(frameOf(JSON.stringify(create({ input: 'x' }))))
    const request = await provider.arrived(0)
    leave(socket)
    expect(await request.closed).toBe('aborted')
    held.open()
    await gateway.idle()
    expect(gateway.server.gateway.sockets.count).toBe(0)
    socket.destroy()
  })

  test('a client that does not read holds the provider back', async () => {
    const chunk = word('x'.repeat(64 * 1024))
    let made = 0
    const steps = function* () {
      yield begun
      for (; made < 3_000; made++) yield chunk
      yield ended
    }
    await start(() => ({ headers: sse, steps: steps() }))
    const { socket } = await raw()
    socket.pause()
    socket.write(frameOf(JSON.stringify(create({ input: 'x' }))))
    const request = await provider.arrived(0)
    let before = -1
    // Until it takes no more: what lies between is full.
    while (request.sent !== before || request.sent === 0) {
      before = request.sent
      await new Promise((resolve) => setTimeout(resolve, 300))
    }
    expect(made).toBeLessThan(1_500)
    socket.destroy()
    expect(await request.closed).toBe('aborted')
    await gateway.idle()
  })

  test.each([
    ['revoked', 401],
    ['bound to other addresses', 403],
  ])('a key that is %s within an answer lets it end first, and its client is told after it', async (how, status) => {
    const held = gate()
    await start(() => ({ headers: sse, steps: [begun, held, word('hi'), ended] }))
    const { keys } = gateway.server.gateway.store
    const { id, secret } = await gateway.issue()
    const busy = await connect(gateway, secret)
    busy.send(create({ input: 'x' }))
    expect((await busy.next()).type).toBe('response.created')
    // Looked at after the busy one, in the same round.
    const idle = await connect(gateway, secret)
    if (how === 'revoked') await keys.revoke(id, SYSTEM)
    else await keys.update(id, { ips: ['10.0.0.0/8'] }, SYSTEM)
    expect((await idle.closed).code).toBe(1008)
    held.open()
    expect((await busy.answer()).map(({ type }) => type)).toEqual(['response.output_text.delta', 'response.completed'])
    expect(errorIn(await busy.next()).slice(0, 2)).toEqual(['error', status])
    expect((await busy.closed).code).toBe(1008)
    expect(busy.unread()).toEqual([])
  })

  test('a stop waits for what is answered, ends what is idle, and begins nothing', async () => {
    const held = gate()
    await start(() => ({ headers: sse, steps: [begun, held, word('hi'), ended] }))
    const [idle, busy] = [await connect(gateway), await connect(gateway)]
    busy.send(create({ input: 'x' }))
    expect((await busy.next()).type).toBe('response.created')
    const stopped = gateway.server.stop()
    expect((await idle.closed).code).toBe(1001)
    busy.send(create({ input: 'y', stream_id: 'other' }))
    expect(errorIn(await busy.next())).toEqual(['error', 503, 'service_unavailable'])
    held.open()
    expect((await busy.answer()).at(-1)?.type).toBe('response.completed')
    expect((await busy.closed).code).toBe(1001)
    await stopped
  })
})

/** A text frame as clients send it. */
const frameOf = (text: string): Buffer => {
  const payload = Buffer.from(text)
  const head = Buffer.from([0x81, 0x80 | 126, payload.length >> 8, payload.length & 0xff, 0, 0, 0, 0])
  return Buffer.concat([head, payload])
}
