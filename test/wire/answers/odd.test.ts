// Odd traffic of providers, passed and told: what a client reads of it, whatever form it came in.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../../src/errors.ts'
import type { ChatEvent } from '../../../src/ir/event.ts'
import type { Json, JsonObject } from '../../../src/ir/json.ts'
import type { Usage } from '../../../src/ir/usage.ts'
import { CHAT_WIRES, type ChatWire } from '../../../src/ir/wire.ts'
import { writeFrame } from '../../../src/lib/sse.ts'
import { translateResponse, translateStream } from '../../../src/relay/translate.ts'
import type { Tap, Undo } from '../../../src/wire/codec.ts'
import { CHAT_CODECS, CODECS } from '../../../src/wire/index.ts'
import { encodeAll, framesOf } from '../../support/frames.ts'
import { PATHS } from '../../support/paths.ts'
import { type Bench, startBench } from '../matrix/bench.ts'
import { CLIENTS } from '../matrix/client/index.ts'
import { streamFaults } from '../matrix/rules.ts'
import { user } from '../matrix/stories/parts.ts'
import { diceOf, throws } from '../matrix/untidy/dice.ts'
import { GATHER } from './gather.ts'
import { list, object } from './told.ts'
import { askFor, PATIENCE_MS, VENDORS } from './vendors.ts'

type Row = JsonObject | string | { event: string; data: JsonObject | string }

/** The rows as bytes; a row of the wires that name their events is named by its type. */
const bytes = (wire: ChatWire, rows: Row[]): string =>
  rows
    .map((row) => {
      const bare = typeof row === 'string' || !('data' in row && 'event' in row)
      const data = bare ? row : row.data
      const text = typeof data === 'string' ? data : JSON.stringify(data)
      const event = bare ? (wire === 'chat-completions' || typeof row === 'string' ? undefined : row.type) : row.event
      return `${event === undefined ? '' : `event: ${event}\n`}data: ${text}\n\n`
    })
    .join('')

const passed = (wire: ChatWire, rows: Row[], includeUsage = true): { tap: Tap; text: string } => {
  const tap = CHAT_CODECS[wire].tap({ model: 'gateway-model', includeUsage, now: 0 })
  return {
    tap,
    text: framesOf(bytes(wire, rows))
      .map((frame) => tap.see(frame))
      .join(''),
  }
}
const told = (client: ChatWire, vendor: ChatWire, rows: Row[], undo: Undo = {}): { tap: Tap; text: string } => {
  const tap = translateStream({
    client: CHAT_CODECS[client],
    provider: CHAT_CODECS[vendor],
    ask: askFor(client, true),
    undo,
  })
  return {
    tap,
    text: framesOf(bytes(vendor, rows))
      .map((frame) => tap.see(frame))
      .join(''),
  }
}
const whole = (client: ChatWire, vendor: ChatWire, body: JsonObject): JsonObject =>
  translateResponse(body, {
    client: CHAT_CODECS[client],
    provider: CHAT_CODECS[vendor],
    ask: askFor(client, false),
    undo: {},
  })

const others = (vendor: ChatWire): ChatWire[] => CHAT_WIRES.filter((wire) => wire !== vendor)
const failureOf = (act: () => unknown): unknown => {
  try {
    return act()
  } catch (error) {
    return error instanceof GatewayError ? error.code : error
  }
}

const chunk = (choice: JsonObject, more: JsonObject = {}): JsonObject => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 5,
  model: 'up',
  choices: [{ index: 0, finish_reason: null, ...choice }],
  ...more,
})
const says = (delta: JsonObject): JsonObject => chunk({ delta })
const stops = (finish_reason: string): JsonObject => chunk({ delta: {}, finish_reason })
const calls = (...tool_calls: JsonObject[]): JsonObject => says({ tool_calls })
const DONE = '[DONE]'

const start = (usage: JsonObject = { input_tokens: 5, output_tokens: 1 }): JsonObject => ({
  type: 'message_start',
  message: { id: 'msg_1', type: 'message', role: 'assistant', model: 'up', content: [], usage },
})
const block = (index: number, content_block: JsonObject, ...deltas: JsonObject[]): JsonObject[] => [
  { type: 'content_block_start', index, content_block },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]
const SPACE: JsonObject = { type: 'text', text: '' }
const words = (text: string): JsonObject => ({ type: 'text_delta', text })
const ends = (stop_reason: string, usage: JsonObject | null = { output_tokens: 9 }): JsonObject[] => [
  { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage },
  { type: 'message_stop' },
]

const response = (members: JsonObject = {}): JsonObject => ({
  id: 'resp_1',
  object: 'response',
  created_at: 5,
  model: 'up',
  status: 'in_progress',
  output: [],
  ...members,
})
const created: JsonObject = { type: 'response.created', response: response() }
const completed = (members: JsonObject = {}): JsonObject => ({
  type: 'response.completed',
  response: response({ status: 'completed', ...members }),
})

describe('a failure is one by whatever words, and none of them reach a client', () => {
  const rows: [string, ChatWire, Row[]][] = [
    ['an error as text', 'chat-completions', [says({ content: 'a' }), { error: 'vendor-secret' }]],
    [
      'an error within the choice',
      'chat-completions',
      [says({ content: 'a' }), chunk({ delta: {}, finish_reason: 'error', error: { message: 'vendor-secret' } }), DONE],
    ],
    ...['abort', 'cancelled', 'timeout', 'engine_overloaded', 'internal_error', 'ERROR'].map(
      (reason): [string, ChatWire, Row[]] => [
        `an end by the server’s own fault, ${reason}`,
        'chat-completions',
        [says({ content: 'a' }), stops(reason), DONE],
      ],
    ),
    ...['malformed_function_call', 'function_call_filter: MALFORMED_FUNCTION_CALL'].map(
      (reason): [string, ChatWire, Row[]] => [
        'a call of the model’s that nobody can read',
        'chat-completions',
        [says({ content: 'a' }), stops(reason), DONE],
      ],
    ),
    [
      'an end by the fault of the server behind a relay',
      'chat-completions',
      [
        says({ content: '' }),
        chunk({ delta: { content: '' }, finish_reason: 'stop', native_finish_reason: 'network_error' }),
        DONE,
      ],
    ],
    ['[DONE] before the reason', 'chat-completions', [says({ content: 'a' }), DONE]],
    ['an end without the reason', 'messages', [start(), ...block(0, SPACE, words('a')), { type: 'message_stop' }]],
    [
      'an end without a reason in its report',
      'messages',
      [
        start(),
        ...block(0, SPACE, words('a')),
        { type: 'message_delta', delta: { stop_reason: null }, usage: { output_tokens: 9 } },
        { type: 'message_stop' },
      ],
    ],
    [
      'an end without the reason, under another event’s name',
      'messages',
      [start(), { event: 'message', data: { type: 'message_stop' } }],
    ],
    ['an end and nothing before it', 'messages', [{ type: 'message_stop' }]],
    [
      'an error under another event’s name',
      'messages',
      [start(), { event: 'message', data: { type: 'error', error: { type: 'api_error', message: 'vendor-secret' } } }],
    ],
    [
      'an error without a type',
      'messages',
      [start(), { event: 'failure', data: { error: { type: 'api_error', message: 'vendor-secret' } } }],
    ],
    [
      'an error under another event’s name',
      'responses',
      [created, { event: 'message', data: { type: 'error', code: 'server_error', message: 'vendor-secret' } }],
    ],
    [
      'an error without a type',
      'responses',
      [created, { event: 'failure', data: { error: { code: 'server_error', message: 'vendor-secret' } } }],
    ],
    [
      'a completed answer that holds an error',
      'responses',
      [created, completed({ error: { code: 'server_error', message: 'vendor-secret' } })],
    ],
    [
      'a failure that says nothing of itself',
      'responses',
      [created, { type: 'response.failed', response: { id: 'resp_1' } }],
    ],
    ['a completed answer that failed', 'responses', [created, completed({ status: 'failed' })]],
    [
      'an answer that was cancelled',
      'responses',
      [
        created,
        {
          type: 'response.cancelled',
          response: response({ status: 'cancelled', error: { message: 'vendor-secret' } }),
        },
      ],
    ],
  ]
  test.each(rows)('%s: %s', (_, wire, rows) => {
    for (const { tap, text } of [passed(wire, rows), ...others(wire).map((client) => told(client, wire, rows))]) {
      expect(tap.state).toBe('failed')
      const all = text + tap.fail(tap.error ?? new GatewayError('internal_error', 'none'), 'req_1')
      expect(all).not.toContain('vendor-secret')
      expect(all).not.toMatch(/\[DONE\]|"message_stop"|response\.completed|response\.incomplete|"finish_reason":"/)
    }
  })

  test('what a failed answer cost is read all the same', () => {
    const usage = { input_tokens: 7, output_tokens: 2 }
    const failed = { type: 'response.failed', response: response({ status: 'failed', error: { code: 'x' }, usage }) }
    for (const { tap } of [passed('responses', [created, failed]), told('messages', 'responses', [created, failed])]) {
      expect(tap.usage).toEqual({ input: 7, output: 2 })
      expect(tap.rawUsage).toEqual(usage)
    }
  })
})

describe('a stream that passes', () => {
  test('is known by the types of its events, whatever they are named', () => {
    const rows = [created, completed()].map((data) => ({ event: 'message', data }))
    const { tap, text } = passed('responses', rows)
    expect(tap.state).toBe('done')
    expect(framesOf(text).map(({ event }) => event)).toEqual(['response.created', 'response.completed'])
    const untyped = [created, completed()].map(({ type, ...data }) => ({ event: String(type), data }))
    expect(passed('responses', untyped).tap.state).toBe('done')
    const named = [start(), ...ends('end_turn')].map((data) => ({ event: 'message', data }))
    expect(passed('messages', named).tap.state).toBe('done')
  })

  test('ends at its last word, whatever white space stands before it', () => {
    const rows: Row[] = [says({ content: 'a' }), stops('stop'), ` ${DONE}`]
    for (const { tap } of [
      passed('chat-completions', rows),
      ...others('chat-completions').map((client) => told(client, 'chat-completions', rows)),
    ])
      expect(tap.state).toBe('done')
  })

  test('of speech is whole without a reason: its last word is when the sound expires', () => {
    const sound = says({ content: null, audio: { id: 'audio_1', data: 'AA', transcript: 'Hi.' } })
    const figures = { ...says({}), choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 } }
    const expires = { ...says({}), choices: [{ index: 0, delta: { audio: { expires_at: 9 } } }] }
    for (const ends of [
      (rows: Row[]) => passed('chat-completions', rows),
      (rows: Row[]) => told('responses', 'chat-completions', rows),
    ]) {
      expect(ends([sound, figures, expires, DONE]).tap.state).toBe('done')
      expect(ends([sound, expires]).tap.state).toBe('open')
      expect(ends([sound, figures, DONE]).tap.state).toBe('failed')
      expect(ends([sound, expires, sound, figures, DONE]).tap.state).toBe('failed')
    }
  })

  test.each([
    'response.output_item.added',
    'response.output_item.done',
    'response.content_part.added',
    'response.content_part.done',
    'response.output_text.annotation.added',
  ])('goes on where an event holds nothing of what it is named for: %s', (type) => {
    const rows = [created, { type, output_index: 0 }, completed()]
    for (const { tap } of [passed('responses', rows), ...others('responses').map((to) => told(to, 'responses', rows))])
      expect(tap.state).toBe('done')
  })

  test('of images that failed behind its first stays failed where it ends', () => {
    const tap = CODECS.images.tap({ model: 'gateway-model', includeUsage: true, now: 0, images: 2 })
    const one = { type: 'image_generation.completed', model: 'up', usage: { input_tokens: 1, output_tokens: 2 } }
    const frame = { event: 'image_generation.completed', data: JSON.stringify(one) }
    expect(tap.see(frame)).toBe(writeFrame({ ...frame, data: frame.data.replace('"up"', '"gateway-model"') }))
    tap.see({ event: 'error', data: JSON.stringify({ type: 'error', error: { message: 'vendor-secret' } }) })
    tap.end?.()
    expect([tap.state, tap.usage]).toEqual(['failed', { input: 1, output: 2, imageOutput: 2 }])
  })

  const item = { id: 'msg_1', type: 'message', role: 'assistant', content: [] }
  test.each<[ChatWire, JsonObject, JsonObject[], JsonObject[]]>([
    ['messages', start(), block(0, SPACE, words('Hello')), ends('end_turn')],
    [
      'responses',
      created,
      [
        { type: 'response.output_item.added', output_index: 0, item },
        { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Hello' },
        { type: 'response.output_item.done', output_index: 0, item },
      ],
      [completed()],
    ],
  ])(
    'of %s begins anew only where nothing was said: else all of it would be said twice',
    (wire, begins, said, over) => {
      for (const answers of [
        (rows: Row[]) => passed(wire, rows),
        ...others(wire).map((client) => (rows: Row[]) => told(client, wire, rows)),
      ]) {
        expect(answers([begins, begins, ...said, ...over]).tap.state).toBe('done')
        const again = answers([begins, ...said.slice(0, -1), begins, ...said, ...over])
        expect(again.tap.error).toMatchObject({ code: 'upstream_error' })
        expect(answers([begins, ...said.slice(0, 1), begins]).tap.state).toBe('failed')
      }
      const { text } = passed('messages', [start(), start()])
      expect(text.match(/event: message_start/g)).toHaveLength(1)
    },
  )

  test('names the gateway’s model in events nobody knows', () => {
    const { text } = passed('responses', [created, { type: 'response.paused', response: response() }, completed()])
    expect(text).not.toContain('"up"')
  })

  const usage = { prompt_tokens: 10, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } }
  const figures: Usage = { input: 6, cacheRead: 4, output: 3 }
  test.each<[string, JsonObject[]]>([
    ['within the choice', [chunk({ delta: {}, finish_reason: 'stop', usage })]],
    [
      'in a later report that leaves something out',
      [
        chunk({ delta: {}, finish_reason: 'stop' }, { usage }),
        { ...chunk({}), choices: [], usage: { prompt_tokens: 10, completion_tokens: 3, prompt_tokens_details: null } },
      ],
    ],
    ['without a list of choices', [stops('stop'), { id: 'chatcmpl-1', choices: null, usage }]],
  ])('tells its usage %s, and not to a client that did not ask', (_, rows) => {
    const all = [says({ content: 'a' }), ...rows, DONE]
    expect(passed('chat-completions', all).tap.usage).toEqual(figures)
    const { tap, text } = passed('chat-completions', all, false)
    expect(tap.usage).toEqual(figures)
    expect(text).not.toContain('prompt_tokens')
    expect(VENDORS['chat-completions'].stopOf(GATHER['chat-completions'](framesOf(text)))).toBe('stop')
    for (const client of others('chat-completions')) {
      expect(told(client, 'chat-completions', all).tap.usage).toEqual(figures)
    }
  })
})

test('figures that a server tells among what is its own count, and pass as the rest of that', () => {
  const usage = { prompt_tokens: 10, completion_tokens: 3 }
  const all = [says({ content: 'a' }), { ...stops('stop'), x_groq: { id: 'r', usage } }, DONE]
  const due: Usage = { input: 10, output: 3 }
  expect(passed('chat-completions', all, false).tap.usage).toEqual(due)
  for (const client of others('chat-completions')) expect(told(client, 'chat-completions', all).tap.usage).toEqual(due)
})

describe('figures of a messages stream', () => {
  const prompt = { input_tokens: 5, cache_read_input_tokens: 2 }
  const cached = { input_tokens: 0, cache_read_input_tokens: 40, output_tokens: 9 }
  test.each<[string, JsonObject, JsonObject | null, Usage]>([
    ['at its start alone', { ...prompt, output_tokens: 9 }, null, { input: 5, cacheRead: 2, output: 9 }],
    ['at its start but for the output', prompt, { output_tokens: 9 }, { input: 5, cacheRead: 2, output: 9 }],
    ['at its end alone', {}, { ...prompt, output_tokens: 9 }, { input: 5, cacheRead: 2, output: 9 }],
    [
      'at its end, naught before',
      { input_tokens: 0, output_tokens: 0 },
      { ...prompt, output_tokens: 9 },
      { input: 5, cacheRead: 2, output: 9 },
    ],
    [
      'at its start, naught after',
      { ...prompt, output_tokens: 1 },
      { input_tokens: 0, cache_read_input_tokens: 0, output_tokens: 9 },
      { input: 5, cacheRead: 2, output: 9 },
    ],
    ...(['read', 'creation'] as const).map((cache): [string, JsonObject, JsonObject, Usage] => [
      `at its start, a cache of ${cache} alone, naught after`,
      { input_tokens: 0, [`cache_${cache}_input_tokens`]: 4, output_tokens: 1 },
      { input_tokens: 0, [`cache_${cache}_input_tokens`]: 0, output_tokens: 9 },
      { input: 0, [cache === 'read' ? 'cacheRead' : 'cacheWrite']: 4, output: 9 },
    ]),
    ['estimated at its start', { input_tokens: 42, output_tokens: 1 }, cached, { input: 0, cacheRead: 40, output: 9 }],
  ])('told %s', (_, first, last, due) => {
    const rows = [start(first), ...block(0, { type: 'text', text: '' }, words('a')), ...ends('end_turn', last)]
    for (const { tap } of [
      passed('messages', rows),
      ...others('messages').map((client) => told(client, 'messages', rows)),
    ]) {
      expect(tap.state).toBe('done')
      expect(tap.usage).toEqual(due)
    }
  })
})

test.each(CHAT_WIRES)('a client of %s is shown figures whenever they were told', (client) => {
  const encoder = CHAT_CODECS[client].encodeEvents(askFor(client, true))
  const events: ChatEvent[] = [
    { type: 'start', id: 'x' },
    { type: 'usage', usage: { input: 7, cacheRead: 2, output: 1 } },
    { type: 'finish', reason: 'stop', usage: { output: 3 } },
  ]
  const read = GATHER[client](framesOf(encodeAll(encoder, events)))
  expect(VENDORS[client].told(read).usage).toEqual({ input: 7, read: 2, written: 0, output: 3 })
})

describe('the class of service an answer was given in', () => {
  const answers = (vendor: ChatWire, tier: JsonObject): [Row[], JsonObject] => {
    const message = { role: 'assistant', content: 'a' }
    const output = [{ type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'a' }] }]
    const text = { type: 'text', text: 'a' }
    switch (vendor) {
      case 'chat-completions':
        return [
          [{ ...says({ content: 'a' }), ...tier }, { ...stops('stop'), service_tier: null }, DONE],
          { id: 'chatcmpl-1', created: 5, choices: [{ index: 0, message, finish_reason: 'stop' }], ...tier },
        ]
      case 'responses':
        return [[created, completed({ output, ...tier })], response({ status: 'completed', output, ...tier })]
      case 'messages':
        return [
          [start({ input_tokens: 5, ...tier }), ...block(0, SPACE, words('a')), ...ends('end_turn')],
          { id: 'msg_1', content: [text], stop_reason: 'end_turn', usage: { input_tokens: 5, ...tier } },
        ]
    }
  }
  const tierOf = (client: ChatWire, body: JsonObject): Json =>
    (client === 'messages' ? object(body.usage).service_tier : body.service_tier) ?? null

  /** The client's word for it; a stream of messages has begun before it is known. */
  test.each<[ChatWire, JsonObject, Partial<Record<ChatWire, Json>>]>([
    ['chat-completions', { service_tier: 'priority' }, { responses: 'priority', messages: 'priority' }],
    ['chat-completions', { service_tier: 'default' }, { responses: 'default', messages: 'standard' }],
    ['chat-completions', { service_tier: 'unheard_of' }, { responses: 'default', messages: null }],
    ['responses', { service_tier: 'flex' }, { 'chat-completions': 'flex', messages: null }],
    ['responses', { service_tier: 'default' }, { 'chat-completions': 'default', messages: 'standard' }],
    ['responses', { service_tier: 'unheard_of' }, { 'chat-completions': null, messages: null }],
    ['messages', { service_tier: 'standard' }, { 'chat-completions': 'default', responses: 'default' }],
    ['messages', { service_tier: 'priority' }, { 'chat-completions': 'priority', responses: 'priority' }],
    ['messages', { service_tier: 'standard', speed: 'fast' }, { 'chat-completions': 'fast', responses: 'fast' }],
  ])('is told in the client’s word for it: %s, %j', (vendor, tier, due) => {
    const [rows, body] = answers(vendor, tier)
    for (const client of others(vendor)) {
      expect(tierOf(client, whole(client, vendor, body))).toEqual(due[client] ?? null)
      const streamed = GATHER[client](framesOf(told(client, vendor, rows).text))
      expect(tierOf(client, streamed)).toEqual(client === 'messages' ? null : (due[client] ?? null))
    }
  })
})

describe('a call', () => {
  const nameless: [ChatWire, Row[], JsonObject][] = [
    ...[{ arguments: '{}' }, {}].map((unnamed): [ChatWire, Row[], JsonObject] => [
      'chat-completions',
      [calls({ index: 0, id: 'a', type: 'function', function: unnamed }), stops('tool_calls'), DONE],
      {
        id: 'chatcmpl-1',
        choices: [
          {
            index: 0,
            message: {
              role: 'assistant',
              content: null,
              tool_calls: [{ id: 'a', type: 'function', function: unnamed }],
            },
            finish_reason: 'tool_calls',
          },
        ],
      },
    ]),
    [
      'messages',
      [start(), ...block(0, { type: 'tool_use', id: 'a', input: {} }), ...ends('tool_use')],
      { id: 'msg_1', content: [{ type: 'tool_use', id: 'a', input: {} }], stop_reason: 'tool_use' },
    ],
    [
      'responses',
      [created, completed({ output: [{ type: 'function_call', id: 'fc_1', call_id: 'a', arguments: '{}' }] })],
      response({ status: 'completed', output: [{ type: 'function_call', call_id: 'a', arguments: '{}' }] }),
    ],
  ]
  test.each(nameless)('without a name breaks an answer of %s', (vendor, rows, body) => {
    for (const client of others(vendor)) {
      expect(told(client, vendor, rows).tap.state).toBe('failed')
      expect(failureOf(() => whole(client, vendor, body))).toBe('upstream_error')
    }
  })

  test('with white space for its arguments has none', () => {
    const entry = (text: string) => ({ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: text } })
    const rows = [calls(entry(' ')), calls({ index: 0, function: { arguments: '\n' } }), stops('tool_calls'), DONE]
    const message = { role: 'assistant', content: null, tool_calls: [entry(' \n')] }
    const body = { id: 'chatcmpl-1', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }
    for (const client of others('chat-completions')) {
      const { text } = told(client, 'chat-completions', rows)
      for (const read of [GATHER[client](framesOf(text)), whole(client, 'chat-completions', body)]) {
        const [called] = list(read.output ?? read.content)
        expect(called?.arguments ?? JSON.stringify(called?.input)).toBe('{}')
      }
    }
  })

  test('is none where its entry says nothing at all', () => {
    const rows = [says({ content: 'a' }), calls({ index: 0 }), stops('stop'), DONE]
    const message = { content: 'a', tool_calls: [{ id: '', type: 'function', function: { name: '', arguments: '' } }] }
    const choice = { index: 0, message, finish_reason: 'stop' }
    for (const client of others('chat-completions')) {
      const { tap, text } = told(client, 'chat-completions', rows)
      expect(tap.state).toBe('done')
      for (const answer of [
        GATHER[client](framesOf(text)),
        whole(client, 'chat-completions', { id: 'chatcmpl-1', choices: [choice] }),
      ])
        expect(VENDORS[client].told(answer).calls).toEqual([])
    }
  })

  const tool = (id: string | null): JsonObject => ({
    type: 'tool_use',
    ...(id === null ? {} : { id }),
    name: 'f',
    input: {},
  })
  const call = (id: string | null): JsonObject => ({ id, type: 'function', function: { name: 'f', arguments: '{}' } })
  const item = (id: string | null): JsonObject => ({
    type: 'function_call',
    ...(id === null ? {} : { call_id: id }),
    name: 'f',
    arguments: '{}',
  })
  const twice = (id: string | null): [ChatWire, Row[], JsonObject][] => [
    [
      'chat-completions',
      [calls({ index: 0, ...call(id) }), calls({ index: 1, ...call(id) }), stops('tool_calls'), DONE],
      {
        id: 'chatcmpl-1',
        choices: [
          { index: 0, message: { content: null, tool_calls: [call(id), call(id)] }, finish_reason: 'tool_calls' },
        ],
      },
    ],
    [
      'messages',
      [start(), ...block(0, tool(id)), ...block(1, tool(id)), ...ends('tool_use')],
      { id: 'msg_1', content: [tool(id), tool(id)], stop_reason: 'tool_use' },
    ],
    [
      'responses',
      [created, completed({ output: [item(id), item(id)] })],
      response({ status: 'completed', output: [item(id), item(id)] }),
    ],
  ]
  test.each([...twice('same'), ...twice(null), ...twice('')])(
    'has an id of its own in what is told of an answer of %s',
    (vendor, rows, body) => {
      for (const client of others(vendor)) {
        const { tap, text } = told(client, vendor, rows)
        expect(tap.state).toBe('done')
        for (const read of [GATHER[client](framesOf(text)), whole(client, vendor, body)]) {
          const ids = VENDORS[client].told(read).calls.map(({ id }) => id)
          expect([new Set(ids).size, ids.length, ids.includes('')]).toEqual([2, 2, false])
        }
      }
    },
  )

  test('of a tool that the server has run itself is none of the client’s', () => {
    const hosted = { index: 0, id: 'h', type: 'web_search', web_search: { input: 'q' } }
    const own = { index: 1, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }
    const rows = [calls(hosted), says({ content: 'x' }), calls(own), stops('tool_calls'), DONE]
    const message = { role: 'assistant', content: 'x', tool_calls: [hosted, own] }
    const body = { id: 'chatcmpl-1', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }
    for (const client of others('chat-completions'))
      for (const read of [
        GATHER[client](framesOf(told(client, 'chat-completions', rows).text)),
        whole(client, 'chat-completions', body),
      ])
        expect(VENDORS[client].told(read).calls.map(({ name }) => name)).toEqual(['f'])
  })

  test('that nobody offered, and that takes nothing, keeps its place before those that follow', () => {
    const undo: Undo = { tools: { f: { name: 'f', kind: 'function' }, g: { name: 'g', kind: 'custom' } } }
    const call = (index: number, name: string, text: string): JsonObject => ({
      index,
      id: `call_${index}`,
      type: 'function',
      function: { name, arguments: text },
    })
    const rows = [
      calls(call(0, 'mine', '')),
      calls(call(1, 'f', '{"a":1}')),
      calls(call(2, 'g', '')),
      calls(call(3, 'f', '{}')),
      stops('tool_calls'),
      DONE,
    ]
    for (const client of others('chat-completions')) {
      const read = GATHER[client](framesOf(told(client, 'chat-completions', rows, undo).text))
      expect(VENDORS[client].told(JSON.parse(JSON.stringify(read))).calls.map(({ id }) => id)).toEqual(
        [0, 1, 2, 3].map((at) => `call_${at}`),
      )
    }
  })

  test('keeps the integers of arguments that came as an object', () => {
    const entry = { index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: 'INPUT' } }
    const used = { ...tool('a'), input: 'INPUT' }
    const exact = (row: JsonObject): string => JSON.stringify(row).replace('"INPUT"', '{"id":12345678901234567890}')
    const begun = exact({ ...start(), message: { ...object(start().message), content: [used] } })
    const streams: [ChatWire, Row[]][] = [
      ['chat-completions', [exact(calls(entry)), stops('tool_calls'), DONE]],
      [
        'messages',
        [start(), { event: 'content_block_start', data: exact(block(0, used)[0] ?? {}) }, ...ends('tool_use')],
      ],
      ['messages', [{ event: 'message_start', data: begun }, ...ends('tool_use')]],
    ]
    for (const [vendor, rows] of streams)
      for (const client of others(vendor)) {
        const { text } = told(client, vendor, rows)
        expect(VENDORS[client].told(GATHER[client](framesOf(text))).calls.map(({ input }) => input)).toEqual([
          '{"id":12345678901234567890}',
        ])
      }
  })

  test('cut within a turn that is only paused breaks the answer: other wires have no word for it', () => {
    const half = { type: 'input_json_delta', partial_json: '{"a' }
    const rows = [
      start(),
      ...block(0, { type: 'tool_use', id: 'a', name: 'f', input: {} }, half),
      ...ends('pause_turn'),
    ]
    for (const client of others('messages')) expect(told(client, 'messages', rows).tap.state).toBe('failed')
  })

  test('cut within an answer that says so is not told as completed, wherever it stands', () => {
    const rows = [
      start(),
      ...block(
        0,
        { type: 'tool_use', id: 'a', name: 'f', input: {} },
        { type: 'input_json_delta', partial_json: '{"a' },
      ),
      ...block(1, { type: 'text', text: '' }, words('so')),
      ...ends('max_tokens'),
    ]
    const { text } = told('responses', 'messages', rows)
    expect(streamFaults('responses', text)).toEqual([])
    const cut = {
      id: 'chatcmpl-1',
      choices: [
        {
          index: 0,
          message: {
            content: null,
            tool_calls: [
              { id: 'a', type: 'function', function: { name: 'f', arguments: '{"a' } },
              { id: 'b', type: 'function', function: { name: 'g', arguments: '{}' } },
            ],
          },
          finish_reason: 'length',
        },
      ],
    }
    const items = [
      list(GATHER.responses(framesOf(text)).output)[0],
      list(whole('responses', 'chat-completions', cut).output)[0],
    ]
    expect(items.map((one) => one?.status)).toEqual(['incomplete', 'incomplete'])
  })
})

describe('a thought', () => {
  const item = {
    id: 'rs_1',
    type: 'reasoning',
    summary: [{ type: 'summary_text', text: 'in short' }],
    content: [{ type: 'reasoning_text', text: 'at length' }],
    encrypted_content: 'e',
  }
  const place = { item_id: 'rs_1', output_index: 0 }
  const summed = { type: 'response.reasoning_summary_text.delta', ...place, summary_index: 0, delta: 'in short' }
  const spoken = { type: 'response.reasoning_text.delta', ...place, content_index: 0, delta: 'at length' }
  const added = {
    type: 'response.output_item.added',
    output_index: 0,
    item: { id: 'rs_1', type: 'reasoning', summary: [] },
  }
  const done = { type: 'response.output_item.done', output_index: 0, item }
  const message = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'so' }] }

  test.each([
    ['whole', []],
    ['its summary first', [added, summed, spoken, done]],
    ['its words first', [added, spoken, summed, done]],
    ['its end alone', [done]],
  ])('in words and in short goes back to its provider as it came: %s', (_, rows) => {
    const end = completed({ output: [item, message] })
    const { text } = told('messages', 'responses', [created, ...rows, end])
    const { content = null } = GATHER.messages(framesOf(text))
    const request = CHAT_CODECS.messages.decodeRequest({
      model: 'm',
      max_tokens: 9,
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content },
        { role: 'user', content: 'go on' },
      ],
    })
    const sent = CHAT_CODECS.responses.encodeRequest(request, { model: 'up', maxOutput: 9, quirks: {} }).body
    expect(list(sent.input)[1]).toEqual(item)
  })
})

describe('a thought told in the open', () => {
  const thinking = { type: 'thinking', thinking: [{ type: 'text', text: 'hm' }] }
  const call = { id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }
  /** The assistant's message that goes back to the server when its client goes on. */
  const sentBack = (client: 'messages' | 'responses', answer: JsonObject, quirks = {}): JsonObject | undefined => {
    const turns: Record<typeof client, JsonObject> = {
      messages: {
        model: 'm',
        max_tokens: 9,
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', content: answer.content ?? null },
          { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'done' }] },
        ],
      },
      responses: {
        model: 'm',
        input: [
          { role: 'user', content: 'hi' },
          ...list(answer.output),
          { type: 'function_call_output', call_id: 'a', output: 'done' },
        ],
      },
    }
    const request = CHAT_CODECS[client].decodeRequest(turns[client])
    const { body } = CHAT_CODECS['chat-completions'].encodeRequest(request, { model: 'up', maxOutput: 9, quirks })
    return list(body.messages)[1]
  }
  const answers = (client: ChatWire, thought: JsonObject): JsonObject[] => {
    const rows = [says(thought), says({ content: 'so' }), calls({ index: 0, ...call }), stops('tool_calls'), DONE]
    const content = Array.isArray(thought.content) ? [...thought.content, { type: 'text', text: 'so' }] : 'so'
    const message = { role: 'assistant', ...thought, content, tool_calls: [call] }
    const body = { id: 'chatcmpl-1', created: 5, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }
    return [
      JSON.parse(JSON.stringify(GATHER[client](framesOf(told(client, 'chat-completions', rows).text)))) as JsonObject,
      whole(client, 'chat-completions', body),
    ]
  }
  const said = { role: 'assistant', content: 'so', tool_calls: [call] }

  test('and signed in blocks goes back with them', () => {
    const blocks = [
      { type: 'thinking', thinking: 'hmm', signature: 's' },
      { type: 'redacted_thinking', data: 'd' },
    ]
    const piece = (text: string, signature: string | null) => ({
      reasoning_content: text,
      thinking_blocks: [{ type: 'thinking', thinking: text, signature }],
    })
    const rows = [
      says(piece('h', null)),
      says(piece('mm', null)),
      says({ thinking_blocks: [{ type: 'thinking', thinking: '', signature: 's' }] }),
      says({ thinking_blocks: [blocks[1] ?? null] }),
      says({ content: 'so' }),
      calls({ index: 0, ...call }),
      stops('tool_calls'),
      DONE,
    ]
    const message = { ...said, reasoning_content: 'hmm', thinking_blocks: blocks }
    const body = { id: 'chatcmpl-1', created: 5, choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }
    for (const client of ['messages', 'responses'] as const) {
      for (const answer of [
        GATHER[client](framesOf(told(client, 'chat-completions', rows).text)),
        whole(client, 'chat-completions', body),
      ]) {
        expect(JSON.stringify(answer)).toContain('hmm')
        expect(sentBack(client, JSON.parse(JSON.stringify(answer)))).toEqual({ ...said, thinking_blocks: blocks })
      }
    }
  })

  test.each<[string, JsonObject, JsonObject]>([
    ['reasoning_content', { reasoning_content: 'hm' }, { ...said, reasoning_content: 'hm' }],
    ['reasoning', { reasoning: 'hm' }, { ...said, reasoning: 'hm' }],
    ['either', { reasoning: 'hm', reasoning_content: 'hm' }, { ...said, reasoning_content: 'hm' }],
    ['another', { reasoning_text: 'hm' }, { ...said, reasoning_content: 'hm' }],
    ['one that is a part’s elsewhere', { thinking: 'hm' }, { ...said, reasoning_content: 'hm' }],
    ['the content', { content: [thinking] }, { ...said, content: [thinking, { type: 'text', text: 'so' }] }],
    ['its summary', { content: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'hm' }] }] }, said],
  ])('goes back under the name it came by: %s', (_, thought, due) => {
    for (const client of ['messages', 'responses'] as const) {
      for (const answer of answers(client, thought)) {
        expect(JSON.stringify(answer)).toContain('hm')
        expect(sentBack(client, answer)).toEqual(due)
        const rejects = ['reasoning_content', 'reasoning', 'thinking']
        expect(sentBack(client, answer, { rejects })).toEqual(said)
      }
    }
  })
})

describe('a summary that was asked for and not given', () => {
  const body = { stream: true, input: [{ type: 'compaction_trigger' }] }
  const ask = (stream: boolean) => ({ ...askFor('responses', stream), body })
  const [client, provider] = [CHAT_CODECS.responses, CHAT_CODECS['chat-completions']]
  test.each<[string, JsonObject]>([
    ['a call', { tool_calls: [{ index: 0, id: 'a', type: 'function', function: { name: 'f', arguments: '{}' } }] }],
    ['a refusal', { refusal: 'I cannot.' }],
    ['a thought', { reasoning_content: 'hm' }],
    ['white space', { content: ' \n' }],
    ['nothing', { content: '' }],
  ])('fails where there is %s instead, so that it is asked for again, whole and in a stream', (_, message) => {
    const tap = translateStream({ client, provider, ask: ask(true), undo: {} })
    const rows = bytes('chat-completions', [says(message), stops('stop'), DONE])
    const text = framesOf(rows)
      .map((frame) => tap.see(frame))
      .join('')
    expect([tap.state, tap.error?.code]).toEqual(['failed', 'upstream_error'])
    expect(text).not.toContain('response.completed')
    const answer = { id: 'chatcmpl-1', created: 5, choices: [{ index: 0, message, finish_reason: 'stop' }] }
    expect(() => translateResponse(answer, { client, provider, ask: ask(false), undo: {} })).toThrow(
      'the text that was asked for',
    )
  })
})

describe('content in another form than the wire’s says the same, whole and as a stream', () => {
  const used = { type: 'tool_use', id: 'toolu_1', name: 'f', input: { a: 1 } }
  const numbered = (id: number, name: string): JsonObject => ({
    id,
    type: 'function',
    function: { name, arguments: '{"a":1}' },
  })
  test.each<[string, JsonObject, { said?: string; refused?: string; thought?: string; calls?: string[] }]>([
    ['one part', { content: { type: 'text', text: 'so' } }, { said: 'so' }],
    ['parts in the responses wire’s words', { content: [{ type: 'output_text', text: 'so' }] }, { said: 'so' }],
    ['a thought as an object', { reasoning: { content: 'hm' }, content: 'so' }, { said: 'so', thought: 'hm' }],
    ['texts without a type, and bare ones', { content: ['s', { text: 'o' }] }, { said: 'so' }],
    ['a text whose type is null', { content: [{ type: null, text: 'so' }] }, { said: 'so' }],
    ['a refusal among the parts', { content: [{ type: 'refusal', refusal: 'no' }] }, { refused: 'no' }],
    [
      'a thought and a call in the messages wire’s words',
      { content: [{ type: 'thinking', thinking: 'hm' }, { type: 'text', text: 'so' }, used] },
      { said: 'so', thought: 'hm', calls: ['f'] },
    ],
    [
      'parts that say nothing here',
      { content: [{ type: 'file', file: { file_id: 'x' } }, {}, null, { type: 'text', text: 'so' }] },
      { said: 'so' },
    ],
    ['calls with numbers for ids', { tool_calls: [numbered(0, 'f'), numbered(1, 'g')] }, { calls: ['f', 'g'] }],
    [
      'a call of free text and one of a function, without a place',
      {
        tool_calls: [
          { type: 'custom', custom: { name: 'f', input: 'x' } },
          { ...numbered(0, 'g'), id: null },
        ],
      },
      { calls: ['f', 'g'] },
    ],
  ])('%s', (_, message, { said = '', refused = '', thought = '', calls: due = [] }) => {
    const reason = due.length > 0 ? 'tool_calls' : 'stop'
    const choice = { index: 0, message: { role: 'assistant', ...message }, finish_reason: reason }
    for (const client of others('chat-completions'))
      for (const answer of [
        GATHER[client](framesOf(told(client, 'chat-completions', [says(message), stops(reason), DONE]).text)),
        whole(client, 'chat-completions', { id: 'chatcmpl-1', created: 5, choices: [choice] }),
      ]) {
        const read = VENDORS[client].told(JSON.parse(JSON.stringify(answer)) as JsonObject)
        expect(read.said.map(({ text }) => text).join('')).toBe(said + refused)
        expect(read.thought).toBe(thought)
        expect(read.calls.map(({ name }) => name)).toEqual(due)
      }
  })

  test.each<[string, Json]>([
    ['a text', 'so'],
    ['parts in the chat-completions wire’s words', [{ type: 'text', text: 'so' }]],
  ])('%s in a message of the responses wire', (_, content) => {
    const item = { type: 'message', id: 'msg_1', role: 'assistant', status: 'completed', content }
    for (const client of others('responses'))
      for (const answer of [
        GATHER[client](
          framesOf(
            told(client, 'responses', [
              created,
              { type: 'response.output_item.done', output_index: 0, item },
              completed({ output: [item] }),
            ]).text,
          ),
        ),
        whole(client, 'responses', response({ status: 'completed', output: [item] })),
      ])
        expect(VENDORS[client].told(answer).said).toEqual([{ kind: 'text', text: 'so' }])
  })

  test('a text in the place of blocks, of the messages wire', () => {
    const message = {
      id: 'msg_1',
      type: 'message',
      role: 'assistant',
      model: 'm',
      content: 'so',
      stop_reason: 'end_turn',
    }
    for (const client of others('messages'))
      for (const answer of [
        whole(client, 'messages', message),
        GATHER[client](
          framesOf(told(client, 'messages', [{ type: 'message_start', message }, { type: 'message_stop' }]).text),
        ),
      ])
        expect(VENDORS[client].told(answer).said).toEqual([{ kind: 'text', text: 'so' }])
  })
})

describe('a citation', () => {
  const cite = {
    type: 'web_search_result_location',
    cited_text: 'c',
    encrypted_index: 'e',
    title: 't',
    url: 'https://a.b',
  }
  const ofResult = {
    ...{ type: 'search_result_location', cited_text: 'c', title: 't', search_result_index: 0 },
    ...{ start_block_index: 0, end_block_index: 1 },
  }
  const rowsOf = (cite: JsonObject) => [
    start(),
    ...block(0, { type: 'text', text: '' }, words('ab')),
    ...block(1, { type: 'text', text: '', citations: [] }, { type: 'citations_delta', citation: cite }, words('cde')),
    ...ends('end_turn'),
  ]
  const bodyOf = (cite: JsonObject) => ({
    id: 'msg_1',
    content: [
      { type: 'text', text: 'ab' },
      { type: 'text', text: 'cde', citations: [cite] },
    ],
    stop_reason: 'end_turn',
  })
  const readsOf = (cite: JsonObject, client: ChatWire) => [
    JSON.parse(JSON.stringify(GATHER[client](framesOf(told(client, 'messages', rowsOf(cite)).text)))) as JsonObject,
    whole(client, 'messages', bodyOf(cite)),
  ]

  test.each<[string, JsonObject]>([
    ['a page', cite],
    ['a search result of the client’s own that is a page', { ...ofResult, source: 'https://a.b' }],
  ])('of %s is of all letters of the whole text that comes before it', (_, cite) => {
    const reads = (client: ChatWire) => readsOf(cite, client)
    for (const read of reads('chat-completions')) {
      const [mark] = list(object(list(read.choices)[0]?.message).annotations)
      expect(mark?.url_citation).toEqual({ start_index: 2, end_index: 5, title: 't', url: 'https://a.b' })
    }
    for (const read of reads('responses')) {
      const [, part] = list(list(read.output)[0]?.content)
      expect(list(part?.annotations)[0]).toMatchObject({ start_index: 0, end_index: 3, url: 'https://a.b' })
    }
  })

  test.each(['doc-17', 'file:///notes', 'https://', 'see https://a.b'])(
    'of a search result called %j is no link',
    (source) => {
      for (const client of others('messages'))
        for (const read of readsOf({ ...ofResult, source }, client)) {
          expect(JSON.stringify(read)).toContain('cde')
          expect(JSON.stringify(read)).not.toContain(source)
        }
    },
  )

  test('that comes after its text has ended is told all the same', () => {
    const page = { url: 'https://a.b', title: 't', start_index: 4, end_index: 6 }
    const looks = { index: 0, id: 'A', type: 'function', function: { name: 'look', arguments: '{}' } }
    const called = [
      says({ content: 'See it.' }),
      says({ tool_calls: [looks] }),
      says({ annotations: [{ type: 'url_citation', url_citation: page }] }),
      stops('tool_calls'),
      DONE,
    ]
    const message = (annotations: JsonObject[]) => ({
      ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
      content: [{ type: 'output_text', text: 'See it.', annotations }],
    })
    const mark = { type: 'url_citation', ...page }
    const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
    const ended = (...late: JsonObject[]) => [
      created,
      { type: 'response.output_item.added', output_index: 0, item: { ...message([]), content: [] } },
      { type: 'response.output_text.delta', ...place, delta: 'See it.' },
      { type: 'response.content_part.done', ...place, part: message([]).content[0] ?? {} },
      ...late,
      { type: 'response.output_item.done', output_index: 0, item: message([mark]) },
      completed({ output: [message([mark])] }),
    ]
    const event = { type: 'response.output_text.annotation.added', ...place, annotation_index: 0, annotation: mark }
    const streams: [ChatWire, Row[]][] = [
      ['chat-completions', called],
      ['responses', ended(event)],
      ['responses', ended()],
    ]
    for (const [vendor, frames] of streams) {
      for (const client of others(vendor)) {
        const { text } = told(client, vendor, frames)
        expect(streamFaults(client, text)).toEqual([])
        const answer = JSON.stringify(GATHER[client](framesOf(text)))
        expect(answer.split('https://a.b')).toHaveLength(2)
        expect(answer).toContain('See it.')
      }
    }
    // In its own words and place, where the wire can say so.
    expect(told('chat-completions', 'responses', ended()).text).toContain('"start_index":4,"end_index":6')
  })

  test('without words makes no block without words', () => {
    const mark = {
      type: 'url_citation',
      url_citation: { url: 'https://a.b', title: 't', start_index: 0, end_index: 0 },
    }
    const annotated = [says({ annotations: [mark] }), stops('stop'), DONE]
    const output = [
      {
        type: 'message',
        content: [{ type: 'output_text', text: '', annotations: [{ ...mark.url_citation, type: 'url_citation' }] }],
      },
    ]
    for (const { text } of [
      told('messages', 'chat-completions', annotated),
      told('messages', 'responses', [created, completed({ output })]),
    ])
      expect(GATHER.messages(framesOf(text)).content).toEqual([])
  })
})

describe('free text in a function’s argument', () => {
  const undo: Undo = { tools: { patch: { name: 'patch', kind: 'custom' } } }
  /** The same string with some of its letters escaped, as models do. */
  const escaped = (text: string, some: number): string =>
    JSON.stringify(text).replace(/[A-Z/]|[^ -~]/g, (letter, at: number) =>
      (at + some) % 3 === 0
        ? [...letter].map((_, half) => `\\u${letter.charCodeAt(half).toString(16).padStart(4, '0')}`).join('')
        : letter,
    )

  test(
    'is the text itself, however it was written and cut',
    () => {
      const text = fc.oneof(
        fc.string({ unit: 'grapheme' }),
        fc.string({ unit: 'binary' }),
        fc.constantFrom('"', '\\', '\n', '😀"\\'),
      )
      fc.assert(
        fc.property(text, throws, fc.nat(2), (free, numbers, some) => {
          const thrown = diceOf(numbers)
          const space = thrown.one('', ' ', '\n')
          const input = `${space}{${space}"input"${space}:${space}${escaped(free, some)}${space}}${space}`
          const pieces = thrown.cut(input)
          const rows: Record<'messages' | 'chat-completions', Row[]> = {
            messages: [
              start(),
              ...block(
                0,
                { type: 'tool_use', id: 'a', name: 'patch', input: {} },
                ...pieces.map((partial_json) => ({ type: 'input_json_delta', partial_json })),
              ),
              ...ends('tool_use'),
            ],
            'chat-completions': [
              calls({ index: 0, id: 'a', type: 'function', function: { name: 'patch', arguments: '' } }),
              ...pieces.map((piece) => calls({ index: 0, function: { arguments: piece } })),
              stops('tool_calls'),
              DONE,
            ],
          }
          for (const vendor of ['messages', 'chat-completions'] as const) {
            const { tap, text } = told('responses', vendor, rows[vendor], undo)
            expect(tap.state).toBe('done')
            expect(VENDORS.responses.told(GATHER.responses(framesOf(text))).calls).toEqual([
              { id: 'a', name: 'patch', kind: 'custom', input: free },
            ])
          }
        }),
        { numRuns: 40, includeErrorInReport: true },
      )
    },
    PATIENCE_MS,
  )
})

describe('whole answers that are none', () => {
  let bench: Bench
  beforeAll(async () => {
    bench = await startBench()
  })
  afterAll(async () => {
    await bench.stop()
  })

  test.each<[string, ChatWire, JsonObject]>([
    ['an error as text', 'chat-completions', { error: 'vendor-secret' }],
    [
      'an error within the choice',
      'chat-completions',
      {
        choices: [{ index: 0, message: { content: 'a' }, finish_reason: 'error', error: { message: 'vendor-secret' } }],
      },
    ],
    ['words without choices', 'chat-completions', { detail: 'vendor-secret' }],
    ['an answer of no choice', 'chat-completions', { choices: [], base_resp: { status_msg: 'vendor-secret' } }],
    ['a choice of no message', 'chat-completions', { choices: [{ text: 'vendor-secret', finish_reason: 'stop' }] }],
    ['an error that says what it is', 'chat-completions', { object: 'error', choices: [{}], message: 'vendor-secret' }],
    ['an error', 'messages', { type: 'error', error: { type: 'api_error', message: 'vendor-secret' } }],
    ['words without content', 'messages', { message: 'vendor-secret' }],
    ['an empty answer without an end', 'messages', { content: [], base_resp: { status_msg: 'vendor-secret' } }],
    ['a failed response', 'responses', response({ status: 'failed', error: { code: 'x', message: 'vendor-secret' } })],
    ['words without output', 'responses', { message: 'vendor-secret' }],
  ])('%s of %s', async (_, vendor, body) => {
    for (const client of CHAT_WIRES) {
      bench.play(vendor, { steps: [JSON.stringify(body)], headers: { 'content-type': 'application/json' } })
      const asked = CLIENTS[client].request({ turns: [user('Hi')] }, bench.model(vendor), false)
      const answer = await bench.gateway.post(PATHS[client], asked)
      const text = await answer.text()
      expect([answer.status, answer.headers.get('x-gateway-error-code')]).toEqual([502, 'upstream_error'])
      expect(text).not.toContain('vendor-secret')
    }
  })

  test('a refusal is read in whatever it is held', async () => {
    const error = { code: 400, message: 'The input token count (9) exceeds the maximum number of tokens allowed (8).' }
    for (const body of [[{ error }], { errors: [error] }, { error: error.message }]) {
      bench.play('chat-completions', { status: 400, steps: [JSON.stringify(body)] })
      const asked = CLIENTS.messages.request({ turns: [user('Hi')] }, bench.model('chat-completions'), false)
      const answer = await bench.gateway.post(PATHS.messages, asked)
      expect([answer.status, object(object((await answer.json()) as JsonObject).error).message]).toEqual([
        400,
        expect.stringContaining('prompt is too long: 9 tokens > 8 maximum'),
      ])
    }
  })

  test.each(['cancelled', 'queued'])('a response that is %s has nothing to translate', (status) => {
    for (const client of others('responses'))
      expect(failureOf(() => whole(client, 'responses', response({ status })))).toBe('upstream_error')
  })
})
