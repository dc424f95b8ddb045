// Sessions in SQLite, by the hash of their secret.

import { and, desc, eq, exists, isNotNull, isNull, lt, or } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import { GatewayError } from '../../errors.ts'
import { type SessionStore, sessionId } from '../../members/member.ts'
import { toMember, toSession } from '../rows/people.ts'
import type { Change, Transaction } from './change.ts'
import type { AtOnce } from './patient.ts'
import { insertSession } from './people.ts'
import { members, sessions as table } from './schema.ts'

/** The one used last first. */
const LAST_USED = [desc(table.seenAt), desc(table.createdAt)]

export const createSessions = (orm: BunSQLiteDatabase, change: Change, clock: () => number): AtOnce<SessionStore> => ({
  open: (session, told, passwordHash) =>
    change({ kind: 'member', id: session.memberId }, (tx, note) => {
      const { memberId } = session
      if (passwordHash !== undefined && theirs(tx, memberId, passwordHash).get() === undefined) return false
      insertSession(tx, session)
      if (told) note('session.sign-in', memberId, null, { from: session.address ?? null })
      return true
    }),
  refuse: (memberId, { peer, unrecorded, by }) =>
    change({ kind: 'system', id: 'sign-in' }, (_, note) => {
      const more = {
        ...(by === 'code' ? { wrong: 'code' } : {}),
        ...(unrecorded === 0 ? {} : { unrecordedBefore: unrecorded }),
      }
      note('session.refuse', memberId ?? 'unknown name', null, { from: peer ?? null, ...more })
    }),
  find(hash) {
    const row = orm
      .select()
      .from(table)
      .innerJoin(members, eq(members.id, table.memberId))
      .where(and(eq(table.hash, hash), isNull(members.removedAt), isNotNull(members.passwordHash)))
      .get()
    if (row === undefined) return undefined
    return { member: toMember(row.members), stored: toSession(row.sessions) }
  },
  all: () =>
    orm
      .select()
      .from(table)
      .innerJoin(members, eq(members.id, table.memberId))
      .where(isNull(members.removedAt))
      .orderBy(members.createdAt, members.id, ...LAST_USED)
      .all()
      .map((row) => ({ member: toMember(row.members), stored: toSession(row.sessions) })),
  of: (memberId) =>
    orm
      .select()
      .from(table)
      .where(eq(table.memberId, memberId))
      .orderBy(...LAST_USED)
      .all()
      .map(toSession),
  seen: (hash, now) =>
    orm.transaction((tx) => {
      tx.update(table).set({ seenAt: now }).where(eq(table.hash, hash)).run()
    }),
  prove: (hash, { memberId, passwordHash, told }) =>
    change({ kind: 'member', id: memberId }, (tx, note) => {
      const open = and(eq(table.hash, hash), eq(table.memberId, memberId), exists(theirs(tx, memberId, passwordHash)))
      if (tx.update(table).set({ provenAt: clock() }).where(open).returning().get() === undefined) return false
      if (told) note('session.prove', memberId, null, null)
      return true
    }),
  close: (hash) =>
    orm.transaction((tx) => {
      tx.delete(table).where(eq(table.hash, hash)).run()
    }),
  end: (memberId, id, by) =>
    change(by ?? { kind: 'member', id: memberId }, (tx, note) => {
      const own = tx.select().from(table).where(eq(table.memberId, memberId)).all()
      const row = own.find(({ hash }) => sessionId(hash) === id)
      if (row === undefined) throw new GatewayError('not_found', 'There is no such session (any more).')
      tx.delete(table).where(eq(table.hash, row.hash)).run()
      note('session.end', memberId, { from: row.address, agent: row.agent }, null)
    }),
  closeAll: (memberId) =>
    change({ kind: 'member', id: memberId }, (tx, note) => {
      const ended = tx.delete(table).where(eq(table.memberId, memberId)).returning({ hash: table.hash }).all()
      note('session.sign-out-everywhere', memberId, null, { sessions: ended.length })
    }),
  sweep: (now, idleSince) =>
    orm.transaction((tx) => {
      tx.delete(table)
        .where(or(lt(table.expiresAt, now), lt(table.seenAt, idleSince)))
        .run()
    }),
})

/** The member, where the password is theirs. */
const theirs = (tx: Pick<Transaction, 'select'>, id: string, passwordHash: string) =>
  tx
    .select()
    .from(members)
    .where(and(eq(members.id, id), eq(members.passwordHash, passwordHash), isNull(members.removedAt)))
