// Background answers in SQLite: a row for each, found by key and id or by exchange.

import { and, eq, sql } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import type { BackgroundStore } from '../../ledger/background.ts'
import { backgroundAnswers as table } from './schema.ts'

export const createBackground = (orm: BunSQLiteDatabase): BackgroundStore => {
  // A start asks it of whatever a killed process left open.
  const ofExchange = orm
    .select()
    .from(table)
    .where(eq(table.exchangeId, sql.placeholder('exchangeId')))
    .prepare()
  return {
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
    of: (exchangeId) => ofExchange.get({ exchangeId }),
    forget: ({ id, keyId }) =>
      void orm
        .delete(table)
        .where(and(eq(table.id, id), eq(table.keyId, keyId)))
        .run(),
  }
}
