// What a table of usage for spreadsheets says of money.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { khrOf, usageCsv } from '../../src/lib/usage-csv.ts'

const NONE = { requests: 1, errors: 0, input: 0, cache_read: 0, cache_write: 0, output: 0, reasoning: 0 }

describe('riel', () => {
  test('are rounded as whole numbers are: half a hundredth up, whatever a fraction of a dollar is in binary', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1e9 }), fc.integer({ min: 1, max: 20_000 }), (microUsd, rate) => {
        const hundredths = (BigInt(microUsd) * BigInt(rate) + 5_000n) / 10_000n
        expect(khrOf(microUsd, rate)).toBe(Number(hundredths) / 100)
      }),
      { examples: [[9_450, 4_100]] },
    )
  })

  test('of a table are those', () => {
    const sums = { ...NONE, cost_micro_usd: 9_450, fees_micro_usd: 9_000 }
    const table = usageCsv({ by: 'model' }, [{ group: 'a', label: 'a', sums }], sums, 4_100)
    expect(table.trim().split('\r\n').slice(1)).toEqual([
      'a,1,0,0,0,0,0,0,0,0.00945,38.75,0.009',
      'total,1,0,0,0,0,0,0,0,0.00945,38.75,0.009',
    ])
  })
})

test('days have a column of their own where each is told by itself', () => {
  const sums = { ...NONE, cost_micro_usd: 9_450, fees_micro_usd: 0 }
  const rows = ['2026-09-01', '2026-09-02'].map((day) => ({ group: 'p/main', label: 'p/main', day, sums }))
  const lines = usageCsv({ by: 'account', daily: true }, rows, { ...sums, requests: 2, cost_micro_usd: 18_900 }, 4_100)
    .trim()
    .split('\r\n')
  expect(lines.map((line) => line.split(',').slice(0, 3))).toEqual([
    ['day', 'account', 'requests'],
    ['2026-09-01', 'p/main', '1'],
    ['2026-09-02', 'p/main', '1'],
    ['total', '', '2'],
  ])
})

test('a table of days has their column where nothing was used, too', () => {
  const sums = { ...NONE, requests: 0, cost_micro_usd: 0, fees_micro_usd: 0 }
  const lines = usageCsv({ by: 'account', daily: true }, [], sums, 4_100).trim().split('\r\n')
  expect(lines.map((line) => line.split(',').slice(0, 3))).toEqual([
    ['day', 'account', 'requests'],
    ['total', '', '0'],
  ])
})

test('a table by day has it once', () => {
  const sums = { ...NONE, cost_micro_usd: 9_450, fees_micro_usd: 0 }
  const rows = [{ group: '2026-09-01', label: '2026-09-01', sums }]
  const lines = usageCsv({ by: 'day', daily: true }, rows, sums, 4_100).trim().split('\r\n')
  expect(lines.map((line) => line.split(',')[0])).toEqual(['day', '2026-09-01', 'total'])
})
