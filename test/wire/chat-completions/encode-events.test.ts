// Streams and answers as this wire's clients read them.

import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../../src/errors.ts'
import type { ChatEvent, FinishReason } from '../../../src/ir/event.ts'
import { fold } from '../../../src/ir/fold.ts'
import type { JsonObject } from '../../../src/ir/json.ts'
import { chatCompletions } from '../../../src/wire/chat-completions/index.ts'
import { sealTag } from '../../../src/wire/seal.ts'
import { checkChatCompletionsStream } from '../../support/automaton/chat-completions.ts'
import { framesOf } from '../../support/frames.ts'
import { ask, deltas, encode } from './stream.ts'

describe('a client’s stream', () => {
  const start: ChatEvent = { type: 'start', id: 'msg_01' }
  const finish = (reason: FinishReason): ChatEvent => ({
    type: 'finish',
    reason,
    usage: { input: 3, cacheRead: 2, output: 4, reasoning: 1 },
  })

  test('a text delta is written at once', () => {
    const encoder = chatCompletions.encodeEvents(ask())
    encoder.push(start)
    encoder.push({ type: 'text-start', part: 0 })
    expect(encoder.push({ type: 'text-delta', part: 0, text: 'a"\n' })).toContain('"content":"a\\"\\n"')
  })

  test('ids are put into the wire’s form, or kept where they have it', () => {
    const frames = framesOf(encode([start, finish('stop')]))
    expect(JSON.parse(frames[0]?.data ?? '')).toMatchObject({
      id: 'chatcmpl-msg_01',
      created: 1_790_000_000,
      model: 'vendorB-5.5',
    })
  })

  test('the usage chunk comes last, and only if the client asked for it', () => {
    const shown = framesOf(encode([start, finish('stop')], { stream_options: { include_usage: true } }))
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

  test('overlapping calls are written one after the other', () => {
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
    expect(checkChatCompletionsStream(framesOf(text))).toEqual([])
  })

  test('an error ends the stream in one frame, without [DONE], and closes nothing', () => {
    const error = new GatewayError('upstream_error', 'broke')
    const text = encode([
      start,
      { type: 'tool-start', part: 0, id: 'A', name: 'f', kind: 'function' },
      { type: 'error', error },
      finish('stop'),
    ])
    const last = framesOf(text).at(-1)
    expect(last?.event).toBe('error')
    expect(JSON.parse(last?.data ?? '')).toEqual({
      error: { message: 'broke', type: 'api_error', code: 'upstream_error', param: null },
    })
    expect(text).not.toContain('[DONE]')
    expect(text).not.toContain('{}"')
    expect(checkChatCompletionsStream(framesOf(text))).toEqual([])
  })

  test('pings and late usage write nothing', () => {
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

  test('clients that send functions get function_call', () => {
    const events: ChatEvent[] = [
      start,
      { type: 'tool-start', part: 0, id: 'A', name: 'f', kind: 'function' },
      { type: 'tool-delta', part: 0, text: '{"a":1}' },
      { type: 'tool-end', part: 0 },
      // There is no room for another.
      { type: 'tool-start', part: 1, id: 'B', name: 'g', kind: 'function' },
      { type: 'tool-delta', part: 1, text: '{"b":2}' },
      { type: 'tool-end', part: 1 },
      finish('tool-calls'),
    ]
    const text = encode(events, { functions: [{ name: 'f' }] })
    expect(deltas(text).filter(({ function_call: call }) => call !== undefined)).toEqual([
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

  test.each<[JsonObject, boolean]>([
    [{ stream_options: { include_usage: true } }, true],
    [{ usage: { include: true } }, true],
    [{ usage: { include: false } }, false],
    [{}, false],
  ])('a client that sends %j reads the figures: %p', (asking, shown) => {
    expect(encode([start, finish('stop')], asking).includes('"completion_tokens":4')).toBe(shown)
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

  test.each<[JsonObject]>([
    [{ reasoning: { effort: 'high' } }],
    [{ include_reasoning: true }],
    [{ reasoning_format: 'parsed', reasoning_effort: 'high' }],
  ])('a client that asks for thoughts by %j finds them where such clients read', (asking) => {
    const seal = { origin: 'messages' as const, value: { signature: 's' } }
    const events: ChatEvent[] = [
      start,
      { type: 'reasoning-start', part: 0, full: true },
      { type: 'reasoning-delta', part: 0, text: 'hm' },
      { type: 'reasoning-end', part: 0, seal },
      { type: 'text-start', part: 1 },
      { type: 'text-delta', part: 1, text: 'a' },
      { type: 'text-end', part: 1 },
      finish('stop'),
    ]
    expect(deltas(encode(events, asking))[1]).toEqual({ reasoning_content: 'hm', reasoning: 'hm' })
    const thought = { type: 'reasoning' as const, text: 'hm', full: true, seal }
    const body = chatCompletions.encodeResponse(fold(events), ask(asking))
    expect(body.choices).toMatchObject([
      {
        message: {
          reasoning_content: 'hm',
          reasoning: 'hm',
          reasoning_details: [{ type: 'reasoning.text', text: 'hm', signature: sealTag(thought) }],
        },
      },
    ])
    expect(chatCompletions.decodeResponse(body).parts).toEqual([thought, { type: 'text', text: 'a' }])
  })

  test('ranges of citations are shifted where texts are joined', () => {
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
