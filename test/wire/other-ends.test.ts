// Streams whose vendors end them in another way than their wire says.

import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import type { ChatCodec } from '../../src/wire/codec.ts'
import { messages } from '../../src/wire/messages/index.ts'
import { responses } from '../../src/wire/responses/index.ts'

const frame = (data: JsonObject) => ({ event: String(data.type), data: JSON.stringify(data) })

const passed = (codec: Pick<ChatCodec, 'tap'>, events: JsonObject[]) => {
  const tap = codec.tap({ model: 'shown', includeUsage: true, now: 1 })
  const seen = events.map((event) => tap.see(frame(event)))
  const end = tap.end?.() ?? ''
  return { last: (seen.at(-1) ?? '') + end, tap }
}

const read = (codec: Pick<ChatCodec, 'decodeEvents'>, events: JsonObject[]) => {
  const decoder = codec.decodeEvents()
  const told = events.flatMap((event) => decoder.push(frame(event)))
  const { mayEnd } = decoder
  return { told: [...told, ...decoder.end()], mayEnd }
}

describe('a messages stream without its last event', () => {
  const begun = [
    { type: 'message_start', message: { id: 'msg_7', model: 'up', content: [], usage: { input_tokens: 4 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
    { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Rain.' } },
    { type: 'content_block_stop', index: 0 },
  ]
  const delta = { type: 'message_delta', delta: { stop_reason: 'end_turn' } }
  const counted = { ...delta, usage: { output_tokens: 3 } }

  test.each<[string, JsonObject[], boolean]>([
    ['the reason and the figures', [...begun, counted], true],
    ['the reason alone', [...begun, delta], false],
    ['the figures alone', [...begun, { ...counted, delta: {} }], false],
    ['a block alone', begun, false],
    ['nothing', [], false],
  ])('has ended behind %s: %p', (_, events, ends) => {
    const { last, tap } = passed(messages, events)
    expect([tap.state, last.endsWith('event: message_stop\ndata: {"type":"message_stop"}\n\n')]).toEqual([
      ends ? 'done' : 'open',
      ends,
    ])
    const { told, mayEnd } = read(messages, events)
    expect([told.at(-1)?.type ?? '', mayEnd === true]).toEqual([ends ? 'finish' : 'error', ends])
  })
})

describe('a responses stream whose end is named for any', () => {
  const text = { type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'Rain.' }] }
  const response = { id: 'resp_7', model: 'up', output: [text], usage: { input_tokens: 4, output_tokens: 3 } }
  const begun = { type: 'response.created', response: { ...response, output: [], status: 'in_progress' } }

  test.each<[string, JsonObject, string, string]>([
    ['completed', { status: 'completed' }, 'response.completed', 'stop'],
    ['', {}, 'response.completed', 'stop'],
    [
      'incomplete',
      { status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } },
      'response.incomplete',
      'length',
    ],
    ['failed', { status: 'failed', error: { code: 'server_error', message: 'x' } }, '', ''],
  ])('is the one that its status says: %p', (_, more, name, reason) => {
    const events = [begun, { type: 'response.done', response: { ...response, ...more } }]
    const { last, tap } = passed(responses, events)
    expect(tap.state).toBe(name === '' ? 'failed' : 'done')
    expect([...last.matchAll(/response\.\w+/g)].map(([word]) => word)).toEqual(name === '' ? [] : [name, name])
    const { told } = read(responses, events)
    const end = told.at(-1)
    expect(end?.type === 'finish' ? end.reason : '').toBe(reason)
    expect(end?.type).toBe(name === '' ? 'error' : 'finish')
  })
})

/** As servers of another wire tell it, that speak these, too. */
describe.each([
  ['messages', messages],
  ['responses', responses],
] as const)('an error that comes by no name in a %s stream', (_, codec) => {
  test.each<[JsonObject, string]>([
    [{ error: { message: 'x', code: 429 } }, 'service_unavailable'],
    [{ error: { message: 'x', code: 'server_is_overloaded' } }, 'service_unavailable'],
    [{ error: { message: 'x', type: 'server_error', code: 500 } }, 'upstream_error'],
    [{ message: 'x', code: 'content_policy_violation' }, 'content_policy_violation'],
    [{ x: 1 }, 'upstream_error'],
  ])('is of its class: %j is %s', (data, code) => {
    const tap = codec.tap({ model: 'shown', includeUsage: true, now: 1 })
    tap.see({ data: JSON.stringify(data) })
    expect([tap.state, tap.error?.code as string]).toEqual(['failed', code])
  })
})
