// Budgets in SQLite, all held in memory with who is in which team: admission runs no query.

import type { Database } from 'bun:sqlite'
import { and, eq, gt, isNotNull, isNull, sql } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import {
  type BudgetId,
  type BudgetMark,
  type BudgetTerms,
  marksPassed,
  ownerOfBudget,
  type Spent,
  usedOf,
} from '../../keys/budget.ts'
import type { Budgets } from '../../keys/budgets.ts'
import type { Actor } from '../../keys/key.ts'
import { auditedBudget, type BudgetRow, begunAnew, createBudgetCache, termsSet } from '../rows/budgets.ts'
import { RENEWAL } from '../rows/keys.ts'
import type { Change, Note, Transaction } from './change.ts'
import type { AtOnce } from './patient.ts'
import { keys, budgetMarks as marksTable, members, budgets as table, teams } from './schema.ts'

/** What was spent, by the budgets it counts against. */
export type Charges = ReadonlyMap<BudgetId, Spent>

export type BudgetRing = {
  budgets: AtOnce<Budgets>
  /** Adds what was spent to budgets in memory. */
  charge(ids: readonly BudgetId[], spent: Spent): void
  /** Writes what was charged, and the marks it passed, within a transaction of the journal's. Returns whether it passed some. */
  write(charges: Charges): boolean
  /** What was charged has been written. */
  written(charges: Charges, passed: boolean): void
  /** Sets a budget as part of a change to its owner. Call `reload` once that is durable. */
  put(id: BudgetId, terms: BudgetTerms | null, tx: Transaction, note: Note): void
  /** Reloads what other processes changed, and who is in which team. `all`: also counters. */
  reload(all: boolean): void
}

const CHARGE = `
  UPDATE budgets SET used_tokens = used_tokens + ?, used_micro_usd = used_micro_usd + ? WHERE id = ? AND amount IS NOT NULL
  RETURNING unit, amount, warn_at AS warnAt, used_tokens AS tokens, used_micro_usd AS microUsd, since, marked`
const MARK = `
  INSERT OR IGNORE INTO budget_marks (at, budget, since, mark, unit, amount, used) VALUES (?, ?, ?, ?, ?, ?, ?)`

type Charged = Pick<BudgetRow, 'unit' | 'since' | 'marked'> & Spent & { amount: number; warnAt: string }

export const createBudgetRing = (
  db: Database,
  orm: BunSQLiteDatabase,
  change: Change,
  clock: () => number,
): BudgetRing => {
  const cache = createBudgetCache()
  /** Charged and not yet in the database. */
  const unwritten = new Map<BudgetId, Spent>()
  const listeners = new Set<() => void>()
  const charging = db.query<Charged, [number, number, string]>(CHARGE)
  const marking = db.query(MARK)
  const marked = db.query('UPDATE budgets SET marked = ? WHERE id = ?')
  let version = 0

  const take = (row: BudgetRow): void => cache.take(row, unwritten.get(row.id))
  const reload = (all: boolean): void => {
    for (const row of all
      ? orm.select().from(table).all()
      : orm.select().from(table).where(gt(table.version, version)).all()) {
      take(row)
      version = Math.max(version, row.version)
    }
    const inTeams = and(isNotNull(members.teamId), isNull(members.removedAt))
    cache.team(orm.select({ id: members.id, teamId: members.teamId }).from(members).where(inTeams).all())
  }
  reload(true)

  const put = (id: BudgetId, terms: BudgetTerms | null, tx: Transaction, note: Note): void => {
    const before = tx.select().from(table).where(eq(table.id, id)).get()
    const was = before === undefined || before.amount === null ? undefined : before
    if (terms === null) {
      if (was === undefined) return
      tx.update(table).set({ amount: null, version: NEXT_VERSION }).where(eq(table.id, id)).run()
      note('budget.remove', id, auditedBudget(was), null)
      return
    }
    const set = { ...termsSet(terms, was, clock()), version: NEXT_VERSION }
    const after = tx
      .insert(table)
      .values({ id, since: clock(), ...set })
      .onConflictDoUpdate({ target: table.id, set })
      .returning()
      .get()
    note('budget.set', id, was === undefined ? null : auditedBudget(was), auditedBudget(after))
  }

  const renew = (id: BudgetId, actor: Actor): void => {
    const after = change(actor, (tx, note) => {
      const before = tx.select().from(table).where(eq(table.id, id)).get()
      if (before === undefined || before.amount === null) return undefined
      const set = { ...begunAnew(clock()), version: NEXT_VERSION }
      const row = tx.update(table).set(set).where(eq(table.id, id)).returning().get()
      // Of one that nobody used there is nothing to tell.
      if (before.usedTokens + before.usedMicroUsd > 0)
        note('budget.renew', id, auditedBudget(before), auditedBudget(row))
      return row
    })
    if (after !== undefined) take(after)
  }

  const budgets: AtOnce<Budgets> = {
    of: cache.of,
    get: cache.get,
    list: cache.list,
    set(id, terms, actor) {
      change(actor, (tx, note) => put(id, terms, tx, note))
      reload(false)
      return cache.get(id)
    },
    renew: (id, actor = RENEWAL) => renew(id, actor),
    nameOf(budget) {
      const { kind, id } = ownerOfBudget(budget)
      if (kind === 'gateway') return undefined
      if (kind === 'key') return orm.select({ name: keys.label }).from(keys).where(eq(keys.id, id)).get()?.name
      const named = kind === 'team' ? teams : members
      return orm.select({ name: named.name }).from(named).where(eq(named.id, id)).get()?.name
    },
    marks: (after, limit) =>
      orm
        .select()
        .from(marksTable)
        .where(gt(marksTable.row, after))
        .orderBy(marksTable.row)
        .limit(limit)
        .all() satisfies BudgetMark[],
    onMarks(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }

  return {
    budgets,
    charge(ids, spent) {
      for (const id of ids) {
        unwritten.set(id, plus(unwritten.get(id), spent))
        const budget = cache.get(id)
        if (budget === undefined) continue
        budget.used.tokens += spent.tokens
        budget.used.microUsd += spent.microUsd
      }
    },
    write(charges) {
      let passed = false
      for (const [id, { tokens, microUsd }] of charges) {
        const row = charging.get(tokens, microUsd, id)
        if (row === null) continue
        const { unit, amount, since, marked: before } = row
        const budget = { unit, amount, warnAt: JSON.parse(row.warnAt) as number[], used: row }
        const marks = marksPassed(budget, before)
        for (const mark of marks) marking.run(clock(), id, since, mark, unit, amount, usedOf(budget))
        const last = marks.at(-1)
        if (last === undefined) continue
        marked.run(last, id)
        passed = true
      }
      return passed
    },
    written(charges, passed) {
      for (const [id, { tokens, microUsd }] of charges) {
        const left = plus(unwritten.get(id), { tokens: -tokens, microUsd: -microUsd })
        if (left.tokens > 0 || left.microUsd > 0) unwritten.set(id, left)
        else unwritten.delete(id)
      }
      if (passed) for (const listener of listeners) listener()
    },
    put,
    reload,
  }
}

const NEXT_VERSION = sql<number>`(SELECT coalesce(max(version), 0) + 1 FROM budgets)`

const plus = (a: Spent | undefined, b: Spent): Spent => ({
  tokens: (a?.tokens ?? 0) + b.tokens,
  microUsd: (a?.microUsd ?? 0) + b.microUsd,
})
