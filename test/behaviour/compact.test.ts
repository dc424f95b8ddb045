// A conversation compacted: by the provider where it does that, by a summary of the model where it does not; and what comes
// of it goes on at any vendor.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import type { JsonObject } from '../../src/ir/json.ts'
import { type DemoGateway, onlyProvider, startDemoGateway, startGateway, type TestGateway } from '../support/gateway.ts'
import { type Handler, type Scripted, startScripted } from '../support/provider/scripted.ts'

const PATH = '/v1/responses/compact'
const user = (content: string): JsonObject => ({ type: 'message', role: 'user', content })
const said = (text: string): JsonObject => ({
  ...{ type: 'message', id: `msg_${text.length}`, role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text, annotations: [] }],
})
const HISTORY = [user('Count the swans.'), said('There are four.'), user('And the herons?'), said('Two of them.')]

type Compacted = { id: string; object: string; output: JsonObject[]; usage: JsonObject; error?: JsonObject }

describe('with the demo’s vendors', () => {
  let gateway: DemoGateway
  beforeAll(async () => {
    gateway = await startDemoGateway()
  })
  afterAll(() => gateway.stop())

  const compact = async (body: JsonObject, secret = gateway.secret): Promise<[number, Compacted]> => {
    const response = await gateway.post(PATH, body, { authorization: `Bearer ${secret}` })
    return [response.status, (await response.json()) as Compacted]
  }
  const sent = () => JSON.parse(gateway.demo.requests.at(-1)?.body ?? '{}') as JsonObject

  test.each(['vendorA-opus-4-8', 'vendorB-5.5'])(
    '%s: what the user said stays, and one item holds the rest',
    async (model) => {
      const [status, answer] = await compact({ model, input: HISTORY, instructions: 'Be brief.' })
      expect([status, answer.object]).toEqual([200, 'response.compaction'])
      expect(answer.output.map(({ type, role }) => [type, role])).toEqual([
        ['message', 'user'],
        ['message', 'user'],
        ['compaction', undefined],
      ])
      expect(JSON.stringify(answer.output)).toMatch(/swans.*herons/)
      expect(JSON.stringify(answer.output)).not.toContain('four')
      expect(Number(answer.usage.total_tokens)).toBeGreaterThan(0)
      await gateway.idle()
      const [row] = await gateway.server.gateway.store.exchanges({ limit: 1 })
      expect(row).toMatchObject({
        wire: 'responses',
        model,
        outcome: 'done',
        status: 200,
        stream: false,
        estimated: false,
      })
      expect((row?.input ?? 0) + (row?.output ?? 0)).toBeGreaterThan(0)
    },
  )

  test('one that the provider makes is asked of it as it came, its own item sealed', async () => {
    const body = { model: 'vendorB-5.5', input: HISTORY, prompt_cache_key: 'k' }
    const [, answer] = await compact(body)
    expect(new URL(gateway.demo.requests.at(-1)?.path ?? '', 'http://x').pathname).toBe('/v1/responses/compact')
    expect(sent()).toEqual({ ...body, model: expect.any(String) })
    const [again] = await Promise.all([gateway.post('/v1/responses', { model: 'vendorB-5.5', input: answer.output })])
    expect(again.status).toBe(200)
    const elsewhere = await gateway.post('/v1/responses', { model: 'vendorA-opus-4-8', input: answer.output })
    expect(elsewhere.status).toBe(400)
  })

  test.each(['vendorA-opus-4-8', 'vendorB-5.5'])('the gateway’s own goes on at %s', async (model) => {
    const [, { output }] = await compact({ model: 'vendorA-opus-4-8', input: HISTORY })
    const response = await gateway.post('/v1/responses', { model, input: [...output, user('What now?')] })
    expect(response.status).toBe(200)
    const body = JSON.stringify(sent())
    expect(body).toMatch(/swans.*herons.*What now/)
    expect(body).not.toContain('sluice.compaction')
  })

  test('a conversation that is only referred to is compacted whole', async () => {
    const post = await gateway.post('/v1/responses', { model: 'vendorA-opus-4-8', input: 'Count the otters.' })
    const { id } = (await post.json()) as { id: string }
    const [status, answer] = await compact({ model: 'vendorA-opus-4-8', previous_response_id: id })
    expect(status).toBe(200)
    expect(JSON.stringify(answer.output)).toContain('otters')
    expect(JSON.stringify(sent().messages)).toContain('otters')
    const stranger = (await gateway.issue()).secret
    expect(await compact({ model: 'vendorA-opus-4-8', previous_response_id: id }, stranger)).toMatchObject([
      400,
      { error: { code: 'invalid_request', param: 'previous_response_id' } },
    ])
  })

  test('one that nothing is kept of cannot be referred to', async () => {
    const [, { id }] = await compact({ model: 'vendorA-opus-4-8', input: HISTORY })
    expect((await gateway.get(`/v1/responses/${id}`)).status).toBe(404)
  })

  test('the official client reads it', async () => {
    const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secret, maxRetries: 0 })
    const answer = await client.responses.compact({ model: 'vendorA-opus-4-8' as 'gpt-5.5', input: 'Count the swans.' })
    expect(answer.object).toBe('response.compaction')
    expect(answer.output.at(-1)?.type).toBe('compaction')
    expect(answer.usage.output_tokens).toBeGreaterThan(0)
  })

  test.each<[string, JsonObject | string, number, string]>([
    ['nothing to compact', { model: 'vendorA-opus-4-8', instructions: 'Be brief.' }, 400, 'invalid_request'],
    ['a list of nothing', { model: 'vendorA-opus-4-8', input: [] }, 400, 'invalid_request'],
    ['a trigger alone', { model: 'vendorA-opus-4-8', input: [{ type: 'compaction_trigger' }] }, 400, 'invalid_request'],
    ['no model', { input: 'x' }, 400, 'invalid_request'],
    ['an input of numbers', { model: 'vendorA-opus-4-8', input: [1] }, 400, 'invalid_request'],
    ['an unknown model', { model: 'nobody', input: 'x' }, 404, 'invalid_model'],
    ['an image model', { model: 'vendorB-image-1', input: 'x' }, 404, 'invalid_model'],
  ])('%s is refused as elsewhere', async (_, body, status, code) => {
    expect(await compact(body as JsonObject)).toMatchObject([status, { error: { code } }])
  })

  test('keys have their models, limits and quotas here too', async () => {
    const body = { model: 'vendorA-opus-4-8', input: 'x' }
    const { secret: other } = await gateway.issue({ models: ['vendorB-*'] })
    expect(await compact(body, other)).toMatchObject([403, { error: { code: 'permission_denied' } }])
    const { secret: slow } = await gateway.issue({ rpm: 1 })
    expect((await compact(body, slow))[0]).toBe(200)
    expect(await compact(body, slow)).toMatchObject([429, { error: { code: 'rate_limit_exceeded' } }])
    const { secret: poor } = await gateway.issue({ tokensTotal: 10 })
    expect(await compact(body, poor)).toMatchObject([402, { error: { code: 'quota_exhausted' } }])
    expect(await compact(body, 'sk-sl-nobody')).toMatchObject([401, { error: { code: 'invalid_api_key' } }])
  })
})

describe('with a server of one’s own', () => {
  let provider: Scripted
  let gateway: TestGateway
  afterEach(async () => {
    await gateway.stop()
    await provider.stop()
  })
  const start = async (
    answering: Handler,
    wires: ('responses' | 'messages' | 'chat-completions')[] = ['responses'],
  ) => {
    provider = await startScripted(answering)
    gateway = await startGateway({
      config: onlyProvider(wires[0] === 'messages' ? provider.origin : `${provider.origin}/v1`, { wires }),
    })
  }
  const compact = async (body: JsonObject = { model: 'vendorB-5.5', input: HISTORY }) => {
    const response = await gateway.post(PATH, body)
    return [response.status, (await response.json()) as Compacted] as const
  }
  const usage = { input_tokens: 30, output_tokens: 5, total_tokens: 35 }
  const answered = (text: string, more: JsonObject = {}): string =>
    JSON.stringify({
      ...{ id: 'resp_9', object: 'response', created_at: 5, status: 'completed', model: 'up', usage },
      output: [said(text)],
      ...more,
    })

  test.each([
    [404, { detail: 'Not Found' }],
    [405, { detail: 'Method Not Allowed' }],
    [404, { error: { code: 404, message: 'File Not Found', type: 'not_found_error' } }],
    [501, { error: { message: 'not implemented' } }],
    [
      400,
      { error: { message: 'Compaction is not available for this model', type: 'invalid_request_error', code: null } },
    ],
  ])(
    'that has no such endpoint (%d %j) is asked for a summary, and only that from then on',
    async (status, refusal) => {
      await start(({ path }) =>
        path.endsWith('/compact')
          ? { status, steps: [JSON.stringify(refusal)] }
          : { steps: [answered('Four swans, two herons.')] },
      )
      for (const tries of [['/v1/responses/compact', '/v1/responses'], ['/v1/responses']]) {
        const from = provider.requests.length
        const [answered, { output }] = await compact()
        expect(answered).toBe(200)
        expect(output.map(({ type }) => type)).toEqual(['message', 'message', 'compaction'])
        expect(provider.requests.slice(from).map(({ path }) => path)).toEqual(tries)
        const body = JSON.parse(provider.requests.at(-1)?.text ?? '{}') as { input: JsonObject[] }
        expect(JSON.stringify(body.input.at(-1))).toContain('Write that summary now')
        expect(JSON.stringify(body)).not.toContain('compaction_trigger')
      }
      await gateway.idle()
      const [row] = await gateway.server.gateway.store.exchanges({ limit: 1 })
      expect(row).toMatchObject({ input: 30, output: 5, outcome: 'done' })
    },
  )

  const event = (type: string, more: JsonObject): string =>
    `event: ${type}\ndata: ${JSON.stringify({ type, ...more })}\n\n`
  const streamed = (item: JsonObject): string[] => [
    event('response.created', { response: { id: 'resp_9', created_at: 5, status: 'in_progress', output: [] } }),
    event('response.output_item.added', { output_index: 0, item: { ...item, content: [] } }),
    ...(item.type === 'message'
      ? [
          event('response.output_text.delta', {
            item_id: item.id ?? '',
            output_index: 0,
            content_index: 0,
            delta: 'Four swans.',
          }),
        ]
      : []),
    event('response.output_item.done', { output_index: 0, item }),
    event('response.completed', { response: { ...(JSON.parse(answered('')) as JsonObject), output: [item] } }),
  ]
  const triggered = { model: 'vendorB-5.5', store: false, input: [...HISTORY, { type: 'compaction_trigger' }] }
  const itemsOf = (text: string): JsonObject[] =>
    [...text.matchAll(/^data: (.*)$/gm)]
      .map(([, data = '']) => JSON.parse(data) as JsonObject)
      .filter(({ type }) => type === 'response.output_item.done')
      .map(({ item }) => item as JsonObject)

  test.each([false, true])(
    'that answers the conversation in place of a trigger is asked for a summary, and only that from then on (stream: %p)',
    async (stream) => {
      await start(({ text }) => ({
        ...(stream && { headers: { 'content-type': 'text/event-stream' } }),
        steps: stream
          ? streamed(said('Four swans.'))
          : [answered(text.includes('Write that summary') ? 'Four swans.' : 'Hello!')],
      }))
      for (const tries of [2, 1]) {
        const from = provider.requests.length
        const response = await gateway.post('/v1/responses', { ...triggered, stream })
        const text = await response.text()
        const output = stream ? itemsOf(text) : (JSON.parse(text) as Compacted).output
        expect([response.status, output.map(({ type }) => type)]).toEqual([200, ['compaction']])
        expect(text).not.toContain('swans')
        expect(provider.requests.length - from).toBe(tries)
      }
      // What asks for none goes on as it came.
      const plain = await gateway.post('/v1/responses', { ...triggered, stream, input: HISTORY })
      expect(await plain.text()).toContain(stream ? 'swans' : 'Hello!')
    },
  )

  test.each(['compaction', 'compaction_summary'])('that makes a %s itself is passed on, all of it', async (type) => {
    const item = { type, id: 'cmp_1', encrypted_content: 'sealed' }
    const events = streamed(item)
    await start(() => ({ headers: { 'content-type': 'text/event-stream' }, steps: events }))
    const text = await (await gateway.post('/v1/responses', { ...triggered, stream: true })).text()
    expect(text.match(/^event: .*$/gm)).toEqual(events.join('').match(/^event: .*$/gm))
    expect(itemsOf(text)).toEqual([item])
    expect(provider.requests).toHaveLength(1)
  })

  test.each<[string, string, number, string]>([
    ['no text', answered(''), 502, 'upstream_error'],
    ['nothing', answered('', { output: [] }), 502, 'upstream_error'],
    [
      'half a text',
      answered('Four swa', { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }),
      502,
      'upstream_error',
    ],
    [
      'a refusal',
      answered('', { output: [{ ...said(''), content: [{ type: 'refusal', refusal: 'No.' }] }] }),
      400,
      'content_policy_violation',
    ],
  ])('%s for a summary is a failure', async (_, body, status, code) => {
    await start(({ path }) => (path.endsWith('/compact') ? { status: 404, steps: ['{}'] } : { steps: [body] }))
    expect(await compact()).toMatchObject([status, { error: { code } }])
  })

  test('a refusal that is the request’s own fault is told as such', async () => {
    const error = {
      message: 'too long',
      type: 'invalid_request_error',
      code: 'context_length_exceeded',
      param: 'input',
    }
    await start(() => ({ status: 400, steps: [JSON.stringify({ error })] }))
    expect(await compact()).toMatchObject([400, { error: { code: 'context_length_exceeded' } }])
    expect(provider.requests).toHaveLength(1)
  })

  test('of chat completions makes one too, with its tools shown and none called', async () => {
    const choice = { index: 0, message: { role: 'assistant', content: 'Four swans.' }, finish_reason: 'stop' }
    const completion = { id: 'c', object: 'chat.completion', created: 1, model: 'up', choices: [choice] }
    await start(
      () => ({ steps: [JSON.stringify({ ...completion, usage: { prompt_tokens: 9, completion_tokens: 3 } })] }),
      ['chat-completions'],
    )
    const tools = [{ type: 'function', name: 'count', parameters: { type: 'object', properties: {} } }]
    const [status, { output, id }] = await compact({ model: 'vendorB-5.5', input: 'Count the swans.', tools })
    expect([status, output.length]).toEqual([200, 2])
    expect(id).toStartWith('resp_')
    const body = JSON.parse(provider.requests.at(-1)?.text ?? '{}') as JsonObject
    expect([body.tool_choice, (body.tools as JsonObject[]).length, body.stream ?? false]).toEqual(['none', 1, false])
  })
})
