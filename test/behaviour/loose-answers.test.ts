// A server whose answers lack what clients of its wire go by: where it is set as one, they are written anew, on the client's
// own wire too. Frames as llama.cpp's server (b10434) and transformers serve (5.24.0) write them.

import { afterAll, expect, test } from 'bun:test'
import OpenAI from 'openai'
import type { JsonObject } from '../../src/ir/json.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { json, type Scripted, startScripted } from '../support/provider/scripted.ts'

const MODEL = 'vendorB-5.5'
const usage = { input_tokens: 4, output_tokens: 16, total_tokens: 20 }
const response = { id: 'resp_1', object: 'response' }
const tool = { type: 'function', name: 'look', strict: false, parameters: { type: 'object' } } as const

const message = (text: string, id: string) => ({
  ...{ type: 'message', id, role: 'assistant', status: 'completed' },
  content: [{ type: 'output_text', text, annotations: [] }],
})
const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'look', arguments: '{"at":"gate"}' }

const ids = { text: 'msg_1', call: 'fc_1' }

/** No frame has its number or its place. */
const placeless = (text: string, calls: JsonObject[] = []): JsonObject[] => [
  { type: 'response.created', response: { ...response, status: 'in_progress' } },
  { type: 'response.output_item.added', item: { ...message('', ids.text), content: [], status: 'in_progress' } },
  {
    type: 'response.content_part.added',
    item_id: ids.text,
    part: { type: 'output_text', text: '', annotations: [] },
  },
  ...Array.from(text, (delta) => ({ type: 'response.output_text.delta', item_id: ids.text, delta })),
  { type: 'response.output_item.done', item: message(text, ids.text) },
  ...calls.flatMap((item): JsonObject[] => [
    { type: 'response.output_item.added', item: { ...item, arguments: '', status: 'in_progress' } },
    { type: 'response.function_call_arguments.delta', item_id: ids.call, delta: item.arguments ?? '' },
    { type: 'response.output_item.done', item },
  ]),
  {
    type: 'response.completed',
    response: { ...response, status: 'completed', output: [message(text, ids.text), ...calls], usage },
  },
]

/** A call takes the place of the message that follows it, and is missing at the end. */
const misplaced: JsonObject[] = [
  { type: 'response.created', sequence_number: 0, response: { ...response, output: [], status: 'queued' } },
  { type: 'response.output_item.added', sequence_number: 1, output_index: 1, item: call },
  { type: 'response.output_item.done', sequence_number: 2, output_index: 1, item: call },
  { type: 'response.output_item.added', sequence_number: 3, output_index: 1, item: message('', 'msg_1') },
  { type: 'response.output_item.done', sequence_number: 4, output_index: 1, item: message('', 'msg_1') },
  {
    type: 'response.completed',
    sequence_number: 5,
    response: { ...response, status: 'completed', output: [message('', 'msg_1'), call], usage },
  },
]

let frames: JsonObject[] = []
let whole: JsonObject = {}
const open: (Scripted | TestGateway)[] = []
afterAll(async () => {
  for (const one of open.reverse()) await one.stop()
})

const started = async (looseAnswers: boolean) => {
  const provider = await startScripted(({ text }) =>
    JSON.parse(text).stream === true
      ? {
          headers: { 'content-type': 'text/event-stream' },
          steps: frames.map((frame) => `event: ${frame.type}\ndata: ${JSON.stringify(frame)}\n\n`),
        }
      : json(whole),
  )
  const quirks = looseAnswers ? { looseAnswers } : {}
  const gateway = await startGateway({
    config: onlyProvider(`${provider.origin}/v1`, { wires: ['responses'], quirks }),
  })
  open.push(provider, gateway)
  const client = new OpenAI({ baseURL: `${gateway.url}/v1`, apiKey: gateway.secret, maxRetries: 0 })
  return { client, gateway }
}
const loose = await started(true)
const strict = await started(false)

const asked = { model: MODEL, input: 'Where?', store: false, tools: [tool] }

test('the vendor’s SDK reads a stream whose frames have no places', async () => {
  frames = placeless('At the gate.', [call])
  const answer = await loose.client.responses.stream(asked).finalResponse()
  expect(answer.output_text).toBe('At the gate.')
  expect(answer.output.map(({ type }) => type)).toEqual(['message', 'function_call'])
  expect(answer.usage).toMatchObject({ input_tokens: 4, output_tokens: 16 })
})

test('one whose places are taken twice, too', async () => {
  frames = misplaced
  const { output } = await loose.client.responses.stream(asked).finalResponse()
  const calls = output.filter((item) => item.type === 'function_call')
  expect(calls.map(({ name, arguments: input }) => [name, input])).toEqual([['look', '{"at":"gate"}']])
})

test.each([false, true])(
  'an answer at its cap that is called complete is told as cut (streamed: %p)',
  async (stream) => {
    whole = { ...response, status: 'completed', output: [message('and so', ids.text)], usage }
    frames = placeless('and so')
    const body = { model: MODEL, input: 'Go on.', store: false, max_output_tokens: usage.output_tokens }
    const { responses } = loose.client
    const answer = stream ? await responses.stream(body).finalResponse() : await responses.create(body)
    expect([answer.status, answer.incomplete_details]).toEqual(['incomplete', { reason: 'max_output_tokens' }])
    expect(answer.output_text).toBe('and so')
  },
)

test('where it is not set as one, its bytes pass', async () => {
  frames = placeless('At the gate.')
  const passed = await strict.gateway.post('/v1/responses', { ...asked, stream: true })
  const text = await passed.text()
  expect(text).toContain('"type":"response.output_text.delta","item_id":"msg_1","delta":"A"')
  expect(text).not.toContain('sequence_number')
})
