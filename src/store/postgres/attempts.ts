// Attempts of all nodes together, counted by name within a sliding window. Names are kept as hashes: people type anything.

import { hashSecret } from '../../keys/secret.ts'
import type { AttemptStore } from '../../members/attempts.ts'
import type { Client } from './client.ts'

/** Who counts against a name waits for who does so already; in one order on every node. */
const LOCK = `
  SELECT pg_advisory_xact_lock(hashtextextended(name, 0))
  FROM (SELECT name FROM unnest($1::text[]) AS t (name) ORDER BY name) AS names`
/** A statement of its own: it sees what those who were waited for have counted. */
const TAKE = `
  WITH now AS (SELECT coalesce($4::bigint, (extract(epoch FROM clock_timestamp()) * 1000)::bigint) AS at),
  waits AS (
    SELECT (
      SELECT a.at + l.window_ms - now.at FROM attempts a
      WHERE a.name = l.name AND a.at > now.at - l.window_ms AND a.at <= now.at ORDER BY a.at DESC OFFSET l.most - 1 LIMIT 1
    ) AS ms
    FROM now, unnest($1::text[], $2::bigint[], $3::bigint[]) AS l (name, most, window_ms)),
  added AS (
    INSERT INTO attempts (name, at) SELECT l.name, now.at FROM now, unnest($1::text[]) AS l (name)
    WHERE NOT EXISTS (SELECT FROM waits WHERE ms IS NOT NULL) RETURNING row),
  gone AS (
    DELETE FROM attempts WHERE row IN (
      SELECT a.row FROM now, attempts a WHERE a.at < now.at - (SELECT max(w) FROM unnest($3::bigint[]) AS t (w))
      ORDER BY a.at LIMIT 100 FOR UPDATE OF a SKIP LOCKED))
  SELECT row, NULL::bigint AS ms FROM added UNION ALL SELECT NULL, max(ms) FROM waits HAVING max(ms) IS NOT NULL`

/** `clock`: in place of the database's, for tests. */
export const createAttemptStore = (client: Client, clock: (() => number) | undefined): AttemptStore => ({
  take: (limits) =>
    client.begin(async (tx) => {
      const names = limits.map(({ name }) => hashSecret(name))
      await tx.query(LOCK, [names])
      const most = limits.map((limit) => limit.most)
      const windows = limits.map(({ windowMs }) => windowMs)
      const rows = await tx.query<{ row: number | null; ms: number | null }>(TAKE, [
        names,
        most,
        windows,
        clock?.() ?? null,
      ])
      const taken: number[] = []
      for (const { row, ms } of rows) {
        if (ms !== null) return { waitMs: ms }
        if (row !== null) taken.push(row)
      }
      return { taken }
    }),
  async giveBack(taken) {
    if (taken.length > 0) await client.query('DELETE FROM attempts WHERE row = ANY($1::bigint[])', [taken])
  },
})
