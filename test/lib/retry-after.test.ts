// When an answer says to ask again, in each of the forms that are written.

import { expect, test } from 'bun:test'
import { retryAfterIn } from '../../src/lib/retry-after.ts'

const NOW = Date.UTC(2026, 10, 27, 12)

test.each<[string, Record<string, string>, number | undefined]>([
  ['nothing', {}, undefined],
  ['seconds', { 'retry-after': '7' }, 7_000],
  ['a part of a second', { 'retry-after': '0.25' }, 250],
  ['a date', { 'retry-after': new Date(NOW + 90_000).toUTCString() }, 90_000],
  ['a date that is over', { 'retry-after': new Date(NOW - 90_000).toUTCString() }, 0],
  ['seconds since the epoch', { 'retry-after': String(NOW / 1000 + 5) }, 5_000],
  ['milliseconds', { 'retry-after-ms': '40', 'retry-after': '7' }, 40],
  ['words', { 'retry-after': 'later' }, undefined],
  ['less than nothing', { 'retry-after': '-3' }, 0],
])('%s', (_what, headers, ms) => {
  expect(retryAfterIn(new Headers(headers), NOW)).toBe(ms as number)
})
