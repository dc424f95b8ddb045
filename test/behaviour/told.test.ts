// What a server's refusals tell of it: a request is sent again as it takes it, and what it took is remembered, within
// bounds.

import { expect, test } from 'bun:test'
import type { Json, JsonObject } from '../../src/ir/json.ts'
import { onlyProvider, startGateway } from '../support/gateway.ts'
import type { Script } from '../support/provider/scripted.ts'
import { answer, byTool, called, hi, ofModel, refusal, startRefusing, tools, WANTED } from './refusing.ts'

const on = startRefusing()

test.each([
  ['vendorB-5.5', 'Thinking mode does not support this tool_choice'],
  ['vendorB-5.4', "tool_choice 'specified' is incompatible with thinking enabled"],
  [
    'vendorB-5.4-mini',
    '<400> InternalError.Algo.InvalidParameter: The tool_choice parameter does not support being set to required or object in thinking mode',
  ],
])('a model that cannot be forced to call a tool may choose: %s', async (model, message) => {
  on.server = (_, { tool_choice: choice }) => (choice === undefined || choice === 'auto' ? answer : refusal(message))
  const body = { model, max_tokens: 90, messages: [hi], tools, tool_choice: { type: 'tool', name: 'look' } }
  for (const _ of [1, 2]) {
    const { status, headers } = await on.gateway.post('/v1/messages', body)
    expect([status, headers.get('x-gateway-dropped')]).toEqual([200, 'tool_choice'])
  }
  expect(on.provider.requests.map(({ text }) => JSON.parse(text).tool_choice)).toEqual([
    ...[{ type: 'function', function: { name: 'look' } }, 'auto'],
    ...[{ type: 'function', function: { name: 'look' } }, 'auto'],
  ])
  // A client of the same wire learns more from the refusal.
  const own = {
    model,
    messages: [hi],
    tools: [{ type: 'function', function: { name: 'look' } }],
    tool_choice: 'required',
  }
  expect((await on.gateway.post('/v1/chat/completions', own)).status).toBe(400)
  expect(on.provider.requests.length).toBe(5)
})

test.each([
  ['vendorB-5.5', 'This response_format type is unavailable now', 400],
  ['vendorB-5.4', "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model.", 400],
  ['vendorB-5.4-mini', 'response_format: response_format.type `json_schema` is unavailable now', 422],
])('a model without structured output answers by a tool: %s', async (model, message, status) => {
  on.server = (_, { response_format: format }) => (format === undefined ? byTool : refusal(message, status))
  const schema = {
    type: 'object',
    properties: { title: { type: 'string' } },
    required: ['title'],
    additionalProperties: false,
  }
  const body = { model, max_tokens: 90, messages: [hi], output_config: { format: { type: 'json_schema', schema } } }
  for (const _ of [1, 2]) {
    const { content } = (await (await on.gateway.post('/v1/messages', body)).json()) as JsonObject
    expect(content).toMatchObject([{ type: 'text', text: '{"title":"A"}' }])
  }
  expect(on.provider.requests.length).toBe(3)
  // A tool would be an answer that a client of the same wire has not asked for.
  const own = { model, messages: [hi], response_format: { type: 'json_schema', json_schema: { name: 'a', schema } } }
  expect((await on.gateway.post('/v1/chat/completions', own)).status).toBe(400)
  expect(on.provider.requests.length).toBe(4)
})

test.each<[string, string, JsonObject, string[], string | null]>([
  [
    'vendorB-5.5',
    "Unsupported value: 'reasoning_effort' does not support 'xhigh' with this model. Supported values are: 'low', 'medium', and 'high'.",
    { output_config: { effort: 'max' } },
    ['xhigh', 'high'],
    null,
  ],
  [
    'vendorB-5.4',
    "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'reasoning_effort'), 'msg': \"Input should be 'low', 'medium' or 'high'\", 'input': 'none'}",
    { thinking: { type: 'disabled' } },
    ['none', 'low'],
    'thinking',
  ],
  [
    'vendorB-5.4-mini',
    'reasoning_effort: unknown variant `xhigh`, expected one of `none`, `high`, `max` at line 1 column 9',
    { output_config: { effort: 'xhigh' } },
    ['xhigh', 'high'],
    null,
  ],
  [
    'vendorA-opus-4-7',
    'reasoning_effort must be one of: auto, low, medium, xhigh',
    { output_config: { effort: 'high' } },
    ['high', 'medium'],
    null,
  ],
  [
    'vendorA-sonnet-5',
    'Unrecognized request argument supplied: reasoning_effort',
    { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
    ['high', 'no effort'],
    'thinking',
  ],
  // Listed by the name under which the client wrote it.
  [
    'vendorA-haiku-4-5',
    'Unrecognized request argument supplied: reasoning_effort',
    { output_config: { effort: 'high' } },
    ['high', 'no effort'],
    'output_config.effort',
  ],
])(
  'a model that refuses an effort is asked for the nearest it takes: %s',
  async (model, message, more, efforts, lost) => {
    const [refused, taken] = efforts
    const effortIn = (body: JsonObject): Json => body.reasoning_effort ?? 'no effort'
    on.server = (_, body) => (effortIn(body) === refused ? refusal(message) : answer)
    for (const _ of [1, 2]) {
      const asked = await on.gateway.post('/v1/messages', { model, max_tokens: 90, messages: [hi], ...more })
      expect([asked.status, asked.headers.get('x-gateway-dropped')]).toEqual([200, lost])
    }
    expect(on.provider.requests.map(({ text }) => effortIn(JSON.parse(text)))).toEqual([
      refused,
      taken,
      taken,
    ] as Json[])
    // A client of the same wire learns more from the refusal.
    const own = { model, messages: [hi], reasoning_effort: refused }
    expect((await on.gateway.post('/v1/chat/completions', own)).status).toBe(400)
  },
)

test.each([
  ['vendorB-5.5', 'json mode cannot be combined with tool/function calling'],
  ['vendorB-5.4', '"tools" is incompatible with "response_format"'],
  ['vendorB-5.4-mini', "Function calling with a response mime type: 'application/json' is unsupported"],
])(
  'a model that takes tools or structured output answers by a tool where there are others: %s',
  async (model, message) => {
    on.server = (_, { response_format: format, tools }) =>
      format === undefined ? byTool : tools === undefined ? answer : refusal(message)
    const properties = { title: { type: 'string' } }
    const schema = { type: 'object', properties, required: ['title'], additionalProperties: false }
    const body = { model, max_tokens: 90, messages: [hi], output_config: { format: { type: 'json_schema', schema } } }
    for (const _ of [1, 2]) {
      const response = await on.gateway.post('/v1/messages', { ...body, tools })
      expect([response.status, response.headers.get('x-gateway-dropped')]).toEqual([200, null])
      expect(await response.json()).toMatchObject({ content: [{ type: 'text', text: '{"title":"A"}' }] })
    }
    // Without tools it has structured output, and without a schema there is none to force.
    await on.gateway.post('/v1/messages', body)
    const functions = [{ type: 'function', name: 'look', parameters: { type: 'object', properties: {} } }]
    const loose = { model, input: 'JSON, please', tools: functions, text: { format: { type: 'json_object' } } }
    expect((await on.gateway.post('/v1/responses', loose)).headers.get('x-gateway-dropped')).toBe('text.format')
    const forms = on.provider.requests.map(({ text }) => {
      const { tools = [], tool_choice: choice, response_format: format } = JSON.parse(text)
      return [tools.map((tool: { function: JsonObject }) => tool.function.name), choice, format?.type]
    })
    expect(forms).toEqual([
      [['look'], undefined, 'json_schema'],
      [['look', 'json'], 'required', undefined],
      [['look', 'json'], 'required', undefined],
      [[], undefined, 'json_schema'],
      [['look'], undefined, undefined],
    ])
  },
)

test('what a model refuses while it thinks changes no request without thought', async () => {
  const message = "tool_choice 'specified' is incompatible with thinking enabled"
  on.server = (_, { tool_choice: choice, reasoning_effort: effort }) =>
    choice === 'auto' || effort === 'none' ? answer : refusal(message)
  const body = { model: 'vendorB-5.5', max_tokens: 90, messages: [hi], tools, tool_choice: { type: 'any' } }
  expect((await on.gateway.post('/v1/messages', body)).status).toBe(200)
  const { headers } = await on.gateway.post('/v1/messages', { ...body, thinking: { type: 'disabled' } })
  expect(headers.get('x-gateway-dropped')).toBe(null)
  const choices = on.provider.requests.map(({ text }) => JSON.parse(text).tool_choice)
  expect(choices).toEqual(['required', 'auto', 'required'])
})

test('what one key’s request is refused for changes no request of another key', async () => {
  const isFirst = ({ role }: JsonObject, at: number) => role !== 'system' || at === 0
  on.server = (messages) => (messages.every(isFirst) ? answer : refusal('System message must be at the beginning.'))
  const body = { model: 'vendorB-5.5', max_tokens: 90, messages: [hi, { role: 'system', content: 'Be brief.' }] }
  expect((await on.gateway.post('/v1/messages', body)).status).toBe(200)
  const other = { 'x-api-key': (await on.gateway.issue()).secret }
  expect((await on.gateway.post('/v1/messages', body, other)).status).toBe(200)
  const roles = on.sent().map((messages) => messages.at(-1)?.role)
  expect(roles).toEqual(['system', 'user', 'system', 'user'])
})

const LIMITS = /"(?:pattern|format)":"|"(?:maxLength|minItems|exclusiveMaximum)":|"properties":\{\}/

test.each([
  ['vendorB-5.5', 'Failed to initialize samplers: failed to parse grammar', 400],
  [
    'vendorB-5.4',
    "Unable to generate parser for this template. Automatic parser generation failed: JSON schema conversion failed:\nPattern must start with '^' and end with '$'",
    400,
  ],
  ['vendorB-5.4-mini', 'The provided JSON schema contains features not supported by xgrammar.', 400],
  [
    'vendorB-5.5',
    `Unknown name "exclusiveMaximum" at 'request.tools[0].function_declarations[0].parameters.properties[2].value': Cannot find field.`,
    400,
  ],
])(
  'a server whose grammars hold no limits is told of those of schemas in words: %s',
  async (model, message, status) => {
    on.server = (_, { tools = [], response_format: form = null }) =>
      LIMITS.test(JSON.stringify([tools, form])) ? refusal(message, status) : answer
    const script = { type: 'string', description: 'What runs.', maxLength: 65_536, pattern: '\\S' }
    const dates = { type: 'array', items: { type: 'string', format: 'date' }, minItems: 1 }
    const properties = { script, dates, pattern: { type: 'integer', exclusiveMaximum: 9 } }
    const limited = [
      { name: 'run', input_schema: { type: 'object', properties, required: ['script'] } },
      { name: 'wait', input_schema: { type: 'object', properties: {}, additionalProperties: false } },
    ]
    const body = { model, max_tokens: 90, messages: [hi], tools: limited }
    for (const _ of [1, 2]) expect((await on.gateway.post('/v1/messages', body)).status).toBe(200)
    const lax = {
      script: { type: 'string', description: 'What runs.\n\n{maxLength: 65536, pattern: "\\\\S"}' },
      dates: {
        type: 'array',
        items: { type: 'string', description: '{format: "date"}' },
        description: '{minItems: 1}',
      },
      pattern: { type: 'integer', description: '{exclusiveMaximum: 9}' },
    }
    const due = [{ type: 'object', properties: lax, required: ['script'] }, { type: 'object' }]
    const parameters = on.provider.requests.map(({ text }) =>
      JSON.parse(text).tools.map((tool: { function: JsonObject }) => tool.function.parameters),
    )
    expect(parameters.slice(1)).toEqual([due, due])
    const schema = { type: 'object', properties: { script }, required: ['script'], additionalProperties: false }
    const form = { format: { type: 'json_schema', name: 'a', schema } }
    expect((await on.gateway.post('/v1/responses', { model, input: 'Hi', text: form })).status).toBe(200)
    // Its own tools are the client’s to change.
    const own = { type: 'function', function: { name: 'run', parameters: { type: 'object', properties } } }
    expect((await on.gateway.post('/v1/chat/completions', { model, messages: [hi], tools: [own] })).status).toBe(400)
    expect(on.provider.requests.length).toBe(5)
  },
)

test('a server that adds what may be answered to the prompt is asked for what the context has room for', async () => {
  const [context, prompt] = [40_960, 9_000]
  on.server = (_, { max_completion_tokens: asked, max_tokens: named = asked }) => {
    const answered = Number(named ?? 0)
    if (prompt + answered <= context) return answer
    // It stops counting where the prompt is too long.
    const counted = context - answered + 1
    return refusal(
      `This model's maximum context length is ${context} tokens. However, you requested ${answered} output tokens and your prompt contains at least ${counted} input tokens, for a total of at least ${context + 1} tokens.`,
    )
  }
  const model = 'vendorB-5.5'
  const messages = [{ role: 'user', content: 'word '.repeat(7_200) }]
  const caps = () =>
    on.provider.requests.map(({ text }) => JSON.parse(text).max_completion_tokens ?? JSON.parse(text).max_tokens)
  for (const [path, more] of [
    ['/v1/messages', { max_tokens: 32_000 }],
    ['/v1/chat/completions', { max_tokens: 32_000 }],
    ['/v1/chat/completions', { max_completion_tokens: 32_000, stream: true }],
  ] as const) {
    on.provider.requests.length = 0
    expect((await on.gateway.post(path, { model, messages, ...more })).status).toBe(200)
    const [first, second] = caps()
    expect([first, second > 20_000 && second < context - prompt]).toEqual([32_000, true])
  }
  // Little room would cut the answer: the client is to shorten the prompt.
  on.provider.requests.length = 0
  const long = [{ role: 'user', content: 'word '.repeat(21_000) }]
  const { status, headers } = await on.gateway.post('/v1/messages', { model, max_tokens: 32_000, messages: long })
  expect([status, headers.get('x-gateway-error-code')]).toEqual([400, 'context_length_exceeded'])
  expect(on.provider.requests.length).toBe(1)
})

test('a client of the server’s own wire is told how much room there is, and for others the answer is shortened', async () => {
  on.server = (_, { max_completion_tokens: asked }) =>
    Number(asked) + 9_000 > 40_960
      ? refusal(
          "This model's maximum context length is 40960 tokens. However, you requested 32000 output tokens and your prompt contains 9000 input tokens, for a total of 41000 tokens.",
        )
      : answer
  const own = { model: 'vendorB-5.5', messages: [hi], max_completion_tokens: 32_000 }
  const told = (await (await on.gateway.post('/v1/chat/completions', own)).json()) as { error: JsonObject }
  expect(told.error.message).toContain('exceed context limit: 9000 + 32000 > 40960')
  expect(
    (await on.gateway.post('/v1/responses', { model: 'vendorB-5.5', input: 'Hi', max_output_tokens: 32_000 })).status,
  ).toBe(200)
  const caps = on.provider.requests.map(({ text }) => JSON.parse(text).max_completion_tokens)
  expect(caps).toEqual([32_000, 32_000, 31_960])
})

test('figures that a refusal quotes from the request ask for no more than the client does', async () => {
  const figures =
    "This model's maximum context length is 30000 tokens. However, you requested 10000 output tokens and your prompt contains at least 20001 input tokens, for a total of at least 30001 tokens."
  on.server = ([first]) => refusal(`Not understood: ${first?.content}`)
  const body = { model: 'vendorB-5.5', messages: [{ role: 'user', content: figures }] }
  for (const [path, most] of [
    ['/v1/chat/completions', { max_tokens: 100 }],
    ['/v1/chat/completions', { max_completion_tokens: 9_999 }],
    ['/v1/messages', { max_tokens: 100 }],
  ] as const)
    expect((await on.gateway.post(path, { ...body, ...most })).status).toBe(400)
  expect(on.provider.requests.length).toBe(3)
})

test('room in the context is no reason to ask for more than a quota leaves', async () => {
  const figures =
    "This model's maximum context length is 30000 tokens. However, you requested 10000 output tokens and your prompt contains at least 20001 input tokens, for a total of at least 30001 tokens."
  on.server = () => (on.provider.requests.length > 1 ? answer : refusal(figures))
  const few = { 'x-api-key': (await on.gateway.issue({ tokensTotal: 8_000 })).secret }
  const body = { model: 'vendorB-5.5', messages: [hi], max_tokens: 32_000 }
  expect((await on.gateway.post('/v1/messages', body, few)).status).toBe(200)
  const [first, second] = on.provider.requests.map(({ text }) => JSON.parse(text).max_completion_tokens)
  expect(first).toBeLessThan(8_000)
  expect(second).toBe(first)
})

test('what is told before a thought is refused is remembered, too', async () => {
  on.server = (messages, { max_completion_tokens: cap }) => {
    if (cap !== undefined) return refusal("Unsupported parameter: 'max_completion_tokens'")
    return ofModel(messages).some((one) => one.reasoning_content)
      ? refusal("property 'reasoning_content' is unsupported")
      : answer
  }
  const thought = { type: 'thinking', thinking: 'Hm.', signature: 'sluice.open.' }
  const history = [hi, ...called('a', thought)]
  for (const due of [3, 5]) {
    expect((await on.ask('vendorB-5.5', history)).status).toBe(200)
    expect(on.provider.requests.length).toBe(due)
  }
})

test('a server that always finds something else is asked a bounded number of times', async () => {
  await on.gateway.stop()
  const versionHeader = { name: 'anthropic-version', value: '2023-06-01' }
  on.gateway = await startGateway({ config: onlyProvider(on.provider.origin, { wires: ['messages'], versionHeader }) })
  let asked = 0
  on.server = () => refusal(`Unexpected value(s) \`b${asked++}\` for the \`anthropic-beta\` header.`)
  const betas = Array.from({ length: 200 }, (_, at) => `b${at}`).join(',')
  const body = { model: 'vendorA-opus-4-8', max_tokens: 90, messages: [hi] }
  const { status } = await on.gateway.post('/v1/messages', body, { 'anthropic-beta': betas })
  expect([status, on.provider.requests.length]).toEqual([502, 33])
})

test('what a server tells on one wire changes no byte of what passes on another', async () => {
  await on.gateway.stop()
  on.gateway = await startGateway({
    config: onlyProvider(on.provider.origin, { wires: ['messages', 'chat-completions'] }),
  })
  const told: Script = {
    steps: ['{"id":"msg_1","type":"message","role":"assistant","content":[],"stop_reason":"end_turn","usage":{}}'],
  }
  const needs = (messages: JsonObject[]): string | undefined => {
    if (messages.some(({ role }, at) => role === 'user' && messages[at + 1]?.role === 'user'))
      return 'Conversation roles must alternate user/assistant/user/assistant/...'
    return ofModel(messages).some((one) => !one.reasoning_content) ? WANTED : undefined
  }
  on.server = (messages, { max_tokens: cap }) => {
    if (cap !== undefined) return told
    const message = needs(messages)
    return message === undefined ? answer : refusal(message)
  }
  const model = 'vendorB-5.5'
  const two = [hi, hi, { role: 'assistant', content: 'Hi.' }, hi]
  expect((await on.gateway.post('/v1/chat/completions', { model, messages: two })).status).toBe(200)
  const own = JSON.stringify({ model, max_tokens: 90, messages: [hi, ...called('a'), hi] }, null, 1).replace(
    '"input": {}',
    '"input": { "n": 12345678901234567890 }',
  )
  expect((await on.gateway.post('/v1/messages', own)).status).toBe(200)
  expect(on.provider.requests.at(-1)?.text).toBe(own)
})
