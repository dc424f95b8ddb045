// Admin tokens in SQLite, by the hash of the token.

import { eq } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import { GatewayError } from '../../errors.ts'
import { randomBase62 } from '../../keys/secret.ts'
import type { TokenStore } from '../../members/member.ts'
import { toToken } from '../rows/people.ts'
import type { Change } from './change.ts'
import type { AtOnce } from './patient.ts'
import { adminTokens as table } from './schema.ts'

export const createTokens = (orm: BunSQLiteDatabase, change: Change, clock: () => number): AtOnce<TokenStore> => ({
  list: () => orm.select().from(table).orderBy(table.createdAt, table.id).all().map(toToken),
  get(id) {
    const row = orm.select().from(table).where(eq(table.id, id)).get()
    return row === undefined ? undefined : toToken(row)
  },
  add: ({ label, hash, createdBy, expiresAt }, actor) =>
    change(actor, (tx, note) => {
      const id = `tok_${randomBase62(16)}`
      const values = { id, label, hash, createdBy, createdAt: clock(), expiresAt: expiresAt ?? null }
      const made = toToken(tx.insert(table).values(values).returning().get())
      note('token.create', id, null, { label, expiresAt: expiresAt ?? null })
      return made
    }),
  find(hash) {
    const row = orm.select().from(table).where(eq(table.hash, hash)).get()
    return row === undefined ? undefined : toToken(row)
  },
  used: (id, now) =>
    orm.transaction((tx) => {
      tx.update(table).set({ usedAt: now }).where(eq(table.id, id)).run()
    }),
  revoke: (id, actor) =>
    change(actor, (tx, note) => {
      const before = tx.select().from(table).where(eq(table.id, id)).get()
      if (before === undefined) throw new GatewayError('not_found', 'There is no such admin token.')
      if (before.revokedAt !== null) return toToken(before)
      const after = tx.update(table).set({ revokedAt: clock() }).where(eq(table.id, id)).returning().get()
      note('token.revoke', id, { label: before.label }, null)
      return toToken(after)
    }),
})
