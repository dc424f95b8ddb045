// When a quota renews.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Key } from '../../src/keys/key.ts'
import { isRenewalDue, nextRenewal, RENEWALS, renewalWords, renewingOf } from '../../src/keys/renewal.ts'
import { calendarOf, UTC } from '../../src/lib/calendar.ts'
import { DAY, NOW } from '../store/support.ts'

const at = (text: string): number => Date.parse(text)

const key = (more: Partial<Key>): Key => ({
  ...{ id: 'key_1', label: 'k', createdAt: at('2026-01-01T00:00Z'), expiresAt: at('2030-01-01T00:00Z') },
  ...{ revokedAt: undefined, tokensTotal: 10, tokensUsed: 10, models: ['*'] },
  ...{ rpm: undefined, tpm: undefined, concurrency: undefined, ...more },
})

const ZONES = ['UTC', 'Asia/Phnom_Penh', 'Asia/Kathmandu', 'Europe/Berlin', 'America/Sao_Paulo', 'Pacific/Apia']

describe('the next renewal, by the clocks of a place,', () => {
  test.each([
    ['day', 'Asia/Phnom_Penh', '2026-11-22T16:59:59.999Z', '2026-11-22T17:00:00.000Z'],
    ['month', 'Asia/Phnom_Penh', '2026-11-30T16:59:59.999Z', '2026-11-30T17:00:00.000Z'],
    ['month', 'Asia/Phnom_Penh', '2026-11-30T17:00:00.000Z', '2026-12-31T17:00:00.000Z'],
    ['week', 'Asia/Phnom_Penh', '2026-11-22T17:00:00.000Z', '2026-11-29T17:00:00.000Z'],
    ['day', 'Europe/Berlin', '2026-03-28T23:00:00.000Z', '2026-03-29T22:00:00.000Z'],
    ['day', 'Europe/Berlin', '2026-10-24T22:00:00.000Z', '2026-10-25T23:00:00.000Z'],
    ['month', 'Europe/Berlin', '2026-03-15T12:00:00.000Z', '2026-03-31T22:00:00.000Z'],
    ['day', 'America/New_York', '2028-02-29T04:59:59.999Z', '2028-02-29T05:00:00.000Z'],
    ['day', 'America/New_York', '2028-02-29T05:00:00.000Z', '2028-03-01T05:00:00.000Z'],
    ['month', 'America/New_York', '2028-02-10T12:00:00.000Z', '2028-03-01T05:00:00.000Z'],
    ['day', 'Asia/Kathmandu', '2026-11-22T18:14:59.999Z', '2026-11-22T18:15:00.000Z'],
  ] as const)('of a %s in %s at %s is %s', (renews, zone, now, next) => {
    expect(new Date(nextRenewal(renews, at(now), calendarOf(zone) ?? UTC)).toISOString()).toBe(next)
  })
})

describe('the next renewal', () => {
  test.each([
    ['day', '2026-11-22T00:00:00.000Z', '2026-11-23T00:00:00.000Z'],
    ['day', '2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00.000Z'],
    ['week', '2026-11-22T23:59:59.999Z', '2026-11-23T00:00:00.000Z'],
    ['week', '2026-11-23T00:00:00.000Z', '2026-11-30T00:00:00.000Z'],
    ['week', '2026-12-31T12:00:00.000Z', '2027-01-04T00:00:00.000Z'],
    ['month', '2026-11-22T12:00:00.000Z', '2026-12-01T00:00:00.000Z'],
    ['month', '2026-12-31T23:59:59.999Z', '2027-01-01T00:00:00.000Z'],
    ['month', '2027-01-31T00:00:00.000Z', '2027-02-01T00:00:00.000Z'],
    ['month', '2028-02-29T12:00:00.000Z', '2028-03-01T00:00:00.000Z'],
  ] as const)('of a %s at %s is %s', (renews, now, next) => {
    expect(new Date(nextRenewal(renews, at(now), UTC)).toISOString()).toBe(next)
  })
})

test.each([
  [undefined, 'UTC', ''],
  ['day', 'UTC', ' It renews every day, at 00:00 UTC.'],
  ['week', 'Asia/Phnom_Penh', ' It renews every Monday, at 00:00 (Asia/Phnom_Penh).'],
  ['month', 'UTC', ' It renews on the first of every month, at 00:00 UTC.'],
] as const)('a renewal every %s in %s is said in a sentence', (renews, zone, words) =>
  expect(renewalWords(renews, calendarOf(zone) ?? UTC)).toBe(words),
)

describe('a renewal is due', () => {
  test.each<[string, Partial<Key>, string, boolean]>([
    ['never without one', {}, '2026-12-01T00:00Z', false],
    [
      'with the first moment of the month',
      { renews: 'month', renewedAt: at('2026-11-30T23:59:59.999Z') },
      '2026-12-01T00:00Z',
      true,
    ],
    ['not before', { renews: 'month', renewedAt: at('2026-11-01T00:00Z') }, '2026-11-30T23:59:59.999Z', false],
    ['not again', { renews: 'month', renewedAt: at('2026-12-01T00:00Z') }, '2026-12-31T23:59Z', false],
    [
      'after months without a server',
      { renews: 'month', renewedAt: at('2026-03-10T00:00Z') },
      '2026-11-22T00:00Z',
      true,
    ],
    [
      'for a new key with the next month',
      { renews: 'month', createdAt: at('2026-11-22T00:00Z') },
      '2026-11-30T00:00Z',
      false,
    ],
    ['not for a revoked key', { renews: 'day', revokedAt: at('2026-11-01T00:00Z') }, '2026-11-22T00:00Z', false],
    [
      'for an expired key, which may be extended',
      { renews: 'day', expiresAt: at('2026-11-22T00:00Z') },
      '2026-11-22T00:00Z',
      true,
    ],
    [
      'not when the clock was set back a little',
      { renews: 'day', renewedAt: at('2026-11-22T00:00Z') },
      '2026-11-21T23:59Z',
      false,
    ],
    [
      'when the clock was years ahead',
      { renews: 'day', renewedAt: at('2099-01-01T00:00Z') },
      '2026-11-22T12:00Z',
      true,
    ],
  ])('%s', (_when, more, now, due) => {
    expect(isRenewalDue(renewingOf(key(more)), at(now), UTC)).toBe(due)
  })

  test('once in each period, whenever it is looked for', () => {
    const looks = fc.array(fc.integer({ min: 1, max: 40 * DAY }), { minLength: 1, maxLength: 40, size: 'max' })
    fc.assert(
      fc.property(fc.constantFrom(...RENEWALS), looks, fc.constantFrom(...ZONES), (renews, steps, zone) => {
        const calendar = calendarOf(zone) ?? UTC
        let now = NOW
        let renewedAt = NOW
        for (const step of steps) {
          const next = nextRenewal(renews, renewedAt, calendar)
          now += step
          const due = isRenewalDue(renewingOf(key({ renews, renewedAt })), now, calendar)
          expect(due).toBe(now >= next)
          if (due) renewedAt = now
          expect(nextRenewal(renews, now, calendar)).toBeGreaterThan(now)
        }
      }),
    )
  })
})
