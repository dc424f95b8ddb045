// A gateway before a server that takes some requests only in a form of its own, and says so when it refuses them.

import { afterAll, afterEach, beforeAll, beforeEach } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { json, type Script, type Scripted, startScripted } from '../support/provider/scripted.ts'

export type Refusing = {
  /** How the server answers from now on. */
  server: (messages: JsonObject[], body: JsonObject) => Script
  provider: Scripted
  gateway: TestGateway
  /** The messages of each request that has reached the server. */
  sent(): JsonObject[][]
  /** Asks as a client of the messages wire, with a tool. */
  ask(model: string, messages: JsonObject[]): Promise<Response>
}

/** Each test begins with a gateway that has been told nothing. */
export const startRefusing = (): Refusing => {
  const on = {
    sent: () => on.provider.requests.map(({ text }) => JSON.parse(text).messages),
    ask: (model, messages) => on.gateway.post('/v1/messages', { model, max_tokens: 90, messages, tools }),
  } as Refusing
  beforeAll(async () => {
    on.provider = await startScripted(({ text }) => {
      const body = JSON.parse(text)
      return on.server(body.messages, body)
    })
  })
  beforeEach(async () => {
    on.provider.requests.length = 0
    const config = onlyProvider(`${on.provider.origin}/v1`, { wires: ['chat-completions'] })
    on.gateway = await startGateway({ config })
  })
  afterEach(() => on.gateway.stop())
  afterAll(() => on.provider.stop())
  return on
}

export const refusal = (message: string, status = 400): Script =>
  json({ error: { message, type: 'invalid_request_error', param: null, code: null } }, status)

const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }

export const answer = json({
  id: 'chatcmpl-1',
  choices: [{ index: 0, message: { content: 'Hi.' }, finish_reason: 'stop' }],
  usage,
})

export const call = { id: 'a', type: 'function', function: { name: 'json', arguments: '{"title":"A"}' } }
export const byTool = json({
  id: 'chatcmpl-1',
  choices: [{ index: 0, message: { content: null, tool_calls: [call] }, finish_reason: 'tool_calls' }],
  usage,
})

export const ofModel = (messages: JsonObject[]): JsonObject[] => messages.filter(({ role }) => role === 'assistant')

export const tools = [{ name: 'look', input_schema: { type: 'object', properties: {} } }]
export const called = (id: string, ...before: JsonObject[]): JsonObject[] => [
  { role: 'assistant', content: [...before, { type: 'tool_use', id, name: 'look', input: {} }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: 'Nothing.' }] },
]
export const hi = { role: 'user', content: 'Hi' }

export const WANTED = 'The `reasoning_content` in the thinking mode must be passed back to the API.'
