// The operators' queries: usage from its sums, exchanges and audit page by page; and the removal of old exchanges.

import type { Database } from 'bun:sqlite'
import { and, desc, eq, gte, lt, type SQL, sql } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import type { AnySQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Outcome } from '../../ledger/ledger.ts'
import type { AuditRow, Store, UsageQuery, UsageRow } from '../store.ts'
import { endBefore, firstRow, newestFirst } from './rows.ts'
import { audit, BLOCK_ROWS, exchanges, reservations, usageDays, usageHours, usageModels } from './schema.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

export const createQueries = (
  db: Database,
  orm: BunSQLiteDatabase,
  clock: () => number,
): Pick<Store, 'usage' | 'usageSince' | 'exchanges' | 'audit' | 'prune'> => ({
  usage: (query) => usage(orm, query),
  usageSince: (query) => (query.sinceMs === undefined ? undefined : usageSince(orm, query)),
  exchanges({ limit, before, id, keyId, model, outcome }) {
    const conditions = (table: typeof exchanges | typeof reservations): SQL | undefined =>
      and(
        before === undefined ? undefined : lt(table.row, before),
        id === undefined ? undefined : eq(table.id, id),
        keyId === undefined ? undefined : eq(table.keyId, keyId),
        model === undefined ? undefined : eq(table.model, model),
      )
    // The partial index is used only for a condition that repeats its own.
    const ended = outcome === undefined ? undefined : eq(exchanges.outcome, outcome as Outcome)
    const rare = outcome === undefined || outcome === 'done' ? undefined : sql`outcome <> 'done'`
    return newestFirst(
      outcome === 'open'
        ? []
        : orm
            .select()
            .from(exchanges)
            .where(and(conditions(exchanges), ended, rare))
            .orderBy(desc(exchanges.row))
            .limit(limit)
            .all(),
      outcome !== undefined && outcome !== 'open'
        ? []
        : orm
            .select()
            .from(reservations)
            .where(conditions(reservations))
            .orderBy(desc(reservations.row))
            .limit(limit)
            .all(),
    ).slice(0, limit)
  },
  audit({ limit, before, target }) {
    return orm
      .select()
      .from(audit)
      .where(
        and(
          before === undefined ? undefined : lt(audit.row, before),
          target === undefined ? undefined : eq(audit.target, target),
        ),
      )
      .orderBy(desc(audit.row))
      .limit(limit)
      .all()
      .map(({ actorKind, actorId, ...row }): AuditRow => ({ ...row, actor: { kind: actorKind, id: actorId } }))
  },
  prune(beforeMs, batch) {
    const latest = clock() + DAY_MS
    // A row of a time to come goes with those after it: by a clock that is set back, all are of a time to come.
    const end = endBefore(db, beforeMs, latest)
    const old = orm.all<{ row: number }>(sql`
      DELETE FROM exchanges WHERE row IN (
        SELECT row FROM exchanges WHERE row < ${end} AND (started_at < ${beforeMs} OR started_at > ${latest}) ORDER BY row LIMIT ${batch}
      ) RETURNING row`)
    // Hours are removed by whole days, so that a day has all of its hours or none.
    const hours = orm.all<{ row: number }>(sql`
      DELETE FROM usage_hours WHERE rowid IN (
        SELECT rowid FROM usage_hours WHERE hour < ${floor(beforeMs, DAY_MS)} ORDER BY hour LIMIT ${batch - old.length}
      ) RETURNING 1 AS row`)
    // Only blocks before the first row that is left: to later ones rows may still be added, for keys listed there once.
    const left = firstRow(db) ?? 0
    const blocks = orm.all<{ row: number }>(sql`
      DELETE FROM exchange_blocks WHERE rowid IN (
        SELECT rowid FROM exchange_blocks WHERE block < ${Math.floor(left / BLOCK_ROWS)} ORDER BY block
        LIMIT ${batch - old.length - hours.length}
      ) RETURNING 1 AS row`)
    const answers = orm.all<{ row: number }>(sql`
      DELETE FROM background_answers WHERE rowid IN (
        SELECT rowid FROM background_answers
        WHERE created_at < ${beforeMs} AND exchange_id NOT IN (SELECT id FROM reservations) ORDER BY created_at
        LIMIT ${batch - old.length - hours.length - blocks.length}
      ) RETURNING 1 AS row`)
    return old.length + hours.length + blocks.length + answers.length
  },
})

const floor = (timeMs: number, spanMs: number): number => timeMs - (timeMs % spanMs)

const isOfAllKeys = ({ by, keyId }: UsageQuery): boolean => keyId === undefined && by !== 'key'

const usageSince = (orm: BunSQLiteDatabase, query: UsageQuery): number => {
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

/**
 * Of the whole gateway from its own sums, which have no keys. Else whole days from the daily sums; the day `sinceMs`
 * falls into from its hours, as long as those are kept.
 */
const usage = (orm: BunSQLiteDatabase, query: UsageQuery): UsageRow[] => {
  const { by, untilMs, keyId } = query
  const since = usageSince(orm, query)
  const end = untilMs === undefined ? Number.MAX_SAFE_INTEGER : Math.ceil(untilMs / DAY_MS) * DAY_MS
  if (isOfAllKeys(query)) {
    const within = and(gte(usageModels.hour, since), lt(usageModels.hour, end))
    return sum(orm, usageModels, usageModels.hour, by, within)
  }
  const firstDay = floor(since, DAY_MS)
  const nextDay = Math.min(firstDay + DAY_MS, end)
  const cut = since > firstDay
  const groups = new Map<string, UsageRow>()
  if (cut) {
    const from = and(gte(usageHours.hour, since), lt(usageHours.hour, nextDay))
    for (const row of sum(orm, usageHours, usageHours.hour, by, and(from, ofKey(usageHours, keyId)))) add(groups, row)
  }
  const from = and(gte(usageDays.day, cut ? nextDay : firstDay), lt(usageDays.day, end))
  for (const row of sum(orm, usageDays, usageDays.day, by, and(from, ofKey(usageDays, keyId)))) add(groups, row)
  return [...groups.values()].sort((a, b) => (a.group < b.group ? -1 : a.group > b.group ? 1 : 0))
}

const ofKey = (table: typeof usageHours | typeof usageDays, keyId: string | undefined): SQL | undefined =>
  keyId === undefined ? undefined : eq(table.keyId, keyId)

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
  const known = groups.get(row.group)
  if (known === undefined) {
    groups.set(row.group, row)
    return
  }
  known.requests += row.requests
  known.errors += row.errors
  known.input += row.input
  known.cacheRead += row.cacheRead
  known.cacheWrite += row.cacheWrite
  known.output += row.output
  known.reasoning += row.reasoning
  known.costMicroUsd += row.costMicroUsd
}
