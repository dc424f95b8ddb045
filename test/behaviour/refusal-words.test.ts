// What servers refuse, in their own words, becomes another form of the request, the client's own member, or a word to the
// owner: see refusal-words.ts.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { PATHS } from '../support/paths.ts'
import { json, type Script, type Scripted, startScripted } from '../support/provider/scripted.ts'
import { NEW_WORDS, ROWS, type Row } from './refusal-words.ts'
import { askedOn, isCarried } from './refusal-words-asked.ts'
import { NAMED } from './refusal-words-named.ts'
import { PLAIN } from './refusal-words-plain.ts'
import { SHARED } from './refusal-words-shared.ts'

const MODEL = 'vendorB-5.5'
const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 }
const call = { id: 'a', type: 'function', function: { name: 'json', arguments: '{"place":"A"}' } }

/** An answer on each wire, by a tool where the request forces one. */
const answerOn = (wire: ChatWire, sent: JsonObject): JsonObject => {
  const text = '{"place":"A"}'
  if (wire === 'messages') {
    const byTool = JSON.stringify(sent.tools ?? '').includes('"json"')
    const block = byTool
      ? { type: 'tool_use', id: 'toolu_1', name: 'json', input: { place: 'A' } }
      : { type: 'text', text }
    const stop_reason = byTool ? 'tool_use' : 'end_turn'
    return { id: 'msg_1', type: 'message', role: 'assistant', content: [block], stop_reason, usage }
  }
  if (wire === 'responses') {
    const content = [{ type: 'output_text', text, annotations: [] }]
    const output = [{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }]
    return { id: 'resp_1', object: 'response', status: 'completed', output, usage }
  }
  const byTool = JSON.stringify(sent.tools ?? '').includes('"json"')
  const message = byTool ? { content: null, tool_calls: [call] } : { content: text }
  return {
    id: 'chatcmpl-1',
    choices: [{ index: 0, message, finish_reason: byTool ? 'tool_calls' : 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 2 },
  }
}

const servers = new Map<ChatWire, { provider: Scripted; gateway: TestGateway }>()
let refusing: (wire: ChatWire, sent: JsonObject) => Script | undefined = () => undefined

beforeAll(async () => {
  for (const wire of CHAT_WIRES) {
    const provider = await startScripted(({ text }) => {
      const sent = JSON.parse(text)
      return refusing(wire, sent) ?? json(answerOn(wire, sent))
    })
    const base = wire === 'messages' ? provider.origin : `${provider.origin}/v1`
    servers.set(wire, { provider, gateway: await startGateway({ config: onlyProvider(base, { wires: [wire] }) }) })
  }
})
afterAll(async () => {
  for (const { provider, gateway } of servers.values()) {
    await gateway.stop()
    await provider.stop()
  }
})

const wiresOf = (way: Row[1]): [ChatWire, ChatWire] => (typeof way === 'string' ? [way, way] : [way[0], way[1]])

/** What a client gets, in the words of the table. */
const outcome = async ([, way, asked, status, error, due]: Row): Promise<string> => {
  const [server, client] = wiresOf(way)
  const at = servers.get(server)
  if (at === undefined) throw new Error(server)
  const { gateway } = at
  const { health } = gateway.server.gateway
  for (const { target } of health.states()) health.succeeded(target)
  const words = JSON.stringify(error)
  refusing = (wire, sent) =>
    wire === server && isCarried(asked, sent, words) ? json(error as JsonObject, status) : undefined
  const key = { 'x-api-key': (await gateway.issue()).secret }
  const response = await gateway.post(PATHS[client], { model: MODEL, ...askedOn(client, asked) }, key)
  const text = await response.text()
  const dropped = response.headers.get('x-gateway-dropped') ?? ''
  const { error: told = {} } = JSON.parse(text.startsWith('{') ? text : '{}') as { error?: JsonObject }
  const trouble = health.states().find(({ trouble }) => trouble !== undefined)?.trouble
  const waits = Number(response.headers.get('retry-after') ?? 0)
  if (response.status === 200) {
    const isListed = dropped.split(', ').some((one) => `${one}.`.startsWith(`${due.slice(8)}.`))
    return due.startsWith('without') ? (isListed ? due : `answered without ${dropped}`) : 'answered'
  }
  if (trouble === 'unknown-model' && told.code === 'upstream_error') return 'unknown model'
  if (told.code === 'content_policy_violation') return 'policy'
  if (told.code === 'context_length_exceeded') return 'too long'
  if (told.code === 'service_unavailable' || (told.code === 'upstream_error' && trouble === 'no-money')) {
    const mayRetry = response.headers.get('x-should-retry') !== 'false'
    const isPaidUp = trouble !== 'no-money' || waits < 600 || mayRetry || `${told.message}`.includes('at the moment')
    return isPaidUp ? `busy ${waits}` : 'no money'
  }
  if (told.code === 'invalid_request') {
    if (due.startsWith('says ') && `${told.message}`.includes(due.slice(5))) return due
    const isWithin = due.startsWith('told ') && `${told.param}.`.startsWith(`${due.slice(5)}.`)
    return isWithin ? due : `told ${told.param}: ${told.message}`
  }
  const isFailure = told.code === 'upstream_error' && trouble === undefined
  const isFinal = response.headers.get('x-should-retry') === 'false'
  return isFailure && due === (isFinal ? 'refused for good' : 'refused access') ? due : `${told.code} ${trouble ?? ''}`
}

const named = [...ROWS, ...NEW_WORDS, ...PLAIN, ...SHARED, ...NAMED].map((row) => {
  const [server, way, asked, status, error] = row
  return [
    `${server} (${wiresOf(way).reverse().join(' → ')}, ${asked}): ${status} ${JSON.stringify(error).slice(0, 160)}`,
    row,
  ] as const
})

describe('a refusal', () => {
  test.each(named)('%s', async (_, row) => {
    expect(await outcome(row)).toBe(row[5])
  })
})

test('the words are those of many', () => {
  const servers = new Set(ROWS.map(([server]) => server))
  expect([ROWS.length >= 150, servers.size >= 20]).toEqual([true, true])
})
