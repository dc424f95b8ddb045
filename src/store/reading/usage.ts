// Usage from its sums: by model, key or day.

import type { ServerToolCalls } from '../../ir/server-tools.ts'
import { type Calendar, dateOf, dayAfter, dayFrom, startOfStep } from '../../lib/calendar.ts'
import { addFigures, type Figures, NO_FIGURES, SUMMED } from '../figures.ts'
import type { UsageQuery, UsageRow, UsageTable } from '../usage.ts'
import { type Reading, rowsOf, type Words } from './ask.ts'
import { dayIn } from './days.ts'
import { type ByApart, byOwner, inOrder, isApart, isByOwner, sumsApart, withRest } from './spending.ts'

/**
 * Of the whole gateway from its own sums, which have no keys. Else whole days from the daily sums; the day `sinceMs`
 * falls into from its hours, as long as those are kept.
 */
export function* readUsage(query: UsageQuery, calendar: Calendar, words: Words): Reading<UsageTable> {
  const { by, untilMs } = query
  if (isByOwner(by)) {
    const { since, rows } = yield* readUsage({ ...query, by: 'key' }, calendar, words)
    return { since, rows: yield* byOwner(by, rows) }
  }
  if (isApart(by)) return yield* readApart({ ...query, by }, calendar, words)
  const since = yield* startOf(query, calendar)
  const told = query.sinceMs === undefined ? undefined : since
  const endDay = untilMs === undefined ? Number.MAX_SAFE_INTEGER : dayFrom(untilMs, calendar)
  const end = untilMs === undefined ? Number.MAX_SAFE_INTEGER : calendar.startOf(endDay)
  const firstDay = calendar.dayOf(since)
  const tools = yield* toolsBy(query, firstDay, endDay, words)
  const withTools = (row: UsageRow): UsageRow => {
    const serverTools = tools.get(row.group)
    return serverTools === undefined ? row : { ...row, serverTools }
  }
  function* hours(table: Sums, from: number, to: number): Reading<UsageRow[]> {
    const [first, last] = query.by === 'day' ? yield* extentOf(table, from, to) : [0, 0]
    return yield* sum(table, query, { from, end: to, day: dayIn(first, last, calendar) }, words)
  }
  if (isOfAllKeys(query)) return { since: told, rows: (yield* hours(MODELS, since, end)).map(withTools) }
  const nextDay = Math.min(calendar.startOf(dayAfter(firstDay)), end)
  const cut = since > calendar.startOf(firstDay)
  const groups = new Map<string, UsageRow>()
  for (const row of [
    ...(cut ? yield* hours(HOURS, since, nextDay) : []),
    ...(yield* sum(DAYS, query, { from: cut ? dayAfter(firstDay) : firstDay, end: endDay, day: 'day' }, words)),
  ])
    groups.set(row.group, { group: row.group, ...addFigures(groups.get(row.group) ?? NO_FIGURES, row) })
  return { since: told, rows: [...groups.values()].sort(inOrder).map(withTools) }
}

/** From the first hour that there are sums of to behind the last: zones have changed their clocks since long before. */
function* extentOf({ table, span }: Sums, from: number, to: number): Reading<[number, number]> {
  const [found] = yield* rowsOf<{ first: number | null; last: number | null }>(
    `SELECT min(${span}) AS first, max(${span}) AS last FROM ${table} WHERE ${span} >= ? AND ${span} < ?`,
    [from, to],
  )
  return [found?.first ?? 0, (found?.last ?? 0) + 1]
}

/** By account, provider or tag, and what had none. */
function* readApart(query: UsageQuery & { by: ByApart }, calendar: Calendar, words: Words): Reading<UsageTable> {
  const { by, keyIds, sinceMs, untilMs } = query
  const from = startOfStep(Math.max(0, sinceMs ?? 0), by === 'tag' ? 'day' : 'hour', calendar)
  const endDay = untilMs === undefined ? Number.MAX_SAFE_INTEGER : dayFrom(untilMs, calendar)
  const end = untilMs === undefined ? Number.MAX_SAFE_INTEGER : calendar.startOf(endDay)
  const whole =
    keyIds === undefined
      ? yield* sum(MODELS, query, { from, end, day: 'hour' }, words)
      : yield* sum(DAYS, query, { from: calendar.dayOf(from), end: endDay, day: 'day' }, words)
  const parts = yield* sumsApart({ by }, { from, end, keyIds }, calendar, words)
  const rows = withRest(
    whole,
    parts.map(({ at: _, ...row }) => row),
    () => 0,
  )
  return { since: sinceMs === undefined ? undefined : from, rows }
}

/** Calls of tools that ran at the vendor, by group. They are few: kept by day alone, and asked for of whole days. */
function* toolsBy(
  { by, keyIds }: UsageQuery,
  from: number,
  end: number,
  words: Words,
): Reading<Map<string, ServerToolCalls>> {
  const groups = new Map<string, ServerToolCalls>()
  const rows = yield* rowsOf<{ group: string | number; tool: string; calls: number }>(
    `SELECT ${groupOf(by, 'day')} AS "group", tool, CAST(sum(calls) AS bigint) AS calls FROM usage_tools
     WHERE day >= ? AND day < ? ${ofKeys(keyIds, words)} GROUP BY 1, 2`,
    [from, end, ...(keyIds === undefined ? [] : [JSON.stringify(keyIds)])],
  )
  for (const { group, tool, calls } of rows.sort((a, b) => (a.tool < b.tool ? -1 : 1))) {
    const name = nameOf(by, group)
    groups.set(name, { ...groups.get(name), [tool]: calls })
  }
  return groups
}

/** `day`: the day of a row, in SQL. */
const groupOf = (by: UsageQuery['by'], day: string): string =>
  by === 'day' ? day : by === 'key' ? 'key_id' : isApart(by) ? "''" : 'model'

const nameOf = (by: UsageQuery['by'], group: string | number): string =>
  by === 'day' ? dateOf(Number(group)) : String(group)

const ofKeys = (keyIds: UsageQuery['keyIds'], words: Words): string =>
  keyIds === undefined ? '' : `AND ${words.amongTexts('key_id')}`

const isOfAllKeys = ({ by, keyIds }: UsageQuery): boolean => keyIds === undefined && by !== 'key'

/** A table of sums, and the column of the time that each row begins at. */
type Sums = { table: string; span: string }
const MODELS: Sums = { table: 'usage_models', span: 'hour' }
const HOURS: Sums = { table: 'usage_hours', span: 'hour' }
const DAYS: Sums = { table: 'usage_days', span: 'day' }

function* startOf(query: UsageQuery, calendar: Calendar): Reading<number> {
  const since = calendar.hourOf(Math.max(0, query.sinceMs ?? 0))
  const firstDay = calendar.dayOf(since)
  const began = calendar.startOf(firstDay)
  if (isOfAllKeys(query) || since === began) return since
  // Hours are removed by whole days.
  const next = dayAfter(firstDay)
  const isKept = (yield* has(HOURS, began, calendar.startOf(next))) || !(yield* has(DAYS, firstDay, next))
  return isKept ? since : began
}

function* has({ table, span }: Sums, from: number, to: number): Reading<boolean> {
  const found = yield* rowsOf(`SELECT 1 FROM ${table} WHERE ${span} >= ? AND ${span} < ? LIMIT 1`, [from, to])
  return found.length > 0
}

/** By group, in its order. `day`: as in `groupOf`. */
function* sum(
  { table, span }: Sums,
  { by, keyIds }: UsageQuery,
  { from, end, day }: { from: number; end: number; day: string },
  words: Words,
): Reading<UsageRow[]> {
  const rows = yield* rowsOf<Figures & { group: string | number }>(
    `SELECT ${groupOf(by, day)} AS "group", ${SUMMED} FROM ${table}
     WHERE ${span} >= ? AND ${span} < ? ${ofKeys(keyIds, words)} GROUP BY 1`,
    [from, end, ...(keyIds === undefined ? [] : [JSON.stringify(keyIds)])],
  )
  return rows.map((row) => ({ ...row, group: nameOf(by, row.group) })).sort(inOrder)
}
