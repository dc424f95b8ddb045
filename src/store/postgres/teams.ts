// Teams in PostgreSQL. They are few, so each request reads them anew.

import { and, eq, ne, sql } from 'drizzle-orm'
import { GatewayError, invalidRequest } from '../../errors.ts'
import { budgetOf } from '../../keys/budget.ts'
import { randomBase62 } from '../../keys/secret.ts'
import type { Team, TeamStore } from '../../members/member.ts'
import type { BudgetRing } from './budgets.ts'
import type { Changes } from './change.ts'
import type { Orm } from './orm.ts'
import { members, teams as table, withoutCase } from './schema.ts'

export const createTeams = (
  orm: Orm,
  { change }: Changes,
  ofBudgets: Pick<BudgetRing, 'put' | 'reload'>,
): TeamStore => {
  const byId = async (tx: Orm, id: string): Promise<Team> => {
    const [row] = await tx.select().from(table).where(eq(table.id, id))
    if (row === undefined) throw new GatewayError('not_found', 'There is no such team.')
    return row
  }
  const requireFree = async (tx: Orm, name: string, id: string): Promise<void> => {
    const same = and(sql`${withoutCase(table.name)} = ${withoutCase(name)}`, ne(table.id, id))
    const taken = await tx.select({ id: table.id }).from(table).where(same)
    if (taken.length > 0) throw invalidRequest('There is a team of this name already. Choose another.', 'name')
  }

  return {
    list: () => orm.select().from(table).orderBy(withoutCase(table.name)),
    async get(id) {
      const [row] = await orm.select().from(table).where(eq(table.id, id))
      return row
    },
    async add({ name, budget = null }, actor) {
      const made = await change(actor, async (changing) => {
        const { tx, note, now } = changing
        const team = { id: `team_${randomBase62(16)}`, name, createdAt: now }
        await requireFree(tx, name, team.id)
        await tx.insert(table).values(team)
        await note('team.add', team.id, null, { name })
        await ofBudgets.put(budgetOf('team', team.id), budget, changing)
        return team
      })
      await ofBudgets.reload()
      return made
    },
    async update(id, { name, budget }, actor) {
      const updated = await change(actor, async (changing) => {
        const { tx, note } = changing
        const before = await byId(tx, id)
        if (budget !== undefined) await ofBudgets.put(budgetOf('team', id), budget, changing)
        if (name === undefined || name === before.name) return before
        await requireFree(tx, name, id)
        await note('team.update', id, { name: before.name }, { name })
        await tx.update(table).set({ name }).where(eq(table.id, id))
        return { ...before, name }
      })
      await ofBudgets.reload()
      return updated
    },
    async remove(id, actor) {
      await change(actor, async (changing) => {
        const { tx, note } = changing
        const { name } = await byId(tx, id)
        await tx.update(members).set({ teamId: null }).where(eq(members.teamId, id))
        await ofBudgets.put(budgetOf('team', id), null, changing)
        await tx.delete(table).where(eq(table.id, id))
        await note('team.remove', id, { name }, null)
      })
      await ofBudgets.reload()
    },
  }
}
