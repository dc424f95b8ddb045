// The contract of a wire, and the laws of those that chat. A codec is a value of pure functions in pairs; the same codec
// serves a client that speaks the wire and a provider that speaks it. No fetch, no clock, no log, no other wire.
//
// Laws (laws.test.ts of each wire, under test/wire):
//   decodeRequest ∘ encodeRequest, decodeResponse ∘ encodeResponse and decodeEvents ∘ encodeEvents are identities on
//   what the wire can express; every encoded stream is accepted by the wire's strict automaton and ends with exactly
//   one terminal event whatever events came in; a decoder emits exactly one `finish` or `error`, whatever came in.

import type { TSchema } from '@sinclair/typebox'
import type { GatewayError } from '../errors.ts'
import type { ChatEvent, ChatResponse } from '../ir/event.ts'
import type { JsonObject } from '../ir/json.ts'
import type { Quirks } from '../ir/quirks.ts'
import type { ChatRequest } from '../ir/request.ts'
import type { Usage } from '../ir/usage.ts'
import type { ChatWire, Wire } from '../ir/wire.ts'
import type { Edit } from '../lib/json-splice.ts'
import type { OutputText } from '../lib/output-text.ts'
import type { Frame } from '../lib/sse.ts'

/** The model a request is encoded for. */
export type Target = {
  /** The provider's own id of the model. */
  model: string
  /** The most output tokens the model can give: the cap where the wire demands one and the client gave none. */
  maxOutput: number
  quirks: Quirks
}

/**
 * What decoding an answer must undo of how its request was encoded. Plain data. `jsonTool`: calls of this tool are the
 * structured output: they decode as text, and the finish reason `tool-calls` as `stop`. `tools`: by the name a tool was
 * sent under, what its client calls it, for every tool whose name, namespace or kind was changed on the way out; a
 * `custom` tool was sent as a function whose one string argument `input` is the free text. `stop`: texts that end the
 * answer and that the wire could not say; decoders leave them to `stopAt` of ir/stop-at.ts. `noDone`: the
 * provider's quirk of that name.
 */
export type Undo = {
  jsonTool?: string
  tools?: { [sentName: string]: SentTool }
  stop?: string[]
  noDone?: boolean
}
export type SentTool = { name: string; namespace?: string; kind: 'function' | 'custom' }

/** `dropped`: JSON paths of the client's request that the target wire cannot say, for `x-gateway-dropped`. */
export type EncodedRequest = { body: JsonObject; dropped: string[]; undo: Undo }

/** What the client asked, as far as it shapes the answer's form. */
export type Ask = {
  /** The gateway's id of the model, as answers must name it. */
  model: string
  /** The client's request body as parsed: echoes and options of the answer's form are read from it. */
  body: JsonObject
  /** The gateway's own estimate of the prompt's tokens, for wires that must report input before the provider has. */
  inputEstimate: number
  /** Seconds since the epoch, for answers that must carry a time where the provider's wire has none. */
  now: number
  /** The id the answer goes by, instead of its provider's, where its client may refer to it later. */
  id?: string
}

/** Frames in, events out, synchronously. `end` says the bytes are over: a stream without its terminal event fails. */
export type EventDecoder = {
  push(frame: Frame): ChatEvent[]
  end(): ChatEvent[]
  /** The provider's own usage object, verbatim, as told so far. */
  readonly rawUsage: JsonObject | undefined
  /** As a tap's. */
  readonly serviceTier: string | undefined
  /** As a tap's; absent where whatever is told of the output is its sum. */
  readonly summed?: boolean
}

/** Events in, the wire's text out ('' for nothing), blank lines included. Nothing comes out after a terminal event. */
export type EventEncoder = { push(event: ChatEvent): string }

/**
 * Watches a stream on its way to the client, whether it passes through or is translated. One per stream. It keeps what
 * metering and a late failure need, and never lets a provider's error frame through.
 */
export type Tap = {
  /** The text to send on for a frame ('' for none), the model named by the gateway's id. */
  see(frame: Frame): string
  /** The provider's bytes are over: the text to send where that may be an end of its own; the state says whether it is. */
  end?(): string
  /** What the provider calls the answer, on wires whose clients may refer to it; absent until told. */
  readonly answerId: string | undefined
  /** The latest usage figures, absent until reported. */
  readonly usage: Usage | undefined
  /** Whether its output is the answer's sum: what a messages stream tells at its start is a beginning. */
  readonly summed: boolean
  /** The provider's own usage object, verbatim. */
  readonly rawUsage: JsonObject | undefined
  /** The class of service as told last, with figures or without. */
  readonly serviceTier: string | undefined
  /** `open` until the provider's terminal event was seen; `failed` when it said so: see `error`. */
  readonly state: 'open' | 'done' | 'failed'
  readonly error: GatewayError | undefined
  /** What the model has written so far: what an estimate counts when usage never comes. */
  readonly output: OutputText
  /** The frames that end a broken stream on the client's wire. */
  fail(error: GatewayError, requestId: string): string
}

export type TapOptions = {
  /** The gateway's id, written wherever the stream names the model. */
  model: string
  /** Chat: whether the client asked for the usage chunk itself. */
  includeUsage: boolean
  /** Images: how many the client asked for. Default 1. */
  images?: number
  /** Chat: the provider's quirk of that name. */
  noDone?: boolean
  /** Seconds since the epoch, for a failure before the provider has said anything. */
  now: number
}

/** What may be changed of a body that passes to a provider of the same wire. */
export type PassOptions = {
  /** The provider's own id of the model. */
  model: string
  /** The output cap the quota leaves, where that is lower than what was asked. */
  outputCap: number | undefined
  quirks: Quirks
}

/** What every wire has: how its bodies pass, are watched, metered and refused. */
export type PassCodec = {
  wire: Wire
  /** What a client's body must be, open to unknown members; refusals name the member. */
  requestSchema: TSchema
  /** The members to splice into a client's body for a provider of the same wire. */
  passEdits(body: JsonObject, options: PassOptions): Edit[]
  /** Whether a client's body says something in another wire's words: it cannot pass, but is read and written anew. */
  borrows?(body: JsonObject): boolean
  /** Where a client's body says what its provider refuses: `passEdits` takes it out, and the client is told. */
  refusedIn?(body: JsonObject, quirks: Quirks): Edit['path'][]
  /** The client's own cap on output tokens, where it gave one. */
  outputCap(body: JsonObject): number | undefined
  tap(options: TapOptions): Tap
  /** What is wrong with a body that came for an answer: the failure it tells, or that it is none. */
  faultIn(body: JsonObject): GatewayError | undefined
  /** Usage of a whole answer, with the provider's own object. */
  readUsage(body: JsonObject): { usage: Usage; raw: JsonObject } | undefined
  /**
   * Classifies a provider's error by status and machine code, in the gateway's words. For an error within a stream
   * or a 200 answer the status is 200 and only the body counts.
   */
  decodeError(status: number, body: unknown): GatewayError
  /** The HTTP body of an error for clients of this wire. */
  encodeError(error: GatewayError, requestId: string): JsonObject
  /** What is sent while the provider is silent. The next frame follows it as it is. */
  keepAlive: string
}

/** How clients of a wire have a prompt counted that nobody is to answer. Bodies are as parsed. */
export type Counting = {
  /** What a client's body must be, open to unknown members. */
  requestSchema: TSchema
  /** The request for an answer, of up to so many tokens, whose prompt is to be counted. */
  toRequest(body: JsonObject, maxOutput: number): JsonObject
  /** The members of a request for an answer that a request for a count may have. */
  members: readonly string[]
  /** Tokens; undefined of a body that is no count. */
  read(body: JsonObject): number | undefined
  write(tokens: number): JsonObject
}

export type ChatCodec = PassCodec & {
  wire: ChatWire
  /** Undefined: this wire has no request for a count. */
  counting: Counting | undefined
  /** Throws `invalid_request`. The body has passed `requestSchema`. */
  decodeRequest(body: JsonObject): ChatRequest
  /** Throws `invalid_request` where leaving something out would change the request's meaning. */
  encodeRequest(request: ChatRequest, target: Target): EncodedRequest
  /** Throws `upstream_error` on a body that is no answer of this wire. */
  decodeResponse(body: JsonObject, undo?: Undo): ChatResponse
  encodeResponse(response: ChatResponse, ask: Ask): JsonObject
  decodeEvents(undo?: Undo): EventDecoder
  encodeEvents(ask: Ask): EventEncoder
}
