// What an answer is read by, whole or a stream, and what reading it gives.

import type { GatewayError } from '../errors.ts'
import { isObject, type JsonObject, parseJson } from '../ir/json.ts'
import type { Usage } from '../ir/usage.ts'
import { isChatWire, type Operation } from '../ir/wire.ts'
import type { Pieces } from '../lib/pieces.ts'
import { wantsSeveral } from '../wire/chat-completions/pass.ts'
import type { Ask, PassCodec, Tap, Undo } from '../wire/codec.ts'
import { chatCodec } from '../wire/index.ts'
import { tellsWhy } from '../wire/refusal/error-object.ts'
import { itemsWritten, rememberable } from '../wire/responses/references.ts'
import { type Keep, PIECE_CHARS } from './adapt/recall.ts'
import type { Call } from './call.ts'
import { hearWhole } from './capture.ts'
import { type Exchange, secondsOf } from './exchange.ts'
import type { Source } from './source.ts'
import type { Target } from './target.ts'
import { askOf, type Crossing } from './translate.ts'

/** A whole answer for the client, and what it consumed: `usage` undefined when the provider did not say. */
export type JsonAnswer = {
  kind: 'json'
  target: Target
  text: string | Pieces
  usage: Usage | undefined
  rawUsage: JsonObject | undefined
  /** The answer on the provider's wire, for counting where usage is missing. */
  body: JsonObject
  /** What it is; absent for JSON. */
  contentType?: string
}

/**
 * A stream read up to its first output: `first` is the text for the client so far, without what ends the answer, or bytes of
 * what is no text.
 */
export type StreamAnswer = {
  kind: 'stream'
  target: Target
  first: string | Uint8Array
  source: Source
  tap: Tap
  /** Of what is no text. */
  contentType?: string
}

export type Answer = JsonAnswer | StreamAnswer

/**
 * What the plan of the request says of its answer. `undo`: how to translate it back, undefined where bytes pass. `cap`: the
 * output cap that is sent.
 */
export type Planned = { undo: Undo | undefined; cap?: number | undefined }

/** All that reading an answer needs. */
export type Reading = Call<Exchange> & { plan: Planned }

/** Reads a response whose status is a success. `heard`: see `call`. */
export type Read<Made extends Answer> = (reading: Reading, response: Response, heard: () => void) => Promise<Made>

/** Of a request or an answer of more characters no text of the whole is made. */
export const VAST_CHARS = 1024 * 1024

/** Nearly no key has that exported. */
export const hearAll = ({ request: { trace }, codec, plan: { undo } }: Reading, body: JsonObject): void => {
  if (trace?.said !== undefined) hearWhole(trace.said, body, { codec, undo })
}

export const askFor = ({ relay, request, target }: Reading): Ask => askOf(request, target, secondsOf(relay.clock))

/** From the wire of the target to that of its client. */
export const crossing = (reading: Reading, asked: Operation, undo: Undo): Crossing => ({
  client: chatCodec(asked),
  provider: chatCodec(reading.target.wire),
  ask: askFor(reading),
  undo,
})

/** Of a server that puts an error into a list. */
export const faultListed = (text: string, { decodeError }: PassCodec): GatewayError | undefined => {
  const listed = /^\s*\[/.test(text) ? parseJson(text) : undefined
  return Array.isArray(listed) && isObject(listed[0]) && tellsWhy(listed[0]) ? decodeError(200, listed) : undefined
}

/** Whether an answer can be turned into its other form: the IR holds one answer, and nothing of other wires. */
export const hasOtherForm = ({ request, target }: Reading): boolean =>
  isChatWire(target.wire) && !wantsSeveral(request.body.outline)

export const mayBeKept = ({ wire, codec, asSent }: Exchange): boolean =>
  wire === 'responses' && codec.operation === undefined && asSent.outline.store !== false

/**
 * Keeps a translated answer, once it is made: only the gateway can resolve a later reference to what it has written itself,
 * with ids of its own. Undefined where its client cannot refer to it.
 */
export const keeperOf = ({ relay, request }: Reading): Keep | undefined => {
  const { key, body, asSent } = request
  if (!mayBeKept(request)) return undefined
  // Where no reference was resolved, what it was given is what is written.
  const written = body.written?.('input')
  const input = written && itemsWritten(written, PIECE_CHARS)
  const kept = input === undefined ? rememberable(asSent.whole().body, body.whole().body) : { input }
  return kept && relay.recall.open(key.id, kept, body.size)
}
