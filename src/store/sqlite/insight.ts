// The dashboard's queries: each seeks by an index and reads a bounded number of rows, however many there are. Exchanges in
// flight are in a small table of their own.

import type { Database, SQLQueryBindings } from 'bun:sqlite'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import type { Calendar } from '../../lib/calendar.ts'
import type { Insight, LatencyQuery, LatencySample, PageQuery, Unfinished, UnfinishedQuery } from '../insight.ts'
import { lately } from '../reading/lately.ts'
import { ASTRAY_MS, type Found, NONE_FOUND, pageOf } from '../reading/rows.ts'
import { isByOwner } from '../reading/spending.ts'
import { type AnswerOf, type QueryOf, readingsOfSums } from '../reading/sums.ts'
import { blocksOfKeys, blocksOfModel, KEYS, MODELS } from './blocks.ts'
import { ormOf } from './orm.ts'
import { seriesByOwner } from './owned.ts'
import { readNow, WORDS } from './reading.ts'
import { endBefore, lastRow, REFUSALS, readRows } from './rows.ts'
import { BLOCK_ROWS } from './schema.ts'

/** Rows one page reads where there are more conditions than the index serves. */
const SCAN = 10_000
/** For a page of a model's exchanges, or of some keys': the rows of the blocks it reads, and the pairs of block and key it looks up to find them. */
const READ = 24 * BLOCK_ROWS
const PROBES = 40_000
/** A sample of a range: this many stretches, spread evenly, of this many consecutive exchanges. */
const STRETCHES = 64
const STRETCH = 32
/** How many exchanges of one key or model are read for its latencies. */
const LATEST = 1_000

export type InsightQueries = { [N in keyof Insight]: (query: QueryOf[N]) => AnswerOf[N] }

export const answer = <N extends keyof Insight>(queries: InsightQueries, name: N, query: QueryOf[N]): AnswerOf[N] =>
  queries[name](query)

/** For a connection beside the writer's: as of one moment, though that writes on between the statements of a query. */
export const answerBeside = <N extends keyof Insight>(
  db: Database,
  name: N,
  query: QueryOf[N],
  calendar: Calendar,
): AnswerOf[N] => {
  const queries = insightQueries(db, ormOf(db), calendar)
  return db.transaction(() => answer(queries, name, query))()
}

export const insightQueries = (db: Database, orm: BunSQLiteDatabase, calendar: Calendar): InsightQueries => {
  const sums = readingsOfSums(calendar, WORDS)
  return {
    series: (query) =>
      isByOwner(query.by) ? seriesByOwner(db, { ...query, by: query.by }, calendar) : readNow(db, sums.series(query)),
    shares: (query) => readNow(db, sums.shares(query)),
    usage: (query) => readNow(db, sums.usage(query)),
    topKeys: (query) => readNow(db, sums.topKeys(query)),
    hoursKept: (since) => readNow(db, sums.hoursKept(since)),
    refused: (query) => readNow(db, sums.refused(query)),
    exchangePage(query) {
      const { rows, next } = findRows(db, query)
      return { rows: rows.length === 0 ? [] : readRows(orm, rows), next }
    },
    latencies: (query) => latencies(db, query),
    unfinished: (query) => unfinished(db, query),
    lately: (rows) => readNow(db, lately(rows)),
  }
}

type Condition = { sql: string; values: SQLQueryBindings[] }

const findRows = (db: Database, query: PageQuery): { rows: number[]; next: number | undefined } => {
  const { limit } = query
  const refused = query.outcome === undefined || query.outcome === 'refused' ? findRefused(db, query) : []
  const open = query.outcome === undefined || query.outcome === 'open' ? findOpen(db, query) : []
  const ended = query.outcome === 'open' ? NONE_FOUND : findEnded(db, query, limit + 1)
  return pageOf(limit, ended, open, refused)
}

/** Rows of ended exchanges that may have begun then, `to` exclusive. */
type Range = { from: number; to: number }

const rangeOf = (db: Database, { since, until, before }: Pick<PageQuery, 'since' | 'until' | 'before'>): Range => {
  const from = since === undefined ? 0 : endBefore(db, since - ASTRAY_MS)
  const end = until === undefined ? Number.MAX_SAFE_INTEGER : endBefore(db, until + ASTRAY_MS)
  return { from, to: Math.min(end, before ?? Number.MAX_SAFE_INTEGER) }
}

const inTime = ({ since, until }: Pick<PageQuery, 'since' | 'until'>, at = 'started_at'): Condition[] => [
  ...(since === undefined ? [] : [{ sql: `${at} >= ?`, values: [since] }]),
  ...(until === undefined ? [] : [{ sql: `${at} < ?`, values: [until] }]),
]

/** Of each key there are few: one by one, each from its newest on. */
const findRefused = (db: Database, { limit, before, keyIds, model, since, until }: PageQuery): number[] => {
  // They are numbered when they are written, and in a flood that is some seconds later.
  const rowFrom = (time: number): Condition => ({
    sql: 'row >= ?',
    values: [endBefore(db, time - ASTRAY_MS, undefined, REFUSALS)],
  })
  const { sql, values } = allOf([
    ...(before === undefined ? [] : [{ sql: 'row < ?', values: [before] }]),
    ...(since === undefined ? [] : [rowFrom(since)]),
    ...inTime({ since, until }, 'at'),
    ...(model === undefined ? [] : [{ sql: 'model = ?', values: [model] }]),
  ])
  const found = (ofKey: string, ...key: string[]): number[] =>
    db
      .query<{ row: number }, SQLQueryBindings[]>(
        `SELECT row FROM refusals WHERE ${ofKey} AND ${sql} ORDER BY row DESC LIMIT ${limit + 1}`,
      )
      .all(...key, ...values)
      .map(({ row }) => row)
  return keyIds === undefined ? found('TRUE') : keyIds.flatMap((id) => found('key_id = ?', id))
}

const findOpen = (db: Database, { limit, before, keyIds, model, since, until }: PageQuery): number[] => {
  const conditions: Condition[] = [
    ...(before === undefined ? [] : [{ sql: 'row < ?', values: [before] }]),
    ...inTime({ since, until }),
    ...(model === undefined ? [] : [{ sql: 'model = ?', values: [model] }]),
    ...(keyIds === undefined
      ? []
      : [{ sql: 'key_id IN (SELECT value FROM json_each(?))', values: [JSON.stringify(keyIds)] }]),
  ]
  const { sql, values } = allOf(conditions)
  return db
    .query<{ row: number }, SQLQueryBindings[]>(
      `SELECT row FROM reservations WHERE ${sql} AND row NOT IN (SELECT row FROM exchanges) ORDER BY row DESC LIMIT ${limit + 1}`,
    )
    .all(...values)
    .map(({ row }) => row)
}

type Filter = Omit<PageQuery, 'limit'>

const findEnded = (db: Database, filter: Filter, limit: number): Found => {
  const range = rangeOf(db, filter)
  return filter.keyIds === undefined && (filter.model === undefined || isRare(filter.outcome))
    ? findInOrder(db, filter, range, limit)
    : findInBlocks(db, filter, range, limit)
}

const isRare = (outcome: Filter['outcome']): outcome is Exclude<Filter['outcome'], 'done' | undefined> =>
  outcome !== undefined && outcome !== 'done'

// The partial index is used only for a condition that repeats its own.
const NOT_DONE = "INDEXED BY exchanges_not_done WHERE outcome = ? AND outcome <> 'done'"

/** By the index of what is not done, or by none; what else is asked is checked on a bounded number of rows. */
const findInOrder = (db: Database, filter: Filter, { from, to }: Range, limit: number): Found => {
  const { model, outcome } = filter
  const rare = isRare(outcome)
  const candidates = `FROM exchanges ${rare ? NOT_DONE : 'WHERE TRUE'} AND row >= ? AND row < ? ORDER BY row DESC`
  const bounds = [...(rare ? [outcome] : []), from, to]
  const rest: Condition[] = [
    ...(model === undefined ? [] : [{ sql: 'model = ?', values: [model] }]),
    ...(rare || outcome === undefined ? [] : [{ sql: 'outcome = ?', values: [outcome] }]),
    ...inTime(filter),
  ]
  if (rest.length === 0) {
    const found = db
      .query<{ row: number }, SQLQueryBindings[]>(`SELECT row ${candidates} LIMIT ?`)
      .all(...bounds, limit)
    return { rows: found.map(({ row }) => row), complete: undefined }
  }
  const checked = allOf(rest)
  const found = db
    .query<{ row: number }, SQLQueryBindings[]>(
      `SELECT row FROM (SELECT row, model, outcome, started_at ${candidates} LIMIT ?) WHERE ${checked.sql} LIMIT ?`,
    )
    .all(...bounds, SCAN, ...checked.values, limit)
  if (found.length === limit) return { rows: found.map(({ row }) => row), complete: undefined }
  const last = db
    .query<{ row: number }, SQLQueryBindings[]>(`SELECT row ${candidates} LIMIT 1 OFFSET ?`)
    .get(...bounds, SCAN - 1)
  return { rows: found.map(({ row }) => row), complete: last !== null && last.row > from ? last.row : undefined }
}

/** Block by block, of those that list one of the keys; without keys, the model. */
const findInBlocks = (db: Database, filter: Filter, range: Range, limit: number): Found => {
  const { keyIds, model, outcome } = filter
  const { from } = range
  const to = Math.min(range.to, lastRow(db) + 1)
  if (keyIds?.length === 0 || to <= from) return NONE_FOUND
  const size = (keyIds === undefined ? MODELS : KEYS).rows
  const first = Math.floor(from / size)
  const last = Math.floor((to - 1) / size)
  const lowest = keyIds === undefined ? first : Math.max(first, last - Math.ceil(PROBES / keyIds.length))
  const down = { last, lowest, most: READ / size }
  const blocks = keyIds === undefined ? blocksOfModel(db, model ?? '', down) : blocksOfKeys(db, keyIds, down)
  const rare = isRare(outcome)
  const rest = allOf([
    ...(keyIds === undefined
      ? []
      : [{ sql: 'key_id IN (SELECT value FROM json_each(?))', values: [JSON.stringify(keyIds)] }]),
    ...(model === undefined ? [] : [{ sql: 'model = ?', values: [model] }]),
    ...(outcome === 'done' ? [{ sql: 'outcome = ?', values: [outcome] }] : []),
    ...inTime(filter),
  ])
  const within = db.query<{ row: number }, SQLQueryBindings[]>(
    `SELECT row FROM exchanges ${rare ? NOT_DONE : 'NOT INDEXED WHERE TRUE'} AND row >= ? AND row < ? AND ${rest.sql}
     ORDER BY row`,
  )
  const rows: number[] = []
  for (const block of blocks) {
    const start = Math.max(from, block * size)
    const end = Math.min(to, (block + 1) * size)
    // Oldest first, as on the disk: reading a cold file backwards is many times slower.
    const found = within.all(...(rare ? [outcome] : []), start, end, ...rest.values)
    for (const { row } of found.reverse().slice(0, limit - rows.length)) rows.push(row)
    if (rows.length === limit) return { rows, complete: undefined }
  }
  const reached = blocks.length === down.most ? (blocks.at(-1) ?? lowest) : lowest
  return { rows, complete: reached > first ? reached * size : undefined }
}

const allOf = (conditions: Condition[]): Condition => ({
  sql: conditions.map(({ sql }) => sql).join(' AND ') || 'TRUE',
  values: conditions.flatMap(({ values }) => values),
})

const BILLED = ['input', 'cache_read', 'cache_write', 'output'].map((name) => `coalesce(${name}, 0)`).join(' + ')

const unfinished = (db: Database, { since, until, keyIds }: UnfinishedQuery): Unfinished => {
  const found = (['failed', 'aborted'] as const).map((outcome) =>
    findEnded(db, { since, until, keyIds, outcome }, LATEST),
  )
  const sums = db
    .query<{ requests: number; tokens: number }, [string]>(
      `SELECT count(*) AS requests, coalesce(sum(tokens), 0) AS tokens FROM (SELECT ${BILLED} AS tokens FROM exchanges
       WHERE row IN (SELECT value FROM json_each(?)) AND estimated) WHERE tokens > 0`,
    )
    .get(JSON.stringify(found.flatMap(({ rows }) => rows)))
  const whole = found.every(({ rows, complete }) => rows.length < LATEST && complete === undefined)
  return { requests: sums?.requests ?? 0, tokens: sums?.tokens ?? 0, whole }
}

const TIMES = 'SELECT first_byte_ms AS firstByteMs, total_ms AS totalMs FROM exchanges'
const ANSWERED = "outcome = 'done' AND first_byte_ms IS NOT NULL AND total_ms IS NOT NULL"

const latencies = (db: Database, { since, until, keyIds, model }: LatencyQuery): LatencySample[] => {
  if (keyIds !== undefined || model !== undefined) {
    const { rows } = findEnded(db, { since, until, keyIds, model }, LATEST)
    return db
      .query<LatencySample, [string]>(`${TIMES} WHERE row IN (SELECT value FROM json_each(?)) AND ${ANSWERED}`)
      .all(JSON.stringify(rows))
  }
  const { from, to: end } = rangeOf(db, { since, until })
  const to = Math.min(end, lastRow(db) + 1)
  const within = allOf(inTime({ since, until }))
  const answered = db.query<LatencySample, SQLQueryBindings[]>(
    `${TIMES} WHERE row >= ? AND row < ? AND ${ANSWERED} AND ${within.sql}`,
  )
  const stretch = (start: number, end: number): LatencySample[] => answered.all(start, end, ...within.values)
  if (to - from <= STRETCHES * STRETCH) return stretch(from, to)
  const apart = (to - from - STRETCH) / (STRETCHES - 1)
  return Array.from({ length: STRETCHES }, (_, i) => from + Math.round(i * apart)).flatMap((at) =>
    stretch(at, Math.min(to, at + STRETCH)),
  )
}
