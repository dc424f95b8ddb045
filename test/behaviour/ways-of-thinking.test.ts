// Models of vendor_a think by a budget or as they see fit, and refuse the other. Clients cannot know which by the gateway's
// name of a model: they are answered all the same, and the next refusal is not waited for.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import { sealTag } from '../../src/wire/seal.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { json, type Script, type Scripted, startScripted } from '../support/provider/scripted.ts'

const refusal = (message: string): Script =>
  json({ type: 'error', error: { type: 'invalid_request_error', message }, request_id: 'req_1' }, 400)
const NO_BUDGET = refusal(
  '"thinking.type.enabled" is not supported for this model. Use "thinking.type.adaptive" and "output_config.effort" to control thinking behavior.',
)
const NOT_ADAPTIVE = refusal('adaptive thinking is not supported on this model')
const ANSWER: Script = {
  steps: [
    JSON.stringify({
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'up', stop_reason: 'end_turn' },
      content: [{ type: 'text', text: 'Hi.' }],
      usage: { input_tokens: 3, output_tokens: 2 },
    }),
  ],
}

const ADAPTIVE_ONLY = 'vendorA-opus-4-8'
const BUDGET_ONLY = 'vendorA-haiku-4-5'

let refusesAll = false
/** The words in which a request is refused; undefined where it is not. */
let refused: (body: {
  messages: JsonObject[]
  thinking?: JsonObject
  output_config?: JsonObject
  tool_choice?: JsonObject
}) => string | undefined
let provider: Scripted
beforeAll(async () => {
  provider = await startScripted(({ text }) => {
    const body = JSON.parse(text)
    const { model, thinking } = body
    const words = refused(body)
    if (words !== undefined) return refusal(words)
    if (thinking?.type === 'enabled' && (refusesAll || model === ADAPTIVE_ONLY)) return NO_BUDGET
    if (thinking?.type === 'adaptive' && (refusesAll || model === BUDGET_ONLY)) return NOT_ADAPTIVE
    return ANSWER
  })
})
afterAll(() => provider.stop())

let gateway: TestGateway
beforeEach(async () => {
  refusesAll = false
  refused = () => undefined
  provider.requests.length = 0
  gateway = await startGateway({ config: onlyProvider(provider.origin, { wires: ['messages'] }) })
})
afterEach(() => gateway.stop())

const messages = [{ role: 'user', content: 'Hi' }]
const ask = (model: string, thinking: JsonObject, more: JsonObject = {}) =>
  gateway.post('/v1/messages', { model, max_tokens: 20_000, thinking, messages, ...more })
const thoughts = () => provider.requests.map(({ text }) => JSON.parse(text).thinking)

test.each<[string, JsonObject, JsonObject, string | null]>([
  [
    ADAPTIVE_ONLY,
    { type: 'enabled', budget_tokens: 2_048 },
    { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
    'thinking.budget_tokens',
  ],
  [BUDGET_ONLY, { type: 'adaptive' }, { thinking: { type: 'enabled', budget_tokens: 8_192 } }, null],
])('%s thinks in its way for a client that asks for the other', async (model, thinking, sent, lost) => {
  const answer = await ask(model, thinking)
  expect([answer.status, answer.headers.get('x-gateway-dropped')]).toEqual([200, lost])
  expect(JSON.parse(provider.requests[1]?.text ?? '')).toEqual({ model, max_tokens: 20_000, messages, ...sent })
  expect((await ask(model, thinking)).status).toBe(200)
  expect(thoughts()).toEqual([thinking, sent.thinking, sent.thinking])
  await gateway.idle()
  expect(gateway.server.gateway.health.states().map(({ state }) => state)).toEqual(['closed'])
})

test('a model that refuses neither is asked as the client asks', async () => {
  const asked: JsonObject[] = [{ type: 'adaptive' }, { type: 'enabled', budget_tokens: 2_048 }, { type: 'disabled' }]
  for (const thinking of asked) expect((await ask('vendorA-sonnet-5', thinking)).status).toBe(200)
  expect(thoughts()).toEqual(asked)
})

test('a model that refuses both is asked in both ways, and the refusal stands', async () => {
  refusesAll = true
  const answer = await ask(ADAPTIVE_ONLY, { type: 'adaptive' })
  expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([400, 'false'])
  expect(thoughts()).toEqual([{ type: 'adaptive' }, { type: 'enabled', budget_tokens: 8_192 }])
})

test.each<[string, string[], string | null]>([
  [
    "This model does not support effort level 'xhigh'. Supported levels: high, low, max, medium.",
    ['xhigh', 'high'],
    null,
  ],
  ['This model does not support the effort parameter.', ['xhigh', 'none'], null],
])('a model is asked for an effort that it takes: %s', async (message, efforts, lost) => {
  refused = ({ output_config: output }) => (output?.effort === 'xhigh' ? message : undefined)
  for (const _ of [1, 2]) {
    const answer = await gateway.post('/v1/responses', {
      ...{ model: 'vendorA-sonnet-5', input: 'Hi', reasoning: { effort: 'xhigh' } },
    })
    expect([answer.status, answer.headers.get('x-gateway-dropped')]).toEqual([200, lost])
  }
  const [asked, taken] = efforts
  const sent = provider.requests.map(({ text }) => JSON.parse(text).output_config?.effort ?? 'none')
  expect(sent).toEqual([asked, taken, taken])
})

test.each<[string, JsonObject, JsonObject]>([
  [
    "thinking: Input tag 'adaptive' found using 'type' does not match any of the expected tags: 'disabled', 'enabled'",
    { type: 'adaptive' },
    { type: 'enabled', budget_tokens: 8_192 },
  ],
  [
    'Validation: thinking.type must be enabled or disabled',
    { type: 'adaptive' },
    { type: 'enabled', budget_tokens: 8_192 },
  ],
  [
    'Validation: `thinking.type` must be `enabled` or `disabled`',
    { type: 'adaptive' },
    { type: 'enabled', budget_tokens: 8_192 },
  ],
  [
    `event:error\ndata:{"message":"Only 'enabled' and 'disabled' are supported for thinking; 'adaptive' is not supported."}`,
    { type: 'adaptive' },
    { type: 'enabled', budget_tokens: 8_192 },
  ],
  [
    'invalid params, invalid thinking.type: "enabled" (allowed: adaptive, disabled) (2013)',
    { type: 'enabled', budget_tokens: 2_048 },
    { type: 'adaptive' },
  ],
])('other vendors’ words for it are known: %s', async (words, asked, sent) => {
  refused = (body) => (body.thinking?.type === asked.type ? words : undefined)
  expect((await ask('vendorA-sonnet-5', asked)).status).toBe(200)
  expect(thoughts()).toEqual([asked, sent])
})

test.each<[string, string, JsonObject | undefined, string]>([
  [
    "output_config.effort 'xhigh' is not supported when thinking is disabled on this model. Use effort 'high' or below, or enable thinking.",
    'xhigh',
    { effort: 'high' },
    'output_config.effort',
  ],
  ['thinking options type cannot be disabled when reasoning_effort is set', 'low', undefined, 'output_config'],
])('an effort that is refused where thinking is off is not asked for there: %s', async (words, effort, sent, lost) => {
  refused = ({ thinking, output_config: output }) =>
    thinking?.type === 'disabled' && output?.effort === effort ? words : undefined
  for (const _ of [1, 2]) {
    const answer = await ask('vendorA-sonnet-5', off, { output_config: { effort } })
    expect([answer.status, answer.headers.get('x-gateway-dropped')]).toEqual([200, lost])
  }
  const format = { type: 'json_schema', schema: { type: 'object', properties: {}, additionalProperties: false } }
  expect((await ask('vendorA-sonnet-5', off, { output_config: { effort, format } })).status).toBe(200)
  expect((await ask('vendorA-sonnet-5', { type: 'adaptive' }, { output_config: { effort } })).status).toBe(200)
  const asked = provider.requests
    .map(({ text }) => JSON.parse(text))
    .map(({ thinking, output_config: output }) => [thinking.type, output])
  expect(asked).toEqual([
    ['disabled', { effort }],
    ['disabled', sent],
    ['disabled', sent],
    ['disabled', { ...sent, format }],
    ['adaptive', { effort }],
  ])
})

const off = { type: 'disabled' }
const enabled = (budget: number): JsonObject => ({ type: 'enabled', budget_tokens: budget })

test.each<[string, (type: unknown) => boolean, [JsonObject, JsonObject | undefined, string | null][], JsonObject]>([
  [
    '"thinking.type.disabled" is not supported for this model. Thinking defaults to adaptive mode when not specified.',
    (type) => type === 'disabled',
    [
      [{ thinking: off }, undefined, 'thinking'],
      [{}, undefined, null],
      [{ thinking: { type: 'adaptive' } }, { type: 'adaptive' }, null],
    ],
    { type: 'adaptive' },
  ],
  [
    'invalid thinking: only type=enabled is allowed for this model',
    (type) => type !== 'enabled',
    [
      [{}, enabled(1_024), null],
      [{ thinking: off }, enabled(1_024), 'thinking'],
      [{ thinking: { type: 'adaptive' } }, enabled(8_192), null],
      [{ max_tokens: 90 }, { type: 'enabled' }, null],
    ],
    enabled(2_048),
  ],
])(
  'a model whose thinking cannot be turned off thinks as little as it may: %s',
  async (words, isRefused, asked, crossed) => {
    refused = ({ thinking }) => (isRefused(thinking?.type) ? words : undefined)
    const own = { model: 'vendorA-sonnet-5', max_tokens: 20_000, messages }
    for (const [more, sent, lost] of asked) {
      const answer = await gateway.post('/v1/messages', { ...own, ...more })
      expect([answer.status, answer.headers.get('x-gateway-dropped')]).toEqual([200, lost])
      expect(thoughts().at(-1)).toEqual(sent)
    }
    expect(provider.requests.length).toBe(asked.length + 1)
    const other = { model: own.model, messages, reasoning_effort: 'none', max_completion_tokens: 20_000 }
    const answer = await gateway.post('/v1/chat/completions', other)
    expect([answer.status, answer.headers.get('x-gateway-dropped')]).toEqual([200, 'reasoning_effort'])
    expect(thoughts().at(-1)).toEqual(crossed)
  },
)

test.each([
  'The `content[].thinking` in the thinking mode must be passed back to the API.',
  'thinking is enabled but reasoning_content is missing in assistant tool call message at index 3',
])('a server that wants a thought with calls gets a blank one where there is none of its own: %s', async (words) => {
  const types = (content: unknown): unknown[] => (Array.isArray(content) ? content.map(({ type }) => type) : [])
  refused = (body) =>
    body.messages
      .map(({ content }) => types(content))
      .some((all) => all.includes('tool_use') && !all.includes('thinking'))
      ? words
      : undefined
  const made = (id: string) => ({ type: 'tool_use', id, name: 'look', input: { big: 1 } })
  const given = (id: string) => ({
    role: 'user',
    content: [{ type: 'tool_result', tool_use_id: id, content: 'Done.' }],
  })
  const thought = { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' }
  const blank = { type: 'thinking', thinking: ' ', signature: '' }
  const foreign = {
    type: 'redacted_thinking',
    data: sealTag({ type: 'reasoning', text: '', seal: { origin: 'responses', value: { encrypted_content: 'x' } } }),
  }
  const text = { type: 'text', text: 'So.' }
  const history = [
    ...[...messages, { role: 'assistant', content: [thought, made('a')] }, given('a')],
    ...[{ role: 'assistant', content: [text, made('b')] }, given('b')],
    ...[{ role: 'assistant', content: [foreign, made('c')] }, given('c')],
    ...[{ role: 'assistant', content: 'Done.' }, ...messages],
  ]
  const tools = [{ name: 'look', input_schema: { type: 'object' } }]
  for (const _ of [1, 2])
    expect((await ask('vendorA-sonnet-5', { type: 'adaptive' }, { messages: history, tools })).status).toBe(200)
  const sent = (at: number): JsonObject[] => JSON.parse(provider.requests[at]?.text ?? '').messages
  const due = history.map((message, at) =>
    at === 3
      ? { ...message, content: [blank, text, made('b')] }
      : at === 5
        ? { ...message, content: [blank, made('c')] }
        : message,
  )
  expect([sent(1), sent(2)]).toEqual([due, due])
  const call = { id: 'd', type: 'function', function: { name: 'look', arguments: '{}' } }
  const asked = [
    ...messages,
    { role: 'assistant', tool_calls: [call] },
    { role: 'tool', tool_call_id: 'd', content: '.' },
  ]
  const crossing = { model: 'vendorA-sonnet-5', messages: asked, reasoning_effort: 'high' }
  expect((await gateway.post('/v1/chat/completions', crossing)).status).toBe(200)
  expect(sent(3)[1]?.content).toMatchObject([blank, { type: 'tool_use' }])
})

test('a client of another wire is answered by a model of which it was not known that it takes a budget only', async () => {
  const asked = { model: BUDGET_ONLY, reasoning_effort: 'high', max_completion_tokens: 60_000, messages }
  expect((await gateway.post('/v1/chat/completions', asked)).status).toBe(200)
  expect(thoughts()).toEqual([
    { type: 'adaptive', display: 'summarized' },
    { type: 'enabled', budget_tokens: 16_384 },
  ])
})

test.each([
  'tool_choice: type "tool" and "any" are not supported for this model.',
  'Thinking mode does not support this tool_choice',
])('a model that cannot be forced to call a tool may choose, for a client of another wire: %s', async (words) => {
  refused = ({ tool_choice: choice }) => (choice === undefined || choice.type === 'auto' ? undefined : words)
  const look = { name: 'look', parameters: { type: 'object', properties: {} } }
  const asked = {
    model: ADAPTIVE_ONLY,
    messages,
    tools: [{ type: 'function', function: look }],
    tool_choice: 'required',
  }
  const answer = await gateway.post('/v1/chat/completions', asked)
  expect([answer.status, answer.headers.get('x-gateway-dropped')]).toEqual([200, 'tool_choice'])
  // A schema that structured output does not take is asked for by a tool where one can be forced, else in words.
  const schema = { type: 'object', properties: { title: { type: 'string' } } }
  const inSchema = {
    model: ADAPTIVE_ONLY,
    messages,
    response_format: {
      type: 'json_schema',
      json_schema: { name: 'a', schema: { ...schema, additionalProperties: true } },
    },
  }
  expect((await gateway.post('/v1/chat/completions', inSchema)).headers.get('x-gateway-dropped')).toContain(
    'response_format',
  )
  // A client of the same wire learns more from the refusal.
  const own = {
    model: ADAPTIVE_ONLY,
    max_tokens: 90,
    messages,
    tools: [{ name: 'look', input_schema: look.parameters }],
    tool_choice: { type: 'any' },
  }
  const sent = provider.requests.length
  expect((await gateway.post('/v1/messages', own)).status).toBe(400)
  expect(provider.requests.length).toBe(sent + 1)
})
