// Exchanges by row: ended ones and those in flight in one order. And by time, which grows with the rows as far as the clock is
// not set back, so that a time is found by binary search.

import type { Database } from 'bun:sqlite'
import { inArray } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import { newestFirst } from '../reading/rows.ts'
import type { ExchangeRow } from '../usage.ts'
import { exchanges, refusals, reservations } from './schema.ts'

/** Newest first. An exchange whose sums are not added yet is in both tables: it has ended. */
export const readRows = (orm: BunSQLiteDatabase, rows: number[]): ExchangeRow[] =>
  newestFirst(
    orm.select().from(exchanges).where(inArray(exchanges.row, rows)).all(),
    orm.select().from(reservations).where(inArray(reservations.row, rows)).all().map(asTold),
    orm.select().from(refusals).where(inArray(refusals.row, rows)).all(),
  )

/** Without what only the ledger needs. */
export const asTold = ({
  reservedMicroUsd: _,
  budgets: __,
  pictures: ___,
  ...told
}: typeof reservations.$inferSelect) => told

type Rows = { table: string; time: string }
const EXCHANGES: Rows = { table: 'exchanges', time: 'started_at' }
export const REFUSALS: Rows = { table: 'refusals', time: 'at' }

/**
 * The number after the last row that began before a time, in ms since the epoch; 0 where none has. Rows that began after
 * `latest` are passed over: the clock was wrong when they did, or it is now.
 */
export const endBefore = (db: Database, time: number, latest = Number.MAX_SAFE_INTEGER, of = EXCHANGES): number => {
  // Pruned rows leave gaps: this finds the first row left at or after a number.
  const from = db.query<{ row: number; at: number }, [number, number]>(
    `SELECT row, ${of.time} AS at FROM ${of.table} WHERE row >= ? AND ${of.time} <= ? ORDER BY row LIMIT 1`,
  )
  let low = 0
  let high = lastRow(db, of) + 1
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const next = from.get(middle, latest)
    if (next === null || next.row >= high || next.at >= time) high = middle
    else low = next.row + 1
  }
  return low
}

/** 0 where there is none. */
export const lastRow = (db: Database, { table } = EXCHANGES): number =>
  db.query<{ row: number | null }, []>(`SELECT max(row) AS row FROM ${table}`).get()?.row ?? 0

/** Undefined where there is none. */
export const firstRow = (db: Database): number | undefined =>
  db.query<{ row: number | null }, []>('SELECT min(row) AS row FROM exchanges').get()?.row ?? undefined
