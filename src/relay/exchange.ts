// One client request from accepted to settled, and what the relay is given to carry it out.

import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Model } from '../catalogue/model.ts'
import type { GatewayError } from '../errors.ts'
import type { ChatRequest } from '../ir/request.ts'
import type { Wire } from '../ir/wire.ts'
import type { Key } from '../keys/key.ts'
import type { AttemptNote, Ledger, Reservation } from '../ledger/ledger.ts'
import type { Provider } from '../provider/provider.ts'
import type { PassCodec } from '../wire/codec.ts'
import type { Affinity } from './affinity.ts'
import type { ClientBody } from './client-body.ts'
import type { Health } from './health.ts'
import type { Recall } from './recall.ts'

/** The client's presence. */
export type Client = {
  left: boolean
  /** The provider call that ends when the client leaves. */
  call: AbortController | undefined
}

/** The client has left, or is made to leave with a word for it: whatever is done for it ends. */
export const leave = (client: Client, word?: GatewayError): void => {
  client.left = true
  client.call?.abort(word)
}

export type Exchange = {
  /** The request id the client sees. */
  readonly id: string
  readonly key: Key
  readonly wire: Wire
  readonly codec: PassCodec
  /** The client's body, with its references resolved. */
  readonly body: ClientBody
  /** The same as the client sent it. */
  readonly asSent: ClientBody
  readonly headers: Headers
  /** The model the client asked for, resolved. */
  readonly model: Model
  readonly stream: boolean
  readonly startedAt: number
  /** The same by the monotonic clock, `performance.now()`: what limits of the whole exchange count from. */
  readonly begunAt: number
  readonly reservation: Reservation
  readonly client: Client
  readonly attempts: AttemptNote[]
  /** The body in no wire's words, decoded once however many attempts need it. */
  request?: ChatRequest
  /** Of the attempt that answers: what its wire could not say. */
  dropped: string[]
  firstByteAt?: number
  /** What every answer carries besides: the limits' state. */
  readonly headersOut: Readonly<Record<string, string>>
  /** Gives its place among the key's concurrent exchanges to another: nothing more is said to the client. */
  readonly release: () => void
  /** Called once, when the exchange is settled. */
  readonly onSettled: (summary: Summary) => void
}

/** How an exchange ended, for the log and the metrics. */
export type Summary = {
  outcome: 'done' | 'refused' | 'failed' | 'aborted'
  status: number
  errorCode: string | undefined
  tokens: { input: number; cacheRead: number; cacheWrite: number; output: number }
  /** Part of the output. */
  reasoning: number
  costMicroUsd: number
  estimated: boolean
  totalMs: number
}

export type Clock = { now(): number }

/** All that the relay needs of the gateway. */
export type Relay = {
  catalogue: Catalogue
  providers: ReadonlyMap<string, Provider>
  ledger: Ledger
  health: Health
  affinity: Affinity
  recall: Recall
  fetch: (url: string, init: RequestInit) => Promise<Response>
  clock: Clock
  fallbacks: Readonly<Record<string, string[]>>
  keepAliveMs: number
  earlyStartMs: number
  maxTries: number
}
