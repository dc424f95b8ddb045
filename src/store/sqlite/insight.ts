// What the dashboard reads: each query seeks by an index and looks at a bounded number of rows, however many there are.
// Exchanges in flight are in a small table of their own.

import type { Database, SQLQueryBindings } from 'bun:sqlite'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import type { Insight, LatencyQuery, LatencySample, PageQuery, SeriesQuery, SeriesRow } from '../insight.ts'
import { lastRow, readRows, rowAt } from './rows.ts'

const STEP_MS = { hour: 3_600_000, day: 86_400_000 }
/** Rows one page looks at where more than the index's own condition is asked for. */
const SCAN = 5_000
/** A sample of the range: so many stretches, spread evenly, of so many exchanges in a row. */
const STRETCHES = 64
const STRETCH = 32
/** Exchanges of one key or model that are looked at for its latencies. */
const LATEST = 1_000
export const createInsight = (db: Database, orm: BunSQLiteDatabase): Insight => ({
  series: (query) => series(db, query),
  exchangePage(query) {
    const { rows, next } = findRows(db, query)
    return { rows: rows.length === 0 ? [] : readRows(orm, rows), next }
  },
  topKeys: ({ since, until, limit, model }) =>
    db
      .query<{ id: string }, SQLQueryBindings[]>(
        `SELECT key_id AS id FROM usage_days WHERE day >= ? AND day < ? ${model === undefined ? '' : 'AND model = ?'}
         GROUP BY 1 ORDER BY sum(input + cache_read + cache_write + output) DESC LIMIT ?`,
      )
      .all(since - (since % STEP_MS.day), until, ...(model === undefined ? [] : [model]), limit)
      .map(({ id }) => id),
  latencies: (query) => latencies(db, query),
  lastUsed(keyIds) {
    const last = db.query<{ at: number }, [string]>(
      'SELECT started_at AS at FROM exchanges INDEXED BY exchanges_key WHERE key_id = ? ORDER BY row DESC LIMIT 1',
    )
    const found = new Map<string, number>()
    for (const id of keyIds) {
      const at = last.get(id)?.at
      if (at !== undefined) found.set(id, at)
    }
    const inFlight = db
      .query<{ id: string; at: number }, []>('SELECT key_id AS id, max(started_at) AS at FROM reservations GROUP BY 1')
      .all()
    const asked = new Set(keyIds)
    for (const { id, at } of inFlight) if (asked.has(id)) found.set(id, Math.max(at, found.get(id) ?? at))
    return found
  },
})

const SUMS = [
  'requests',
  'errors',
  'input',
  'cache_read',
  'cache_write',
  'output',
  'reasoning',
  'cost_micro_usd',
] as const
const ALIAS = { cache_read: 'cacheRead', cache_write: 'cacheWrite', cost_micro_usd: 'costMicroUsd' } as Record<
  string,
  string
>
const SUMMED = SUMS.map((name) => `sum(${name}) AS ${ALIAS[name] ?? name}`).join(', ')

const series = (db: Database, { step, by, since, until, keyIds, model }: SeriesQuery): SeriesRow[] => {
  const span = STEP_MS[step]
  const group = by === 'model' ? 'model' : by === 'key' ? 'key_id' : "'all'"
  const within = model === undefined ? '' : 'AND model = ?'
  const which = model === undefined ? [] : [model]
  if (keyIds === undefined) {
    // The whole gateway: from its own sums, which have no keys.
    return db
      .query<SeriesRow, SQLQueryBindings[]>(
        `SELECT hour - hour % ? AS at, ${group} AS "group", ${SUMMED} FROM usage_models
         WHERE hour >= ? AND hour < ? ${within} GROUP BY 1, 2`,
      )
      .all(span, since, until, ...which)
  }
  const [table, column] = step === 'hour' ? ['usage_hours', 'hour'] : ['usage_days', 'day']
  const steps = Array.from({ length: Math.max(0, Math.ceil((until - since) / span)) }, (_, i) => since + i * span)
  // Each step and key by a seek of its own; a range of steps would be read through with all of its keys.
  return db
    .query<SeriesRow, SQLQueryBindings[]>(
      `SELECT ${column} AS at, ${group} AS "group", ${SUMMED} FROM ${table}
       WHERE ${column} IN (SELECT value FROM json_each(?)) AND key_id IN (SELECT value FROM json_each(?)) ${within}
       GROUP BY 1, 2`,
    )
    .all(JSON.stringify(steps), JSON.stringify(keyIds), ...which)
}

type Condition = { sql: string; values: SQLQueryBindings[] }

/** `index` serves the driver's condition in the order of rows. */
type Driver = Condition & { index: string }

const findRows = (db: Database, query: PageQuery): { rows: number[]; next: number | undefined } => {
  const { limit } = query
  let found = query.outcome === undefined || query.outcome === 'open' ? findOpen(db, query) : []
  const range = query.outcome === 'open' ? undefined : rangeOf(db, query)
  // Below the lowest row that every driver was followed to, the page would have gaps.
  let complete = 0
  if (range !== undefined) {
    const { drivers, rest } = plan(query)
    for (const driver of drivers) {
      const rows = follow(db, driver, rest, range, limit + 1)
      found = found.concat(rows)
      if (rest === undefined || rows.length > limit) continue
      complete = Math.max(complete, scannedTo(db, driver, range) ?? 0)
    }
  }
  const rows = found.filter((row) => row >= complete).sort((a, b) => b - a)
  if (rows.length > limit) return { rows: rows.slice(0, limit), next: rows[limit - 1] }
  return { rows, next: complete > (range?.from ?? 0) ? complete : undefined }
}

/** Rows of ended exchanges, `to` exclusive. */
type Range = { from: number; to: number }

const rangeOf = (db: Database, { since, until, before }: PageQuery): Range | undefined => {
  const from = since === undefined ? 0 : rowAt(db, since)
  if (from === undefined) return undefined
  const end = until === undefined ? undefined : rowAt(db, until)
  return { from, to: Math.min(before ?? Number.MAX_SAFE_INTEGER, end ?? Number.MAX_SAFE_INTEGER) }
}

const findOpen = (db: Database, { limit, before, keyIds, model, since, until }: PageQuery): number[] => {
  const conditions: Condition[] = [
    ...(before === undefined ? [] : [{ sql: 'row < ?', values: [before] }]),
    ...(since === undefined ? [] : [{ sql: 'started_at >= ?', values: [since] }]),
    ...(until === undefined ? [] : [{ sql: 'started_at < ?', values: [until] }]),
    ...(model === undefined ? [] : [{ sql: 'model = ?', values: [model] }]),
    ...(keyIds === undefined
      ? []
      : [{ sql: 'key_id IN (SELECT value FROM json_each(?))', values: [JSON.stringify(keyIds)] }]),
  ]
  const { sql, values } = both(conditions) ?? { sql: 'TRUE', values: [] }
  return db
    .query<{ row: number }, SQLQueryBindings[]>(
      `SELECT row FROM reservations WHERE ${sql} ORDER BY row DESC LIMIT ${limit + 1}`,
    )
    .all(...values)
    .map(({ row }) => row)
}

/** What finds the candidates among ended exchanges, and what is left to be asked of each. */
const plan = ({
  keyIds,
  model,
  outcome,
}: Pick<PageQuery, 'keyIds' | 'model' | 'outcome'>): { drivers: Driver[]; rest: Condition | undefined } => {
  const byModel: Condition[] = model === undefined ? [] : [{ sql: 'model = ?', values: [model] }]
  const byOutcome: Condition[] = outcome === undefined ? [] : [{ sql: 'outcome = ?', values: [outcome] }]
  if (keyIds !== undefined) {
    const drivers = keyIds.map((id) => ({ index: 'INDEXED BY exchanges_key', sql: 'key_id = ?', values: [id] }))
    return { drivers, rest: both([...byModel, ...byOutcome]) }
  }
  if (outcome !== undefined && outcome !== 'done') {
    const sql = "outcome = ? AND outcome <> 'done'"
    return { drivers: [{ index: 'INDEXED BY exchanges_not_done', sql, values: [outcome] }], rest: both(byModel) }
  }
  if (model !== undefined) {
    const driver = { index: 'INDEXED BY exchanges_model', sql: 'model = ?', values: [model] }
    return { drivers: [driver], rest: both(byOutcome) }
  }
  return { drivers: [{ index: '', sql: 'TRUE', values: [] }], rest: both(byOutcome) }
}

const both = (conditions: Condition[]): Condition | undefined =>
  conditions.length === 0
    ? undefined
    : { sql: conditions.map((each) => each.sql).join(' AND '), values: conditions.flatMap((each) => each.values) }

const follow = (
  db: Database,
  driver: Driver,
  rest: Condition | undefined,
  { from, to }: Range,
  limit: number,
): number[] => {
  const candidates = `FROM exchanges ${driver.index} WHERE ${driver.sql} AND row >= ? AND row < ? ORDER BY row DESC LIMIT ?`
  const bounds = [...driver.values, from, to]
  const rows =
    rest === undefined
      ? db.query<{ row: number }, SQLQueryBindings[]>(`SELECT row ${candidates}`).all(...bounds, limit)
      : db
          .query<{ row: number }, SQLQueryBindings[]>(
            `SELECT row FROM (SELECT row, model, outcome ${candidates}) WHERE ${rest.sql} LIMIT ?`,
          )
          .all(...bounds, SCAN, ...rest.values, limit)
  return rows.map(({ row }) => row)
}

/** The last candidate a scan looked at; undefined where it looked at all of them. */
const scannedTo = (db: Database, driver: Driver, { from, to }: Range): number | undefined =>
  db
    .query<{ row: number }, SQLQueryBindings[]>(
      `SELECT row FROM exchanges ${driver.index} WHERE ${driver.sql} AND row >= ? AND row < ? ORDER BY row DESC LIMIT 1 OFFSET ?`,
    )
    .get(...driver.values, from, to, SCAN - 1)?.row

const TIMES = 'SELECT first_byte_ms AS firstByteMs, total_ms AS totalMs FROM exchanges'
const ANSWERED = "outcome = 'done' AND first_byte_ms IS NOT NULL AND total_ms IS NOT NULL"

const latencies = (db: Database, { since, until, keyIds, model }: LatencyQuery): LatencySample[] => {
  const from = rowAt(db, since)
  if (from === undefined) return []
  const to = rowAt(db, until) ?? lastRow(db) + 1
  if (keyIds !== undefined || model !== undefined) {
    const { drivers, rest } = plan({ keyIds, model, outcome: undefined })
    const share = Math.ceil(LATEST / Math.max(1, drivers.length))
    const rows = drivers.flatMap((driver) => follow(db, driver, rest, { from, to }, share))
    return db
      .query<LatencySample, [string]>(`${TIMES} WHERE row IN (SELECT value FROM json_each(?)) AND ${ANSWERED}`)
      .all(JSON.stringify(rows))
  }
  const stretch = db.query<LatencySample, [number, number]>(`${TIMES} WHERE row >= ? AND row < ? AND ${ANSWERED}`)
  if (to - from <= STRETCHES * STRETCH) return stretch.all(from, to)
  const apart = (to - from - STRETCH) / (STRETCHES - 1)
  return Array.from({ length: STRETCHES }, (_, i) => from + Math.round(i * apart)).flatMap((at) =>
    stretch.all(at, Math.min(to, at + STRETCH)),
  )
}
