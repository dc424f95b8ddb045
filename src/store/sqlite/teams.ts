// Teams in SQLite. They are few, so each request reads them anew.

import { and, eq, ne, sql } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import { GatewayError, invalidRequest } from '../../errors.ts'
import { budgetOf } from '../../keys/budget.ts'
import { randomBase62 } from '../../keys/secret.ts'
import type { Team, TeamStore } from '../../members/member.ts'
import type { BudgetRing } from './budgets.ts'
import type { Change, Transaction } from './change.ts'
import type { AtOnce } from './patient.ts'
import { members, teams as table } from './schema.ts'

export const createTeams = (
  orm: BunSQLiteDatabase,
  change: Change,
  clock: () => number,
  ofBudgets: Pick<BudgetRing, 'put' | 'reload'>,
): AtOnce<TeamStore> => {
  const byId = (tx: Pick<Transaction, 'select'>, id: string): Team => {
    const row = tx.select().from(table).where(eq(table.id, id)).get()
    if (row === undefined) throw new GatewayError('not_found', 'There is no such team.')
    return row
  }
  const requireFree = (tx: Pick<Transaction, 'select'>, name: string, id: string): void => {
    const same = and(sql`lower(${table.name}) = lower(${name})`, ne(table.id, id))
    if (tx.select({ id: table.id }).from(table).where(same).get() !== undefined)
      throw invalidRequest('There is a team of this name already. Choose another.', 'name')
  }

  return {
    list: () => orm.select().from(table).orderBy(sql`lower(${table.name})`).all(),
    get: (id) => orm.select().from(table).where(eq(table.id, id)).get(),
    add({ name, budget = null }, actor) {
      const made = change(actor, (tx, note) => {
        const id = `team_${randomBase62(16)}`
        requireFree(tx, name, id)
        const row = tx.insert(table).values({ id, name, createdAt: clock() }).returning().get()
        note('team.add', id, null, { name })
        ofBudgets.put(budgetOf('team', id), budget, tx, note)
        return row
      })
      ofBudgets.reload(false)
      return made
    },
    update(id, { name, budget }, actor) {
      const updated = change(actor, (tx, note) => {
        const before = byId(tx, id)
        if (budget !== undefined) ofBudgets.put(budgetOf('team', id), budget, tx, note)
        if (name === undefined || name === before.name) return before
        requireFree(tx, name, id)
        note('team.update', id, { name: before.name }, { name })
        return tx.update(table).set({ name }).where(eq(table.id, id)).returning().get()
      })
      ofBudgets.reload(false)
      return updated
    },
    remove(id, actor) {
      change(actor, (tx, note) => {
        const { name } = byId(tx, id)
        tx.update(members).set({ teamId: null }).where(eq(members.teamId, id)).run()
        ofBudgets.put(budgetOf('team', id), null, tx, note)
        tx.delete(table).where(eq(table.id, id)).run()
        note('team.remove', id, { name }, null)
      })
      ofBudgets.reload(false)
    },
  }
}
