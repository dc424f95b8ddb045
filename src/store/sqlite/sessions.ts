// Sessions in SQLite, by the hash of their secret.

import { and, eq, isNotNull, isNull, lt, or } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import type { SessionStore } from '../../members/member.ts'
import type { Change } from './change.ts'
import { toMember } from './members.ts'
import { members, sessions as table } from './schema.ts'

export const createSessions = (orm: BunSQLiteDatabase, change: Change): SessionStore => ({
  open: ({ hash, memberId, now, expiresAt }, entry) =>
    change({ kind: 'member', id: memberId }, (tx, note) => {
      tx.insert(table).values({ hash, memberId, createdAt: now, expiresAt, seenAt: now }).run()
      if (entry !== undefined) note('session.sign-in', memberId, null, { from: entry.peer ?? null })
    }),
  refuse: (memberId, { peer, unrecorded }) =>
    change({ kind: 'system', id: 'sign-in' }, (_, note) => {
      const more = unrecorded === 0 ? {} : { unrecordedBefore: unrecorded }
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
    const { createdAt, expiresAt, seenAt } = row.sessions
    return { member: toMember(row.members), hash, createdAt, expiresAt, seenAt }
  },
  seen: (hash, now) =>
    orm.transaction((tx) => {
      tx.update(table).set({ seenAt: now }).where(eq(table.hash, hash)).run()
    }),
  close: (hash) =>
    orm.transaction((tx) => {
      tx.delete(table).where(eq(table.hash, hash)).run()
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
