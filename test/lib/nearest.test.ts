// The name a misspelt one was meant to be.

import { expect, test } from 'bun:test'
import { nearest } from '../../src/lib/nearest.ts'

test.each([
  ['acounts', 'accounts'],
  ['PORT', 'port'],
  ['zzzzzz', undefined],
])('the nearest name to %s is %p', (name, near) => {
  expect(nearest(name, ['accounts', 'port', 'host'])).toBe(near)
})
