// Streams: decoding what providers send, in every variation, and encoding exactly what the wire's clients expect.

import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../../src/errors.ts'
import type { ChatEvent } from '../../../src/ir/event.ts'
import { fold } from '../../../src/ir/fold.ts'
import type { JsonObject } from '../../../src/ir/json.ts'
import type { AssistantPart } from '../../../src/ir/part.ts'
import type { Frame } from '../../../src/lib/sse.ts'
import type { Ask, Undo } from '../../../src/wire/codec.ts'
import { messages } from '../../../src/wire/messages/index.ts'
import { readTag } from '../../../src/wire/seal.ts'
import { checkMessagesStream } from '../../support/automaton/messages.ts'
import { decodeAll, encodeAll, framesOf } from '../../support/frames.ts'

const ask: Ask = { model: 'vendorA-opus-4-8', body: {}, inputEstimate: 42, now: 0 }

const frame = (event: JsonObject): Frame => ({ event: String(event.type), data: JSON.stringify(event) })
const start = {
  type: 'message_start',
  message: { id: 'msg_1', model: 'up', usage: { input_tokens: 5, cache_read_input_tokens: 2, output_tokens: 1 } },
}
const begin = (index: number, content_block: JsonObject) => ({ type: 'content_block_start', index, content_block })
const delta = (index: number, one: JsonObject) => ({ type: 'content_block_delta', index, delta: one })
const stop = (index: number) => ({ type: 'content_block_stop', index })
const text = (index: number, value: string) => delta(index, { type: 'text_delta', text: value })
const json = (index: number, value: JsonObject | string | null) =>
  delta(index, { type: 'input_json_delta', partial_json: value })
const last = (reason: string) => ({
  type: 'message_delta',
  delta: { stop_reason: reason },
  usage: { output_tokens: 9 },
})
const end = { type: 'message_stop' }
const hello = [begin(0, { type: 'text', text: '' }), text(0, 'Hello'), stop(0)]

const decode = (frames: Frame[], undo?: Undo): ChatEvent[] => decodeAll(messages.decodeEvents(undo), frames)
const answer = (events: JsonObject[], undo?: Undo) => fold(decode(events.map(frame), undo))

const encode = (events: ChatEvent[]): string => encodeAll(messages.encodeEvents(ask), events)
describe('a provider’s stream', () => {
  test('usage is the latest of each class', () => {
    const usage = {
      input_tokens: 7,
      cache_creation_input_tokens: 3,
      output_tokens: 11,
      output_tokens_details: { thinking_tokens: 4 },
    }
    expect(answer([start, ...hello, { ...last('end_turn'), usage }, end]).usage).toEqual({
      input: 7,
      cacheRead: 2,
      cacheWrite: 3,
      output: 11,
      reasoning: 4,
    })
  })

  test.each<[string, string, string | undefined]>([
    ['end_turn', 'stop', undefined],
    ['stop_sequence', 'stop-sequence', 'END'],
    ['max_tokens', 'length', undefined],
    ['refusal', 'refusal', undefined],
    ['pause_turn', 'pause', undefined],
    ['model_context_window_exceeded', 'context-length', undefined],
    ['length', 'length', undefined],
    ['content_filter', 'content-filter', undefined],
    ['something_new', 'stop', undefined],
  ])('%s is %s', (reason, finish, sequence) => {
    const ending = { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: sequence ?? null }, usage: {} }
    const decoded = answer([start, ...hello, ending, end])
    expect(decoded.finish as string).toBe(finish)
    expect(decoded.stopSequence).toBe(sequence)
  })

  const tool = (input: JsonObject) => begin(0, { type: 'tool_use', id: 't', name: 'f', input })
  test.each<[string, JsonObject[], string]>([
    ['in pieces', [tool({}), json(0, ''), json(0, '{"a"'), json(0, ':1}'), stop(0)], '{"a":1}'],
    ['of nothing', [tool({}), json(0, ''), stop(0)], '{}'],
    ['whole in the start', [tool({ a: 1 }), stop(0)], '{"a":1}'],
    ['as an object', [tool({}), json(0, { a: 1 }), stop(0)], '{"a":1}'],
    ['as null', [tool({}), json(0, null), stop(0)], '{}'],
    ['without an end of the block', [tool({}), json(0, '{"a":1}')], '{"a":1}'],
  ])('arguments %s', (_, events, input) => {
    const decoded = answer([start, ...events, last('tool_use'), end])
    expect(decoded.parts).toEqual([{ type: 'tool-call', id: 't', name: 'f', kind: 'function', input }])
    expect(decoded.finish).toBe('tool-calls')
  })

  test('large integers keep their digits where the start holds whole arguments', () => {
    const data = `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"f","input":{"id":12345678901234567890}}}`
    for (const event of ['content_block_start', undefined]) {
      const whole = { data, ...(event === undefined ? {} : { event }) }
      const { parts } = fold(decode([frame(start), whole, ...[stop(0), last('tool_use'), end].map(frame)]))
      expect(parts).toMatchObject([{ input: '{"id":12345678901234567890}' }])
    }
  })

  test('a tool that was not renamed keeps its name, even one that every object inherits', () => {
    const called = begin(0, { type: 'tool_use', id: 't', name: 'constructor', input: {} })
    const undo: Undo = { tools: { a_b: { name: 'a.b', kind: 'function' } } }
    expect(answer([start, called, stop(0), last('tool_use'), end], undo).parts).toMatchObject([
      { name: 'constructor', kind: 'function' },
    ])
  })

  test('a round reported at the end is added to the usage of the start', () => {
    const iterations = [{ type: 'compaction', input_tokens: 60_000, output_tokens: 500 }]
    const usage = { input_tokens: null, output_tokens: 9, iterations }
    const decoder = messages.decodeEvents()
    const events = [start, ...hello, { ...last('end_turn'), usage }, end].flatMap((one) => decoder.push(frame(one)))
    const apart = [{ usage: { input: 60_000, output: 500 } }]
    expect(fold(events).usage).toEqual({ input: 60_005, cacheRead: 2, output: 509, apart })
    expect(decoder.rawUsage).toEqual({ input_tokens: 5, cache_read_input_tokens: 2, output_tokens: 9, iterations })
  })

  test('content in the start is part of the answer', () => {
    const call = { type: 'tool_use', id: 't', name: 'f', input: { a: 1 } }
    const done = { type: 'code_execution_tool_result', tool_use_id: 's', content: {} }
    const full = { ...start, message: { ...start.message, content: [done, call], stop_reason: 'tool_use' } }
    const parts = [
      { type: 'opaque', origin: 'messages', value: done },
      { type: 'tool-call', id: 't', name: 'f', kind: 'function', input: '{"a":1}' },
    ]
    expect(answer([full, end])).toMatchObject({ parts, finish: 'tool-calls' })
    const more = answer([full, ...hello, last('end_turn'), end])
    expect(more).toMatchObject({ parts: [...parts, { type: 'text', text: 'Hello' }] })
    const empty = { ...start, message: { ...start.message, content: [{ type: 'text', text: '' }] } }
    expect(answer([empty, ...hello, last('end_turn'), end]).parts).toEqual([{ type: 'text', text: 'Hello' }])
  })

  test('an empty text gives the same parts in a stream and in a whole answer', () => {
    const content: AssistantPart[] = [{ type: 'text', text: '' }]
    const whole = messages.decodeResponse({ ...start.message, content, stop_reason: 'end_turn' })
    const pieces = answer([start, begin(0, { type: 'text', text: '' }), stop(0), last('end_turn'), end])
    expect(whole.parts).toEqual(content)
    expect(pieces.parts).toEqual(content)
  })

  test('with a call, end_turn means tool calls', () => {
    expect(answer([start, tool({}), stop(0), last('end_turn'), end]).finish).toBe('tool-calls')
  })

  test.each<[string, JsonObject[]]>([
    ['without a start', [...hello, last('end_turn'), end]],
    ['with a start sent twice', [start, start, ...hello, last('end_turn'), end]],
    ['without the start of its block', [start, text(0, 'Hello'), stop(0), last('end_turn'), end]],
    ['with events nobody knows', [start, { type: 'weather', sun: true }, ...hello, last('end_turn'), end]],
    [
      'with deltas nobody knows',
      [start, ...hello.slice(0, 2), delta(0, { type: 'new_delta' }), stop(0), last('end_turn'), end],
    ],
    ['with two last words', [start, ...hello, last('end_turn'), { type: 'message_delta', delta: {} }, end]],
    [
      'with usage in its last word only',
      [{ type: 'message_start', message: { id: 'msg_1' } }, ...hello, last('end_turn'), end],
    ],
    ['that goes on after its end', [start, ...hello, last('end_turn'), end, text(0, 'more'), end]],
  ])('a stream %s is still read', (_, events) => {
    expect(answer(events)).toMatchObject({ parts: [{ type: 'text', text: 'Hello' }], finish: 'stop' })
  })

  test('frames without an event name are read by their type, and [DONE] is ignored', () => {
    const frames = [start, ...hello, last('end_turn'), end].map((event) => ({ data: JSON.stringify(event) }))
    expect(fold(decode([...frames.slice(0, -1), { data: '[DONE]' }, ...frames.slice(-1)])).finish).toBe('stop')
  })

  test.each<[string, Frame[], string]>([
    ['cut before its reason', [start, ...hello].map(frame), 'upstream_error'],
    [
      'cut before its figures',
      [start, ...hello, { type: 'message_delta', delta: { stop_reason: 'end_turn' } }].map(frame),
      'upstream_error',
    ],
    ['of no frame at all', [], 'upstream_error'],
    [
      'that began anew',
      [start, ...hello, { ...start, message: { id: 'msg_2' } }, ...hello, end].map(frame),
      'upstream_error',
    ],
    ['of broken JSON', [frame(start), { event: 'x', data: '{"type":' }], 'upstream_error'],
    ['with arguments of no call', [start, json(0, '{}'), end].map(frame), 'upstream_error'],
    [
      'overloaded',
      [frame(start), frame({ type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } })],
      'service_unavailable',
    ],
    [
      'refused by policy',
      [
        frame({
          type: 'error',
          error: { type: 'invalid_request_error', message: 'Output blocked by content filtering policy' },
        }),
      ],
      'content_policy_violation',
    ],
    [
      'with an unnamed error',
      [frame(start), { data: '{"error":{"type":"api_error","message":"secret"}}' }],
      'upstream_error',
    ],
  ])('a stream %s is one failure', (_, frames, code) => {
    const events = decode(frames)
    const failures = events.filter((event) => event.type === 'error')
    expect(failures.map(({ error }) => error.code as string)).toEqual([code])
    expect(events.at(-1)).toBe(failures[0] as ChatEvent)
    expect(failures[0]?.error.message).not.toContain('secret')
    expect(events.some(({ type }) => type === 'tool-end')).toBe(false)
  })

  test('a failure leaves an incomplete call open', () => {
    const events = decode([start, tool({}), json(0, '{"a')].map(frame))
    expect(events.map(({ type }) => type)).toEqual(['start', 'tool-start', 'tool-delta', 'error'])
  })

  test('thoughts keep their signature, redacted ones their data', () => {
    const decoded = answer([
      start,
      begin(0, { type: 'thinking', thinking: '', signature: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'Hm' }),
      delta(0, { type: 'signature_delta', signature: 'sig' }),
      stop(0),
      begin(1, { type: 'redacted_thinking', data: 'enc' }),
      stop(1),
      last('end_turn'),
      end,
    ])
    expect(decoded.parts).toEqual([
      { type: 'reasoning', text: 'Hm', seal: { origin: 'messages', value: { signature: 'sig' } } },
      { type: 'reasoning', text: '', seal: { origin: 'messages', value: { data: 'enc' } } },
    ])
  })

  test('a signature that is told in the start and again at the end is one', () => {
    const signed = (signature: string) => delta(0, { type: 'signature_delta', signature })
    for (const rows of [
      [begin(0, { type: 'thinking', thinking: 'hm', signature: 'c2ln' }), signed('c2ln')],
      [begin(0, { type: 'thinking', thinking: 'hm', signature: '' }), signed('c2'), signed('ln')],
    ])
      expect(answer([start, ...rows, stop(0), last('end_turn'), end]).parts).toEqual([
        { type: 'reasoning', text: 'hm', seal: { origin: 'messages', value: { signature: 'c2ln' } } },
      ])
  })

  test('events that do not say where they belong are of the block that was begun last', () => {
    const placeless = (events: JsonObject[]): JsonObject[] => events.map(({ index: _, ...event }) => event)
    const call = { type: 'tool_use', id: 'toolu_1', name: 'look', input: {} }
    const rows = placeless([...hello, begin(1, call), json(1, '{"at":'), json(1, '"gate"}'), stop(1)])
    const unclosed = rows.filter(({ type }) => type !== 'content_block_stop')
    const unbegun = rows.filter(({ content_block: held }) => held === undefined || held === call)
    for (const told of [rows, unclosed, unbegun])
      expect(answer([start, ...told, last('tool_use'), end]).parts).toMatchObject([
        { type: 'text', text: 'Hello' },
        { type: 'tool-call', name: 'look', input: '{"at":"gate"}' },
      ])
  })

  test('interleaved blocks are kept apart', () => {
    const decoded = answer([
      start,
      begin(0, { type: 'tool_use', id: 'a', name: 'f', input: {} }),
      begin(1, { type: 'tool_use', id: 'b', name: 'g', input: {} }),
      json(1, '{"b":'),
      json(0, '{"a":'),
      json(1, '2}'),
      json(0, '1}'),
      stop(1),
      stop(0),
      last('tool_use'),
      end,
    ])
    expect(decoded.parts.map((part) => (part.type === 'tool-call' ? part.input : ''))).toEqual(['{"a":1}', '{"b":2}'])
  })

  test('prose is over where another block begins, and what comes of it later is not lost', () => {
    const begun = [
      start,
      begin(0, { type: 'thinking', thinking: '' }),
      delta(0, { type: 'thinking_delta', thinking: 'Hm.' }),
      begin(1, { type: 'text', text: '' }),
      text(1, 'Hel'),
    ]
    const types = decode(begun.map(frame)).map(({ type }) => type)
    expect(types.join(' ')).toBe('start reasoning-start reasoning-delta reasoning-end text-start text-delta error')
    const call = [begin(2, { type: 'tool_use', id: 'a', name: 'f', input: {} }), json(2, '{}')]
    const unsigned = delta(0, { type: 'signature_delta', signature: '' })
    const ended = [unsigned, stop(0), stop(1), stop(2), last('tool_use'), end]
    expect(answer([...begun, ...call, text(1, 'lo'), ...ended]).parts).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Hel' },
      { type: 'tool-call', id: 'a', name: 'f', kind: 'function', input: '{}' },
      { type: 'text', text: 'lo' },
    ])
  })

  test('many calls that are open at once take linear time', () => {
    const many = Array.from({ length: 80_000 }, (_, at) =>
      begin(at, { type: 'tool_use', id: `c${at}`, name: 'f', input: {} }),
    )
    expect(decode([start, ...many].map(frame)).filter(({ type }) => type === 'tool-start')).toHaveLength(many.length)
  })

  test('a thought within a block of text is one all the same, and text within a thought is text', () => {
    const hm = delta(0, { type: 'thinking_delta', thinking: 'Hm.' })
    const inText = [begin(0, { type: 'text', text: 'Well. ' }), hm, text(0, 'Hel'), text(0, 'lo'), stop(0)]
    expect(answer([start, ...inText, last('end_turn'), end]).parts).toEqual([
      { type: 'text', text: 'Well. ' },
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Hello' },
    ])
    const inThought = [begin(0, { type: 'thinking', thinking: '' }), hm, text(0, 'Hello'), stop(0)]
    expect(answer([start, ...inThought, last('end_turn'), end]).parts).toEqual([
      { type: 'reasoning', text: 'Hm.' },
      { type: 'text', text: 'Hello' },
    ])
  })

  test('a block with the index of an open one ends that', () => {
    const calls = ['a', 'b'].flatMap((id) => [begin(0, { type: 'tool_use', id, name: 'f', input: {} }), json(0, '{}')])
    const types = decode([start, ...calls, stop(0), last('tool_use'), end].map(frame)).map(({ type }) => type)
    expect(types.filter((type) => type.startsWith('tool-'))).toEqual(
      ['a', 'b'].flatMap(() => ['tool-start', 'tool-delta', 'tool-end']),
    )
  })

  test('the tool for structured output gives text, a free-text tool its text', () => {
    const undo: Undo = { jsonTool: 'json', tools: { ns__p: { name: 'p', namespace: 'ns', kind: 'custom' } } }
    const decoded = answer(
      [
        start,
        begin(0, { type: 'tool_use', id: 'a', name: 'json', input: {} }),
        json(0, '{"n":'),
        json(0, '1}'),
        stop(0),
        begin(1, { type: 'tool_use', id: 'b', name: 'ns__p', input: {} }),
        json(1, '{"input":"a\\n'),
        json(1, 'b"}'),
        stop(1),
        last('tool_use'),
        end,
      ],
      undo,
    )
    expect(decoded.parts).toEqual([
      { type: 'text', text: '{"n":1}' },
      { type: 'tool-call', id: 'b', name: 'p', namespace: 'ns', kind: 'custom', input: 'a\nb' },
    ])
  })

  test.each([
    ['without a member', {}, [], '{}'],
    ['whole in its start', { n: 1 }, [], '{"n":1}'],
    ['in its start and again in pieces', { n: 1 }, ['{"n":', '1}'], '{"n":1}'],
  ])('structured output %s is emitted once, as JSON', (_, input, pieces, text) => {
    const decoded = answer(
      [
        start,
        begin(0, { type: 'tool_use', id: 'a', name: 'json', input }),
        ...pieces.map((piece) => json(0, piece)),
        stop(0),
        last('tool_use'),
        end,
      ],
      { jsonTool: 'json' },
    )
    expect(decoded.parts).toEqual([{ type: 'text', text }])
  })

  test('a body that is not an answer is an upstream error, and an error body is classified', () => {
    const code = (body: JsonObject) => {
      try {
        return messages.decodeResponse(body).finish
      } catch (error) {
        return error instanceof GatewayError ? error.code : error
      }
    }
    expect(code({})).toBe('upstream_error')
    expect(code({ content: 'text' })).toBe('upstream_error')
    expect(code({ type: 'error', error: { type: 'overloaded_error', message: 'x' } })).toBe('service_unavailable')
  })
})

describe('a client’s stream', () => {
  const usage = { input: 5, output: 9 }

  test('matches the expected text byte by byte', () => {
    const out = encode([
      { type: 'start', id: 'chatcmpl-1' },
      { type: 'text-start', part: 0 },
      { type: 'text-delta', part: 0, text: 'Hé\n' },
      { type: 'text-end', part: 0 },
      { type: 'finish', reason: 'stop', usage },
    ])
    expect(out.split('\n\n').map((one) => one.replace('\n', ' '))).toEqual([
      'event: message_start data: {"type":"message_start","message":{"id":"msg_chatcmpl-1","type":"message","role":"assistant","model":"vendorA-opus-4-8","content":[],"stop_reason":null,"stop_sequence":null,"stop_details":null,"usage":{"input_tokens":42,"cache_creation_input_tokens":null,"cache_read_input_tokens":null,"output_tokens":1,"cache_creation":null,"service_tier":null,"inference_geo":null}}}',
      'event: content_block_start data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}',
      'event: content_block_delta data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hé\\n"}}',
      'event: content_block_stop data: {"type":"content_block_stop","index":0}',
      'event: message_delta data: {"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null,"stop_details":null},"usage":{"input_tokens":5,"cache_creation_input_tokens":null,"cache_read_input_tokens":null,"output_tokens":9}}',
      'event: message_stop data: {"type":"message_stop"}',
      '',
    ])
  })

  test('emits text as it arrives', () => {
    const encoder = messages.encodeEvents(ask)
    encoder.push({ type: 'start', id: 'x' })
    encoder.push({ type: 'text-start', part: 0 })
    for (const word of ['a', 'b', 'c']) {
      expect(encoder.push({ type: 'text-delta', part: 0, text: word })).toContain(`"text":"${word}"`)
    }
  })

  test('ends with one error frame after a failure, and leaves the call open', () => {
    const out = encode([
      { type: 'start', id: 'x' },
      { type: 'tool-start', part: 0, id: 'c', name: 'f', kind: 'function' },
      { type: 'tool-delta', part: 0, text: '{"a' },
      { type: 'error', error: new GatewayError('upstream_error', 'It broke.') },
      { type: 'tool-end', part: 0 },
      { type: 'finish', reason: 'stop', usage },
    ])
    expect(out).not.toContain('content_block_stop')
    expect(out).toEndWith(
      'event: error\ndata: {"type":"error","error":{"message":"It broke.","type":"api_error","code":"upstream_error","param":null}}\n\n',
    )
  })

  test('writes a tool’s free text as one JSON string, however it is split', () => {
    const free = '*** "Begin"\\\n😀'
    const out = encode([
      { type: 'start', id: 'x' },
      { type: 'tool-start', part: 0, id: 'c', name: 'patch', kind: 'custom', namespace: 'ns' },
      ...[...free].map((piece): ChatEvent => ({ type: 'tool-delta', part: 0, text: piece })),
      { type: 'tool-end', part: 0 },
      { type: 'finish', reason: 'tool-calls', usage },
    ])
    expect(checkMessagesStream(framesOf(out))).toEqual([])
    expect(fold(decode(framesOf(out))).parts).toEqual([
      { type: 'tool-call', id: 'c', name: 'ns__patch', kind: 'function', input: expect.any(String) },
    ])
    const [part] = fold(decode(framesOf(out))).parts
    expect(part?.type === 'tool-call' && JSON.parse(part.input)).toEqual({ input: free })
  })

  test('carries thoughts of another wire as tags', () => {
    const seal = { origin: 'responses' as const, value: { id: 'rs_1', encrypted_content: 'x' } }
    const out = encode([
      { type: 'start', id: 'x' },
      { type: 'reasoning-start', part: 0, full: true },
      { type: 'reasoning-delta', part: 0, text: 'Hm' },
      { type: 'reasoning-end', part: 0, seal },
      { type: 'reasoning-start', part: 1 },
      { type: 'reasoning-end', part: 1, seal },
      { type: 'reasoning-start', part: 2 },
      { type: 'reasoning-delta', part: 2, text: 'plain' },
      { type: 'reasoning-end', part: 2 },
      { type: 'finish', reason: 'stop', usage },
    ])
    expect(checkMessagesStream(framesOf(out))).toEqual([])
    const slots = framesOf(out).flatMap(({ data }) => /"(?:signature|data)":"([^"]+)"/.exec(data)?.slice(1) ?? [])
    expect(slots.map((slot) => readTag(slot))).toEqual([
      { type: 'reasoning', text: 'Hm', full: true, seal },
      { type: 'reasoning', text: '', seal },
      undefined,
    ])
    expect(slots[2]).toStartWith('sluice.')
  })

  test.each<[string, ChatEvent[], string]>([
    [
      'a call ends with tool_use',
      [
        { type: 'tool-start', part: 0, id: 'c', name: 'f', kind: 'function' },
        { type: 'finish', reason: 'stop', usage },
      ],
      'tool_use',
    ],
    ['no call ends without', [{ type: 'finish', reason: 'tool-calls', usage }], 'end_turn'],
    [
      'a cut call stays cut',
      [
        { type: 'tool-start', part: 0, id: 'c', name: 'f', kind: 'function' },
        { type: 'finish', reason: 'length', usage },
      ],
      'max_tokens',
    ],
    [
      'a refusal in words',
      [
        { type: 'refusal-start', part: 0 },
        { type: 'refusal-delta', part: 0, text: 'No' },
        { type: 'finish', reason: 'stop', usage },
      ],
      'refusal',
    ],
    ['a filter', [{ type: 'finish', reason: 'content-filter', usage }], 'refusal'],
    ['a full window', [{ type: 'finish', reason: 'context-length', usage }], 'model_context_window_exceeded'],
    ['a stop nobody names', [{ type: 'finish', reason: 'stop-sequence', usage }], 'end_turn'],
  ])('%s', (_, events, reason) => {
    const out = encode([{ type: 'start', id: 'x' }, ...events])
    expect(checkMessagesStream(framesOf(out))).toEqual([])
    expect(out).toContain(`"stop_reason":"${reason}"`)
  })

  test('writes overlapping parts one after the other, the first as it arrives', () => {
    const out = encode([
      { type: 'start', id: 'x' },
      { type: 'tool-start', part: 0, id: 'a', name: 'f', kind: 'function' },
      { type: 'tool-start', part: 1, id: 'b', name: 'g', kind: 'function' },
      { type: 'tool-delta', part: 1, text: '{"b":2}' },
      { type: 'tool-delta', part: 0, text: '{"a":1}' },
      { type: 'tool-end', part: 1 },
      { type: 'tool-end', part: 0 },
      { type: 'finish', reason: 'tool-calls', usage },
    ])
    expect(checkMessagesStream(framesOf(out))).toEqual([])
    expect(fold(decode(framesOf(out))).parts).toMatchObject([
      { id: 'a', input: '{"a":1}' },
      { id: 'b', input: '{"b":2}' },
    ])
  })
})

test('a link that comes when its text is over goes with the next text, once', () => {
  const text = (part: number, said: string): ChatEvent[] => [
    { type: 'text-start', part },
    { type: 'text-delta', part, text: said },
    { type: 'text-end', part },
  ]
  const out = encode([
    { type: 'start', id: 'x' },
    ...text(0, 'one'),
    { type: 'citation', part: 0, citation: { kind: 'url', url: 'https://a.b' } },
    ...text(1, 'two'),
    ...text(2, 'three'),
    { type: 'finish', reason: 'stop', usage: {} },
  ])
  expect(checkMessagesStream(framesOf(out))).toEqual([])
  expect(out.split('https://a.b')).toHaveLength(2)
})
