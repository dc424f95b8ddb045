// The contract of a wire, and the laws of those that chat. A codec is a value of pure functions in pairs; the same codec
// serves a client that speaks the wire and a provider that speaks it. No fetch, no clock, no log, no other wire.
//
// Laws (laws.test.ts of each wire, under test/wire):
//   decodeRequest ∘ encodeRequest, decodeResponse ∘ encodeResponse and decodeEvents ∘ encodeEvents are identities on
//   what the wire can express; every encoded stream is accepted by the wire's strict automaton and ends with exactly
//   one terminal event, whatever the events; a decoder emits exactly one `finish` or `error`, whatever the frames.

import type { TSchema } from '@sinclair/typebox'
import type { GatewayError } from '../errors.ts'
import type { ChatEvent, ChatResponse } from '../ir/event.ts'
import type { JsonObject } from '../ir/json.ts'
import type { Quirks } from '../ir/quirks.ts'
import type { ChatRequest } from '../ir/request.ts'
import type { ServerToolCalls } from '../ir/server-tools.ts'
import type { TokensPer, Usage } from '../ir/usage.ts'
import type { ChatWire, Operation, Wire } from '../ir/wire.ts'
import type { Edit } from '../lib/json-splice.ts'
import type { OutputText } from '../lib/output-text.ts'
import type { Frame } from '../lib/sse.ts'
import type { Steps } from '../lib/steps.ts'

/** The model a request is encoded for. */
export type Target = {
  /** The provider's own id of the model. */
  model: string
  /** The most output tokens the model can give: the cap where the wire demands one and the client gave none. */
  maxOutput: number
  quirks: Quirks
  /** As the client has written it, it was refused: on its own wire, too, the model thinks only where it can. */
  anew?: boolean
  /** It sees no pictures: those that only a history's tools have made are left out. */
  blind?: boolean
}

/** What the encoding of a request changed, for decoding its answer to reverse. Plain data. */
export type Undo = {
  /** Calls of this tool are the structured output: they decode as text, and the finish reason `tool-calls` as `stop`. */
  jsonTool?: string
  /**
   * The client's tools by the names they were sent under, `namespace.name` on a wire with namespaces: see tools/heard.ts. A
   * `custom` tool whose call comes as a function's has the free text in the one argument `input`.
   */
  tools?: { [sentName: string]: SentTool }
  /** The stop sequences: `stopAt` of ir/stop-at.ts holds servers to them that do not stop there, decoders ignore them. */
  stop?: string[]
  /** The provider's quirk of that name. */
  noDone?: boolean
  /** The provider's quirk of that name: `taggedThoughts` of ir/tagged-thoughts.ts reads it, decoders ignore it. */
  thinksInText?: boolean
  /** The output cap that was sent: figures that come to it tell that the answer was cut. */
  cap?: number
  /** The ids of the conversation's calls, as its client knows them: no call of the answer gets one of them. */
  taken?: ReadonlySet<string>
  /** For each tool name that was sent, its arguments that were renamed. */
  arguments?: { [sentName: string]: SentArguments }
}
/** The client's name of an argument by the name that was sent. */
export type SentArguments = { [sentName: string]: string }
export type SentTool = { name: string; namespace?: string; kind: 'function' | 'custom' }

/** `dropped`: JSON paths of the client's request that the target wire cannot express, for `x-gateway-dropped`. */
export type EncodedRequest = { body: JsonObject; dropped: string[]; undo: Undo }

/** What encoding an answer needs to know of the client's request. */
export type Ask = Asked & {
  /** The client's request body, parsed: for members that the answer echoes and options that shape it. */
  body: JsonObject
}

/** The same without its body, which may be large: an encoder of events must not hold that for as long as a stream runs. */
export type Asked = {
  /** The gateway's id of the model, as answers must name it. */
  model: string
  /** The gateway's own estimate of the prompt's tokens, for wires that must report input before the provider has. */
  inputEstimate: number
  /** Seconds since the epoch, for answers that need a creation time where the provider gave none. */
  now: number
  /** Responses: whether the provider keeps the answer. Absent means that it does not. */
  stored?: boolean
  /** The id to give the answer instead of the provider's, where the client may refer to it later. */
  id?: string
}

/** Frames in, events out, synchronously. `end`: the stream has ended, which is a failure without its terminal event. */
export type EventDecoder = {
  push(frame: Frame): ChatEvent[]
  end(): ChatEvent[]
  /** The provider's own usage object, verbatim, as reported so far. */
  readonly rawUsage: JsonObject | undefined
  /** See `Tap`. */
  readonly serviceTier: string | undefined
  /** See `Tap`. Absent means true. */
  readonly summed?: boolean
  /** See `Tap`. */
  readonly complete: boolean
  /** See `Tap`. Absent: its wire shows none. */
  readonly serverTools?: ServerToolCalls
  /** Whether the stream may end without its terminal event, as some servers' do, since it has told all. Absent means that it may not. */
  readonly mayEnd?: boolean
}

/** Events in, the wire's text out ('' for nothing), blank lines included. Nothing is written after a terminal event. */
export type EventEncoder = { push(event: ChatEvent): string }

/**
 * Watches a stream on its way to the client, whether it passes through or is translated. One per stream. It collects what
 * metering needs, and what is needed to end a broken stream. It never passes on a provider's error frame.
 */
export type Tap = {
  /** The text to send on for a frame ('' for none), with the gateway's id of the model. */
  see(frame: Frame): string
  /**
   * The provider's stream has ended: the text to send, where a stream may end without a terminal event. `state` tells
   * whether this one may.
   */
  end?(): string
  /** The provider's id of the answer, on wires whose clients may refer to it; absent until known. */
  readonly answerId: string | undefined
  /** The latest usage figures, absent until reported. */
  readonly usage: Usage | undefined
  /**
   * Whether the reported output is the answer's total; false for a count that more text came after, as the one at the start
   * of a messages stream, and where the last image has none.
   */
  readonly summed: boolean
  /**
   * Whether the model had written all when the usage was reported: whether the terminal event follows or not, no other
   * figures come.
   */
  readonly complete: boolean
  /** The provider's own usage object, verbatim. */
  readonly rawUsage: JsonObject | undefined
  /** The service tier as last reported, with or without usage. */
  readonly serviceTier: string | undefined
  /** Calls of tools that ran at the vendor, as the answer's items or blocks showed them so far. */
  readonly serverTools: ServerToolCalls
  /** `open` until the provider's terminal event; `failed` when that reports a failure: see `error`. */
  readonly state: 'open' | 'done' | 'failed'
  readonly error: GatewayError | undefined
  /**
   * Whether anything of the answer has come: a text, a call, its end. What only announces one has not begun it: its id, its
   * role, a part that has nothing in it yet.
   */
  readonly begun: boolean
  /** What the model has written so far, from which usage is estimated when the provider never reports it. */
  readonly output: OutputText
  /** Images: how many have come, one that has only begun included; for how many of them it was told what they took. */
  readonly pictures?: Pictures
  /** The frames that end a broken stream on the client's wire. */
  fail(error: GatewayError, requestId: string): string
}

export type Pictures = { come: number; told: number }

/** A tap holds them for as long as its stream runs: nothing of the request's body may be among them. */
export type TapOptions = {
  /** The gateway's id of the model, written wherever the stream names it. */
  model: string
  /** Chat: whether the client asked for the usage chunk itself. */
  includeUsage: boolean
  /** Images: how many the client asked for. Default 1. */
  images?: number
  /** Chat: the provider's quirk of that name. */
  noDone?: boolean
  /** Chat: likewise. */
  looseCalls?: boolean
  /** The output cap that was sent: see `answerEdits`. */
  cap?: number | undefined
  /** Responses: whether a compaction is asked for. */
  compacts?: boolean
  /** Audio: what the model's seconds count for. */
  tokensPer?: TokensPer
  /** Seconds since the epoch, for a failure before the provider has said anything. */
  now: number
}

/** What determines the edits of a body that passes to a provider of the same wire. */
export type PassOptions = {
  /** The provider's own id of the model. */
  model: string
  /** The output cap that the quota allows, where that is lower than the client's. */
  outputCap: number | undefined
  quirks: Quirks
  /** Those that the provider's refusals have told: the client's members are adapted to them. */
  learned?: Quirks | undefined
}

/** `lost`: it takes from the request what the client has asked for, so that its path is listed as dropped. */
export type PassEdit = Edit & { lost?: true }

/** Tokens. `least`: of the input, what it surely takes, beside what is said in it. */
export type Expected = { input: number; output: number; least?: number }

/** What every wire has: bodies that pass through, taps, usage and errors. */
export type PassCodec = {
  wire: Wire
  /** What is asked of it. Absent: what its name stands for. */
  operation?: Operation
  /** Whether a provider has no such thing as the body asks for: it is then made by an answer of its wire. */
  isMissing?(quirks: Quirks, body: JsonObject): boolean
  /** Whether its answer is made of the whole conversation, with what its request refers to. */
  ofWholeConversation?: true
  /** Whether its requests may come as forms too, with files. */
  takesForms?: true
  /** The schema of a client's body, open to unknown members. */
  requestSchema: TSchema
  /**
   * The members to splice into a client's body for a provider of the same wire. The body may be an outline. `whole`: all of
   * it, for what the beginnings of long strings do not tell: ids could look alike, and thoughts empty.
   */
  passEdits(body: JsonObject, options: PassOptions, whole?: () => JsonObject): PassEdit[]
  /** Whether a client's body uses forms of another wire: its bytes cannot pass, and it is decoded and encoded again. */
  needsTranslation?(body: JsonObject): boolean
  /** Whether the answer comes as a stream. Absent: where the body's `stream` says so. */
  isStream?(body: JsonObject): boolean
  /** Whether that stream is no text but bytes, which pass as they come. */
  isRaw?(body: JsonObject): boolean
  /** Whether a whole answer is a text that is no JSON. */
  isText?(body: JsonObject): boolean
  /** The client's own cap on output tokens, where it gave one. */
  outputCap(body: JsonObject): number | undefined
  /**
   * Wires whose requests have no cap: the tokens that a client's body is expected to come to, which are billed where the
   * provider does not tell. `estimate`: of its texts.
   */
  expects?(body: JsonObject, estimate: number, more: { per: TokensPer; whole(): JsonObject }): Expected
  /** The lowest output cap that providers of the wire accept, in tokens: a translated request's is raised to it. */
  leastOutput?: number
  tap(options: TapOptions): Tap
  /**
   * Edits of a whole answer that passes, where its end says what is not so (a call that breaks off at the cap is not complete;
   * the tap does the same), or where it is written in another way than was `asked`, the body of the request.
   */
  answerEdits?(body: JsonObject, cap: number | undefined, asked?: JsonObject): Edit[]
  /**
   * Wires whose answers are mostly lists of numbers: a long one is read with a list of one number in place of each, by which
   * this tells what is written for the list. The others are as they came.
   */
  listsWritten?(body: JsonObject, asked: JsonObject): (list: string, which: number) => string
  /**
   * Wires that are never translated: an answer in the form that was not asked for. `most`: as many answers as were asked
   * for; the others are left out.
   */
  otherForm?: { frames(body: JsonObject, most: number): Frame[]; answer(frames: readonly Frame[]): JsonObject }
  /** Where bytes come in place of the events that were asked for: an event of some of them, and the last. */
  ofBytes?: { piece(bytes: Uint8Array): Frame; end: Frame }
  /**
   * The error of a body received in place of an answer: the failure it reports, or that it is malformed. `asked`: the body of
   * the request, where the answer passes.
   */
  faultIn(body: JsonObject, asked?: JsonObject): GatewayError | undefined
  /** Usage of a whole answer, and the provider's own usage object. */
  readUsage(body: JsonObject, per?: TokensPer): { usage: Usage; raw: JsonObject } | undefined
  /**
   * Classifies a provider's error by status and machine code. The result carries the gateway's own message. For an error
   * within a stream or a 200 answer the status is 200 and only the body counts.
   */
  decodeError(status: number, body: unknown): GatewayError
  /** The answer that an error response stands for, where it says that one was cut before its first word. `now`: in seconds. */
  cutAnswer?(status: number, body: unknown, now: () => number): JsonObject | undefined
  /** The HTTP body of an error for clients of this wire. */
  encodeError(error: GatewayError, requestId: string): JsonObject
  /** What is sent while the provider is silent. The next frame may follow directly. */
  keepAlive: string
}

/** The wire's requests to count a prompt's tokens without answering it. Bodies are parsed JSON. */
export type Counting = {
  /** The schema of a client's body, open to unknown members. */
  requestSchema: TSchema
  /** The request for an answer, of up to so many tokens, whose prompt is to be counted. */
  toRequest(body: JsonObject, maxOutput: number): JsonObject
  /** The members of a request for an answer that a request for a count may have. */
  members: readonly string[]
  /** Tokens; undefined for a body that is not a count. */
  read(body: JsonObject): number | undefined
  write(tokens: number): JsonObject
}

export type ChatCodec = PassCodec & {
  wire: ChatWire
  /** Undefined for a wire without such requests. */
  counting: Counting | undefined
  /** Throws `invalid_request`. The body has passed `requestSchema`. */
  decodeRequest(body: JsonObject): ChatRequest
  /** The same in steps, for very long conversations. */
  decodeInSteps(body: JsonObject): Steps<ChatRequest>
  /** Throws `invalid_request` where leaving something out would change the request's meaning. */
  encodeRequest(request: ChatRequest, target: Target): EncodedRequest
  /** The same in steps. */
  encodeInSteps(request: ChatRequest, target: Target): Steps<EncodedRequest>
  /** How its answers write the id of a call that another wire has given; absent: as it is. */
  writtenCallId?(id: string): string
  /** Whether only text answers the client's request: an answer without any has failed. */
  needsText?(body: JsonObject): boolean
  /** Throws `upstream_error` for a body that is not an answer of this wire. */
  decodeResponse(body: JsonObject, undo?: Undo): ChatResponse
  encodeResponse(response: ChatResponse, ask: Ask): JsonObject
  decodeEvents(undo?: Undo): EventDecoder
  encodeEvents(ask: Ask): EventEncoder
}
