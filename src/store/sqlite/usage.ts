// Usage from its sums: by model, key or day.

import type { Database, SQLQueryBindings } from 'bun:sqlite'
import type { ServerToolCalls } from '../../ir/server-tools.ts'
import { DAY_MS, HOUR_MS, startOfSpan } from '../../lib/spans.ts'
import { addFigures, type Figures, NO_FIGURES } from '../figures.ts'
import type { UsageQuery, UsageRow, UsageTable } from '../usage.ts'
import { SUMMED } from './schema.ts'
import { type ByApart, byOwner, isApart, isByOwner, sumsApart, withRest } from './spending.ts'

/**
 * Of the whole gateway from its own sums, which have no keys. Else whole days from the daily sums; the day `sinceMs`
 * falls into from its hours, as long as those are kept.
 */
export const readUsage = (db: Database, query: UsageQuery): UsageTable => {
  const { by, untilMs } = query
  if (isByOwner(by)) {
    const { since, rows } = readUsage(db, { ...query, by: 'key' })
    return { since, rows: byOwner(db, by, rows) }
  }
  if (isApart(by)) return readApart(db, { ...query, by })
  const since = startOf(db, query)
  const told = query.sinceMs === undefined ? undefined : since
  const end = untilMs === undefined ? Number.MAX_SAFE_INTEGER : Math.ceil(untilMs / DAY_MS) * DAY_MS
  const firstDay = startOfSpan(since, DAY_MS)
  const tools = toolsBy(db, query, firstDay, end)
  const withTools = (row: UsageRow): UsageRow => {
    const serverTools = tools.get(row.group)
    return serverTools === undefined ? row : { ...row, serverTools }
  }
  if (isOfAllKeys(query)) return { since: told, rows: sum(db, MODELS, query, since, end).map(withTools) }
  const nextDay = Math.min(firstDay + DAY_MS, end)
  const cut = since > firstDay
  const groups = new Map<string, UsageRow>()
  for (const row of [
    ...(cut ? sum(db, HOURS, query, since, nextDay) : []),
    ...sum(db, DAYS, query, cut ? nextDay : firstDay, end),
  ])
    groups.set(row.group, { group: row.group, ...addFigures(groups.get(row.group) ?? NO_FIGURES, row) })
  const rows = [...groups.values()].sort((a, b) => (a.group < b.group ? -1 : a.group > b.group ? 1 : 0))
  return { since: told, rows: rows.map(withTools) }
}

/** By account, provider or tag, and what had none. */
const readApart = (db: Database, query: UsageQuery & { by: ByApart }): UsageTable => {
  const { by, keyIds, sinceMs, untilMs } = query
  const from = startOfSpan(Math.max(0, sinceMs ?? 0), by === 'tag' ? DAY_MS : HOUR_MS)
  const end = untilMs === undefined ? Number.MAX_SAFE_INTEGER : Math.ceil(untilMs / DAY_MS) * DAY_MS
  const whole = keyIds === undefined ? sum(db, MODELS, query, from, end) : sum(db, DAYS, query, from, end)
  const parts = sumsApart(db, by, Number.MAX_SAFE_INTEGER, { from, end, keyIds })
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
    const name = by === 'day' ? utcDay(Number(group)) : String(group)
    groups.set(name, { ...groups.get(name), [tool]: calls })
  }
  return groups
}

const groupOf = (by: UsageQuery['by'], span: string): string =>
  by === 'day' ? `${span} / ${DAY_MS}` : by === 'key' ? 'key_id' : isApart(by) ? "''" : 'model'

const ofKeys = (keyIds: UsageQuery['keyIds']): string =>
  keyIds === undefined ? '' : 'AND key_id IN (SELECT value FROM json_each(?))'

const isOfAllKeys = ({ by, keyIds }: UsageQuery): boolean => keyIds === undefined && by !== 'key'

/** A table of sums, and the column of the time that each row begins at. */
type Sums = { table: string; span: string }
const MODELS: Sums = { table: 'usage_models', span: 'hour' }
const HOURS: Sums = { table: 'usage_hours', span: 'hour' }
const DAYS: Sums = { table: 'usage_days', span: 'day' }

const startOf = (db: Database, query: UsageQuery): number => {
  const since = startOfSpan(Math.max(0, query.sinceMs ?? 0), HOUR_MS)
  const firstDay = startOfSpan(since, DAY_MS)
  if (isOfAllKeys(query) || since === firstDay) return since
  const isKept = ({ table, span }: Sums): boolean =>
    db
      .query<object, number[]>(`SELECT 1 FROM ${table} WHERE ${span} >= ? AND ${span} < ? LIMIT 1`)
      .get(firstDay, firstDay + DAY_MS) !== null
  // Hours are removed by whole days.
  return isKept(HOURS) || !isKept(DAYS) ? since : firstDay
}

/** By group, in its order. */
const sum = (
  db: Database,
  { table, span }: Sums,
  { by, keyIds }: UsageQuery,
  from: number,
  end: number,
): UsageRow[] => {
  return db
    .query<Figures & { group: string | number }, SQLQueryBindings[]>(
      `SELECT ${groupOf(by, span)} AS "group", ${SUMMED} FROM ${table}
       WHERE ${span} >= ? AND ${span} < ? ${ofKeys(keyIds)} GROUP BY 1 ORDER BY 1`,
    )
    .all(from, end, ...(keyIds === undefined ? [] : [JSON.stringify(keyIds)]))
    .map((row) => ({ ...row, group: by === 'day' ? utcDay(Number(row.group)) : String(row.group) }))
}

const utcDay = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10)
