// Drizzle on a connection that can be closed while its statements are still around.

import type { Database } from 'bun:sqlite'
import { type BunSQLiteDatabase, drizzle } from 'drizzle-orm/bun-sqlite'

export const ormOf = (db: Database): BunSQLiteDatabase => {
  // Statements of `query` are closed with the connection; those of `prepare`, which drizzle calls, keep the file open.
  db.prepare = (text: string) => db.query(text)
  return drizzle(db)
}
