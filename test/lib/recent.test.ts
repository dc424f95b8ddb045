// A bounded map is the end of an unbounded one.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createRecent } from '../../src/lib/recent.ts'

const KEYS = fc.integer({ min: 0, max: 9 })

test('the entries set last are known, each by its last value, and no more than the bound', () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 8 }), fc.array(fc.tuple(KEYS, fc.nat())), (most, sets) => {
      const recent = createRecent<number, number>(most)
      for (const [key, value] of sets) recent.set(key, value)
      const newestFirst = [...new Set(sets.map(([key]) => key).reverse())]
      const last = new Map(sets)
      expect(recent.size).toBe(Math.min(most, newestFirst.length))
      newestFirst.forEach((key, age) => {
        expect(recent.get(key)).toBe(age < most ? last.get(key) : undefined)
      })
    }),
  )
})

test('reading an entry does not keep it', () => {
  const recent = createRecent<string, number>(2)
  recent.set('a', 1)
  recent.set('b', 2)
  expect(recent.get('a')).toBe(1)
  recent.set('c', 3)
  expect(recent.get('a')).toBeUndefined()
})
