// Streams and answers feature by feature: what servers of this kind send, and what this wire's clients read.

import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../../src/errors.ts'
import type { ChatEvent, FinishReason } from '../../../src/ir/event.ts'
import { fold } from '../../../src/ir/fold.ts'
import type { JsonObject } from '../../../src/ir/json.ts'
import { FrameReader } from '../../../src/lib/sse.ts'
import { chatCompletions } from '../../../src/wire/chat-completions/index.ts'
import type { Ask, Undo } from '../../../src/wire/codec.ts'
import { sealTag } from '../../../src/wire/seal.ts'
import { checkChatCompletionsStream } from '../../support/automaton/chat-completions.ts'

const DONE = { data: '[DONE]' }
const chunk = (choice: JsonObject | undefined, more: JsonObject = {}) => ({
  data: JSON.stringify({
    id: 'chatcmpl-1',
    created: 5,
    model: 'up',
    choices: choice === undefined ? [] : [{ index: 0, ...choice }],
    ...more,
  }),
})
const delta = (value: JsonObject) => chunk({ delta: value, finish_reason: null })
const stop = (reason = 'stop') => chunk({ delta: {}, finish_reason: reason })
const call = (index: number | undefined, body: JsonObject, id?: string) =>
  delta({
    tool_calls: [
      {
        ...(index === undefined ? {} : { index }),
        ...(id === undefined ? {} : { id, type: 'function' }),
        function: body,
      },
    ],
  })

const decode = (frames: { event?: string; data: string }[], undo?: Undo): ChatEvent[] => {
  const decoder = chatCompletions.decodeEvents(undo)
  return [...frames.flatMap((frame) => decoder.push(frame)), ...decoder.end()]
}
const parts = (frames: { data: string }[], undo?: Undo) => fold(decode([...frames, DONE], undo)).parts
const failure = (events: ChatEvent[]): GatewayError | undefined => {
  const last = events.at(-1)
  return last?.type === 'error' ? last.error : undefined
}

const ask = (body: JsonObject = {}): Ask => ({ model: 'vendorB-5.5', body, inputEstimate: 7, now: 1_790_000_000 })
const encode = (events: ChatEvent[], body?: JsonObject): string => {
  const encoder = chatCompletions.encodeEvents(ask(body))
  return events.map((event) => encoder.push(event)).join('')
}
const readFrames = (text: string) => {
  const reader = new FrameReader()
  return [...reader.push(new TextEncoder().encode(text)), ...reader.end()]
}
const deltas = (text: string) =>
  readFrames(text)
    .filter(({ data }) => data !== '[DONE]')
    .flatMap(({ data }) => (JSON.parse(data) as { choices?: { delta: JsonObject }[] }).choices ?? [])
    .map((choice) => choice.delta)

describe('what a provider may send', () => {
  test('parallel calls of one index each overlap until their arguments are whole', () => {
    const frames = [
      call(0, { name: 'f', arguments: '{"a":' }, 'A'),
      call(1, { name: 'g', arguments: '{"b"' }, 'B'),
      call(0, { arguments: '1}' }),
      call(1, { arguments: ':2}' }),
      stop('tool_calls'),
    ]
    expect(parts(frames)).toEqual([
      { type: 'tool-call', id: 'A', name: 'f', kind: 'function', input: '{"a":1}' },
      { type: 'tool-call', id: 'B', name: 'g', kind: 'function', input: '{"b":2}' },
    ])
  })

  test('a call whose arguments are whole ends where the next one starts', () => {
    const types = decode([
      call(0, { name: 'f', arguments: '{}' }, 'A'),
      call(1, { name: 'g', arguments: '{' }, 'B'),
    ]).map((event) => event.type)
    expect(types).toEqual(['start', 'tool-start', 'tool-delta', 'tool-end', 'tool-start', 'tool-delta', 'error'])
  })

  test.each<[string, { data: string }[], unknown[]]>([
    [
      'arguments and reason in one chunk',
      [
        chunk({
          delta: { tool_calls: [{ index: 0, id: 'A', function: { name: 'f', arguments: '{"a":1}' } }] },
          finish_reason: 'tool_calls',
        }),
      ],
      [['A', 'f', '{"a":1}']],
    ],
    ['no arguments at all', [call(0, { name: 'f', arguments: '' }, 'A'), stop('tool_calls')], [['A', 'f', '{}']]],
    ['arguments that are null', [call(0, { name: 'f', arguments: null }, 'A'), stop('tool_calls')], [['A', 'f', '{}']]],
    [
      'arguments as an object',
      [call(0, { name: 'f', arguments: { a: 1 } }, 'A'), stop('tool_calls')],
      [['A', 'f', '{"a":1}']],
    ],
    [
      'every call under index 0',
      [call(0, { name: 'f', arguments: '{}' }, 'A'), call(0, { name: 'g', arguments: '{}' }, 'B'), stop('tool_calls')],
      [
        ['A', 'f', '{}'],
        ['B', 'g', '{}'],
      ],
    ],
    [
      'no index',
      [
        call(undefined, { name: 'f', arguments: '{' }, 'A'),
        call(undefined, { arguments: '}' }),
        call(undefined, { name: 'g', arguments: '{}' }, 'B'),
        stop('tool_calls'),
      ],
      [
        ['A', 'f', '{}'],
        ['B', 'g', '{}'],
      ],
    ],
    [
      'name and id repeated',
      [call(0, { name: 'f', arguments: '{' }, 'A'), call(0, { name: 'f', arguments: '}' }, 'A'), stop('tool_calls')],
      [['A', 'f', '{}']],
    ],
    [
      'name and id empty later',
      [call(0, { name: 'f', arguments: '{' }, 'A'), call(0, { name: '', arguments: '}' }, ''), stop('tool_calls')],
      [['A', 'f', '{}']],
    ],
    [
      'a name that comes late',
      [call(0, { arguments: '{"a"' }, 'A'), call(0, { name: 'f', arguments: ':1}' }), stop('tool_calls')],
      [['A', 'f', '{"a":1}']],
    ],
    ['the reason stop', [call(0, { name: 'f', arguments: '{}' }, 'A'), stop('stop')], [['A', 'f', '{}']]],
  ])('a call with %s', (_, frames, expected) => {
    const answer = fold(decode([...frames, DONE]))
    expect(answer.parts.map((part) => (part.type === 'tool-call' ? [part.id, part.name, part.input] : part))).toEqual(
      expected as never,
    )
    expect(answer.finish).toBe('tool-calls')
  })

  test('calls without ids get some that do not meet', () => {
    const [one, two] = parts([
      call(0, { name: 'f', arguments: '{}' }),
      call(1, { name: 'f', arguments: '{}' }),
      stop('tool_calls'),
    ])
    if (one?.type !== 'tool-call' || two?.type !== 'tool-call') throw new Error('no calls')
    expect(one.id).toMatch(/^call_[a-z0-9]+_0$/)
    expect(two.id).not.toBe(one.id)
  })

  test('free text for a custom tool, and the legacy call', () => {
    const custom = delta({ tool_calls: [{ index: 0, id: 'A', type: 'custom', custom: { name: 'p', input: 'a' } }] })
    const more = delta({ tool_calls: [{ index: 0, custom: { input: 'b' } }] })
    expect(parts([custom, more, stop('tool_calls')])).toEqual([
      { type: 'tool-call', id: 'A', name: 'p', kind: 'custom', input: 'ab' },
    ])
    const legacy = [
      delta({ function_call: { name: 'f', arguments: '{' } }),
      delta({ function_call: { arguments: '}' } }),
      stop('function_call'),
    ]
    expect(parts(legacy)).toMatchObject([{ type: 'tool-call', name: 'f', input: '{}' }])
  })

  test.each<[string, JsonObject[], unknown[]]>([
    [
      'thoughts under either name, once',
      [{ reasoning_content: 'a', reasoning: 'a' }, { reasoning: 'b' }, { content: 'x' }],
      [
        { type: 'reasoning', text: 'ab', full: true },
        { type: 'text', text: 'x' },
      ],
    ],
    [
      'thoughts among the content',
      [
        { content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'a' }] }] },
        { content: [{ type: 'text', text: 'x' }] },
      ],
      [
        { type: 'reasoning', text: 'a', full: true },
        { type: 'text', text: 'x' },
      ],
    ],
    ['a refusal', [{ refusal: 'no' }, { refusal: ' way' }], [{ type: 'refusal', text: 'no way' }]],
    [
      'a citation',
      [
        { content: 'x' },
        {
          annotations: [
            { type: 'url_citation', url_citation: { url: 'https://a.b', title: 't', start_index: 0, end_index: 1 } },
          ],
        },
      ],
      [{ type: 'text', text: 'x', citations: [{ kind: 'url', url: 'https://a.b', title: 't', start: 0, end: 1 }] }],
    ],
    [
      'audio, gathered',
      [{ audio: { id: 'au', data: 'AA' } }, { audio: { data: 'BB', transcript: 'hi' } }, { audio: { expires_at: 9 } }],
      [
        {
          type: 'opaque',
          origin: 'chat-completions',
          value: { audio: { id: 'au', expires_at: 9, data: 'AABB', transcript: 'hi' } },
        },
      ],
    ],
  ])('%s', (_, pieces, expected) => {
    expect(parts([...pieces.map(delta), stop()])).toEqual(expected as never)
  })

  test('a thought this gateway sealed comes out of a chain of gateways as it went in', () => {
    const sealed = {
      type: 'reasoning' as const,
      text: 'hm',
      full: true,
      seal: { origin: 'messages' as const, value: { signature: 's' } },
    }
    const redacted = {
      type: 'reasoning' as const,
      text: '',
      seal: { origin: 'messages' as const, value: { data: 'd' } },
    }
    const tag = (part: typeof sealed | typeof redacted) =>
      delta({ reasoning_details: [{ type: 'reasoning.encrypted', data: sealTag(part) }] })
    expect(
      parts([delta({ reasoning_content: 'hm' }), tag(sealed), tag(redacted), delta({ content: 'x' }), stop()]),
    ).toEqual([sealed, redacted, { type: 'text', text: 'x' }])
  })

  test('log probabilities go with their text', () => {
    const logprobs = {
      content: [{ token: 'x', logprob: -1, bytes: null, top_logprobs: [{ token: 'y', logprob: -2, bytes: [1] }] }],
    }
    expect(parts([chunk({ delta: { content: 'x' }, logprobs, finish_reason: null }), stop()])).toEqual([
      {
        type: 'text',
        text: 'x',
        logprobs: [{ token: 'x', logprob: -1, bytes: null, top: [{ token: 'y', logprob: -2, bytes: [1] }] }],
      },
    ])
  })

  test.each<[string, { data: string }[]]>([
    [
      'after the reason',
      [
        stop(),
        chunk(undefined, {
          usage: { prompt_tokens: 10, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } },
        }),
      ],
    ],
    [
      'beside the reason',
      [
        chunk(
          { delta: {}, finish_reason: 'stop' },
          { usage: { prompt_tokens: 10, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } } },
        ),
      ],
    ],
    [
      'within the choice',
      [
        chunk({
          delta: {},
          finish_reason: 'stop',
          usage: { prompt_tokens: 10, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } },
        }),
      ],
    ],
    [
      'in every chunk',
      [
        chunk({ delta: { content: 'a' } }, { usage: { prompt_tokens: 10, completion_tokens: 1 } }),
        chunk(
          { delta: {}, finish_reason: 'stop' },
          { usage: { prompt_tokens: 10, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } } },
        ),
      ],
    ],
    [
      'before anything else',
      [
        chunk(undefined, {
          id: '',
          usage: { prompt_tokens: 10, completion_tokens: 3, prompt_tokens_details: { cached_tokens: 4 } },
        }),
        stop(),
      ],
    ],
  ])('usage %s', (_, frames) => {
    expect(fold(decode([...frames, DONE])).usage).toEqual({ input: 6, cacheRead: 4, output: 3 })
  })

  test('a prologue without an id, chunks without choices, a missing role and repeated reasons', () => {
    const frames = [
      { data: JSON.stringify({ id: '', model: '', created: 0, choices: [], prompt_filter_results: [] }) },
      chunk(undefined, { moderation: {} }),
      delta({ content: 'a' }),
      stop(),
      stop(),
      delta({ content: 'late' }),
      DONE,
    ]
    const answer = fold(decode(frames))
    expect([answer.id, answer.createdAt, answer.parts]).toEqual(['chatcmpl-1', 5, [{ type: 'text', text: 'a' }]])
  })

  test('of several choices the first is the answer', () => {
    expect(
      parts([
        delta({ content: 'a' }),
        chunk({ index: 1, delta: { content: 'b' } }),
        stop(),
        chunk({ index: 1, delta: {}, finish_reason: 'stop' }),
      ]),
    ).toEqual([{ type: 'text', text: 'a' }])
  })

  test.each<[string, string, FinishReason]>([
    ['stop', 'a', 'stop'],
    ['length', 'a', 'length'],
    ['content_filter', 'a', 'content-filter'],
    ['tool_calls', 'a', 'stop'],
    ['eos', 'a', 'stop'],
  ])('the reason %s', (reason, content, expected) => {
    expect(fold(decode([delta({ content }), stop(reason), DONE])).finish).toBe(expected)
  })
})

describe('what ends badly', () => {
  test.each<[string, { event?: string; data: string }[], string]>([
    ['nothing', [], 'upstream_error'],
    ['bytes that end before [DONE]', [delta({ content: 'a' }), stop()], 'upstream_error'],
    ['[DONE] without a reason', [delta({ content: 'a' }), DONE], 'upstream_error'],
    ['malformed JSON', [delta({ content: 'a' }), { data: '{"id":' }], 'upstream_error'],
    [
      'an error in a data-only frame',
      [{ data: '{"error":{"message":"secret","type":"server_error","code":null}}' }],
      'upstream_error',
    ],
    ['an error as text', [{ data: '{"error":"secret"}' }], 'upstream_error'],
    ['an error event', [{ event: 'error', data: '{"message":"secret"}' }], 'upstream_error'],
    [
      'an overload in the stream',
      [
        delta({ content: 'a' }),
        { data: '{"error":{"message":"secret","type":"tokens","code":"rate_limit_exceeded"}}' },
      ],
      'service_unavailable',
    ],
    ['an overload told by number', [{ data: '{"error":{"message":"secret","code":429}}' }], 'service_unavailable'],
    [
      'an error within the choice',
      [chunk({ delta: {}, finish_reason: 'error', error: { code: 502, message: 'secret' } })],
      'upstream_error',
    ],
    [
      'a prompt too long',
      [{ data: '{"error":{"message":"secret","code":"context_length_exceeded"}}' }],
      'context_length_exceeded',
    ],
  ])('%s', (_, frames, code) => {
    const events = decode(frames)
    expect(failure(events)?.code as string).toBe(code)
    expect(failure(events)?.message).not.toContain('secret')
    expect(events.filter(({ type }) => type === 'finish' || type === 'error')).toHaveLength(1)
  })

  test('a call cut off is not ended', () => {
    expect(decode([call(0, { name: 'f', arguments: '{"a' }, 'A')]).map(({ type }) => type)).toEqual([
      'start',
      'tool-start',
      'tool-delta',
      'error',
    ])
  })
})

describe('what an answer must undo', () => {
  const undo: Undo = {
    jsonTool: 'json',
    tools: { fs__read: { name: 'read', namespace: 'fs', kind: 'function' }, patch: { name: 'patch', kind: 'custom' } },
  }

  test('the forced tool is the text', () => {
    const frames = [
      call(0, { name: 'json', arguments: '{"a"' }, 'A'),
      call(0, { arguments: ':1}' }),
      stop('tool_calls'),
    ]
    const answer = fold(decode([...frames, DONE], undo))
    expect([answer.parts, answer.finish]).toEqual([[{ type: 'text', text: '{"a":1}' }], 'stop'])
    const message = {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'A', type: 'function', function: { name: 'json', arguments: '{"a":1}' } }],
    }
    const whole = chatCompletions.decodeResponse(
      { id: 'x', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] },
      undo,
    )
    expect([whole.parts, whole.finish]).toEqual([[{ type: 'text', text: '{"a":1}' }], 'stop'])
  })

  test('names, namespaces and kinds are the client’s again', () => {
    const frames = [
      call(0, { name: 'fs__read', arguments: '{}' }, 'A'),
      call(1, { name: 'patch', arguments: '{"input":"free"}' }, 'B'),
      stop('tool_calls'),
    ]
    expect(parts(frames, undo)).toEqual([
      { type: 'tool-call', id: 'A', name: 'read', namespace: 'fs', kind: 'function', input: '{}' },
      { type: 'tool-call', id: 'B', name: 'patch', kind: 'custom', input: 'free' },
    ])
  })
})

describe('what a client reads', () => {
  const start: ChatEvent = { type: 'start', id: 'msg_01' }
  const finish = (reason: FinishReason): ChatEvent => ({
    type: 'finish',
    reason,
    usage: { input: 3, cacheRead: 2, output: 4, reasoning: 1 },
  })

  test('a text leaves at once', () => {
    const encoder = chatCompletions.encodeEvents(ask())
    encoder.push(start)
    encoder.push({ type: 'text-start', part: 0 })
    expect(encoder.push({ type: 'text-delta', part: 0, text: 'a"\n' })).toContain('"content":"a\\"\\n"')
  })

  test('ids take the wire’s form and stay', () => {
    const frames = readFrames(encode([start, finish('stop')]))
    expect(JSON.parse(frames[0]?.data ?? '')).toMatchObject({
      id: 'chatcmpl-msg_01',
      created: 1_790_000_000,
      model: 'vendorB-5.5',
    })
  })

  test('the usage chunk comes last, and only where it was asked for', () => {
    const shown = readFrames(encode([start, finish('stop')], { stream_options: { include_usage: true } }))
    expect(JSON.parse(shown.at(-2)?.data ?? '')).toMatchObject({
      choices: [],
      usage: {
        prompt_tokens: 5,
        completion_tokens: 4,
        total_tokens: 9,
        prompt_tokens_details: { cached_tokens: 2 },
        completion_tokens_details: { reasoning_tokens: 1 },
      },
    })
    expect(encode([start, finish('stop')])).not.toContain('usage')
  })

  test('overlapping calls come one after the other', () => {
    const tool = (part: number, name: string): ChatEvent => ({
      type: 'tool-start',
      part,
      id: name,
      name,
      kind: 'function',
    })
    const text = encode([
      start,
      tool(0, 'a'),
      tool(1, 'b'),
      { type: 'tool-delta', part: 1, text: '{}' },
      { type: 'tool-delta', part: 0, text: '{"x":1}' },
      { type: 'tool-end', part: 1 },
      { type: 'tool-end', part: 0 },
      finish('tool-calls'),
    ])
    expect(checkChatCompletionsStream(readFrames(text))).toEqual([])
  })

  test('an error ends the stream in one frame, without [DONE], and closes nothing', () => {
    const error = new GatewayError('upstream_error', 'broke')
    const text = encode([
      start,
      { type: 'tool-start', part: 0, id: 'A', name: 'f', kind: 'function' },
      { type: 'error', error },
      finish('stop'),
    ])
    const last = readFrames(text).at(-1)
    expect(last?.event).toBe('error')
    expect(JSON.parse(last?.data ?? '')).toEqual({
      error: { message: 'broke', type: 'api_error', code: 'upstream_error', param: null },
    })
    expect(text).not.toContain('[DONE]')
    expect(text).not.toContain('{}"')
    expect(checkChatCompletionsStream(readFrames(text))).toEqual([])
  })

  test('silence and late figures say nothing of their own', () => {
    expect(encode([{ type: 'ping' }])).toBe('')
    expect(encode([start, { type: 'usage', usage: { input: 1 } }])).toBe(encode([start]))
  })

  test.each<[FinishReason, string]>([
    ['stop', 'stop'],
    ['stop-sequence', 'stop'],
    ['length', 'length'],
    ['context-length', 'length'],
    ['refusal', 'content_filter'],
    ['content-filter', 'content_filter'],
    ['pause', 'stop'],
    ['tool-calls', 'stop'],
  ])('the reason %s is %s', (reason, expected) => {
    expect(encode([start, finish(reason)])).toContain(`"finish_reason":"${expected}"`)
  })

  test('clients that write functions read function_call', () => {
    const events: ChatEvent[] = [
      start,
      { type: 'tool-start', part: 0, id: 'A', name: 'f', kind: 'function' },
      { type: 'tool-delta', part: 0, text: '{"a":1}' },
      { type: 'tool-end', part: 0 },
      finish('tool-calls'),
    ]
    const text = encode(events, { functions: [{ name: 'f' }] })
    expect(deltas(text).slice(1, 3)).toEqual([
      { function_call: { name: 'f', arguments: '' } },
      { function_call: { arguments: '{"a":1}' } },
    ])
    expect(text).toContain('"finish_reason":"function_call"')
    const body = chatCompletions.encodeResponse(fold(events), ask({ functions: [{ name: 'f' }] }))
    expect(body.choices).toMatchObject([
      {
        message: { content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
        finish_reason: 'function_call',
      },
    ])
  })

  test('a sealed thought is followed by its tag', () => {
    const seal = { origin: 'messages' as const, value: { signature: 's' } }
    const text = encode([
      start,
      { type: 'reasoning-start', part: 0, full: true },
      { type: 'reasoning-delta', part: 0, text: 'hm' },
      { type: 'reasoning-end', part: 0, seal },
      finish('stop'),
    ])
    const tag = sealTag({ type: 'reasoning', text: 'hm', full: true, seal })
    expect(deltas(text).slice(1, 3)).toEqual([
      { reasoning_content: 'hm' },
      { reasoning_details: [{ type: 'reasoning.encrypted', data: tag }] },
    ])
  })

  test('places of citations move along where texts are joined', () => {
    const citation = { kind: 'url' as const, url: 'https://a.b', start: 1, end: 2 }
    const answer = {
      id: 'x',
      finish: 'stop' as const,
      usage: {},
      parts: [
        { type: 'text' as const, text: 'abc' },
        { type: 'text' as const, text: 'def', citations: [citation] },
      ],
    }
    const body = chatCompletions.encodeResponse(answer, ask())
    expect(body.choices).toMatchObject([
      { message: { content: 'abcdef', annotations: [{ url_citation: { start_index: 4, end_index: 5 } }] } },
    ])
  })
})

describe('an answer that is none', () => {
  test.each<[string, JsonObject, string]>([
    ['an empty object', {}, 'upstream_error'],
    ['no choices', { choices: [] }, 'upstream_error'],
    ['a choice without a message', { choices: [{ index: 0 }] }, 'upstream_error'],
    ['a call without a name', { choices: [{ index: 0, message: { tool_calls: [{ id: 'a' }] } }] }, 'upstream_error'],
    ['an error with a 200', { error: { message: 'secret', code: 'content_filter' } }, 'content_policy_violation'],
  ])('%s', (_, body, code) => {
    try {
      chatCompletions.decodeResponse(body)
    } catch (error) {
      expect((error as GatewayError).code as string).toBe(code)
      expect((error as GatewayError).message).not.toContain('secret')
      return
    }
    throw new Error('it was taken for an answer')
  })
})
