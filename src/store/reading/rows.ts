// Exchanges as they are told: those that ended, those in flight and refusals in one order, and pages of them.

import type { ExchangePage } from '../insight.ts'
import type { ExchangeRow } from '../usage.ts'

/**
 * By how much a row may have begun before one of a smaller number: by the order in which rows are written, by clocks that
 * differ, and by one that was set back. What a time finds is right within that.
 */
export const ASTRAY_MS = 60_000

type Ended = Omit<ExchangeRow, 'refusal'>
type Reserved = Omit<Ended, keyof typeof UNENDED>
type Refused = Pick<
  ExchangeRow,
  'row' | 'id' | 'keyId' | 'model' | 'wire' | 'status' | 'errorCode' | 'address' | 'tag'
> &
  NonNullable<ExchangeRow['refusal']> & { at: number }

/** An exchange of which there is a row in both tables has ended. */
export const newestFirst = (ended: Ended[], reserved: Reserved[], refused: Refused[]): ExchangeRow[] => {
  const known = new Set(reserved.length === 0 ? [] : ended.map(({ row }) => row))
  return [
    ...ended.map((each) => ({ ...each, refusal: null })),
    ...reserved.filter(({ row }) => !known.has(row)).map((each) => ({ ...UNENDED, ...each })),
    ...refused.map(ofRefusal),
  ].sort((a, b) => b.row - a.row)
}

const ofRefusal = ({ at, failed, told, path, ...refused }: Refused): ExchangeRow => ({
  ...UNENDED,
  ...NOT_COUNTED,
  ...refused,
  startedAt: at,
  endedAt: at,
  outcome: 'refused',
  refusal: { failed, told, path },
})

const NOT_COUNTED = {
  stream: false,
  inputEstimate: 0,
  reserved: 0,
  input: null,
  cacheRead: null,
  cacheWrite: null,
  output: null,
  reasoning: null,
  serverTools: null,
}

const UNENDED = {
  endedAt: null,
  outcome: null,
  status: null,
  errorCode: null,
  provider: null,
  account: null,
  upstreamModel: null,
  providerWire: null,
  attempts: 0,
  firstByteMs: null,
  totalMs: null,
  estimated: false,
  costMicroUsd: 0,
  feesMicroUsd: null,
  rawUsage: null,
  trail: null,
  dropped: null,
  leftAfter: null,
  refusal: null,
}

/** Newest first, up to as many as were asked for. `complete`: the lowest row read, where there may be more below. */
export type Found = { rows: number[]; complete: number | undefined }
export const NONE_FOUND: Found = { rows: [], complete: undefined }

/** A page of rows. Of the others there are all, of what ended those found. */
export const pageOf = (
  limit: number,
  ended: Found,
  ...others: readonly number[][]
): { rows: number[]; next: ExchangePage['next'] } => {
  // Below the lowest row that was read the page would have gaps.
  const complete = ended.complete ?? 0
  const rows = [...others.flat(), ...ended.rows].filter((row) => row >= complete).sort((a, b) => b - a)
  if (rows.length > limit) return { rows: rows.slice(0, limit), next: rows[limit - 1] }
  return { rows, next: ended.complete }
}
