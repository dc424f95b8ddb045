// Laws of the survey: it counts as parsing would, whatever pieces the bytes come in, and lets no shape through that would
// take long to parse.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseJson } from '../../src/ir/json.ts'
import {
  type Bound,
  JSON_BOUNDS,
  Survey,
  surveyInTurns,
  surveyOf,
  type TooMuchJson,
} from '../../src/lib/json-survey.ts'
import { createTurns } from '../../src/lib/turns.ts'

const utf8 = new TextEncoder()
const survey = (text: string): Survey => surveyOf(utf8.encode(text))

const exceeded = (text: string): Bound | undefined => {
  try {
    survey(text)
    return undefined
  } catch (error) {
    return (error as TooMuchJson).bound
  }
}

/** What a survey tells, as data. */
const told = ({ members, long, faulty, open }: Survey) => ({ members, long, faulty, open })

describe('a survey', () => {
  test('tells the same whatever pieces the bytes come in', () => {
    const name = fc.oneof(fc.string(), fc.constantFrom('a"b', 'ខ្មែរ', '\\', 'x'.repeat(70)))
    const value = fc.oneof(fc.jsonValue(), name)
    fc.assert(
      fc.property(
        fc.dictionary(name, value, { maxKeys: 5 }),
        fc.constantFrom(0, 1),
        fc.infiniteStream(fc.integer({ min: 1, max: 9 })),
        (given, indent, sizes) => {
          const bytes = utf8.encode(JSON.stringify(given, null, indent))
          const pieces = new Survey()
          for (let at = 0; at < bytes.length; ) {
            const size = sizes.next().value
            pieces.see(bytes.subarray(at, at + size))
            at += size
          }
          expect(told(pieces)).toEqual(told(surveyOf(bytes)))
        },
      ),
    )
  })

  test('in turns tells the same', async () => {
    const bytes = utf8.encode(JSON.stringify({ a: ['\\"'.repeat(700_000), { b: 'x'.repeat(600_000) }], c: 1 }))
    expect(told(await surveyInTurns(bytes, createTurns()))).toEqual(told(surveyOf(bytes)))
  })

  test.each([
    ['"\\x"', true],
    ['"\\u12G4"', true],
    ['"\\u12"', true],
    ['"a\nb"', true],
    ['"\u0001"', true],
    ['"\\u12aF\\n\\/\\\\\\""', false],
    ['[\n\t"a"\r]', false],
  ])('says whether a string holds what none may: %j', (text, faulty) => {
    expect(survey(text).faulty).toBe(faulty)
  })
})

const { depth, containers, values, forms, escapes, digits } = JSON_BOUNDS
const times = (count: number, one: (at: number) => string, glue = ','): string =>
  Array.from({ length: count }, (_, at) => one(at)).join(glue)

/** Each shape by its size: a text at the bound, and one just past it. */
const SHAPES: [string, Bound, number, (size: number) => string][] = [
  ['lists in lists', 'depth', depth, (size) => '['.repeat(size) + ']'.repeat(size)],
  ['objects in objects', 'depth', depth, (size) => `${'{"a":'.repeat(size)}1${'}'.repeat(size)}`],
  ['lists and objects in turn', 'depth', depth, (size) => `${'{"a":['.repeat(size / 2)}${size % 2 ? '[]' : ''}`],
  ['lists side by side', 'containers', containers - 1, (size) => `[${times(size, () => '[]')}]`],
  ['numbers', 'values', values, (size) => `[${times(size, () => '1')}]`],
  ['short strings', 'values', values, (size) => `[${times(size, (at) => `"s${at}"`)}]`],
  ['members of one name', 'forms', forms, (size) => `{${times(size, () => '"model":"m"')}}`],
  ['names that differ', 'forms', forms, (size) => `[${times(size, (at) => `{"n${at}":1}`)}]`],
  ['numeric names that fall', 'forms', forms, (size) => `{${times(size, (at) => `"${4e9 - at}":1`)}}`],
  ['line breaks', 'escapes', escapes, (size) => `["${'\\n'.repeat(size)}"]`],
  ['escaped letters', 'escapes', escapes, (size) => `["${'\\u1781'.repeat(size)}"]`],
  ['a long number', 'digits', digits, (size) => `[${'1'.repeat(size)}]`],
  ['a long exponent', 'digits', digits, (size) => `[1e${'9'.repeat(size - 2)}]`],
]

describe('the bounds', () => {
  test.each(SHAPES)('are kept by %s: %s', (_, bound, most, make) => {
    // Forms are remembered by a hash: some are taken for others, and none is counted twice.
    const past = bound === 'forms' ? most * 2 : most + (bound === 'values' ? 2 : 1)
    expect([exceeded(make(most - 2)), exceeded(make(past))]).toEqual([undefined, bound])
  })

  test.each(SHAPES)('of text that is parsed at once hold for %s', (_, bound, most, make) => {
    if (bound === 'digits') return
    const text = make(bound === 'depth' ? most * 40 : bound === 'forms' ? most * 2 : most + 2)
    expect(parseJson(text)).toBeUndefined()
  })

  test('do not count what stands in strings', () => {
    const inside = '[{,1":'.replaceAll('"', '\\"').repeat(values)
    expect(exceeded(`{"a":"${inside}"}`)).toBeUndefined()
  })

  test.each([
    ['ten thousand turns of a conversation with tools', 10_000],
    ['a turn that is a file', 1],
  ])('let %s pass', (_, turns) => {
    const text = 'line of text\n'.repeat(Math.ceil(400_000 / turns / 10))
    const message = (at: number) =>
      JSON.stringify([
        { role: 'assistant', content: null, tool_calls: [{ id: `c${at}`, function: { name: 'f', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: `c${at}`, content: text },
      ]).slice(1, -1)
    expect(exceeded(`{"model":"m","messages":[${times(turns, message)}]}`)).toBeUndefined()
  })
})
