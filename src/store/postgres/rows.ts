// Exchanges by row in PostgreSQL: as a whole, and by the time they began at, which grows with the rows, but for the order in
// which nodes commit and the difference between their clocks.

import { getTableColumns } from 'drizzle-orm'
import type { PgTable } from 'drizzle-orm/pg-core'
import { type Reading, rowsOf } from '../reading/ask.ts'
import { newestFirst } from '../reading/rows.ts'
import type { ExchangeRow } from '../usage.ts'
import { numbersIn } from './reading.ts'
import { exchanges, refusals, reservations } from './schema.ts'

/** What of an exchange is told to nobody: for the ledger and the sums. */
const UNTOLD = new Set(['summed', 'alone', 'node', 'held', 'heldMicroUsd', 'reservedMicroUsd', 'budgets', 'pictures'])

/** Rows of a table as its columns tell them. `rest`: the statement from WHERE on. */
export function* rowsIn<T extends PgTable>(
  table: T,
  name: string,
  rest: string,
  values: readonly (string | number)[] = [],
): Reading<T['$inferSelect'][]> {
  const columns = Object.entries(getTableColumns(table)).filter(([as]) => !UNTOLD.has(as))
  const told = columns.map(([as, column]) => `"${column.name}" AS "${as}"`).join(', ')
  const rows = yield* rowsOf<Record<string, unknown>>(`SELECT ${told} FROM ${name} ${rest}`, values)
  return rows.map((row) =>
    Object.fromEntries(
      columns.map(([as, column]) => [as, row[as] === null ? null : column.mapFromDriverValue(row[as])]),
    ),
  )
}

/** Newest first: those of the three tables that a condition finds. */
export function* exchangesWhere(rest: string, values: readonly (string | number)[]): Reading<ExchangeRow[]> {
  const ended = yield* rowsIn(exchanges, 'exchanges', rest, values)
  const reserved = yield* rowsIn(reservations, 'reservations', rest, values)
  const refused = yield* rowsIn(refusals, 'refusals', rest, values)
  return newestFirst(ended, reserved, refused)
}

export const readRows = (rows: number[]): Reading<ExchangeRow[]> =>
  exchangesWhere(`WHERE row = ANY(${numbersIn('?')})`, [JSON.stringify(rows)])

/**
 * The number after the last row that began before a time, 0 where none has; a search by halves. Rows that began after `latest`
 * are passed over: the clock was wrong when they did, or it is now. True as far as rows follow the times.
 */
export function* endBefore(
  time: number,
  latest = Number.MAX_SAFE_INTEGER,
  { table, at } = { table: 'exchanges', at: 'started_at' },
): Reading<number> {
  const beyond = '(n.row IS NULL OR n.row >= s.high OR n.at >= ?)'
  const [found] = yield* rowsOf<{ low: number }>(
    `WITH RECURSIVE search(low, high) AS (
       SELECT 0::bigint, coalesce((SELECT max(row) FROM ${table}), 0) + 1
       UNION ALL
       SELECT CASE WHEN ${beyond} THEN s.low ELSE n.row + 1 END,
         CASE WHEN ${beyond} THEN (s.low + s.high) / 2 ELSE s.high END
       FROM search AS s LEFT JOIN LATERAL (
         SELECT row, ${at} AS at FROM ${table} WHERE row >= (s.low + s.high) / 2 AND ${at} <= ? ORDER BY row LIMIT 1
       ) AS n ON true
       WHERE s.low < s.high
     ) SELECT low FROM search WHERE low >= high`,
    [time, time, latest],
  )
  return found?.low ?? 0
}
