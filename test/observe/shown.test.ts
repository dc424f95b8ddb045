// A key as the admin API and the command line show it: when it renews, and until when its old secret is good.

import { describe, expect, test } from 'bun:test'
import type { Key } from '../../src/keys/key.ts'
import { UTC } from '../../src/lib/calendar.ts'
import { shownKey } from '../../src/observe/shown.ts'

const NOW = Date.UTC(2027, 4, 20, 12)
const HOUR = 3_600_000
const key: Key = {
  ...{ id: 'key_1', label: 'k', createdAt: NOW - HOUR, expiresAt: NOW + 9 * HOUR, models: ['*'] },
  ...{ tokensTotal: 100, tokensUsed: 30, revokedAt: undefined, rpm: undefined, tpm: undefined, concurrency: undefined },
}
const shown = (more: Partial<Key> = {}) =>
  shownKey({ ...key, ...more }, { now: NOW, calendar: UTC, budgets: { get: () => undefined } })
const at = (hours: number): string => new Date(NOW + hours * HOUR).toISOString()

describe('renews', () => {
  test.each([
    ['never', {}, null],
    ['with its next day', { renews: 'day' }, '2027-05-21T00:00:00.000Z'],
    ['with its next month', { renews: 'month' }, '2027-06-01T00:00:00.000Z'],
    ['no more once it was revoked', { renews: 'day', revokedAt: NOW - 1 }, null],
  ] as [string, Partial<Key>, string | null][])('%s', (_, more, renewsAt) =>
    expect(shown(more).renews_at).toBe(renewsAt),
  )
})

describe('its old secret is good', () => {
  test.each([
    ['not at all where there is none', {}, null],
    ['until its grace ends', { oldSecretUntil: NOW + HOUR }, at(1)],
    ['no longer than the key itself', { oldSecretUntil: NOW + 99 * HOUR }, at(9)],
    ['not once the grace has ended', { oldSecretUntil: NOW }, null],
    ['not once the key has', { oldSecretUntil: NOW + HOUR, expiresAt: NOW }, null],
    ['not of a key that was revoked', { oldSecretUntil: NOW + HOUR, revokedAt: NOW - 1 }, null],
  ])('%s', (_, more, until) => expect(shown(more).old_secret_until).toBe(until))
})

test.each([
  [30, 70],
  [100, 0],
  [130, 0],
])('of 100 tokens with %i used %i remain', (tokensUsed, remaining) =>
  expect(shown({ tokensUsed }).tokens_remaining).toBe(remaining),
)
