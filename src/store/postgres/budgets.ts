// Budgets in PostgreSQL, all held in memory with who is in which team: admission runs no query.

import { and, asc, eq, getTableColumns, gt, isNotNull, isNull } from 'drizzle-orm'
import { type BudgetId, type BudgetMark, type BudgetTerms, ownerOfBudget } from '../../keys/budget.ts'
import type { Budgets } from '../../keys/budgets.ts'
import { auditedBudget, begunAnew, createBudgetCache, termsSet } from '../rows/budgets.ts'
import { RENEWAL } from '../rows/keys.ts'
import type { Changes, Changing } from './change.ts'
import type { Orm } from './orm.ts'
import { keys, budgetMarks as marksTable, members, budgets as table, teams } from './schema.ts'
import { writtenSince } from './versions.ts'

export type BudgetRing = {
  budgets: Budgets
  /** Sets a budget as part of a change to its owner, whose row is locked by then. Call `reload` once that is durable. */
  put(id: BudgetId, terms: BudgetTerms | null, changing: Changing): Promise<void>
  /** Reads what was changed after a version (0: all of it, whatever was known; absent: the last one read), and who is in which team. */
  reload(after?: number): Promise<void>
  /** Reads rows that transactions from this one on have written, of usage too. */
  reloadSince(transaction: string): Promise<void>
  /** Marks were passed, on whichever node. */
  passed(): void
}

/** What the ledger alone reads stays where it is. */
const { heldTokens, heldMicroUsd, ...columns } = getTableColumns(table)

export const createBudgetRing = (orm: Orm, { change }: Changes): BudgetRing => {
  const cache = createBudgetCache()
  const listeners = new Set<() => void>()
  let read = 0

  const reload = async (after = read): Promise<void> => {
    read = after
    const rows = await orm.select(columns).from(table).where(gt(table.version, after))
    const inTeams = and(isNotNull(members.teamId), isNull(members.removedAt))
    cache.team(await orm.select({ id: members.id, teamId: members.teamId }).from(members).where(inTeams))
    if (after === 0) cache.takeAll(rows)
    else for (const row of rows) cache.take(row)
  }

  const put = async (id: BudgetId, terms: BudgetTerms | null, { tx, note, now, version }: Changing): Promise<void> => {
    const [before] = await tx.select(columns).from(table).where(eq(table.id, id)).for('update')
    const was = before === undefined || before.amount === null ? undefined : before
    if (terms === null) {
      if (was === undefined) return
      await tx.update(table).set({ amount: null, version }).where(eq(table.id, id))
      await note('budget.remove', id, auditedBudget(was), null)
      return
    }
    const set = { ...termsSet(terms, was, now), version }
    const [after] = await tx
      .insert(table)
      .values({ id, since: now, ...set })
      .onConflictDoUpdate({ target: table.id, set })
      .returning(columns)
    if (after !== undefined)
      await note('budget.set', id, was === undefined ? null : auditedBudget(was), auditedBudget(after))
  }

  return {
    budgets: {
      of: cache.of,
      get: cache.get,
      list: cache.list,
      async set(id, terms, actor) {
        await change(actor, (changing) => put(id, terms, changing))
        await reload()
        return cache.get(id)
      },
      async renew(id, actor = RENEWAL) {
        const known = cache.get(id)?.since
        await change(actor, async ({ tx, note, now, version }) => {
          const [before] = await tx.select(columns).from(table).where(eq(table.id, id)).for('update')
          if (before === undefined || before.amount === null) return
          // Another node has begun the period meanwhile.
          if (actor === RENEWAL && before.since !== known) return
          const set = { ...begunAnew(now), version }
          const [after = before] = await tx.update(table).set(set).where(eq(table.id, id)).returning(columns)
          // Of one that nobody used there is nothing to tell.
          if (before.usedTokens + before.usedMicroUsd > 0)
            await note('budget.renew', id, auditedBudget(before), auditedBudget(after))
        })
        await reload()
      },
      async nameOf(budget) {
        const { kind, id } = ownerOfBudget(budget)
        if (kind === 'gateway') return undefined
        const named = { key: keys, member: members, team: teams }[kind]
        const name = named === keys ? keys.label : named === members ? members.name : teams.name
        const [found] = await orm.select({ name }).from(named).where(eq(named.id, id))
        return found?.name
      },
      marks: async (after, limit) =>
        (await orm
          .select()
          .from(marksTable)
          .where(gt(marksTable.row, after))
          .orderBy(asc(marksTable.row))
          .limit(limit)) satisfies BudgetMark[],
      onMarks(listener) {
        listeners.add(listener)
        return () => void listeners.delete(listener)
      },
    },
    put,
    reload,
    async reloadSince(transaction) {
      for (const row of await orm.select(columns).from(table).where(writtenSince(transaction))) cache.take(row)
    },
    passed() {
      for (const listener of listeners) listener()
    },
  }
}
