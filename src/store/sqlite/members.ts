// Members in SQLite. They are few, so each request reads them anew: a change is in force with the next one.

import { and, eq, gt, isNotNull, isNull, ne, sql } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import { GatewayError, invalidRequest } from '../../errors.ts'
import { randomBase62 } from '../../keys/secret.ts'
import { DEFAULT_LIMITS, type Member, type MemberStore } from '../../members/member.ts'
import type { Change, Transaction } from './change.ts'
import type { KeyRing } from './keys.ts'
import { adminTokens, sessions, members as table } from './schema.ts'

type Row = typeof table.$inferSelect

export const createMembers = (
  orm: BunSQLiteDatabase,
  change: Change,
  clock: () => number,
  ring: Pick<KeyRing, 'revokeOwned' | 'reload'>,
): MemberStore => {
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
  /** At least one admin must be left. */
  const requireAdmin = (tx: Pick<Transaction, 'select'>, without: string): void => {
    const other = tx
      .select({ id: table.id })
      .from(table)
      .where(and(ADMIN, ne(table.id, without)))
      .get()
    if (other === undefined) throw invalidRequest('This is the only admin. Make another member an admin first.')
  }

  const revokeTokens = (tx: Pick<Transaction, 'update'>, createdBy: string): void => {
    const theirs = and(eq(adminTokens.createdBy, createdBy), isNull(adminTokens.revokedAt))
    tx.update(adminTokens).set({ revokedAt: clock() }).where(theirs).run()
  }

  return {
    list: () => orm.select().from(table).where(isNull(table.removedAt)).orderBy(table.createdAt).all().map(toMember),
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
    add: ({ name, role, limits, passwordHash, invitation }, actor) =>
      change(actor, (tx, note) => {
        const id = `mem_${randomBase62(16)}`
        requireFree(tx, name, id)
        const values = { id, name, role, limits, passwordHash: passwordHash ?? null, createdAt: clock() }
        const link = { invitationHash: invitation?.hash, invitationExpiresAt: invitation?.expiresAt }
        const row = tx
          .insert(table)
          .values({ ...values, ...link })
          .returning()
          .get()
        const made = toMember(row)
        note('member.add', id, null, audited(made))
        if (invitation !== undefined) note('member.invite', id, null, { expiresAt: invitation.expiresAt })
        return made
      }),
    update: (id, patch, actor) =>
      change(actor, (tx, note) => {
        const before = byId(tx, id)
        if (patch.name !== undefined) requireFree(tx, patch.name, id)
        const steppedDown = patch.role === 'member' && before.role === 'admin'
        if (steppedDown && before.passwordHash !== null) requireAdmin(tx, id)
        if (Object.keys(patch).length === 0) return toMember(before)
        // Revoked for good: otherwise forgotten tokens would be valid again if they became an admin again.
        if (steppedDown) revokeTokens(tx, id)
        const after = toMember(tx.update(table).set(patch).where(eq(table.id, id)).returning().get())
        note('member.update', id, audited(toMember(before)), audited(after))
        return after
      }),
    invite: (id, { hash, expiresAt }, actor) =>
      change(actor, (tx, note) => {
        const { passwordHash } = byId(tx, id)
        const set = { invitationHash: hash, invitationExpiresAt: expiresAt }
        const after = toMember(tx.update(table).set(set).where(eq(table.id, id)).returning().get())
        note(passwordHash === null ? 'member.invite' : 'member.reset-link', id, null, { expiresAt })
        return after
      }),
    invited(hash, now) {
      const row = orm.select().from(table).where(invitation(hash, now)).get()
      return row === undefined ? undefined : toMember(row)
    },
    accept(hash, passwordHash, now) {
      const found = orm.select({ id: table.id }).from(table).where(invitation(hash, now)).get()
      if (found === undefined) return undefined
      return change({ kind: 'member', id: found.id }, (tx, note) => {
        const set = { passwordHash, invitationHash: null, invitationExpiresAt: null }
        const row = tx.update(table).set(set).where(invitation(hash, now)).returning().get()
        if (row === undefined) return undefined
        tx.delete(sessions).where(eq(sessions.memberId, row.id)).run()
        note('member.accept', row.id, null, null)
        return toMember(row)
      })
    },
    setPassword: (id, passwordHash, keep, actor) =>
      change(actor, (tx, note) => {
        byId(tx, id)
        // A pending link could otherwise set the password again.
        const set = { passwordHash, invitationHash: null, invitationExpiresAt: null }
        tx.update(table).set(set).where(eq(table.id, id)).run()
        const others = and(eq(sessions.memberId, id), keep === undefined ? undefined : ne(sessions.hash, keep))
        tx.delete(sessions).where(others).run()
        note('member.password', id, null, null)
      }),
    remove(id, keys, actor) {
      change(actor, (tx, note) => {
        const before = byId(tx, id)
        if (before.role === 'admin' && before.passwordHash !== null) requireAdmin(tx, id)
        const now = clock()
        const set = { removedAt: now, passwordHash: null, invitationHash: null, invitationExpiresAt: null }
        tx.update(table).set(set).where(eq(table.id, id)).run()
        tx.delete(sessions).where(eq(sessions.memberId, id)).run()
        revokeTokens(tx, id)
        note('member.remove', id, audited(toMember(before)), null)
        if (keys === 'revoke') ring.revokeOwned(id, tx, note)
      })
      ring.reload(false)
    },
  }
}

const ADMIN = and(eq(table.role, 'admin'), isNotNull(table.passwordHash), isNull(table.removedAt))

const sameName = (name: string) => sql`lower(${table.name}) = lower(${name})`

const invitation = (hash: string, now: number) =>
  and(eq(table.invitationHash, hash), gt(table.invitationExpiresAt, now), isNull(table.removedAt))

export const toMember = (row: Row): Member => ({
  id: row.id,
  name: row.name,
  role: row.role,
  active: row.passwordHash !== null,
  limits: row.limits ?? DEFAULT_LIMITS,
  createdAt: row.createdAt,
  invitationExpiresAt: row.invitationHash === null ? undefined : (row.invitationExpiresAt ?? undefined),
})

/** What the audit records of a member. */
const audited = ({ name, role, limits }: Member) => ({ name, role, limits })
