// Which beginnings of JSON are closed.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { jsonNesting } from '../../src/lib/json-nesting.ts'

const piecesOf = (text: string, cuts: number[]): string[] => {
  const places = [...new Set([0, ...cuts.map((cut) => cut % text.length), text.length])].sort((a, b) => a - b)
  return places.slice(1).map((end, at) => text.slice(places[at], end))
}

test('an object is closed with its last letter and not before, in whatever pieces it comes', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.array(fc.nat()), fc.nat(2), (value, cuts, space) => {
      const pieces = piecesOf(JSON.stringify(value, null, space), cuts)
      const nesting = jsonNesting()
      const closed = pieces.map((_, at) => nesting.isClosed(pieces.slice(0, at + 1)))
      expect(closed).toEqual(pieces.map((_, at) => at === pieces.length - 1))
    }),
  )
})
