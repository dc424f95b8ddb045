// Reading free text that was sent as the only argument of a function, however it is split.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { freeText, freeTextOf } from '../../../src/wire/tools/undo.ts'

const read = (pieces: string[]) => {
  const reader = freeText()
  const told = pieces.map((piece) => reader.push(piece))
  const { rest, cut } = reader.end()
  return { told, text: told.join('') + rest, cut }
}

/** JSON of the text with some of its characters as escapes. */
const written = (text: string, escaped: boolean): string => {
  const plain = JSON.stringify({ input: text })
  if (!escaped) return plain
  return plain.replace(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

describe('free text', () => {
  test('is read completely before the end, in any pieces', () =>
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', maxLength: 20 }),
        fc.boolean(),
        fc.array(fc.nat(9), { minLength: 1 }),
        (text, escaped, sizes) => {
          const json = written(text, escaped)
          const pieces: string[] = []
          for (let at = 0, turn = 0; at < json.length; turn++) {
            const size = (sizes[turn % sizes.length] ?? 0) + 1
            pieces.push(json.slice(at, at + size))
            at += size
          }
          const { told, text: all, cut } = read(pieces)
          expect(all).toBe(text)
          expect(told.join('')).toBe(text)
          expect(cut).toBe(false)
        },
      ),
    ))

  test('is read piece by piece, without splitting surrogate pairs', () => {
    expect(read(['{"in', 'put": "a', 'b\\', 'n\\ud83d', '\\u', 'de00', 'c"', '}'])).toEqual({
      told: ['', 'a', 'b', '\n', '', '😀', 'c', ''],
      text: 'ab\n😀c',
      cut: false,
    })
  })

  test('that is missing takes linear time in many pieces', () => {
    const pieces = Array.from({ length: 500_000 }, () => 'abcd')
    expect(read(['{"patch":"', ...pieces, '"}']).text).toHaveLength(2_000_000)
  })

  test('is found at the end after any white space', () => {
    expect(read([' '.repeat(300), '{"input":', '"x"}'])).toMatchObject({ text: 'x', cut: false })
  })

  test.each([
    ['', '', false],
    ['{}', '', false],
    ['plain words', 'plain words', false],
    ['"line\\nbreak"', 'line\nbreak', false],
    ['{"patch":"x"}', 'x', false],
    ['{"patch":"x","why":"y"}', '{"patch":"x","why":"y"}', false],
    ['{"patch":1}', '{"patch":1}', false],
    ['{"command":["edit","one\\ntwo"]}', 'one\ntwo', false],
    ['{"command":["ls","-la"]}', '{"command":["ls","-la"]}', false],
    ['{"command":["edit","one\\ntwo","-f"]}', '{"command":["edit","one\\ntwo","-f"]}', false],
    ['{"command":["edit it","one\\ntwo"]}', '{"command":["edit it","one\\ntwo"]}', false],
    ['{"input":1,"patch":"x"}', '{"input":1,"patch":"x"}', false],
    ['{"why":"y","input":"x"}', 'x', false],
    ['{"input":"x","why":"y"}', 'x', false],
    ['{"input":{"a":1}}', '{"input":{"a":1}}', false],
    ['{"input":"line\nbreak\\t"}', 'line\nbreak\t', false],
    ['{"in', '{"in', true],
    ['{"input":', '{"input":', true],
    ['{"input":"half', 'half', true],
    ['{"input":"half\\', 'half', true],
    ['{"input":"whole"', 'whole', true],
  ])('of %j is %j, cut %p', (input, text, cut) => {
    expect(freeTextOf(input)).toEqual({ text, cut })
  })
})
