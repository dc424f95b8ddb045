// The rules of budgets: how one is written, when two say the same, what is left, and which marks are passed.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type BudgetTerms,
  budgetOf,
  GATEWAY,
  isSameBudget,
  leftOfBudget,
  marksPassed,
  ownerOfBudget,
  requireTerms,
  termsOf,
  usedOf,
  writtenBudget,
} from '../../src/keys/budget.ts'
import { RENEWALS } from '../../src/keys/renewal.ts'

const MOST = Math.floor(Number.MAX_SAFE_INTEGER / 100)
const percent = fc.integer({ min: 1, max: 1_000 })
const written = fc.record(
  {
    renews: fc.constantFrom(...RENEWALS, 'never' as const),
    warn_at: fc.array(percent, { maxLength: 10 }),
  },
  { requiredKeys: [] },
)
const terms = fc
  .tuple(written, fc.constantFrom('usd', 'tokens'), fc.nat(1_000_000_000))
  .map(([more, unit, amount]) => termsOf({ ...more, [unit]: unit === 'usd' ? amount / 1e6 : amount }))
const spent = fc.record({ tokens: fc.nat(2_000), microUsd: fc.nat(2_000) })

describe('a budget', () => {
  test('belongs to who its id says, whatever is in theirs', () =>
    fc.assert(
      fc.property(fc.constantFrom('key' as const, 'member' as const, 'team' as const), fc.string(), (kind, id) => {
        expect(ownerOfBudget(budgetOf(kind, id))).toEqual({ kind, id })
        expect(ownerOfBudget(GATEWAY)).toEqual({ kind: 'gateway', id: '' })
      }),
    ))

  test('is written as it was given, to the millionth', () =>
    fc.assert(
      fc.property(terms, (given) => {
        expect(termsOf(writtenBudget(given))).toEqual(given)
        expect(isSameBudget(given, termsOf(writtenBudget(given)))).toBe(true)
      }),
    ))

  test('says another thing where any of its terms is another', () =>
    fc.assert(
      fc.property(terms, (given) => {
        const others: BudgetTerms[] = [
          { ...given, unit: given.unit === 'usd' ? 'tokens' : 'usd' },
          { ...given, amount: given.amount + 1 },
          { ...given, renews: given.renews === 'day' ? undefined : 'day' },
          { ...given, warnAt: [...given.warnAt, 1_001] },
        ]
        for (const other of others) expect(isSameBudget(given, other)).toBe(false)
      }),
    ))

  test('is warned of at 80 and 100 percent where nobody says when, and at no mark twice', () => {
    expect(termsOf({ tokens: 1 }).warnAt).toEqual([80, 100])
    expect(termsOf({ tokens: 1, warn_at: [] }).warnAt).toEqual([])
    expect(termsOf({ usd: 1, warn_at: [100, 5, 100, 30] }).warnAt).toEqual([5, 30, 100])
  })

  const usual: BudgetTerms = { unit: 'usd', amount: 1, renews: undefined, warnAt: [] }
  test.each<[string, () => unknown]>([
    ['both', () => termsOf({ usd: 1, tokens: 1 })],
    ['neither', () => termsOf({})],
    ['less than nothing', () => termsOf({ usd: -0.01 })],
    ['part of a token', () => termsOf({ tokens: 0.5 })],
    ['more than is exact', () => requireTerms({ ...usual, amount: MOST + 1 })],
    ['a mark of 0 percent', () => requireTerms({ ...usual, warnAt: [0] })],
    ['a mark of 1,001 percent', () => requireTerms({ ...usual, warnAt: [1_001] })],
    ['half a percent', () => requireTerms({ ...usual, warnAt: [50.5] })],
    ['eleven marks', () => requireTerms({ ...usual, warnAt: [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11] })],
  ])('of %s is refused', (_, make) => expect(make).toThrow(/budget/i))

  test.each<[string, BudgetTerms]>([
    ['nothing', { ...usual, amount: 0 }],
    ['the most that is exact', { ...usual, unit: 'tokens', amount: MOST }],
    ['ten marks, the last far behind its end', { ...usual, warnAt: [1, 2, 3, 4, 5, 6, 7, 8, 9, 1_000] }],
  ])('of %s is none that is refused', (_, given) => expect(requireTerms(given)).toEqual(given))
})

describe('what was used of it', () => {
  test('counts in its own unit, and leaves the rest and never less than nothing', () =>
    fc.assert(
      fc.property(spent, fc.nat(2_000), (used, amount) => {
        expect(usedOf({ unit: 'usd', used })).toBe(used.microUsd)
        expect(usedOf({ unit: 'tokens', used })).toBe(used.tokens)
        expect(leftOfBudget({ unit: 'tokens', amount, used })).toBe(Math.max(0, amount - used.tokens))
      }),
    ))

  test('passes a mark with the first token that reaches it', () => {
    for (const amount of [1, 7, 100, 300])
      for (let mark = 1; mark <= 1_000; mark++) {
        const least = Math.ceil((amount * mark) / 100)
        const passed = (tokens: number) =>
          marksPassed({ unit: 'tokens', amount, used: { tokens, microUsd: 0 }, warnAt: [mark] }, 0)
        expect([amount, mark, passed(least), passed(least - 1)]).toEqual([amount, mark, [mark], []])
      }
  })

  test('passes them in order, and none again', () => {
    const budget = { unit: 'usd' as const, amount: 100, used: { tokens: 0, microUsd: 90 }, warnAt: [100, 90, 50, 80] }
    expect([0, 50, 89, 90].map((above) => marksPassed(budget, above))).toEqual([[50, 80, 90], [80, 90], [90], []])
  })
})
