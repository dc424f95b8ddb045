// Background answers in PostgreSQL: a row for each, found by key and id or by exchange.

import { and, eq } from 'drizzle-orm'
import type { BackgroundStore } from '../../ledger/background.ts'
import type { Queries } from './client.ts'
import { ormOf } from './orm.ts'
import { backgroundAnswers as table } from './schema.ts'

export const createBackground = (queries: Queries): BackgroundStore => {
  // What is billed and not found again would be lost to its client.
  const orm = ormOf(queries, true)
  return {
    // A provider that reuses an id no longer has the older answer.
    async keep(answer) {
      const target = [table.id, table.keyId]
      await orm.insert(table).values(answer).onConflictDoUpdate({ target, set: answer })
    },
    async find(keyId, id) {
      const [found] = await orm
        .select()
        .from(table)
        .where(and(eq(table.id, id), eq(table.keyId, keyId)))
      return found
    },
    async of(exchangeId) {
      const [found] = await orm.select().from(table).where(eq(table.exchangeId, exchangeId))
      return found
    },
    async forget({ id, keyId }) {
      await orm.delete(table).where(and(eq(table.id, id), eq(table.keyId, keyId)))
    },
  }
}
