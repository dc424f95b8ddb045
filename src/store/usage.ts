// What the store tells of exchanges: each as recorded, and their sums.

import type { ServerToolCalls } from '../ir/server-tools.ts'
import type { AttemptNote, Outcome } from '../ledger/ledger.ts'
import type { Figures } from './figures.ts'

/** What usage is told apart by. */
export const USAGE_BY = ['model', 'key', 'member', 'team', 'account', 'provider', 'tag', 'day'] as const
export type UsageBy = (typeof USAGE_BY)[number]

/** Accounts are summed over all keys together: they cannot be told for some of them. */
export const isOfAccounts = (by: string): by is 'account' | 'provider' => by === 'account' || by === 'provider'

/**
 * `sinceMs`: milliseconds since the epoch, rounded down to the full hour, or to the UTC day where its hours are no longer
 * kept; absent: from the beginning. `untilMs`: exclusive, rounded up to the full UTC day; absent: to the end.
 * `keyIds` absent: every key. By tag whole days are counted; by account and provider there are no `keyIds`. `daily`: each day of
 * each group by itself, whole days; by key only of some.
 */
export type UsageQuery = {
  by: UsageBy
  sinceMs?: number | undefined
  untilMs?: number | undefined
  keyIds?: readonly string[] | undefined
  daily?: boolean | undefined
}

/**
 * `group` is a catalogue id, a key's, a member's or a team's id, `provider/account`, a provider, a tag or a UTC day
 * (`2026-09-01`); '' what has none. `serverTools`: calls of tools that ran at the vendor, of
 * whole UTC days; absent where there were none. `day`: of `daily` sums, in the order of days.
 */
export type UsageRow = Figures & { group: string; day?: string; serverTools?: ServerToolCalls }

/** `since`: from when the rows count, where it was asked for. */
export type UsageTable = { since: number | undefined; rows: UsageRow[] }

/** How a request was refused that never became an exchange: the check it did not pass, and what the client was told. */
type RefusedAt = { failed: string; told: string; path: string }

/** One exchange as recorded, or a refusal. Times in ms since the epoch, durations in ms; null: not known, or not yet. */
export type ExchangeRow = {
  row: number
  id: string
  keyId: string
  /** Null: refused before it was known. */
  model: string | null
  wire: string
  stream: boolean
  startedAt: number
  endedAt: number | null
  inputEstimate: number
  reserved: number
  outcome: Outcome | null
  status: number | null
  errorCode: string | null
  provider: string | null
  account: string | null
  upstreamModel: string | null
  providerWire: string | null
  attempts: number
  firstByteMs: number | null
  totalMs: number | null
  input: number | null
  cacheRead: number | null
  cacheWrite: number | null
  output: number | null
  reasoning: number | null
  estimated: boolean
  costMicroUsd: number
  /** The part of the cost that is of calls, images and the like; null: none. */
  feesMicroUsd: number | null
  /** The provider's own usage object, as JSON text. */
  rawUsage: string | null
  /** Null: no attempts, or a single one that answered, which the members above describe. */
  trail: AttemptNote[] | null
  dropped: string[] | null
  leftAfter: number | null
  /** Calls of tools that ran at the vendor; null: none were told. */
  serverTools: ServerToolCalls | null
  /** Where the client asked from. */
  address: string | null
  /** The client's own word for what it is billed as. */
  tag: string | null
  /** Null: an exchange. */
  refusal: RefusedAt | null
}
