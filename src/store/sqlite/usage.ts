// Usage from its sums: by model, key or day.

import { and, gte, lt, type SQL, sql } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import type { AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import { addFigures, NO_FIGURES } from '../figures.ts'
import type { UsageQuery, UsageRow, UsageTable } from '../store.ts'
import { usageDays, usageHours, usageModels } from './schema.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/**
 * Of the whole gateway from its own sums, which have no keys. Else whole days from the daily sums; the day `sinceMs`
 * falls into from its hours, as long as those are kept.
 */
export const readUsage = (orm: BunSQLiteDatabase, query: UsageQuery): UsageTable => {
  const { by, untilMs, keyIds } = query
  const since = startOf(orm, query)
  const told = query.sinceMs === undefined ? undefined : since
  const end = untilMs === undefined ? Number.MAX_SAFE_INTEGER : Math.ceil(untilMs / DAY_MS) * DAY_MS
  if (isOfAllKeys(query)) {
    const within = and(gte(usageModels.hour, since), lt(usageModels.hour, end))
    return { since: told, rows: sum(orm, usageModels, usageModels.hour, by, within) }
  }
  const firstDay = floor(since, DAY_MS)
  const nextDay = Math.min(firstDay + DAY_MS, end)
  const cut = since > firstDay
  const groups = new Map<string, UsageRow>()
  if (cut) {
    const from = and(gte(usageHours.hour, since), lt(usageHours.hour, nextDay))
    for (const row of sum(orm, usageHours, usageHours.hour, by, and(from, ofKeys(usageHours, keyIds)))) add(groups, row)
  }
  const from = and(gte(usageDays.day, cut ? nextDay : firstDay), lt(usageDays.day, end))
  for (const row of sum(orm, usageDays, usageDays.day, by, and(from, ofKeys(usageDays, keyIds)))) add(groups, row)
  const rows = [...groups.values()].sort((a, b) => (a.group < b.group ? -1 : a.group > b.group ? 1 : 0))
  return { since: told, rows }
}

const floor = (timeMs: number, spanMs: number): number => timeMs - (timeMs % spanMs)

const isOfAllKeys = ({ by, keyIds }: UsageQuery): boolean => keyIds === undefined && by !== 'key'

const startOf = (orm: BunSQLiteDatabase, query: UsageQuery): number => {
  const since = floor(Math.max(0, query.sinceMs ?? 0), HOUR_MS)
  const firstDay = floor(since, DAY_MS)
  if (isOfAllKeys(query) || since === firstDay) return since
  const kept = (table: typeof usageHours | typeof usageDays, span: AnySQLiteColumn): boolean =>
    orm
      .select({ key: table.keyId })
      .from(table)
      .where(and(gte(span, firstDay), lt(span, firstDay + DAY_MS)))
      .limit(1)
      .get() !== undefined
  // Hours are removed by whole days.
  return kept(usageHours, usageHours.hour) || !kept(usageDays, usageDays.day) ? since : firstDay
}

const ofKeys = (table: typeof usageHours | typeof usageDays, keyIds: readonly string[] | undefined): SQL | undefined =>
  keyIds === undefined ? undefined : sql`${table.keyId} IN (SELECT value FROM json_each(${JSON.stringify(keyIds)}))`

/** By group, in its order. */
const sum = (
  orm: BunSQLiteDatabase,
  table: typeof usageHours | typeof usageDays | typeof usageModels,
  span: AnySQLiteColumn,
  by: UsageQuery['by'],
  where: SQL | undefined,
): UsageRow[] => {
  const group = by === 'day' ? sql`${span} / ${DAY_MS}` : by === 'key' && 'keyId' in table ? table.keyId : table.model
  const total = (column: AnySQLiteColumn) => sql<number>`sum(${column})`
  return orm
    .select({
      group: sql<string | number>`${group}`,
      requests: total(table.requests),
      errors: total(table.errors),
      input: total(table.input),
      cacheRead: total(table.cacheRead),
      cacheWrite: total(table.cacheWrite),
      output: total(table.output),
      reasoning: total(table.reasoning),
      costMicroUsd: total(table.costMicroUsd),
    })
    .from(table)
    .where(where)
    .groupBy(sql`1`)
    .orderBy(sql`1`)
    .all()
    .map((row) => ({ ...row, group: by === 'day' ? utcDay(Number(row.group)) : String(row.group) }))
}

const utcDay = (day: number): string => new Date(day * DAY_MS).toISOString().slice(0, 10)

const add = (groups: Map<string, UsageRow>, row: UsageRow): void => {
  const known = groups.get(row.group) ?? NO_FIGURES
  groups.set(row.group, { group: row.group, ...addFigures(known, row) })
}
