// Sessions in PostgreSQL, by the hash of their secret.

import { and, asc, desc, eq, exists, inArray, isNotNull, isNull, lt, or } from 'drizzle-orm'
import { GatewayError } from '../../errors.ts'
import { type SessionStore, sessionId } from '../../members/member.ts'
import { sessionRow, toMember, toSession } from '../rows/people.ts'
import type { Changes } from './change.ts'
import type { Orm } from './orm.ts'
import { byBytes, members, sessions as table } from './schema.ts'

/** The one used last first. */
const LAST_USED = [desc(table.seenAt), desc(table.createdAt)]

export const createSessions = (orm: Orm, { record }: Changes): SessionStore => ({
  open: (session, told, passwordHash) =>
    record({ kind: 'member', id: session.memberId }, async ({ tx, note }) => {
      const { memberId } = session
      // Locked: who changes the password meanwhile waits, and ends this session with the others.
      const isTheirs = passwordHash === undefined || (await theirs(tx, memberId, passwordHash).for('share')).length > 0
      if (!isTheirs) return false
      await tx.insert(table).values(sessionRow(session))
      if (told) await note('session.sign-in', memberId, null, { from: session.address ?? null })
      return true
    }),
  refuse: (memberId, { peer, unrecorded, by }) =>
    record({ kind: 'system', id: 'sign-in' }, async ({ note }) => {
      const more = {
        ...(by === 'code' ? { wrong: 'code' } : {}),
        ...(unrecorded === 0 ? {} : { unrecordedBefore: unrecorded }),
      }
      await note('session.refuse', memberId ?? 'unknown name', null, { from: peer ?? null, ...more })
    }),
  async find(hash) {
    const [stored] = await orm.select().from(table).where(eq(table.hash, hash))
    if (stored === undefined) return undefined
    const signsIn = and(eq(members.id, stored.memberId), isNull(members.removedAt), isNotNull(members.passwordHash))
    const [member] = await orm.select().from(members).where(signsIn)
    return member && { member: toMember(member), stored: toSession(stored) }
  },
  async all() {
    const there = orm.select({ id: members.id }).from(members).where(isNull(members.removedAt))
    const stored = await orm
      .select()
      .from(table)
      .where(inArray(table.memberId, there))
      .orderBy(...LAST_USED)
    const sessions = Map.groupBy(stored, ({ memberId }) => memberId)
    const owners = await orm
      .select()
      .from(members)
      .where(and(isNull(members.removedAt), inArray(members.id, orm.select({ id: table.memberId }).from(table))))
      .orderBy(asc(members.createdAt), byBytes(members.id))
    return owners.flatMap((row) => {
      const member = toMember(row)
      return (sessions.get(row.id) ?? []).map((session) => ({ member, stored: toSession(session) }))
    })
  },
  of: async (memberId) =>
    (
      await orm
        .select()
        .from(table)
        .where(eq(table.memberId, memberId))
        .orderBy(...LAST_USED)
    ).map(toSession),
  async seen(hash, now) {
    await orm.update(table).set({ seenAt: now }).where(eq(table.hash, hash))
  },
  prove: (hash, { memberId, passwordHash, told }) =>
    record({ kind: 'member', id: memberId }, async ({ tx, note, now }) => {
      const hasPassword = exists(theirs(tx, memberId, passwordHash))
      const open = and(eq(table.hash, hash), eq(table.memberId, memberId), hasPassword)
      const proven = await tx.update(table).set({ provenAt: now }).where(open).returning({ hash: table.hash })
      if (proven.length === 0) return false
      if (told) await note('session.prove', memberId, null, null)
      return true
    }),
  async close(hash) {
    await orm.delete(table).where(eq(table.hash, hash))
  },
  end: (memberId, id, by) =>
    record(by ?? { kind: 'member', id: memberId }, async ({ tx, note }) => {
      const own = await tx.select().from(table).where(eq(table.memberId, memberId))
      const row = own.find(({ hash }) => sessionId(hash) === id)
      const ended = row === undefined ? [] : await tx.delete(table).where(eq(table.hash, row.hash)).returning()
      const [gone] = ended
      if (gone === undefined) throw new GatewayError('not_found', 'There is no such session (any more).')
      await note('session.end', memberId, { from: gone.address, agent: gone.agent }, null)
    }),
  closeAll: (memberId) =>
    record({ kind: 'member', id: memberId }, async ({ tx, note }) => {
      const ended = await tx.delete(table).where(eq(table.memberId, memberId)).returning({ hash: table.hash })
      await note('session.sign-out-everywhere', memberId, null, { sessions: ended.length })
    }),
  async sweep(now, idleSince) {
    await orm.delete(table).where(or(lt(table.expiresAt, now), lt(table.seenAt, idleSince)))
  },
})

/** The member, where the password is theirs. */
const theirs = (tx: Pick<Orm, 'select'>, id: string, passwordHash: string) =>
  tx
    .select({ id: members.id })
    .from(members)
    .where(and(eq(members.id, id), eq(members.passwordHash, passwordHash), isNull(members.removedAt)))
