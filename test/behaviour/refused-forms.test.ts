// What a server refuses by its value or its place, in words of no list: the request is sent in the other form, on the
// client's own wire, too, where it means the same, and what cannot be helped is named to the client.

import { expect, test } from 'bun:test'
import type { Json, JsonObject } from '../../src/ir/json.ts'
import type { ChatWire } from '../../src/ir/wire.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { PATHS } from '../support/paths.ts'
import { json, startScripted } from '../support/provider/scripted.ts'

const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 }
const ANSWERS: Record<ChatWire, JsonObject> = {
  'chat-completions': { id: 'chatcmpl-1', choices: [{ index: 0, message: { content: 'Hi.' }, finish_reason: 'stop' }] },
  responses: { id: 'resp_1', object: 'response', status: 'completed', output: [], usage },
  messages: { id: 'msg_1', type: 'message', role: 'assistant', content: [], stop_reason: 'end_turn', usage },
}

type Server = { refuses: (sent: JsonObject) => boolean; error: JsonObject; status?: number }
type Asked = { gateway: TestGateway; sent: JsonObject[] }

const before = async (wire: ChatWire, server: Server, use: (asked: Asked) => Promise<void>): Promise<void> => {
  const sent: JsonObject[] = []
  const provider = await startScripted(({ text }) => {
    const body = JSON.parse(text)
    sent.push(body)
    return server.refuses(body) ? json(server.error, server.status ?? 400) : json(ANSWERS[wire])
  })
  const base = wire === 'messages' ? provider.origin : `${provider.origin}/v1`
  const gateway = await startGateway({ config: onlyProvider(base, { wires: [wire] }) })
  try {
    await use({ gateway, sent })
  } finally {
    await gateway.stop()
    await provider.stop()
  }
}

const model = 'vendorB-5.5'
const hi = { role: 'user', content: 'Hi' }
const PNG =
  'data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const pictured = [
  {
    role: 'user',
    content: [
      { type: 'input_text', text: 'Look.' },
      { type: 'input_image', image_url: PNG, detail: 'original' },
    ],
  },
]
const calling = [
  hi,
  { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'look', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'Nothing.' }] },
]
const look = { name: 'look', input_schema: { type: 'object', properties: {}, additionalProperties: false } }
const strict = { type: 'function', name: 'look', parameters: look.input_schema, strict: true }
const textOf = (body: JsonObject | undefined): string => JSON.stringify(body)
const userIn = ({ user, metadata }: JsonObject): Json => user ?? (metadata as JsonObject | undefined)?.user_id ?? null
const listOf = (list: Json | undefined): JsonObject[] => list as JsonObject[]

test.each<[string, ChatWire, ChatWire, JsonObject, Server, (sent: JsonObject) => Json, Json, string | null]>([
  [
    'a user that is a person, as its digest',
    'messages',
    'chat-completions',
    { messages: [hi], user: 'ann@example.test' },
    {
      refuses: (sent) => `${userIn(sent)}`.includes('@'),
      error: { error: { type: 'invalid_request_error', message: 'metadata.user_id: must not look like an address' } },
    },
    (sent) => /^u_[0-9a-z]{22}$/.test(`${userIn(sent)}`),
    true,
    'user',
  ],
  [
    'the same on the client’s own wire',
    'chat-completions',
    'chat-completions',
    { messages: [hi], user: '+49 111 1111' },
    { refuses: (sent) => `${userIn(sent)}`.startsWith('+'), error: { error: { message: 'Bad value', param: 'user' } } },
    (sent) => /^u_[0-9a-z]{22}$/.test(`${userIn(sent)}`),
    true,
    'user',
  ],
  [
    'calls without a text, with an empty one',
    'chat-completions',
    'messages',
    { max_tokens: 90, messages: calling, tools: [look] },
    {
      refuses: (sent) => listOf(sent.messages).some(({ content }) => content === null),
      error: { message: '`messages[1].content` is null' },
      status: 422,
    },
    (sent) => listOf(sent.messages)[1]?.content ?? null,
    '',
    null,
  ],
  [
    'a picture without the detail that is unknown',
    'chat-completions',
    'responses',
    { input: pictured },
    {
      refuses: (sent) => textOf(sent).includes('"detail"'),
      error: { error: { message: "'original' is not one of ['auto', 'low']", param: 'messages.0.content.1' } },
    },
    (sent) => textOf(sent).includes(PNG),
    true,
    'input.content.detail',
  ],
  [
    'the same on the client’s own wire',
    'responses',
    'responses',
    { input: pictured },
    {
      refuses: (sent) => textOf(sent).includes('"detail"'),
      error: { error: { message: 'Invalid.', param: 'input[0].content[1].detail' } },
    },
    (sent) => textOf(sent).includes(PNG),
    true,
    'input.0.content.1.detail',
  ],
  [
    'messages in their long form',
    'responses',
    'responses',
    { input: [hi, { role: 'assistant', content: 'Hello' }, hi] },
    {
      refuses: (sent) => listOf(sent.input).some(({ type }) => type === undefined),
      error: { error: { message: "input[1]: missing field 'type'" } },
    },
    (sent) => listOf(sent.input).map(({ type }) => type ?? null),
    ['message', 'message', 'message'],
    null,
  ],
  [
    'a text alone, as a list',
    'responses',
    'responses',
    { input: 'Hi' },
    { refuses: (sent) => !Array.isArray(sent.input), error: { detail: 'Input should be a list, not a text' } },
    (sent) => sent.input ?? null,
    [{ type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi' }] }],
    null,
  ],
  [
    'the cap under its older name, on the client’s own wire',
    'chat-completions',
    'chat-completions',
    { messages: [hi], max_completion_tokens: 70 },
    { refuses: (sent) => 'max_completion_tokens' in sent, error: { detail: 'Extra: `max_completion_tokens`' } },
    (sent) => sent.max_tokens ?? null,
    70,
    null,
  ],
  [
    'a tool that is not strict',
    'chat-completions',
    'responses',
    { input: 'Hi', tools: [strict] },
    {
      refuses: (sent) => textOf(sent).includes('"strict"'),
      error: { error: { message: 'Unknown name "strict" at \'tools[0].function\': Cannot find field.' } },
    },
    (sent) => textOf(listOf(sent.tools)[0]).includes('look'),
    true,
    'tools.strict',
  ],
  [
    'a cache key that is none of the server’s, on the client’s own wire',
    'responses',
    'responses',
    { input: 'Hi', prompt_cache_key: 'k' },
    { refuses: (sent) => 'prompt_cache_key' in sent, error: { detail: "Unexpected fields: {'prompt_cache_key'}" } },
    (sent) => sent.input ?? null,
    'Hi',
    'prompt_cache_key',
  ],
  [
    'marks of what may be cached, on none',
    'messages',
    'chat-completions',
    {
      messages: [
        { role: 'system', content: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }] },
        { role: 'user', content: 'Hi' },
        { role: 'assistant', content: 'Hello.' },
        { role: 'user', content: 'So?' },
      ],
    },
    {
      refuses: (sent) => textOf(sent).includes('cache_control'),
      error: {
        error: { type: 'invalid_request_error', message: 'system.0.cache_control: Extra inputs are not permitted' },
      },
    },
    (sent) => listOf(sent.messages).length,
    3,
    'system.cache_control',
  ],
  [
    'calls that were made at once, each with its result',
    'chat-completions',
    'messages',
    {
      max_tokens: 90,
      tools: [look],
      messages: [
        hi,
        {
          role: 'assistant',
          content: [
            { type: 'text', text: 'Both.' },
            { type: 'tool_use', id: 'c', name: 'look', input: {} },
            { type: 'tool_use', id: 'd', name: 'look', input: {} },
          ],
        },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'd', content: 'Nothing.' }] },
      ],
    },
    {
      refuses: (sent) => listOf(sent.messages).some(({ tool_calls: calls }) => listOf(calls ?? []).length > 1),
      error: { error: { message: 'The template has room for one tool call at a time, not for more.' } },
    },
    (sent) =>
      listOf(sent.messages).map(({ role, content, tool_calls: calls, tool_call_id: of = null }) => [
        role ?? null,
        content ?? null,
        listOf(calls ?? []).map(({ id }) => id ?? null),
        of,
      ]),
    [
      ['user', 'Hi', [], null],
      ['assistant', 'Both.', ['c'], null],
      ['tool', 'No result was given for this call.', [], 'c'],
      ['assistant', null, ['d'], null],
      ['tool', 'Nothing.', [], 'd'],
    ],
    null,
  ],
  [
    'the least cap that there is',
    'chat-completions',
    'messages',
    { max_tokens: 5, messages: [hi] },
    {
      refuses: (sent) => Number(sent.max_completion_tokens) < 16,
      error: { error: { message: "Invalid 'max_completion_tokens': below the minimum value. Expected >= 16, got 5." } },
    },
    (sent) => sent.max_completion_tokens ?? null,
    16,
    'max_tokens',
  ],
  [
    'the cap that fits',
    'chat-completions',
    'chat-completions',
    { messages: [hi], max_tokens: 30_000 },
    {
      refuses: (sent) => Number(sent.max_tokens) > 2_048,
      error: { error: { message: 'max_tokens=30000 cannot be greater than max_model_len=2048. Ask for fewer.' } },
    },
    (sent) => sent.max_tokens ?? null,
    2_048,
    'max_tokens',
  ],
])('%s: %s', async (_, wire, from, body, server, seen, due, lost) => {
  await before(wire, server, async ({ gateway, sent }) => {
    for (const _ of [1, 2]) {
      const { status, headers } = await gateway.post(PATHS[from], { model, ...body })
      expect([status, headers.get('x-gateway-dropped')]).toEqual([200, lost])
    }
    // The next refusal is not waited for.
    expect(sent).toHaveLength(3)
    expect(sent.slice(1).map(seen)).toEqual([due, due])
  })
})

test.each<[ChatWire, ChatWire, JsonObject, JsonObject, string]>([
  [
    'messages',
    'messages',
    { max_tokens: 9, messages: [hi], temperature: 0.2 },
    { message: 'temperature: Extra inputs' },
    'temperature',
  ],
  [
    'chat-completions',
    'responses',
    { input: 'Hi', max_output_tokens: 9 },
    { message: 'No.', param: 'max_completion_tokens.x' },
    'max_output_tokens',
  ],
  [
    'chat-completions',
    'messages',
    { max_tokens: 9, messages: [hi], tools: [look] },
    { message: 'tools[0].function.name: too short' },
    'tools',
  ],
  ['responses', 'chat-completions', { messages: [hi] }, { message: 'input[0].content: not understood' }, 'messages'],
  [
    'chat-completions',
    'chat-completions',
    { messages: [hi], logit_bias: { 5: 1 } },
    { message: '`logit_bias` is off' },
    'logit_bias',
  ],
])('%s: what no other form helps is named to a client of %s: %j, %j', async (wire, from, body, error, param) => {
  await before(wire, { refuses: () => true, error: { error } }, async ({ gateway }) => {
    const answer = await gateway.post(PATHS[from], { model, ...body })
    const { error: told } = (await answer.json()) as { error: JsonObject }
    expect([answer.status, told.code, told.param]).toEqual([400, 'invalid_request', param])
    expect(`${told.message}`).toContain(`'${param}'`)
    expect(`${told.message}`).not.toContain(`${error.message}`)
    expect(answer.headers.get('x-should-retry')).toBe('false')
  })
})

test.each([
  [500, { error: { message: 'image input is not supported - hint: you may need a projector' } }],
  [400, { message: 'x is not a multimodal model' }],
  [422, { error: 'messages[0].content[1]: unknown variant `image_url`, expected `text`' }],
])('a model without eyes is told to be one: %d %j', async (status, error) => {
  const server = { refuses: () => true, error, status }
  await before('chat-completions', server, async ({ gateway, sent }) => {
    const answer = await gateway.post('/v1/responses', { model, input: pictured })
    const { error: told } = (await answer.json()) as { error: JsonObject }
    expect([answer.status, `${told.message}`.startsWith('Could not process image'), sent.length]).toEqual([
      400,
      true,
      1,
    ])
  })
})

test.each([
  [
    'Too many requests, retry later: what does that mean?',
    'Bad prompt: <<Too many requests, retry later: what does that mean?>>',
  ],
  ['What is meant by: account suspended', 'This cannot be read: What is meant by: account suspended'],
])(
  'what a client has written is no word of its provider’s, at its beginning and its end either: %s',
  async (content, message) => {
    const server = { refuses: () => true, error: { error: { message } } }
    await before('chat-completions', server, async ({ gateway }) => {
      const answer = await gateway.post('/v1/chat/completions', { model, messages: [{ role: 'user', content }] })
      const { error: told } = (await answer.json()) as { error: JsonObject }
      expect([answer.status, told.code]).toEqual([502, 'upstream_error'])
      const { health } = gateway.server.gateway
      expect(health.states().every(({ trouble }) => trouble === undefined)).toBe(true)
    })
  },
)

test.each([false, true])('a refusal in the place of an answer is heeded as well, streaming %p', async (stream) => {
  const error = { error: { message: "Unsupported parameter: 'prompt_cache_key'", code: 400, param: null } }
  const server = { refuses: (sent: JsonObject) => 'prompt_cache_key' in sent, error, status: 200 }
  await before('chat-completions', server, async ({ gateway, sent }) => {
    const answer = await gateway.post('/v1/responses', { model, input: 'Hi', prompt_cache_key: 'k', stream })
    await answer.text()
    expect([answer.status, sent.length]).toEqual([200, 2])
  })
})

test('that a server calls tools in no stream is remembered for requests with tools alone', async () => {
  const refuses = (sent: JsonObject) => sent.stream === true && sent.tools !== undefined
  const error = { error: { message: 'Tools cannot be used with stream=true', param: 'stream' } }
  await before('chat-completions', { refuses, error }, async ({ gateway, sent }) => {
    const asked = async (more: JsonObject): Promise<[number, unknown[]]> => {
      const from = sent.length
      const answer = await gateway.post('/v1/messages', { model, max_tokens: 9, messages: [hi], stream: true, ...more })
      await answer.text()
      return [answer.status, sent.slice(from).map(({ stream }) => stream === true)]
    }
    const tools = [look]
    expect(await asked({ tools })).toEqual([200, [true, false]])
    expect(await asked({ tools })).toEqual([200, [false]])
    expect(await asked({})).toEqual([200, [true]])
    expect(await asked({ tools })).toEqual([200, [false]])
  })
})

const tool = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }

test('what a server gives in no stream says nothing of streams without it', async () => {
  const refuses = (sent: JsonObject) => sent.stream === true && sent.logprobs === true
  const error = { error: { message: 'logprobs are not supported with streaming' } }
  await before('chat-completions', { refuses, error }, async ({ gateway, sent }) => {
    const asked = async (more: JsonObject): Promise<[number, unknown[]]> => {
      const from = sent.length
      const answer = await gateway.post('/v1/chat/completions', { model, messages: [hi], stream: true, ...more })
      await answer.text()
      return [answer.status, sent.slice(from).map(({ stream }) => stream === true)]
    }
    expect(await asked({ logprobs: true })).toEqual([200, [true, false]])
    expect(await asked({})).toEqual([200, [true]])
    expect(await asked({ logprobs: true, tools: [tool] })).toEqual([200, [true, false]])
    expect(await asked({ tools: [tool] })).toEqual([200, [true]])
  })
})
