// Laws of the outline: it equals the parsed text except for the ends of long strings.

import { heapStats } from 'bun:jsc'
import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { outline } from '../../src/lib/json-outline.ts'

const utf8 = new TextEncoder()

/** Strings on both sides of the bound, with what makes strings hard to find: quotes, escapes, brackets, other scripts. */
const piece = fc.constantFrom('a', ' ', '"', '\\', '\\\\"', '\n', '{', '[', ']}', ',', ':', 'ខ្មែរ', '😀', '\u2028')
const text = fc.oneof(
  { weight: 3, arbitrary: fc.array(piece, { maxLength: 6 }).map((pieces) => pieces.join('')) },
  {
    weight: 1,
    arbitrary: fc
      .tuple(fc.array(piece, { maxLength: 40, size: 'max' }), fc.integer({ min: 1, max: 120 }))
      .map(([pieces, times]) => pieces.join('').repeat(times)),
  },
)
const { value } = fc.letrec<{ value: unknown; object: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.constantFrom(null, true, false, 0, -1.5, 1e300),
    fc.array(tie('value'), { maxLength: 4 }),
    tie('object'),
  ),
  object: fc.dictionary(text, tie('value'), { maxKeys: 4 }),
}))
const object = fc.dictionary(text, value, { maxKeys: 5 })

/** Long strings, names among them, by their first characters: what an outline may keep of them. */
const shortened = (given: unknown): unknown => {
  if (typeof given === 'string') return given.slice(0, 1)
  if (Array.isArray(given)) return given.map(shortened)
  if (typeof given !== 'object' || given === null) return given
  return Object.entries(given).map(([name, each]) => [name.slice(0, 1), shortened(each)])
}

const verdict = (read: () => unknown): string => {
  try {
    read()
    return 'valid'
  } catch {
    return 'invalid'
  }
}

describe('outline', () => {
  test('gives every value but the ends of long strings', () => {
    fc.assert(
      fc.property(object, (given) => {
        const json = JSON.stringify(given)
        const bytes = utf8.encode(json)
        const { value, cut } = outline(bytes)
        if (cut.length === 0) expect(value).toEqual(JSON.parse(json))
        const names = new Set(Object.keys(given).map((name) => name.slice(0, 1)))
        // Two long names may become one; where none could, all is compared.
        if (names.size === Object.keys(given).length) {
          expect(Object.keys(value as object).length).toBe(Object.keys(given).length)
        }
        for (let one = 0; one < cut.length; one += 3)
          expect([bytes[(cut[one] ?? 0) - 1], bytes[cut[one + 2] ?? 0]]).toEqual([34, 34])
      }),
    )
  })

  test('keeps the kinds, names and beginnings of a long conversation', () => {
    const long = 'word '.repeat(1_000)
    const given = {
      model: 'm',
      messages: [
        { role: 'user', content: long },
        { role: 'assistant', content: ['x', long] },
      ],
    }
    const { value, cut } = outline(utf8.encode(JSON.stringify(given)))
    expect(cut).toHaveLength(2 * 3)
    expect(shortened(value)).toEqual(shortened(given))
  })

  test('gives the positions of the outermost object’s members in the bytes', () => {
    fc.assert(
      fc.property(object, fc.constantFrom(0, 2), (given, indent) => {
        const bytes = utf8.encode(JSON.stringify(given, null, indent))
        const found = outline(bytes).outermost?.slots.map(({ valueStart, end }) =>
          JSON.parse(Buffer.from(bytes.subarray(valueStart, end)).toString()),
        )
        expect(found).toEqual(Object.values(given))
      }),
    )
  })

  test('refuses what parsing refuses, after any character is removed, added or changed', () => {
    fc.assert(
      fc.property(
        object,
        fc.nat(),
        fc.constantFrom('', '"', '{', '}', '[', ']', ',', ':', '1', 'x', '\u0001', '\n', ' '),
        fc.boolean(),
        (given, at, other, over) => {
          const json = JSON.stringify(given)
          const place = at % json.length
          const broken = json.slice(0, place) + other + json.slice(place + (over ? 1 : 0))
          expect(verdict(() => outline(utf8.encode(broken)))).toBe(verdict(() => JSON.parse(broken)))
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test('reads texts that are not objects or have several lines, and refuses truncated ones', () => {
    for (const json of ['[1,2]', '"x"', '{\n "a": 1\n}', '7', 'null']) {
      expect(outline(utf8.encode(json)).value).toEqual(JSON.parse(json))
    }
    for (const json of [
      '',
      '{',
      '{"a',
      '{"a"',
      '{"a":',
      '{"a":1',
      '{"a":[1}',
      '{"a":1}}',
      `{"a":"${'x'.repeat(5000)}`,
    ]) {
      expect(() => outline(utf8.encode(json))).toThrow()
    }
  })
})

test('where the members stand holds nothing of the view, however long their names', () => {
  const bytes = utf8.encode(JSON.stringify({ messages: 'x'.repeat(1024 * 1024), parallel_tool_calls: true }))
  const held = (): number => {
    Bun.gc(true)
    return heapStats().extraMemorySize
  }
  const before = held()
  const all = Array.from({ length: 20 }, () => outline(bytes).outermost)
  expect((held() - before) / bytes.byteLength).toBeLessThan(5)
  expect(all[0]?.slots.map(({ key }) => key)).toEqual(['messages', 'parallel_tool_calls'])
})
