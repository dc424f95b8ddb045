// What a long JSON text is of, told without building it: the same as the parser says, of any text.

import { describe, expect, spyOn, test } from 'bun:test'
import fc from 'fast-check'
import { READ_BYTES, seenObject } from '../../src/lib/json-reader.ts'

const asParsed = (text: string): { isFilled: boolean } | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined
    return { isFilled: Object.keys(value).length > 0 }
  } catch {
    return undefined
  }
}

/** Long, by white space and by values. */
const PADDINGS = ['', ' '.repeat(READ_BYTES), `${' '.repeat(READ_BYTES)}\n`]

describe('whether a text is an object, and has members', () => {
  test('is what the parser says of any JSON, and of what a cut or another character makes of it', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.jsonValue(), fc.dictionary(fc.string({ unit: 'grapheme' }), fc.jsonValue())),
        fc.constantFrom(...PADDINGS),
        fc.option(
          fc.record({
            at: fc.nat(),
            take: fc.nat(2),
            put: fc.constantFrom('', ',', '}', '{', '"', '\\', 'x', '\ud800'),
          }),
        ),
        (value, padding, change) => {
          const json = JSON.stringify(value)
          const at = change === null ? 0 : change.at % (json.length + 1)
          const text = change === null ? json : json.slice(0, at) + change.put + json.slice(at + change.take)
          for (const padded of [padding + text, text + padding]) expect(seenObject(padded)).toEqual(asParsed(padded))
        },
      ),
      { numRuns: 500 },
    )
  })

  test('is told of a long text without parsing it', () => {
    const text = JSON.stringify({ a: Array.from({ length: 100_000 }, (_, at) => `s${at}`) })
    const parse = spyOn(JSON, 'parse')
    try {
      expect([seenObject(text), seenObject(text.slice(0, -1))]).toEqual([{ isFilled: true }, undefined])
      expect(parse).not.toHaveBeenCalled()
    } finally {
      parse.mockRestore()
    }
  })

  test('is not told of what holds more than JSON may', () => {
    expect(seenObject(`{"a":[${'[],'.repeat(80_000)}1]}`)).toBeUndefined()
  })
})
