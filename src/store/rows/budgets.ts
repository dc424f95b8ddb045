// Budgets as rows, of either dialect: what changes set, what the audit is told, and those that are held in memory with who is
// in which team.

import {
  type Budget,
  type BudgetId,
  type BudgetTerms,
  budgetOf,
  GATEWAY,
  marksPassed,
  requireTerms,
  type Spent,
} from '../../keys/budget.ts'
import type { Budgets } from '../../keys/budgets.ts'
import type { budgets } from '../postgres/schema.ts'

/** Without what the ledger of several nodes alone has in them. */
export type BudgetRow = Omit<typeof budgets.$inferSelect, 'heldTokens' | 'heldMicroUsd'>

/** What a budget becomes by its terms; `was` undefined: there is none. Throws `invalid_request`. */
export const termsSet = (terms: BudgetTerms, was: BudgetRow | undefined, now: number) => {
  const { unit, amount, renews, warnAt } = requireTerms(terms)
  const set = { unit, amount, renews: renews ?? null, warnAt: [...warnAt] }
  if (was === undefined) return { ...set, usedTokens: 0, usedMicroUsd: 0, since: now, marked: 0 }
  return {
    ...set,
    // The first period of one that is to renew from now on is the next one; marks that are not passed any more count again.
    ...(was.renews === set.renews ? {} : { since: now }),
    marked: marksPassed({ ...set, used: { tokens: was.usedTokens, microUsd: was.usedMicroUsd } }, 0).at(-1) ?? 0,
  }
}

export const begunAnew = (now: number) => ({ usedTokens: 0, usedMicroUsd: 0, marked: 0, since: now })

/** What the audit records of a budget. */
export const auditedBudget = ({ unit, amount, renews, warnAt, usedTokens, usedMicroUsd, since }: BudgetRow) => ({
  ...{ unit, amount, renews, warnAt, since },
  used: unit === 'usd' ? usedMicroUsd : usedTokens,
})

type BudgetCache = Pick<Budgets, 'of' | 'get' | 'list'> & {
  /** `more`: what was spent and is not in the row yet. A row that is older than what is known changes nothing. */
  take(row: BudgetRow, more?: Spent): void
  /** All that there are, whatever was known. */
  takeAll(rows: readonly BudgetRow[]): void
  /** Who is in which team: of all members. */
  team(members: readonly { id: string; teamId: string | null }[]): void
}

const NONE: readonly Budget[] = []

export const createBudgetCache = (): BudgetCache => {
  const byId = new Map<BudgetId, Budget>()
  const versions = new Map<BudgetId, number>()
  const teamOf = new Map<string, string>()
  /** What was found for keys, until a budget comes or goes, or somebody changes teams. */
  const known = new Map<string, { ownerId: string | undefined; budgets: readonly Budget[] }>()
  const find = (id: string, ownerId: string | undefined): readonly Budget[] => {
    const team = ownerId === undefined ? undefined : teamOf.get(ownerId)
    const found: Budget[] = []
    for (const each of [
      byId.get(budgetOf('key', id)),
      ownerId === undefined ? undefined : byId.get(budgetOf('member', ownerId)),
      team === undefined ? undefined : byId.get(budgetOf('team', team)),
      byId.get(GATEWAY),
    ])
      if (each !== undefined) found.push(each)
    return found.length === 0 ? NONE : found
  }
  const cache: BudgetCache = {
    take(row, more) {
      if (row.version < (versions.get(row.id) ?? 0)) return
      versions.set(row.id, row.version)
      if (row.amount === null) {
        if (byId.delete(row.id)) known.clear()
        return
      }
      const fresh: Budget = {
        ...{ id: row.id, unit: row.unit, amount: row.amount, renews: row.renews ?? undefined, warnAt: row.warnAt },
        used: {
          tokens: row.usedTokens + (more?.tokens ?? 0),
          microUsd: row.usedMicroUsd + (more?.microUsd ?? 0),
        },
        since: row.since,
      }
      const before = byId.get(row.id)
      if (before !== undefined) {
        Object.assign(before, fresh)
        return
      }
      byId.set(row.id, fresh)
      known.clear()
    },
    takeAll(rows) {
      versions.clear()
      for (const row of rows) cache.take(row)
      for (const id of byId.keys()) if (!versions.has(id)) byId.delete(id)
      known.clear()
    },
    team(members) {
      known.clear()
      teamOf.clear()
      for (const { id, teamId } of members) if (teamId !== null) teamOf.set(id, teamId)
    },
    of({ id, ownerId }) {
      if (byId.size === 0) return NONE
      const before = known.get(id)
      if (before !== undefined && before.ownerId === ownerId) return before.budgets
      const budgets = find(id, ownerId)
      known.set(id, { ownerId, budgets })
      return budgets
    },
    get: (id) => byId.get(id),
    list: () => [...byId.values()],
  }
  return cache
}
