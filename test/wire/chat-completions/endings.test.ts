// Streams and answers that fail, and what an answer's decoding must undo of the request's encoding.

import { describe, expect, test } from 'bun:test'
import type { GatewayError } from '../../../src/errors.ts'
import { fold } from '../../../src/ir/fold.ts'
import type { JsonObject } from '../../../src/ir/json.ts'
import type { AssistantPart } from '../../../src/ir/part.ts'
import { chatCompletions } from '../../../src/wire/chat-completions/index.ts'
import type { Undo } from '../../../src/wire/codec.ts'
import { call, chunk, DONE, decode, delta, failure, parts, stop } from './stream.ts'

describe('a stream that fails', () => {
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
      'an error event that says what it is',
      [{ event: 'error', data: '{"message":"secret","code":"server_is_overloaded"}' }],
      'service_unavailable',
    ],
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
      'a server that gave up',
      [chunk({ delta: { content: 'a' }, finish_reason: 'insufficient_system_resource' }), DONE],
      'upstream_error',
    ],
    [
      'a prompt too long',
      [{ data: '{"error":{"message":"secret","code":"context_length_exceeded"}}' }],
      'context_length_exceeded',
    ],
    [
      'a call that its server did not expect',
      [chunk({ delta: { content: 'a' }, finish_reason: 'UNEXPECTED_TOOL_CALL' }), DONE],
      'upstream_error',
    ],
    ['a number of its own', [delta({ content: 'a' }), { data: '{"code":50501,"message":"secret"}' }], 'upstream_error'],
    ['a list of faults', [{ data: '{"success":false,"errors":[{"code":3040,"message":"secret"}]}' }], 'upstream_error'],
    [
      'a policy of any name',
      [delta({ content: 'a' }), { data: '{"error":{"message":"secret","code":"health_policy_violation"}}' }],
      'content_policy_violation',
    ],
    [
      'a bad outcome',
      [{ data: '{"choices":null,"input_sensitive":true,"base_resp":{"status_code":1026,"status_msg":"secret"}}' }],
      'content_policy_violation',
    ],
  ])('%s', (_, frames, code) => {
    const events = decode(frames)
    expect(failure(events)?.code as string).toBe(code)
    expect(failure(events)?.message).not.toContain('secret')
    expect(events.filter(({ type }) => type === 'finish' || type === 'error')).toHaveLength(1)
  })

  test('a call that is cut off gets no end', () => {
    expect(decode([call(0, { name: 'f', arguments: '{"a' }, 'A')]).map(({ type }) => type)).toEqual([
      'start',
      'tool-start',
      'tool-delta',
      'error',
    ])
  })
})

describe('undoing the changes of the request', () => {
  const undo: Undo = {
    jsonTool: 'json',
    tools: { fs__read: { name: 'read', namespace: 'fs', kind: 'function' }, patch: { name: 'patch', kind: 'custom' } },
  }

  test('a call of the forced tool becomes text', () => {
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

  test('the forced tool without arguments gives an empty object, not an empty text', () => {
    const frames = [call(0, { name: 'json', arguments: '' }, 'A'), stop('tool_calls')]
    expect(parts(frames, undo)).toEqual([{ type: 'text', text: '{}' }])
    const tool_calls = [{ id: 'A', type: 'function', function: { name: 'json', arguments: '' } }]
    const message = { role: 'assistant', content: null, tool_calls }
    const body = { id: 'x', choices: [{ index: 0, message, finish_reason: 'tool_calls' }] }
    expect(chatCompletions.decodeResponse(body, undo).parts).toEqual([{ type: 'text', text: '{}' }])
  })

  test('names, namespaces and kinds of tools are restored', () => {
    const frames = [
      call(0, { name: 'fs__read', arguments: '{}' }, 'A'),
      call(1, { name: 'patch', arguments: '{"input":"free"}' }, 'B'),
      stop('tool_calls'),
    ]
    const due: AssistantPart[] = [
      { type: 'tool-call', id: 'A', name: 'read', namespace: 'fs', kind: 'function', input: '{}' },
      { type: 'tool-call', id: 'B', name: 'patch', kind: 'custom', input: 'free' },
    ]
    expect(parts(frames, undo)).toEqual(due)
    const tool_calls = [
      { id: 'A', type: 'function', function: { name: 'fs__read', arguments: '{}' } },
      { id: 'B', type: 'function', function: { name: 'patch', arguments: '{"input":"free"}' } },
    ]
    const body = { id: 'x', choices: [{ index: 0, message: { tool_calls }, finish_reason: 'tool_calls' }] }
    expect(chatCompletions.decodeResponse(body, undo).parts).toEqual(due)
  })
})

describe('where its server says what ended an answer', () => {
  const undo: Undo = { stop: ['END', 'x'] }

  test.each<[string, JsonObject, { finish: string; stopSequence?: string }]>([
    ['a stop sequence', { stop_reason: 'END' }, { finish: 'stop-sequence', stopSequence: 'END' }],
    ['by another name', { matched_stop: 'x' }, { finish: 'stop-sequence', stopSequence: 'x' }],
    ['the number of a token', { stop_reason: 151645, matched_stop: 2 }, { finish: 'stop' }],
    ['nothing', { stop_reason: null }, { finish: 'stop' }],
    ['a word that was not asked for', { stop_reason: 'end_turn' }, { finish: 'stop' }],
    ['a stop sequence beside a cut', { stop_reason: 'END', finish_reason: 'length' }, { finish: 'length' }],
  ])('%s', (_, told, due) => {
    const choice = { finish_reason: 'stop', ...told }
    const streamed = fold(decode([delta({ content: 'a' }), chunk({ delta: {}, ...choice }), DONE], undo))
    const whole = chatCompletions.decodeResponse(
      { id: 'x', choices: [{ index: 0, message: { content: 'a' }, ...choice }] },
      undo,
    )
    for (const { finish, stopSequence } of [streamed, whole]) {
      expect({ finish, ...(stopSequence === undefined ? {} : { stopSequence }) } as typeof due).toEqual(due)
    }
  })
})

test('an answer that was filtered before its first output may have no message', () => {
  const { parts, finish, usage } = chatCompletions.decodeResponse({
    id: 'x',
    choices: [{ index: 0, finish_reason: 'content_filter', content_filter_results: { hate: { filtered: true } } }],
    usage: { prompt_tokens: 3, completion_tokens: 2 },
  })
  expect({ parts, finish, usage }).toEqual({ parts: [], finish: 'content-filter', usage: { input: 3, output: 2 } })
})

test.each([undefined, 0])('the text and the calls of one answer may be choices of one index: %p', (index) => {
  const choice = (message: JsonObject) => ({
    ...(index === undefined ? {} : { index }),
    finish_reason: 'tool_calls',
    message: { role: 'assistant', ...message },
  })
  const calls = (id: string) => ({ tool_calls: [{ id, type: 'function', function: { name: 'f', arguments: '{}' } }] })
  const said = choice({ content: 'a' })
  const { parts, finish } = chatCompletions.decodeResponse({ choices: [said, choice(calls('A')), choice(calls('B'))] })
  expect(parts).toEqual([
    { type: 'text', text: 'a' },
    { type: 'tool-call', id: 'A', name: 'f', kind: 'function', input: '{}' },
    { type: 'tool-call', id: 'B', name: 'f', kind: 'function', input: '{}' },
  ])
  expect(finish).toBe('tool-calls')
  const other = { ...choice(calls('A')), index: 1 }
  expect(chatCompletions.decodeResponse({ choices: [said, other] }).parts).toEqual([{ type: 'text', text: 'a' }])
})

test('members of a whole answer that are written out empty are none', () => {
  const choice = {
    index: 0,
    finish_reason: 'tool_calls',
    error: {},
    message: {
      content: 'x',
      function_call: { name: '', arguments: '' },
      audio: {},
      tool_calls: [{ id: 'A', custom: {}, function: { name: 'f', arguments: '{}' }, extra_content: {} }],
    },
  }
  const body = { id: 'x', error: { message: '' }, choices: [choice] }
  expect(chatCompletions.faultIn(body)).toBeUndefined()
  expect(chatCompletions.decodeResponse(body).parts).toEqual([
    { type: 'text', text: 'x' },
    { type: 'tool-call', id: 'A', name: 'f', kind: 'function', input: '{}' },
  ])
})

test('a good outcome beside an answer is no failure', () => {
  const members = { input_sensitive: false, base_resp: { status_code: 0, status_msg: '' } }
  const body = { choices: [{ index: 0, message: { content: 'a' }, finish_reason: 'stop' }], ...members }
  expect(chatCompletions.faultIn(body)).toBeUndefined()
  expect(chatCompletions.decodeResponse(body).parts).toEqual([{ type: 'text', text: 'a' }])
})

test.each<[JsonObject, string]>([
  [{ object: 'error', message: 'secret', code: 429 }, 'service_unavailable'],
  [{ choices: null, base_resp: { status_code: 1026, status_msg: 'secret' } }, 'content_policy_violation'],
])('a failure that came with a 200 is told, translated and passing: %j', (body, code) => {
  expect(chatCompletions.faultIn(body)?.code as string).toBe(code)
  expect(() => chatCompletions.decodeResponse(body)).toThrow(expect.objectContaining({ code }))
})

describe('a body that is not an answer', () => {
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
