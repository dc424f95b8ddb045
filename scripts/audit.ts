// What the books of a database say: sums that must agree, and nothing left open.

import { Database } from 'bun:sqlite'

/** `seen`: the ids of the exchanges that clients were told of. All but `rows` and `tokens` must be 0. */
export const audit = (path: string, seen: Iterable<string>) => {
  const db = new Database(path, { readonly: true })
  const one = (sql: string): number => db.query<{ n: number | null }, []>(sql).get()?.n ?? 0
  const sum = 'sum(coalesce(input, 0) + coalesce(cache_read, 0) + coalesce(cache_write, 0) + coalesce(output, 0))'
  const ids = new Set(
    db
      .query<{ id: string }, []>('SELECT id FROM exchanges')
      .all()
      .map(({ id }) => id),
  )
  const billed = one(`SELECT ${sum} AS n FROM exchanges`)
  const found = {
    rows: one('SELECT count(*) AS n FROM exchanges'),
    tokens: billed,
    lost: [...seen].filter((id) => !ids.has(id)).length,
    double: one('SELECT count(*) - count(DISTINCT id) AS n FROM exchanges'),
    open: one('SELECT count(*) AS n FROM reservations'),
    keyDiffers: one('SELECT sum(tokens_used) AS n FROM keys') - billed,
    daysDiffer: one(`SELECT ${sum} AS n FROM usage_days`) - billed,
    hoursDiffer: one(`SELECT ${sum} AS n FROM usage_hours`) - billed,
    requestsDiffer: one('SELECT sum(requests) AS n FROM usage_days') - one('SELECT count(*) AS n FROM exchanges'),
  }
  db.close()
  return found
}
