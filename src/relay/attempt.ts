// One attempt at one target: the request on the provider's wire, and its answer read.

import type { JsonObject } from '../ir/json.ts'
import type { Quirks } from '../ir/quirks.ts'
import { collectAfter } from '../lib/collect.ts'
import { writeJson } from '../lib/json-write.ts'
import { free } from '../lib/memory.ts'
import type { Sent } from '../lib/pieces.ts'
import { atOnce, inTurns, type Steps } from '../lib/steps.ts'
import { endpoint } from '../provider/endpoint.ts'
import { breaksTurns, callsAtOnce, wantsSeveral } from '../wire/chat-completions/pass.ts'
import type { EncodedRequest, PassCodec } from '../wire/codec.ts'
import { CODECS, chatCodec } from '../wire/index.ts'
import { malformedAnswer } from '../wire/pass.ts'
import { needsStopping } from '../wire/settings/stops.ts'
import { droppedBetas } from './adapt/betas.ts'
import { requireSight } from './adapt/sight.ts'
import { type Call, call } from './call.ts'
import { withoutMarks } from './client-body.ts'
import { listDropped } from './dropped.ts'
import type { Exchange } from './exchange.ts'
import { type Answer, type Planned, type Read, type Reading, VAST_CHARS } from './reading.ts'
import type { Relay } from './services.ts'
import type { Target } from './target.ts'
import {
  capFor,
  editsFor,
  encodeFor,
  lostCap,
  lostIn,
  mayBeTorn,
  passQuirksOf,
  quirksOf,
  toJson,
  wellFormed,
} from './translate.ts'
import { editsWithin } from './within.ts'

/** `own`: memory that nothing else is in, if any. */
type Written = { body: Sent; own?: Uint8Array<ArrayBuffer> }

/** The request as it is sent to this target. */
type Plan = Written & Planned

/** Throws GatewayError; one whose `failover` is true may be tried elsewhere. */
export const attempt = async <Made extends Answer>(
  { relay, request: exchange, target, abort }: Omit<Call<Exchange>, 'codec'>,
  read: Read<Made>,
): Promise<Made> => {
  const isAsked = target.wire === exchange.wire && !isMissing(exchange, target)
  const codec = isAsked ? exchange.codec : CODECS[target.wire]
  const planned = planIn(relay, exchange, target, codec)
  const plan = planned instanceof Promise ? await planned : planned
  // The client may have left while the plan waited for its turn.
  exchange.sent ||= !abort.signal.aborted
  const reading: Reading = { relay, request: exchange, target, codec, plan, abort }
  const url = endpoint(target.account, codec.operation ?? target.wire, target.model.upstream)
  const { contentType, outline } = exchange.body
  const outgoing = { url, body: plan.body, ...(contentType !== undefined && { contentType, members: outline }) }
  try {
    return await call(reading, outgoing, (response, heard) => read(reading, response, heard))
  } catch (error) {
    // An answer may be nested more deeply than it can be written again.
    throw error instanceof RangeError ? malformedAnswer(error) : error
  } finally {
    if (plan.own !== undefined) free(plan.own)
  }
}

/** What is translated is read, made another, and written in turns of their own. What is small, and passes, is not waited for. */
const planIn = ({ turns }: Relay, exchange: Exchange, target: Target, codec: PassCodec): Plan | Promise<Plan> => {
  const { size } = exchange.body
  const planned = turns(size, () => planFor(exchange, target, codec))
  if (planned instanceof Promise) return planned.then((plan) => ('body' in plan ? plan : inTurns(plan, size, turns)))
  return 'body' in planned ? planned : inTurns(planned, size, turns)
}

const planFor = (exchange: Exchange, target: Target, codec: PassCodec): Plan | Steps<Plan> => {
  // The model that was asked for has been looked at before.
  if (target.model.id !== exchange.model.id) requireSight(exchange.bodyWire, exchange.body, target.model)
  const betas = droppedBetas(target, exchange.headers)
  if (passesThrough(exchange, target)) {
    const cap = capFor(exchange, target)
    const edits = [...editsFor(codec, exchange.body, target, cap), ...editsWithin(exchange, target)]
    exchange.dropped = listDropped([...betas, ...lostIn(edits), ...lostCap(exchange, target)])
    return { body: exchange.body.edited(edits), undo: undefined, cap: cap ?? codec.outputCap(exchange.body.outline) }
  }
  return translated(exchange, target, betas)
}

/** `dropped`: what is left out beside what the other wire cannot say. */
function* translated(exchange: Exchange, target: Target, dropped: readonly string[]): Steps<Plan> {
  const client = chatCodec(exchange.codec.operation ?? exchange.bodyWire)
  const encode = (): Steps<EncodedRequest> => encodeFor(exchange, client, chatCodec(target.wire), target)
  const isVast = exchange.body.size > VAST_CHARS
  const { body, undo, dropped: lost } = isVast ? yield* encode() : atOnce(encode())
  exchange.dropped = listDropped([...dropped, ...lost, ...lostCap(exchange, target)])
  if (isVast) yield
  return { ...(yield* writtenFor(exchange, body, encode)), undo, cap: undo.cap }
}

/** From this length on text is sent as bytes: as a string it may take twice as much for as long as the provider thinks. */
const LONG_CHARS = 32 * 1024

/** Where a mark has not come through whole, the request is translated again, from a body without any. */
function* writtenFor(exchange: Exchange, body: JsonObject, again: () => Steps<EncodedRequest>): Steps<Written> {
  const { marked, size } = exchange.body
  if (marked === undefined) return yield* written(body, size)
  const own = yield* asBytes(body, marked.size)
  yield
  const sent = marked.written(own)
  if (sent !== undefined) return { body: sent, own }
  exchange.body = withoutMarks(exchange.body)
  exchange.decoded = undefined
  return yield* written((yield* again()).body, size)
}

/** `size`: about how long it will be. */
function* written(body: JsonObject, size: number): Steps<Written> {
  if (size < LONG_CHARS) {
    const text = JSON.stringify(body)
    return text.length < LONG_CHARS ? { body: wellFormed(text) } : ownOf(bytesOf(text))
  }
  return ownOf(yield* asBytes(body, size))
}

const ownOf = (own: Uint8Array<ArrayBuffer>): Written => ({ body: own, own })

function* asBytes(body: JsonObject, size: number): Steps<Uint8Array<ArrayBuffer>> {
  if (size <= VAST_CHARS) {
    const text = JSON.stringify(body)
    yield
    return bytesOf(text)
  }
  const bytes = yield* writeJson(body, toJson, size * 1.1)
  yield
  collectAfter(bytes.byteLength)
  return bytes
}

const bytesOf = (text: string): Uint8Array<ArrayBuffer> => {
  const bytes = utf8.encode(text)
  // In text with many escapes, which code has, this takes fifty times as long.
  return mayBeTorn(bytes) ? utf8.encode(wellFormed(text)) : bytes
}
const utf8 = new TextEncoder()

/**
 * Whether the body's bytes pass: it is in the provider's wire already, in a form that the provider takes. Several answers
 * can only pass.
 */
const passesThrough = (exchange: Exchange, target: Target): boolean => {
  const { wire, bodyWire, codec, body } = exchange
  return (
    target.wire === wire &&
    !isMissing(exchange, target) &&
    bodyWire === wire &&
    target.withoutReasoning !== true &&
    target.anew !== true &&
    (target.learned?.noRepeatedUser !== true || wantsSeveral(body.outline) || !breaksTurns(body.outline)) &&
    (target.learned?.noSystem !== true || wantsSeveral(body.outline)) &&
    (target.learned?.callsInTurn !== true || wantsSeveral(body.outline) || !callsAtOnce(body.outline)) &&
    (wantsSeveral(body.outline) || isAnsweredAsAsked(body.outline, passQuirksOf(target, body.outline))) &&
    codec.needsTranslation?.(body.outline) !== true
  )
}

/** Whether the answer is what a client of the wire can be given as it comes. */
const isAnsweredAsAsked = (outline: JsonObject, quirks: Quirks): boolean =>
  quirks.looseAnswers !== true && !needsStopping(outline, quirks)

/** Whether what is asked for is nothing that the target has. */
const isMissing = ({ codec, body }: Exchange, target: Target): boolean =>
  codec.isMissing?.(quirksOf(target), body.outline) === true
