// Servers that refuse a conversation for its form: it is sent again in the form that they take, and the next one goes out in
// it at once.

import { expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import { answer, call, called, hi, ofModel, refusal, startRefusing, WANTED } from './refusing.ts'

const on = startRefusing()

test.each([
  ['vendorB-5.5', WANTED],
  ['vendorB-5.4', 'thinking is enabled but reasoning_content is missing in assistant tool call message at index 2'],
  ['vendorB-5.4-mini', 'Missing `reasoning_content` field in the assistant message at message index 2.'],
])(
  'a server that wants a thought in each turn of the model’s gets a blank where there is none: %s',
  async (model, message) => {
    on.server = (messages) => (ofModel(messages).every((one) => one.reasoning_content) ? answer : refusal(message))
    const thought = { type: 'thinking', thinking: 'Hm.', signature: 'sluice.open.' }
    const history = [hi, ...called('a', thought), ...called('b'), { role: 'assistant', content: 'Done.' }, hi]
    const first = await on.ask(model, history)
    expect([first.status, first.headers.get('x-gateway-dropped')]).toEqual([200, null])
    expect(on.sent().map((messages) => ofModel(messages).map((one) => one.reasoning_content))).toEqual([
      ['Hm.', undefined, undefined],
      ['Hm.', ' ', ' '],
    ])
    expect((await on.ask(model, [hi, ...called('c')])).status).toBe(200)
    const own = {
      role: 'assistant',
      content: null,
      reasoning_content: '',
      tool_calls: [{ id: 'd', type: 'function', function: { name: 'look', arguments: '{}' } }],
    }
    const messages = [hi, own, { role: 'tool', tool_call_id: 'd', content: 'Nothing.' }]
    expect((await on.gateway.post('/v1/chat/completions', { model, messages })).status).toBe(200)
    expect(on.provider.requests.length).toBe(4)
  },
)

test('a long thought that begins with a new line stays where a server wants one in each turn', async () => {
  on.server = (messages) => (ofModel(messages).every((one) => one.reasoning_content) ? answer : refusal(WANTED))
  const thought = `\n${'So many words. '.repeat(4000)}`
  const said = { role: 'assistant', content: 'Hi.' }
  const messages = [hi, { ...said, reasoning_content: thought }, hi, said, hi]
  expect((await on.gateway.post('/v1/chat/completions', { model: 'vendorB-5.5', messages })).status).toBe(200)
  expect(ofModel(on.sent()[1] ?? []).map((one) => one.reasoning_content)).toEqual([thought, ' '])
})

test.each([
  ['vendorB-5.5', 'System message must be at the beginning.', 400],
  [
    'vendorB-5.4',
    'Unable to generate parser for this template. Error: Jinja Exception: System message must be at the beginning.',
    500,
  ],
])(
  'a server that takes one system message, at the beginning, gets the others as the user’s: %s',
  async (model, message, status) => {
    on.server = (messages) =>
      messages.some(({ role }, at) => role === 'system' && at > 0) ? refusal(message, status) : answer
    const system = [{ type: 'text', text: 'Be brief.' }]
    const messages = [{ role: 'system', content: 'And kind.' }, hi, { role: 'system', content: 'Now.' }]
    const body = { model, max_tokens: 90, system, messages }
    expect((await on.gateway.post('/v1/messages', body)).status).toBe(200)
    expect((await on.gateway.post('/v1/messages', body)).status).toBe(200)
    const taken = [
      { role: 'system', content: 'Be brief.\n\nAnd kind.' },
      { role: 'user', content: 'Hi' },
      { role: 'user', content: 'Now.' },
    ]
    expect(on.sent().slice(1)).toEqual([taken, taken])
  },
)

test('a server that takes no user’s message right after a tool’s gets a reply of the model’s between them', async () => {
  on.server = (messages) =>
    messages.some(({ role }, at) => role === 'user' && messages[at - 1]?.role === 'tool')
      ? refusal("Unexpected role 'user' after role 'tool'")
      : answer
  const result = { type: 'tool_result', tool_use_id: 'a', content: 'Nothing.' }
  const [use] = called('a')
  const history = [hi, use ?? {}, { role: 'user', content: [result, { type: 'text', text: 'Look again.' }] }]
  for (const _ of [1, 2]) expect((await on.ask('vendorB-5.5', history)).status).toBe(200)
  const roles = on.sent().map((messages) => messages.map(({ role }) => role))
  const bridged = ['user', 'assistant', 'tool', 'assistant', 'user']
  expect(roles).toEqual([['user', 'assistant', 'tool', 'user'], bridged, bridged])
  // Results alone are followed by the model’s answer.
  await on.ask('vendorB-5.5', [hi, ...called('b')])
  expect(on.sent()[3]?.map(({ role }) => role)).toEqual(['user', 'assistant', 'tool'])
})

test.each([
  [
    'vendorB-5.5',
    'After the optional system message, conversation roles must alternate user/assistant/user/assistant/...',
    400,
  ],
  [
    'vendorB-5.4',
    'After the optional system message, conversation roles must alternate user and assistant roles except for tool calls and results. at row 189',
    500,
  ],
])('a server that takes the user and the model in turns only gets them so: %s', async (model, message, status) => {
  on.server = (messages) => {
    if (messages.some(({ role }, at) => role === 'system' && at > 0))
      return refusal('Only user, assistant and tool roles are supported, got system.', status)
    const spoken = messages.filter(({ role, tool_calls: calls }) => role === 'user' || (role === 'assistant' && !calls))
    return spoken.every(({ role }, at) => (role === 'user') === (at % 2 === 0)) ? answer : refusal(message, status)
  }
  const picture = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' } }
  const messages = [
    hi,
    { role: 'system', content: 'Be brief.' },
    ...called('a'),
    { role: 'user', content: [picture] },
    { role: 'user', content: 'What is it?' },
  ]
  for (const _ of [1, 2]) expect((await on.ask(model, messages)).status).toBe(200)
  const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBORw0KGgo=' } }
  const due = [
    { role: 'user', content: 'Hi\n\nBe brief.' },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ ...call, id: 'a', function: { name: 'look', arguments: '{}' } }],
    },
    { role: 'tool', tool_call_id: 'a', content: 'Nothing.' },
    { role: 'assistant', content: 'I have the result.' },
    { role: 'user', content: [image, { type: 'text', text: 'What is it?' }] },
  ]
  expect(on.sent().slice(2)).toEqual([due, due])
  // Some agents of the server's own wire speak twice in a row.
  const own = [hi, hi, ...due.slice(1, 3), hi]
  expect((await on.gateway.post('/v1/chat/completions', { model, messages: own })).status).toBe(200)
  expect(on.sent()[4]).toEqual([{ role: 'user', content: 'Hi\n\nHi' }, ...due.slice(1, 4), hi])
  expect((await on.gateway.post('/v1/chat/completions', { model, messages: own, n: 2 })).status).toBe(400)
  // What speaks in turns passes, whatever else it holds.
  const [system, ...turns] = due
  const kept = JSON.stringify({ model, messages: [system, ...turns], reasoning_effort: 'deep', x: 0 }, null, 1).replace(
    '"x": 0',
    '"x": 12345678901234567890',
  )
  expect((await on.gateway.post('/v1/chat/completions', kept)).status).toBe(200)
  expect(on.provider.requests.at(-1)?.text).toBe(kept)
})

test.each([
  [
    'vendorB-5.5',
    'Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly.',
  ],
  ['vendorB-5.4', 'function call `default_api:look` in the 2. content block is missing a `thought_signature`.'],
])('a model that signs its calls gets a signature for those of other models: %s', async (model, message) => {
  type Signed = { extra_content?: unknown }
  const signatures = (messages: JsonObject[]) =>
    ofModel(messages).flatMap(({ tool_calls: calls }) =>
      (calls as Signed[] | undefined)?.map((one) => one.extra_content),
    )
  on.server = (messages) =>
    ofModel(messages).every(({ tool_calls: calls }) => (calls as Signed[] | undefined)?.[0]?.extra_content)
      ? answer
      : refusal(message)
  const made = (id: string) => ({ type: 'tool_use', id, name: 'look', input: {} })
  const given = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'Nothing.' })
  const both = [
    { role: 'assistant', content: [made('a'), made('b')] },
    { role: 'user', content: [given('a'), given('b')] },
  ]
  for (const _ of [1, 2]) expect((await on.ask(model, [hi, ...both, ...called('c')])).status).toBe(200)
  const due = { google: { thought_signature: 'skip_thought_signature_validator' } }
  const all = [due, undefined, due]
  expect(on.sent().map(signatures)).toEqual([[undefined, undefined, undefined], all, all])
  const own = { google: { thought_signature: 'c2ln' } }
  const history = ['d', 'e'].flatMap((id) => [
    { role: 'assistant', tool_calls: [{ ...call, id, ...(id === 'd' ? { extra_content: own } : {}) }] },
    { role: 'tool', tool_call_id: id, content: 'Nothing.' },
  ])
  expect((await on.gateway.post('/v1/chat/completions', { model, messages: [hi, ...history] })).status).toBe(200)
  expect(on.sent().slice(3).map(signatures)).toEqual([[own, due]])
})

test('a reply that goes between has a thought where the server wants one in each turn', async () => {
  on.server = (messages) => {
    if (messages.some(({ role }, at) => role === 'user' && messages[at - 1]?.role === 'tool'))
      return refusal("Unexpected role 'user' after role 'tool'")
    return ofModel(messages).some((one) => !one.reasoning_content) ? refusal(WANTED) : answer
  }
  expect((await on.ask('vendorB-5.5', [hi, ...called('a'), hi])).status).toBe(200)
  expect(on.provider.requests.length).toBe(3)
})
