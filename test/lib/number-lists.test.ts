// Laws of lists that are put aside: what is read beside them is what parsing all gives, and what is put back is what came.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { putListsAside } from '../../src/lib/number-lists.ts'
import { atOnce } from '../../src/lib/steps.ts'

const numbers = fc.array(
  fc.oneof(fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constantFrom(1e300, -2.5e-9, 0)),
  { minLength: 1, maxLength: 40 },
)
/** What looks like lists, and ends of strings, within strings. */
const text = fc
  .array(fc.constantFrom('[1,2]', '[', ']', '"', '\\', '\\"', '[0]', '\n', 'ខ្មែរ', 'e', ','), { maxLength: 6 })
  .map((parts) => parts.join(''))
const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    numbers,
    text,
    fc.constantFrom(null, true, 0, -1.5, [], {}),
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4 }),
  ),
}))
const json = fc
  .tuple(fc.dictionary(text, value, { maxKeys: 5 }), fc.constantFrom(undefined, 1, '\t'))
  .map(([given, indent]) => JSON.stringify(given, null, indent))

const isList = (of: unknown): of is number[] =>
  Array.isArray(of) && of.length > 0 && of.every((one) => typeof one === 'number')
/** In the order in which they are written. */
const listsOf = (of: unknown): number[][] => {
  if (isList(of)) return [of]
  return typeof of === 'object' && of !== null ? Object.values(of).flatMap(listsOf) : []
}
const numbered = (of: unknown, next = { which: 0 }): unknown => {
  if (isList(of)) return [next.which++]
  if (Array.isArray(of)) return of.map((each) => numbered(each, next))
  if (typeof of !== 'object' || of === null) return of
  return Object.fromEntries(Object.entries(of).map(([name, each]) => [name, numbered(each, next)]))
}

test('each list is a list of its number while it is aside, and nothing else is changed', () =>
  fc.assert(
    fc.property(json, (written) => {
      const aside = atOnce(putListsAside(written))
      expect(JSON.parse(aside.text)).toEqual(numbered(JSON.parse(written)))
    }),
  ))

test('what is put back is what came, byte for byte, or what stands for it', () =>
  fc.assert(
    fc.property(json, (written) => {
      const aside = atOnce(putListsAside(written))
      expect(atOnce(aside.whole(aside.text, (list) => list))).toBe(written)
      const seen: number[][] = []
      const told = atOnce(
        aside.whole(aside.text, (list, which) => {
          seen[which] = JSON.parse(list)
          return '"x"'
        }),
      )
      expect(seen).toEqual(listsOf(JSON.parse(written)))
      expect(listsOf(JSON.parse(told ?? ''))).toEqual([])
    }),
  ))

test('where a list has gone meanwhile nothing is put in another’s place', () => {
  const aside = atOnce(putListsAside('{"a":[1,2],"b":[3,4]}'))
  expect(atOnce(aside.whole('{"b":[1]}', (list) => list))).toBeUndefined()
})

test('a long text is passed over in steps, none of which takes much of it', () => {
  const list = JSON.stringify(Array.from({ length: 3_000 }, (_, at) => at / 7))
  const written = `{"data":[${Array.from({ length: 200 }, () => `{"embedding":${list}}`).join()}]}`
  const steps = putListsAside(written)
  let count = 0
  while (steps.next().done !== true) count++
  expect(count).toBeGreaterThanOrEqual(Math.floor(written.length / (512 * 1024 + list.length)))
})
