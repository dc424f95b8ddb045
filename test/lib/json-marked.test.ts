// Laws of marks: what is read past them is what parsing all gives, and what is written with them is what was hidden.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Marked, markLong } from '../../src/lib/json-marked.ts'
import { readNow } from '../../src/lib/json-reader.ts'
import { textOf } from '../../src/lib/pieces.ts'
import { atOnce } from '../../src/lib/steps.ts'

const utf8 = new TextEncoder()
const markedIn = (json: string, known?: { start: number; end: number }): Marked | undefined => {
  const bytes = utf8.encode(json)
  return markLong(bytes, readNow(bytes, { outlined: false }).cut, known)
}

const piece = fc.constantFrom(
  'a',
  ' ',
  '"',
  '\\',
  '\n',
  '\u0001',
  '{',
  ']}',
  ',',
  'ខ្មែរ',
  '😀',
  'é',
  '\u2028',
  '\ufeff',
)
const text = fc.oneof(
  fc.array(piece, { maxLength: 20 }).map((parts) => parts.join('')),
  fc
    .tuple(fc.array(piece, { minLength: 1, maxLength: 30 }), fc.integer({ min: 20, max: 300 }))
    .map(([parts, times]) => parts.join('').repeat(times)),
)
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.constantFrom(null, true, 0, -1.5),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4 }),
  ),
}))
const json = fc
  .tuple(fc.dictionary(text, value, { maxKeys: 5 }), text, fc.constantFrom(undefined, 1))
  .map(([given, last, indent]) => JSON.stringify({ ...given, last: [last, 'x'.repeat(6_000)] }, null, indent))

/** With every string that a mark is of in its place. */
const whole = (value: unknown, marks: Marked): unknown => {
  if (typeof value === 'string') {
    const which = marks.markIn(value)
    return which === undefined ? value : atOnce(marks.whole(which))
  }
  if (Array.isArray(value)) return value.map((each) => whole(each, marks))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, whole(each, marks)]))
}

describe('marks', () => {
  test.each([
    ['without escapes', 'x', 1],
    ['in another script', 'ខ', 1],
    ['with escapes', 'a\n', 2],
  ])('of a long string %s: it is put back in so many steps', (_, unit, most) => {
    const given = { long: unit.repeat(3_000_000 / JSON.stringify(unit).length) }
    const marks = markedIn(JSON.stringify(given))
    const steps = marks?.whole(0)
    let count = 1
    let step = steps?.next()
    for (; step?.done === false; step = steps?.next()) count++
    expect(step?.value === given.long).toBe(true)
    expect(count).toBe(most)
  })

  test('stand for what parsing all of it gives, in whatever form it is written again', () => {
    fc.assert(
      fc.property(json, fc.constantFrom(undefined, 1), (given, indent) => {
        const marks = markedIn(given)
        if (marks === undefined) throw new Error('nothing is long')
        const parsed: unknown = JSON.parse(marks.text())
        expect(whole(parsed, marks)).toEqual(JSON.parse(given))
        const sent = marks.written(utf8.encode(JSON.stringify({ within: [parsed] }, null, indent)))
        expect(JSON.parse(textOf(sent ?? ''))).toEqual({ within: [JSON.parse(given)] })
      }),
      { numRuns: 300 },
    )
  })

  test('are made around a value that is known, which is passed over with all that is in it', () => {
    const member = fc.tuple(text, value).map(([long, given]) => JSON.stringify([given, long, 'x'.repeat(6_000)]))
    const list = fc.array(text, { maxLength: 3 }).map((texts) => JSON.stringify([...texts, 'y'.repeat(2_000)]))
    fc.assert(
      fc.property(fc.array(member, { maxLength: 2 }), list, fc.array(member, { maxLength: 2 }), (some, known, more) => {
        const before = some.map((each, at) => `"before${at}":${each},`).join('')
        const after = more.map((each, at) => `,"after${at}":${each}`).join('')
        const start = utf8.encode(`{${before}"known":`).length
        const given = `{${before}"known":${known}${after}}`
        const marks = markedIn(given, { start, end: start + utf8.encode(known).length })
        if (marks === undefined) return expect(some.length + more.length).toBe(0)
        const parsed: unknown = JSON.parse(marks.text())
        const wanted = { ...JSON.parse(given), known: null }
        expect(whole(parsed, marks)).toEqual(wanted)
        expect(JSON.parse(textOf(marks.written(utf8.encode(JSON.stringify(parsed))) ?? ''))).toEqual(wanted)
      }),
    )
  })

  test('hide as many bytes as they say', () => {
    fc.assert(
      fc.property(json, (given) => {
        const marks = markedIn(given)
        const hidden = Array.from({ length: marks?.count ?? 0 }, (_, which) => marks?.placeOf(which).hidden ?? 0)
        expect(utf8.encode(marks?.text()).length + hidden.reduce((sum, each) => sum + each, 0)).toBe(
          utf8.encode(given).length,
        )
      }),
    )
  })

  test.each([
    ['short', 'x'.repeat(400)],
    ['blank at its beginning', ' '.repeat(100) + 'x'.repeat(2_000)],
    ['of breaks at its beginning', '\n'.repeat(2_000)],
    ['of spaces of another script at its beginning', '\u3000'.repeat(100) + 'x'.repeat(2_000)],
  ])('are made of no text that is %s', (_, text) => {
    expect(markedIn(JSON.stringify({ a: [text, { [`name${'x'.repeat(6_000)}`]: 1 }] }))).toBeUndefined()
  })

  test('are made of no text where anything holds what a mark begins with', () => {
    expect(markedIn(`{"a":["${'x'.repeat(6_000)}","\u007f"]}`)).toBeUndefined()
  })

  test.each([
    ['the first half of a character', '\\ud83d', 0],
    ['the first half twice', '\\ud83d\\ud83d\\ude00', 0],
    ['the second half of a character', '\\ude00', 0],
    ['half a character in large letters', '\\uDE00', 0],
    ['a character of two halves', '\\ud83d\\ude00', 1],
    ['characters of two halves, many of them', '\\uD83D\\uDE00'.repeat(500), 1],
    ['what only looks like half a character', '\\\\ud83d', 1],
    ['more of those than are looked through', '\\ud83d\\ude00'.repeat(6_000), 0],
  ])('are made as they may be of a text that holds %s', (_, holds, made) => {
    const json = `{"a":["${'x'.repeat(6_000)}","${'y'.repeat(1_000)}${holds}"]}`
    const marks = markedIn(json)
    expect(marks?.count).toBe(1 + made)
    expect(JSON.stringify(whole(JSON.parse(marks?.text() ?? ''), marks as Marked))).toBe(
      JSON.stringify(JSON.parse(json)),
    )
  })

  test.each([
    ['in another script', 'ខ្មែរ '.repeat(200)],
    ['in escapes', '"\n'.repeat(1_000)],
    ['in escapes that have numbers', '\u0001x'.repeat(1_000)],
  ])('are made of a text that begins %s', (_, text) => {
    const json = JSON.stringify({ a: [text, 'x'.repeat(6_000)] })
    const marks = markedIn(json)
    expect(marks?.count).toBe(2)
    expect(whole(JSON.parse(marks?.text() ?? ''), marks as Marked)).toEqual(JSON.parse(json))
    expect(textOf(marks?.written(utf8.encode(marks.text())) ?? '')).toBe(json)
  })

  test.each([
    ['up to its data and what tells its type', `data:image/png;base64,${'A'.repeat(1_000)}`, 96],
    ['up to its first escape', `data:image\\/png;base64,${'A'.repeat(1_000)}`, 10],
  ])('keep an address that holds its data %s', (_, address, kept) => {
    const marks = markedIn(`{"a":["${'x'.repeat(6_000)}","${address}"]}`)
    const [, text = ''] = JSON.parse(marks?.text() ?? '').a
    expect(text.indexOf('\u007f')).toBe(kept)
  })

  test('that have not come through whole are told', () => {
    const marks = markedIn(JSON.stringify({ a: [`begins ${'x'.repeat(6_000)}`] }))
    const [text = ''] = JSON.parse(marks?.text() ?? '').a
    for (let cut = text.indexOf('\u007f') + 1; cut < text.length; cut++) {
      expect(marks?.written(utf8.encode(JSON.stringify([text.slice(0, cut)])))).toBeUndefined()
      expect(marks?.written(utf8.encode(JSON.stringify([text.slice(0, cut), text])))).toBeUndefined()
      expect(marks?.written(utf8.encode(JSON.stringify([text.slice(cut)])))).toBeUndefined()
    }
    expect(marks?.written(utf8.encode(JSON.stringify([text, text])))).toBeDefined()
    for (const beyond of ['1', '10', '-1', '0x0', '', '9'.repeat(20)]) {
      const other = text.replace(/0(?=\.\d+\u007f$)/, beyond)
      expect(marks?.markIn(other)).toBeUndefined()
      expect(marks?.written(utf8.encode(JSON.stringify([other])))).toBeUndefined()
    }
  })
})
