// Sessions in SQLite, by the hash of their secret.

import { and, eq, isNotNull, isNull, lt, or } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import type { SessionStore } from '../../members/member.ts'
import { toMember } from './members.ts'
import { members, sessions as table } from './schema.ts'

export const createSessions = (orm: BunSQLiteDatabase): SessionStore => ({
  open({ hash, memberId, now, expiresAt }) {
    orm.insert(table).values({ hash, memberId, createdAt: now, expiresAt, seenAt: now }).run()
  },
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
  seen(hash, now) {
    orm.update(table).set({ seenAt: now }).where(eq(table.hash, hash)).run()
  },
  close(hash) {
    orm.delete(table).where(eq(table.hash, hash)).run()
  },
  closeAll(memberId) {
    orm.delete(table).where(eq(table.memberId, memberId)).run()
  },
  sweep(now, idleSince) {
    orm
      .delete(table)
      .where(or(lt(table.expiresAt, now), lt(table.seenAt, idleSince)))
      .run()
  },
})
