// A stream that passes to a client of the same wire: what is counted of its output, for answers without usage, and when it
// ends.

import { describe, expect, test } from 'bun:test'
import { chatCompletions } from '../../../src/wire/chat-completions/index.ts'
import { decodeAll } from '../../support/frames.ts'
import { call, chunk, DONE, decode, delta, stop } from './stream.ts'

/** The text a tap has kept of these frames. */
const counted = (frames: { data: string }[]): string => {
  const tap = chatCompletions.tap({ model: 'shown', includeUsage: true, now: 1 })
  for (const frame of frames) tap.see(frame)
  return tap.output.text
}

test.each([{ data: '{"type":"keepalive","sequence_number":3}' }, { event: 'ping', data: '{"type":"ping"}' }])(
  'an event of a relay before the provider is kept from clients, who know none: %j',
  (frame) => {
    const tap = chatCompletions.tap({ model: 'shown', includeUsage: true, now: 1 })
    const seen = [delta({ content: 'a' }), frame, delta({ content: 'b' }), stop(), DONE].map(tap.see)
    expect(seen.map((text) => text === '')).toEqual([false, true, false, false, false])
    expect([tap.output.text, tap.state]).toEqual(['ab', 'done'])
  },
)

describe('the output that is counted', () => {
  test.each([
    ['a text', delta({ content: 'abc' })],
    ['a refusal', delta({ refusal: 'abc' })],
    ['a thought beside an empty text', delta({ content: '', reasoning: 'abc' })],
    ['a thought under its other name', delta({ content: null, reasoning_content: 'abc' })],
    ['a thought under both names', delta({ reasoning_content: 'abc', reasoning: 'abc' })],
    [
      'a thought among the content',
      delta({ content: [{ type: 'thinking', thinking: [{ type: 'text', text: 'abc' }] }] }),
    ],
    [
      'a thought in short among the content',
      delta({ content: [{ type: 'reasoning', summary: [{ type: 'summary_text', text: 'abc' }] }] }),
    ],
    [
      'a text in pieces',
      delta({
        content: [
          { type: 'text', text: 'ab' },
          { type: 'text', text: 'c' },
        ],
      }),
    ],
    ['arguments', call(0, { name: 'f', arguments: 'abc' })],
    ['a call without its list', delta({ tool_calls: { index: 0, function: { name: 'f', arguments: 'abc' } } })],
    ['a legacy call', delta({ function_call: { name: 'f', arguments: 'abc' } })],
    ['a message in place of a delta', chunk({ message: { role: 'assistant', content: 'abc' } })],
    ['free text', delta({ tool_calls: [{ index: 0, custom: { name: 'f', input: 'abc' } }] })],
  ])('%s is counted once', (_, frame) => {
    expect(counted([frame])).toBe('abc')
  })

  test('arguments as an object are counted as they are written', () => {
    expect(counted([call(0, { name: 'f', arguments: { a: 1 } })])).toBe('{"a":1}')
  })

  test('a message that repeats the deltas is not counted again', () => {
    const message = { role: 'assistant', content: 'abc' }
    expect(counted([delta({ content: 'ab' }), delta({ content: 'c' }), chunk({ message }), chunk({ message })])).toBe(
      'abc',
    )
  })

  test('a thought beside a text is counted in every chunk', () => {
    const frame = delta({ content: 'a', reasoning: 'b' })
    expect(counted([frame, frame, frame])).toBe('ababab')
  })
})

test('a model that a chunk names twice is renamed twice, in text that recurs too', () => {
  const tap = chatCompletions.tap({ model: 'shown', includeUsage: true, now: 1 })
  const twice = (content: string) => ({
    data: `{"model":"hidden-1","choices":[{"index":0,"delta":{"content":"${content}"}}],"model":"hidden-2"}`,
  })
  for (const content of ['a', 'b', 'c']) {
    expect(tap.see(twice(content))).toBe(`data: ${twice(content).data.replace(/hidden-./g, 'shown')}\n\n`)
  }
})

describe('the end of a stream without [DONE], with no_done', () => {
  const open = () => chatCompletions.tap({ model: 'shown', includeUsage: true, now: 1, noDone: true })
  const words = delta({ content: 'a' })
  const speech = delta({ audio: { id: 'au', data: 'AA', expires_at: 9 } })
  test.each<[string, { data: string }[], string, 'done' | 'open' | 'failed']>([
    ['a reason', [words, stop()], 'data: [DONE]\n\n', 'done'],
    ['no reason', [words], '', 'open'],
    ['speech that expires', [speech], 'data: [DONE]\n\n', 'done'],
    ['a reason and the marker all the same', [words, stop(), DONE], '', 'done'],
    ['a failure', [words, { data: '{"error":{"message":"x"}}' }], '', 'failed'],
  ])('is the same here as in a translated stream: %s', (_, frames, text, state) => {
    const tap = open()
    for (const frame of frames) tap.see(frame)
    expect([tap.end?.() ?? '', tap.state]).toEqual([text, state])
    const events = decodeAll(chatCompletions.decodeEvents({ noDone: true }), frames)
    expect(events.at(-1)?.type).toBe(state === 'done' ? 'finish' : 'error')
  })

  test('is a failure without no_done', () => {
    const tap = chatCompletions.tap({ model: 'shown', includeUsage: true, now: 1 })
    for (const frame of [words, stop()]) tap.see(frame)
    expect([tap.end?.() ?? '', tap.state]).toEqual(['', 'open'])
    expect(decode([words, stop()]).at(-1)?.type).toBe('error')
  })
})

describe('the end', () => {
  test.each<[string, { data: string }[], 'done' | 'failed']>([
    ['a reason and the marker', [delta({ content: 'a' }), stop(), DONE], 'done'],
    ['a marker with a space behind it', [delta({ content: 'a' }), stop(), { data: '[DONE] ' }], 'done'],
    ['no reason', [delta({ content: 'a' }), DONE], 'failed'],
    ['an empty reason in every chunk', [chunk({ delta: { content: 'a' }, finish_reason: '' }), DONE], 'failed'],
  ])('is the same here as in a translated stream: %s', (_, frames, state) => {
    const tap = chatCompletions.tap({ model: 'shown', includeUsage: true, now: 1 })
    for (const frame of frames) tap.see(frame)
    expect(tap.state).toBe(state)
    expect(decode(frames).at(-1)?.type).toBe(state === 'done' ? 'finish' : 'error')
  })
})

describe('the reason of a stream with calls', () => {
  const named = call(0, { name: 'look', arguments: '' })
  const written = call(0, { arguments: '{"at":"gate"}' })
  const reasonsOf = (looseCalls: boolean, frames: { data: string }[]): unknown[] => {
    const tap = chatCompletions.tap({ model: 'shown', includeUsage: true, now: 1, looseCalls })
    return frames
      .map((frame) => tap.see(frame).slice('data: '.length))
      .filter((data) => data.startsWith('{'))
      .flatMap((data) => JSON.parse(data).choices[0].finish_reason ?? [])
  }
  test.each<[string, boolean, { data: string }[], string]>([
    ['is that of calls where its server says stop', true, [named, written, stop()], 'tool_calls'],
    ['is that of calls without arguments, too', true, [named, stop()], 'tool_calls'],
    ['stays as it is of others', false, [named, written, stop()], 'stop'],
    ['stays as it is without calls', true, [delta({ content: 'Hi' }), stop()], 'stop'],
    [
      'stays as it is where a list of calls holds none',
      true,
      [delta({ content: 'Hi', tool_calls: [] }), stop()],
      'stop',
    ],
    ['is that of half a call', true, [named, call(0, { arguments: '{"at":' }), stop()], 'length'],
  ])('%s', (_, looseCalls, frames, due) => {
    expect(reasonsOf(looseCalls, [...frames, DONE])).toEqual([due])
  })
})

test('calls that do not say where they belong are placed', () => {
  const tap = chatCompletions.tap({ model: 'shown', includeUsage: true, now: 1, looseCalls: true })
  const made = (id: string, name: string) => ({ id, type: 'function', function: { name, arguments: '{' } })
  const frames = [
    delta({ tool_calls: [made('a', 'look'), made('b', 'wait')] }),
    delta({ tool_calls: [{ function: { arguments: '}' } }] }),
    delta({ tool_calls: [made('c', 'look')] }),
    delta({ tool_calls: [{ index: 7, ...made('d', 'look') }] }),
    delta({ tool_calls: [made('e', 'look')] }),
  ]
  const places = frames.map((frame) =>
    JSON.parse(tap.see(frame).slice('data: '.length)).choices[0].delta.tool_calls.map(
      ({ index }: { index: number }) => index,
    ),
  )
  expect(places).toEqual([[0, 1], [1], [2], [7], [8]])
})
