// One try at one target: the request on the provider's wire, its answer checked and made ready for the client.

import { GatewayError } from '../errors.ts'
import { isObject, type JsonObject } from '../ir/json.ts'
import type { Usage } from '../ir/usage.ts'
import { withExact } from '../lib/json-exact.ts'
import { splice } from '../lib/json-splice.ts'
import { FrameReader, FrameTooLarge } from '../lib/sse.ts'
import { includeUsage } from '../wire/chat-completions/pass.ts'
import type { ChatCodec, PassCodec, Tap, Undo } from '../wire/codec.ts'
import { CODECS, chatCodec } from '../wire/index.ts'
import { answerIn, rememberable } from '../wire/responses/references.ts'
import type { Exchange, Relay } from './exchange.ts'
import { imagesAsked } from './meter.ts'
import type { Target } from './route.ts'
import { askOf, capFor, encodeFor, quirksOf, translateResponse, translateStream, written } from './translate.ts'
import { broken, networkError, probe, send, timedOut } from './upstream.ts'

/** A whole answer for the client, and what it consumed: `usage` undefined when the provider did not say. */
export type JsonAnswer = {
  kind: 'json'
  target: Target
  text: string
  usage: Usage | undefined
  rawUsage: JsonObject | undefined
  /** The answer on the provider's wire, for counting where usage is missing. */
  body: JsonObject
}

/** A stream that has said its first word: `first` is the text for the client so far. */
export type StreamAnswer = {
  kind: 'stream'
  target: Target
  first: string
  source: Source
  tap: Tap
}

export type Answer = JsonAnswer | StreamAnswer

/** The provider's end of a stream. */
export type Source = {
  /** Text for the client, maybe ''; undefined once the bytes are over. Throws GatewayError. */
  read(): Promise<string | undefined>
  /** Reads what follows the provider's last word, so that its connection can serve again; cuts one that lingers. */
  drain(): Promise<void>
  abort: AbortController
}

/** Error bodies of providers are small; nothing needs more of one. */
const ERROR_BYTES = 256 * 1024
/** The largest answer held in memory as a whole. */
const ANSWER_BYTES = 256 * 1024 * 1024
/** How long a provider may take to end a stream whose last word it has said. */
const LINGER_MS = 1_000
/** The largest single event of a stream. */
const FRAME_CHARS = 64 * 1024 * 1024

/** How the request goes out to this target, and how what comes back is read. */
type Plan = { body: string | Uint8Array<ArrayBuffer>; undo: Undo | undefined }

/** One call to a provider: all that the reading of its answer needs. */
type Call = {
  relay: Relay
  exchange: Exchange
  target: Target
  /** The provider's. */
  codec: PassCodec
  plan: Plan
  abort: AbortController
  /** To be told of each piece of a whole answer: from the first on it may pause no longer than a stream. */
  heard: () => void
}

/** Throws GatewayError; one whose `failover` is true may be tried elsewhere. */
export const attempt = async (
  relay: Relay,
  exchange: Exchange,
  target: Target,
  abort: AbortController,
): Promise<Answer> => {
  const codec = CODECS[target.wire]
  const plan = planFor(exchange, target, codec)
  const { connectMs, firstByteMs, idleMs } = target.provider.timeouts
  const giveUp = (): void => abort.abort(timedOut('did not answer'))
  // One timer for all: nearly every answer comes before any.
  const last = Math.min(firstByteMs, timeLeft(exchange, target))
  const first = Math.min(connectMs, last)
  let timer = setTimeout(() => {
    if (first === last) return giveUp()
    void probe(target, abort)
    timer = setTimeout(giveUp, last - first)
  }, first)
  const heard = (): void => {
    clearTimeout(timer)
    const left = timeLeft(exchange, target)
    timer =
      left < idleMs
        ? setTimeout(() => abort.abort(timedOut('did not finish')), left)
        : setTimeout(() => abort.abort(timedOut('fell silent and did not go on')), idleMs)
  }
  try {
    const response = await send(relay, target, plan.body, exchange.headers, abort)
    if (response.status !== 200) {
      const refused = await refusal(response, codec, abort)
      // A fault that the body's outline could not show is told by its own name.
      if (refused.code === 'invalid_request') exchange.body.whole()
      throw refused
    }
    const call: Call = { relay, exchange, target, codec, plan, abort, heard }
    return exchange.stream ? await openStream(call, response) : await readAnswer(call, response)
  } finally {
    clearTimeout(timer)
  }
}

/** What is left of the exchange's whole time at this target, in milliseconds, 0 when it is over. */
export const timeLeft = (exchange: Exchange, target: Target): number =>
  Math.max(0, exchange.begunAt + target.provider.timeouts.totalMs - performance.now())

const planFor = (exchange: Exchange, target: Target, codec: PassCodec): Plan => {
  if (target.wire === exchange.wire) {
    const edits = codec.passEdits(exchange.body.outline, {
      model: target.model.upstream,
      outputCap: capFor(exchange, target),
      quirks: quirksOf(target),
    })
    exchange.dropped = []
    return { body: exchange.body.edited(edits), undo: undefined }
  }
  const encoded = encodeFor(exchange, chatCodec(exchange.wire), chatCodec(target.wire), target)
  exchange.dropped = encoded.dropped
  return { body: written(encoded.body), undo: encoded.undo }
}

/** A provider's answer that is no answer, in the gateway's words. */
const refusal = async (response: Response, codec: PassCodec, abort: AbortController): Promise<GatewayError> => {
  const text = await readText(response, ERROR_BYTES, abort).catch(() => '')
  const error = codec.decodeError(response.status, parse(text))
  const requestId = response.headers.get('request-id') ?? response.headers.get('x-request-id') ?? undefined
  const retryAfterMs = retryAfter(response.headers) ?? error.retryAfterMs
  return new GatewayError(error.code, error.message, {
    ...(error.param === undefined ? {} : { param: error.param }),
    ...(error.details === undefined ? {} : { details: error.details }),
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
    ...(error.retry ? {} : { retry: false, failover: error.failover }),
    provider: { ...error.provider, status: response.status, ...(requestId === undefined ? {} : { requestId }) },
  })
}

/** `Retry-After` in milliseconds, as seconds or as a date; undefined when absent or past all reason. */
const retryAfter = (headers: Headers): number | undefined => {
  const exact = Number(headers.get('retry-after-ms') ?? Number.NaN)
  if (Number.isFinite(exact)) return Math.max(0, exact)
  const value = headers.get('retry-after')
  if (value === null) return undefined
  const ms = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isFinite(ms) ? Math.min(Math.max(0, ms), 86_400_000) : undefined
}

const readAnswer = async (call: Call, response: Response): Promise<JsonAnswer> => {
  const { relay, exchange, target, codec, plan, abort, heard } = call
  const text = await readText(response, ANSWER_BYTES, abort, heard)
  const body = parse(text)
  if (body === undefined) throw malformedAnswer()
  const fault = codec.faultIn(body)
  if (fault !== undefined) throw fault
  const read = codec.readUsage(body)
  const translated =
    plan.undo === undefined
      ? undefined
      : translateResponse(
          withExact(text, body),
          chatCodec(exchange.wire),
          codec as ChatCodec,
          askOf(exchange, target.model.id, relay.clock.now()),
          plan.undo,
        )
  if (translated !== undefined) remember(call, () => translated)
  const shown = translated === undefined ? rename(text, body, target.model.id) : JSON.stringify(translated)
  return { kind: 'json', target, text: shown, usage: read?.usage, rawUsage: read?.raw, body }
}

/** What was made of an answer from another wire, only the gateway can say when the client refers to it later. */
const remember = ({ relay, exchange }: Call, answer: () => JsonObject | undefined): void => {
  const { body, asSent } = exchange
  if (exchange.wire !== 'responses' || asSent.outline.store === false) return
  const made = answer()
  const { text, body: resolved } = body.whole()
  const kept = made === undefined ? undefined : rememberable(asSent.whole().body, resolved, made)
  if (kept === undefined) return
  relay.recall.keep(exchange.key.id, kept, text.length + JSON.stringify(kept.output).length)
}

const rename = (text: string, body: JsonObject, model: string): string =>
  body.model === undefined || body.model === model
    ? text
    : splice(text, [{ path: ['model'], value: JSON.stringify(model) }], body)

const malformedAnswer = (): GatewayError =>
  new GatewayError('upstream_error', 'The provider sent a malformed answer. Try again.')

const openStream = async (call: Call, response: Response): Promise<StreamAnswer> => {
  const { relay, exchange, target, codec, plan, abort } = call
  const type = response.headers.get('content-type') ?? ''
  if (response.body === null) throw broken()
  if (type.includes('json') || type.includes('html')) {
    const body = parse(await readText(response, ERROR_BYTES, abort))
    throw (body === undefined ? undefined : codec.faultIn(body)) ?? malformedAnswer()
  }
  const now = relay.clock.now()
  const tap =
    plan.undo === undefined
      ? codec.tap({
          model: target.model.id,
          includeUsage: includeUsage(exchange.body.outline),
          images: imagesAsked(exchange.body.outline),
          now: Math.floor(now / 1000),
        })
      : translateStream(
          chatCodec(exchange.wire),
          codec as ChatCodec,
          askOf(exchange, target.model.id, now),
          plan.undo,
          (text) => remember(call, () => answerIn(text)),
        )
  const source = readFrom(response.body, tap, abort)
  for (;;) {
    const first = await source.read()
    if (tap.state === 'failed' && (first === undefined || first === '')) throw tap.error ?? broken()
    if (first === undefined) throw broken()
    if (first !== '' || tap.state === 'done') return { kind: 'stream', target, first, source, tap }
  }
}

const readFrom = (body: ReadableStream<Uint8Array>, tap: Tap, abort: AbortController): Source => {
  const reader = body.getReader()
  const frames = new FrameReader(FRAME_CHARS)
  return {
    abort,
    drain: async () => {
      const timer = setTimeout(() => abort.abort(), LINGER_MS)
      try {
        while (!(await reader.read()).done);
      } catch {
        // Cut: nothing of it was wanted.
      } finally {
        clearTimeout(timer)
      }
    },
    read: async () => {
      try {
        const { done, value } = await reader.read()
        let text = ''
        for (const frame of done ? frames.end() : frames.push(value)) text += tap.see(frame)
        if (done) tap.end?.()
        return done && text === '' ? undefined : text
      } catch (error) {
        if (error instanceof FrameTooLarge) {
          abort.abort()
          throw new GatewayError('upstream_error', 'The provider sent an event that is too large.', { cause: error })
        }
        throw networkError(error, abort)
      }
    },
  }
}

/** A body as text, within a bound. `heard` is called for each piece of one whose length is unknown. */
const readText = async (
  response: Response,
  bytes: number,
  abort: AbortController,
  heard?: () => void,
): Promise<string> => {
  // A compressed body's length says nothing of what it unfolds to.
  const declared = Number(
    response.headers.has('content-encoding') ? Number.NaN : response.headers.get('content-length'),
  )
  try {
    if (declared > 0 && declared <= bytes) return await response.text()
    if (response.body === null) return ''
    const pieces: Uint8Array[] = []
    let size = 0
    for await (const piece of response.body) {
      heard?.()
      size += piece.byteLength
      if (size > bytes) {
        abort.abort()
        throw malformedAnswer()
      }
      pieces.push(piece)
    }
    return new TextDecoder().decode(Buffer.concat(pieces))
  } catch (error) {
    throw networkError(error, abort)
  }
}

const parse = (text: string): JsonObject | undefined => {
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
