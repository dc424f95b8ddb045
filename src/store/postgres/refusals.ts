// Refusals in PostgreSQL: rows and counts in one transaction, the rows bounded for each key.

import { KEPT_OF_KEY, type RefusalStore } from '../refusals.ts'
import { withAll } from '../rows/refusals.ts'
import type { Client } from './client.ts'

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

export const createRefusals = (client: Pick<Client, 'begin'>, requireUsable: () => void): RefusalStore => ({
  async write(refusals, counts) {
    requireUsable()
    const column = <Value>(of: (refusal: (typeof refusals)[number]) => Value): Value[] => refusals.map(of)
    const all = withAll(counts)
    await client.begin(async (tx) => {
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
    })
  },
})
