// A client's admitted request, the exchange it becomes when a model is to answer it, and what the relay is given to
// carry it out.

import type { Catalogue } from '../catalogue/catalogue.ts'
import type { Model } from '../catalogue/model.ts'
import type { GatewayError } from '../errors.ts'
import type { ChatRequest } from '../ir/request.ts'
import type { Wire } from '../ir/wire.ts'
import type { Key } from '../keys/key.ts'
import type { BackgroundAnswer } from '../ledger/background.ts'
import type { AttemptNote, Ledger, Reservation } from '../ledger/ledger.ts'
import type { Provider } from '../provider/provider.ts'
import type { PassCodec } from '../wire/codec.ts'
import type { Affinity } from './affinity.ts'
import type { Background } from './background.ts'
import type { ClientBody } from './client-body.ts'
import type { Detours } from './detours.ts'
import type { Health } from './health.ts'
import type { Recall } from './recall.ts'

/** The client's presence. */
export type Client = {
  left: boolean
  /** The provider call that is made for it. */
  call: AbortController | undefined
  /** Whether that goes on when the client leaves. */
  callStays: boolean
}

/** The client has left: whatever is done for it ends. With a word it is made to leave, and nothing goes on. */
export const leave = (client: Client, word?: GatewayError): void => {
  client.left = true
  if (word !== undefined || !client.callStays) client.call?.abort(word)
}

/** An admitted request, as targets are tried with it. */
export type ClientRequest = {
  /** The request id the client sees. */
  readonly id: string
  readonly key: Key
  readonly wire: Wire
  /** The wire in whose words it asks. */
  readonly asked: Wire
  readonly codec: PassCodec
  /** The client's body, with its references resolved. */
  readonly body: ClientBody
  /** The same as the client sent it. */
  readonly asSent: ClientBody
  readonly headers: Headers
  /** Whether the provider goes on with the answer when the client leaves. */
  readonly background: boolean
  /** The model the client asked for, resolved. */
  readonly model: Model
  /** When it was admitted, by `performance.now()`: what limits of its whole time count from. */
  readonly begunAt: number
  readonly client: Client
  /** What every answer carries besides: the limits' state. */
  readonly headersOut: Readonly<Record<string, string>>
  readonly attempts: AttemptNote[]
  /** Of the attempt that answers: what its wire could not say. */
  dropped: string[]
  firstByteAt?: number
}

/** A request that a model answers, from accepted to settled. */
export type Exchange = ClientRequest & {
  readonly stream: boolean
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly reservation: Reservation
  /** The body in no wire's words, decoded once however many attempts need it. */
  request?: ChatRequest
  /** Where its answer is made in the background. */
  kept?: BackgroundAnswer | undefined
  /** Gives its place among the key's concurrent exchanges to another: nothing more is said to the client. */
  readonly release: () => void
  /** Called when its client has all it is going to get, and its provider goes on with the answer. */
  readonly onLeft: () => void
  /** Called once, when the exchange is settled. */
  readonly onSettled: (exchange: Ended, summary: Summary) => void
}

/** What is told of an exchange once it has ended. `resumed`: a previous process began it. */
export type Ended = Pick<Exchange, 'id' | 'wire' | 'stream' | 'startedAt' | 'firstByteAt' | 'attempts' | 'dropped'> & {
  readonly key: Pick<Key, 'id' | 'label' | 'ownerId'>
  readonly model: Pick<Model, 'id'>
  readonly resumed?: boolean
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

/** How a count ended, for the log and the metrics. `status` is 499 for a client that left. */
export type CountSummary = { status: number; errorCode: string | undefined; estimated: boolean; totalMs: number }

export type Clock = { now(): number }

/** All that the relay needs of the gateway. */
export type Relay = {
  catalogue: Catalogue
  providers: ReadonlyMap<string, Provider>
  ledger: Ledger
  health: Health
  affinity: Affinity
  detours: Detours
  recall: Recall
  background: Background
  fetch: (url: string, init: RequestInit) => Promise<Response>
  clock: Clock
  fallbacks: Readonly<Record<string, string[]>>
  keepAliveMs: number
  earlyStartMs: number
  maxTries: number
}
