// Members in PostgreSQL. They are few, so each request reads them anew: a change is in force with the next one, on every node.

import { and, asc, eq, exists, gt, isNotNull, isNull, ne, sql } from 'drizzle-orm'
import { GatewayError, invalidRequest } from '../../errors.ts'
import { budgetOf } from '../../keys/budget.ts'
import { randomBase62 } from '../../keys/secret.ts'
import type { MemberStore } from '../../members/member.ts'
import { auditedMember, linkOf, type MemberRow, NO_LINK, sessionRow, toMember } from '../rows/people.ts'
import type { BudgetRing } from './budgets.ts'
import type { Changes, Changing } from './change.ts'
import type { KeyRing } from './keys.ts'
import type { Orm } from './orm.ts'
import { removeFactor } from './people.ts'
import { adminTokens, byBytes, sessions, members as table, teams, withoutCase } from './schema.ts'

type Options = {
  orm: Orm
  changes: Changes
  ring: Pick<KeyRing, 'revokeOwned'>
  ofBudgets: Pick<BudgetRing, 'put' | 'reload'>
  /** Reads what was changed, here too. */
  refresh: () => Promise<unknown>
}

export const createMembers = ({ orm, changes: { change }, ring, ofBudgets, refresh }: Options): MemberStore => {
  const find = async (tx: Orm, id: string): Promise<MemberRow | undefined> => {
    const [row] = await tx
      .select()
      .from(table)
      .where(and(eq(table.id, id), isNull(table.removedAt)))
    return row
  }
  const byId = async (tx: Orm, id: string): Promise<MemberRow> => {
    const row = await find(tx, id)
    if (row === undefined) throw new GatewayError('not_found', 'There is no such member.')
    return row
  }
  const byName = async (tx: Orm, name: string): Promise<MemberRow | undefined> => {
    const [row] = await tx
      .select()
      .from(table)
      .where(and(sql`${withoutCase(table.name)} = ${withoutCase(name)}`, isNull(table.removedAt)))
    return row
  }
  const requireFree = async (tx: Orm, name: string, id: string): Promise<void> => {
    const taken = await byName(tx, name)
    if (taken !== undefined && taken.id !== id)
      throw invalidRequest('There is a member of this name already. Choose another.', 'name')
  }
  /** At least one admin must be left. */
  const requireAdmin = async (tx: Orm, without: string): Promise<void> => {
    const others = await tx
      .select({ id: table.id })
      .from(table)
      .where(and(ADMIN, ne(table.id, without)))
      .limit(1)
    if (others.length === 0) throw invalidRequest('This is the only admin. Make another member an admin first.')
  }
  const requireTeam = async (tx: Orm, id: string): Promise<void> => {
    const found = await tx.select({ id: teams.id }).from(teams).where(eq(teams.id, id))
    if (found.length === 0) throw invalidRequest('team: there is no such team.', 'team')
  }
  const set = async (tx: Orm, id: string, values: Partial<MemberRow>): Promise<MemberRow> => {
    const [row] = await tx.update(table).set(values).where(eq(table.id, id)).returning()
    if (row === undefined) throw new GatewayError('not_found', 'There is no such member.')
    return row
  }

  /**
   * What someone made as an admin and what still lets people in ends with that. For good: otherwise forgotten tokens and
   * links would open again if they became an admin again.
   */
  const endMade = async ({ tx, note, now }: Changing, by: string): Promise<void> => {
    const made = and(eq(adminTokens.createdBy, by), isNull(adminTokens.revokedAt))
    for (const { id, label } of await tx.update(adminTokens).set({ revokedAt: now }).where(made).returning())
      await note('token.revoke', id, { label }, null)
    const links = and(eq(table.invitedBy, by), isNotNull(table.invitationHash))
    for (const { id } of await tx.update(table).set(NO_LINK).where(links).returning({ id: table.id }))
      await note('member.end-link', id, null, null)
  }

  return {
    list: async () =>
      (
        await orm.select().from(table).where(isNull(table.removedAt)).orderBy(asc(table.createdAt), byBytes(table.id))
      ).map(toMember),
    async get(id) {
      const row = await find(orm, id)
      return row && toMember(row)
    },
    hasAdmin: async () => (await orm.select({ id: table.id }).from(table).where(ADMIN).limit(1)).length > 0,
    async credentials(name) {
      const row = await byName(orm, name)
      if (row === undefined || row.passwordHash === null) return undefined
      return { member: toMember(row), passwordHash: row.passwordHash }
    },
    setUp: ({ name, limits, passwordHash }, actor) =>
      change(actor, async ({ tx, note, now }) => {
        const admins = await tx.select({ id: table.id }).from(table).where(ADMIN).limit(1)
        if (admins.length > 0) return undefined
        const id = `mem_${randomBase62(16)}`
        await requireFree(tx, name, id)
        const values = { id, name, role: 'admin' as const, limits, passwordHash, createdAt: now }
        const [row] = await tx.insert(table).values(values).returning()
        if (row === undefined) throw new Error('the database returned no row')
        const made = toMember(row)
        await note('member.add', id, null, auditedMember(made))
        return made
      }),
    async add({ name, role, limits, passwordHash = null, invitation, teamId = null, budget = null }, actor) {
      const added = await change(actor, async (changing) => {
        const { tx, note, now } = changing
        const id = `mem_${randomBase62(16)}`
        await requireFree(tx, name, id)
        if (teamId !== null) await requireTeam(tx, teamId)
        const values = { id, name, role, limits, passwordHash, teamId, createdAt: now }
        const [row] = await tx
          .insert(table)
          .values({ ...values, ...(invitation && linkOf(invitation, actor)) })
          .returning()
        if (row === undefined) throw new Error('the database returned no row')
        const made = toMember(row)
        await note('member.add', id, null, auditedMember(made))
        if (invitation !== undefined) await note('member.invite', id, null, { expiresAt: invitation.expiresAt })
        await ofBudgets.put(budgetOf('member', id), budget, changing)
        return made
      })
      if (teamId !== null || budget !== null) await ofBudgets.reload()
      return added
    },
    async update(id, { budget, endsFactor, ...patch }, actor) {
      const updated = await change(actor, async (changing) => {
        const { tx, note } = changing
        const before = await byId(tx, id)
        if (patch.name !== undefined) await requireFree(tx, patch.name, id)
        const steppedDown = patch.role === 'member' && before.role === 'admin'
        if (budget !== undefined) await ofBudgets.put(budgetOf('member', id), budget, changing)
        if (patch.teamId != null) await requireTeam(tx, patch.teamId)
        if (endsFactor) await removeFactor(changing, id)
        if (Object.keys(patch).length === 0) return toMember(before)
        if (steppedDown && before.passwordHash !== null) await requireAdmin(tx, id)
        const after = toMember(await set(tx, id, patch))
        await note('member.update', id, auditedMember(toMember(before)), auditedMember(after))
        if (steppedDown) await endMade(changing, id)
        return after
      })
      if (budget !== undefined || patch.teamId !== undefined) await ofBudgets.reload()
      return updated
    },
    invite: (id, invitation, actor) =>
      change(actor, async ({ tx, note }) => {
        const { passwordHash } = await byId(tx, id)
        const after = toMember(await set(tx, id, linkOf(invitation, actor)))
        const { expiresAt } = invitation
        await note(passwordHash === null ? 'member.invite' : 'member.reset-link', id, null, { expiresAt })
        return after
      }),
    async invited(hash, now) {
      const [row] = await orm.select().from(table).where(invitation(hash, now))
      return row && { member: toMember(row), endsFactor: row.invitationEndsFactor }
    },
    async accept(hash, passwordHash, now) {
      const [found] = await orm.select({ id: table.id }).from(table).where(invitation(hash, now))
      if (found === undefined) return undefined
      return change({ kind: 'member', id: found.id }, async (changing) => {
        const { tx, note } = changing
        const [before] = await tx.select().from(table).where(invitation(hash, now))
        if (before === undefined) return undefined
        const { id } = before
        const after = await set(tx, id, { passwordHash, ...NO_LINK })
        await tx.delete(sessions).where(eq(sessions.memberId, id))
        await note('member.accept', id, null, null)
        if (before.invitationEndsFactor) await removeFactor(changing, id)
        // Whoever knew the old password may have made what still lets them in.
        if (before.passwordHash !== null) await endMade(changing, id)
        return toMember(after)
      })
    },
    changePassword: (id, { before, after, session, renewed }) =>
      change({ kind: 'member', id }, async ({ tx, note }) => {
        const own = and(eq(sessions.hash, session), eq(sessions.memberId, id))
        const still = and(eq(table.id, id), eq(table.passwordHash, before), isNull(table.removedAt))
        // A pending link could otherwise set the password again.
        const set = await tx
          .update(table)
          .set({ passwordHash: after, ...NO_LINK })
          .where(and(still, exists(tx.select().from(sessions).where(own))))
          .returning({ id: table.id })
        if (set.length === 0) return false
        await tx.delete(sessions).where(eq(sessions.memberId, id))
        await tx.insert(sessions).values(sessionRow(renewed))
        await note('member.password', id, null, null)
        return true
      }),
    async remove(id, keys, actor) {
      await change(actor, async (changing) => {
        const { tx, note, now } = changing
        const before = await byId(tx, id)
        if (before.role === 'admin' && before.passwordHash !== null) await requireAdmin(tx, id)
        await set(tx, id, { removedAt: now, passwordHash: null, teamId: null, ...NO_LINK })
        await tx.delete(sessions).where(eq(sessions.memberId, id))
        await note('member.remove', id, auditedMember(toMember(before)), null)
        await removeFactor(changing, id)
        await endMade(changing, id)
        if (keys === 'revoke') await ring.revokeOwned(id, changing)
        await ofBudgets.put(budgetOf('member', id), null, changing)
      })
      await refresh()
    },
  }
}

/** Who can sign in and administer. */
const ADMIN = and(eq(table.role, 'admin'), isNotNull(table.passwordHash), isNull(table.removedAt))

/** A link that can be used: until it expires, and while who made it is an admin or it was made on the command line. */
const invitation = (hash: string, now: number) =>
  and(eq(table.invitationHash, hash), gt(table.invitationExpiresAt, now), isNull(table.removedAt), BY_AN_ADMIN)

const BY_AN_ADMIN = sql`(invited_by IS NULL OR invited_by IN (
  SELECT id FROM members WHERE role = 'admin' AND password_hash IS NOT NULL AND removed_at IS NULL))`
