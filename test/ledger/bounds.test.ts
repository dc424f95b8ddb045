// What a request must fit into: what tokens come to at most in a bound's unit, and the words of who has no room left.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Price } from '../../src/catalogue/model.ts'
import { budgetOf, GATEWAY, termsOf, type WrittenBudget } from '../../src/keys/budget.ts'
import { boundOf, mostOf, type Per, perOf, TOKENS, timesOf } from '../../src/ledger/bounds.ts'
import { SCALE, scaledRate } from '../../src/ledger/cost.ts'
import { UTC } from '../../src/lib/calendar.ts'

const rate = fc.integer({ min: 0, max: 100 })
const rates = fc.record({ input: rate, output: rate, cacheRead: rate, cacheWrite: rate, cacheWrite1h: rate })
const kind = fc.record({ input: rate, cacheRead: rate, output: rate })
const price: fc.Arbitrary<Price> = fc
  .tuple(
    rates,
    fc.record(
      { long: rates.map((each) => ({ ...each, above: 1_000 })), audio: kind, image: kind },
      { requiredKeys: [] },
    ),
  )
  .map(([usual, more]) => ({ ...usual, ...more }))

describe('tokens come to', () => {
  test('one each in a quota, rounded up, and fees beside them', () => {
    expect(mostOf(TOKENS, 7, 5)).toBe(12)
    expect(mostOf({ input: SCALE / 2, output: SCALE * 3, least: 0, fees: 11 }, 3, 2)).toBe(2 + 6 + 11)
  })

  test('the dearest that any class of them has by any price, and of a prompt no less than the cheapest', () =>
    fc.assert(
      fc.property(fc.array(price, { minLength: 1, maxLength: 3 }), fc.constantFrom(1_000, 1_001), (prices, prompt) => {
        const all = prices.flatMap(({ long, audio, image, ...usual }) => {
          const plain = [usual, ...(long !== undefined && prompt > long.above ? [long] : [])]
          const kinds = [audio, image].filter((each) => each !== undefined)
          return [
            ...plain.map((each) => ({
              prompts: [each.input, each.cacheRead, each.cacheWrite, each.cacheWrite1h ?? 0],
              cheap: Math.min(each.input, each.cacheRead, each.cacheWrite),
              output: each.output,
            })),
            ...kinds.map((each) => ({
              prompts: [each.input, each.cacheRead],
              cheap: Math.min(each.input, each.cacheRead),
              output: each.output,
            })),
          ]
        })
        const wanted: Per = {
          input: scaledRate(Math.max(...all.flatMap(({ prompts }) => prompts)), 2),
          output: scaledRate(Math.max(...all.map(({ output }) => output)), 2),
          least: scaledRate(Math.min(...all.map(({ cheap }) => cheap))),
          fees: 0,
        }
        expect(perOf(prices, prompt, 2)).toEqual(wanted)
        // Of one that has no price nothing is sure.
        expect(perOf([...prices, undefined], prompt, 2)).toEqual({ ...wanted, least: 0 })
      }),
    ))

  test('nothing by no price', () => expect(perOf([], 1)).toEqual({ input: 0, output: 0, least: 0, fees: 0 }))

  test('so many times as much as the classes of service together say, and never less than the usual', () => {
    const tiered = (serviceTiers: Record<string, number>) => ({
      input: 1,
      output: 1,
      cacheRead: 1,
      cacheWrite: 1,
      serviceTiers,
    })
    const prices = [tiered({ fast: 2, us: 1.5, flex: 0.5 }), tiered({ fast: 3 }), undefined]
    for (const [classes, times] of [
      [[], 1],
      [['fast'], 3],
      [['fast', 'us'], 3],
      [['us'], 1.5],
      [['flex'], 1],
      [['constructor'], 1],
    ] as const)
      expect([classes, timesOf(classes, prices)]).toEqual([classes, times])
  })
})

describe('a budget', () => {
  const bound = (id: string, terms: WrittenBudget, name?: string) => {
    const budget = { ...termsOf(terms), id, used: { tokens: 30, microUsd: 40 }, since: 0 }
    return boundOf({ budget, held: 7, per: TOKENS, calendar: UTC, nameOf: () => name })
  }

  test.each<[string, string, WrittenBudget, string | undefined]>([
    ['budget of the whole gateway (500 USD a month)', GATEWAY, { usd: 500, renews: 'month' }, undefined],
    ['budget of this API key (0.000001 USD in all)', budgetOf('key', 'key_1'), { usd: 0.000001 }, 'its label'],
    ['budget of the team Blue (9 tokens a day)', budgetOf('team', 't'), { tokens: 9, renews: 'day' }, 'Blue'],
    ['budget of Dara (9 tokens a week)', budgetOf('member', 'm'), { tokens: 9, renews: 'week' }, 'Dara'],
    ['budget of its member (9 tokens in all)', budgetOf('member', 'm'), { tokens: 9, renews: 'never' }, undefined],
  ])('is told as the %s', (words, id, terms, name) => expect(bound(id, terms, name).words()).toBe(words))

  test('has left what was not used of it, in its own unit', () => {
    expect([bound(GATEWAY, { usd: 1 }).left, bound(GATEWAY, { usd: 1 }).held]).toEqual([999_960, 7])
    expect(bound(GATEWAY, { tokens: 100 }).left).toBe(70)
    expect([bound(GATEWAY, { usd: 1 }).shown(1_500_000), bound(GATEWAY, { tokens: 1 }).shown(3)]).toEqual([
      '1.5 USD',
      '3 tokens',
    ])
    expect(bound(GATEWAY, { tokens: 1, renews: 'day' }).renewal()).toBe(' It renews every day, at 00:00 UTC.')
  })
})
