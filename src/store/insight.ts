// The dashboard's queries: series over time, sums, pages of exchanges, a sample of latencies. Each does bounded work, is
// answered as of one moment, and holds the server up on no large database: there it is answered beside it.

import type { AttemptNote, Outcome } from '../ledger/ledger.ts'
import { DAY_MS, HOUR_MS } from '../lib/spans.ts'
import type { ExchangeRow, UsageBy, UsageQuery, UsageRow, UsageTable } from './usage.ts'

/** How long a step is. */
export const STEP_MS = { hour: HOUR_MS, day: DAY_MS } as const

export type SeriesBy = 'none' | Exclude<UsageBy, 'day'>

/** Sums of one step. `at`: the first millisecond of the hour or UTC day; `group` as asked for, `all` for `none`. */
export type SeriesRow = UsageRow & { at: number }

/**
 * Steps that begin in [`since`, `until`), both on a step's boundary. `keyIds` absent: every key, not by `key`. By tag the
 * step is a day; by account and provider there are no `keyIds`; but by model and key no `model`. Empty steps are left out.
 */
export type SeriesQuery = {
  step: keyof typeof STEP_MS
  by: SeriesBy
  since: number
  until: number
  keyIds?: readonly string[] | undefined
  model?: string | undefined
}

/** The steps of these keys, and of all keys together. */
type SharesQuery = Omit<SeriesQuery, 'by' | 'keyIds'> & { keyIds: readonly string[] }
type Shares = { ofKeys: SeriesRow[]; ofAll: SeriesRow[] }

/** Newest first, refusals among exchanges; `before` is a row. `keyIds` absent: every key. `since` inclusive, `until` exclusive, by start. */
export type PageQuery = {
  limit: number
  before?: number | undefined
  keyIds?: readonly string[] | undefined
  model?: string | undefined
  outcome?: Outcome | 'open' | undefined
  since?: number | undefined
  until?: number | undefined
}

/** `next`: the `before` of the next page, absent at the end. A page may be short, even empty, with more to come. */
export type ExchangePage = { rows: ExchangeRow[]; next: number | undefined }

export type Measure = 'tokens' | 'cost' | 'requests'

/** The keys that used most on the UTC days of [`since`, `until`), most first. */
type TopKeysQuery = { since: number; until: number; limit: number; most: Measure; model?: string | undefined }

export type LatencyQuery = Pick<PageQuery, 'keyIds' | 'model'> & { since: number; until: number }

/** Durations in ms of answered exchanges, an even sample over the range. */
export type LatencySample = { firstByteMs: number; totalMs: number }

/** Requests that never became exchanges, of the hours that begin in [`since`, `until`). */
type RefusedQuery = { since: number; until: number; keyIds?: readonly string[] | undefined }
export type RefusedByCode = { code: string; count: number }

/** Of the keys' exchanges that began in [`since`, `until`). */
export type UnfinishedQuery = { since: number; until: number; keyIds: readonly string[] }

/**
 * Answers that broke off or were left, and whose figures are the gateway's own: each is billed an estimate of its whole
 * prompt. `whole`: false where there may be more than were looked at.
 */
export type Unfinished = { requests: number; tokens: number; whole: boolean }

/** An exchange that ended, by the attempts that were made. `firstByteMs` null: it was not answered. */
export type AnsweredBy = { endedAt: number; firstByteMs: number | null; attempts: AttemptNote[] }

export type Insight = {
  series(query: SeriesQuery): Promise<SeriesRow[]>
  shares(query: SharesQuery): Promise<Shares>
  usage(query: UsageQuery): Promise<UsageTable>
  /** Ids of keys. */
  topKeys(query: TopKeysQuery): Promise<string[]>
  /** Whether the hourly sums of single keys are all still kept from then on. */
  hoursKept(since: number): Promise<boolean>
  exchangePage(query: PageQuery): Promise<ExchangePage>
  latencies(query: LatencyQuery): Promise<LatencySample[]>
  /** By code, most first. */
  refused(query: RefusedQuery): Promise<RefusedByCode[]>
  unfinished(query: UnfinishedQuery): Promise<Unfinished>
  /** Of the last so many rows those for which a provider was asked, oldest first. */
  lately(rows: number): Promise<AnsweredBy[]>
}
