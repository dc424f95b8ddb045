// The dashboard's queries in PostgreSQL: sums as every database keeps them, and pages that read a bounded number of rows by the
// index that serves them.

import type { Calendar } from '../../lib/calendar.ts'
import type { Insight, LatencyQuery, LatencySample, PageQuery, Unfinished, UnfinishedQuery } from '../insight.ts'
import { type Reading, rowsOf } from '../reading/ask.ts'
import { lately } from '../reading/lately.ts'
import { ASTRAY_MS, type Found, NONE_FOUND, pageOf } from '../reading/rows.ts'
import { type Readings, readingsOfSums } from '../reading/sums.ts'
import type { Client } from './client.ts'
import { numbersIn, readAsOfNow, textsIn, WORDS } from './reading.ts'
import { endBefore, readRows } from './rows.ts'
import type { Sums } from './sums.ts'

/** Rows one page reads where there are more conditions than the index serves. */
const SCAN = 10_000
/** For a page of more keys than this their rows are not looked up one key after another. */
const MANY_KEYS = 500
/** A sample of a range: this many stretches, spread evenly, of this many consecutive exchanges. */
const STRETCHES = 64
const STRETCH = 32
/** How many exchanges of one key or model are read for its latencies. */
const LATEST = 1_000

export const createInsight = (db: Client, calendar: Calendar, sums: Sums): Insight => {
  const readings = insightReadings(calendar)
  const answers =
    <Query, Answer>(reading: (query: Query) => Reading<Answer>) =>
    async (query: Query): Promise<Answer> => {
      await sums.add()
      return await readAsOfNow(db, () => reading(query))
    }
  const fromRows =
    <Query, Answer>(reading: (query: Query) => Reading<Answer>) =>
    (query: Query): Promise<Answer> =>
      readAsOfNow(db, () => reading(query))
  return {
    series: answers(readings.series),
    shares: answers(readings.shares),
    usage: answers(readings.usage),
    topKeys: answers(readings.topKeys),
    hoursKept: answers(readings.hoursKept),
    refused: fromRows(readings.refused),
    exchangePage: fromRows(readings.exchangePage),
    latencies: fromRows(readings.latencies),
    unfinished: fromRows(readings.unfinished),
    lately: fromRows(readings.lately),
  }
}

const insightReadings = (calendar: Calendar): Readings => ({
  ...readingsOfSums(calendar, WORDS),
  *exchangePage(query) {
    const { limit, outcome } = query
    const refused = outcome === undefined || outcome === 'refused' ? yield* findRefused(query) : []
    const open = outcome === undefined || outcome === 'open' ? yield* findOpen(query) : []
    const ended = outcome === 'open' ? NONE_FOUND : yield* findEnded(query, outcome, limit + 1)
    const { rows, next } = pageOf(limit, ended, open, refused)
    return { rows: rows.length === 0 ? [] : yield* readRows(rows), next }
  },
  latencies,
  unfinished,
  lately,
})

type Condition = { text: string; values: (string | number)[] }
const when = <T>(value: T | undefined, condition: (value: T) => Condition): Condition[] =>
  value === undefined ? [] : [condition(value)]
const allOf = (conditions: Condition[]): Condition => ({
  text: conditions.map(({ text }) => text).join(' AND ') || 'true',
  values: conditions.flatMap(({ values }) => values),
})

const ofKeys = (keyIds: readonly string[]): Condition => ({
  text: `key_id = ANY(${textsIn('?')})`,
  values: [JSON.stringify(keyIds)],
})
/** Of very many: found among the members of an object, which are sorted. */
const amongMany = (keyIds: readonly string[]): Condition => ({
  text: 'jsonb_exists((SELECT ?::text::jsonb), key_id)',
  values: [JSON.stringify(Object.fromEntries(keyIds.map((id) => [id, true])))],
})
const ofModel = (model: string): Condition => ({ text: 'model = ?', values: [model] })
const inTime = ({ since, until }: Pick<PageQuery, 'since' | 'until'>, at = 'started_at'): Condition[] => [
  ...when(since, (time) => ({ text: `${at} >= ?`, values: [time] })),
  ...when(until, (time) => ({ text: `${at} < ?`, values: [time] })),
]

const REFUSALS = { table: 'refusals', at: 'at' }

/** Rows that may have begun then, `to` exclusive. */
type Range = { from: number; to: number }

function* rangeOf(
  { since, until, before }: Pick<PageQuery, 'since' | 'until' | 'before'>,
  of?: typeof REFUSALS,
): Reading<Range> {
  const from = since === undefined ? 0 : yield* endBefore(since - ASTRAY_MS, undefined, of)
  const to = until === undefined ? Number.MAX_SAFE_INTEGER : yield* endBefore(until + ASTRAY_MS, undefined, of)
  return { from, to: Math.min(to, before ?? Number.MAX_SAFE_INTEGER) }
}

/** Of each key there are few: one by one, each from its newest on. */
function* findRefused(query: PageQuery): Reading<number[]> {
  const { limit, keyIds, model } = query
  const { from, to } = yield* rangeOf(query, REFUSALS)
  const { text, values } = allOf([
    { text: 'row >= ? AND row < ?', values: [from, to] },
    ...inTime(query, 'at'),
    ...when(model, ofModel),
  ])
  const newest = (ofKey: string): string =>
    `SELECT row FROM refusals WHERE ${ofKey} AND ${text} ORDER BY row DESC LIMIT ${limit + 1}`
  const found =
    keyIds === undefined
      ? yield* rowsOf<{ row: number }>(newest('true'), values)
      : yield* rowsOf<{ row: number }>(
          `SELECT row FROM unnest(${textsIn('?')}) AS asked(id) CROSS JOIN LATERAL (${newest('key_id = asked.id')}) AS found
           ORDER BY row DESC LIMIT ${limit + 1}`,
          [JSON.stringify(keyIds), ...values],
        )
  return found.map(({ row }) => row)
}

function* findOpen(query: PageQuery): Reading<number[]> {
  const { limit, before, keyIds, model } = query
  const { text, values } = allOf([
    ...when(before, (row) => ({ text: 'row < ?', values: [row] })),
    ...inTime(query),
    ...when(model, ofModel),
    ...when(keyIds, ofKeys),
  ])
  const found = yield* rowsOf<{ row: number }>(
    `SELECT row FROM reservations WHERE ${text} ORDER BY row DESC LIMIT ${limit + 1}`,
    values,
  )
  return found.map(({ row }) => row)
}

type Filter = Pick<PageQuery, 'keyIds' | 'model' | 'since' | 'until' | 'before'>

/** By an index that serves one condition in the order of rows; the others are checked on a bounded number of rows. */
function* findEnded(query: Filter, outcome: PageQuery['outcome'], limit: number): Reading<Found> {
  const { keyIds, model, since, until } = query
  if (keyIds?.length === 0) return NONE_FOUND
  const { from, to } = yield* rangeOf(query)
  if (to <= from) return NONE_FOUND
  const byKey = keyIds !== undefined && keyIds.length <= MANY_KEYS
  const byOutcome = !byKey && outcome !== undefined && outcome !== 'done'
  const byModel = !byKey && !byOutcome && model !== undefined
  const driver = byKey ? KEY : byModel ? MODEL : byOutcome ? NOT_DONE : ROW
  const sources = byKey ? keyIds : byModel ? [model] : byOutcome ? [outcome] : ['']
  const rest = allOf([
    ...(byKey ? [] : when(keyIds, amongMany)),
    ...(byModel ? [] : when(model, ofModel)),
    ...(byOutcome ? [] : when(outcome, (value) => ({ text: 'outcome = ?', values: [value] }))),
    ...inTime({ since, until }),
  ])
  const asked = `unnest(${textsIn('?')}) AS asked(value)`
  const ordered = `FROM exchanges WHERE ${driver.within} ORDER BY ${driver.order}`
  const given = [JSON.stringify(sources), from, to]
  const newest = `SELECT asked.value, one.row FROM ${asked} CROSS JOIN LATERAL`
  if (rest.values.length === 0) {
    const found = yield* rowsOf<{ row: number }>(
      `${newest} (SELECT row ${ordered} LIMIT ${limit}) AS one ORDER BY one.row DESC LIMIT ${limit}`,
      given,
    )
    return { rows: found.map(({ row }) => row), complete: undefined }
  }
  const ofEach = Math.max(limit, Math.ceil(SCAN / sources.length))
  // As many as are asked for are enough of each; where there are fewer, it was read as far as it may be.
  const found = yield* rowsOf<{ row: number | null; reached: number | null }>(
    `WITH read AS MATERIALIZED (
       ${newest} (
         SELECT row FROM (SELECT row, key_id, model, outcome, started_at ${ordered} LIMIT ${ofEach}) AS checked
         WHERE ${rest.text} ORDER BY row DESC LIMIT ${limit}
       ) AS one
     ), reached AS MATERIALIZED (
       SELECT max(one.row) AS row FROM ${asked} CROSS JOIN LATERAL (
         SELECT row ${ordered} LIMIT 1 OFFSET ${ofEach - 1}
       ) AS one
       WHERE (SELECT count(*) FROM read WHERE read.value = asked.value) < ${limit}
     )
     SELECT reached.row AS reached, found.row AS row FROM reached LEFT JOIN LATERAL (
       SELECT row FROM read WHERE row >= coalesce(reached.row, 0) ORDER BY row DESC LIMIT ${limit}
     ) AS found ON true ORDER BY 2 DESC`,
    [...given, ...rest.values, ...given],
  )
  const rows = found.flatMap(({ row }) => (row === null ? [] : [row]))
  const reached = found[0]?.reached ?? null
  const more = rows.length < limit && reached !== null && reached > from
  return { rows, complete: more ? reached : undefined }
}

type Driver = { within: string; order: string }
/** Written so that its index alone can serve it: of rows in their order, the planner would pass over all of others instead. */
const byIndex = (column: string, more = ''): Driver => ({
  within: `(${column}, row) >= (asked.value, ?::bigint) AND (${column}, row) < (asked.value, ?::bigint)${more}`,
  order: `${column} DESC, row DESC`,
})
const KEY = byIndex('key_id')
const MODEL = byIndex('model')
const NOT_DONE = byIndex('outcome', " AND outcome <> 'done'")
const ROW: Driver = { within: 'row >= ? AND row < ?', order: 'row DESC' }

const BILLED = ['input', 'cache_read', 'cache_write', 'output'].map((name) => `coalesce(${name}, 0)`).join(' + ')

function* unfinished({ since, until, keyIds }: UnfinishedQuery): Reading<Unfinished> {
  const failed = yield* findEnded({ since, until, keyIds }, 'failed', LATEST)
  const aborted = yield* findEnded({ since, until, keyIds }, 'aborted', LATEST)
  const [sums] = yield* rowsOf<{ requests: number; tokens: number }>(
    `SELECT count(*) AS requests, coalesce(sum(tokens), 0)::bigint AS tokens FROM (
       SELECT ${BILLED} AS tokens FROM exchanges WHERE row = ANY(${numbersIn('?')}) AND estimated) AS billed
     WHERE tokens > 0`,
    [JSON.stringify([...failed.rows, ...aborted.rows])],
  )
  const whole = [failed, aborted].every(({ rows, complete }) => rows.length < LATEST && complete === undefined)
  return { requests: sums?.requests ?? 0, tokens: sums?.tokens ?? 0, whole }
}

const TIMES = 'SELECT first_byte_ms AS "firstByteMs", total_ms AS "totalMs" FROM exchanges'
const ANSWERED = "outcome = 'done' AND first_byte_ms IS NOT NULL AND total_ms IS NOT NULL"

function* latencies({ since, until, keyIds, model }: LatencyQuery): Reading<LatencySample[]> {
  if (keyIds !== undefined || model !== undefined) {
    const { rows } = yield* findEnded({ since, until, keyIds, model }, undefined, LATEST)
    return yield* rowsOf<LatencySample>(`${TIMES} WHERE row = ANY(${numbersIn('?')}) AND ${ANSWERED}`, [
      JSON.stringify(rows),
    ])
  }
  const { from, to } = yield* rangeOf({ since, until })
  const [{ last } = { last: null }] = yield* rowsOf<{ last: number | null }>('SELECT max(row) AS last FROM exchanges')
  const end = Math.min(to, (last ?? 0) + 1)
  const asked = allOf(inTime({ since, until }))
  if (end - from <= STRETCHES * STRETCH)
    return yield* rowsOf<LatencySample>(
      `${TIMES} WHERE row >= ? AND row < ? AND ${ANSWERED} AND ${asked.text} ORDER BY row`,
      [from, end, ...asked.values],
    )
  const apart = (end - from - STRETCH) / (STRETCHES - 1)
  const starts = Array.from({ length: STRETCHES }, (_, i) => from + Math.round(i * apart))
  return yield* rowsOf<LatencySample>(
    `SELECT "firstByteMs", "totalMs" FROM unnest(${numbersIn('?')}) AS stretch(start) CROSS JOIN LATERAL (
       ${TIMES} WHERE row >= stretch.start AND row < stretch.start + ${STRETCH} AND row < ? AND ${ANSWERED} AND ${asked.text}
     ) AS one`,
    [JSON.stringify(starts), end, ...asked.values],
  )
}
