// A server that has not all of the wires that it is set to speak, as older ones of its kind: it is asked on the one that all
// have, for the next request at once.

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import { CHAT_WIRES } from '../../src/ir/wire.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { PATHS } from '../support/paths.ts'
import { type Script, type Scripted, startScripted } from '../support/provider/scripted.ts'

const MODEL = 'vendorB-5.5'
const ASKED: Record<'responses' | 'messages', JsonObject> = {
  responses: { input: 'Hi' },
  messages: { max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }] },
}
const ANSWER = {
  id: 'c',
  choices: [{ index: 0, message: { role: 'assistant', content: 'One' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2 },
}

let provider: Scripted
let gateway: TestGateway
let refusal: Script
let authorization: string

beforeAll(async () => {
  provider = await startScripted(({ path }) =>
    path.endsWith('/chat/completions') ? { steps: [JSON.stringify(ANSWER)] } : refusal,
  )
  const wires = [...CHAT_WIRES]
  gateway = await startGateway({ config: onlyProvider(`${provider.origin}/v1`, { wires }) })
})
afterAll(async () => {
  await gateway.stop()
  await provider.stop()
})
beforeEach(async () => {
  authorization = `Bearer ${(await gateway.issue()).secret}`
})

const ask = async (client: 'responses' | 'messages', more: JsonObject = {}) => {
  const before = provider.requests.length
  const answer = await gateway.post(PATHS[client], { model: MODEL, ...ASKED[client], ...more }, { authorization })
  const text = await answer.text()
  const paths = provider.requests.slice(before).map(({ path }) => path)
  return { status: answer.status, text, paths }
}

test.each<[string, Script]>([
  ['404 of a framework', { status: 404, steps: ['{"detail":"Not Found"}'] }],
  ['404 without a word', { status: 404, headers: { 'content-type': 'text/plain' }, steps: ['404 page not found'] }],
  ['405', { status: 405, steps: ['{"detail":"Method Not Allowed"}'] }],
  ['501', { status: 501, steps: ['{"error":{"type":"not_implemented","message":"Not implemented"}}'] }],
])('clients of a wire that a server lacks are answered on another: %s', async (_, told) => {
  refusal = told
  for (const client of ['responses', 'messages'] as const) {
    const first = await ask(client)
    expect([first.status, first.paths]).toEqual([200, [PATHS[client], PATHS['chat-completions']]])
    expect(first.text).toContain('One')
    expect((await ask(client)).paths).toEqual([PATHS['chat-completions']])
  }
})

test('a model that a server lacks is asked for once', async () => {
  refusal = {
    status: 404,
    steps: ['{"type":"error","error":{"type":"not_found_error","message":"model: vendorB-5.5"}}'],
  }
  const { status, paths } = await ask('messages')
  expect([status, paths]).toEqual([502, [PATHS.messages]])
})

test('what was sent and is not there is told, and nobody is asked elsewhere', async () => {
  const message = 'No such File object: file-abc'
  refusal = { status: 404, steps: [JSON.stringify({ error: { message, param: null, code: null } })] }
  const input = [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-abc' }] }]
  const { text, paths } = await ask('responses', { input })
  expect(text).toContain("'input.0.content.0': the provider does not take this")
  expect(paths).not.toContain(PATHS['chat-completions'])
})

test('an answer in the background is not asked for where nobody could find it', async () => {
  refusal = { status: 404, steps: ['{"detail":"Not Found"}'] }
  expect((await ask('responses', { background: true })).paths).toEqual([PATHS.responses])
})

const KEPT: [JsonObject, string][] = [
  [{ tools: [{ type: 'code_interpreter', container: 'cntr_1' }] }, "Container with id 'cntr_1' not found."],
  [{ tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] }, "Vector store with id 'vs_1' not found."],
  [{ prompt: { id: 'pmpt_1' } }, "Prompt with id 'pmpt_1' not found."],
  [{ conversation: 'conv_1' }, "Conversation with id 'conv_1' not found."],
]
test.each(KEPT)(
  'what a request holds for its provider alone is not told as a thing to take out: %j',
  async (more, message) => {
    refusal = { status: 404, steps: [JSON.stringify({ error: { message, type: 'invalid_request_error' } })] }
    const { status, text, paths } = await ask('responses', more)
    expect([status, JSON.parse(text).error.code, paths]).toEqual([502, 'upstream_error', [PATHS.responses]])
  },
)

test('a member that a refusal names is not looked for on another wire', async () => {
  refusal = { status: 404, steps: ['{"error":{"message":"No such File object: file-abc123"}}'] }
  const input = [{ role: 'user', content: [{ type: 'input_file', file_id: 'file-abc123' }] }]
  const { status, text, paths } = await ask('responses', { input })
  const { param } = JSON.parse(text).error
  expect([status, param, paths]).toEqual([400, 'input.0.content.0', [PATHS.responses]])
})

test('a tool of a vendor is told as one where its wire is surely missing', async () => {
  refusal = { status: 405, steps: ['{"detail":"Method Not Allowed"}'] }
  const { status, text } = await ask('responses', { tools: [{ type: 'file_search', vector_store_ids: ['vs_1'] }] })
  expect([status, JSON.parse(text).error.param]).toEqual([400, 'tools.0'])
})
