// Thoughts between tags in the text: parted from it, however it is cut into deltas; every other answer untouched.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ChatEvent, FinishReason } from '../../src/ir/event.ts'
import { fold, unfold } from '../../src/ir/fold.ts'
import type { AssistantPart } from '../../src/ir/part.ts'
import { inTags, type TaggedThoughts, taggedThoughts } from '../../src/ir/tagged-thoughts.ts'
import { chatResponse } from '../support/arbitrary/answer.ts'

const text = (value: string): AssistantPart => ({ type: 'text', text: value })
const thought = (value: string): AssistantPart => ({ type: 'reasoning', text: value, full: true })
const call: AssistantPart = { type: 'tool-call', id: 'c', name: 'f', kind: 'function', input: '{}' }

/** Each text in pieces of so many characters, in turn. */
const events = (parts: AssistantPart[], sizes: number[] = [1], finish: FinishReason = 'stop'): ChatEvent[] =>
  unfold({ id: 'a', parts, finish, usage: {} }).flatMap((event): ChatEvent[] => {
    if (event.type !== 'text-delta' || event.logprobs !== undefined) return [event]
    const pieces: ChatEvent[] = []
    for (let at = 0, nth = 0; at < event.text.length; nth++) {
      const size = sizes[nth % sizes.length] ?? 1
      pieces.push({ ...event, text: event.text.slice(at, at + size) })
      at += size
    }
    return pieces
  })
const seen = (all: ChatEvent[], how: TaggedThoughts = {}): AssistantPart[] => {
  const see = taggedThoughts(how)
  return fold(all.flatMap((event) => see([event]))).parts
}

test.each<[string, AssistantPart[], AssistantPart[]]>([
  ['and what is said behind it', [text('<think>\nHm.\n</think>\n\nHi.')], [thought('Hm.'), text('Hi.')]],
  ['behind white space', [text('\n <think>Hm.</think>Hi.')], [thought('Hm.'), text('Hi.')]],
  ['in the tags of other templates', [text('[THINK]Hm.[/THINK]Hi.')], [thought('Hm.'), text('Hi.')]],
  ['of which nothing is left', [text('<think>\n\n</think>\n\nHi.')], [text('Hi.')]],
  ['before a call', [text('<think>Hm.</think>\n\n'), call], [thought('Hm.'), call]],
  [
    'before each of several texts',
    [text('<think>One.</think>'), call, text('<think>Two.</think>Hi.')],
    [thought('One.'), call, thought('Two.'), text('Hi.')],
  ],
  ['that was cut', [text('<think>Hm, so </thi')], [thought('Hm, so </thi')]],
  ['that holds a tag', [text('<think>a <think> b</think>Hi.')], [thought('a <think> b'), text('Hi.')]],
])('a thought %s', (_, parts, due) => expect(seen(events(parts))).toEqual(due))

test.each<[string, AssistantPart[]]>([
  ['a tag within a text', [text('Use <think> tags.</think>')]],
  ['a tag that people ask for', [text('<thinking>Hm.</thinking>Hi.')]],
  ['the beginning of a tag', [text('<th')]],
  ['a tag behind a thought that is told as one', [thought('Hm.'), text('<think>x</think>')]],
  ['a tag in a later text', [text('Hi.'), call, text('<think>x</think>')]],
  ['white space', [text(' '.repeat(500))]],
])('%s stays', (_, parts) => expect(seen(events(parts))).toEqual(parts))

test.each<[string, string, FinishReason, AssistantPart[]]>([
  ['ends at its tag', 'Hm.</think>\n\nHi.', 'stop', [thought('Hm.'), text('Hi.')]],
  ['may be opened all the same', '<think>Hm.</think>Hi.', 'stop', [thought('Hm.'), text('Hi.')]],
  ['is the answer where it has no end', 'Hi.', 'stop', [thought('Hi.'), text('Hi.')]],
  ['is cut at the cap', 'Hm, s', 'length', [thought('Hm, s')]],
])('a thought that the template has begun %s', (_, whole, finish, due) =>
  expect(seen(events([text(whole)], [2], finish), { begun: true })).toEqual(due),
)

test('a citation and the tokens of what is said keep their places', () => {
  const token = (value: string) => ({ token: value, logprob: -1, top: [] })
  const logprobs = ['<think>', 'Hm.', '</think>', '\n\n', 'Hi', '.'].map(token)
  const citation = { kind: 'url' as const, url: 'https://a.test', start: 20, end: 22 }
  const events = unfold({
    ...{ id: 'a', finish: 'stop', usage: {} },
    parts: [{ type: 'text', text: '<think>Hm.</think>\n\nHi.', logprobs, citations: [citation] }],
  })
  const behind = (event: ChatEvent) => Number(event.type === 'citation') + 2 * Number(event.type === 'finish')
  for (const order of [events, events.toSorted((a, b) => behind(a) - behind(b))])
    expect(seen(order)[1]).toEqual({
      ...{ type: 'text', text: 'Hi.', logprobs: ['Hi', '.'].map(token) },
      citations: [{ ...citation, start: 0, end: 2 }],
    })
})

test('a thought is told as it comes, not at its end', () => {
  const stream = taggedThoughts({})
  stream([{ type: 'text-start', part: 0 }])
  const heard = ['<think>', 'One', ' two', '</think>', 'Hi'].map((piece) =>
    stream([{ type: 'text-delta', part: 0, text: piece }])
      .map((event) => ('text' in event ? event.text : event.type))
      .join('|'),
  )
  expect(heard).toEqual(['', 'reasoning-start|One', ' two', 'reasoning-end', 'text-start|Hi'])
})

test('white space without end within a thought is passed on, in linear time', () => {
  const see = taggedThoughts({})
  see([{ type: 'text-start', part: 0 }])
  const delta = (piece: string) =>
    see([{ type: 'text-delta', part: 0, text: piece }]).map((event) => ('text' in event ? event.text.length : 0))
  delta('<think>a')
  const told = Array.from({ length: 10_000 }, () => delta(' '.repeat(100))).flat()
  expect(told.reduce((sum, length) => sum + length, 0)).toBe(1_000_000 - 200)
})

describe('laws', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })
  const words = fc
    .string({ unit: fc.constantFrom('a', '<', '/', 'think>', ' ', '\n', '['), minLength: 1, maxLength: 12 })
    .filter((one) => one === one.trim() && !one.includes('</think>') && one !== '')

  test('whatever the deltas, a thought and a text are those that were written', () => {
    fc.assert(
      fc.property(words, words, sizes, (hm, hi, cut) => {
        expect(seen(events([text(inTags(hm) + hi)], cut))).toEqual([thought(hm), text(hi)])
      }),
    )
  })

  test('an answer that begins with no tag is untouched', () => {
    fc.assert(
      fc.property(chatResponse, ({ parts }) => {
        expect(seen(events(parts))).toEqual(fold(events(parts)).parts)
      }),
    )
  })
})
