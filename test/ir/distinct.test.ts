// Making repeated texts unique.

import { expect, test } from 'bun:test'
import { distinct } from '../../src/ir/distinct.ts'

test.each<[string[], string[]]>([
  [
    ['a', 'b', 'a', 'a'],
    ['a', 'b', 'a_2', 'a_3'],
  ],
  [
    ['a_2', 'a', 'a', 'a_2'],
    ['a_2', 'a', 'a_3', 'a_2_2'],
  ],
  [
    ['', ''],
    ['', '_2'],
  ],
])('%j become %j', (texts, own) => {
  expect(texts.map(distinct())).toEqual(own)
})

test('the number fits within the maximum length', () => {
  const long = 'x'.repeat(20)
  const own = [long, long, `${'x'.repeat(19)}y`, `${'x'.repeat(19)}y`].map(distinct(20))
  expect(own).toEqual([long, `${'x'.repeat(12)}_2`, `${'x'.repeat(19)}y`, `${'x'.repeat(12)}_3`])
})

test('a text repeated many times becomes as many different texts', () => {
  const many = Array.from({ length: 200_000 }, () => 'a').map(distinct())
  expect(new Set(many).size).toBe(200_000)
})
