// The latest exchanges, as far as they tell how accounts do.

import type { AttemptNote } from '../../ledger/ledger.ts'
import type { AnsweredBy } from '../insight.ts'
import { type Reading, rowsOf } from './ask.ts'

type Row = Omit<AnsweredBy, 'attempts'> & {
  provider: string
  account: string
  model: string
  wire: AttemptNote['wire']
  trail: string | null
}

/** Of the last so many rows, oldest first. */
export function* lately(rows: number): Reading<AnsweredBy[]> {
  const found = yield* rowsOf<Row>(
    `SELECT provider, account, model, provider_wire AS wire, ended_at AS "endedAt", first_byte_ms AS "firstByteMs", trail
     FROM exchanges WHERE row > (SELECT coalesce(max(row), 0) FROM exchanges) - ? AND provider IS NOT NULL ORDER BY row`,
    [rows],
  )
  return found.map(({ endedAt, firstByteMs, trail, ...alone }) => ({
    ...{ endedAt, firstByteMs },
    // A single one that answered has no trail.
    attempts: trail === null ? [{ ...alone, ms: firstByteMs ?? 0 }] : (JSON.parse(trail) as AttemptNote[]),
  }))
}
