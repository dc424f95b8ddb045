// Calls whose arguments a server has written as the JSON of a text: they are read to the object within.

import { describe, expect, test } from 'bun:test'
import type { ChatEvent, ChatResponse } from '../../src/ir/event.ts'
import { requireWhole, wholeCalls } from '../../src/ir/whole.ts'

const twice = (text: string): string => JSON.stringify(JSON.stringify(text))
const object = '{"pattern": "**/*.md", "id": 12345678901234567890}'

describe.each([
  ['an object', object, object],
  ['an object in a text', JSON.stringify(object), object],
  ['after white space', ` \n${JSON.stringify(object)} `, object],
  ['an object in a text in a text', twice(object), object],
  ['nothing in a text', '""', '{}'],
  ['null', ' null', '{}'],
  ['null in a text', '"null"', '{}'],
  ['an empty list', '[ ]', '{}'],
])('%s', (_, written, read) => {
  test('as a whole', () => {
    const part = { type: 'tool-call', id: 'a', name: 'f', kind: 'function', input: written } as const
    const answer: ChatResponse = { id: '', parts: [part], finish: 'tool-calls', usage: {} }
    expect(requireWhole(answer).parts).toEqual([{ ...part, input: read }])
  })

  test('in pieces of any size', () => {
    for (const size of [1, 3, 1000]) {
      const whole = wholeCalls()
      const pieces = written.match(new RegExp(`.{1,${size}}`, 'gs')) ?? []
      const events: ChatEvent[] = [
        { type: 'tool-start', part: 0, id: 'a', name: 'f', kind: 'function' },
        ...pieces.map((text): ChatEvent => ({ type: 'tool-delta', part: 0, text })),
        { type: 'tool-end', part: 0 },
        { type: 'finish', reason: 'tool-calls', usage: {} },
      ]
      const out = events.flatMap((event) => whole([event]))
      expect(out.map((event) => (event.type === 'tool-delta' ? event.text : '')).join('')).toBe(read)
      expect(out.map(({ type }) => type).filter((type) => type !== 'tool-delta')).toEqual([
        'tool-start',
        'tool-end',
        'finish',
      ])
    }
  })
})

test.each(['"{\\"a\\": 1', '"words"', '"[1]"', 'nul', 'none', '[1]', '['])(
  'a text without an object breaks off: %s',
  (written) => {
    const whole = wholeCalls()
    const events: ChatEvent[] = [
      { type: 'tool-start', part: 0, id: 'a', name: 'f', kind: 'function' },
      { type: 'tool-delta', part: 0, text: written },
      { type: 'tool-end', part: 0 },
      { type: 'finish', reason: 'tool-calls', usage: {} },
    ]
    expect(events.flatMap((event) => whole([event])).at(-1)?.type).toBe('error')
  },
)
