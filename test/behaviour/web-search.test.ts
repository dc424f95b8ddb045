// The web search of one vendor at a server of the other's wire that has none: left out and listed, and remembered.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import { asObjects, type JsonObject } from '../../src/ir/json.ts'
import type { ChatWire } from '../../src/ir/wire.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { PATHS } from '../support/paths.ts'
import { json, type Scripted, startScripted } from '../support/provider/scripted.ts'

const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 }
const ANSWERS: { [path: string]: JsonObject } = {
  '/v1/chat/completions': {
    id: 'chatcmpl-1',
    choices: [{ index: 0, message: { content: 'Hi.' }, finish_reason: 'stop' }],
  },
  '/v1/responses': { id: 'resp_1', object: 'response', status: 'completed', output: [], usage },
  '/v1/messages': {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', stop_reason: 'end_turn', usage },
    content: [{ type: 'text', text: 'Hi.' }],
  },
}

const isSearch = ({ type }: JsonObject): boolean => typeof type === 'string' && type.startsWith('web_search')

let words = ''
let provider: Scripted
let gateway: TestGateway | undefined
beforeAll(async () => {
  provider = await startScripted(({ path, text }) => {
    const tools = asObjects((JSON.parse(text) as JsonObject).tools)
    const at = tools.findIndex(isSearch)
    if (at === -1) return json(ANSWERS[path] ?? {})
    return json({ error: { type: 'invalid_request_error', message: words.replace('%', `${at}`) } }, 400)
  })
})
beforeEach(() => {
  provider.requests.length = 0
})
afterEach(() => gateway?.stop())
afterAll(() => provider.stop())

const serve = async (wires: ChatWire[]): Promise<TestGateway> => {
  gateway = await startGateway({
    config: onlyProvider(wires.includes('messages') ? provider.origin : `${provider.origin}/v1`, { wires }),
  })
  return gateway
}

const LOOK = { responses: { type: 'function', name: 'look', parameters: { type: 'object' } } }
const REQUESTS: { [client: string]: JsonObject } = {
  responses: { model: 'vendorB-5.5', input: 'Hi', tools: [LOOK.responses, { type: 'web_search' }] },
  messages: {
    ...{ model: 'vendorB-5.5', max_tokens: 900, messages: [{ role: 'user', content: 'Hi' }] },
    tools: [
      { name: 'look', input_schema: { type: 'object' } },
      { type: 'web_search_20250305', name: 'web_search' },
    ],
  },
}

const REFUSALS = [
  "tools.%: Input tag found using 'type' does not match any of the expected tags: 'custom', 'bash_20250124'",
  'tools[%].type: unsupported tool type',
  "Tool type 'web_search_20250305' is not supported by this model.",
  'tools.%.web_search_20250305: Extra inputs are not permitted',
]

test.each<[ChatWire, ChatWire, string]>(
  [
    ['responses', 'messages'],
    ['messages', 'responses'],
  ].flatMap(([client, wire]) =>
    REFUSALS.map((refusal): [ChatWire, ChatWire, string] => [client as ChatWire, wire as ChatWire, refusal]),
  ),
)('%s client, %s server: %s', async (client, wire, refusal) => {
  words = refusal
  const { post } = await serve([wire])
  const answers = [await post(PATHS[client], REQUESTS[client] ?? {}), await post(PATHS[client], REQUESTS[client] ?? {})]
  expect(answers.map(({ status, headers }) => [status, headers.get('x-gateway-dropped')])).toEqual([
    [200, 'tools.1'],
    [200, 'tools.1'],
  ])
  // The first refusal is all that it costs.
  expect(provider.requests.map(({ text }) => asObjects((JSON.parse(text) as JsonObject).tools).some(isSearch))).toEqual(
    [true, false, false],
  )
})

test.each<[ChatWire, ChatWire]>([
  ['responses', 'messages'],
  ['messages', 'responses'],
])('%s client, %s server: a search that is all that was asked for is refused clearly', async (client, wire) => {
  words = REFUSALS[0] ?? ''
  const { post } = await serve([wire])
  const request = REQUESTS[client] ?? {}
  const answer = await post(PATHS[client], { ...request, tools: asObjects(request.tools).slice(1) })
  expect(answer.status).toBe(400)
  expect(await answer.json()).toMatchObject({ error: { code: 'invalid_request' } })
})

test('a client of the server’s own wire is told, and loses nothing', async () => {
  words = REFUSALS[0] ?? ''
  const { post } = await serve(['messages'])
  expect((await post(PATHS.messages, REQUESTS.messages ?? {})).status).toBe(400)
  expect(provider.requests).toHaveLength(1)
})
