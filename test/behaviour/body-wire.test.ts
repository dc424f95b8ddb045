// Bodies of another wire at the chat-completions path: some editors send them, and expect chat completions in return.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import type { ChatWire } from '../../src/ir/wire.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { type Scripted, startScripted } from '../support/provider/scripted.ts'

const WORDS = 'Hi.'
const whole: Record<string, JsonObject> = {
  '/v1/chat/completions': { id: 'c', choices: [{ index: 0, message: { content: WORDS }, finish_reason: 'stop' }] },
  '/v1/messages': {
    ...{ id: 'm', type: 'message', role: 'assistant', content: [{ type: 'text', text: WORDS }] },
    ...{ stop_reason: 'end_turn', usage: { input_tokens: 1, output_tokens: 1 } },
  },
  '/v1/responses': {
    ...{ id: 'r', object: 'response', status: 'completed' },
    output: [{ type: 'message', id: 'i', role: 'assistant', content: [{ type: 'output_text', text: WORDS }] }],
  },
}
const streamed: Record<string, JsonObject[]> = {
  '/v1/chat/completions': [
    { id: 'c', choices: [{ index: 0, delta: { content: WORDS } }] },
    { id: 'c', choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
  ],
  '/v1/messages': [
    { type: 'message_start', message: { ...whole['/v1/messages'], content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: WORDS } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ],
  '/v1/responses': [
    { type: 'response.created', response: { id: 'r', status: 'in_progress', output: [] } },
    { type: 'response.completed', response: whole['/v1/responses'] ?? {} },
  ],
}

let provider: Scripted
beforeAll(async () => {
  provider = await startScripted(({ path, text }) => {
    if (JSON.parse(text).stream !== true) return { steps: [JSON.stringify(whole[path])] }
    const rows = (streamed[path] ?? []).map((row) => `data: ${JSON.stringify(row)}\n\n`)
    const steps = path === '/v1/chat/completions' ? [...rows, 'data: [DONE]\n\n'] : rows
    return { headers: { 'content-type': 'text/event-stream' }, steps }
  })
})
afterAll(() => provider.stop())

const schema = { type: 'object', properties: { path: { type: 'string' } } }
const asked: [string, JsonObject][] = [
  [
    'the responses wire’s',
    {
      input: [
        { role: 'user', content: [{ type: 'input_text', text: 'Look.' }] },
        { type: 'function_call', call_id: 'a', name: 'look', arguments: '{"path":"x"}' },
        { type: 'function_call_output', call_id: 'a', output: 'Seen.' },
      ],
      tools: [{ type: 'function', name: 'look', parameters: schema }],
      max_output_tokens: 99,
    },
  ],
  [
    'the messages wire’s',
    {
      messages: [
        { role: 'user', content: 'Look.' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: { path: 'x' } }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'Seen.' }] },
      ],
      tools: [{ name: 'look', input_schema: schema }],
      max_tokens: 99,
    },
  ],
]
const sent: Record<ChatWire, JsonObject> = {
  'chat-completions': {
    messages: [
      { role: 'user', content: 'Look.' },
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{"path":"x"}' } }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'Seen.' },
    ],
    tools: [{ type: 'function', function: { name: 'look', parameters: schema } }],
    max_completion_tokens: 99,
  },
  responses: {
    input: [
      { type: 'message', role: 'user', content: 'Look.' },
      { type: 'function_call', call_id: 'a', name: 'look', arguments: '{"path":"x"}' },
      { type: 'function_call_output', call_id: 'a', output: 'Seen.' },
    ],
    max_output_tokens: 99,
  },
  messages: {
    messages: [
      { role: 'user', content: [{ text: 'Look.' }] },
      { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'look', input: { path: 'x' } }] },
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'Seen.' }] },
    ],
    tools: [{ name: 'look', input_schema: schema }],
    max_tokens: 99,
  },
}

test.each(
  asked.flatMap(([words, body]) =>
    (Object.keys(sent) as ChatWire[]).flatMap((wire) =>
      [false, true].map((stream) => [words, wire, stream, body] as const),
    ),
  ),
)('a body of %s, to a provider of %s, streaming %p', async (_, wire, stream, body) => {
  const base = wire === 'messages' ? provider.origin : `${provider.origin}/v1`
  const gateway = await startGateway({ config: onlyProvider(base, { wires: [wire] }) })
  const answer = await gateway.post('/v1/chat/completions', { model: 'vendorB-5.5', stream, ...body })
  const text = await answer.text()
  expect([answer.status, text.includes(`"${WORDS}"`)]).toEqual([200, true])
  if (stream) expect(text).toEndWith('data: [DONE]\n\n')
  else expect(JSON.parse(text)).toMatchObject({ object: 'chat.completion', model: 'vendorB-5.5' })
  expect(JSON.parse(provider.requests.at(-1)?.text ?? '')).toMatchObject(sent[wire])
  await gateway.stop()
})

describe('at the chat-completions path', () => {
  let gateway: TestGateway
  const ask = async (body: JsonObject) => {
    provider.requests.length = 0
    const answer = await gateway.post('/v1/chat/completions', { model: 'vendorB-5.5', ...body })
    return [answer.status, ((await answer.json()) as { error?: JsonObject }).error?.param]
  }
  beforeAll(async () => {
    const wires: ChatWire[] = ['responses', 'chat-completions']
    gateway = await startGateway({ config: onlyProvider(`${provider.origin}/v1`, { wires }) })
  })
  afterAll(() => gateway.stop())

  test('a background answer, which could not be read later, is refused', async () => {
    expect(await ask({ input: 'Hi.', background: true })).toEqual([400, 'background'])
    expect(provider.requests).toEqual([])
    expect(await ask({ input: 'Hi.', background: false })).toEqual([200, undefined])
  })

  test('a request for several answers passes as it is', async () => {
    const body = { messages: [{ role: 'user', content: 'Hi.' }], tools: [{ name: 'look', input_schema: schema }], n: 2 }
    await ask(body)
    expect(JSON.parse(provider.requests[0]?.text ?? '')).toEqual({ model: 'vendorB-5.5', ...body })
  })
})
