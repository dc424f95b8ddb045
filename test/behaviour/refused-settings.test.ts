// Settings of thought and sampling that a model refuses. Clients of other wires cannot know it by the gateway's name: they
// are answered all the same, and the next refusal is not waited for.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import type { ChatWire } from '../../src/ir/wire.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { PATHS } from '../support/paths.ts'
import { json, type Script, type Scripted, startScripted } from '../support/provider/scripted.ts'

const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 }
const ANSWERS: Record<ChatWire, JsonObject> = {
  'chat-completions': { id: 'chatcmpl-1', choices: [{ index: 0, message: { content: 'Hi.' }, finish_reason: 'stop' }] },
  responses: { id: 'resp_1', object: 'response', status: 'completed', output: [], usage },
  messages: { id: 'msg_1', type: 'message', role: 'assistant', content: [], stop_reason: 'end_turn', usage },
}

let serve: (body: JsonObject) => Script
let provider: Scripted
let gateway: TestGateway | undefined
beforeAll(async () => {
  provider = await startScripted(({ text }) => serve(JSON.parse(text)))
})
beforeEach(() => {
  provider.requests.length = 0
})
afterEach(() => gateway?.stop())
afterAll(() => provider.stop())

const of = async (wire: ChatWire): Promise<TestGateway> => {
  const base = wire === 'messages' ? provider.origin : `${provider.origin}/v1`
  gateway = await startGateway({ config: onlyProvider(base, { wires: [wire] }) })
  return gateway
}
const refusal = (error: JsonObject | string): Script => json({ error }, 400)

const hi = [{ role: 'user', content: 'Hi' }]
const MODEL = 'vendorB-5.5'
const inMessages = (more: JsonObject): [ChatWire, JsonObject] => [
  'messages',
  { model: MODEL, max_tokens: 9_000, messages: hi, ...more },
]
const inResponses = (more: JsonObject): [ChatWire, JsonObject] => ['responses', { model: MODEL, input: 'Hi', ...more }]
const inChat = (more: JsonObject): [ChatWire, JsonObject] => [
  'chat-completions',
  { model: MODEL, messages: hi, max_completion_tokens: 9_000, ...more },
]
const thinks = (effort: string): JsonObject => ({ thinking: { type: 'adaptive' }, output_config: { effort } })

/** What is refused, by the setting's value as it was sent first; what is sent instead; what is listed. */
test.each<[ChatWire, [ChatWire, JsonObject], string, string, JsonObject | string, string | undefined, string | null]>([
  [
    'chat-completions',
    inMessages({ thinking: { type: 'disabled' } }),
    'reasoning_effort',
    'none',
    "Unsupported value: 'reasoning_effort' does not support 'none' with this model. Supported values are: 'minimal', 'low', 'medium', and 'high'.",
    'minimal',
    'thinking',
  ],
  [
    'chat-completions',
    inResponses({ reasoning: { effort: 'xhigh' } }),
    'reasoning_effort',
    'xhigh',
    '`reasoning_effort` must be one of `low`, `medium`, or `high`',
    'high',
    null,
  ],
  [
    'chat-completions',
    inMessages(thinks('low')),
    'reasoning_effort',
    'low',
    "reasoning_effort='low' is not supported for this model. Must be one of (<ReasoningEffort.none: 'none'>, <ReasoningEffort.high: 'high'>)",
    'high',
    null,
  ],
  [
    'chat-completions',
    inMessages(thinks('medium')),
    'reasoning_effort',
    'medium',
    '`reasoning_effort` must be one of `none` or `default`',
    undefined,
    'thinking',
  ],
  [
    'chat-completions',
    inResponses({ reasoning: { effort: 'xhigh' } }),
    'reasoning_effort',
    'xhigh',
    `1 validation error: {'loc': ('body', 'reasoning_effort'), 'msg': "Input should be 'low', 'medium' or 'high'", 'input': 'xhigh'}`,
    'high',
    null,
  ],
  [
    'chat-completions',
    inResponses({ reasoning: { effort: 'xhigh' } }),
    'reasoning_effort',
    'xhigh',
    "Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model.",
    'high',
    null,
  ],
  [
    'chat-completions',
    inResponses({ reasoning: { effort: 'low' } }),
    'reasoning_effort',
    'low',
    'Model x does not support parameter reasoningEffort.',
    undefined,
    'reasoning',
  ],
  [
    'chat-completions',
    inMessages({ temperature: 0.3 }),
    'temperature',
    '0.3',
    "Unsupported value: 'temperature' does not support 0.3 with this model. Only the default (1) value is supported.",
    undefined,
    'temperature',
  ],
  [
    'chat-completions',
    inMessages({ temperature: 0.3 }),
    'temperature',
    '0.3',
    'invalid temperature: only 1 is allowed for this model',
    undefined,
    'temperature',
  ],
  [
    'responses',
    inChat({ reasoning_effort: 'minimal' }),
    'reasoning',
    '{"effort":"minimal"}',
    {
      message:
        "Unsupported value: 'minimal' is not supported. Supported values are: 'none', 'low', 'medium' and 'high'.",
      param: 'reasoning.effort',
      code: 'unsupported_value',
    },
    '{"effort":"low"}',
    null,
  ],
  [
    'responses',
    inChat({}),
    'include',
    '["reasoning.encrypted_content"]',
    'Encrypted content is not supported with this model.',
    undefined,
    null,
  ],
  [
    'responses',
    inChat({ reasoning_effort: 'low' }),
    'reasoning',
    '{"effort":"low"}',
    "Unsupported parameter: 'reasoning.effort' is not supported with this model.",
    undefined,
    'reasoning_effort',
  ],
  [
    'responses',
    inMessages(thinks('low')),
    'reasoning',
    '{"effort":"low","summary":"auto"}',
    {
      message: 'Your organization must be verified to generate reasoning summaries. Please go to the settings.',
      param: 'reasoning.summary',
      code: 'unsupported_value',
    },
    '{"effort":"low"}',
    null,
  ],
  [
    'responses',
    inChat({ reasoning: { effort: 'low', summary: 'concise' } }),
    'reasoning',
    '{"effort":"low","summary":"concise"}',
    { message: "Unsupported value: 'concise' is not supported.", param: 'reasoning.summary' },
    '{"effort":"low"}',
    'reasoning.summary',
  ],
  [
    'responses',
    inMessages({ thinking: { type: 'adaptive', display: 'summarized' } }),
    'reasoning',
    '{"summary":"auto"}',
    { message: 'Your organization must be verified to generate reasoning summaries.', param: 'reasoning.summary' },
    undefined,
    'thinking.display',
  ],
  [
    'responses',
    inChat({ temperature: 0.3 }),
    'temperature',
    '0.3',
    "Unsupported parameter: 'temperature' is not supported with this model.",
    undefined,
    'temperature',
  ],
  [
    'messages',
    inChat({ temperature: 0.3 }),
    'temperature',
    '0.3',
    { type: 'invalid_request_error', message: '`temperature` is deprecated for this model.' },
    undefined,
    'temperature',
  ],
  [
    'messages',
    inChat({ reasoning_effort: 'xhigh' }),
    'output_config',
    '{"effort":"xhigh"}',
    {
      type: 'invalid_request_error',
      message: "This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.",
    },
    '{"effort":"high"}',
    null,
  ],
  [
    'messages',
    inChat({ reasoning_effort: 'low' }),
    'output_config',
    '{"effort":"low"}',
    { type: 'invalid_request_error', message: 'This model does not support the effort parameter.' },
    undefined,
    null,
  ],
])(
  '%s: %j is sent without its %s of %s, refused with %j',
  async (wire, [client, body], member, first, error, then, lost) => {
    const written = (sent: JsonObject): string | undefined => {
      const value = sent[member]
      return typeof value === 'string' || value === undefined ? value : JSON.stringify(value)
    }
    serve = (sent) =>
      written(sent) === first ? refusal(typeof error === 'string' ? { message: error } : error) : json(ANSWERS[wire])
    const { post } = await of(wire)
    for (const _ of [1, 2]) {
      const { status, headers } = await post(PATHS[client], body)
      expect([status, headers.get('x-gateway-dropped')]).toEqual([200, lost])
    }
    expect(provider.requests.map(({ text }) => written(JSON.parse(text)))).toEqual([first, then, then])
  },
)

const tool = { type: 'function', name: 'a', parameters: { type: 'object' } }

/** What is refused of members that a server does not know; which of those sent are left out; what is listed. */
test.each<[ChatWire, [ChatWire, JsonObject], JsonObject, string[], string | null]>([
  [
    'chat-completions',
    inResponses({ tools: [tool], parallel_tool_calls: true, user: 'u' }),
    {
      error: {
        message: "Unsupported parameter: 'parallel_tool_calls' is not supported with this model.",
        ...{ type: 'invalid_request_error', param: 'parallel_tool_calls', code: 'unsupported_parameter' },
      },
    },
    ['parallel_tool_calls'],
    'parallel_tool_calls',
  ],
  [
    'chat-completions',
    inMessages({ metadata: { user_id: 'u' } }),
    {
      object: 'error',
      message: {
        detail: [{ type: 'extra_forbidden', loc: ['body', 'user'], msg: 'Extra inputs are not permitted', input: 'u' }],
      },
      ...{ type: 'invalid_request_error', code: null },
    },
    ['user'],
    'metadata.user_id',
  ],
  [
    'chat-completions',
    inResponses({ user: 'u', prompt_cache_key: 'k', safety_identifier: 's' }),
    {
      error: {
        code: 400,
        message:
          'Invalid JSON payload received. Unknown name "prompt_cache_key": Cannot find field.\nInvalid JSON payload received. Unknown name "safety_identifier": Cannot find field.',
        status: 'INVALID_ARGUMENT',
      },
    },
    ['prompt_cache_key', 'safety_identifier'],
    'prompt_cache_key, safety_identifier',
  ],
  [
    'chat-completions',
    inResponses({ text: { verbosity: 'low' }, service_tier: 'flex' }),
    { error: { message: "Unsupported value: 'verbosity' does not support 'low' with this model." } },
    ['verbosity'],
    'text.verbosity',
  ],
  [
    'chat-completions',
    inResponses({ user: 'u', service_tier: 'flex' }),
    { message: "body.service_tier: property 'body.service_tier' is unsupported", code: 'wrong_api_format' },
    ['service_tier'],
    'service_tier',
  ],
  [
    'chat-completions',
    inResponses({ tools: [tool], parallel_tool_calls: true, user: 'u', prompt_cache_key: 'k' }),
    {
      error: {
        ...{ object: 'error', type: 'invalid_request_error', code: 'invalid_request_error' },
        message:
          "2 request validation errors: Extra inputs are not permitted, field: 'parallel_tool_calls', value: True; Extra inputs are not permitted, field: 'prompt_cache_key', value: 'k'",
      },
    },
    ['parallel_tool_calls', 'prompt_cache_key'],
    'parallel_tool_calls, prompt_cache_key',
  ],
  [
    'chat-completions',
    inResponses({ user: 'u', prompt_cache_key: 'k', service_tier: 'flex' }),
    {
      object: 'error',
      message:
        "2 validation errors:\n  {'type': 'extra_forbidden', 'loc': ('body', 'user'), 'msg': 'Extra inputs are not permitted', 'input': 'u'}\n  {'type': 'extra_forbidden', 'loc': ('body', 'service_tier'), 'msg': 'Extra inputs are not permitted', 'input': 'flex'}",
      ...{ type: 'BadRequestError', code: 400 },
    },
    ['user', 'service_tier'],
    'user, service_tier',
  ],
  [
    'chat-completions',
    inResponses({ user: 'u', service_tier: 'flex' }),
    { error: { message: 'Validation error at #/user: Extra inputs are not permitted', code: 'Bad Request' } },
    ['user'],
    'user',
  ],
  [
    'chat-completions',
    inResponses({ prompt_cache_key: 'k', user: 'u' }),
    {
      error: { message: 'invalid request body: json: unknown field "prompt_cache_key"', type: 'invalid_request_error' },
    },
    ['prompt_cache_key'],
    'prompt_cache_key',
  ],
  [
    'chat-completions',
    inResponses({ prompt_cache_key: 'k', user: 'u' }),
    { error: 'Failed to deserialize the JSON body: unknown field `user`, expected one of `model`, `messages`' },
    ['user'],
    'user',
  ],
  [
    'responses',
    inChat({ prompt_cache_key: 'k', user: 'u' }),
    { error: { message: "Unknown parameter: 'prompt_cache_key'.", code: 'unknown_parameter' } },
    ['prompt_cache_key'],
    'prompt_cache_key',
  ],
])('%s: %j is sent without members that are refused with %j', async (wire, [client, body], error, unknown, lost) => {
  serve = (sent) => (unknown.some((name) => name in sent) ? json(error, 400) : json(ANSWERS[wire]))
  const { post } = await of(wire)
  for (const _ of [1, 2]) {
    const { status, headers } = await post(PATHS[client], body)
    expect([status, headers.get('x-gateway-dropped')]).toEqual([200, lost])
  }
  const [first = {}, then, again] = provider.requests.map(({ text }): JsonObject => JSON.parse(text))
  const rest = Object.keys(first).filter((name) => !unknown.includes(name))
  expect([then, again].map((sent = {}) => Object.keys(sent))).toEqual([rest, rest])
  expect(provider.requests).toHaveLength(3)
})

test('a server that lists all it does not know is asked without any of it, and for the output cap by its older name', async () => {
  serve = (sent) => {
    const known = new Set(['model', 'messages', 'max_tokens', 'tools'])
    const others = Object.keys(sent).filter((name) => !known.has(name))
    const detail = others.map((name) => ({ loc: ['body', name], msg: 'Extra inputs are not permitted' }))
    return others.length === 0 ? json(ANSWERS['chat-completions']) : json({ detail }, 422)
  }
  const { post } = await of('chat-completions')
  const more = { max_output_tokens: 90, prompt_cache_key: 'a', parallel_tool_calls: true, reasoning: { effort: 'low' } }
  const [client, body] = inResponses({ tools: [tool], ...more })
  for (const _ of [1, 2]) {
    const { status, headers } = await post(PATHS[client], body)
    const dropped = headers.get('x-gateway-dropped')?.split(', ').sort()
    expect([status, dropped]).toEqual([200, ['parallel_tool_calls', 'prompt_cache_key', 'reasoning']])
  }
  expect(JSON.parse(provider.requests.at(-1)?.text ?? '').max_tokens).toBe(90)
  expect(provider.requests).toHaveLength(4)
})

test.each<[JsonObject]>([
  [{ message: "Unsupported parameter: 'stop' is not supported with this model.", param: 'stop' }],
  [{ message: 'Model x does not support parameter stop.' }],
  [{ message: 'Argument not supported on this model: stop' }],
])('stop sequences that a model does not take are met in the gateway: %j', async (error) => {
  const choices = [{ index: 0, message: { content: 'One, two, three.' }, finish_reason: 'stop' }]
  serve = ({ stop }) => (stop === undefined ? json({ ...ANSWERS['chat-completions'], choices }) : refusal(error))
  const { post } = await of('chat-completions')
  const [client, body] = inMessages({ stop_sequences: [' three'] })
  const answer = await post(PATHS[client], body)
  expect([answer.status, answer.headers.get('x-gateway-dropped')]).toEqual([200, null])
  const said = { content: [{ type: 'text', text: 'One, two,' }], stop_reason: 'stop_sequence', stop_sequence: ' three' }
  expect(await answer.json()).toMatchObject(said)
})

test.each<[number, JsonObject | string]>([
  [
    400,
    { message: "'tools.1.type' : value is not one of the allowed values ['function']", type: 'invalid_request_error' },
  ],
  [
    400,
    { message: `{'type': 'literal_error', 'loc': ('body', 'tools', 1, 'type'), 'msg': "Input should be 'function'"}` },
  ],
  [
    422,
    'Failed to deserialize the JSON body into the target type: tools[1]: missing field `function` at line 1 column 9',
  ],
  [500, { message: 'Failed to parse tools: Unsupported tool type: {"type":"custom"}', code: 500 }],
])('a server that has functions only gets free-text tools as functions: %d %j', async (status, error) => {
  serve = ({ tools }) =>
    (tools as JsonObject[]).some(({ type }) => type !== 'function')
      ? json({ error }, status)
      : json(ANSWERS['chat-completions'])
  const { post } = await of('chat-completions')
  const [client, body] = inResponses({ tools: [tool, { type: 'custom', name: 'patch' }] })
  for (const _ of [1, 2]) expect((await post(PATHS[client], body)).status).toBe(200)
  const types = provider.requests.map(({ text }) => JSON.parse(text).tools.map(({ type }: JsonObject) => type))
  expect(types).toEqual([
    ['function', 'custom'],
    ['function', 'function'],
    ['function', 'function'],
  ])
  const own = { type: 'custom', custom: { name: 'patch' } }
  expect((await post(PATHS['chat-completions'], { model: MODEL, messages: hi, tools: [own, own] })).status).toBe(400)
  expect(provider.requests.length).toBe(4)
})

test('what clients of another wire have taught leaves the requests of the own wire whole', async () => {
  serve = (sent) =>
    'stop' in sent
      ? refusal({ message: "Unsupported parameter: 'stop' is not supported with this model.", param: 'stop' })
      : json(ANSWERS['chat-completions'])
  const { post } = await of('chat-completions')
  const [client, body] = inMessages({ stop_sequences: [' three'] })
  expect((await post(PATHS[client], body)).status).toBe(200)
  const [own, ownBody] = inChat({ stop: ' three' })
  expect((await post(PATHS[own], ownBody)).status).toBe(400)
  expect(provider.requests.map(({ text }) => text.includes('three'))).toEqual([true, false, true])
})

test('what decides on the answer is not left out, nor is what another member is refused for', async () => {
  serve = () => refusal({ message: "Unknown parameter: 'tools'. messages.0.user: Extra inputs are not permitted" })
  const { post } = await of('chat-completions')
  const [client, body] = inResponses({ tools: [tool], user: 'u' })
  expect((await post(PATHS[client], body)).status).toBe(400)
  expect(provider.requests.length).toBe(1)
})

test.each([true, false])(
  'the wish for usage is left out on the model’s own wire, too, the gateway’s and the client’s: %p',
  async (own) => {
    const chunk = {
      ...ANSWERS['chat-completions'],
      choices: [{ index: 0, delta: { content: 'Hi.' }, finish_reason: 'stop' }],
    }
    serve = (sent) =>
      sent.stream_options === undefined
        ? {
            headers: { 'content-type': 'text/event-stream' },
            steps: [`data: ${JSON.stringify(chunk)}\n\ndata: [DONE]\n\n`],
          }
        : json({ detail: [{ loc: ['body', 'stream_options'], msg: 'Extra inputs are not permitted' }] }, 422)
    const { post } = await of('chat-completions')
    const wish = own ? {} : { stream_options: { include_usage: true } }
    const [client, body] = inChat({ stream: true, ...wish })
    const answer = await post(PATHS[client], body)
    expect([answer.status, answer.headers.get('x-gateway-dropped')]).toEqual([200, own ? null : 'stream_options'])
    await answer.text()
    expect(provider.requests).toHaveLength(2)
  },
)

test('members refused one after the other are all left out', async () => {
  serve = (sent) => {
    const name = ['user', 'service_tier', 'prompt_cache_key'].find((one) => one in sent)
    return name === undefined
      ? json(ANSWERS['chat-completions'])
      : json({ error: { message: `Unrecognized request argument supplied: ${name}` } }, 400)
  }
  const { post } = await of('chat-completions')
  const [client, body] = inResponses({ user: 'u', service_tier: 'flex', prompt_cache_key: 'k' })
  expect((await post(PATHS[client], body)).status).toBe(200)
  expect(provider.requests).toHaveLength(4)
})

test('what a refusal leaves unnamed is found by asking without the settings, and is known from then on', async () => {
  serve = ({ top_p: share }) => (share === undefined ? json(ANSWERS['chat-completions']) : refusal('Bad Request'))
  const { post } = await of('chat-completions')
  const [client, body] = inResponses({ top_p: 0.9, user: 'u' })
  for (const due of [2, 3]) {
    const answer = await post(PATHS[client], body)
    expect([answer.status, answer.headers.get('x-gateway-dropped')]).toEqual([200, 'user, top_p'])
    expect(provider.requests).toHaveLength(due)
  }
  await post(PATHS['chat-completions'], { model: MODEL, messages: hi, top_p: 0.9 })
  expect(JSON.parse(provider.requests.at(-1)?.text ?? '')).toHaveProperty('top_p', 0.9)
})

test('a refusal that no form helps and that names nothing ends soon, and teaches nothing', async () => {
  serve = (sent) => (JSON.stringify(sent).includes('Hi') ? refusal('Bad Request') : json(ANSWERS['chat-completions']))
  const { post } = await of('chat-completions')
  const [client, body] = inMessages({ temperature: 0.3, stream: true })
  const answer = await post(PATHS[client], body)
  expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([502, 'false'])
  expect(provider.requests).toHaveLength(3)
  await post(PATHS[client], { ...body, messages: [{ role: 'user', content: 'Ho' }] })
  expect(JSON.parse(provider.requests.at(-1)?.text ?? '')).toHaveProperty('temperature', 0.3)
})

/** Which choices are sent to a server that refuses one that is left to the model, in these words. */
test.each([
  '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
  'One of the parameters is not supported.',
  'Bad Request',
])('a choice of tools goes only where it is left to the model: %s', async (words) => {
  serve = ({ tool_choice: choice }) => (choice === 'auto' ? refusal(words) : json(ANSWERS['chat-completions']))
  const { post } = await of('chat-completions')
  const asked = async (choice: JsonObject): Promise<unknown[]> => {
    const tools = [{ name: 'look', input_schema: { type: 'object' } }]
    const [client, body] = inMessages({ tools, tool_choice: choice })
    const answer = await post(PATHS[client], body)
    const sent = JSON.parse(provider.requests.at(-1)?.text ?? '')
    return [answer.status, answer.headers.get('x-gateway-dropped'), sent.tool_choice]
  }
  expect(await asked({ type: 'auto' })).toEqual([200, 'tool_choice', undefined])
  expect(await asked({ type: 'none' })).toEqual([200, null, 'none'])
  expect(await asked({ type: 'any' })).toEqual([200, null, 'required'])
  expect(await asked({ type: 'auto' })).toEqual([200, 'tool_choice', undefined])
  expect(provider.requests).toHaveLength(5)
})

test('a tool that must be called is still asked for where a refusal names nothing', async () => {
  serve = () => refusal('Bad Request')
  const { post } = await of('chat-completions')
  const tools = [{ name: 'look', input_schema: { type: 'object' } }]
  const [client, body] = inMessages({ tools, tool_choice: { type: 'any' }, temperature: 0.3 })
  await post(PATHS[client], body)
  const sent = provider.requests.map(({ text }) => JSON.parse(text))
  expect(sent.map((one) => [one.temperature, one.tool_choice])).toEqual([
    [0.3, 'required'],
    [undefined, 'required'],
  ])
})

test('log probabilities are still asked for where a refusal names nothing', async () => {
  serve = () => refusal('Bad Request')
  const { post } = await of('responses')
  const [client, body] = inChat({ logprobs: true, temperature: 0.3 })
  await post(PATHS[client], body)
  const sent = provider.requests.map(({ text }) => JSON.parse(text))
  expect(sent.map((one) => [one.temperature, one.include])).toEqual([
    [0.3, ['reasoning.encrypted_content', 'message.output_text.logprobs']],
    [undefined, ['reasoning.encrypted_content', 'message.output_text.logprobs']],
    [undefined, ['reasoning.encrypted_content', 'message.output_text.logprobs']],
  ])
})

const inPlainText = (text: string, status: number): Script => ({
  ...{ status, headers: { 'content-type': 'text/plain; charset=utf-8' } },
  steps: [text],
})
const DESERIALIZED = 'Failed to deserialize the JSON body into the target type'
const PAGE = '<html><head><title>400 Bad Request</title></head><body>temperature is not supported</body></html>'

/** How many requests it takes, how the client is answered, and what is listed. */
test.each<[string, number, [number, number, string | null]]>([
  ['temperature is not supported by this model', 400, [2, 200, 'temperature']],
  [
    `${DESERIALIZED}: unknown field \`temperature\`, expected one of \`model\` at line 1 column 30`,
    422,
    [2, 200, 'temperature'],
  ],
  ['Bad Request\n', 400, [2, 200, 'temperature']],
  ["This model's maximum context length is 8192 tokens. Your messages resulted in 9000 tokens.", 400, [1, 400, null]],
  ['404 page not found', 404, [1, 502, null]],
  ['', 400, [1, 502, null]],
  [PAGE, 400, [1, 502, null]],
])('a refusal in plain text is read as any other, and a page is not: %s', async (text, status, due) => {
  serve = ({ temperature }) =>
    temperature === undefined ? json(ANSWERS['chat-completions']) : inPlainText(text, status)
  const { post } = await of('chat-completions')
  const [client, body] = inMessages({ temperature: 0.3 })
  const answer = await post(PATHS[client], body)
  const told = await answer.text()
  expect([provider.requests.length, answer.status, answer.headers.get('x-gateway-dropped')]).toEqual(due)
  if (text !== '') expect(told).not.toContain(text.trim())
})

test('what its vendor is to keep, and at what price it answers, is left out last where a refusal names nothing', async () => {
  serve = () => refusal('Bad Request')
  const { post } = await of('responses')
  const [client, body] = inMessages({ temperature: 0.3, service_tier: 'standard_only' })
  await post(PATHS[client], body)
  const sent = provider.requests.map(({ text }) => JSON.parse(text))
  expect(sent.map((one) => [one.temperature, one.store, one.service_tier])).toEqual([
    [0.3, false, 'default'],
    [undefined, false, 'default'],
    [undefined, undefined, undefined],
  ])
})

test('a reference to an item keeps its id where ids are refused', async () => {
  serve = () => refusal('Bad Request')
  const { post } = await of('responses')
  const turn = { type: 'message', role: 'user', content: 'Hi' }
  const reference = { type: 'item_reference', id: 'msg_1' }
  const [client, body] = inResponses({ input: [reference, { ...turn, id: 'msg_2' }] })
  await post(PATHS[client], body)
  expect(provider.requests.map(({ text }) => JSON.parse(text).input)).toEqual([
    [reference, { ...turn, id: 'msg_2' }],
    [reference, turn],
  ])
})

test('a client of the model’s own wire is told', async () => {
  serve = () => refusal({ message: '`reasoning_effort` must be one of `low`, `medium`, or `high`' })
  const { post } = await of('chat-completions')
  const [client, body] = inChat({ reasoning_effort: 'xhigh', temperature: 0.3 })
  const answer = await post(PATHS[client], body)
  const { error } = (await answer.json()) as { error: JsonObject }
  expect([answer.status, error.code, error.param]).toEqual([400, 'invalid_request', 'reasoning_effort'])
  expect(provider.requests.length).toBe(1)
})

test('a model that refuses several settings is asked without each of them', async () => {
  serve = ({ temperature, reasoning_effort: effort }) => {
    if (effort === 'none') return refusal({ message: "'reasoning_effort' does not support 'none' with this model." })
    if (temperature !== undefined) return refusal({ message: "Unsupported parameter: 'temperature' is not supported" })
    return json(ANSWERS['chat-completions'])
  }
  const { post } = await of('chat-completions')
  const [client, body] = inMessages({ temperature: 0.3, thinking: { type: 'disabled' } })
  expect((await post(PATHS[client], body)).headers.get('x-gateway-dropped')).toBe('thinking, temperature')
})

test.each<[ChatWire, [ChatWire, JsonObject], string, string | null]>([
  ['messages', inResponses({ user: 'u' }), 'metadata', 'user'],
  ['messages', inResponses({ safety_identifier: 's' }), 'metadata', 'safety_identifier'],
  ['messages', inChat({ metadata: { user_id: 'u' } }), 'metadata', 'metadata.user_id'],
  ['responses', inMessages({}), 'store', null],
  ['responses', inChat({ store: false }), 'store', null],
])(
  '%s: what is left out is listed as the client has said it, if it has: %j',
  async (wire, [from, asked], name, left) => {
    serve = (body) =>
      body[name] === undefined ? json(ANSWERS[wire]) : refusal(`${name}: Extra inputs are not permitted`)
    const { post } = await of(wire)
    for (const _ of [1, 2]) {
      const answer = await post(PATHS[from], asked)
      expect([answer.status, answer.headers.get('x-gateway-dropped')]).toEqual([200, left])
    }
    expect(provider.requests.length).toBe(3)
  },
)
