// JSON written in steps is what is written at once.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseExact } from '../../src/lib/json-exact.ts'
import { writeJson } from '../../src/lib/json-write.ts'
import { atOnce } from '../../src/lib/steps.ts'

const text = fc.oneof(fc.string(), fc.constantFrom('ខ្មែរ', '😀'.repeat(9), '\ud800', '"\\\n', '__proto__', ''))
const value = fc.oneof(fc.jsonValue(), text, fc.constant(undefined), fc.array(fc.oneof(text, fc.constant(undefined))))

const written = (object: { [name: string]: unknown }, bytes: number): string =>
  new TextDecoder('utf-8', { ignoreBOM: true }).decode(atOnce(writeJson(object, JSON.stringify, bytes)))

test('an object is written as JSON.stringify writes it, whatever room there is at first', () => {
  fc.assert(
    fc.property(fc.dictionary(text, value), fc.nat(300), (object, bytes) => {
      expect(written(object, bytes)).toBe(JSON.stringify(object))
    }),
    { numRuns: 500 },
  )
})

test('what is long at any depth is written as it is at once', () => {
  const long = fc
    .tuple(fc.constantFrom('x', '😀', '"\\', 'a\ud800', 'ខ'), fc.nat(9))
    .map(([unit, more]) => `${'y'.repeat(more)}${unit.repeat(300_000)}`)
  const nested = fc.tuple(long, fc.nat(10)).map(([text, depth]) => {
    let value: unknown = [text, parseExact('[12345678901234567890]')]
    for (let level = 0; level < depth; level++)
      value = level % 2 === 0 ? { a: value, b: undefined } : [value, undefined]
    return { value }
  })
  fc.assert(
    fc.property(nested, (object) => {
      expect(written(object, 1_000) === JSON.stringify(object)).toBe(true)
    }),
    { numRuns: 30 },
  )
})

test('a list is written in steps of about a megabyte', () => {
  const object = { input: Array.from({ length: 50 }, (_, at) => `${at}`.padEnd(100_000, 'ខ')), end: [] }
  const steps = writeJson(object, JSON.stringify, 1_000)
  let count = 1
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) count++
  expect(new TextDecoder().decode(step.value)).toBe(JSON.stringify(object))
  expect(count).toBeGreaterThan(10)
})

test('so are a list within it, and one long string', () => {
  for (const inner of [
    Array.from({ length: 50_000 }, (_, at) => ({ at, text: 'x'.repeat(100) })),
    'x'.repeat(6_000_000),
  ]) {
    const longest = { chars: 0 }
    const steps = writeJson(
      { input: [{ content: inner }] },
      (value) => {
        const text = JSON.stringify(value)
        longest.chars = Math.max(longest.chars, text.length)
        return text
      },
      1_000,
    )
    let count = 1
    while (steps.next().done !== true) count++
    expect(count).toBeGreaterThan(4)
    // No text of all of it has been made.
    expect(longest.chars).toBeLessThan(1_000_000)
  }
})

test('what is small is written at once, at whatever depth, and not leaf by leaf', () => {
  const turns = Array.from({ length: 1_000 }, (_, at) => ({ role: 'user', content: [{ type: 'text', text: `${at}` }] }))
  let texts = 0
  const steps = writeJson(
    { model: 'm', messages: turns },
    (value) => {
      texts++
      return JSON.stringify(value)
    },
    1_000,
  )
  expect(new TextDecoder().decode(atOnce(steps))).toBe(JSON.stringify({ model: 'm', messages: turns }))
  expect(texts).toBeLessThan(turns.length + 10)
})
