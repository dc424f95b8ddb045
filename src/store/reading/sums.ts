// The dashboard's series and lists of sums: each seeks by an index of the table that serves its range.

import { type Calendar, dateOf, dayAfter, dayFrom, stepsBetween } from '../../lib/calendar.ts'
import { HOUR_MS, startOfSpan } from '../../lib/spans.ts'
import { SUMMED } from '../figures.ts'
import type { Insight, Measure, RefusedByCode, SeriesQuery, SeriesRow } from '../insight.ts'
import { ALL_KEYS } from '../refusals.ts'
import type { UsageQuery, UsageTable } from '../usage.ts'
import { type Reading, rowsOf, type Words } from './ask.ts'
import { dayIn, hourIn } from './days.ts'
import { inOrder, isApart, isByOwner, ownerOf, sumsApart, WITH_OWNERS, withRest } from './spending.ts'
import { readUsage } from './usage.ts'

export type QueryOf = { [N in keyof Insight]: Parameters<Insight[N]>[0] }
export type AnswerOf = { [N in keyof Insight]: Awaited<ReturnType<Insight[N]>> }
export type Readings = { [N in keyof Insight]: (query: QueryOf[N]) => Reading<AnswerOf[N]> }

/** What is answered from sums alone, which every database keeps alike. */
export const readingsOfSums = (
  calendar: Calendar,
  words: Words,
): Omit<Readings, 'exchangePage' | 'latencies' | 'unfinished' | 'lately'> => ({
  series: (query) => series(query, calendar, words),
  *shares(query) {
    const ofKeys = yield* series({ ...query, by: 'key' }, calendar, words)
    return { ofKeys, ofAll: yield* series({ ...query, by: 'none', keyIds: undefined }, calendar, words) }
  },
  usage: (query) => usageIn(query, calendar, words),
  *topKeys({ since, until, limit, most, model }) {
    const rows = yield* rowsOf<{ id: string }>(
      `SELECT key_id AS id FROM usage_days WHERE day >= ? AND day < ? ${model === undefined ? '' : 'AND model = ?'}
       GROUP BY key_id ORDER BY sum(${MEASURED[most]}) DESC, ${words.byBytes('key_id')} LIMIT ?`,
      [calendar.dayOf(since), dayFrom(until, calendar), ...(model === undefined ? [] : [model]), limit],
    )
    return rows.map(({ id }) => id)
  },
  // Hours are pruned by whole days, the oldest first.
  *hoursKept(since) {
    const [oldest] = yield* rowsOf<{ hour: number }>('SELECT hour FROM usage_hours ORDER BY hour LIMIT 1')
    const before = oldest === undefined ? Number.MAX_SAFE_INTEGER : calendar.dayOf(oldest.hour)
    const gone = yield* rowsOf('SELECT 1 FROM usage_days WHERE day >= ? AND day < ? LIMIT 1', [
      calendar.dayOf(since),
      before,
    ])
    return gone.length === 0
  },
  *refused({ since, until, keyIds }) {
    const rows = yield* rowsOf<RefusedByCode>(
      `SELECT code, CAST(sum(count) AS bigint) AS count FROM refused_hours
       WHERE ${words.amongTexts('key_id')} AND hour >= ? AND hour < ? GROUP BY 1`,
      [JSON.stringify(keyIds ?? [ALL_KEYS]), startOfSpan(since, HOUR_MS), until],
    )
    return rows.sort((a, b) => b.count - a.count || (a.code < b.code ? -1 : 1))
  },
})

/** By group, or by group and day. */
export function* usageIn(query: UsageQuery, calendar: Calendar, words: Words): Reading<UsageTable> {
  const { by, sinceMs, untilMs, keyIds, daily = false } = query
  if (!daily || by === 'day') return yield* readUsage(query, calendar, words)
  const [known] = yield* rowsOf<{ first: number | null; last: number | null }>(
    // Each by itself is a seek in SQLite, and both at once read the whole table.
    'SELECT (SELECT min(day) FROM usage_days) AS first, (SELECT max(day) FROM usage_days) AS last',
  )
  const behind = dayAfter(known?.last ?? 0)
  const first = Math.max(known?.first ?? behind, sinceMs === undefined ? 0 : calendar.dayOf(sinceMs))
  const end = Math.min(behind, untilMs === undefined ? behind : dayFrom(untilMs, calendar))
  const since = sinceMs === undefined ? undefined : calendar.startOf(calendar.dayOf(sinceMs))
  if (first >= end) return { since, rows: [] }
  const span = { since: calendar.startOf(first), until: calendar.startOf(end) }
  const rows = yield* series({ ...span, step: 'day', by, keyIds, model: undefined }, calendar, words)
  rows.sort((a, b) => a.at - b.at || inOrder(a, b))
  return { since, rows: rows.map(({ at, ...row }) => ({ ...row, day: dateOf(calendar.dayOf(at)) })) }
}

const MEASURED: Readonly<Record<Measure, string>> = {
  tokens: 'input + cache_read + cache_write + output',
  cost: 'cost_micro_usd',
  requests: 'requests',
}

function* series(query: SeriesQuery, calendar: Calendar, words: Words): Reading<SeriesRow[]> {
  const { step, by, since, until, keyIds, model } = query
  if (isApart(by)) {
    const parts = yield* sumsApart({ by, step }, { from: since, end: until, keyIds }, calendar, words)
    return withRest(yield* series({ ...query, by: 'none' }, calendar, words), parts, ({ at }) => at)
  }
  const group = by === 'model' ? 'model' : by === 'key' ? 'key_id' : "'all'"
  const within = model === undefined ? '' : 'AND model = ?'
  const modelValues = model === undefined ? [] : [model]
  const [table, column] = step === 'hour' ? ['usage_hours', 'hour'] : ['usage_days', 'day']
  const startedOn = (rows: SeriesRow[]): SeriesRow[] =>
    (step === 'hour' ? rows : rows.map((row) => ({ ...row, at: calendar.startOf(row.at) }))).sort(
      (a, b) => a.at - b.at || inOrder(a, b),
    )
  if (isByOwner(by)) {
    const some = keyIds === undefined ? '' : `AND ${words.amongTexts('key_id')}`
    const [from, end] = step === 'hour' ? [since, until] : [calendar.dayOf(since), dayFrom(until, calendar)]
    const rows = yield* rowsOf<SeriesRow>(
      `SELECT ${column} AS at, ${ownerOf(by)} AS "group", ${SUMMED} FROM ${table} ${WITH_OWNERS}
       WHERE ${column} >= ? AND ${column} < ? ${within} ${some} GROUP BY 1, 2`,
      [from, end, ...modelValues, ...(keyIds === undefined ? [] : [JSON.stringify(keyIds)])],
    )
    return startedOn(rows)
  }
  if (keyIds === undefined) {
    // The whole gateway: from its own sums, which have no keys.
    const at = step === 'hour' ? hourIn(since, until, calendar) : dayIn(since, until, calendar)
    const rows = yield* rowsOf<SeriesRow>(
      `SELECT ${at} AS at, ${group} AS "group", ${SUMMED} FROM usage_models
       WHERE hour >= ? AND hour < ? ${within} GROUP BY 1, 2`,
      [since, until, ...modelValues],
    )
    return startedOn(rows)
  }
  const begun = stepsBetween(since, until, step, calendar)
  const steps = step === 'hour' ? begun : begun.map(calendar.dayOf)
  // One seek for each step and key: a range of steps would be scanned with all of its keys.
  const rows = yield* rowsOf<SeriesRow>(
    `SELECT ${column} AS at, ${group} AS "group", ${SUMMED} FROM ${table}
     WHERE ${words.amongNumbers(column)} AND ${words.amongTexts('key_id')} ${within} GROUP BY 1, 2`,
    [JSON.stringify(steps), JSON.stringify(keyIds), ...modelValues],
  )
  return startedOn(rows)
}
