// The latest exchanges, the audit page by page, and the removal of old exchanges.

import type { Database } from 'bun:sqlite'
import { and, desc, eq, lt, type SQL, sql } from 'drizzle-orm'
import type { BunSQLiteDatabase } from 'drizzle-orm/bun-sqlite'
import { type Calendar, startOfStep } from '../../lib/calendar.ts'
import { DAY_MS } from '../../lib/spans.ts'
import { newestFirst } from '../reading/rows.ts'
import type { AuditRow, Store } from '../store.ts'
import type { AtOnce } from './patient.ts'
import { asTold, endBefore, firstRow } from './rows.ts'
import { audit, BLOCK_ROWS, exchanges, MODEL_BLOCK_ROWS, refusals, reservations } from './schema.ts'

export const createQueries = (
  db: Database,
  orm: BunSQLiteDatabase,
  clock: () => number,
  calendar: Calendar,
): AtOnce<Pick<Store, 'exchanges' | 'audit' | 'lastUsed' | 'prune'>> => ({
  exchanges({ limit, id }) {
    const asked = (table: typeof exchanges | typeof reservations | typeof refusals): SQL | undefined =>
      id === undefined ? undefined : eq(table.id, id)
    return newestFirst(
      orm.select().from(exchanges).where(asked(exchanges)).orderBy(desc(exchanges.row)).limit(limit).all(),
      orm
        .select()
        .from(reservations)
        .where(asked(reservations))
        .orderBy(desc(reservations.row))
        .limit(limit)
        .all()
        .map(asTold),
      orm.select().from(refusals).where(asked(refusals)).orderBy(desc(refusals.row)).limit(limit).all(),
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
  lastUsed(keyIds) {
    const ended = db
      .query<{ id: string; at: number }, [string]>(
        `SELECT id, last_used_at AS at FROM keys
         WHERE id IN (SELECT value FROM json_each(?)) AND last_used_at IS NOT NULL`,
      )
      .all(JSON.stringify(keyIds))
    const found = new Map(ended.map(({ id, at }) => [id, at]))
    const inFlight = db
      .query<{ id: string; at: number }, []>('SELECT key_id AS id, max(started_at) AS at FROM reservations GROUP BY 1')
      .all()
    const asked = new Set(keyIds)
    for (const { id, at } of inFlight) if (asked.has(id)) found.set(id, Math.max(at, found.get(id) ?? at))
    return found
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
        SELECT rowid FROM usage_hours WHERE hour < ${startOfStep(beforeMs, 'day', calendar)} ORDER BY hour LIMIT ${batch - old.length}
      ) RETURNING 1 AS row`)
    // Only blocks before the first row that is left: to later ones rows may still be added, of what is listed there once.
    const left = firstRow(db) ?? 0
    const keys = orm.all<{ row: number }>(sql`
      DELETE FROM exchange_blocks WHERE rowid IN (
        SELECT rowid FROM exchange_blocks WHERE block < ${Math.floor(left / BLOCK_ROWS)} ORDER BY block
        LIMIT ${batch - old.length - hours.length}
      ) RETURNING 1 AS row`)
    // Listed in the order of blocks, nearly: those that go come first.
    const models = orm.all<{ row: number }>(sql`
      DELETE FROM exchange_models WHERE rowid IN (
        SELECT rowid FROM (
          SELECT rowid, block FROM exchange_models ORDER BY rowid LIMIT ${batch - old.length - hours.length - keys.length}
        ) WHERE block < ${Math.floor(left / MODEL_BLOCK_ROWS)}
      ) RETURNING 1 AS row`)
    const answers = orm.all<{ row: number }>(sql`
      DELETE FROM background_answers WHERE rowid IN (
        SELECT rowid FROM background_answers
        WHERE created_at < ${beforeMs} AND exchange_id NOT IN (SELECT id FROM reservations) ORDER BY created_at
        LIMIT ${batch - old.length - hours.length - keys.length - models.length}
      ) RETURNING 1 AS row`)
    const { length: gone } = [...old, ...hours, ...keys, ...models, ...answers]
    const refused = orm.all<{ row: number }>(sql`
      DELETE FROM refusals WHERE row IN (
        SELECT row FROM (SELECT row, at FROM refusals ORDER BY row LIMIT ${batch - gone})
        WHERE at < ${beforeMs} OR at > ${latest}
      ) RETURNING row`)
    const counts = orm.all<{ row: number }>(sql`
      DELETE FROM refused_hours WHERE rowid IN (
        SELECT rowid FROM refused_hours WHERE key_id <> '' AND hour < ${startOfStep(beforeMs, 'day', calendar)}
        ORDER BY hour, code LIMIT ${batch - gone - refused.length}
      ) RETURNING 1 AS row`)
    // The last one stays, so that its number is not given again.
    const marks = orm.all<{ row: number }>(sql`
      DELETE FROM budget_marks WHERE row IN (
        SELECT row FROM (SELECT row, at FROM budget_marks ORDER BY row LIMIT ${batch - gone - refused.length - counts.length})
        WHERE at < ${beforeMs} AND row < (SELECT max(row) FROM budget_marks)
      ) RETURNING row`)
    return gone + refused.length + counts.length + marks.length
  },
})
