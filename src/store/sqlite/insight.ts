// What the dashboard reads: each query seeks by an index and looks at a bounded number of rows, however many there are.
// Exchanges in flight are few and in one index of their own; the others know only those that ended.

import type { Database, SQLQueryBindings } from 'bun:sqlite'
import { desc, inArray } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import type { Insight, LatencyQuery, LatencySample, PageQuery, SeriesQuery, SeriesRow } from '../insight.ts'
import { lastRow, rowAt } from './rows.ts'
import { exchanges } from './schema.ts'

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
    if (rows.length === 0) return { rows: [], next }
    return {
      rows: orm.select().from(exchanges).where(inArray(exchanges.row, rows)).orderBy(desc(exchanges.row)).all(),
      next,
    }
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
      `SELECT started_at AS at FROM exchanges INDEXED BY exchanges_by_key WHERE key_id = ? AND ${ENDED}
       ORDER BY row DESC LIMIT 1`,
    )
    const found = new Map<string, number>()
    for (const id of keyIds) {
      const at = last.get(id)?.at
      if (at !== undefined) found.set(id, at)
    }
    const inFlight = db
      .query<{ id: string; at: number }, []>(
        'SELECT key_id AS id, max(started_at) AS at FROM exchanges WHERE outcome IS NULL GROUP BY 1',
      )
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

/** `index` serves the driver's condition in the order of rows; `rest` is what is left to be asked of each candidate. */
type Driver = Condition & { index: string; rest: Condition | undefined }

const findRows = (db: Database, query: PageQuery): { rows: number[]; next: number | undefined } => {
  const { limit, before, since, until } = query
  const from = since === undefined ? 0 : rowAt(db, since)
  const end = until === undefined ? undefined : rowAt(db, until)
  if (from === undefined) return { rows: [], next: undefined }
  const to = Math.min(before ?? Number.MAX_SAFE_INTEGER, end ?? Number.MAX_SAFE_INTEGER)
  let found: number[] = []
  // Below the lowest row that every driver was followed to, the page would have gaps.
  let complete = 0
  for (const driver of plan(query)) {
    const rows = follow(db, driver, from, to, limit + 1)
    found = found.concat(rows)
    if (driver.rest === undefined || rows.length > limit) continue
    complete = Math.max(complete, scannedTo(db, driver, from, to) ?? 0)
  }
  const rows = found.filter((row) => row >= complete).sort((a, b) => b - a)
  if (rows.length > limit) return { rows: rows.slice(0, limit), next: rows[limit - 1] }
  return { rows, next: complete > from ? complete : undefined }
}

const ENDED = 'outcome IS NOT NULL'

/** What finds the candidates. */
const plan = ({ keyIds, model, outcome }: Pick<PageQuery, 'keyIds' | 'model' | 'outcome'>): Driver[] => {
  const byModel: Condition[] = model === undefined ? [] : [{ sql: 'model = ?', values: [model] }]
  const byKey: Condition[] =
    keyIds === undefined
      ? []
      : [{ sql: 'key_id IN (SELECT value FROM json_each(?))', values: [JSON.stringify(keyIds)] }]
  const inFlight: Driver = {
    ...{ index: 'INDEXED BY exchanges_open', sql: 'outcome IS NULL', values: [] },
    rest: both([...byKey, ...byModel]),
  }
  if (outcome === 'open') return [inFlight]
  const byOutcome: Condition[] = outcome === undefined ? [] : [{ sql: 'outcome = ?', values: [outcome] }]
  const flying = outcome === undefined ? [inFlight] : []
  if (keyIds !== undefined) {
    const index = 'INDEXED BY exchanges_by_key'
    const rest = both([...byModel, ...byOutcome])
    return [...keyIds.map((id) => ({ index, sql: `key_id = ? AND ${ENDED}`, values: [id], rest })), ...flying]
  }
  if (outcome !== undefined && outcome !== 'done') {
    const sql = "outcome = ? AND outcome <> 'done'"
    return [{ index: 'INDEXED BY exchanges_not_done', sql, values: [outcome], rest: both(byModel) }]
  }
  if (model !== undefined) {
    const sql = `model = ? AND ${ENDED}`
    return [{ index: 'INDEXED BY exchanges_by_model', sql, values: [model], rest: both(byOutcome) }, ...flying]
  }
  return [{ index: '', sql: 'TRUE', values: [], rest: both(byOutcome) }]
}

const both = (conditions: Condition[]): Condition | undefined =>
  conditions.length === 0
    ? undefined
    : { sql: conditions.map((each) => each.sql).join(' AND '), values: conditions.flatMap((each) => each.values) }

const follow = (db: Database, driver: Driver, from: number, to: number, limit: number): number[] => {
  const { rest } = driver
  const candidates = `FROM exchanges ${driver.index} WHERE ${driver.sql} AND row >= ? AND row < ? ORDER BY row DESC LIMIT ?`
  const bounds = [...driver.values, from, to]
  const rows =
    rest === undefined
      ? db.query<{ row: number }, SQLQueryBindings[]>(`SELECT row ${candidates}`).all(...bounds, limit)
      : db
          .query<{ row: number }, SQLQueryBindings[]>(
            `SELECT row FROM (SELECT row, key_id, model, outcome ${candidates}) WHERE ${rest.sql} LIMIT ?`,
          )
          .all(...bounds, SCAN, ...rest.values, limit)
  return rows.map(({ row }) => row)
}

/** The last candidate a scan looked at; undefined where it looked at all of them. */
const scannedTo = (db: Database, driver: Driver, from: number, to: number): number | undefined =>
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
    const drivers = plan({ keyIds, model, outcome: undefined })
    const share = Math.ceil(LATEST / Math.max(1, drivers.length))
    const rows = drivers.flatMap((driver) => follow(db, driver, from, to, share))
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
