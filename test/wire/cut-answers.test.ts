// Answers whose servers do not say how they ended: cut at the output cap and called complete, ended by a stop sequence and
// called a turn's end, without the marker of the end. What was sent and what was counted tells.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JsonObject } from '../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import { splice } from '../../src/lib/json-splice.ts'
import { writeFrame } from '../../src/lib/sse.ts'
import { translateResponse, translateStream } from '../../src/relay/translate.ts'
import type { Ask } from '../../src/wire/codec.ts'
import { CHAT_CODECS } from '../../src/wire/index.ts'
import { framesOf } from '../support/frames.ts'

const CAP = 40
const ask: Ask = { model: 'm', body: {}, inputEstimate: 1, now: 1 }

type Made = { text?: string; input?: string; output: number }

/** An answer that calls itself complete, by the wire of its server. */
const WHOLE: Record<ChatWire, (made: Made) => JsonObject> = {
  'chat-completions': ({ text = null, input, output }) => ({
    id: 'c',
    choices: [
      {
        index: 0,
        finish_reason: input === undefined ? 'stop' : 'tool_calls',
        message: {
          role: 'assistant',
          content: text,
          ...(input === undefined
            ? {}
            : { tool_calls: [{ id: 'x', type: 'function', function: { name: 'f', arguments: input } }] }),
        },
      },
    ],
    usage: { prompt_tokens: 3, completion_tokens: output, total_tokens: 3 + output },
  }),
  responses: ({ text, input, output }) => ({
    id: 'resp_1',
    status: 'completed',
    output: [
      ...(text === undefined
        ? []
        : [{ type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text }] }]),
      ...(input === undefined
        ? []
        : [{ type: 'function_call', id: 'fc_1', status: 'completed', call_id: 'x', name: 'f', arguments: input }]),
    ],
    usage: { input_tokens: 3, output_tokens: output, total_tokens: 3 + output },
  }),
  messages: ({ text, input, output }) => ({
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    content: [
      ...(text === undefined ? [] : [{ type: 'text', text }]),
      ...(input === undefined ? [] : [{ type: 'tool_use', id: 'x', name: 'f', input: JSON.parse(input) }]),
    ],
    stop_reason: input === undefined ? 'end_turn' : 'tool_use',
    stop_sequence: null,
    usage: { input_tokens: 3, output_tokens: output },
  }),
}

/** How an answer ended, by the wire of its client. */
const END: Record<ChatWire, (answer: JsonObject) => unknown> = {
  'chat-completions': ({ choices }) => ((choices as JsonObject[])[0] as JsonObject).finish_reason,
  responses: ({ status }) => status,
  messages: ({ stop_reason: reason }) => reason,
}
const CUT: Record<ChatWire, string> = { 'chat-completions': 'length', responses: 'incomplete', messages: 'max_tokens' }

const crossings = CHAT_WIRES.flatMap((client) =>
  CHAT_WIRES.filter((vendor) => vendor !== client).map((vendor) => [client, vendor] as const),
)

describe.each(crossings)('a client of %s and a server of %s that calls every answer complete', (client, vendor) => {
  const endOf = (made: Made, cap?: number): unknown => {
    const undo = cap === undefined ? {} : { cap }
    return END[client](
      translateResponse(WHOLE[vendor](made), { client: CHAT_CODECS[client], provider: CHAT_CODECS[vendor], ask, undo }),
    )
  }

  test('reads an answer that came to the cap as cut, and no other', () =>
    fc.assert(
      fc.property(fc.nat(80), fc.option(fc.integer({ min: 1, max: 80 }), { nil: undefined }), (output, cap) => {
        expect(endOf({ text: 'one two', output }, cap) === CUT[client]).toBe(cap !== undefined && output >= cap)
      }),
    ))

  test('of a call, unless it stands whole', () => {
    if (vendor !== 'messages') expect(endOf({ input: '{"a":"b', output: CAP }, CAP)).toBe(CUT[client])
    expect(endOf({ input: '{}', output: CAP }, CAP)).toBe(CUT[client])
    expect(endOf({ input: '{"a":1}', output: CAP }, CAP)).not.toBe(CUT[client])
    expect(endOf({ input: '{}', output: CAP - 1 }, CAP)).not.toBe(CUT[client])
  })
})

test('a thought that the cap does not hold for is no cut', () => {
  const told = (reasoning: number, output: number): unknown => {
    const usage = {
      prompt_tokens: 3,
      completion_tokens: output,
      completion_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: 3 + output,
    }
    const answer = { ...WHOLE['chat-completions']({ text: 'one', output }), usage }
    const [client, vendor] = [CHAT_CODECS.messages, CHAT_CODECS['chat-completions']]
    return translateResponse(answer, { client, provider: vendor, ask, undo: { cap: CAP } }).stop_reason
  }
  expect(told(500, 510)).toBe('end_turn')
  expect(told(30, CAP)).toBe('max_tokens')
  expect(told(500, 500 + CAP)).toBe('max_tokens')
})

/** The frames of a messages stream with half a call, and its end. */
const messagesFrames = (pieces: string[], delta: JsonObject, output: number): JsonObject[] => [
  {
    type: 'message_start',
    message: { id: 'msg_1', model: 'v', content: [], usage: { input_tokens: 3, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'tool_use', id: 'x', name: 'f', input: {} } },
  ...pieces.map((piece) => ({
    type: 'content_block_delta',
    index: 0,
    delta: { type: 'input_json_delta', partial_json: piece },
  })),
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_sequence: null, ...delta }, usage: { output_tokens: output } },
  { type: 'message_stop' },
]
const framed = (events: JsonObject[]) =>
  events.map((data) => ({ event: String(data.type), data: JSON.stringify(data) }))

describe('a call that passes on its own wire', () => {
  const passed = (wire: ChatWire, events: JsonObject[], cap: number | undefined): string => {
    const tap = CHAT_CODECS[wire].tap({ model: 'v', includeUsage: true, now: 0, cap })
    return framed(events)
      .map((frame) => tap.see(frame))
      .join('')
  }

  test('is not told as complete where it breaks off at the cap, in a messages stream', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.nat(), fc.boolean(), (value, cut, whole) => {
        const text = JSON.stringify({ a: value })
        const kept = whole ? text : text.slice(0, 1 + (cut % (text.length - 1)))
        const events = messagesFrames([...kept], { stop_reason: 'tool_use' }, CAP)
        const due = whole ? events : messagesFrames([...kept], { stop_reason: 'max_tokens' }, CAP)
        expect(framesOf(passed('messages', events, CAP)).map(({ data }) => JSON.parse(data))).toEqual(due)
        // Below the cap, and without one, every byte passes.
        for (const cap of [CAP + 1, undefined])
          expect(passed('messages', events, cap)).toBe(framed(events).map(writeFrame).join(''))
      }),
    )
  })

  test('nor in a chat-completions stream, whatever its pieces, calls and answers', () => {
    const written = fc.record({ value: fc.jsonValue(), cut: fc.nat(), whole: fc.boolean() })
    const reason = fc.constantFrom('tool_calls', 'stop')
    fc.assert(
      fc.property(
        fc.array(written, { minLength: 1, maxLength: 3 }),
        fc.nat({ max: 2 }),
        fc.nat(),
        reason,
        (calls, choice, at, told) => {
          const kept = calls.map(({ value, cut, whole }) => {
            const text = JSON.stringify({ a: value })
            return whole ? text : text.slice(0, 1 + (cut % (text.length - 1)))
          })
          const longest = Math.max(...kept.map((text) => text.length))
          // The pieces of all calls in turn, as servers write parallel calls.
          const deltas = Array.from({ length: longest }, (_, piece) =>
            kept.flatMap((text, index) =>
              piece < text.length ? [{ index, function: { arguments: text[piece] ?? '' } }] : [],
            ),
          ).map((tool_calls) => ({ tool_calls }))
          const chunks = (reason: string): JsonObject[] =>
            [...deltas, {}].map((delta, place, all) => ({
              model: 'v',
              choices: [
                { index: choice, delta, finish_reason: place === all.length - 1 ? reason : null },
                // Another answer of the same stream, which is whole.
                ...(place === at % all.length
                  ? [{ index: choice + 1, delta: { content: 'x' }, finish_reason: 'stop' }]
                  : []),
              ],
            }))
          const isWhole = calls.every(({ whole }) => whole)
          const due = chunks(isWhole ? told : 'length')
          const read = framesOf(
            chunks(told)
              .map((data) => JSON.stringify(data))
              .reduce(({ tap, out }, data) => ({ tap, out: out + tap.see({ data }) }), {
                tap: CHAT_CODECS['chat-completions'].tap({ model: 'v', includeUsage: true, now: 0 }),
                out: '',
              }).out,
          )
          expect(read.map(({ data }) => JSON.parse(data))).toEqual(due)
        },
      ),
    )
  })

  test('a chat-completions stream says otherwise of nothing else', () => {
    const tap = () => CHAT_CODECS['chat-completions'].tap({ model: 'v', includeUsage: true, now: 0 })
    const free = { tool_calls: [{ index: 0, custom: { name: 'f', input: '{"a' } }] }
    const half = { tool_calls: [{ index: 0, function: { name: 'f', arguments: '{"a' } }] }
    for (const [delta, reason] of [
      [free, 'tool_calls'],
      [half, 'content_filter'],
      [{ content: '{"a' }, 'stop'],
    ] as const) {
      const data = JSON.stringify({ model: 'v', choices: [{ index: 0, delta, finish_reason: reason }] })
      expect(tap().see({ data })).toBe(writeFrame({ data }))
    }
  })

  test('nor in a responses stream, nor in whole answers', () => {
    for (const [input, cap, isCut] of [
      ['{"a":"b', CAP, true],
      ['{"a":"b', CAP + 1, false],
      ['{"a":1}', CAP, false],
      ['', CAP, false],
    ] as const) {
      const response = WHOLE.responses({ input, output: CAP })
      const told = passed('responses', [{ type: 'response.completed', sequence_number: 9, response }], cap)
      expect(told.startsWith(`event: response.${isCut ? 'incomplete' : 'completed'}\n`)).toBe(true)
      const [frame] = framesOf(told)
      const event = JSON.parse(frame?.data ?? '') as { type: string; response: JsonObject }
      expect([event.type, event.response.status]).toEqual(
        isCut ? ['response.incomplete', 'incomplete'] : ['response.completed', 'completed'],
      )
      for (const wire of ['responses', 'chat-completions'] as const) {
        const answer = WHOLE[wire]({ input, output: CAP })
        const edits = CHAT_CODECS[wire].answerEdits?.(answer, cap) ?? []
        const text = splice(JSON.stringify(answer), edits)
        expect(END[wire](JSON.parse(text)) === CUT[wire]).toBe(isCut)
        if (!isCut) expect(edits).toEqual([])
      }
    }
  })
})

describe('an end by a stop sequence that is called a turn’s end', () => {
  const answer = { ...WHOLE.messages({ text: 'Hello', output: 2 }), stop_sequence: 'END' }

  test('is told as what it is, on the own wire and on others', () => {
    const edited = splice(JSON.stringify(answer), CHAT_CODECS.messages.answerEdits?.(answer, undefined) ?? [])
    expect(JSON.parse(edited)).toEqual({ ...answer, stop_reason: 'stop_sequence' })
    const delta = { stop_reason: 'end_turn', stop_sequence: 'END' }
    const tap = CHAT_CODECS.messages.tap({ model: 'v', includeUsage: true, now: 0 })
    const text = framed(messagesFrames([], delta, 2))
      .map((frame) => tap.see(frame))
      .join('')
    expect(text).toContain('"stop_reason":"stop_sequence"')
    expect(CHAT_CODECS.messages.decodeResponse(answer)).toMatchObject({ finish: 'stop-sequence', stopSequence: 'END' })
  })

  test('but an end that names none stays, and so does one for another reason', () => {
    for (const [reason, sequence] of [
      ['end_turn', null],
      ['end_turn', ''],
      ['max_tokens', 'END'],
      ['stop_sequence', 'END'],
    ])
      expect(
        CHAT_CODECS.messages.answerEdits?.(
          { ...answer, stop_reason: reason ?? null, stop_sequence: sequence ?? null },
          9,
        ),
      ).toEqual([])
  })
})

describe('stop sequences are held to by the gateway', () => {
  const bodies: [ChatWire, JsonObject][] = [
    ['chat-completions', { messages: [{ role: 'user', content: 'q' }], stop: ['END', 'x'] }],
    ['messages', { max_tokens: 9, messages: [{ role: 'user', content: 'q' }], stop_sequences: ['END', 'x'] }],
  ]
  const sentOf = (from: ChatWire, to: ChatWire, body: JsonObject, quirks = {}) =>
    CHAT_CODECS[to].encodeRequest(CHAT_CODECS[from].decodeRequest({ model: 'm', ...body }), {
      model: 'up',
      maxOutput: 99,
      quirks,
    })

  test.each(bodies)('of %s, whether the server is sent them or not', (from, body) => {
    for (const to of CHAT_WIRES) {
      const sent = sentOf(from, to, body)
      expect([sent.undo.stop, sent.dropped.filter((path) => path.includes('stop'))]).toEqual([['END', 'x'], []])
      const own = to === 'messages' ? 'stop_sequences' : 'stop'
      if (to !== 'responses') expect(sent.body[own]).toEqual(['END', 'x'])
      for (const quirks of [{ stopsItself: false }, { rejects: [own] }]) {
        const unsent = sentOf(from, to, body, quirks)
        expect([unsent.body[own], unsent.undo.stop]).toEqual([undefined, ['END', 'x']])
        expect(unsent.dropped.filter((path) => path.includes('stop'))).toEqual([])
      }
    }
  })

  test('one that the server is sent is held to as far as the bounds allow, and is not listed', () => {
    const stop = Array.from({ length: 20 }, (_, at) => `s${at}`)
    const sent = sentOf('messages', 'messages', {
      max_tokens: 9,
      messages: [{ role: 'user', content: 'q' }],
      stop_sequences: stop,
    })
    expect([sent.body.stop_sequences, sent.undo.stop?.length, sent.dropped]).toEqual([stop, 16, []])
    const left = sentOf('messages', 'chat-completions', {
      max_tokens: 9,
      messages: [{ role: 'user', content: 'q' }],
      stop_sequences: stop,
    })
    expect(left.dropped).toEqual([])
    // What the server is not sent comes first.
    expect(left.undo.stop).toEqual(stop.slice(4))
  })
})

describe('a chat stream without [DONE]', () => {
  const chunk = (choices: JsonObject[], more: JsonObject = {}): JsonObject => ({
    id: 'c',
    model: 'v',
    choices,
    ...more,
  })
  const says = chunk([{ index: 0, delta: { content: 'Hi' } }])
  const stops = chunk([{ index: 0, delta: {}, finish_reason: 'stop' }])
  const counts = chunk([], { usage: { prompt_tokens: 3, completion_tokens: 1 } })
  const tapsOf = () => [
    CHAT_CODECS['chat-completions'].tap({ model: 'm', includeUsage: true, now: 0 }),
    ...(['responses', 'messages'] as const).map((client) =>
      translateStream({ client: CHAT_CODECS[client], provider: CHAT_CODECS['chat-completions'], ask, undo: {} }),
    ),
  ]

  test.each<[string, JsonObject[], boolean]>([
    ['has ended behind its reason and figures', [says, stops, counts], true],
    ['has ended with a last chunk that holds both', [says, { ...stops, usage: counts.usage ?? null }], true],
    ['has not without figures', [says, stops], false],
    ['has not without a reason', [says, counts], false],
    ['has not where more text follows the figures', [says, stops, counts, says], false],
  ])('%s', (_, chunks, ended) => {
    for (const tap of tapsOf()) {
      for (const one of chunks) tap.see({ data: JSON.stringify(one) })
      const end = tap.end?.() ?? ''
      expect(tap.state).toBe(ended ? 'done' : 'open')
      expect(/\[DONE\]|message_stop|response\.completed/.test(end)).toBe(ended)
    }
  })
})
