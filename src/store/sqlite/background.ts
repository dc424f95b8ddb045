// Background answers in SQLite: a row for each, found by key and id or by exchange.

import { and, eq } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import type { BackgroundStore } from '../../ledger/background.ts'
import { backgroundAnswers as table } from './schema.ts'

export const createBackground = (orm: BunSQLiteDatabase): BackgroundStore => ({
  // A provider that gives an id again has forgotten what had it before.
  keep: (answer) =>
    void orm
      .insert(table)
      .values(answer)
      .onConflictDoUpdate({ target: [table.id, table.keyId], set: answer })
      .run(),
  find: (keyId, id) =>
    orm
      .select()
      .from(table)
      .where(and(eq(table.id, id), eq(table.keyId, keyId)))
      .get(),
  of: (exchangeId) => orm.select().from(table).where(eq(table.exchangeId, exchangeId)).get(),
  forget: ({ id, keyId }) =>
    void orm
      .delete(table)
      .where(and(eq(table.id, id), eq(table.keyId, keyId)))
      .run(),
})
