// Conversations that a vendor of the client's own wire refuses for their form, as models of others and interrupted agents
// leave them: they are written anew, and only where that does not help is the client told.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { asObject, asObjects, type JsonObject } from '../../src/ir/json.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { json, type Script, type Scripted, startScripted } from '../support/provider/scripted.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='
const usage = { input_tokens: 3, output_tokens: 2 }
const ANSWERS: Record<string, Script> = {
  '/v1/messages': json({
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'up', content: [{ type: 'text', text: 'Hi.' }] },
    ...{ stop_reason: 'end_turn', usage },
  }),
  '/v1/chat/completions': json({
    id: 'chatcmpl-1',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  }),
  '/v1/responses': json({
    ...{ id: 'resp_1', object: 'response', created_at: 5, model: 'up', status: 'completed' },
    output: [{ type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] }],
    usage: { ...usage, total_tokens: 5 },
  }),
}

/** What is said of a request that is refused; undefined for one that is taken. */
let refuses: (body: JsonObject) => string | undefined
let provider: Scripted
let gateway: TestGateway

beforeAll(async () => {
  provider = await startScripted(({ path, text }) => {
    const message = refuses(JSON.parse(text))
    const error = { type: 'invalid_request_error', message, param: null, code: null }
    return message === undefined ? (ANSWERS[path] ?? json({}, 404)) : json({ type: 'error', error }, 400)
  })
})
beforeEach(async () => {
  provider.requests.length = 0
  gateway = await startGateway({
    config: onlyProvider(provider.origin, { wires: ['messages'] }),
  })
})
afterEach(() => gateway.stop())
afterAll(() => provider.stop())

const sent = (at: number): JsonObject => JSON.parse(provider.requests[at]?.text ?? '{}')
const blocks = (body: JsonObject): JsonObject[] => asObjects(body.messages).flatMap(({ content }) => asObjects(content))
const uses = (body: JsonObject): JsonObject[] => blocks(body).filter(({ type }) => type === 'tool_use')
const results = (body: JsonObject): JsonObject[] => blocks(body).filter(({ type }) => type === 'tool_result')

const say = (text: string): JsonObject => ({ role: 'user', content: text })
const use = (id: string, place: string): JsonObject => ({
  ...{ type: 'tool_use', id, name: 'weather' },
  input: { place },
})
const result = (id: string, content: unknown): JsonObject =>
  ({ type: 'tool_result', tool_use_id: id, content }) as JsonObject
const picture = (type: string): JsonObject => ({
  type: 'image',
  source: { type: 'base64', media_type: type, data: PNG },
})
const round = (call: JsonObject, ...answer: JsonObject[]): JsonObject[] => [
  { role: 'assistant', content: [call] },
  { role: 'user', content: answer },
]
const tools = [{ name: 'weather', input_schema: { type: 'object', properties: { place: { type: 'string' } } } }]

type Row = {
  what: string
  messages: JsonObject[]
  tools?: JsonObject[]
  more?: JsonObject
  said: string
  /** Whether a request is as its vendor takes it. */
  isTaken: (body: JsonObject) => boolean
}

const ids = (body: JsonObject): unknown[] => uses(body).map(({ id }) => id)
const isPaired = (body: JsonObject): boolean => {
  const answered = results(body).map(({ tool_use_id: id }) => id)
  return ids(body).toSorted().join() === answered.toSorted().join() && new Set(answered).size === answered.length
}

const ROWS: Row[] = [
  {
    what: 'the id of an earlier call',
    messages: [
      say('Rain?'),
      ...round(use('c0', 'Pailin'), result('c0', 'no')),
      say('And'),
      ...round(use('c0', 'Kep'), result('c0', 'yes')),
    ],
    said: 'messages.5.content.0: `tool_use` ids must be unique',
    isTaken: (body) => new Set(ids(body)).size === 2 && isPaired(body),
  },
  {
    what: 'an id of other signs',
    messages: [say('Rain?'), ...round(use('weather.7:0', 'Pailin'), result('weather.7:0', 'no'))],
    said: "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    isTaken: (body) => ids(body).every((id) => /^[\w-]+$/.test(`${id}`)) && isPaired(body),
  },
  {
    what: 'a call without its result, beside one that has it',
    messages: [
      say('Rain?'),
      { role: 'assistant', content: [use('a1', 'Pailin'), use('a2', 'Kep')] },
      { role: 'user', content: [result('a1', 'no'), { type: 'text', text: 'Stop.' }] },
    ],
    said: 'messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a2. Each `tool_use` block must have a corresponding `tool_result` block in the next message.',
    isTaken: isPaired,
  },
  {
    what: 'two results of one call',
    messages: [say('Rain?'), ...round(use('a1', 'Pailin'), result('a1', 'no'), result('a1', 'yes'))],
    said: 'messages.2.content.1: each tool_use must have a single result. Found multiple `tool_result` blocks with id: a1',
    isTaken: isPaired,
  },
  {
    what: 'a text of nothing, marked for the cache',
    messages: [
      say('Rain?'),
      {
        role: 'assistant',
        content: [{ type: 'text', text: '', cache_control: { type: 'ephemeral' } }, use('a1', 'Kep')],
      },
      { role: 'user', content: [result('a1', 'no')] },
    ],
    said: 'messages.1.content.0.text: cache_control cannot be set for empty text blocks',
    isTaken: (body) => blocks(body).every(({ type, text }) => type !== 'text' || text !== ''),
  },
  {
    what: 'a picture of another type than it says, shown by a tool',
    messages: [say('Show.'), ...round(use('a1', 'Kep'), result('a1', [picture('image/jpeg')]))],
    said: 'messages.2.content.0.content.0.image.source.base64.data: Image does not match the provided media type image/jpeg',
    isTaken: (body) => JSON.stringify(body).includes('"media_type":"image/png"'),
  },
  {
    what: 'to think by a budget about calls that a model without thoughts has made',
    more: { thinking: { type: 'enabled', budget_tokens: 1024 }, max_tokens: 2000 },
    messages: [say('Rain?'), ...round(use('a1', 'Kep'), result('a1', 'no'))],
    said: 'messages.1.content.0.type: Expected `thinking` or `redacted_thinking`, but found `tool_use`. When `thinking` is enabled, a final `assistant` message must start with a thinking block',
    isTaken: ({ thinking }) => asObject(thinking).type !== 'enabled',
  },
  {
    what: 'a tool whose arguments are one of several objects',
    messages: [say('Rain?')],
    tools: [{ name: 'weather', input_schema: { ...tools[0]?.input_schema, anyOf: [{ required: ['place'] }] } }],
    said: 'tools.0.custom.input_schema: input_schema does not support oneOf, allOf, or anyOf at the top level',
    isTaken: ({ tools: [tool] = [] as JsonObject[] }: { tools?: JsonObject[] }) =>
      asObject(tool?.input_schema).anyOf === undefined,
  },
]

test.each(ROWS.map((row) => [row.what, row] as const))(
  'a request is written anew and answered where its vendor refuses %s',
  async (_, { messages, said, isTaken, tools: own = tools, more }) => {
    refuses = (body) => (isTaken(body) ? undefined : said)
    const asked = { model: 'vendorA-opus-4-8', max_tokens: 90, tools: own, ...more, messages }
    const answer = await gateway.post('/v1/messages', asked)
    expect(answer.status).toBe(200)
    expect(provider.requests.length).toBe(2)
    // Nothing that was said is lost.
    const words = JSON.stringify(messages).match(/"(?:Rain\?|Show\.|Stop\.|Pailin|Kep|no)"/g) ?? []
    for (const word of words) expect(provider.requests[1]?.text).toContain(word)
    // The next request's bytes pass again.
    await gateway.post('/v1/messages', { ...asked, tools, messages: [say('Hi')] })
    expect(sent(2)).toEqual({ ...asked, tools, messages: [say('Hi')] })
  },
)

test.each(ROWS.map((row) => [row.what, row] as const))(
  'where that does not help either, the client is told of what it has written: %s',
  async (_, { messages, said, tools: own = tools, more }) => {
    refuses = () => said
    const asked = { model: 'vendorA-opus-4-8', max_tokens: 90, tools: own, ...more, messages }
    const answer = await gateway.post('/v1/messages', asked)
    const { error } = (await answer.json()) as { error: JsonObject }
    expect([answer.status, error.code, provider.requests.length]).toEqual([400, 'invalid_request', 2])
    const named = asObject(asked as JsonObject)
    expect(`${error.param ?? 'messages'}`.split('.')[0] ?? '').toBeOneOf(Object.keys(named))
  },
)

test('a picture that no other form helps is told in the words by which agents take it out', async () => {
  refuses = () => 'messages.0.content.0.image.source.base64.media_type: Input should be a known type'
  const messages = [{ role: 'user', content: [picture('image/png')] }]
  const answer = await gateway.post('/v1/messages', { model: 'vendorA-opus-4-8', max_tokens: 90, messages })
  const { error } = (await answer.json()) as { error: JsonObject }
  expect([answer.status, error.message]).toEqual([400, expect.stringContaining('Could not process image')])
  expect(provider.requests.length).toBe(1)
})

const chatCall = { id: 'a1', type: 'function', function: { name: 'weather', arguments: '{"place":"Kep"}' } }

test.each([
  [
    'chat-completions',
    { messages: [say('Rain?'), { role: 'assistant', content: null, tool_calls: [chatCall] }, say('Never mind.')] },
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: a1",
    (body: JsonObject) => asObjects(body.messages).some(({ tool_call_id: id }) => id === 'a1'),
  ],
  [
    'responses',
    {
      input: [
        { role: 'user', content: 'Rain?' },
        { type: 'function_call', call_id: 'a1', name: 'weather', arguments: '{"place":"Kep"}' },
        { role: 'user', content: 'Never mind.' },
      ],
    },
    'No tool output found for function call a1.',
    (body: JsonObject) => asObjects(body.input).some(({ type }) => type === 'function_call_output'),
  ],
] as const)('so is a call that was interrupted on the %s wire', async (wire, talk, said, isTaken) => {
  await gateway.stop()
  gateway = await startGateway({ config: onlyProvider(`${provider.origin}/v1`, { wires: [wire] }) })
  refuses = (body) => (isTaken(body) ? undefined : said)
  const path = wire === 'responses' ? '/v1/responses' : '/v1/chat/completions'
  expect((await gateway.post(path, { model: 'vendorB-5.5', ...talk })).status).toBe(200)
  expect(provider.requests[1]?.text).toContain('Never mind.')
})

test('so is one whose id a later call has', async () => {
  await gateway.stop()
  gateway = await startGateway({ config: onlyProvider(`${provider.origin}/v1`, { wires: ['chat-completions'] }) })
  const isAnswered = (body: JsonObject): boolean => {
    const roles = asObjects(body.messages).map(({ role, tool_calls: calls }) => (calls === undefined ? role : 'calls'))
    return roles.every((role, at) => role !== 'calls' || roles[at + 1] === 'tool')
  }
  const words =
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: a1"
  refuses = (body) => (isAnswered(body) ? undefined : words)
  const calls = { role: 'assistant', content: null, tool_calls: [chatCall] }
  const messages = [say('Rain?'), calls, say('Stop.'), calls, { role: 'tool', tool_call_id: 'a1', content: 'no' }]
  expect((await gateway.post('/v1/chat/completions', { model: 'vendorB-5.5', messages })).status).toBe(200)
  expect(isAnswered(sent(provider.requests.length - 1))).toBe(true)
})

test('what is asked for by saying so as by saying nothing is left out where a server of the same wire does not know it', async () => {
  await gateway.stop()
  gateway = await startGateway({ config: onlyProvider(`${provider.origin}/v1`, { wires: ['chat-completions'] }) })
  const known = new Set(['model', 'messages', 'tools'])
  refuses = (body) => {
    const novel = Object.keys(body).find((name) => !known.has(name))
    return novel && `Unknown parameter: '${novel}'.`
  }
  const asked = { model: 'vendorB-5.5', messages: [say('Hi')] }
  const answer = await gateway.post('/v1/chat/completions', {
    ...asked,
    store: false,
    parallel_tool_calls: true,
    seed: null,
  })
  expect(answer.status).toBe(200)
  // Said otherwise it is the client's own affair.
  const told = await gateway.post('/v1/chat/completions', { ...asked, store: true })
  expect([told.status, ((await told.json()) as { error: JsonObject }).error.param]).toEqual([400, 'store'])
})

test('how far a mark of the cache reaches is left out where a server knows only the mark', async () => {
  refuses = ({ system: [first] = [] as JsonObject[] }: { system?: JsonObject[] }) =>
    asObject(first?.cache_control).scope === undefined
      ? undefined
      : 'system.0.cache_control.ephemeral.scope: Extra inputs are not permitted'
  const system = [{ type: 'text', text: 'Rules.', cache_control: { type: 'ephemeral', scope: 'global' } }]
  const asked = { model: 'vendorA-opus-4-8', max_tokens: 90, system, messages: [say('Hi')] }
  const answer = await gateway.post('/v1/messages', asked)
  expect([answer.status, sent(1).system]).toEqual([
    200,
    [{ type: 'text', text: 'Rules.', cache_control: { type: 'ephemeral' } }],
  ])
})

test('a thought that its client refers to by an id that is not known is left out', async () => {
  await gateway.stop()
  gateway = await startGateway({ config: onlyProvider(`${provider.origin}/v1`, { wires: ['responses'] }) })
  refuses = (body) =>
    JSON.stringify(body).includes('rs_lost')
      ? "Item with id 'rs_lost' not found. Items are not persisted when `store` is set to false."
      : undefined
  const input = [
    { role: 'user', content: 'Rain?' },
    { type: 'reasoning', id: 'rs_lost', summary: [] },
    { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'No.' }] },
    { role: 'user', content: 'Sure?' },
  ]
  expect((await gateway.post('/v1/responses', { model: 'vendorB-5.5', store: false, input })).status).toBe(200)
  expect(provider.requests.map(({ text }) => text.includes('"No."'))).toEqual([true, true])
})

test.each(['/v1/messages', '/v1/responses'])(
  'a call that an answer at %s repeats the id of gets another',
  async (path) => {
    const call = { index: 0, id: 'weather:0', type: 'function', function: { name: 'weather', arguments: '{}' } }
    const frames = [
      { index: 0, delta: { role: 'assistant', tool_calls: [call] }, finish_reason: null },
      { index: 0, delta: {}, finish_reason: 'tool_calls' },
    ].map((choice) => `data: ${JSON.stringify({ id: 'chatcmpl-1', model: 'up', choices: [choice] })}\n\n`)
    const whole = {
      index: 0,
      message: { role: 'assistant', content: null, tool_calls: [call] },
      finish_reason: 'tool_calls',
    }
    const calling = await startScripted(({ text }) =>
      JSON.parse(text).stream === true
        ? { headers: { 'content-type': 'text/event-stream' }, steps: [...frames, 'data: [DONE]\n\n'] }
        : json({ id: 'chatcmpl-1', model: 'up', choices: [whole], usage: { prompt_tokens: 3, completion_tokens: 2 } }),
    )
    await gateway.stop()
    gateway = await startGateway({ config: onlyProvider(`${calling.origin}/v1`, { wires: ['chat-completions'] }) })
    const ask = async (turns: JsonObject[], stream: boolean): Promise<string> => {
      const talk = path === '/v1/messages' ? { max_tokens: 90, tools, messages: turns } : { input: turns }
      const answer = await (await gateway.post(path, { model: 'vendorB-5.5', stream, ...talk })).text()
      return /"(?:call_id|id)":"((?:weather)[^"]*)"/.exec(answer)?.[1] ?? ''
    }
    const goesOn = (id: string): JsonObject[] =>
      path === '/v1/messages'
        ? round(use(id, 'Kep'), result(id, 'no'))
        : [
            { type: 'function_call', call_id: id, name: 'weather', arguments: '{}' },
            { type: 'function_call_output', call_id: id, output: 'no' },
          ]
    const talk = [say('Rain?')]
    const seen: string[] = []
    for (const stream of [false, true, false, true]) {
      const id = await ask(talk, stream)
      seen.push(id)
      talk.push(...goesOn(id), say('And now?'))
    }
    expect([seen.every((id) => id !== ''), new Set(seen).size]).toEqual([true, 4])
    const last = JSON.parse(calling.requests.at(-1)?.text ?? '')
    expect(asObjects(last.messages).flatMap(({ tool_call_id: id }) => (id === undefined ? [] : [id]))).toEqual(
      seen.slice(0, 3),
    )
    await calling.stop()
  },
)
