// A server without a parser for thoughts leaves them in the text, in tags: clients of other wires get them as thoughts, and what
// comes back goes to the server as it wrote it.

import { afterEach, beforeEach, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import type { Quirks } from '../../src/ir/quirks.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { type Scripted, startScripted } from '../support/provider/scripted.ts'

const MODEL = 'vendorB-5.5'
const WHOLE = '<think>\nHm, weather.\n</think>\n\nLet me look.'
const usage = { prompt_tokens: 3, completion_tokens: 9, total_tokens: 12 }
const call = { id: 'call_a', type: 'function', function: { name: 'look', arguments: '{}' } }

let text = WHOLE
let provider: Scripted
let gateway: TestGateway
const begin = async (quirks: Quirks = {}): Promise<void> => {
  gateway = await startGateway({
    config: onlyProvider(`${provider.origin}/v1`, { wires: ['chat-completions'], quirks }),
  })
}
const chunk = (delta: JsonObject, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ id: 'chatcmpl-1', created: 5, model: 'up', choices: [{ index: 0, delta, finish_reason }] })}\n\n`

beforeEach(async () => {
  text = WHOLE
  provider = await startScripted(({ text: asked }) => {
    const { stream, tools } = JSON.parse(asked)
    const calls = tools === undefined ? {} : { tool_calls: [call] }
    const finish = tools === undefined ? 'stop' : 'tool_calls'
    if (stream !== true) {
      const message = { role: 'assistant', content: text, ...calls }
      const answer = { id: 'chatcmpl-1', choices: [{ index: 0, message, finish_reason: finish }], usage }
      return { headers: { 'content-type': 'application/json' }, steps: [JSON.stringify(answer)] }
    }
    const pieces = text.match(/.{1,5}/gs) ?? []
    return {
      headers: { 'content-type': 'text/event-stream' },
      steps: [
        ...pieces.map((content) => chunk({ content })),
        ...(tools === undefined ? [] : [chunk({ tool_calls: [{ index: 0, ...call }] })]),
        chunk({}, finish),
        `data: ${JSON.stringify({ id: 'chatcmpl-1', choices: [], usage })}\n\n`,
        'data: [DONE]\n\n',
      ],
    }
  })
})
afterEach(async () => {
  await gateway.stop()
  await provider.stop()
})

const hi = { role: 'user', content: 'Hi' }
const tools = [{ name: 'look', input_schema: { type: 'object', properties: {} } }]
const asked = async (body: JsonObject): Promise<JsonObject> => {
  const response = await gateway.post('/v1/messages', { model: MODEL, max_tokens: 90, messages: [hi], ...body })
  return (await response.json()) as JsonObject
}
const read = (content: unknown) =>
  (content as JsonObject[]).map(({ type, text: said, thinking, name }) => [type, said ?? thinking ?? name])

test('a client of the messages wire gets a thought, and the server its own words back', async () => {
  await begin()
  const { content } = await asked({ tools })
  expect(read(content)).toEqual([
    ['thinking', 'Hm, weather.'],
    ['text', 'Let me look.'],
    ['tool_use', 'look'],
  ])
  const [{ id = '' } = {}] = (content as JsonObject[]).filter(({ type }) => type === 'tool_use')
  const result = { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'Rain.' }] }
  await asked({ tools, messages: [hi, { role: 'assistant', content: content ?? [] }, result] })
  expect(JSON.parse(provider.requests.at(-1)?.text ?? '').messages[1].content).toBe(WHOLE)
})

test('a client of the responses wire gets an item of thought', async () => {
  await begin()
  const response = await gateway.post('/v1/responses', { model: MODEL, input: 'Hi' })
  const { output } = (await response.json()) as { output: JsonObject[] }
  expect(output.map(({ type, content, summary }) => [type, ((content ?? summary) as JsonObject[])[0]?.text])).toEqual([
    ['reasoning', 'Hm, weather.'],
    ['message', 'Let me look.'],
  ])
})

test.each(['messages', 'responses'])('a stream to a client of %s says the same', async (wire) => {
  await begin()
  const body = wire === 'messages' ? { messages: [hi], max_tokens: 90 } : { input: 'Hi' }
  const response = await gateway.post(`/v1/${wire}`, { model: MODEL, stream: true, ...body })
  const told = await response.text()
  const deltas = [...told.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data) as JsonObject)
  const joined = (of: (event: JsonObject) => unknown): string => deltas.map((event) => of(event) ?? '').join('')
  const inner = (name: string) => (event: JsonObject) => (event.delta as JsonObject | undefined)?.[name]
  const typed = (type: string) => (event: JsonObject) => (event.type === type ? event.delta : '')
  const [thought, said] =
    wire === 'messages'
      ? [joined(inner('thinking')), joined(inner('text'))]
      : [joined(typed('response.reasoning_summary_text.delta')), joined(typed('response.output_text.delta'))]
  expect([thought, said, told.includes('think>')]).toEqual(['Hm, weather.', 'Let me look.', false])
})

test('a client of the server’s own wire gets its bytes', async () => {
  await begin()
  const response = await gateway.post('/v1/chat/completions', { model: MODEL, messages: [hi] })
  const { choices } = (await response.json()) as { choices: { message: JsonObject }[] }
  expect(choices[0]?.message.content).toBe(WHOLE)
})

test('a template that has opened the tag is told of, and one whose tags are text, too', async () => {
  await begin({ thinksInText: true })
  text = 'Hm.\n</think>\n\nHi.'
  expect(read((await asked({})).content)).toEqual([
    ['thinking', 'Hm.'],
    ['text', 'Hi.'],
  ])
  await gateway.stop()
  await begin({ thinksInText: false })
  text = WHOLE
  expect(read((await asked({})).content)).toEqual([['text', WHOLE]])
})
