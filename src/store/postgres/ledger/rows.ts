// Rows of the ledger, as its functions in the database take and give them.

import { totalTokens, type Usage } from '../../../ir/usage.ts'
import type { Wire } from '../../../ir/wire.ts'
import type { LeftOpen, SettledExchange } from '../../../ledger/journal.ts'
import type { Calendar } from '../../../lib/calendar.ts'
import { byPieceOf, droppedOf, toolsOf, trailOf } from '../../exchange-texts.ts'

/** JSON that the database can read: it has no NUL in a text, and no half of a pair. */
export const jsonOf = (rows: readonly object[]): string => {
  const json = JSON.stringify(rows)
  return json.includes('\\u0000') || json.includes('\\ud') ? json.replaceAll(UNREADABLE, '$1\\ufffd') : json
}
const UNREADABLE = /((?<!\\)(?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})/g

export type ReservationRow = {
  row: number
  id: string
  key_id: string
  model: string
  wire: string
  stream: boolean
  started_at: number
  input_estimate: number
  reserved: number
  reserved_micro_usd: number
  budgets: string | null
  address: string | null
  tag: string | null
  input: number | null
  cache_read: number | null
  cache_write: number | null
  output: number | null
  reasoning: number | null
  pictures: string | null
  server_tools: string | null
}

export const leftOpenOf = (row: ReservationRow): LeftOpen => ({
  ...{
    row: row.row,
    exchangeId: row.id,
    keyId: row.key_id,
    model: row.model,
    wire: row.wire as Wire,
    stream: row.stream,
  },
  ...{ startedAt: row.started_at, inputEstimate: row.input_estimate, reserved: row.reserved },
  reservedMicroUsd: row.reserved_micro_usd,
  budgets: row.budgets === null ? [] : (JSON.parse(row.budgets) as string[]),
  address: row.address ?? undefined,
  tag: row.tag ?? undefined,
  usage: usageOf(row),
  ...byPieceOf(row.pictures, row.server_tools),
})

const usageOf = ({ input, cache_read, cache_write, output, reasoning }: ReservationRow): Usage => {
  const usage: Usage = {}
  if (input !== null) usage.input = input
  if (cache_read !== null) usage.cacheRead = cache_read
  if (cache_write !== null) usage.cacheWrite = cache_write
  if (output !== null) usage.output = output
  if (reasoning !== null) usage.reasoning = reasoning
  return usage
}

type How = { counted: boolean; alone: boolean; calendar: Pick<Calendar, 'hourOf' | 'dayOf'> }

/** `counted`: its tokens count in the windows of its key. `alone`: its node did not say this. */
export const endedRow = (ended: Omit<SettledExchange, 'leftAfter'>, { counted, alone, calendar }: How) => {
  const { open, settlement: how, endedAt, costMicroUsd, feesMicroUsd, rawUsage } = ended
  const { usage } = how
  // Of an exchange that this node does not know of, its row alone says where it counts.
  const isKnown = open.keyId !== ''
  // One literal: put together from several it takes seven times as long.
  return {
    id: open.exchangeId,
    ended_at: endedAt,
    outcome: how.outcome,
    status: how.status,
    error_code: how.errorCode,
    provider: how.provider,
    account: how.account,
    upstream_model: how.upstreamModel,
    provider_wire: how.providerWire,
    attempts: how.attempts,
    first_byte_ms: how.firstByteMs,
    total_ms: how.totalMs,
    input: usage.input,
    cache_read: usage.cacheRead,
    cache_write: usage.cacheWrite,
    output: usage.output,
    reasoning: usage.reasoning,
    estimated: how.estimated,
    cost_micro_usd: costMicroUsd,
    fees_micro_usd: feesMicroUsd === 0 ? null : feesMicroUsd,
    raw_usage: rawUsage,
    trail: trailOf(how.trail),
    dropped: droppedOf(how.dropped),
    server_tools: toolsOf(how.serverTools),
    tokens: Math.min(totalTokens(usage), Number.MAX_SAFE_INTEGER),
    counted,
    alone,
    hour: isKnown ? calendar.hourOf(open.startedAt) : undefined,
    day: isKnown ? calendar.dayOf(open.startedAt) : undefined,
    budgets: open.budgets.length === 0 ? undefined : JSON.stringify(open.budgets),
  }
}
