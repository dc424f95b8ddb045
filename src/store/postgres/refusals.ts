// Refusals in PostgreSQL: rows and counts in one transaction, the rows bounded for each key. What became of one of which nothing was
// heard is asked by its number.

import { KEPT_OF_KEY, type RefusalGroup, type RefusalStore } from '../refusals.ts'
import { withAll } from '../rows/refusals.ts'
import type { Client, Queries } from './client.ts'
import { failure } from './trouble.ts'

const ADD = `
  INSERT INTO refusals (id, key_id, at, wire, path, model, status, error_code, failed, told, address, tag)
  SELECT * FROM unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::text[], $6::text[], $7::bigint[], $8::text[],
    $9::text[], $10::text[], $11::text[], $12::text[])`
const BOUND = `
  DELETE FROM refusals r USING unnest($1::text[]) AS k (id) WHERE r.key_id = k.id
    AND r.row <= (SELECT row FROM refusals WHERE key_id = k.id ORDER BY row DESC LIMIT 1 OFFSET ${KEPT_OF_KEY})`
/** In one order on every node, so that none waits for another that waits for it. */
const COUNT = `
  INSERT INTO refused_hours (key_id, hour, code, count)
  SELECT * FROM unnest($1::text[], $2::bigint[], $3::text[], $4::bigint[]) ORDER BY 1, 2, 3
  ON CONFLICT (key_id, hour, code) DO UPDATE SET count = refused_hours.count + excluded.count`

/** The number of this transaction, and what became of the one that said the same: none of a later number was ever one of these. */
const NUMBER = `
  SELECT pg_current_xact_id()::text AS number,
    CASE WHEN $1::text::xid8 < pg_current_xact_id() THEN pg_xact_status($1::text::xid8) END AS before`
type Numbered = { number: string; before: 'committed' | 'aborted' | 'in progress' | null }

export const createRefusals = (client: Pick<Client, 'begin'>, requireUsable: () => void): RefusalStore => {
  /** The group that was said last, and the number of its transaction, until it is known to be written. */
  let last: { group: RefusalGroup; number: string } | undefined
  return {
    async write(group) {
      requireUsable()
      await client.begin(
        async (tx) => {
          const [told] = await tx.query<Numbered>(NUMBER, [last?.group === group ? last.number : null])
          if (told?.before === 'committed') return
          // It may still be: the database ends it where it stands still.
          if (told?.before === 'in progress') throw failure('again', 'The database is busy.')
          last = told && { group, number: told.number }
          await writeAll(tx, group)
        },
        { isRepeatable: true },
      )
      last = undefined
    },
  }
}

const writeAll = async (tx: Queries, { refusals, counts }: RefusalGroup): Promise<void> => {
  const column = <Value>(of: (refusal: (typeof refusals)[number]) => Value): Value[] => refusals.map(of)
  const all = withAll(counts)
  if (refusals.length > 0) {
    await tx.query(ADD, [
      ...[column(({ id }) => id), column(({ keyId }) => keyId), column(({ at }) => at), column(({ wire }) => wire)],
      ...[column(({ path }) => path), column(({ model }) => model), column(({ status }) => status)],
      ...[column(({ code }) => code), column(({ failed }) => failed), column(({ told }) => told)],
      ...[column(({ address }) => address), column(({ tag }) => tag)],
    ])
    await tx.query(BOUND, [[...new Set(column(({ keyId }) => keyId))]])
  }
  if (all.length > 0)
    await tx.query(COUNT, [
      ...[all.map(({ keyId }) => keyId), all.map(({ hour }) => hour)],
      ...[all.map(({ code }) => code), all.map(({ count }) => count)],
    ])
}
