// Which meaning a failed attempt is given, by what the provider or the way to it said; `seen` names it as the manual does.

import { expect, test } from 'bun:test'
import { ATTEMPT_FAILURES, meaningOf } from '../../src/observe/failures.ts'

const NOTHING = { status: null, providerCode: null, code: null, begun: false }
const seenOf = (said: Partial<typeof NOTHING> | object): string => meaningOf({ ...NOTHING, ...said }).seen

test.each([
  [{ status: 402 }, '402'],
  [{ status: 400, providerCode: 'Arrearage' }, '402'],
  [{ status: 429, providerCode: 'insufficient_quota' }, '402'],
  [{ status: 400, code: 'context_length_exceeded' }, 'context_length_exceeded'],
  [{ status: 301 }, '301 to 308'],
  [{ status: 399 }, '301 to 308'],
  [{ status: 401 }, '401'],
  [{ status: 403 }, '403'],
  [{ status: 405 }, '404 or 410'],
  [{ status: 413 }, '413'],
  [{ status: 429 }, '429'],
  [{ status: 529 }, '503 or 529'],
  [{ status: 500 }, '500, 502 or 504'],
  [{ status: 599 }, '500, 502 or 504'],
  [{ status: 400 }, '400 or 422'],
  [{ status: 499 }, '400 or 422'],
  [{ providerCode: 'ENOTFOUND' }, 'ECONNREFUSED'],
  [{ providerCode: 'UNABLE_TO_VERIFY_LEAF_SIGNATURE' }, 'CERT'],
  [{ providerCode: 'ERR_PROXY_TUNNEL' }, 'ERR_PROXY_TUNNEL'],
  [{ providerCode: 'ConnectionClosed' }, 'ECONNRESET'],
  [{ code: 'gateway_timeout' }, 'gateway_timeout'],
  [{ code: 'upstream_error', begun: true }, 'amid an answer'],
  [{ code: 'service_unavailable', begun: true }, 'amid an answer'],
  [{ code: 'gateway_timeout', begun: true }, 'gateway_timeout'],
])('%j is told as %s', (said, words) => expect(seenOf(said)).toContain(words))

test('what nothing is known of has the last meaning, and so has a status that says no failure', () => {
  const last = ATTEMPT_FAILURES.at(-1)?.seen ?? ''
  expect([seenOf({}), seenOf({ status: 200 }), seenOf({ status: 299 }), seenOf({ providerCode: 'x' })]).toEqual([
    ...[last, last, last, last],
  ])
})

test('every meaning but the last is that of something', () => {
  const statuses = Array.from({ length: 600 }, (_, status) => ({ status }))
  const words = ATTEMPT_FAILURES.flatMap(({ seen }) => Array.from(seen.matchAll(/`([A-Za-z_]+)`/g), ([, word]) => word))
  const said = [
    ...statuses,
    ...words.flatMap((word) => [{ providerCode: word }, { code: word }, { code: word, begun: true }]),
  ]
  const told = new Set(said.map(seenOf))
  expect(ATTEMPT_FAILURES.filter(({ seen }) => !told.has(seen)).map(({ seen }) => seen)).toEqual([])
})
