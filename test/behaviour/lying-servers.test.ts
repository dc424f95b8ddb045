// How answers end at servers that say it in words of their own, wrongly, or not at all, for clients of every other wire, as a
// whole and in a stream.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { asList, asObject, type JsonObject } from '../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { PATHS } from '../support/paths.ts'
import { type Script, type Scripted, sse, startScripted } from '../support/provider/scripted.ts'

const MODEL = 'vendorB-5.5'
const CAP = 20

type End = 'end' | 'cut' | 'calls' | 'filtered' | 'broken' | 'stop'
/** What a server writes: its word for the end, its figure, half or whole a call, more members beside. */
type Made = { reason?: unknown; output?: number | undefined; text?: string; call?: string; more?: JsonObject }
/** Nothing in a stream that ends without a reason tells that it is whole. */
type Row = readonly [what: string, made: Made, end: End, inStream?: End]

const HALF = '{"place":"A'
const WHOLE = '{"place":"A"}'

const CHAT: Row[] = [
  ['stop at the cap', { reason: 'stop', output: CAP }, 'cut'],
  ['stop above the cap', { reason: 'stop', output: CAP + 1 }, 'cut'],
  ['stop below the cap', { reason: 'stop', output: CAP - 1 }, 'end'],
  ['no reason at the cap', { reason: null, output: CAP }, 'cut', 'broken'],
  ['eos', { reason: 'eos', output: 5 }, 'end'],
  ['eos_token', { reason: 'eos_token', output: 5 }, 'end'],
  ['STOP', { reason: 'STOP', output: 5 }, 'end'],
  ['end_turn', { reason: 'end_turn', output: 5 }, 'end'],
  ['MAX_TOKENS', { reason: 'MAX_TOKENS', output: 9 }, 'cut'],
  ['max_tokens without figures', { reason: 'max_tokens' }, 'cut'],
  ['max_length', { reason: 'max_length', output: 9 }, 'cut'],
  ['max_new_tokens', { reason: 'max_new_tokens' }, 'cut'],
  ['max_completion_tokens', { reason: 'max_completion_tokens' }, 'cut'],
  ['length_limit', { reason: 'length_limit' }, 'cut'],
  ['token_limit', { reason: 'token_limit' }, 'cut'],
  ['token_limit_reached', { reason: 'token_limit_reached' }, 'cut'],
  ['LENGTH', { reason: 'LENGTH', output: 3 }, 'cut'],
  ['incomplete', { reason: 'incomplete', output: 3 }, 'cut'],
  ['truncated', { reason: 'truncated', output: 3 }, 'cut'],
  ['half a call at the cap', { reason: 'tool_calls', output: CAP, call: HALF }, 'cut'],
  ['half a call, said to be one', { reason: 'length', call: HALF }, 'cut'],
  ['half a call below the cap', { reason: 'tool_calls', output: 9, call: HALF }, 'broken'],
  ['half a call without figures', { reason: 'tool_calls', call: HALF }, 'broken'],
  ['half a call called a stop at the cap', { reason: 'stop', output: CAP, call: HALF }, 'cut'],
  ['a whole call at the cap', { reason: 'tool_calls', output: CAP, call: WHOLE }, 'calls'],
  ['a whole call that says stop', { reason: 'stop', output: 9, call: WHOLE }, 'calls'],
  ['function_call', { reason: 'function_call', output: 9, call: WHOLE }, 'calls'],
  ['tool_use', { reason: 'tool_use', output: 9, call: WHOLE }, 'calls'],
  ['tool_calls without a call', { reason: 'tool_calls', output: 9 }, 'end'],
  ['content_filter', { reason: 'content_filter', output: 9 }, 'filtered'],
  ['SAFETY', { reason: 'SAFETY', output: 9 }, 'filtered'],
  ['sensitive', { reason: 'sensitive', output: 9 }, 'filtered'],
  ['a filter of Azure', { reason: 'content_filter', output: 9, more: { content_filter_results: {} } }, 'filtered'],
  ['error', { reason: 'error', output: 9 }, 'broken'],
  ['network_error', { reason: 'network_error', output: 9 }, 'broken'],
  ['abort', { reason: 'abort', output: 9 }, 'broken'],
  ['insufficient_system_resource', { reason: 'insufficient_system_resource', output: 9 }, 'broken'],
  ['the stop sequence by its name', { reason: 'stop', output: 9, more: { stop_reason: 'END' } }, 'stop'],
  ['the same as SGLang says it', { reason: 'stop', output: 9, more: { matched_stop: 'END' } }, 'stop'],
  ['another word as a stop', { reason: 'stop', output: 9, more: { stop_reason: 'OTHER' } }, 'end'],
  ['the number of a token as a stop', { reason: 'stop', output: 9, more: { matched_stop: 151_645 } }, 'end'],
  ['a stop sequence left in the text', { reason: 'stop', output: 9, text: 'One END two' }, 'stop'],
  ['a text that ends with it', { reason: 'stop', output: 9, text: 'One END' }, 'stop'],
]

const RESP: Row[] = [
  ['completed at the cap', { output: CAP }, 'cut'],
  ['completed above the cap', { output: CAP + 7 }, 'cut'],
  ['completed below the cap', { output: CAP - 1 }, 'end'],
  ['incomplete without a why', { reason: 'incomplete', output: 9 }, 'cut'],
  [
    'incomplete for max_output_tokens',
    { reason: 'incomplete', output: 9, more: { incomplete_details: { reason: 'max_output_tokens' } } },
    'cut',
  ],
  [
    'incomplete for max_tokens',
    { reason: 'incomplete', output: 9, more: { incomplete_details: { reason: 'max_tokens' } } },
    'cut',
  ],
  [
    'incomplete for its length',
    { reason: 'incomplete', output: 9, more: { incomplete_details: { reason: 'length' } } },
    'cut',
  ],
  [
    'incomplete for a filter',
    { reason: 'incomplete', output: 9, more: { incomplete_details: { reason: 'content_filter' } } },
    'filtered',
  ],
  ['half a call at the cap', { output: CAP, call: HALF }, 'cut'],
  ['half a call below the cap', { output: 9, call: HALF }, 'broken'],
  ['half a call, incomplete', { reason: 'incomplete', output: 9, call: HALF }, 'cut'],
  ['a whole call at the cap', { output: CAP, call: WHOLE }, 'calls'],
  ['failed', { reason: 'failed', output: 9 }, 'broken'],
  ['cancelled', { reason: 'cancelled', output: 9 }, 'broken'],
  ['a stop sequence left in the text', { output: 9, text: 'One END two' }, 'stop'],
]

const MSGS: Row[] = [
  ['end_turn at the cap', { reason: 'end_turn', output: CAP }, 'cut'],
  ['end_turn below the cap', { reason: 'end_turn', output: CAP - 1 }, 'end'],
  ['no reason at the cap', { reason: null, output: CAP }, 'cut', 'broken'],
  ['length', { reason: 'length', output: 9 }, 'cut'],
  ['max_tokens', { reason: 'max_tokens', output: 9 }, 'cut'],
  ['stop', { reason: 'stop', output: 9 }, 'end'],
  ['an empty call at the cap', { reason: 'tool_use', output: CAP, call: '{}' }, 'cut'],
  ['a whole call at the cap', { reason: 'tool_use', output: CAP, call: WHOLE }, 'calls'],
  ['a whole call that says end_turn', { reason: 'end_turn', output: 9, call: WHOLE }, 'calls'],
  ['tool_calls', { reason: 'tool_calls', output: 9, call: WHOLE }, 'calls'],
  ['end_turn beside a stop sequence', { reason: 'end_turn', output: 9, more: { stop_sequence: 'END' } }, 'stop'],
  ['stop_sequence', { reason: 'stop_sequence', output: 9, more: { stop_sequence: 'END' } }, 'stop'],
  ['refusal', { reason: 'refusal', output: 9 }, 'filtered'],
  ['content_filter', { reason: 'content_filter', output: 9 }, 'filtered'],
  ['a stop sequence left in the text', { reason: 'end_turn', output: 9, text: 'One END two' }, 'stop'],
]

const ROWS: Record<ChatWire, Row[]> = { 'chat-completions': CHAT, responses: RESP, messages: MSGS }

const data = (...events: JsonObject[]): string => events.map((one) => `data: ${JSON.stringify(one)}\n\n`).join('')
const framed = (...events: JsonObject[]): string => events.map((one) => `event: ${one.type}\n${data(one)}`).join('')

const answerOn: Record<ChatWire, (made: Made, stream: boolean) => Script> = {
  'chat-completions': ({ reason = null, output, text = 'One', call, more }, stream) => {
    const calls =
      call === undefined
        ? {}
        : { tool_calls: [{ index: 0, id: 'x', type: 'function', function: { name: 'look', arguments: call } }] }
    const message = { role: 'assistant', content: call === undefined ? text : null, ...calls }
    const usage =
      output === undefined ? {} : { usage: { prompt_tokens: 3, completion_tokens: output, total_tokens: 3 + output } }
    const head = { id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm' }
    const end = { finish_reason: reason as string | null, ...more }
    if (!stream)
      return {
        steps: [
          JSON.stringify({ ...head, object: 'chat.completion', choices: [{ index: 0, message, ...end }], ...usage }),
        ],
      }
    const chunks = [
      { ...head, choices: [{ index: 0, delta: message, finish_reason: null }] },
      { ...head, choices: [{ index: 0, delta: {}, ...end }] },
      ...(output === undefined ? [] : [{ ...head, choices: [], ...usage }]),
    ]
    return sse(`${data(...chunks)}data: [DONE]\n\n`)
  },
  responses: ({ reason = 'completed', output = 9, text = 'One', call, more }, stream) => {
    const item: JsonObject =
      call === undefined
        ? {
            type: 'message',
            id: 'msg_1',
            role: 'assistant',
            status: 'completed',
            content: [{ type: 'output_text', text, annotations: [] }],
          }
        : { type: 'function_call', id: 'fc_1', call_id: 'x', name: 'look', arguments: call, status: 'completed' }
    const response = {
      id: 'resp_1',
      object: 'response',
      model: 'm',
      status: reason as string,
      output: [item],
      usage: { input_tokens: 3, output_tokens: output, total_tokens: 3 + output },
      ...more,
    }
    if (!stream) return { steps: [JSON.stringify(response)] }
    const begun = { ...response, status: 'in_progress', output: [] }
    const at = { output_index: 0, item_id: `${item.id}` }
    return sse(
      framed(
        { type: 'response.created', response: begun },
        {
          type: 'response.output_item.added',
          output_index: 0,
          item: { ...item, status: 'in_progress', ...(call === undefined ? { content: [] } : { arguments: '' }) },
        },
        ...(call === undefined
          ? [
              {
                type: 'response.content_part.added',
                ...at,
                content_index: 0,
                part: { type: 'output_text', text: '', annotations: [] },
              },
              { type: 'response.output_text.delta', ...at, content_index: 0, delta: text },
            ]
          : [{ type: 'response.function_call_arguments.delta', ...at, delta: call }]),
        { type: 'response.output_item.done', output_index: 0, item },
        { type: `response.${reason}`, response },
      ),
    )
  },
  messages: ({ reason = 'end_turn', output = 9, text = 'One', call, more }, stream) => {
    const input = call === undefined ? {} : (JSON.parse(call) as JsonObject)
    const block: JsonObject =
      call === undefined ? { type: 'text', text } : { type: 'tool_use', id: 'x', name: 'look', input }
    const end = { stop_reason: reason as string | null, stop_sequence: null, ...more }
    const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'm' }
    const usage = { input_tokens: 3, output_tokens: output }
    if (!stream) return { steps: [JSON.stringify({ ...head, content: [block], ...end, usage })] }
    return sse(
      framed(
        {
          type: 'message_start',
          message: {
            ...head,
            content: [],
            stop_reason: null,
            stop_sequence: null,
            usage: { input_tokens: 3, output_tokens: 1 },
          },
        },
        {
          type: 'content_block_start',
          index: 0,
          content_block: call === undefined ? { type: 'text', text: '' } : { ...block, input: {} },
        },
        {
          type: 'content_block_delta',
          index: 0,
          delta: call === undefined ? { type: 'text_delta', text } : { type: 'input_json_delta', partial_json: call },
        },
        { type: 'content_block_stop', index: 0 },
        { type: 'message_delta', delta: end, usage: { output_tokens: output } },
        { type: 'message_stop' },
      ),
    )
  },
}

const parameters = { type: 'object', properties: { place: { type: 'string' } } }
const ASKED: Record<ChatWire, JsonObject> = {
  'chat-completions': {
    ...{ max_completion_tokens: CAP, stop: ['END'], messages: [{ role: 'user', content: 'Hi' }] },
    tools: [{ type: 'function', function: { name: 'look', parameters } }],
  },
  responses: { max_output_tokens: CAP, input: 'Hi', tools: [{ type: 'function', name: 'look', parameters }] },
  messages: {
    ...{ max_tokens: CAP, stop_sequences: ['END'], messages: [{ role: 'user', content: 'Hi' }] },
    tools: [{ name: 'look', input_schema: parameters }],
  },
}

/** How its client sees that an answer ended, of a whole one or of the events of a stream. */
const ENDS: Record<ChatWire, (answer: JsonObject[]) => End> = {
  'chat-completions': (parts) => {
    const reason = parts
      .flatMap(({ choices }) => asList(choices).map((one) => asObject(one).finish_reason))
      .findLast(Boolean)
    return { stop: 'end', length: 'cut', tool_calls: 'calls', content_filter: 'filtered' }[`${reason}`] as End
  },
  responses: (parts) => {
    const last = asObject(parts.at(-1)?.response ?? parts.at(-1))
    const why = asObject(last.incomplete_details).reason
    if (last.status === 'incomplete') return why === 'content_filter' ? 'filtered' : 'cut'
    if (JSON.stringify(last.output).includes('"refusal"')) return 'filtered'
    return JSON.stringify(last.output).includes('"function_call"') ? 'calls' : 'end'
  },
  messages: (parts) => {
    const reason = parts.map((one) => one.stop_reason ?? asObject(one.delta).stop_reason).findLast(Boolean)
    const words = { end_turn: 'end', max_tokens: 'cut', tool_use: 'calls', refusal: 'filtered', stop_sequence: 'stop' }
    return words[`${reason}` as keyof typeof words] as End
  },
}
/** Clients of these wires are not told which it was. */
const AS_SEEN: Record<ChatWire, Partial<Record<End, End>>> = {
  'chat-completions': { stop: 'end' },
  responses: { stop: 'end' },
  messages: {},
}

const servers = new Map<ChatWire, { provider: Scripted; gateway: TestGateway }>()
let serve: (wire: ChatWire, stream: boolean) => Script

beforeAll(async () => {
  for (const wire of CHAT_WIRES) {
    const provider = await startScripted(({ text }) => serve(wire, JSON.parse(text).stream === true))
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

const ended = async (server: ChatWire, client: ChatWire, made: Made, stream: boolean): Promise<End> => {
  const at = servers.get(server)
  if (at === undefined) throw new Error(server)
  const { health } = at.gateway.server.gateway
  for (const { target } of health.states()) health.succeeded(target)
  serve = (wire, asStream) => answerOn[wire](made, asStream)
  const answer = await at.gateway.post(PATHS[client], { model: MODEL, ...ASKED[client], stream })
  const text = await answer.text()
  if (answer.status !== 200 || /^event: error$/m.test(text)) return 'broken'
  const parts = stream
    ? Array.from(text.matchAll(/^data: (\{.*\})$/gm), ([, one = '{}']) => JSON.parse(one))
    : [JSON.parse(text)]
  return ENDS[client](parts)
}

describe.each(CHAT_WIRES)('a server of %s', (server) => {
  const rows = ROWS[server].flatMap(([what, made, whole, inStream = whole]) =>
    CHAT_WIRES.filter((client) => client !== server).flatMap((client) => {
      return [false, true].map((stream) => {
        const end = stream ? inStream : whole
        // The wire has no stop sequences.
        const due = client === 'responses' && end === 'stop' ? 'end' : end
        return [what, client, stream ? 'a stream' : 'a whole', made, due] as const
      })
    }),
  )
  test.each(rows)('that says %s, to a client of %s, %s', async (_, client, form, made, end) => {
    expect(await ended(server, client, made, form === 'a stream')).toBe(AS_SEEN[client][end] ?? end)
  })
})
