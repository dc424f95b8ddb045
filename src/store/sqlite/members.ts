// Members in SQLite. They are few, so each request reads them anew: a change is in force with the next one.

import { and, eq, exists, gt, isNotNull, isNull, ne, type SQL, sql } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import { alias } from 'drizzle-orm/sqlite-core'
import { GatewayError, invalidRequest } from '../../errors.ts'
import { budgetOf } from '../../keys/budget.ts'
import { randomBase62 } from '../../keys/secret.ts'
import type { MemberStore } from '../../members/member.ts'
import { auditedMember, linkOf, NO_LINK, toMember } from '../rows/people.ts'
import type { BudgetRing } from './budgets.ts'
import type { Change, Note, Transaction } from './change.ts'
import type { KeyRing } from './keys.ts'
import type { AtOnce } from './patient.ts'
import { insertSession, removeFactor } from './people.ts'
import { adminTokens, sessions, members as table, teams } from './schema.ts'

type Row = typeof table.$inferSelect

type Options = {
  orm: BunSQLiteDatabase
  change: Change
  clock: () => number
  ring: Pick<KeyRing, 'revokeOwned' | 'reload'>
  ofBudgets: Pick<BudgetRing, 'put' | 'reload'>
}

export const createMembers = ({ orm, change, clock, ring, ofBudgets }: Options): AtOnce<MemberStore> => {
  const find = (tx: Pick<Transaction, 'select'>, id: string): Row | undefined =>
    tx
      .select()
      .from(table)
      .where(and(eq(table.id, id), isNull(table.removedAt)))
      .get()
  const byId = (tx: Pick<Transaction, 'select'>, id: string): Row => {
    const row = find(tx, id)
    if (row === undefined) throw new GatewayError('not_found', 'There is no such member.')
    return row
  }
  const requireFree = (tx: Pick<Transaction, 'select'>, name: string, id: string): void => {
    const taken = tx
      .select({ id: table.id })
      .from(table)
      .where(and(sameName(name), isNull(table.removedAt), ne(table.id, id)))
      .get()
    if (taken !== undefined) throw invalidRequest('There is a member of this name already. Choose another.', 'name')
  }
  /** At least one admin must be left: a condition of the statement that takes one away. */
  const anotherAdmin = (tx: Pick<Transaction, 'select'>, without: string): SQL =>
    exists(
      tx
        .select({ id: others.id })
        .from(others)
        .where(and(adminOf(others), ne(others.id, without))),
    )
  const onlyAdmin = () => invalidRequest('This is the only admin. Make another member an admin first.')

  /**
   * What someone made as an admin and what still lets people in ends with that. For good: otherwise forgotten tokens and
   * links would open again if they became an admin again.
   */
  const endMade = (tx: Pick<Transaction, 'update'>, note: Note, by: string): void => {
    const tokens = and(eq(adminTokens.createdBy, by), isNull(adminTokens.revokedAt))
    for (const { id, label } of tx.update(adminTokens).set({ revokedAt: clock() }).where(tokens).returning().all()) {
      note('token.revoke', id, { label }, null)
    }
    const links = and(eq(table.invitedBy, by), isNotNull(table.invitationHash))
    for (const { id } of tx.update(table).set(NO_LINK).where(links).returning().all()) {
      note('member.end-link', id, null, null)
    }
  }

  const requireTeam = (tx: Pick<Transaction, 'select'>, id: string): void => {
    if (tx.select({ id: teams.id }).from(teams).where(eq(teams.id, id)).get() === undefined)
      throw invalidRequest('team: there is no such team.', 'team')
  }

  return {
    list: () =>
      orm.select().from(table).where(isNull(table.removedAt)).orderBy(table.createdAt, table.id).all().map(toMember),
    get(id) {
      const row = find(orm, id)
      return row && toMember(row)
    },
    hasAdmin: () => orm.select({ id: table.id }).from(table).where(ADMIN).limit(1).get() !== undefined,
    credentials(name) {
      const row = orm
        .select()
        .from(table)
        .where(and(sameName(name), isNull(table.removedAt)))
        .get()
      if (row === undefined || row.passwordHash === null) return undefined
      return { member: toMember(row), passwordHash: row.passwordHash }
    },
    setUp: ({ name, limits, passwordHash }, actor) =>
      change(actor, (tx, note) => {
        const id = `mem_${randomBase62(16)}`
        requireFree(tx, name, id)
        const admins = tx.select({ id: table.id }).from(table).where(ADMIN)
        const made = tx.all(sql`
          INSERT INTO members (id, name, role, limits, password_hash, created_at)
          SELECT ${id}, ${name}, 'admin', ${JSON.stringify(limits)}, ${passwordHash}, ${clock()}
          WHERE NOT EXISTS ${admins} RETURNING id`)
        if (made.length === 0) return undefined
        const member = toMember(byId(tx, id))
        note('member.add', id, null, auditedMember(member))
        return member
      }),
    add({ name, role, limits, passwordHash = null, invitation, teamId = null, budget = null }, actor) {
      const added = change(actor, (tx, note) => {
        const id = `mem_${randomBase62(16)}`
        requireFree(tx, name, id)
        if (teamId !== null) requireTeam(tx, teamId)
        const values = { id, name, role, limits, passwordHash, teamId, createdAt: clock() }
        const row = tx
          .insert(table)
          .values({ ...values, ...(invitation && linkOf(invitation, actor)) })
          .returning()
          .get()
        const made = toMember(row)
        note('member.add', id, null, auditedMember(made))
        if (invitation !== undefined) note('member.invite', id, null, { expiresAt: invitation.expiresAt })
        ofBudgets.put(budgetOf('member', id), budget, tx, note)
        return made
      })
      if (teamId !== null || budget !== null) ofBudgets.reload(false)
      return added
    },
    update(id, { budget, endsFactor, ...patch }, actor) {
      const updated = change(actor, (tx, note) => {
        const before = byId(tx, id)
        if (patch.name !== undefined) requireFree(tx, patch.name, id)
        const steppedDown = patch.role === 'member' && before.role === 'admin'
        const left = steppedDown && before.passwordHash !== null ? anotherAdmin(tx, id) : undefined
        if (budget !== undefined) ofBudgets.put(budgetOf('member', id), budget, tx, note)
        if (patch.teamId != null) requireTeam(tx, patch.teamId)
        if (endsFactor) removeFactor(tx, note, id)
        if (Object.keys(patch).length === 0) return toMember(before)
        const [row] = tx
          .update(table)
          .set(patch)
          .where(and(eq(table.id, id), left))
          .returning()
          .all()
        if (row === undefined) throw onlyAdmin()
        const after = toMember(row)
        note('member.update', id, auditedMember(toMember(before)), auditedMember(after))
        if (steppedDown) endMade(tx, note, id)
        return after
      })
      if (budget !== undefined || patch.teamId !== undefined) ofBudgets.reload(false)
      return updated
    },
    invite: (id, invitation, actor) =>
      change(actor, (tx, note) => {
        const { passwordHash } = byId(tx, id)
        const set = linkOf(invitation, actor)
        const after = toMember(tx.update(table).set(set).where(eq(table.id, id)).returning().get())
        const { expiresAt } = invitation
        note(passwordHash === null ? 'member.invite' : 'member.reset-link', id, null, { expiresAt })
        return after
      }),
    invited(hash, now) {
      const row = orm.select().from(table).where(invitation(hash, now)).get()
      return row === undefined ? undefined : { member: toMember(row), endsFactor: row.invitationEndsFactor }
    },
    accept(hash, passwordHash, now) {
      const found = orm.select({ id: table.id }).from(table).where(invitation(hash, now)).get()
      if (found === undefined) return undefined
      return change({ kind: 'member', id: found.id }, (tx, note) => {
        const before = tx.select().from(table).where(invitation(hash, now)).get()
        if (before === undefined) return undefined
        const { id } = before
        const [after] = tx
          .update(table)
          .set({ passwordHash, ...NO_LINK })
          .where(and(eq(table.id, id), invitation(hash, now)))
          .returning()
          .all()
        if (after === undefined) return undefined
        tx.delete(sessions).where(eq(sessions.memberId, id)).run()
        note('member.accept', id, null, null)
        if (before.invitationEndsFactor) removeFactor(tx, note, id)
        // Whoever knew the old password may have made what still lets them in.
        if (before.passwordHash !== null) endMade(tx, note, id)
        return toMember(after)
      })
    },
    changePassword: (id, { before, after, session, renewed }) =>
      change({ kind: 'member', id }, (tx, note) => {
        const own = and(eq(sessions.hash, session), eq(sessions.memberId, id))
        const still = and(eq(table.id, id), eq(table.passwordHash, before), isNull(table.removedAt))
        // A pending link could otherwise set the password again.
        const set = tx
          .update(table)
          .set({ passwordHash: after, ...NO_LINK })
          .where(and(still, exists(tx.select().from(sessions).where(own))))
          .returning({ id: table.id })
          .all()
        if (set.length === 0) return false
        tx.delete(sessions).where(eq(sessions.memberId, id)).run()
        insertSession(tx, renewed)
        note('member.password', id, null, null)
        return true
      }),
    remove(id, keys, actor) {
      change(actor, (tx, note) => {
        const before = byId(tx, id)
        const left = before.role === 'admin' && before.passwordHash !== null ? anotherAdmin(tx, id) : undefined
        const removed = tx
          .update(table)
          .set({ removedAt: clock(), passwordHash: null, teamId: null, ...NO_LINK })
          .where(and(eq(table.id, id), left))
          .returning({ id: table.id })
          .all()
        if (removed.length === 0) throw onlyAdmin()
        tx.delete(sessions).where(eq(sessions.memberId, id)).run()
        note('member.remove', id, auditedMember(toMember(before)), null)
        removeFactor(tx, note, id)
        endMade(tx, note, id)
        ofBudgets.put(budgetOf('member', id), null, tx, note)
        if (keys === 'revoke') ring.revokeOwned(id, tx, note)
      })
      ring.reload(false)
      ofBudgets.reload(false)
    },
  }
}

/** The same table once more, for a condition on others within a statement on one. */
const others = alias(table, 'others')

const adminOf = (of: typeof table | typeof others) =>
  and(eq(of.role, 'admin'), isNotNull(of.passwordHash), isNull(of.removedAt))

const ADMIN = adminOf(table)

const sameName = (name: string) => sql`lower(${table.name}) = lower(${name})`

const invitation = (hash: string, now: number) =>
  and(eq(table.invitationHash, hash), gt(table.invitationExpiresAt, now), isNull(table.removedAt), BY_AN_ADMIN)

/** Who made a link is still an admin, or it was made on the command line. */
const BY_AN_ADMIN = sql`(invited_by IS NULL OR invited_by IN (
  SELECT id FROM members WHERE role = 'admin' AND password_hash IS NOT NULL AND removed_at IS NULL))`
