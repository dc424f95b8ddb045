// Exchanges by time: rows and times grow together, so that a time is found by halving the rows.

import type { Database } from 'bun:sqlite'

/** The first row that began at or after a time, in ms since the epoch; undefined: none has. */
export const rowAt = (db: Database, time: number): number | undefined => {
  // Rows that are gone leave gaps: what is asked is the first one left from a row on.
  const from = db.query<{ row: number; at: number }, [number]>(
    'SELECT row, started_at AS at FROM exchanges WHERE row >= ? ORDER BY row LIMIT 1',
  )
  let low = 0
  let high = lastRow(db) + 1
  let found: number | undefined
  while (low < high) {
    const middle = Math.floor((low + high) / 2)
    const next = from.get(middle)
    if (next === null || next.row >= high) high = middle
    else if (next.at >= time) {
      found = next.row
      high = middle
    } else low = next.row + 1
  }
  return found
}

/** 0 where there is none. */
export const lastRow = (db: Database): number =>
  db.query<{ row: number | null }, []>('SELECT max(row) AS row FROM exchanges').get()?.row ?? 0
