// Ends, figures and texts in other words or places than their wire's: what an answer says to clients of other wires.

import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../../src/errors.ts'
import type { Json, JsonObject } from '../../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../../src/ir/wire.ts'
import { translateResponse, translateStream } from '../../../src/relay/translate.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'
import { framesOf } from '../../support/frames.ts'
import { GATHER } from './gather.ts'
import type { Told } from './told.ts'
import { askFor, VENDORS } from './vendors.ts'

const others = (vendor: ChatWire): ChatWire[] => CHAT_WIRES.filter((wire) => wire !== vendor)
const framed = (rows: (JsonObject | string)[]) =>
  framesOf(rows.map((row) => `data: ${typeof row === 'string' ? row : JSON.stringify(row)}\n\n`).join(''))

const streamed = (client: ChatWire, vendor: ChatWire, rows: (JsonObject | string)[]) => {
  const [to, from] = [CHAT_CODECS[client], CHAT_CODECS[vendor]]
  const tap = translateStream({ client: to, provider: from, ask: askFor(client, true), undo: {} })
  const text = framed(rows).map((frame) => tap.see(frame))
  return { tap, text: text.join('') }
}
const whole = (client: ChatWire, vendor: ChatWire, body: JsonObject): JsonObject => {
  const [to, from] = [CHAT_CODECS[client], CHAT_CODECS[vendor]]
  return translateResponse(body, { client: to, provider: from, ask: askFor(client, false), undo: {} })
}
const codeOf = (act: () => unknown): string => {
  try {
    act()
    return 'none'
  } catch (error) {
    if (error instanceof GatewayError) return error.code
    throw error
  }
}

const ANSWERS: Record<
  'chat-completions' | 'messages',
  (reason: Json) => { rows: (JsonObject | string)[]; body: JsonObject }
> = {
  'chat-completions': (reason) => ({
    rows: [
      { id: 'chatcmpl-1', created: 5, choices: [{ index: 0, delta: { content: 'a' }, finish_reason: null }] },
      { id: 'chatcmpl-1', created: 5, choices: [{ index: 0, delta: {}, finish_reason: reason }] },
      '[DONE]',
    ],
    body: { id: 'chatcmpl-1', created: 5, choices: [{ index: 0, message: { content: 'a' }, finish_reason: reason }] },
  }),
  messages: (reason) => ({
    rows: [
      { type: 'message_start', message: { id: 'msg_1', content: [], usage: { input_tokens: 5, output_tokens: 1 } } },
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'a' } },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage: { output_tokens: 9 } },
      { type: 'message_stop' },
    ],
    body: { id: 'msg_1', type: 'message', content: [{ type: 'text', text: 'a' }], stop_reason: reason },
  }),
}
const CUT: Record<ChatWire, string> = {
  'chat-completions': '"finish_reason":"length"',
  responses: '"reason":"max_output_tokens"',
  messages: '"stop_reason":"max_tokens"',
}

describe('an end in other words than the wire’s', () => {
  test.each<['chat-completions' | 'messages', Json]>([
    ['chat-completions', { type: 'length', length: 9 }],
    ['messages', 'length'],
    ['messages', 'MAX_TOKENS'],
    ['messages', 'max_output_tokens'],
    ['messages', 'token_limit_reached'],
    ['chat-completions', 'context_window_exceeded'],
    ['messages', 'context_window_exceeded'],
  ])('at the cap is one, on %s: %p', (vendor, reason) => {
    const { rows, body } = ANSWERS[vendor](reason)
    for (const client of others(vendor)) {
      expect(streamed(client, vendor, rows).text).toContain(CUT[client])
      expect(JSON.stringify(whole(client, vendor, body))).toContain(CUT[client])
    }
  })

  test.each<['chat-completions' | 'messages', Json]>([
    ['chat-completions', { type: 'abort', message: 'vendor-secret' }],
    ['messages', 'error'],
    ['messages', 'abort'],
    ['messages', 'timeout'],
    ['messages', 'engine_overloaded'],
  ])('by the server’s own fault is a failure, on %s: %p', (vendor, reason) => {
    const { rows, body } = ANSWERS[vendor](reason)
    for (const client of others(vendor)) {
      const { tap, text } = streamed(client, vendor, rows)
      expect([tap.state, text.includes('vendor-secret')]).toEqual(['failed', false])
      expect(codeOf(() => whole(client, vendor, body))).not.toBe('none')
    }
    const passed = CHAT_CODECS[vendor].tap({ model: 'm', includeUsage: true, now: 0 })
    for (const frame of framed(rows)) passed.see(frame)
    expect(passed.state).toBe('failed')
    expect(CHAT_CODECS[vendor].faultIn(body, {})).toBeInstanceOf(GatewayError)
  })
})

describe('an error that tells nothing, in every event of a stream', () => {
  const rowsOf = (vendor: ChatWire): (JsonObject | string)[] =>
    vendor === 'responses'
      ? [
          { type: 'response.created', response: response({ status: 'in_progress' }) },
          { type: 'response.completed', response: said('a') },
        ]
      : ANSWERS[vendor](vendor === 'messages' ? 'end_turn' : 'stop').rows
  test.each(
    CHAT_WIRES.flatMap((vendor) =>
      [{}, { code: null, message: null }, { code: 0, message: '' }, '', null, []].map(
        (error) => [vendor, error] as const,
      ),
    ),
  )('is none, on %s: %j', (vendor, error) => {
    const rows = rowsOf(vendor).map((row) => (typeof row === 'string' ? row : { ...row, error }))
    for (const client of others(vendor)) {
      const { tap, text } = streamed(client, vendor, rows)
      expect([tap.state, /"a"/.test(text)]).toEqual(['done', true])
    }
    const passed = CHAT_CODECS[vendor].tap({ model: 'm', includeUsage: true, now: 0 })
    for (const frame of framed(rows)) passed.see(frame)
    expect(passed.state).toBe('done')
  })
})

const response = (members: JsonObject): JsonObject => ({
  ...{ id: 'resp_1', object: 'response', created_at: 5, model: 'up', status: 'completed', output: [] },
  ...members,
})

const SAID: Partial<Told> = { said: [{ kind: 'text', text: 'so' }] }
const F = { name: 'f', arguments: '{"a":1}' }
const message = (content: Json): JsonObject => ({ id: 'msg_1', type: 'message', content, stop_reason: 'end_turn' })
const said = (content: Json): JsonObject => response({ output: [{ type: 'message', role: 'assistant', content }] })
const chat = (message: JsonObject): JsonObject => ({
  ...{ id: 'chatcmpl-1', created: 5 },
  choices: [{ index: 0, message, finish_reason: 'stop' }],
})
const opens = (index: number, block: JsonObject, ...deltas: JsonObject[]): JsonObject[] => [
  { type: 'content_block_start', index, content_block: block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]

describe('what is told under another name', () => {
  test.each<[string, ChatWire, JsonObject, Partial<Told>]>([
    [
      'figures in another wire’s names',
      'responses',
      response({ output_text: 'so', usage: { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 } }),
      { usage: { input: 9, read: 0, written: 0, output: 4 } },
    ],
    [
      'a text beside an empty list of items',
      'responses',
      response({ output_text: 'so' }),
      { said: [{ kind: 'text', text: 'so' }] },
    ],
    [
      'a thought that is a text',
      'responses',
      response({ output: [{ type: 'reasoning', id: 'rs_1', summary: null, content: 'hm' }] }),
      { thought: 'hm' },
    ],
    [
      'a thought under the name of a text',
      'messages',
      { id: 'msg_1', type: 'message', content: [{ type: 'thinking', text: 'hm' }], stop_reason: 'end_turn' },
      { thought: 'hm' },
    ],
    [
      'figures in another wire’s names, some cached',
      'messages',
      {
        ...message([]),
        usage: { prompt_tokens: 9, completion_tokens: 4, prompt_tokens_details: { cached_tokens: 3 } },
      },
      { usage: { input: 6, read: 3, written: 0, output: 4 } },
    ],
    ...(['chat-completions', 'responses'] as const).flatMap((vendor) =>
      (
        [
          ['output', 'completion_tokens', 'output_tokens'],
          ['prompt', 'prompt_tokens', 'input_tokens'],
        ] as const
      ).map(([what, ofChat, ofResponses]): [string, ChatWire, JsonObject, Partial<Told>] => {
        const figures: Record<string, number> =
          vendor === 'responses'
            ? { input_tokens: 9, output_tokens: 4, total_tokens: 13 }
            : { prompt_tokens: 9, completion_tokens: 4, total_tokens: 13 }
        delete figures[vendor === 'responses' ? ofResponses : ofChat]
        const body = vendor === 'responses' ? response({ output_text: 'so' }) : ANSWERS[vendor]('stop').body
        const due = { usage: { input: 9, read: 0, written: 0, output: 4 } }
        return [`the ${what} as what the total leaves`, vendor, { ...body, usage: figures }, due]
      }),
    ),
    ['a block in the place of a list', 'messages', message({ type: 'text', text: 'so' }), SAID],
    ['blocks that are texts', 'messages', message(['so']), SAID],
    ['a text without a type', 'messages', message([{ text: 'so' }]), SAID],
    ['a part in the place of a list', 'responses', said({ type: 'output_text', text: 'so' }), SAID],
    ['a text without a type', 'responses', said([{ text: 'so' }]), SAID],
    [
      'an error that tells nothing, beside the answer',
      'responses',
      { ...said('so'), error: { code: null, message: null } },
      SAID,
    ],
    [
      'an error that tells nothing, beside the answer',
      'messages',
      { ...message([{ type: 'text', text: 'so' }]), error: { code: null, message: null } },
      SAID,
    ],
    [
      'a thought in parts',
      'chat-completions',
      chat({ content: 'so', reasoning_content: [{ type: 'text', text: 'hm' }] }),
      { thought: 'hm', ...SAID },
    ],
    [
      'a call in both of its forms',
      'chat-completions',
      chat({ content: null, function_call: F, tool_calls: [{ id: 'a', type: 'function', function: F }] }),
      { calls: [{ id: 'a', name: 'f', kind: 'function', input: '{"a":1}' }] },
    ],
  ])('is that: %s', (_, vendor, body, due) => {
    for (const client of others(vendor))
      expect(VENDORS[client].told(whole(client, vendor, JSON.parse(JSON.stringify(body))))).toMatchObject(due)
  })

  const bothForms = { function_call: F, tool_calls: [{ index: 0, id: 'a', type: 'function', function: F }] }
  const delta = (delta: JsonObject): JsonObject => ({ id: 'chatcmpl-1', choices: [{ index: 0, delta }] })
  test.each<[string, ChatWire, (JsonObject | string)[], Partial<Told>]>([
    [
      'deltas without types, in a block without one',
      'messages',
      [...opens(0, { text: '' }, { text: 's' }, { text: 'o' }), ...ANSWERS.messages('end_turn').rows.slice(-2)],
      SAID,
    ],
    [
      'deltas under the types of their blocks',
      'messages',
      [
        ...opens(0, { type: 'thinking', thinking: '' }, { type: 'thinking', thinking: 'hm' }),
        ...opens(1, { type: 'text', text: '' }, { type: 'text', text: 'so' }),
        ...ANSWERS.messages('end_turn').rows.slice(-2),
      ],
      { thought: 'hm', ...SAID },
    ],
    [
      'deltas that are wrapped',
      'responses',
      [
        { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: { text: 'so' } },
        { type: 'response.completed', response: response({}) },
      ],
      SAID,
    ],
    [
      'a thought in parts',
      'chat-completions',
      [delta({ reasoning_content: [{ type: 'text', text: 'hm' }] }), ...ANSWERS['chat-completions']('stop').rows],
      { thought: 'hm' },
    ],
    [
      'a call in both of its forms',
      'chat-completions',
      [delta(bothForms), ...ANSWERS['chat-completions']('tool_calls').rows.slice(1)],
      { calls: [{ id: 'a', name: 'f', kind: 'function', input: '{"a":1}' }] },
    ],
  ])('is that in a stream: %s', (_, vendor, rows, due) => {
    for (const client of others(vendor)) {
      const { tap, text } = streamed(client, vendor, rows)
      expect(tap.state).toBe('done')
      expect(VENDORS[client].told(GATHER[client](framesOf(text)))).toMatchObject(due)
    }
  })

  test('is told once, where it was streamed before', () => {
    const delta = { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'so' }
    const rows = [delta, { type: 'response.completed', response: response({ output_text: 'so' }) }]
    for (const client of others('responses'))
      expect(VENDORS[client].told(GATHER[client](framesOf(streamed(client, 'responses', rows).text))).said).toEqual([
        { kind: 'text', text: 'so' },
      ])
  })
})

describe('a text in another form than the wire’s reaches every client, whole and as a stream', () => {
  const rowsOf: Record<'responses' | 'messages', (piece: JsonObject) => { rows: JsonObject[]; body: JsonObject }> = {
    responses: (piece) => {
      const body = { id: 'resp_1', object: 'response', created_at: 5, status: 'completed', output: [piece] }
      return {
        rows: [
          { type: 'response.created', response: { ...body, status: 'in_progress', output: [] } },
          { type: 'response.output_item.added', output_index: 0, item: piece },
          { type: 'response.output_item.done', output_index: 0, item: piece },
          { type: 'response.completed', response: body },
        ],
        body,
      }
    },
    messages: (piece) => {
      const { rows, body } = ANSWERS.messages('end_turn')
      const told = rows.flatMap((row): JsonObject[] => {
        if (typeof row === 'string' || row.type === 'content_block_delta') return []
        return [row.type === 'content_block_start' ? { ...row, content_block: piece } : row]
      })
      return { rows: told, body: { ...body, content: [piece] } }
    },
  }
  test.each<['responses' | 'messages', string, JsonObject]>([
    ['responses', 'a part by itself', { type: 'output_text', text: 'Hello.', annotations: [] }],
    ['responses', 'a refusal by itself', { type: 'refusal', refusal: 'Hello.' }],
    [
      'responses',
      'a message without a type',
      { role: 'assistant', content: [{ type: 'output_text', text: 'Hello.' }] },
    ],
    ['responses', 'beside no content', { type: 'message', role: 'assistant', content: null, text: 'Hello.' }],
    ['responses', 'a part of a request', { type: 'message', content: [{ type: 'input_text', text: 'Hello.' }] }],
    ['messages', 'a part of the responses wire', { type: 'output_text', text: 'Hello.' }],
  ])('%s: %s', (vendor, _, piece) => {
    const { rows, body } = rowsOf[vendor](piece)
    for (const client of others(vendor)) {
      const { tap, text } = streamed(client, vendor, rows)
      expect([tap.state, text.split('Hello.').length > 1]).toEqual(['done', true])
      expect(JSON.stringify(whole(client, vendor, body)).split('Hello.')).toHaveLength(2)
    }
  })
})
