// Finding the name that a misspelt one was meant to be.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { nearest } from '../../src/lib/nearest.ts'

test.each([
  ['acounts', 'accounts'],
  ['PORT', 'port'],
  ['zzzzzz', undefined],
  ['acc', 'accounts'],
  ['ac', undefined],
  ['prt', 'port'],
  ['prs', undefined],
])('the nearest name to %s is %p', (name, near) => {
  expect(nearest(name, ['accounts', 'port', 'host'])).toBe(near)
})

/** The edit distance by its recursive definition. */
const distance = (a: string, b: string): number => {
  if (a === '' || b === '') return a.length + b.length
  const rest = distance(a.slice(1), b.slice(1))
  if (a[0] === b[0]) return rest
  return 1 + Math.min(rest, distance(a.slice(1), b), distance(a, b.slice(1)))
}

test('the nearest is the first with the smallest edit distance, up to a limit, else the only one that begins so', () => {
  const name = fc.string({ unit: fc.constantFrom('a', 'b', 'c'), maxLength: 6 })
  fc.assert(
    fc.property(name, fc.array(name, { maxLength: 4 }), (misspelt, known) => {
      const fewest = Math.min(misspelt.length > 3 ? 2 : 1, ...known.map((one) => distance(misspelt, one)))
      const close = known.find((one) => distance(misspelt, one) === fewest)
      const begun = misspelt.length < 3 ? [] : known.filter((one) => one.startsWith(misspelt))
      expect(nearest(misspelt, known)).toBe(close ?? (begun.length === 1 ? begun[0] : undefined))
    }),
  )
})
