// One attempt at one target: the request on the provider's wire, its answer checked and made ready for the client.

import type { GatewayError } from '../errors.ts'
import { isObject, type JsonObject, parseJson, parseObject } from '../ir/json.ts'
import type { Quirks } from '../ir/quirks.ts'
import type { Usage } from '../ir/usage.ts'
import { isChatWire, type Operation } from '../ir/wire.ts'
import { collectAfter } from '../lib/collect.ts'
import { withExact } from '../lib/json-exact.ts'
import { writeJson } from '../lib/json-write.ts'
import { free } from '../lib/memory.ts'
import type { Pieces, Sent } from '../lib/pieces.ts'
import type { Frame } from '../lib/sse.ts'
import { atOnce, inTurns, type Steps } from '../lib/steps.ts'
import { endpoint } from '../provider/endpoint.ts'
import { breaksTurns, callsAtOnce, includeUsage, wantsSeveral } from '../wire/chat-completions/pass.ts'
import type { Ask, EncodedRequest, PassCodec, Tap, Undo } from '../wire/codec.ts'
import { CODECS, chatCodec } from '../wire/index.ts'
import { malformedAnswer } from '../wire/pass.ts'
import { tellsWhy } from '../wire/refusal/error-object.ts'
import { asksCompaction } from '../wire/responses/compaction.ts'
import { answerIn, itemsWritten, rememberable } from '../wire/responses/references.ts'
import { needsStopping } from '../wire/settings/stops.ts'
import { droppedBetas } from './adapt/betas.ts'
import { EVENT_STREAM, passedFromStream, streamFromWhole, wholeFromStream } from './adapt/other-form.ts'
import { imagesAsked } from './adapt/pictures.ts'
import { type Keep, PIECE_CHARS } from './adapt/recall.ts'
import { requireSight } from './adapt/sight.ts'
import { allowanceOf, requireBoundedAnswer } from './answer-bounds.ts'
import {
  ANSWER_BYTES,
  answerBody,
  ERROR_BYTES,
  type Received,
  readText,
  receive,
  textOf,
  withModelName,
} from './answer-text.ts'
import { type Call, call } from './call.ts'
import { bytesHeard, heardBy, hearWhole } from './capture.ts'
import { withoutMarks } from './client-body.ts'
import { listDropped } from './dropped.ts'
import { type Exchange, secondsOf } from './exchange.ts'
import { markedAnswer } from './marked-answer.ts'
import type { Relay } from './services.ts'
import {
  beginning,
  endedSource,
  type HeldSource,
  joined,
  rawTap,
  readBytes,
  readFrom,
  type Source,
  type Unread,
} from './source.ts'
import type { Target } from './target.ts'
import {
  askOf,
  type Crossing,
  capFor,
  editsFor,
  encodeFor,
  lostCap,
  lostIn,
  mayBeTorn,
  passQuirksOf,
  quirksOf,
  toJson,
  translateResponse,
  translateStream,
  wellFormed,
} from './translate.ts'
import { broken } from './upstream.ts'
import { editsWithin } from './within.ts'

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

/** `own`: memory that nothing else is in, if any. */
type Written = { body: Sent; own?: Uint8Array<ArrayBuffer> }

/**
 * The request as it is sent to this target; `undo`: how to translate the answer back, undefined where bytes pass. `cap`: the
 * output cap that is sent.
 */
type Plan = Written & { undo: Undo | undefined; cap?: number | undefined }

/** All that reading an answer needs. */
type Reading = Call<Exchange> & { plan: Plan }

/** Reads a response whose status is a success. `heard`: see `call`. */
export type Read<Made extends Answer> = (reading: Reading, response: Response, heard: () => void) => Promise<Made>

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
  const outgoing = { url, body: plan.body, contentType: exchange.body.contentType }
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

/** Of a request of more characters no text of the whole is made. */
const VAST_CHARS = 1024 * 1024

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

export const readAnswer: Read<JsonAnswer> = async (reading, response, heard) => {
  const { relay, abort } = reading
  const allowed = allowanceOf(reading.codec.wire, reading.request.body.outline)
  const options = { heard, room: relay.room, turns: relay.turns, allowed }
  const received = await receive(response, ANSWER_BYTES, abort, options)
  if (reading.codec.isText?.(reading.request.body.outline) === true) {
    const text = textOf(received)
    if (parseObject(text) === undefined) return textAnswer(text, reading)
  }
  const size = received.bytes.byteLength
  if (size <= VAST_CHARS) return relay.turns(size, () => atOnce(wholeAnswer(textOf(received), reading)))
  return inTurns(vastAnswer(received, reading), size, relay.turns)
}

/** Where most of it need not be read, that is passed over. */
function* vastAnswer(received: Received, reading: Reading): Steps<JsonAnswer> {
  const { plan, request } = reading
  // Who exports what is said, keeps an answer or counts several reads all of it.
  const isKept = plan.undo !== undefined && mayBeKept(request)
  const isRead = isKept || request.trace?.said !== undefined || wantsSeveral(request.body.outline)
  const marked = isRead ? undefined : yield* markedAnswer(received, plan.undo !== undefined)
  if (marked !== undefined) {
    const answer = yield* answerOf({ ...marked, size: received.bytes.byteLength }, reading)
    const isCounted = Boolean(answer.usage?.input && answer.usage.output)
    const written = isCounted || plan.undo !== undefined ? marked.written(utf8.encode(answer.text)) : undefined
    if (written !== undefined) return { ...answer, text: written }
  }
  yield
  const text = textOf(received)
  free(received.bytes)
  return yield* wholeAnswer(text, reading)
}

/** How the pages begin that proxies answer with. */
const PAGE = /^\s*<(?:!doctype|html)\b/i

const textAnswer = (text: string, reading: Reading): JsonAnswer => {
  const { target } = reading
  if (PAGE.test(text)) throw malformedAnswer()
  const told = { usage: undefined, rawUsage: undefined }
  hearAll(reading, { text })
  return { kind: 'json', target, text, ...told, body: { text }, contentType: 'text/plain; charset=utf-8' }
}

/** Nearly no key has that exported. */
const hearAll = ({ request: { trace }, codec, plan: { undo } }: Reading, body: JsonObject): void => {
  if (trace?.said !== undefined) hearWhole(trace.said, body, { codec, undo })
}

function* wholeAnswer(received: string, reading: Reading): Steps<JsonAnswer & { text: string }> {
  const body = parseObject(received, true)
  yield
  if (body !== undefined) return yield* answerOf({ body, text: received }, reading)
  const made = wholeIn(received, reading)
  return yield* answerOf({ body: made, text: JSON.stringify(made), isMade: true }, reading)
}

/** `size`: about how long its text was as it came. `isMade`: of the stream that came in its place. */
type Opened = { body: JsonObject; text: string; size?: number; isMade?: true }

function* answerOf(
  { body, text, size = text.length, isMade }: Opened,
  reading: Reading,
): Steps<JsonAnswer & { text: string }> {
  const { request: exchange, target, codec, plan } = reading
  const fault = codec.faultIn(body, plan.undo === undefined ? exchange.body.outline : undefined)
  if (fault !== undefined) throw fault
  hearAll(reading, body)
  const read = codec.readUsage(body, target.model.tokensPer)
  let translated: JsonObject | undefined
  if (plan.undo !== undefined) {
    const exact = withExact(text, body)
    yield
    const across = crossing(reading, exchange.codec.operation ?? exchange.wire, plan.undo)
    translated = translateResponse(exact, across, size)
    yield
  }
  const made = translated ?? (isMade && body)
  if (made !== undefined) exchange.kept = keeperOf(reading)?.(made)
  const clientText =
    translated === undefined
      ? withModelName(text, body, target.model.id, codec.answerEdits?.(body, plan.cap))
      : JSON.stringify(translated)
  return { kind: 'json', target, text: clientText, usage: read?.usage, rawUsage: read?.raw, body }
}

const askFor = ({ relay, request, target }: Reading): Ask => askOf(request, target, secondsOf(relay.clock))

/** From the wire of the target to that of its client. */
const crossing = (reading: Reading, asked: Operation, undo: Undo): Crossing => ({
  client: chatCodec(asked),
  provider: chatCodec(reading.target.wire),
  ask: askFor(reading),
  undo,
})

/** The answer in the text of a stream nobody asked for. Throws GatewayError for any other text. */
const wholeIn = (text: string, reading: Reading): JsonObject => {
  const { request, target, codec, plan } = reading
  const isStream = EVENT_STREAM.test(text)
  if (isStream && codec.otherForm !== undefined)
    return passedFromStream(codec, codec.otherForm.answer, text, askFor(reading))
  if (!isStream) throw faultListed(text, codec) ?? malformedAnswer()
  if (!hasOtherForm(reading)) throw malformedAnswer()
  const ask = askFor(reading)
  const body = target.wire === request.wire ? ask.body : {}
  return wholeFromStream(chatCodec(target.wire), text, { ...ask, body }, ownUndo(target, plan.cap))
}

/** Of a server that puts an error into a list. */
const faultListed = (text: string, { decodeError }: PassCodec): GatewayError | undefined => {
  const listed = /^\s*\[/.test(text) ? parseJson(text) : undefined
  return Array.isArray(listed) && isObject(listed[0]) && tellsWhy(listed[0]) ? decodeError(200, listed) : undefined
}

/** Whether an answer can be turned into its other form: the IR holds one answer, and nothing of other wires. */
const hasOtherForm = ({ request, target }: Reading): boolean =>
  isChatWire(target.wire) && !wantsSeveral(request.body.outline)

const ownUndo = (target: Target, cap: number | undefined): Undo => ({
  ...(quirksOf(target).noDone === true ? { noDone: true } : {}),
  ...(cap === undefined ? {} : { cap }),
})

const mayBeKept = ({ wire, codec, asSent }: Exchange): boolean =>
  wire === 'responses' && codec.operation === undefined && asSent.outline.store !== false

/**
 * Keeps a translated answer, once it is made: only the gateway can resolve a later reference to what it has written itself,
 * with ids of its own. Undefined where its client cannot refer to it.
 */
const keeperOf = ({ relay, request }: Reading): Keep | undefined => {
  const { key, body, asSent } = request
  if (!mayBeKept(request)) return undefined
  // Where no reference was resolved, what it was given is what is written.
  const written = body.written?.('input')
  const input = written && itemsWritten(written, PIECE_CHARS)
  const kept = input === undefined ? rememberable(asSent.whole().body, body.whole().body) : { input }
  return kept && relay.recall.open(key.id, kept, body.size)
}

/** Made outside of `openStream`: a function keeps what its neighbours use, and this one lives as long as the stream. */
const keptBy = (reading: Reading): ((text: string) => void) | undefined => {
  const keep = keeperOf(reading)
  const { request } = reading
  return (
    keep &&
    ((text) => {
      const answer = answerIn(text)
      if (answer !== undefined) request.kept = keep(answer)
    })
  )
}

export const openStream: Read<StreamAnswer> = (reading, response, heard) => {
  const { relay, request: exchange, target, codec, plan, abort } = reading
  const images = imagesAsked(exchange.body.outline)
  const keep = plan.undo === undefined ? undefined : keptBy(reading)
  const passed =
    plan.undo === undefined
      ? codec.tap({
          model: target.model.id,
          includeUsage: includeUsage(exchange.body.outline),
          images,
          tokensPer: target.model.tokensPer,
          noDone: quirksOf(target).noDone === true,
          compacts: asksCompaction(exchange.body.outline),
          looseCalls: quirksOf(target).looseCalls === true,
          cap: plan.cap,
          now: secondsOf(relay.clock),
        })
      : translateStream(crossing(reading, exchange.wire, plan.undo), keep)
  const said = exchange.trace?.said
  const tap =
    said === undefined ? passed : heardBy(said, passed, { codec, undo: plan.undo }, wantsSeveral(exchange.body.outline))
  const fromWhole = (text: string, body: JsonObject): StreamAnswer => {
    const ended = (text: string, watched: Tap): StreamAnswer => ({
      ...{ kind: 'stream', target, first: '', source: endedSource(abort, text), tap: watched },
    })
    const { otherForm } = codec
    if (otherForm !== undefined) return ended(seenBy(tap, otherForm.frames(body, images)), tap)
    if (!hasOtherForm(reading)) throw malformedAnswer()
    hearAll(reading, body)
    requireBoundedAnswer(body, text.length)
    const across = crossing(reading, exchange.wire, plan.undo ?? {})
    const made = streamFromWhole(withExact(text, body), across, keptBy(reading))
    return ended(made.text, made.tap)
  }
  // One in the background can only be found by its id: its client has that at once.
  const holding = exchange.background ? {} : { heard }
  // Who exports what is said, or keeps an answer, reads all of it.
  const isHeard = said !== undefined || keep !== undefined
  const unread = isHeard ? undefined : plan.undo === undefined ? 'strings' : 'pictures'
  return readToFirstOutput(response, { relay, target, codec, abort, unread, ...holding }, tap, fromWhole)
}

/** What a stream of bytes says that it is; anything else may be said of an error. */
const TEXTUAL = /^\s*(?:text\/|application\/(?:[\w.-]+\+)?json)/i
const MEDIA_TYPE = /^[\w.+-]+\/[\w.+-]+(?: *; *[\w.+-]+=[\w.+-]+)*$/

/** A stream of bytes: it can be told from an error only by what it says that it is. */
export const openRaw: Read<StreamAnswer> = async ({ relay, request: { trace }, target, codec, abort }, response) => {
  const type = response.headers.get('content-type') ?? ''
  if (TEXTUAL.test(type)) {
    const body = parseObject(await readText(response, ERROR_BYTES, abort, { room: relay.room }))
    throw (body && codec.faultIn(body)) ?? malformedAnswer()
  }
  // Sound may begin like anything, also like what is compressed.
  const isPacked = response.headers.has('content-encoding')
  const reader = isPacked ? await answerBody(response, abort) : (response.body?.getReader() ?? null)
  if (reader === null) throw broken()
  const tap = rawTap()
  const contentType = MEDIA_TYPE.test(type) ? type : 'application/octet-stream'
  const bytes = readBytes(reader, tap, abort)
  const source = trace?.said === undefined ? bytes : bytesHeard(trace.said, bytes, contentType)
  const first = await source.read()
  if (first === undefined) throw broken()
  return { kind: 'stream', target, first, source, tap, contentType }
}

/**
 * What an answer is only announced with is held back for so long, and no more of it: its client is to know that it lives. Less
 * long where its provider may not be silent for as long.
 */
const HELD_MS = 1_000
const HELD_CHARS = 256 * 1024

type Opening = Pick<Call, 'relay' | 'target' | 'codec' | 'abort'> & { heard?: () => void; unread?: Unread | undefined }

/**
 * Reads a stream up to its first output for the client. Throws GatewayError for one that fails before. `fromWhole` makes
 * a stream of a whole answer that came in its place. `heard`: see `call`; where it is given, what only announces the answer
 * is held back until something of it comes, so that another can still be asked for.
 */
export const readToFirstOutput = async (
  response: Response,
  { relay, target, codec, abort, heard, unread }: Opening,
  tap: Tap,
  fromWhole?: (text: string, body: JsonObject) => StreamAnswer,
): Promise<StreamAnswer> => {
  const reader = await answerBody(response, abort)
  if (reader === null) throw broken()
  const begun = await beginning(reader, abort)
  if (begun.isWhole) {
    const all = new Response(joined(begun.chunk, reader))
    const most = fromWhole === undefined ? ERROR_BYTES : ANSWER_BYTES
    const text = await readText(all, most, abort, { room: relay.room, turns: relay.turns })
    return relay.turns(text.length, () => {
      const body = parseObject(text, true)
      const fault = body === undefined ? faultListed(text, codec) : codec.faultIn(body)
      if (fault !== undefined || body === undefined || fromWhole === undefined) throw fault ?? malformedAnswer()
      return fromWhole(text, body)
    })
  }
  const source = readFrom(reader, tap, { chunk: begun.chunk, abort, room: relay.room, ...(unread && { unread }) })
  const first = await firstOutput(
    source,
    tap,
    heard && { heard, heldMs: Math.min(HELD_MS, target.provider.timeouts.idleMs / 2) },
  )
  return { kind: 'stream', target, first, source, tap }
}

/** The text for the client up to there, without what ends the answer. */
const firstOutput = async (
  source: HeldSource,
  tap: Tap,
  holding: { heard: () => void; heldMs: number } | undefined,
): Promise<string> => {
  const { promise: late, resolve } = Promise.withResolvers<void>()
  let timer: ReturnType<typeof setTimeout> | undefined
  let held = ''
  try {
    for (;;) {
      const read = await source.read()
      if (read !== undefined) held += read
      // Of an answer that has only been announced its client has heard nothing.
      if (tap.state === 'failed' && (held === '' || !tap.begun)) throw tap.error ?? broken()
      if (tap.state === 'done') return held
      if (read === undefined) throw broken()
      if (held === '') continue
      if (tap.begun || tap.state === 'failed' || holding === undefined || held.length > HELD_CHARS) return held
      holding.heard()
      timer ??= setTimeout(resolve, holding.heldMs)
      if (!(await source.comes(late))) return held
    }
  } finally {
    clearTimeout(timer)
  }
}

/** The events of a whole answer, seen by the tap of the stream that it stands in for. */
const seenBy = (tap: Tap, frames: readonly Frame[]): string => {
  const text = frames.map(tap.see).join('')
  tap.end?.()
  if (tap.state !== 'done') throw tap.error ?? malformedAnswer()
  return text
}
