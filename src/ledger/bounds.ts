// What a request must fit into: the token quota of its key, and every budget that it counts against; each in its own unit.

import type { Price, Rates } from '../catalogue/model.ts'
import { type Budget, type BudgetId, ownerOfBudget, type Unit, usedOf } from '../keys/budget.ts'
import type { Key } from '../keys/key.ts'
import { type Renewal, renewalWords } from '../keys/renewal.ts'
import type { Calendar } from '../lib/calendar.ts'
import { SCALE, scaledRate } from './cost.ts'

/**
 * What tokens come to in a bound's unit, in whole millionths of it: `input` and `output` at most, `least` a token of the prompt
 * at least, and `fees` what comes on top at most, whole.
 */
export type Per = { input: number; output: number; least: number; fees: number }

/** One in each: what a quota counts. */
export const TOKENS: Per = { input: SCALE, output: SCALE, least: SCALE, fees: 0 }

/** `held`: by requests in flight. The words are of a client's errors. */
export type Bound = {
  readonly left: number
  readonly held: number
  readonly per: Per
  /** `token quota of this API key`, `budget of the team Blue (50 USD a month)`. */
  words(): string
  /** An amount in its unit; `plain`: where the unit has been told. */
  shown(amount: number, plain?: boolean): string
  /** When it renews, as a sentence; nothing where it does not. */
  renewal(): string
  /** What whoever is refused can do. */
  readonly ways: readonly string[]
}

/** What tokens come to at most, whole and rounded up. */
export const mostOf = ({ input, output, fees }: Per, prompt: number, answer: number): number =>
  Math.ceil((prompt * input + answer * output) / SCALE) + fees

const OF_QUOTAS = ['ask for more tokens', 'use another key']
const OF_BUDGETS = ['ask those who run the gateway for more']

export const quotaOf = (key: Key, held: number, calendar: Calendar): Bound => ({
  left: key.tokensTotal - key.tokensUsed,
  held,
  per: TOKENS,
  words: () => 'token quota of this API key',
  shown: (amount, plain) => (plain ? `${amount}` : `${amount} tokens`),
  renewal: () => renewalWords(key.renews, calendar),
  ways: OF_QUOTAS,
})

/** `nameOf`: what the owner is called; asked for the words of a refusal alone. */
type Budgeted = {
  budget: Budget
  held: number
  per: Per
  calendar: Calendar
  nameOf(id: BudgetId): string | undefined
}

export const boundOf = ({ budget, held, per, calendar, nameOf }: Budgeted): Bound => ({
  left: budget.amount - usedOf(budget),
  held,
  per,
  words: () => `budget of ${ownerWords(budget.id, nameOf)} (${termsWords(budget)})`,
  shown: (amount) => amountWords(amount, budget.unit),
  renewal: () => renewalWords(budget.renews, calendar),
  ways: OF_BUDGETS,
})

const ownerWords = (id: BudgetId, nameOf: (id: BudgetId) => string | undefined): string => {
  const { kind } = ownerOfBudget(id)
  if (kind === 'gateway') return 'the whole gateway'
  if (kind === 'key') return 'this API key'
  const name = nameOf(id)
  return name === undefined ? `its ${kind}` : kind === 'team' ? `the team ${name}` : name
}

const amountWords = (amount: number, unit: Unit): string =>
  unit === 'usd' ? `${Math.floor(amount) / 1_000_000} USD` : `${amount} tokens`

const termsWords = ({ amount, unit, renews }: { amount: number; unit: Unit; renews: Renewal | undefined }): string =>
  `${amountWords(amount, unit)}${renews === undefined ? ' in all' : ` a ${renews}`}`

/** The most, and of a prompt the least, that a token can cost by any of these prices. `times`: by the class of service. */
export const perOf = (prices: readonly (Price | undefined)[], inputEstimate: number, times = 1): Per => {
  const per = { input: 0, output: 0, least: Number.POSITIVE_INFINITY, fees: 0 }
  for (const price of prices) {
    if (price === undefined) {
      per.least = 0
      continue
    }
    for (const rates of price.long !== undefined && inputEstimate > price.long.above ? [price, price.long] : [price]) {
      per.input = Math.max(per.input, scaledRate(dearest(rates), times))
      per.output = Math.max(per.output, scaledRate(rates.output, times))
      per.least = Math.min(per.least, scaledRate(Math.min(rates.input, rates.cacheRead, rates.cacheWrite)))
    }
    for (const kind of [price.audio, price.image]) {
      if (kind === undefined) continue
      per.input = Math.max(per.input, scaledRate(Math.max(kind.input, kind.cacheRead), times))
      per.output = Math.max(per.output, scaledRate(kind.output, times))
      per.least = Math.min(per.least, scaledRate(Math.min(kind.input, kind.cacheRead)))
    }
  }
  if (!Number.isFinite(per.least)) per.least = 0
  return per
}

const dearest = ({ input, cacheRead, cacheWrite, cacheWrite1h = 0 }: Rates): number =>
  Math.max(input, cacheRead, cacheWrite, cacheWrite1h)

/** The most that the classes of service and the region asked for make of any of these prices; no less than the usual. */
export const timesOf = (classes: readonly string[], prices: readonly (Price | undefined)[]): number =>
  classes.length === 0
    ? 1
    : prices.reduce((most, price) => {
        const tiers = price?.serviceTiers ?? {}
        const times = classes.reduce((all, name) => all * (Object.hasOwn(tiers, name) ? (tiers[name] ?? 1) : 1), 1)
        return Math.max(most, times)
      }, 1)
