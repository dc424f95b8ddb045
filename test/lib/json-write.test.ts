// JSON written in steps is what is written at once.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
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

test('a list is written in steps of about a megabyte', () => {
  const object = { input: Array.from({ length: 50 }, (_, at) => `${at}`.padEnd(100_000, 'ខ')), end: [] }
  const steps = writeJson(object, JSON.stringify, 1_000)
  let count = 1
  let step = steps.next()
  for (; step.done !== true; step = steps.next()) count++
  expect(new TextDecoder().decode(step.value)).toBe(JSON.stringify(object))
  expect(count).toBeGreaterThan(10)
})
