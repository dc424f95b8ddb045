// Usage from its sums: by model, key or day.

import type { Database, SQLQueryBindings } from 'bun:sqlite'
import type { ServerToolCalls } from '../../ir/server-tools.ts'
import { type Calendar, dateOf, dayAfter, dayFrom, startOfStep } from '../../lib/calendar.ts'
import { addFigures, type Figures, NO_FIGURES } from '../figures.ts'
import type { UsageQuery, UsageRow, UsageTable } from '../usage.ts'
import { dayIn } from './days.ts'
import { SUMMED } from './schema.ts'
import { type ByApart, byOwner, isApart, isByOwner, sumsApart, withRest } from './spending.ts'

/**
 * Of the whole gateway from its own sums, which have no keys. Else whole days from the daily sums; the day `sinceMs`
 * falls into from its hours, as long as those are kept.
 */
export const readUsage = (db: Database, query: UsageQuery, calendar: Calendar): UsageTable => {
  const { by, untilMs } = query
  if (isByOwner(by)) {
    const { since, rows } = readUsage(db, { ...query, by: 'key' }, calendar)
    return { since, rows: byOwner(db, by, rows) }
  }
  if (isApart(by)) return readApart(db, { ...query, by }, calendar)
  const since = startOf(db, query, calendar)
  const told = query.sinceMs === undefined ? undefined : since
  const endDay = untilMs === undefined ? Number.MAX_SAFE_INTEGER : dayFrom(untilMs, calendar)
  const end = untilMs === undefined ? Number.MAX_SAFE_INTEGER : calendar.startOf(endDay)
  const firstDay = calendar.dayOf(since)
  const tools = toolsBy(db, query, firstDay, endDay)
  const withTools = (row: UsageRow): UsageRow => {
    const serverTools = tools.get(row.group)
    return serverTools === undefined ? row : { ...row, serverTools }
  }
  const hours = (table: Sums, from: number, to: number): UsageRow[] => {
    const [first, last] = query.by === 'day' ? extentOf(db, table, from, to) : [0, 0]
    return sum(db, table, query, from, to, dayIn(first, last, calendar))
  }
  if (isOfAllKeys(query)) return { since: told, rows: hours(MODELS, since, end).map(withTools) }
  const nextDay = Math.min(calendar.startOf(dayAfter(firstDay)), end)
  const cut = since > calendar.startOf(firstDay)
  const groups = new Map<string, UsageRow>()
  for (const row of [
    ...(cut ? hours(HOURS, since, nextDay) : []),
    ...sum(db, DAYS, query, cut ? dayAfter(firstDay) : firstDay, endDay, 'day'),
  ])
    groups.set(row.group, { group: row.group, ...addFigures(groups.get(row.group) ?? NO_FIGURES, row) })
  const rows = [...groups.values()].sort((a, b) => (a.group < b.group ? -1 : a.group > b.group ? 1 : 0))
  return { since: told, rows: rows.map(withTools) }
}

/** From the first hour that there are sums of to behind the last: zones have changed their clocks since long before. */
const extentOf = (db: Database, { table, span }: Sums, from: number, to: number): [number, number] => {
  const found = db
    .query<{ first: number | null; last: number | null }, [number, number]>(
      `SELECT min(${span}) AS first, max(${span}) AS last FROM ${table} WHERE ${span} >= ? AND ${span} < ?`,
    )
    .get(from, to)
  return [found?.first ?? 0, (found?.last ?? 0) + 1]
}

/** By account, provider or tag, and what had none. */
const readApart = (db: Database, query: UsageQuery & { by: ByApart }, calendar: Calendar): UsageTable => {
  const { by, keyIds, sinceMs, untilMs } = query
  const from = startOfStep(Math.max(0, sinceMs ?? 0), by === 'tag' ? 'day' : 'hour', calendar)
  const endDay = untilMs === undefined ? Number.MAX_SAFE_INTEGER : dayFrom(untilMs, calendar)
  const end = untilMs === undefined ? Number.MAX_SAFE_INTEGER : calendar.startOf(endDay)
  const whole =
    keyIds === undefined
      ? sum(db, MODELS, query, from, end, 'hour')
      : sum(db, DAYS, query, calendar.dayOf(from), endDay, 'day')
  const parts = sumsApart(db, by, undefined, { from, end, keyIds }, calendar)
  const rows = withRest(
    whole,
    parts.map(({ at: _, ...row }) => row),
    () => 0,
  )
  return { since: sinceMs === undefined ? undefined : from, rows }
}

/** Calls of tools that ran at the vendor, by group. They are few: kept by day alone, and asked for of whole days. */
const toolsBy = (db: Database, { by, keyIds }: UsageQuery, from: number, end: number): Map<string, ServerToolCalls> => {
  const groups = new Map<string, ServerToolCalls>()
  const rows = db
    .query<{ group: string | number; tool: string; calls: number }, SQLQueryBindings[]>(
      `SELECT ${groupOf(by, 'day')} AS "group", tool, sum(calls) AS calls FROM usage_tools
       WHERE day >= ? AND day < ? ${ofKeys(keyIds)} GROUP BY 1, 2 ORDER BY 1, 2`,
    )
    .all(from, end, ...(keyIds === undefined ? [] : [JSON.stringify(keyIds)]))
  for (const { group, tool, calls } of rows) {
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

const ofKeys = (keyIds: UsageQuery['keyIds']): string =>
  keyIds === undefined ? '' : 'AND key_id IN (SELECT value FROM json_each(?))'

const isOfAllKeys = ({ by, keyIds }: UsageQuery): boolean => keyIds === undefined && by !== 'key'

/** A table of sums, and the column of the time that each row begins at. */
type Sums = { table: string; span: string }
const MODELS: Sums = { table: 'usage_models', span: 'hour' }
const HOURS: Sums = { table: 'usage_hours', span: 'hour' }
const DAYS: Sums = { table: 'usage_days', span: 'day' }

const startOf = (db: Database, query: UsageQuery, calendar: Calendar): number => {
  const since = calendar.hourOf(Math.max(0, query.sinceMs ?? 0))
  const firstDay = calendar.dayOf(since)
  const began = calendar.startOf(firstDay)
  if (isOfAllKeys(query) || since === began) return since
  const isKept = ({ table, span }: Sums, from: number, to: number): boolean =>
    db.query<object, number[]>(`SELECT 1 FROM ${table} WHERE ${span} >= ? AND ${span} < ? LIMIT 1`).get(from, to) !==
    null
  // Hours are removed by whole days.
  const next = dayAfter(firstDay)
  return isKept(HOURS, began, calendar.startOf(next)) || !isKept(DAYS, firstDay, next) ? since : began
}

/** By group, in its order. */
const sum = (
  db: Database,
  { table, span }: Sums,
  { by, keyIds }: UsageQuery,
  from: number,
  end: number,
  day: string,
): UsageRow[] => {
  return db
    .query<Figures & { group: string | number }, SQLQueryBindings[]>(
      `SELECT ${groupOf(by, day)} AS "group", ${SUMMED} FROM ${table}
       WHERE ${span} >= ? AND ${span} < ? ${ofKeys(keyIds)} GROUP BY 1 ORDER BY 1`,
    )
    .all(from, end, ...(keyIds === undefined ? [] : [JSON.stringify(keyIds)]))
    .map((row) => ({ ...row, group: nameOf(by, row.group) }))
}
