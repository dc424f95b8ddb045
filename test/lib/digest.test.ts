// A digest is a function of the text, of one width, and spreads.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { digest } from '../../src/lib/digest.ts'

test('a text has one digest, of eleven letters and digits', () =>
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (text) => {
      expect(digest(text)).toMatch(/^[0-9a-z]{11}$/)
      expect(digest(text)).toBe(digest(text))
    }),
  ))

test('a hundred thousand neighbouring texts have as many digests', () => {
  const seen = new Set<string>()
  for (let i = 0; i < 100_000; i++) seen.add(digest(`call_${i}`))
  expect(seen.size).toBe(100_000)
})
