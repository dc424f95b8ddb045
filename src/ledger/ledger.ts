// The ledger: the one place where usage is written. One way in (`reserve`), one way out (`settle`, exactly once).

import type { JsonObject } from '../ir/json.ts'
import type { Usage } from '../ir/usage.ts'
import type { Wire } from '../ir/wire.ts'
import type { Key } from '../keys/key.ts'

export type ReserveAsk = {
  /** The exchange's id: the request id the client sees. */
  exchangeId: string
  key: Key
  /** The catalogue id. */
  model: string
  /** The client's wire. */
  wire: Wire
  stream: boolean
  /** The gateway's estimate of the prompt, in tokens. */
  inputEstimate: number
  /** The client's own output cap, where it gave one. */
  outputCap: number | undefined
  /** What the model could give at most: the cap the provider applies when it gets none. Of an image: its tokens. */
  maxOutput: number
  /** How many answers or images were asked for, each of up to the cap; 1 by default. */
  answers?: number | undefined
  /** The provider takes no cap: all of it is set aside, or the request is refused. */
  fixed?: boolean | undefined
}

/**
 * What was set aside. `outputCap` is the cap the provider must be given, lower than the client's or the model's own;
 * undefined when the request fits as it is.
 */
export type Reservation = {
  readonly exchangeId: string
  readonly keyId: string
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly reserved: number
  readonly outputCap: number | undefined
}

/**
 * How an exchange ended. `done`: answered whole; `refused`: the provider refused it; `failed`: it broke, before or
 * after the first byte; `aborted`: the client left.
 */
export type Outcome = 'done' | 'refused' | 'failed' | 'aborted'

/** What one attempt came to, for the record: never a secret, a prompt or provider text. `ms` until answer or failure. */
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

export type Settlement = {
  outcome: Outcome
  usage: Usage
  /** The gateway counted itself because the provider gave no (final) figures. */
  estimated: boolean
  /** The provider's own usage object. */
  rawUsage?: JsonObject | undefined
  /** The catalogue id of the model that answered, where a fallback did. */
  model?: string | undefined
  /** The HTTP status the client got, and the error code where there was one. */
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
  /** Paths of the request that the provider's wire could not say. */
  dropped?: readonly string[] | undefined
}

/** An exchange that a previous process left and that goes on. `model`: as asked for. `usage`: its last durable figures. */
export type Resumed = {
  readonly reservation: Reservation
  readonly model: string
  readonly stream: boolean
  readonly inputEstimate: number
  readonly usage: Usage
}

export type Ledger = {
  /** What of a previous process goes on, each to be settled as any other. */
  readonly resumed: readonly Resumed[]
  /** How many others it left open, settled at the start by their last durable figures. */
  readonly recovered: number
  /**
   * Sets tokens aside and resolves once that is durable. Throws `quota_exhausted` (402) when the key has nothing left, or
   * too little for what cannot be made smaller; `rate_limit_exceeded` (429, short retryAfterMs) when what is left is only
   * held by requests in flight.
   */
  reserve(ask: ReserveAsk): Promise<Reservation>
  /** Figures of a long exchange so far; durable within two seconds, used if the process is killed. */
  progress(reservation: Reservation, usage: Usage): void
  /** Nothing more can come than so many tokens in all: what was set aside beyond them is free at once. */
  narrow(reservation: Reservation, tokens: number): void
  /**
   * Once per reservation; a second call throws. In the key's counter at once, in this process's reads of the store at
   * once, durable within 20 ms: a process killed before settles it at its next start, from its last durable progress.
   * Gives what it cost, in micro-USD.
   */
  settle(reservation: Reservation, settlement: Settlement): number
  /** Reservations not yet settled; of some keys only, where they are given. */
  openCount(keyIds?: ReadonlySet<string>): number
  /** Tokens of a key held by requests in flight. */
  heldBy(keyId: string): number
  /** Writes what is pending. */
  flush(): void
}
