import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { freshIds } from '../../src/ir/fresh-ids.ts'

const id = fc.oneof(fc.constantFrom('c', 'c_2', 'c_3', 'C'), fc.string({ minLength: 1, maxLength: 4 }))
/** Some wires have one id for several of others. */
const written = (one: string): string => one.toLowerCase()

test('no call has the id of another, before it or beside it, as the client reads them; one that is free keeps its own', () => {
  fc.assert(
    fc.property(fc.array(id), fc.array(id), (taken, given) => {
      const fresh = freshIds(taken.map(written), written)
      const before = new Set(taken.map(written))
      for (const one of given) {
        const own = fresh(one)
        expect(before.has(written(own))).toBe(false)
        if (!before.has(written(one))) expect(own).toBe(one)
        before.add(written(own))
      }
    }),
  )
})

test('one without an id is left to the wire that writes it', () => {
  expect(['', ''].map(freshIds(['toolu_0'], (one) => one))).toEqual(['', ''])
})
