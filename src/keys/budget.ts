// Budgets: what a key, a member, a team or the whole gateway may use, in money or tokens, once or in every period.

import { invalidRequest } from '../errors.ts'
import type { Renewal } from './renewal.ts'

export const UNITS = ['usd', 'tokens'] as const
export type Unit = (typeof UNITS)[number]

const BUDGET_KINDS = ['key', 'member', 'team', 'gateway'] as const
export type BudgetKind = (typeof BUDGET_KINDS)[number]

/** `key:key_…`, `member:mem_…`, `team:team_…`, or `gateway`. */
export type BudgetId = string

export const GATEWAY: BudgetId = 'gateway'

export const budgetOf = (kind: Exclude<BudgetKind, 'gateway'>, id: string): BudgetId => `${kind}:${id}`

/** Whose budget it is; `id` is empty for the gateway's. */
export const ownerOfBudget = (budget: BudgetId): { kind: BudgetKind; id: string } => {
  const [word = '', ...id] = budget.split(':')
  const kind = BUDGET_KINDS.find((each) => each === word) ?? 'gateway'
  return { kind, id: id.join(':') }
}

/** `amount`: whole micro-USD, or tokens. `renews` undefined: never. `warnAt`: percent of the amount, in order. */
export type BudgetTerms = { unit: Unit; amount: number; renews: Renewal | undefined; warnAt: readonly number[] }

/** What was used: both, whatever the unit is. */
export type Spent = { tokens: number; microUsd: number }

/**
 * `used` is live in the server: settled exchanges only. `since`: from when it counts, in ms since the epoch. The same object for
 * as long as the store is open.
 */
export type Budget = BudgetTerms & { readonly id: BudgetId; readonly used: Spent; since: number }

/** A mark that a budget has passed, once in a period. `row` grows from one to the next. */
export type BudgetMark = {
  row: number
  at: number
  budget: BudgetId
  since: number
  mark: number
  unit: Unit
  amount: number
  used: number
}

export const usedOf = ({ unit, used }: Pick<Budget, 'unit' | 'used'>): number =>
  unit === 'usd' ? used.microUsd : used.tokens

/** Whether two say the same. */
export const isSameBudget = (a: BudgetTerms, b: BudgetTerms): boolean =>
  a.unit === b.unit && a.amount === b.amount && a.renews === b.renews && a.warnAt.join() === b.warnAt.join()

/** What is left of it; never less than 0. */
export const leftOfBudget = (budget: Pick<Budget, 'unit' | 'amount' | 'used'>): number =>
  Math.max(0, budget.amount - usedOf(budget))

/** The marks above one (0: all) that what was used has reached, in order. */
export const marksPassed = (budget: Pick<Budget, 'unit' | 'amount' | 'used' | 'warnAt'>, above: number): number[] => {
  // In whole hundredths of the amount, so that 80 of 100 is 80 percent.
  const used = usedOf(budget) * 100
  return budget.warnAt.filter((mark) => mark > above && used >= budget.amount * mark).toSorted((a, b) => a - b)
}

/** More than any vendor bills, and exact in hundredths. */
const MOST = Number.MAX_SAFE_INTEGER / 100
/** A mark may lie behind the end: a last request may go past it. */
const MOST_PERCENT = 1_000
const MOST_MARKS = 10

/** The marks of a budget whose maker names none. */
const WARN_AT: readonly number[] = [80, 100]

/** The terms, their marks in order and each once. Throws `invalid_request` that names the member. */
export const requireTerms = ({ unit, amount, renews, warnAt }: BudgetTerms): BudgetTerms => {
  if (!Number.isSafeInteger(amount) || amount < 0 || amount > MOST)
    throw invalidRequest(
      `The amount of a budget must be 0 or more, in whole ${unit === 'usd' ? 'millionths of a USD' : 'tokens'}.`,
      'budget',
    )
  if (warnAt.length > MOST_MARKS || warnAt.some((mark) => !Number.isInteger(mark) || mark < 1 || mark > MOST_PERCENT))
    throw invalidRequest(`The warn_at of a budget must be up to ${MOST_MARKS} whole numbers of percent.`, 'budget')
  return { unit, amount, renews, warnAt: [...new Set(warnAt)].toSorted((a, b) => a - b) }
}

/** As people write one, in the configuration and the admin API: one of `usd` and `tokens`. */
export type WrittenBudget = {
  usd?: number | undefined
  tokens?: number | undefined
  renews?: Renewal | 'never' | undefined
  warn_at?: readonly number[] | undefined
}

/** Throws `invalid_request`. */
export const termsOf = ({ usd, tokens, renews = 'never', warn_at = WARN_AT }: WrittenBudget): BudgetTerms => {
  if ((usd === undefined) === (tokens === undefined))
    throw invalidRequest('A budget is in usd or in tokens: give one of them.', 'budget')
  return requireTerms({
    // Cents and their parts are no binary fractions: 0.1 is 100,000 millionths all the same.
    ...(usd === undefined ? { unit: 'tokens', amount: tokens ?? 0 } : { unit: 'usd', amount: Math.round(usd * 1e6) }),
    renews: renews === 'never' ? undefined : renews,
    warnAt: warn_at,
  })
}

/** The way back. */
export const writtenBudget = ({ unit, amount, renews, warnAt }: BudgetTerms) => ({
  ...(unit === 'usd' ? { usd: amount / 1e6 } : { tokens: amount }),
  renews: renews ?? ('never' as const),
  warn_at: [...warnAt],
})
