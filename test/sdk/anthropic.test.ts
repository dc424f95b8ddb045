// The official Anthropic SDK, unmodified, in both its living versions (1.x: bearer, 2026-10-21; 0.x: x-api-key,
// 2023-06-01), against models of both vendors.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import Anthropic from '@anthropic-ai/sdk'
import Anthropic0 from 'anthropic-sdk-0'
import { hasCorpus } from '../support/corpus.ts'
import { badRequests } from './sent.ts'
import { leaks, MODELS, PIXEL, type Running, startGateway } from './support.ts'

let gateway: Running
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway.stop())

// The two versions' types differ in names only: what both can do is written once, in the newer one's.
const VERSIONS = ['1.x', '0.x'] as const
type Version = (typeof VERSIONS)[number]
const clientOf = (version: Version, apiKey = gateway.key, more: object = {}): Anthropic => {
  const options = { baseURL: gateway.url, apiKey, maxRetries: 0, ...more }
  return version === '1.x' ? new Anthropic(options) : (new Anthropic0(options) as unknown as Anthropic)
}

const TABLE = VERSIONS.flatMap((version) => MODELS.map((model) => [version, model] as const))
const tool = {
  name: 'get_weather',
  description: 'Weather',
  input_schema: { type: 'object' as const, properties: { location: { type: 'string' } }, required: ['location'] },
}
const user = (content: Anthropic.MessageParam['content']): Anthropic.MessageParam => ({ role: 'user', content })
const textOf = (message: Anthropic.Message): string =>
  message.content.map((block) => (block.type === 'text' ? block.text : '')).join('')

describe.each(TABLE)('version %s with %s', (version, model) => {
  const settings = { model, max_tokens: 500 }

  test('answers with the gateway’s id of the model and usage', async () => {
    const { data, response } = await clientOf(version)
      .messages.create({ ...settings, messages: [user('Hello you')] })
      .withResponse()
    expect(textOf(data)).toContain('“Hello you”')
    expect([data.model, data.type, data.role, data.stop_reason]).toEqual([model, 'message', 'assistant', 'end_turn'])
    expect(data.usage.input_tokens).toBeGreaterThan(0)
    expect(data.usage.output_tokens).toBeGreaterThan(0)
    expect(response.headers.get('request-id')).toBeTruthy()
    expect(leaks(JSON.stringify(data) + JSON.stringify([...response.headers]))).toEqual([])
  })

  test('counts a prompt as an answer to it is billed', async () => {
    const asked = { model, messages: [user('Hello you')], system: 'Be kind', tools: [tool] }
    const { input_tokens } = await clientOf(version).messages.countTokens(asked)
    const { usage } = await clientOf(version).messages.create({ ...asked, max_tokens: 500 })
    expect(input_tokens).toBe(
      usage.input_tokens + (usage.cache_read_input_tokens ?? 0) + (usage.cache_creation_input_tokens ?? 0),
    )
  })

  test('streams the same message to the helper and to the raw iterator', async () => {
    const asked = { ...settings, messages: [user('Hello you')] }
    const whole = await clientOf(version).messages.create(asked)
    const stream = clientOf(version).messages.stream(asked)
    const deltas: string[] = []
    stream.on('text', (delta) => deltas.push(delta))
    const final = await stream.finalMessage()
    expect([textOf(final), deltas.join('')]).toEqual([textOf(whole), textOf(whole)])
    expect([final.model, final.usage.input_tokens, final.usage.output_tokens]).toEqual([
      model,
      whole.usage.input_tokens,
      whole.usage.output_tokens,
    ])
    const types = new Set<string>()
    for await (const event of await clientOf(version).messages.create({ ...asked, stream: true })) types.add(event.type)
    expect([...types]).toEqual([
      'message_start',
      'content_block_start',
      'content_block_delta',
      'content_block_stop',
      'message_delta',
      'message_stop',
    ])
  })

  test('calls tools in parallel and goes on with their results', async () => {
    const client = clientOf(version)
    const messages = [user('weather in Paris and in Tokyo, in parallel')]
    const first = await client.messages.stream({ ...settings, messages, tools: [tool] }).finalMessage()
    const calls = first.content.filter((block) => block.type === 'tool_use')
    expect([first.stop_reason, calls.map((call) => call.input)]).toEqual([
      'tool_use',
      [{ location: 'Paris' }, { location: 'Tokyo' }],
    ])
    const results = calls.map((call, at) => ({
      type: 'tool_result' as const,
      tool_use_id: call.id,
      content: `result ${at}`,
    }))
    messages.push({ role: 'assistant', content: first.content }, user(results))
    const second = await client.messages.create({ ...settings, messages, tools: [tool] })
    expect(textOf(second)).toContain('The tool answered: result 0')
    expect(textOf(second)).toContain('The tool answered: result 1')
  })

  test('thinks, and takes its thinking back with a tool’s result', async () => {
    const client = clientOf(version)
    const thinking = { ...settings, max_tokens: 4000, thinking: { type: 'adaptive' as const }, tools: [tool] }
    const messages = [user('weather in Rome')]
    const first = await client.messages.stream({ ...thinking, messages }).finalMessage()
    const call = first.content.find((block) => block.type === 'tool_use')
    messages.push(
      { role: 'assistant', content: first.content },
      user([{ type: 'tool_result', tool_use_id: call?.id ?? '', content: 'hail' }]),
    )
    const second = await client.messages.create({ ...thinking, messages })
    expect(textOf(second)).toContain('hail')
    if (model === 'vendorA-opus-4-8') expect(first.content[0]?.type).toBe('thinking')
  })

  test('sees pictures and documents', async () => {
    const answer = await clientOf(version).messages.create({
      ...settings,
      messages: [
        user([
          { type: 'image', source: { type: 'base64', media_type: 'image/png', data: PIXEL } },
          { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: PIXEL } },
          { type: 'text', text: 'look' },
        ]),
      ],
    })
    expect(textOf(answer)).toContain('image/png of 70 bytes')
    expect(textOf(answer)).toContain('application/pdf of 70 bytes')
  })

  test('follows a schema', async () => {
    const schema = {
      type: 'object',
      properties: { name: { type: 'string' }, age: { type: 'integer' } },
      required: ['name', 'age'],
      additionalProperties: false,
    }
    const answer = await clientOf(version).messages.create({
      ...settings,
      messages: [user('a person called "Dara" of 31 years')],
      output_config: { format: { type: 'json_schema', schema } },
    })
    expect(JSON.parse(textOf(answer))).toEqual({ name: 'Dara', age: 31 })
  })

  test('stops at the token limit, and at a stop sequence where the vendor knows them', async () => {
    const client = clientOf(version)
    const short = await client.messages.create({ ...settings, max_tokens: 20, messages: [user('[[long:50]]')] })
    expect([short.stop_reason, short.usage.output_tokens]).toEqual(['max_tokens', 20])
    if (model !== 'vendorA-opus-4-8') return
    const stopped = await client.messages.create({
      ...settings,
      messages: [user('alpha STOP')],
      stop_sequences: ['STOP'],
    })
    expect([stopped.stop_reason, stopped.stop_sequence]).toEqual(['stop_sequence', 'STOP'])
  })

  test('a stream that breaks throws instead of ending short', async () => {
    for (const fault of ['cut', 'eof', 'stream-error', 'malformed']) {
      const read = async (): Promise<void> => {
        const messages = [user(`[[${fault}]] [[long:30]]`)]
        for await (const _ of await clientOf(version).messages.create({ ...settings, messages, stream: true }));
      }
      const error = await read().then(
        () => 'ended',
        (thrown: unknown) => thrown,
      )
      expect([fault, error instanceof Error, leaks(String(error))]).toEqual([fault, true, []])
    }
  })
})

describe.each(VERSIONS)('version %s', (version) => {
  test('lists models and finds one by its alias', async () => {
    const ids: string[] = []
    for await (const model of clientOf(version).models.list({ limit: 5 })) ids.push(model.id)
    expect([ids.length, new Set(ids).size, ids[0]]).toEqual([12, 12, 'vendorA-opus-4-8'])
    const found = await clientOf(version).models.retrieve('vendorA-opus-4.8')
    expect([found.id, found.type, found.display_name]).toEqual(['vendorA-opus-4-8', 'model', 'Opus 4.8'])
  })

  test('meets errors as its own classes', async () => {
    const ask = (content: string, model = 'auto', key = gateway.key) =>
      clientOf(version, key).messages.create({ model, max_tokens: 50, messages: [user(content)] })
    const table = [
      [() => ask('x', 'auto', 'sk-sl-wrong'), 401, 'authentication_error', 'invalid_api_key'],
      [
        async () => ask('x', 'auto', await gateway.issue({ models: ['vendorB-4'] })),
        403,
        'permission_error',
        'permission_denied',
      ],
      [() => ask('x', 'no-such-model'), 404, 'invalid_request_error', 'invalid_model'],
      [
        () => ask('[[error:context_length]]'),
        400,
        'invalid_request_error',
        'prompt is too long: 209512 tokens > 200000 maximum',
      ],
      [() => ask('[[error:context_length]]', 'vendorB-5.5'), 400, 'invalid_request_error', 'prompt is too long'],
      [() => ask('[[error:content_policy]]'), 400, 'invalid_request_error', 'content_policy_violation'],
      [() => ask('[[error:413]]'), 413, 'invalid_request_error', 'payload_too_large'],
      [() => ask('[[error:529]]'), 503, 'api_error', 'service_unavailable'],
      [() => ask('[[error:500]]', 'vendorB-5.5'), 502, 'api_error', 'upstream_error'],
      [() => ask('[[error:401]]'), 502, 'api_error', 'upstream_error'],
    ] as const
    for (const [call, status, type, words] of table) {
      const error: unknown = await call().then(
        () => 'answered',
        (thrown: unknown) => thrown,
      )
      expect(error).toMatchObject({ status, error: { type: 'error', error: { type } } })
      expect(String(error)).toContain(words)
      expect(leaks(String(error))).toEqual([])
    }
  })
})

test('the tool runner of version 1.x comes to its end', async () => {
  const asked: unknown[] = []
  const runner = clientOf('1.x').beta.messages.toolRunner({
    model: 'vendorA-opus-4-8',
    max_tokens: 500,
    messages: [{ role: 'user', content: 'weather in Lima' }],
    tools: [
      {
        ...tool,
        parse: (input: unknown) => input,
        run: (input: unknown) => {
          asked.push(input)
          return 'fog'
        },
      },
    ],
  })
  const final = await runner
  expect(asked).toEqual([{ location: 'Lima' }])
  expect(JSON.stringify(final.content)).toContain('fog')
})

test.skipIf(!hasCorpus)(
  'every request the vendors were sent is of their types (skipped: no corpus beside the repository)',
  () => {
    expect(gateway.demo.requests.length).toBeGreaterThan(20)
    expect(badRequests(gateway.demo)).toEqual([])
  },
)
