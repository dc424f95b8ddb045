// Servers of many makes and languages refuse one member of a request that holds all of them: it is asked again without that
// one, and with all others; and once only where something else is refused. See refused-by-strangers.ts.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { isObject, type Json, type JsonObject } from '../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import { placesOf } from '../../src/wire/refusal/member-path.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { PATHS } from '../support/paths.ts'
import { type Script, type Scripted, sse, startScripted } from '../support/provider/scripted.ts'
import {
  CLASSES,
  type Final,
  NOT_ABOUT_MEMBERS,
  OWN_WIRE,
  type Pair,
  type Refusal,
  SAID,
  TO_CHAT,
  TO_MESSAGES,
  TO_RESPONSES,
} from './refused-by-strangers.ts'

const MODEL = 'vendorB-5.5'
const parameters = {
  type: 'object',
  properties: { place: { type: 'string' } },
  required: ['place'],
  additionalProperties: false,
}
const talk = [
  { role: 'user', content: 'Hi' },
  { role: 'assistant', content: 'Hello.' },
]

/** Everything that a client can wish for besides. */
const WISHING: Record<ChatWire, JsonObject> = {
  'chat-completions': {
    messages: [...talk, { role: 'user', name: 'ann', content: SAID }],
    tools: [{ type: 'function', function: { name: 'look', parameters, strict: true } }],
    ...{ tool_choice: 'auto', parallel_tool_calls: false, temperature: 0.3, top_p: 0.9, stop: ['END'], user: 'u' },
    ...{
      metadata: { user: 'n', store: 'x' },
      service_tier: 'flex',
      store: false,
      verbosity: 'low',
      max_completion_tokens: 900,
    },
    ...{ prompt_cache_key: 'k', prompt_cache_retention: '24h', safety_identifier: 'z', reasoning_effort: 'low' },
  },
  responses: {
    input: [...talk, { role: 'user', content: SAID }],
    tools: [{ type: 'function', name: 'look', parameters, strict: true }],
    ...{ tool_choice: 'auto', parallel_tool_calls: false, temperature: 0.3, top_p: 0.9, user: 'u', truncation: 'auto' },
    ...{ metadata: { a: 'b' }, service_tier: 'flex', store: false, max_output_tokens: 900 },
    ...{
      prompt_cache_key: 'k',
      prompt_cache_retention: '24h',
      safety_identifier: 'store',
      reasoning: { effort: 'low' },
    },
    text: { verbosity: 'low' },
  },
  messages: {
    max_tokens: 900,
    system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
    messages: [...talk, { role: 'user', content: SAID }],
    tools: [{ name: 'look', input_schema: parameters, strict: true }],
    tool_choice: { type: 'auto', disable_parallel_tool_use: true },
    ...{ temperature: 0.3, top_p: 0.9, stop_sequences: ['END'], metadata: { user_id: 'u' }, service_tier: 'auto' },
    ...{ thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
  },
}
/** What only its own wire carries. */
const OWN: Record<ChatWire, JsonObject> = {
  'chat-completions': { seed: 7, logit_bias: { '5': 1 }, frequency_penalty: 0.1 },
  responses: {},
  messages: { top_k: 4 },
}

const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 }
const text = 'Sunny.'
const item = {
  type: 'message',
  id: 'msg_1',
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text, annotations: [] }],
}
const response = { id: 'resp_1', object: 'response', model: MODEL, status: 'completed', output: [item], usage }
const ANSWERS: Record<ChatWire, JsonObject> = {
  'chat-completions': {
    ...{ id: 'chatcmpl-1', object: 'chat.completion', model: MODEL },
    choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 2 },
  },
  responses: response,
  messages: {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: MODEL,
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    usage,
  },
}
const frames = (...events: JsonObject[]): string =>
  events.map((one) => `event: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`).join('')
const STREAMS: Record<ChatWire, string> = {
  'chat-completions': [
    {
      id: 'c',
      object: 'chat.completion.chunk',
      model: MODEL,
      choices: [{ index: 0, delta: { role: 'assistant', content: text }, finish_reason: null }],
    },
    {
      id: 'c',
      object: 'chat.completion.chunk',
      model: MODEL,
      choices: [{ index: 0, delta: {}, finish_reason: 'stop' }],
    },
  ]
    .map((one) => `data: ${JSON.stringify(one)}\n\n`)
    .join('')
    .concat('data: [DONE]\n\n'),
  responses: frames(
    { type: 'response.created', sequence_number: 0, response: { ...response, status: 'in_progress', output: [] } },
    {
      type: 'response.output_item.added',
      sequence_number: 1,
      output_index: 0,
      item: { ...item, status: 'in_progress', content: [] },
    },
    {
      type: 'response.content_part.added',
      sequence_number: 2,
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      part: { type: 'output_text', text: '', annotations: [] },
    },
    {
      type: 'response.output_text.delta',
      sequence_number: 3,
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta: text,
    },
    { type: 'response.output_item.done', sequence_number: 4, output_index: 0, item },
    { type: 'response.completed', sequence_number: 5, response },
  ),
  messages: frames(
    { type: 'message_start', message: { ...ANSWERS.messages, content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  ),
}

const servers = new Map<ChatWire, { provider: Scripted; gateway: TestGateway }>()
let serve: (wire: ChatWire, sent: JsonObject) => Script

beforeAll(async () => {
  for (const wire of CHAT_WIRES) {
    const provider = await startScripted(({ text }) => serve(wire, JSON.parse(text)))
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

/** As the server says it at once, or with a 200 in a stream that it has announced, and in which it has said nothing yet. */
const FORMS = ['as a response', 'behind the announcement of a stream'] as const
type Form = (typeof FORMS)[number]

const refusedAs = (form: Form, wire: ChatWire, status: number, said: Json | string): Script => {
  const body = typeof said === 'string' ? said : JSON.stringify(said)
  if (form === 'as a response') return { status, steps: [body] }
  const bare = isObject(said) && isObject(said.error) ? said.error : isObject(said) ? said : { message: body }
  // There, servers tell the status or the class in the error.
  const error: JsonObject = { ...bare, type: 'invalid_request_error' }
  const failure = {
    'chat-completions': `data: ${JSON.stringify({ error })}\n\n`,
    responses: frames({ type: 'error', sequence_number: 1, ...error, error }),
    messages: frames({ type: 'error', error }),
  }
  return { ...sse(''), steps: [ANNOUNCED[wire], failure[wire]] }
}

const ANNOUNCED: Record<ChatWire, string> = {
  'chat-completions': `data: ${JSON.stringify({
    ...{ id: 'c', object: 'chat.completion.chunk', model: MODEL },
    choices: [{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }],
  })}\n\n`,
  responses: frames({
    ...{ type: 'response.created', sequence_number: 0 },
    response: { ...response, status: 'in_progress', output: [] },
  }),
  messages: frames(
    { type: 'message_start', message: { ...ANSWERS.messages, content: [], stop_reason: null } },
    { type: 'ping' },
  ),
}

type Seen = { status: number; sent: JsonObject[]; dropped: string; told: JsonObject; text: string }

const ask = async (
  [client, server]: Pair,
  form: Form,
  refuses: (sent: JsonObject) => Script | undefined,
): Promise<Seen> => {
  const at = servers.get(server)
  if (at === undefined) throw new Error(server)
  const { gateway } = at
  const { health } = gateway.server.gateway
  for (const { target } of health.states()) health.succeeded(target)
  const sent: JsonObject[] = []
  serve = (wire, body) => {
    sent.push(body)
    return refuses(body) ?? (body.stream === true ? sse(STREAMS[wire]) : { steps: [JSON.stringify(ANSWERS[wire])] })
  }
  const key = { 'x-api-key': (await gateway.issue()).secret }
  const stream = form !== 'as a response'
  const body = {
    model: MODEL,
    ...WISHING[client],
    ...(client === server ? OWN[client] : {}),
    ...(stream && { stream }),
  }
  const answer = await gateway.post(PATHS[client], body, key)
  const read = await answer.text()
  const json = /^\{.*\}$/ms.exec(read)?.[0] ?? /^data: (\{"error".*\})$/m.exec(read)?.[1] ?? '{}'
  const told = (JSON.parse(json) as { error?: JsonObject }).error ?? {}
  return { status: answer.status, sent, dropped: answer.headers.get('x-gateway-dropped') ?? '', told, text: read }
}

const without = (sent: JsonObject | undefined, member: string): string => {
  const copy = structuredClone(sent ?? {})
  const [outer = ''] = member.split(/[.=]/)
  for (const name of USERS.has(member) ? USERS : [outer]) delete copy[name]
  return JSON.stringify(copy)
}

const USERS = new Set(['user', 'safety_identifier', 'metadata', 'metadata.user_id'])

const PER_MEMBER = [...TO_CHAT, ...TO_RESPONSES, ...TO_MESSAGES, ...OWN_WIRE]

const outcome = async (form: Form, [, pair, member, status, said, due]: Refusal): Promise<string> => {
  const holds = (sent: JsonObject): boolean => placesOf(sent, member).length > 0
  const seen = await ask(pair, form, (sent) => (holds(sent) ? refusedAs(form, pair[1], status, said) : undefined))
  const [first] = seen.sent
  if (first === undefined || !holds(first)) return `never sent ${member}: ${Object.keys(first ?? {})}`
  if (due?.startsWith('told ')) {
    const isTold = seen.told.code === 'invalid_request' && `${seen.told.param}`.startsWith(due.slice(5))
    return isTold ? (due ?? '') : `${seen.status} ${JSON.stringify(seen.told)}`
  }
  if (seen.status !== 200 || !seen.text.includes(text)) return `${seen.status} ${JSON.stringify(seen.told)}`
  if (due === 'form') return 'form'
  // Who somebody is, is sent as a digest first.
  const forms = USERS.has(member) ? 3 : 2
  if (seen.sent.length < 2 || seen.sent.length > forms) return `${seen.sent.length} requests, dropped ${seen.dropped}`
  if (without(seen.sent[0], member) !== without(seen.sent.at(-1), member)) return `without more: ${seen.dropped}`
  return 'answered'
}

describe.each(FORMS)('%s', (form) => {
  const isSent = ([, , member]: Refusal): boolean => form !== 'as a response' || member !== 'stream_options'
  test.each(PER_MEMBER.filter(isSent).map((row) => [row[0], row[1].join(' → '), row[2], row] as const))(
    '%s (%s) refuses %s alone',
    async (_server, _pair, _member, row) => {
      expect(await outcome(form, row)).toBe(row[5] ?? 'answered')
    },
  )
})

const final = async ([, pair, status, said, code]: Final): Promise<string> => {
  const seen = await ask(pair, 'as a response', () => refusedAs('as a response', pair[1], status, said))
  if (seen.sent.length !== 1) return `${seen.sent.length} requests, ${JSON.stringify(seen.told)}`
  return `${seen.told.code}` === code ? code : JSON.stringify(seen.told)
}

describe('what is refused is not how it is put', () => {
  test.each([...NOT_ABOUT_MEMBERS, ...CLASSES].map((row) => [row[0], row[1].join(' → '), row[2], row] as const))(
    '%s (%s), %d',
    async (_server, _pair, _status, row) => {
      expect(await final(row)).toBe(row[4])
    },
  )
})
