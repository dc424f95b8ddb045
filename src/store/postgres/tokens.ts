// Admin tokens in PostgreSQL, by the hash of the token.

import { and, asc, eq, isNull } from 'drizzle-orm'
import { GatewayError } from '../../errors.ts'
import { randomBase62 } from '../../keys/secret.ts'
import type { TokenStore } from '../../members/member.ts'
import { toToken } from '../rows/people.ts'
import type { Changes } from './change.ts'
import type { Orm } from './orm.ts'
import { byBytes, adminTokens as table } from './schema.ts'

export const createTokens = (orm: Orm, { record }: Changes): TokenStore => ({
  list: async () => (await orm.select().from(table).orderBy(asc(table.createdAt), byBytes(table.id))).map(toToken),
  async get(id) {
    const [row] = await orm.select().from(table).where(eq(table.id, id))
    return row && toToken(row)
  },
  add: ({ label, hash, createdBy, expiresAt }, actor) =>
    record(actor, async ({ tx, note, now }) => {
      const id = `tok_${randomBase62(16)}`
      const values = { id, label, hash, createdBy, createdAt: now, expiresAt: expiresAt ?? null }
      await tx.insert(table).values(values)
      await note('token.create', id, null, { label, expiresAt: expiresAt ?? null })
      return toToken({ ...values, revokedAt: null, usedAt: null })
    }),
  async find(hash) {
    const [row] = await orm.select().from(table).where(eq(table.hash, hash))
    return row && toToken(row)
  },
  async used(id, now) {
    await orm.update(table).set({ usedAt: now }).where(eq(table.id, id))
  },
  revoke: (id, actor) =>
    record(actor, async ({ tx, note, now }) => {
      const inForce = and(eq(table.id, id), isNull(table.revokedAt))
      const [revoked] = await tx.update(table).set({ revokedAt: now }).where(inForce).returning()
      if (revoked !== undefined) {
        await note('token.revoke', id, { label: revoked.label }, null)
        return toToken(revoked)
      }
      const [before] = await tx.select().from(table).where(eq(table.id, id))
      if (before === undefined) throw new GatewayError('not_found', 'There is no such admin token.')
      return toToken(before)
    }),
})
