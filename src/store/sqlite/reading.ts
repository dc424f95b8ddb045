// Readings in SQLite: on this connection, at once.

import type { Database, SQLQueryBindings } from 'bun:sqlite'
import { type Reading, readAtOnce, type Words } from '../reading/ask.ts'

const among = (column: string): string => `${column} IN (SELECT value FROM json_each(?))`

export const WORDS: Words = { amongTexts: among, amongNumbers: among, byBytes: (column) => column }

export const readNow = <T>(db: Database, reading: Reading<T>): T =>
  readAtOnce(reading, ({ text, values }) => db.query<unknown, SQLQueryBindings[]>(text).all(...values))
