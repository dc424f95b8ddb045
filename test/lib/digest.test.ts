// A digest is deterministic, of fixed width and evenly distributed.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { digest } from '../../src/lib/digest.ts'

test('the digests of texts never change, as ids depend on them', () => {
  expect(['', 'call_1', 'ខ្មែរ 😀'].map(digest)).toEqual(['0wvjl67o803', '1c2ua7qnopv', '1cmblmvb31q'])
})

test('a digest is eleven letters and digits, whatever the text', () =>
  fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => expect(digest(text)).toMatch(/^[0-9a-z]{11}$/))))

test('a hundred thousand similar texts have different digests', () => {
  const seen = new Set<string>()
  for (let i = 0; i < 100_000; i++) seen.add(digest(`call_${i}`))
  expect(seen.size).toBe(100_000)
})
