// Budgets: what a key, a member, a team or the whole gateway may use, in money or tokens, once or in every period.

import type { Actor, Key } from './key.ts'
import type { Renewal } from './renewal.ts'

export const UNITS = ['usd', 'tokens'] as const
export type Unit = (typeof UNITS)[number]

export const BUDGET_KINDS = ['key', 'member', 'team', 'gateway'] as const
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

export type Budgets = {
  /** Those that a key's requests count against: its own, its member's, their team's, the gateway's. Hot path: no query. */
  of(key: Pick<Key, 'id' | 'ownerId'>): readonly Budget[]
  get(id: BudgetId): Budget | undefined
  list(): Budget[]
  /** Null: there is none any more. What was used stays where only the terms change. Throws `invalid_request` for what is no budget. */
  set(id: BudgetId, terms: BudgetTerms | null, actor: Actor): Budget | undefined
  /** Sets what was used back to 0: for a new period, or by an admin. */
  renew(id: BudgetId, actor?: Actor): void
  /** What a member or a team is called, or a key. */
  nameOf(id: BudgetId): string | undefined
  /** The marks that were passed after a row (0: all), oldest first. */
  marks(after: number, limit: number): BudgetMark[]
  /** Calls once marks were passed and are durable, until the returned function is called. */
  onMarks(listener: () => void): () => void
}
