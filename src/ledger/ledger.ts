// The ledger: the one place where usage is written. One way in (`reserve`), one way out (`settle`, exactly once).

import type { JsonObject } from '../ir/json.ts'
import type { PicturesMade } from '../ir/pictures.ts'
import type { ServerToolCalls } from '../ir/server-tools.ts'
import type { Usage } from '../ir/usage.ts'
import type { Wire } from '../ir/wire.ts'
import type { BudgetId, Spent } from '../keys/budget.ts'
import type { Key } from '../keys/key.ts'
import type { Spans } from '../lib/trace-context.ts'

export type ReserveAsk = {
  /** The exchange's id: the request id the client sees. */
  exchangeId: string
  key: Key
  /** The catalogue id. */
  model: string
  /** Those that may answer in its place, which may cost more. */
  fallbacks?: readonly string[] | undefined
  /** The classes of service and the region that were asked for, which may cost more. */
  classes?: readonly string[] | undefined
  /** The client's wire. */
  wire: Wire
  stream: boolean
  /** Where the client asked from, and what it is billed as by the client's own word. */
  address?: string | undefined
  tag?: string | undefined
  /** The gateway's estimate of the prompt, in tokens. */
  inputEstimate: number
  /** Tokens that the prompt surely takes, no more than the estimate; asked where that does not fit. 0 by default. */
  leastInput?: () => number
  /** The client's own output cap, where it gave one. */
  outputCap: number | undefined
  /** The model's own maximum, which the provider applies when it gets no cap. For an image: its tokens. */
  maxOutput: number
  /** How many answers or images were asked for, each of up to the cap; 1 by default. */
  answers?: number | undefined
  /** The pictures that are asked for, which may be billed by the picture. */
  pictures?: PicturesMade | undefined
  /** The lowest cap that the provider is sent, at most 16: as much is reserved for a lower one. 0 by default. */
  leastOutput?: number | undefined
  /** The provider takes no cap: the whole output is reserved, or the request is refused. */
  fixed?: boolean | undefined
  /** Throws where the key is not what its client has shown any more; asked where another process has changed it. */
  recheck?: () => void | Promise<void>
}

/**
 * Tokens reserved for an exchange. `outputCap` is the cap the provider must be given, lower than the client's or the
 * model's own; undefined when the request fits as it is.
 */
export type Reservation = {
  readonly exchangeId: string
  readonly keyId: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly reserved: number
  readonly outputCap: number | undefined
  /** As it is billed: a key's tags are bounded. */
  readonly tag?: string | undefined
}

/**
 * How an exchange ended. `done`: answered in full; `refused`: the gateway or the provider refused it; `failed`: it failed,
 * before or after the first byte; `aborted`: the client disconnected.
 */
export type Outcome = 'done' | 'refused' | 'failed' | 'aborted'

/** Whether an exchange counts as an error. */
export const isError = (outcome: Outcome): boolean => outcome === 'refused' || outcome === 'failed'

/** The record of one attempt: never a secret, a prompt or provider text. `ms` until answer or failure. */
export type AttemptNote = {
  provider: string
  account: string
  model: string
  wire: Wire
  errorCode?: string
  providerStatus?: number
  providerCode?: string
  providerRequestId?: string
  ms: number
}

/** What an exchange is billed for beside its tokens. */
export type ByPiece = {
  /** Calls of tools that ran at the vendor. */
  serverTools?: ServerToolCalls | undefined
  /** Pictures that were made. */
  pictures?: PicturesMade | undefined
}

export type Settlement = ByPiece & {
  outcome: Outcome
  usage: Usage
  /** The gateway counted the tokens because the provider gave no final figures. */
  estimated: boolean
  /** The provider's own usage object. */
  rawUsage?: JsonObject | undefined
  /** The catalogue id of the model that answered, where a fallback did. */
  model?: string | undefined
  /**
   * The HTTP status the client got, or would have got had its stream not been begun before any provider answered; and the
   * error code where there was one.
   */
  status: number
  errorCode?: string | undefined
  provider?: string | undefined
  account?: string | undefined
  /** The provider's id of the model that answered. */
  upstreamModel?: string | undefined
  /** The wire the provider was reached on. */
  providerWire?: Wire | undefined
  attempts: number
  firstByteMs?: number | undefined
  totalMs: number
  /** Every attempt; kept where there was more than one, or one that failed. */
  trail?: readonly AttemptNote[] | undefined
  /** Paths of the request that the provider's wire has no member for. */
  dropped?: readonly string[] | undefined
}

/** What the process that began an exchange knows of it that the books do not. */
export type Begun = {
  readonly attempts: readonly AttemptNote[]
  readonly firstByteMs?: number | undefined
  readonly dropped: readonly string[]
  readonly spans?: Spans | undefined
}

/**
 * An open exchange of a previous process that is settled later. `model`: as asked for. `usage`, `serverTools`: its last durable
 * figures. `pictures`: as asked for. `begun`: where that process was there to say.
 */
export type Resumed = ByPiece & {
  readonly reservation: Reservation
  readonly model: string
  readonly wire: Wire
  readonly stream: boolean
  readonly inputEstimate: number
  readonly usage: Usage
  readonly begun?: Begun | undefined
}

/**
 * `written` resolves once the settlement is durable: whoever gave the client the end of its answer before would have it for its
 * last durable progress, were the process killed in between. Where the store cannot be written it resolves after two seconds.
 */
export type Settled = { readonly costMicroUsd: number; readonly written: Promise<void> }

export type Ledger = {
  /** Open exchanges of a previous process whose answers are still being made, each to be settled like any other. */
  readonly resumed: readonly Resumed[]
  /** How many other open exchanges there were, settled at the start by their last durable figures. */
  readonly recovered: number
  /**
   * Reserves tokens, and money where a budget counts it, and resolves once that is durable. Throws `quota_exhausted` (402) when
   * the key or a budget has nothing left, or
   * surely too little for the prompt, or for an output that cannot be capped; `rate_limit_exceeded` (429, short retryAfterMs) when requests in
   * flight hold what is left; `service_unavailable` (503) when it cannot be written.
   */
  reserve(ask: ReserveAsk): Promise<Reservation>
  /**
   * The usage of a running exchange so far, and its calls of tools at the vendor: durable within two seconds, and billed if the
   * process is killed.
   */
  progress(reservation: Reservation, usage: Usage, serverTools?: ServerToolCalls): void
  /** The exchange can come to no more than so many tokens in all: the rest of its reservation is freed at once. */
  narrow(reservation: Reservation, tokens: number): void
  /**
   * Once per reservation; a second call throws. The key's counter and this process's reads of the store show it at once.
   * Durable at the end of this turn of the event loop.
   */
  settle(reservation: Reservation, settlement: Settlement): Settled
  /**
   * How many reservations are not settled, or settled in vain since the store refused to write it; of these keys only,
   * where they are given.
   */
  openCount(keyIds?: ReadonlySet<string>): number
  /** Whether reservations are refused: usage waits that the store refused to write, or its disk has no room for more. */
  isStuck(): boolean
  /** Tokens of a key held by requests in flight. */
  heldBy(keyId: string): number
  /** The same of a budget, in both units; what budgets in money hold is known where one counts alone. */
  heldOf(budget: BudgetId): Spent
  /** Throws `quota_exhausted` where a key has nothing left, in its quota or in a budget that it counts against. */
  requireLeft(key: Key): void | Promise<void>
  /** Writes what is pending, and waits a while for another process that is writing. Throws a StoreError. */
  flush(): Promise<void>
}
