// Providers that refuse the thoughts of a conversation, which another model, account or gateway has made: they are asked
// without them, for a client of their own wire, too.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import { sealTag } from '../../src/wire/seal.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { type Script, type Scripted, startScripted } from '../support/provider/scripted.ts'

const BOUND =
  'messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a different conversation. Remove the block, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
const refused = (error: JsonObject): Script => ({ status: 400, steps: [JSON.stringify({ type: 'error', error })] })
const events = (rows: JsonObject[]): Script => ({
  headers: { 'content-type': 'text/event-stream' },
  steps: rows.map((row) => `event: ${row.type}\ndata: ${JSON.stringify(row)}\n\n`),
})

const start = { id: 'msg_1', type: 'message', role: 'assistant', model: 'up', content: [], stop_reason: null }
const content = [
  { type: 'thinking', thinking: 'Hm.', signature: 'c2ln' },
  { type: 'text', text: 'Hi.' },
]
const usage = { input_tokens: 3, output_tokens: 2 }
const message = (stream: unknown): Script =>
  stream === true
    ? events([
        { type: 'message_start', message: { ...start, usage } },
        { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
        { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi.' } },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage },
        { type: 'message_stop' },
      ])
    : { steps: [JSON.stringify({ ...start, content, stop_reason: 'end_turn', usage })] }

const thought = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'c2VhbGVk' }
const item = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] }
const response = {
  ...{ id: 'resp_1', object: 'response', created_at: 5, model: 'up', status: 'completed', output: [thought, item] },
  usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
}
const unsealed = { code: 'invalid_encrypted_content', message: 'The encrypted content could not be verified.' }
const sealedThere = (stream: unknown): Script =>
  stream === true
    ? events([{ type: 'response.failed', response: { ...response, status: 'failed', output: [], error: unsealed } }])
    : refused({ type: 'invalid_request_error', ...unsealed })
const answered = (stream: unknown): Script =>
  stream === true
    ? events([
        { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
        { type: 'response.output_text.delta', output_index: 0, content_index: 0, item_id: 'msg_1', delta: 'Hi.' },
        { type: 'response.completed', response },
      ])
    : { steps: [JSON.stringify(response)] }

let provider: Scripted
let gateway: TestGateway
beforeAll(async () => {
  provider = await startScripted(({ path, text }) => {
    const { stream } = JSON.parse(text)
    if (path.endsWith('/responses')) return text.includes('c2VhbGVk') ? sealedThere(stream) : answered(stream)
    return text.includes('c2ln') ? refused({ type: 'invalid_request_error', message: BOUND }) : message(stream)
  })
})
beforeEach(() => {
  provider.requests.length = 0
})
afterEach(() => gateway.stop())
afterAll(() => provider.stop())

const seals = (): boolean[] => provider.requests.map(({ text }) => /c2ln|c2VhbGVk/.test(text))

test.each([false, true])('thoughts behind another wire are left out, streaming %p', async (stream) => {
  gateway = await startGateway({ config: onlyProvider(provider.origin, { wires: ['messages'] }) })
  const model = 'vendorB-5.5'
  const hi = { role: 'user', content: 'Hi' }
  const first = (await (await gateway.post('/v1/responses', { model, input: [hi], store: false })).json()) as JsonObject
  const input = [hi, ...(first.output as JsonObject[]), { role: 'user', content: 'Go on' }]
  const answer = await gateway.post('/v1/responses', { model, input, stream, store: false })
  expect([answer.status, (await answer.text()).includes('Hi.')]).toEqual([200, true])
  expect(seals()).toEqual([false, true, false])
  const { messages } = JSON.parse(provider.requests[2]?.text ?? '')
  expect(messages).toMatchObject([
    { role: 'user', content: [{ text: 'Hi' }] },
    { role: 'assistant', content: 'Hi.' },
    { role: 'user', content: 'Go on' },
  ])
  await gateway.idle()
  expect(gateway.server.gateway.health.states().map(({ state }) => state)).toEqual(['closed'])
})

test.each([false, true])('so are those that no other account can read, streaming %p', async (stream) => {
  const accounts = ['one', 'two'].map((name) => ({
    name,
    baseUrl: `${provider.origin}/v1`,
    credential: 'secret',
    weight: 1,
  }))
  gateway = await startGateway({ config: onlyProvider(`${provider.origin}/v1`, { wires: ['responses'], accounts }) })
  const asked = { model: 'vendorB-5.5', max_tokens: 90, messages: [{ role: 'user', content: 'Hi' }] }
  const first = (await (await gateway.post('/v1/messages', asked)).json()) as JsonObject
  const said = { role: 'assistant', content: first.content ?? [] }
  const messages = [...asked.messages, said, { role: 'user', content: 'Go on' }]
  const answer = await gateway.post('/v1/messages', { ...asked, messages, stream })
  expect([answer.status, (await answer.text()).includes('Hi.')]).toEqual([200, true])
  expect(seals()).toEqual([false, true, true, false])
})

test.each([false, true])('so are those of clients of the responses wire itself, streaming %p', async (stream) => {
  gateway = await startGateway({ config: onlyProvider(`${provider.origin}/v1`, { wires: ['responses'] }) })
  const input = [{ role: 'user', content: 'Hi' }, thought, item, { role: 'user', content: 'Go on' }]
  const answer = await gateway.post('/v1/responses', { model: 'vendorB-5.5', input, stream, seed_of_tomorrow: 1 })
  expect([answer.status, (await answer.text()).includes('Hi.')]).toEqual([200, true])
  expect(answer.headers.get('x-gateway-dropped')).toContain('input.1')
  expect(seals()).toEqual([true, false])
  expect(JSON.parse(provider.requests[1]?.text ?? '')).toMatchObject({ seed_of_tomorrow: 1, input: [{}, {}, {}] })
})

test.each([
  "Item 'rs_1' of type 'reasoning' was provided without its required following item.",
  "Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.",
  'reasoning `encrypted_content` was not issued to this caller',
])('so are those that a client has torn from their items, or from their caller: %s', async (refusal) => {
  const strict = await startScripted(({ text }) =>
    /rs_1|fc_1/.test(text)
      ? refused({ message: refusal, type: 'invalid_request_error', param: 'input', code: null })
      : answered(false),
  )
  gateway = await startGateway({ config: onlyProvider(`${strict.origin}/v1`, { wires: ['responses'] }) })
  const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', arguments: '{}' }
  const result = { type: 'function_call_output', call_id: 'call_1', output: 'fog' }
  const tools = [{ type: 'function', name: 'look', parameters: null, strict: null }]
  const input = [{ role: 'user', content: 'Hi' }, thought, call, result]
  const answer = await gateway.post('/v1/responses', { model: 'vendorB-5.5', input, tools })
  expect([answer.status, answer.headers.get('x-gateway-dropped')]).toEqual([200, 'input.1'])
  const sent = JSON.parse(strict.requests[1]?.text ?? '').input
  expect(sent).toMatchObject([{ role: 'user' }, { type: 'function_call', call_id: 'call_1' }, result])
  await strict.stop()
})

test('but not from an answer in the background, which only its provider’s own words can tell of', async () => {
  gateway = await startGateway({ config: onlyProvider(`${provider.origin}/v1`, { wires: ['responses'] }) })
  const input = [{ role: 'user', content: 'Hi' }, thought, item, { role: 'user', content: 'Go on' }]
  const answer = await gateway.post('/v1/responses', { model: 'vendorB-5.5', input, background: true })
  expect([answer.status, seals()]).toEqual([502, [true]])
})

test.each<[JsonObject, JsonObject]>([
  [
    { content: 'Hi.', reasoning_content: 'Hm.' },
    { message: "Unknown parameter: 'messages[1].reasoning_content'.", code: 'unknown_parameter' },
  ],
  [
    {
      content: [
        { type: 'thinking', thinking: [{ type: 'text', text: 'Hm.' }] },
        { type: 'text', text: 'Hi.' },
      ],
    },
    { message: 'Reasoning input is not enabled for this model', code: '3051' },
  ],
])('so is reasoning in the open that a server of the chat-completions wire does not take: %j', async (said, error) => {
  const strict = await startScripted(({ text }) =>
    text.includes('Hm.')
      ? refused(error)
      : {
          steps: [
            JSON.stringify({
              ...{ id: 'chatcmpl-1', object: 'chat.completion', created: 5, model: 'up', usage },
              choices: [{ index: 0, finish_reason: 'stop', message: { role: 'assistant', content: 'Hi.' } }],
            }),
          ],
        },
  )
  gateway = await startGateway({ config: onlyProvider(`${strict.origin}/v1`, { wires: ['chat-completions'] }) })
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', ...said },
    { role: 'user', content: 'Go on' },
  ]
  const answer = await gateway.post('/v1/chat/completions', { model: 'vendorB-5.5', messages })
  expect([answer.status, ((await answer.json()) as JsonObject).model]).toEqual([200, 'vendorB-5.5'])
  expect(strict.requests.map(({ text }) => text.includes('Hm.'))).toEqual([true, false])
  // Of several answers one would be left.
  expect((await gateway.post('/v1/chat/completions', { model: 'vendorB-5.5', messages, n: 2 })).status).toBe(502)
  expect(strict.requests).toHaveLength(3)
  await strict.stop()
})

const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'a', arguments: '{}' }
const result = { type: 'function_call_output', call_id: 'call_1', output: 'Done.' }
const ask = { role: 'user', content: 'Go on' }

test.each<[string, JsonObject[]]>([
  ['Reasoning input items can only be provided to a reasoning or computer use model.', [thought, call, result, ask]],
  ["Item 'rs_1' of type 'reasoning' was provided without its required following item.", [thought, ask]],
  ["Item 'fc_1' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.", [call, result]],
])('so are those that the responses wire does not take here: %s', async (text, items) => {
  const kept = await startScripted(({ text: sent }) =>
    /"(?:rs|fc)_1"/.test(sent)
      ? refused({ type: 'invalid_request_error', message: text, param: 'input', code: null })
      : answered(false),
  )
  gateway = await startGateway({ config: onlyProvider(`${kept.origin}/v1`, { wires: ['responses'] }) })
  const input = [{ role: 'user', content: 'Hi' }, ...items]
  const answer = await gateway.post('/v1/responses', { model: 'vendorB-5.5', input })
  expect([answer.status, ((await answer.json()) as JsonObject).model]).toEqual([200, 'vendorB-5.5'])
  expect(kept.requests).toHaveLength(2)
  const { input: taken } = JSON.parse(kept.requests[1]?.text ?? '')
  expect(taken).toHaveLength(input.length - (items.includes(thought) ? 1 : 0))
  await kept.stop()
})

test.each([
  ['/v1/messages/count_tokens', 'responses', false],
  ['/v1/responses/input_tokens', 'responses', true],
] as const)('so are those of a prompt that is counted: %s, %s provider', async (path, wire, isOwn) => {
  const counting = await startScripted(({ text }) =>
    text.includes('c2VhbGVk')
      ? refused({ type: 'invalid_request_error', ...unsealed })
      : { steps: [JSON.stringify({ object: 'response.input_tokens', input_tokens: 12 })] },
  )
  gateway = await startGateway({ config: onlyProvider(`${counting.origin}/v1`, { wires: [wire] }) })
  const sealed = sealTag({
    ...{ type: 'reasoning', text: '' },
    seal: { origin: 'responses', value: { id: 'rs_1', encrypted_content: 'c2VhbGVk' } },
  })
  const turns = [
    { role: 'user', content: 'Hi' },
    ...(isOwn
      ? [thought, item]
      : [
          {
            role: 'assistant',
            content: [
              { type: 'redacted_thinking', data: sealed },
              { type: 'text', text: 'Hi.' },
            ],
          },
        ]),
    { role: 'user', content: 'Go on' },
  ]
  const answer = await gateway.post(path, { model: 'vendorB-5.5', ...(isOwn ? { input: turns } : { messages: turns }) })
  expect([answer.status, ((await answer.json()) as JsonObject).input_tokens]).toEqual([200, 12])
  expect(counting.requests.map(({ text }) => text.includes('c2VhbGVk'))).toEqual([true, false])
  await counting.stop()
})

test('so they are for a client of the same wire, whose other members stay', async () => {
  gateway = await startGateway({ config: onlyProvider(provider.origin, { wires: ['messages'] }) })
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content },
    { role: 'user', content: 'Go on' },
  ]
  const more = { metadata: { user_id: 'u' }, thinking: { type: 'adaptive' }, novel: { kept: true } }
  const answer = await gateway.post('/v1/messages', { model: 'vendorB-5.5', max_tokens: 90, ...more, messages })
  expect([answer.status, answer.headers.get('x-gateway-dropped')]).toEqual([200, 'messages.1.content.0'])
  expect(seals()).toEqual([true, false])
  expect(JSON.parse(provider.requests[1]?.text ?? '')).toMatchObject({
    ...more,
    messages: [messages[0], { role: 'assistant', content: 'Hi.' }, messages[2]],
  })
})

test('where they are refused all the same, its client is told in the words by which agents take them out', async () => {
  const refusing = await startScripted(() => refused({ type: 'invalid_request_error', message: BOUND }))
  gateway = await startGateway({ config: onlyProvider(refusing.origin, { wires: ['messages'] }) })
  const messages = [
    { role: 'user', content: 'Hi' },
    { role: 'assistant', content },
    { role: 'user', content: 'Go on' },
  ]
  const answer = await gateway.post('/v1/messages', { model: 'vendorB-5.5', max_tokens: 90, messages })
  const { error } = (await answer.json()) as { error: JsonObject }
  expect([answer.status, error.code, error.message, refusing.requests.length]).toEqual([
    ...[400, 'invalid_request'],
    expect.stringContaining('Invalid `signature` in `thinking` block. The block is bound to a different conversation.'),
    2,
  ])
  await refusing.stop()
})
