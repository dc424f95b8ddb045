// The budgets there are: the port of the store that admission, the ledger and the admin API know.

import { type Budget, type BudgetId, type BudgetMark, type BudgetTerms, GATEWAY } from './budget.ts'
import type { Actor, Key } from './key.ts'

export type Budgets = {
  /** Those that a key's requests count against: its own, its member's, their team's, the gateway's. Hot path: no query. */
  of(key: Pick<Key, 'id' | 'ownerId'>): readonly Budget[]
  get(id: BudgetId): Budget | undefined
  list(): Budget[]
  /** Null: there is none any more. What was used stays where only the terms change. Throws `invalid_request` for what is no budget. */
  set(id: BudgetId, terms: BudgetTerms | null, actor: Actor): Promise<Budget | undefined>
  /** Sets what was used back to 0: for a new period, or by an admin. */
  renew(id: BudgetId, actor?: Actor): Promise<void>
  /** What a member or a team is called, or a key. */
  nameOf(id: BudgetId): Promise<string | undefined>
  /** The marks that were passed after a row (0: all), oldest first. */
  marks(after: number, limit: number): Promise<BudgetMark[]>
  /** Calls once marks were passed and are durable, until the returned function is called. */
  onMarks(listener: () => void): () => void
}

/** Whether a budget of a member's own, or of their team, bounds all of their keys together. */
export const isBudgeted = (budgets: Pick<Budgets, 'of'>, memberId: string): boolean =>
  budgets.of({ id: '', ownerId: memberId }).some(({ id }) => id !== GATEWAY)
