// Servers that answer in the other form than they are asked for: a whole answer for a stream, or a stream for a whole
// answer. The client gets what it asked for, and what it cost is billed.

import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import type { Wire } from '../../src/ir/wire.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { PATHS } from '../support/paths.ts'
import { MESSAGE } from '../support/provider/message.ts'
import { type Script, type Scripted, startScripted } from '../support/provider/scripted.ts'

const WIRES = ['chat-completions', 'responses', 'messages'] as const

const chat = (message: JsonObject, finish: string | null) => ({
  ...{ id: 'chatcmpl-1', created: 5, model: 'up' },
  choices: [{ index: 0, ...message, finish_reason: finish }],
})
const response = {
  ...{ id: 'resp_1', object: 'response', created_at: 5, model: 'up', status: 'completed' },
  output: [
    {
      ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
      content: [{ type: 'output_text', text: 'Hi there.', annotations: [] }],
    },
  ],
  usage: { input_tokens: 7, output_tokens: 3, total_tokens: 10 },
}
const text = (index: number, words: string) => ({
  ...{ type: 'content_block_delta', index },
  delta: { type: 'text_delta', text: words },
})

const WHOLE: Record<string, JsonObject> = {
  'chat-completions': {
    ...chat({ message: { role: 'assistant', content: 'Hi there.' } }, 'stop'),
    usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
  },
  responses: response,
  messages: {
    ...MESSAGE,
    content: [{ type: 'text', text: 'Hi there.' }],
    usage: { input_tokens: 7, output_tokens: 3 },
  },
}
const STREAM: Record<string, (JsonObject | string)[]> = {
  'chat-completions': [
    chat({ delta: { role: 'assistant', content: 'Hi ' } }, null),
    chat({ delta: { content: 'there.' } }, 'stop'),
    { ...chat({}, null), choices: [], usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 } },
    '[DONE]',
  ],
  responses: [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_text.delta', output_index: 0, content_index: 0, item_id: 'msg_1', delta: 'Hi there.' },
    { type: 'response.completed', response },
  ],
  messages: [
    {
      type: 'message_start',
      message: { ...MESSAGE, stop_reason: null, content: [], usage: { input_tokens: 7, output_tokens: 1 } },
    },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    text(0, 'Hi '),
    text(0, 'there.'),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 3 } },
    { type: 'message_stop' },
  ],
}
const frames = (events: (JsonObject | string)[]): string =>
  events
    .map((event) =>
      typeof event === 'string'
        ? `data: ${event}\n\n`
        : `event: ${event.type ?? 'message'}\ndata: ${JSON.stringify(event)}\n\n`,
    )
    .join('')
const wireOf = (path: string) => WIRES.find((wire) => PATHS[wire].endsWith(path.replace(/^\/v1/, ''))) ?? 'messages'

let answer: (path: string, stream: boolean) => Script
let provider: Scripted
let gateway: TestGateway
beforeAll(async () => {
  provider = await startScripted(({ path, text }) => answer(path, JSON.parse(text).stream === true))
})
afterEach(() => gateway.stop())
afterAll(() => provider.stop())

const ask = async (client: Wire, wire: (typeof WIRES)[number], stream: boolean, more: JsonObject = {}) => {
  const base = wire === 'messages' ? provider.origin : `${provider.origin}/v1`
  gateway = await startGateway({ config: onlyProvider(base, { wires: [wire] }) })
  const asked = [{ role: 'user', content: 'Hi' }]
  const prompt = client === 'responses' ? { input: asked } : { max_tokens: 50, messages: asked }
  const got = await gateway.post(PATHS[client], { model: 'vendorB-5.5', stream, ...prompt, ...more })
  const body = await got.text()
  await gateway.idle()
  const [row] = await gateway.server.gateway.store.exchanges({ limit: 1 })
  return { status: got.status, type: got.headers.get('content-type') ?? '', body, row }
}

const CROSSINGS = WIRES.flatMap((client) => WIRES.map((wire) => [client, wire] as const))
/** What ends a stream of each wire. */
const LAST = { 'chat-completions': '[DONE]', responses: 'response.completed', messages: 'message_stop' }
const BILLED = { outcome: 'done', input: 7, output: 3, estimated: false }

test.each(CROSSINGS)('a whole answer in place of a stream, %s client, %s provider', async (client, wire) => {
  answer = (path) => ({ steps: [JSON.stringify(WHOLE[wireOf(path)])] })
  const { status, type, body, row } = await ask(client, wire, true)
  expect([status, type]).toEqual([200, 'text/event-stream; charset=utf-8'])
  expect(body).toContain('Hi there.')
  expect(body).toContain(LAST[client])
  expect(body).not.toContain('"up"')
  expect(row).toMatchObject(BILLED)
})

// Some servers label all they send alike, or nothing.
const LABELS = ['text/plain; charset=utf-8', 'application/octet-stream', 'text/event-stream', 'application/json', '']
const labelled = (label: string, steps: string[]): Script => ({
  headers: { 'content-type': label },
  steps,
})
const LABELLED = LABELS.flatMap((label) => CROSSINGS.map(([client, wire]) => [label, client, wire] as const))

test.each(LABELLED)(
  'a whole answer is one by how it begins, labelled %p, %s client, %s provider',
  async (label, client, wire) => {
    answer = (path) => {
      const text = JSON.stringify(WHOLE[wireOf(path)], null, 1)
      return labelled(label, ['\n ', text.slice(0, 1), text.slice(1, 60), text.slice(60)])
    }
    const { status, body, row } = await ask(client, wire, true)
    expect([status, body.includes('Hi there.'), body.includes(LAST[client])]).toEqual([200, true, true])
    expect(row).toMatchObject(BILLED)
  },
)

test.each(LABELLED)(
  'a stream is one by how it begins, labelled %p, %s client, %s provider',
  async (label, client, wire) => {
    answer = (path) => {
      const text = `\n\n${frames(STREAM[wireOf(path)] ?? [])}`
      return labelled(label, [text.slice(0, 1), text.slice(1, 3), text.slice(3, 40), text.slice(40)])
    }
    const { status, body, row } = await ask(client, wire, true)
    expect([status, body.includes('there.'), body.includes(LAST[client])]).toEqual([200, true, true])
    expect(row).toMatchObject(BILLED)
  },
)

test.each(LABELS)('a failure told in place of a stream is told as such, labelled %p', async (label) => {
  answer = () => labelled(label, [JSON.stringify({ error: { code: 'context_length_exceeded', message: 'secret' } })])
  const { status, body } = await ask('chat-completions', 'chat-completions', true)
  expect(status).toBe(400)
  expect(body).toContain('context_length_exceeded')
})

test.each(CROSSINGS)('a stream in place of a whole answer, %s client, %s provider', async (client, wire) => {
  answer = (path) => ({ headers: { 'content-type': 'text/event-stream' }, steps: [frames(STREAM[wireOf(path)] ?? [])] })
  const { status, type, body, row } = await ask(client, wire, false)
  expect([status, type]).toEqual([200, 'application/json'])
  expect(JSON.parse(body)).toMatchObject({ model: 'vendorB-5.5' })
  expect(body).toContain('Hi there.')
  expect(row).toMatchObject(BILLED)
})

test.each(CROSSINGS.flatMap(([client, wire]) => [true, false].map((wished) => [wished, client, wire] as const)))(
  'a server that takes no other form is asked in that one from then on: streaming %p is refused, %s client, %s provider',
  async (wished, client, wire) => {
    const asked: boolean[] = []
    const told = wished ? 'Streaming is not supported.' : 'Only streaming requests are served.'
    answer = (path, stream) => {
      asked.push(stream)
      if (stream === wished) return { status: 400, steps: [JSON.stringify({ error: { message: told } })] }
      if (!stream) return { steps: [JSON.stringify(WHOLE[wireOf(path)])] }
      return { headers: { 'content-type': 'text/event-stream' }, steps: [frames(STREAM[wireOf(path)] ?? [])] }
    }
    const { status, type, body, row } = await ask(client, wire, wished)
    expect([status, type]).toEqual([200, wished ? 'text/event-stream; charset=utf-8' : 'application/json'])
    expect([body.includes('there.'), body.includes(LAST[client])]).toEqual([true, wished])
    expect(row).toMatchObject(BILLED)
    const prompt =
      client === 'responses' ? { input: 'Hi' } : { max_tokens: 50, messages: [{ role: 'user', content: 'Hi' }] }
    await (await gateway.post(PATHS[client], { model: 'vendorB-5.5', stream: wished, ...prompt })).text()
    expect(asked).toEqual([wished, !wished, !wished])
  },
)

test('several answers are asked for in no other form', async () => {
  const error = { error: { message: 'Streaming is not supported.' } }
  answer = () => ({ status: 400, steps: [JSON.stringify(error)] })
  const { status, body } = await ask('chat-completions', 'chat-completions', true, { n: 2 })
  expect([status, JSON.parse(body).error.param]).toEqual([400, 'stream'])
})

test.each(WIRES)('a stream that breaks off is no whole answer, %s', async (wire) => {
  answer = (path) => ({
    headers: { 'content-type': 'text/event-stream' },
    steps: [frames(STREAM[wireOf(path)]?.slice(0, 1) ?? [])],
  })
  expect((await ask(wire, wire, false)).status).toBe(502)
})

test.each(WIRES)('an answer too deep to be written again is one that cannot be read, %s client', async (client) => {
  const depth = 150_000
  const call = `{"type":"tool_use","id":"toolu_1","name":"f","input":{"a":${'['.repeat(depth)}${']'.repeat(depth)}}}`
  const text = frames(STREAM.messages ?? []).replace('{"type":"text","text":""}', call)
  answer = () => ({ headers: { 'content-type': 'text/event-stream' }, steps: [text] })
  const { status, body } = await ask(client, 'messages', false)
  expect([status, JSON.parse(body).error.code]).toEqual([502, 'upstream_error'])
})

test('the failure that a stream reports is the answer’s', async () => {
  answer = () => ({
    headers: { 'content-type': 'text/event-stream' },
    steps: [frames([{ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }])],
  })
  expect((await ask('messages', 'messages', false)).status).toBe(503)
})

test('a stream that does not tell what it cost is counted', async () => {
  answer = () => ({
    headers: { 'content-type': 'text/event-stream' },
    steps: [frames((STREAM['chat-completions'] ?? []).filter((_, at) => at !== 2))],
  })
  const { body, row } = await ask('chat-completions', 'chat-completions', false)
  expect(body).toContain('Hi there.')
  expect(row).toMatchObject({ outcome: 'done', estimated: true })
  expect(row?.output).toBeGreaterThan(0)
})

test.each(WIRES)('half a call is no answer, though it came whole in place of a stream, %s client', async (client) => {
  const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{"at":' } }
  answer = () => ({
    steps: [JSON.stringify(chat({ message: { role: 'assistant', content: null, tool_calls: [call] } }, 'tool_calls'))],
  })
  expect((await ask(client, 'chat-completions', true)).status).toBe(502)
})

const HALF_A_CALL: Record<string, (JsonObject | string)[]> = {
  'chat-completions': [
    chat(
      { delta: { tool_calls: [{ index: 0, id: 'call_1', function: { name: 'look', arguments: '{"at":' } }] } },
      'tool_calls',
    ),
    '[DONE]',
  ],
  messages: [
    ...(STREAM.messages ?? []).slice(0, 1),
    {
      type: 'content_block_start',
      index: 0,
      content_block: { type: 'tool_use', id: 'call_1', name: 'look', input: {} },
    },
    { type: 'content_block_delta', index: 0, delta: { type: 'input_json_delta', partial_json: '{"at":' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 3 } },
    { type: 'message_stop' },
  ],
}

test.each(WIRES.flatMap((client) => Object.keys(HALF_A_CALL).map((wire) => [client, wire] as const)))(
  'half a call is no answer, though it came as a stream in place of one, %s client, %s provider',
  async (client, wire) => {
    answer = () => ({
      headers: { 'content-type': 'text/event-stream' },
      steps: [frames(HALF_A_CALL[wire] ?? [])],
    })
    expect((await ask(client, wire as (typeof WIRES)[number], false)).status).toBe(502)
  },
)

test.each([true, false])('several answers are not cut down to one, streaming %p', async (stream) => {
  const wire = 'chat-completions'
  answer = () =>
    stream
      ? { steps: [JSON.stringify(WHOLE[wire])] }
      : { headers: { 'content-type': 'text/event-stream' }, steps: [frames(STREAM[wire] ?? [])] }
  expect((await ask(wire, wire, stream, { n: 2 })).status).toBe(502)
})

test.each([true, false])(
  'what a messages provider says of a web page comes back to it, streaming %p',
  async (stream) => {
    const cited = {
      ...{ type: 'web_search_result_location', cited_text: 'x', encrypted_index: 'RW9j', title: null },
      url: 'https://a.example',
    }
    const [start, block, ...rest] = STREAM.messages ?? []
    const citation = { type: 'content_block_delta', index: 0, delta: { type: 'citations_delta', citation: cited } }
    const events = [start ?? '', block ?? '', citation, ...rest]
    answer = () =>
      stream
        ? {
            steps: [JSON.stringify({ ...WHOLE.messages, content: [{ type: 'text', text: 'Hi', citations: [cited] }] })],
          }
        : { headers: { 'content-type': 'text/event-stream' }, steps: [frames(events)] }
    const { body } = await ask('messages', 'messages', stream)
    expect(body).toContain(JSON.stringify(cited))
  },
)

test.each([
  [true, undefined, true],
  [false, undefined, true],
  [true, false, false],
])('a responses provider keeps it unless told not to, streaming %p, store %p', async (stream, store, kept) => {
  answer = (_, isStream) =>
    isStream
      ? { steps: [JSON.stringify(WHOLE.responses)] }
      : { headers: { 'content-type': 'text/event-stream' }, steps: [frames(STREAM.responses ?? [])] }
  const { body } = await ask('responses', 'responses', stream, store === undefined ? {} : { store })
  const [, said] = /"store":(true|false)/.exec(body) ?? []
  expect(said).toBe(String(kept))
})

test.each([true, false])('its items can be referred to, streaming %p', async (stream) => {
  answer = (_, isStream) =>
    isStream
      ? { steps: [JSON.stringify(WHOLE.responses)] }
      : { headers: { 'content-type': 'text/event-stream' }, steps: [frames(STREAM.responses ?? [])] }
  const { body } = await ask('responses', 'responses', stream)
  const id = /"id":"(msg_[^"]+)"/.exec(body)?.[1] ?? ''
  const input = [
    { type: 'item_reference', id },
    { role: 'user', content: 'Go on' },
  ]
  expect((await gateway.post(PATHS.responses, { model: 'vendorB-5.5', input })).status).toBe(200)
  expect(JSON.parse(provider.requests.at(-1)?.text ?? '').input).toMatchObject([{ type: 'message', id }, {}])
})

test.each([true, false])('its thoughts are the ones it will take back, streaming %p', async (stream) => {
  const thought = { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'Hm' }] }
  const sealed = { ...thought, encrypted_content: 'RW9j' }
  const stored = { ...thought, id: 'rs_2' }
  const whole = { ...response, output: [sealed, stored, ...response.output] }
  const events = whole.output.map((item, output_index) => ({ type: 'response.output_item.done', output_index, item }))
  const [created, , completed] = STREAM.responses ?? []
  answer = (_, isStream) =>
    isStream
      ? { steps: [JSON.stringify(whole)] }
      : {
          headers: { 'content-type': 'text/event-stream' },
          steps: [frames([created ?? '', ...events, { ...(completed as JsonObject), response: whole }])],
        }
  const { body } = await ask('responses', 'responses', stream)
  const { output } = stream ? JSON.parse(body.split('data: ').at(-1) ?? '').response : JSON.parse(body)
  expect(output).toMatchObject([sealed, stored, {}])
  const input = [{ role: 'user', content: 'Hi' }, ...output, { role: 'user', content: 'Go on' }]
  expect((await gateway.post(PATHS.responses, { model: 'vendorB-5.5', input })).status).toBe(200)
  expect(JSON.parse(provider.requests.at(-1)?.text ?? '').input).toMatchObject([{}, sealed, stored, {}, {}])
})
