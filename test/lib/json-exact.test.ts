// Integers too large for a number are written as they were read.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseExact, withExact } from '../../src/lib/json-exact.ts'

const integer = fc.bigInt({ min: -(10n ** 30n), max: 10n ** 30n }).map(String)
const scalar = fc.oneof(integer, fc.json({ maxDepth: 0 }))
const list = fc.array(scalar, { maxLength: 5 }).map((items) => `[${items.join(',')}]`)

describe('parseExact', () => {
  test('keeps every digit of an integer, at any depth', () => {
    fc.assert(
      fc.property(fc.array(integer), (items) => {
        const text = `{"a":[{"b":[${items.join(',')}]}]}`
        expect(JSON.stringify(parseExact(text))).toBe(text)
      }),
    )
  })

  test('reads a text that is one integer as a number', () => {
    fc.assert(fc.property(integer, (text) => expect(parseExact(` ${text}\n`)).toBe(Number(text))))
  })

  test('refuses what could be written again in quadratic time only, if at all; brackets in strings do not nest', () => {
    const nest = (depth: number, inside = '') => `${'{"a":['.repeat(depth / 2)}${inside}${']}'.repeat(depth / 2)}`
    for (const [text, isDeep] of [
      [nest(1_000), false],
      [nest(1_002), true],
      [nest(2, `"${'['.repeat(60_000)}\\"[["`), false],
      [`[${'[],{},'.repeat(30_000)}0]`, false],
    ] as const) {
      const parsed = JSON.parse(text)
      const [parse, exact] = [() => parseExact(text), () => withExact(text, parsed)]
      if (isDeep) for (const run of [parse, exact]) expect(run).toThrow(RangeError)
      else expect([parse(), exact() === parsed]).toEqual([parsed, true])
    }
  })

  test('refuses long text that holds more than it may', () => {
    for (const text of ['['.repeat(60_000), `[${'[],'.repeat(100_000)}1234567890123456789]`])
      expect(() => parseExact(text)).toThrow(RangeError)
  })

  test('reads everything else like JSON.parse', () => {
    fc.assert(fc.property(fc.json(), (text) => expect(parseExact(text)).toEqual(JSON.parse(text))))
    expect(parseExact('[0.12345678901234567890, 1e400]')).toEqual(JSON.parse('[0.12345678901234567890, 1e400]'))
  })
})

describe('withExact', () => {
  test('keeps the digits within members, and reads the members themselves as numbers', () => {
    fc.assert(
      fc.property(list, integer, (items, own) => {
        const text = `{"items":${items},"own":${own}}`
        const exact = withExact(text, JSON.parse(text) as { [name: string]: unknown })
        expect(exact.own).toBe(Number(own))
        expect(JSON.stringify(exact.items)).toBe(JSON.stringify(parseExact(items)))
      }),
    )
  })

  test('is the same object where nothing is lost', () => {
    const parsed = { a: [1] }
    expect(withExact('{"a":[1]}', parsed)).toBe(parsed)
  })
})
