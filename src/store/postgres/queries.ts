// The latest exchanges, usage, the audit page by page, and the removal of old exchanges.

import { type Calendar, startOfStep } from '../../lib/calendar.ts'
import { DAY_MS } from '../../lib/spans.ts'
import { readInTurn } from '../reading/ask.ts'
import { ASTRAY_MS } from '../reading/rows.ts'
import { usageIn } from '../reading/sums.ts'
import type { AuditRow } from '../store.ts'
import type { ExchangeRow, UsageQuery, UsageTable } from '../usage.ts'
import type { Client, Queries } from './client.ts'
import { asked, readAsOfNow, textsIn, WORDS } from './reading.ts'
import { endBefore, exchangesWhere, rowsIn } from './rows.ts'
import { audit } from './schema.ts'
import { alone, type Sums } from './sums.ts'

type AuditQuery = { limit: number; before?: number | undefined; target?: string | undefined }

type PostgresQueries = {
  usage(query: UsageQuery): Promise<UsageTable>
  exchanges(query: { limit: number; id?: string | undefined }): Promise<ExchangeRow[]>
  audit(query: AuditQuery): Promise<AuditRow[]>
  lastUsed(keyIds: readonly string[]): Promise<Map<string, number>>
  prune(beforeMs: number, batch: number): Promise<number>
}

export const createQueries = (db: Client, clock: () => number, calendar: Calendar, sums: Sums): PostgresQueries => ({
  async usage(query) {
    await sums.add()
    return await readAsOfNow(db, () => usageIn(query, calendar, WORDS))
  },
  async exchanges({ limit, id }) {
    const rest = `${id === undefined ? '' : 'WHERE id = ? '}ORDER BY row DESC LIMIT ?`
    const values = [...(id === undefined ? [] : [id]), limit]
    const found = await readAsOfNow(db, () => exchangesWhere(rest, values))
    return found.slice(0, limit)
  },
  async audit({ limit, before, target }) {
    const conditions = [...(before === undefined ? [] : ['row < ?']), ...(target === undefined ? [] : ['target = ?'])]
    const values = [...(before === undefined ? [] : [before]), ...(target === undefined ? [] : [target]), limit]
    const rest = `WHERE ${conditions.join(' AND ') || 'true'} ORDER BY row DESC LIMIT ?`
    const rows = await readInTurn(rowsIn(audit, 'audit', rest, values), (ask) => asked(db, ask))
    return rows.map(({ actorKind, actorId, ...row }): AuditRow => ({ ...row, actor: { kind: actorKind, id: actorId } }))
  },
  async lastUsed(keyIds) {
    const rows = await db.query<{ id: string; at: number }>(
      `SELECT id, max(at) AS at FROM (
         SELECT id, last_used_at AS at FROM keys WHERE id = ANY(${textsIn('$1')}) AND last_used_at IS NOT NULL
         UNION ALL SELECT key_id, started_at FROM reservations WHERE key_id = ANY(${textsIn('$1')})
       ) AS used GROUP BY id`,
      [JSON.stringify(keyIds)],
    )
    return new Map(rows.map(({ id, at }) => [id, at]))
  },
  async prune(beforeMs, batch) {
    // What is removed is in the sums that stay.
    await sums.add()
    return await alone(db, (tx) => prune(tx, beforeMs, batch, { latest: clock() + DAY_MS, calendar }))
  },
})

/** `latest`: a row of a time to come goes with those after it: by a clock that is set back, all are of a time to come. */
const prune = async (
  tx: Queries,
  beforeMs: number,
  batch: number,
  { latest, calendar }: { latest: number; calendar: Calendar },
): Promise<number> => {
  let gone = 0
  const remove = async (table: string, found: string, values: readonly unknown[]): Promise<void> => {
    const [removed] = await tx.query<{ count: number }>(
      `WITH removed AS (DELETE FROM ${table} WHERE ctid = ANY(ARRAY(${found} LIMIT ${batch - gone})) RETURNING 1)
       SELECT count(*) AS count FROM removed`,
      values,
    )
    gone += removed?.count ?? 0
  }
  const end = await readInTurn(endBefore(beforeMs + ASTRAY_MS, latest), (ask) => asked(tx, ask))
  await remove(
    'exchanges',
    'SELECT ctid FROM exchanges WHERE row < $1 AND (started_at < $2 OR started_at > $3) AND summed ORDER BY row',
    [end, beforeMs, latest],
  )
  // Hours are removed by whole days, so that a day has all of its hours or none.
  const day = startOfStep(beforeMs, 'day', calendar)
  await remove('usage_hours', 'SELECT ctid FROM usage_hours WHERE hour < $1 ORDER BY hour', [day])
  await remove(
    'background_answers',
    `SELECT ctid FROM background_answers WHERE created_at < $1 AND exchange_id NOT IN (SELECT id FROM reservations)
     ORDER BY created_at`,
    [beforeMs],
  )
  await remove(
    'refusals',
    `SELECT ctid FROM (SELECT ctid, at FROM refusals ORDER BY row LIMIT ${batch - gone}) AS oldest
     WHERE at < $1 OR at > $2`,
    [beforeMs, latest],
  )
  await remove('refused_hours', "SELECT ctid FROM refused_hours WHERE key_id <> '' AND hour < $1 ORDER BY hour, code", [
    day,
  ])
  // Of keys that are not used any more: no window is longer than a minute.
  await remove('windows', 'SELECT ctid FROM windows WHERE second < $1', [Math.floor(beforeMs / 1_000)])
  // The last one stays, as where numbers would be given again.
  await remove(
    'budget_marks',
    `SELECT ctid FROM (SELECT ctid, row, at FROM budget_marks ORDER BY row LIMIT ${batch - gone}) AS oldest
     WHERE at < $1 AND row < (SELECT max(row) FROM budget_marks)`,
    [beforeMs],
  )
  return gone
}
