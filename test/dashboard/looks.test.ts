// What a chart promises: an axis that ends above the data, and looks that belong to what is shown.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { linesUpTo } from '../../src/dashboard/page/lib/axis.ts'
import { looksOf } from '../../src/dashboard/page/lib/looks.ts'

test('an axis begins at zero and ends above the data, with three lines or more and no crowd of them', () =>
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 ** 45 }), (most) => {
      const lines = linesUpTo(most)
      expect(lines[0]).toBe(0)
      expect(lines.at(-1)).toBeGreaterThan(most)
      expect(lines.at(-2)).toBeLessThanOrEqual(most)
      // There is no half a token.
      for (const line of lines) expect(Number.isInteger(line)).toBe(true)
      expect(lines.length).toBeLessThanOrEqual(7)
      expect(lines.length).toBeGreaterThanOrEqual(Math.min(4, most + 2))
    }),
  ))

const places = fc.uniqueArray(fc.nat(200), { maxLength: 12 })
const series = (of: readonly number[]) => of.map((place) => ({ group: `g${place}`, place }))

test('no two of a chart look alike, in whatever order they come', () =>
  fc.assert(
    fc.property(places, fc.func(fc.nat()), (of, weigh) => {
      const looks = looksOf(series(of))
      expect(new Set(looks.map((look) => JSON.stringify(look))).size).toBe(of.length)
      const others = [...of].sort((a, b) => weigh(a) - weigh(b))
      const again = looksOf(series(others))
      for (const [at, place] of others.entries())
        expect(again[at]).toEqual(looks[of.indexOf(place)] as (typeof looks)[0])
    }),
  ))

test('who comes or goes changes the look of nobody who was there first', () =>
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(27), { minLength: 1, maxLength: 12 }), (of) => {
      const [gone, ...rest] = of
      const before = looksOf(series(of))
      expect(looksOf(series(rest))).toEqual(before.slice(1))
      expect(gone).toBeDefined()
    }),
  ))

test('all others together have the look of no one', () => {
  const [other, ...named] = looksOf([{ group: 'other', place: 5 }, ...series([0, 1, 2, 3, 4, 5, 6])])
  for (const look of named) expect(look.color).not.toBe(other?.color as number)
})
