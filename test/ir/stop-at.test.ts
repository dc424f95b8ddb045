// Stop sequences applied by the gateway.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { ChatEvent } from '../../src/ir/event.ts'
import { stopAt } from '../../src/ir/stop-at.ts'

const finish: ChatEvent = { type: 'finish', reason: 'stop', usage: { input: 1, output: 9 } }
/** Between the pieces stands what is no part of the answer. */
const text = (part: number, ...pieces: string[]): ChatEvent[] => [
  { type: 'text-start', part },
  ...pieces.flatMap((piece): ChatEvent[] => [{ type: 'text-delta', part, text: piece }, { type: 'ping' }]),
  { type: 'text-end', part },
]
const run = (stops: string[], events: ChatEvent[]): ChatEvent[] => {
  const see = stopAt(stops)
  return events.flatMap((event) => see([event]))
}
const told = (events: ChatEvent[], part = 0): string =>
  events.map((event) => (event.type === 'text-delta' && event.part === part ? event.text : '')).join('')

/** The same on the whole text: everything before the stop sequence that is complete first. */
const cut = (whole: string, stops: string[]): { text: string; stop: string | undefined } => {
  for (let end = 1; end <= whole.length; end++) {
    const met = stops.filter((stop) => whole.slice(0, end).endsWith(stop)).sort((a, b) => b.length - a.length)[0]
    if (met !== undefined) return { text: whole.slice(0, end - met.length), stop: met }
  }
  return { text: whole, stop: undefined }
}

const piece = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\n'), maxLength: 6 })
const stops = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\n'), minLength: 1, maxLength: 4 }), {
  maxLength: 4,
})

describe('a text', () => {
  test('ends where the first stop sequence begins, however it is split into deltas', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 12, size: 'max' }), stops, (pieces, sought) => {
        const events = run(sought, [...text(0, ...pieces), finish])
        const expected = cut(pieces.join(''), sought)
        expect(told(events)).toBe(expected.text)
        expect(events.some((event) => 'logprobs' in event)).toBe(false)
        expect(events.filter(({ type }) => type === 'text-end')).toHaveLength(1)
        expect(events.at(-1)).toEqual(
          expected.stop === undefined ? finish : { ...finish, reason: 'stop-sequence', stopSequence: expected.stop },
        )
      }),
      { numRuns: 500 },
    )
  })

  test('is passed on at once while no stop sequence may have begun', () => {
    const see = stopAt(['\nEND'])
    see([{ type: 'text-start', part: 0 }])
    const delta = (piece: string): string => told(see([{ type: 'text-delta', part: 0, text: piece }]))
    expect(['One', '\nE.', ', two\n', 'E', 'X\n\nEN', 'D', 'three'].map(delta)).toEqual([
      'One',
      '\nE.',
      ', two',
      '',
      '\nEX\n',
      '',
      '',
    ])
  })

  test('ends where a stop sequence begins within a failed beginning of itself', () => {
    expect(told(run(['abca'], [...text(0, 'aa', 'bca', 'x'), finish]))).toBe('a')
  })

  test('keeps the log probabilities of the tokens that are passed on, and no others', () => {
    const token = (token: string) => ({ token, logprob: -1, bytes: [], top: [] })
    const see = stopAt(['END'])
    const out = see([
      { type: 'text-start', part: 0 },
      { type: 'text-delta', part: 0, text: 'One E', logprobs: [token('One'), token(' E')] },
      { type: 'text-delta', part: 0, text: 'x', logprobs: [token('x')] },
      { type: 'text-delta', part: 0, text: ' two END', logprobs: [token(' two'), token(' END')] },
    ])
    const tokens = out.flatMap((event) => (event.type === 'text-delta' ? (event.logprobs ?? []) : []))
    expect(tokens.map((each) => each.token)).toEqual(['One', ' E', 'x', ' two'])
  })

  test('keeps them where a stop sequence is split into deltas', () => {
    const token = (token: string) => ({ token, logprob: -1, bytes: [], top: [] })
    const deltas = [['One', ' E'], ['N'], ['x', ' two', 'E'], ['N', 'D', '!']].map(
      (tokens): ChatEvent => ({ type: 'text-delta', part: 0, text: tokens.join(''), logprobs: tokens.map(token) }),
    )
    const out = run(['END'], [{ type: 'text-start', part: 0 }, ...deltas, { type: 'text-end', part: 0 }, finish])
    expect(told(out)).toBe('One ENx two')
    const tokens = out.flatMap((event) => (event.type === 'text-delta' ? (event.logprobs ?? []) : []))
    expect(tokens.map((each) => each.token)).toEqual(['One', ' E', 'N', 'x', ' two'])
  })
})

test('parts that begin after it are left out; parts that were open go on', () => {
  const call = { type: 'tool-start', id: 'c', name: 'f', kind: 'function' } as const
  const events = run(
    ['END'],
    [
      { ...call, part: 0 },
      { type: 'text-start', part: 1 },
      { type: 'text-delta', part: 1, text: 'a END b' },
      { type: 'tool-delta', part: 0, text: '{}' },
      { type: 'citation', part: 1, citation: { kind: 'url', url: 'https://a.example' } },
      { type: 'text-end', part: 1 },
      { type: 'tool-end', part: 0 },
      { ...call, part: 2 },
      { type: 'tool-delta', part: 2, text: '{}' },
      { type: 'tool-end', part: 2 },
      { type: 'opaque', part: 3, value: { type: 'opaque', origin: 'responses', value: {} } },
      ...text(4, 'more'),
      { type: 'usage', usage: { output: 3 } },
      finish,
    ],
  )
  const shown = events.filter(({ type }) => type !== 'ping')
  expect(shown.map((event) => `${event.type} ${'part' in event ? event.part : ''}`.trim())).toEqual([
    'tool-start 0',
    'text-start 1',
    'text-delta 1',
    'text-end 1',
    'tool-delta 0',
    'tool-end 0',
    'usage',
    'finish',
  ])
})

test('an error is passed on, before and after a stop sequence', () => {
  const events = run(['END'], [...text(0, 'a END b'), { type: 'error', error: new Error('x') as never }])
  expect(events.at(-1)?.type).toBe('error')
})
