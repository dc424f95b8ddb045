// What may stand in a name, and what in a label.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { isPlainLabel, isPlainName } from '../../src/lib/visible.ts'

/** Each of a kind that controls, reorders or hides: none may stand in either, wherever it stands. */
const UNSEEN = [
  ...['\u0000', '\u0007', '\t', '\n', '\r', '\u001b', '\u007f', '\u0085', '\u00ad', '\u061c', '\u200e', '\u200f'],
  ...['\u202a', '\u202b', '\u202c', '\u202d', '\u202e', '\u2060', '\u2066', '\u2067', '\u2068', '\u2069', '\ufeff'],
  ...['\ufff9', '\ud800', '\udc00', '\ue000', '\u{e0001}', '\u{e0041}'],
  ...['\u2028', '\u2029', '\u034f', '\u115f', '\u17b4', '\u2800', '\u3164', '\uffa0'],
]

test('nothing unseen may stand anywhere in a name or a label', () =>
  fc.assert(
    fc.property(fc.constantFrom(...UNSEEN), fc.string(), fc.string(), (unseen, before, after) => {
      const text = `a${before}${unseen}${after}b`
      expect([isPlainName(text), isPlainLabel(text)]).toEqual([false, false])
    }),
  ))

describe('what is written with joiners', () => {
  test.each([
    ['Khmer, its words parted by a space of no width', 'ភ្នំពេញ\u200bសួស្តី'],
    ['Persian', 'می\u200cخواهم'],
    ['an emoji of two', '\u{1f469}\u200d\u{1f4bb} laptop'],
    ['an emoji of which there is a plainer form', '\u2764\ufe0f'],
  ])('%s is a label, but no name: two names could look the same', (_, text) => {
    expect([isPlainLabel(text), isPlainName(text)]).toEqual([true, false])
  })
  test.each(['', ' ', '\u00a0', '\u200b', ' \u200d\u200c '])('%j is neither', (text) => {
    expect([isPlainLabel(text), isPlainName(text)]).toEqual([false, false])
  })
})

test.each(['Ada', 'Sophea ស', 'Zoë d’Arc', 'ci 1/2 (x86_64)', '日本'])('%j is both', (text) => {
  expect([isPlainName(text), isPlainLabel(text)]).toEqual([true, true])
})
