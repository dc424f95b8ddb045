// Background answers in SQLite: a row for each, found by key and id or by exchange.

import { and, eq, sql } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import type { BackgroundStore } from '../../ledger/background.ts'
import type { AtOnce } from './patient.ts'
import { backgroundAnswers as table } from './schema.ts'

export const createBackground = (orm: BunSQLiteDatabase): AtOnce<BackgroundStore> => {
  // Prepared: a start runs it for every exchange that a killed process left open.
  const ofExchange = orm
    .select()
    .from(table)
    .where(eq(table.exchangeId, sql.placeholder('exchangeId')))
    .prepare()
  return {
    // A provider that reuses an id no longer has the older answer.
    keep: (answer) =>
      orm.transaction((tx) => {
        const target = [table.id, table.keyId]
        tx.insert(table).values(answer).onConflictDoUpdate({ target, set: answer }).run()
      }),
    find: (keyId, id) =>
      orm
        .select()
        .from(table)
        .where(and(eq(table.id, id), eq(table.keyId, keyId)))
        .get(),
    of: (exchangeId) => ofExchange.get({ exchangeId }),
    forget: ({ id, keyId }) =>
      orm.transaction((tx) => {
        tx.delete(table)
          .where(and(eq(table.id, id), eq(table.keyId, keyId)))
          .run()
      }),
  }
}
