// A client's admitted request, the exchange it becomes when a model is to answer it, and how that ends.

import type { Model } from '../catalogue/model.ts'
import type { GatewayError } from '../errors.ts'
import type { JsonObject } from '../ir/json.ts'
import type { PicturesMade } from '../ir/pictures.ts'
import type { ChatRequest } from '../ir/request.ts'
import type { ServerToolCalls } from '../ir/server-tools.ts'
import type { Usage } from '../ir/usage.ts'
import type { Wire } from '../ir/wire.ts'
import type { Key } from '../keys/key.ts'
import type { BackgroundAnswer } from '../ledger/background.ts'
import type { AttemptNote, Outcome, Reservation } from '../ledger/ledger.ts'
import type { PassCodec, PassEdit } from '../wire/codec.ts'
import type { HostedTool } from '../wire/tools/within.ts'
import type { ClientBody } from './client-body.ts'
import type { Trace } from './trace.ts'

/** The client's connection, and the provider call that is made for it. */
export type Client = {
  /** The client has disconnected, or the gateway has ended its request. */
  gone: boolean
  call: AbortController | undefined
  /** Whether a disconnect leaves `call` running. */
  callOutlivesClient: boolean
}

/** Marks the client as gone and aborts its call. `reason`: the gateway itself ends the request, and the call always. */
export const disconnect = (client: Client, reason?: GatewayError): void => {
  client.gone = true
  if (reason !== undefined || !client.callOutlivesClient) client.call?.abort(reason)
}

/** What a body asks for beside its model. */
export type Within = {
  /** Tools that run at the vendor. */
  hosted: HostedTool[]
  /** The edits for a provider of the body's own wire. Throws what the key may not have, in the terms of its own model. */
  edits(provider: string): PassEdit[]
}

/** An admitted request, as targets are tried with it. */
export type ClientRequest = {
  /** The request id the client sees. */
  readonly id: string
  readonly key: Key
  readonly wire: Wire
  /** The wire its body is written in: `wire`, but for clients that send another wire's body to its path. */
  readonly bodyWire: Wire
  readonly codec: PassCodec
  /** The client's body, its references to earlier answers resolved. Once a stream has begun, without its prompt. */
  body: ClientBody
  /** The body as the client sent it, likewise. */
  asSent: ClientBody
  /** What `body` asks for beside its model. */
  readonly within?: Within | undefined
  readonly headers: Headers
  /** Where it came from, as far as that is known. */
  readonly address?: string | undefined
  /** What it is billed as, by the client's own word. */
  readonly tag?: string | undefined
  /** Whether the provider finishes the answer even when the client disconnects. */
  readonly background: boolean
  /** The model the client asked for, resolved. */
  readonly model: Model
  /** When it was admitted, by `performance.now()`: what it takes is counted from then, whatever the time of day becomes. */
  readonly begunAt: number
  readonly client: Client
  /** Rate-limit headers for the answer. */
  readonly limitHeaders: Readonly<Record<string, string>>
  readonly attempts: AttemptNote[]
  /** Where traces are exported. */
  readonly trace?: Trace | undefined
  /** Paths of the request that the answering target's wire has no member for. */
  dropped: string[]
  /** Milliseconds from `begunAt` to the first byte of the answer. */
  firstByteMs?: number
}

/** A request that a model answers, from accepted to settled. */
export type Exchange = ClientRequest & {
  readonly stream: boolean
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly reservation: Reservation
  /** The body decoded to the IR, once, however many attempts need it. */
  decoded?: ChatRequest | undefined
  /** Whether a provider has been sent the prompt. */
  sent?: boolean
  /** The provider's id of its answer, where its client may continue that by it. */
  answerId?: string | undefined
  /** Resolves once its answer is kept, where the gateway keeps it. */
  kept?: Promise<void> | undefined
  /** Where its answer is made, for one in the background. */
  backgroundAnswer?: BackgroundAnswer | undefined
  /** Frees its place among the key's concurrent requests: nothing more is sent to the client. */
  readonly release: () => void
  /** Called when its client's answer is complete and the provider goes on in the background. */
  readonly onDetached: () => void
  /** Called when its stream, once begun, ends with this error, before it is settled. */
  readonly onBroken: (error: GatewayError) => void
  /** Called once, when the exchange is settled. `recorded`: resolves when its end may leave. */
  readonly onSettled: (exchange: Ended, summary: Summary, recorded: Promise<void>) => void
}

/** What is reported of an exchange once it has ended. `resumed`: a previous process began it. */
export type Ended = Pick<
  Exchange,
  'id' | 'wire' | 'stream' | 'startedAt' | 'firstByteMs' | 'attempts' | 'dropped' | 'address' | 'tag' | 'trace'
> & {
  readonly key: Pick<Key, 'id' | 'label' | 'ownerId'>
  readonly model: Pick<Model, 'id'>
  readonly resumed?: boolean
}

/** The usage that an exchange is billed for. */
export type Metered = {
  usage: Usage
  rawUsage: JsonObject | undefined
  estimated: boolean
  serverTools?: ServerToolCalls
  pictures?: PicturesMade | undefined
}

/** How an exchange ended, for the log and the metrics. */
export type Summary = {
  outcome: Outcome
  status: number
  errorCode: string | undefined
  tokens: { input: number; cacheRead: number; cacheWrite: number; output: number }
  /** Part of the output. */
  reasoning: number
  costMicroUsd: number
  estimated: boolean
  totalMs: number
}

/** How a token count ended, for the log and the metrics. `status` is 499 for a client that disconnected. */
export type CountSummary = { status: number; errorCode: string | undefined; estimated: boolean; totalMs: number }

/** Whole seconds since the epoch, as the wires' answers tell when they were made. */
export const secondsOf = (clock: () => number): number => Math.floor(clock() / 1000)
