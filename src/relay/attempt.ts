// One try at one target: the request on the provider's wire, its answer checked and made ready for the client.

import { GatewayError } from '../errors.ts'
import { type JsonObject, parseObject } from '../ir/json.ts'
import type { Usage } from '../ir/usage.ts'
import { withExact } from '../lib/json-exact.ts'
import { FrameReader, FrameTooLarge } from '../lib/sse.ts'
import { endpoint } from '../provider/endpoint.ts'
import { includeUsage } from '../wire/chat-completions/pass.ts'
import type { ChatCodec, PassCodec, Tap, Undo } from '../wire/codec.ts'
import { CODECS, chatCodec } from '../wire/index.ts'
import { malformedAnswer } from '../wire/pass.ts'
import { answerIn, rememberable } from '../wire/responses/references.ts'
import { ANSWER_BYTES, ERROR_BYTES, readText, renamed } from './answer-text.ts'
import { type Call, call } from './call.ts'
import type { Exchange, Relay } from './exchange.ts'
import { imagesAsked } from './meter.ts'
import type { Target } from './route.ts'
import { askOf, capFor, encodeFor, quirksOf, translateResponse, translateStream, written } from './translate.ts'
import { broken, networkError } from './upstream.ts'

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

/** How long a provider may take to end a stream whose last word it has said. */
const LINGER_MS = 1_000
/** The largest single event of a stream. */
const FRAME_CHARS = 64 * 1024 * 1024

/** How the request goes out to this target, and how what comes back is read. */
type Plan = { body: string | Uint8Array<ArrayBuffer>; undo: Undo | undefined }

/** All that the reading of an answer needs. */
type Reading = Call<Exchange> & { plan: Plan }

/** Throws GatewayError; one whose `failover` is true may be tried elsewhere. */
export const attempt = async (
  relay: Relay,
  exchange: Exchange,
  target: Target,
  abort: AbortController,
): Promise<Answer> => {
  const codec = CODECS[target.wire]
  const plan = planFor(exchange, target, codec)
  const reading: Reading = { relay, request: exchange, target, codec, plan, abort }
  const outgoing = { url: endpoint(target.account, target.wire), body: plan.body }
  return call<Answer>(reading, outgoing, (response, heard) =>
    exchange.stream ? openStream(reading, response) : readAnswer(reading, response, heard),
  )
}

const planFor = (exchange: Exchange, target: Target, codec: PassCodec): Plan => {
  if (passes(exchange, target)) {
    const quirks = quirksOf(target)
    // Ids that are cut to their beginnings would be taken for one.
    const seen = quirks.shortCallIds ? exchange.body.whole().body : exchange.body.outline
    const edits = codec.passEdits(seen, {
      model: target.model.upstream,
      outputCap: capFor(exchange, target),
      quirks,
    })
    exchange.dropped = codec.refusedIn?.(seen, quirks).map((path) => path.join('.')) ?? []
    return { body: exchange.body.edited(edits), undo: undefined }
  }
  const encoded = encodeFor(exchange, chatCodec(exchange.asked), chatCodec(target.wire), target)
  exchange.dropped = encoded.dropped
  return { body: written(encoded.body), undo: encoded.undo }
}

/** What is said in the words of the provider's wire goes out as it came. */
const passes = ({ wire, asked, codec, body }: Exchange, target: Target): boolean =>
  target.wire === wire && asked === wire && codec.borrows?.(body.outline) !== true

const readAnswer = async (reading: Reading, response: Response, heard: () => void): Promise<JsonAnswer> => {
  const { relay, request: exchange, target, codec, plan, abort } = reading
  const text = await readText(response, ANSWER_BYTES, abort, heard)
  const body = parseObject(text)
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
  if (translated !== undefined) remember(reading, () => translated)
  const shown = translated === undefined ? renamed(text, body, target.model.id) : JSON.stringify(translated)
  return { kind: 'json', target, text: shown, usage: read?.usage, rawUsage: read?.raw, body }
}

/** What was made of an answer from another wire, only the gateway can say when the client refers to it later. */
const remember = ({ relay, request: exchange }: Reading, answer: () => JsonObject | undefined): void => {
  const { body, asSent } = exchange
  if (exchange.wire !== 'responses' || asSent.outline.store === false) return
  const made = answer()
  const { text, body: resolved } = body.whole()
  const kept = made === undefined ? undefined : rememberable(asSent.whole().body, resolved, made)
  if (kept === undefined) return
  relay.recall.keep(exchange.key.id, kept, text.length + JSON.stringify(kept.output).length)
}

const openStream = (reading: Reading, response: Response): Promise<StreamAnswer> => {
  const { relay, request: exchange, target, codec, plan, abort } = reading
  const now = relay.clock.now()
  const tap =
    plan.undo === undefined
      ? codec.tap({
          model: target.model.id,
          includeUsage: includeUsage(exchange.body.outline),
          images: imagesAsked(exchange.body.outline),
          noDone: quirksOf(target).noDone === true,
          now: Math.floor(now / 1000),
        })
      : translateStream(
          chatCodec(exchange.wire),
          codec as ChatCodec,
          askOf(exchange, target.model.id, now),
          plan.undo,
          (text) => remember(reading, () => answerIn(text)),
        )
  return firstWords(response, { target, codec, abort }, tap)
}

/** Reads a stream to its first word for the client. Throws GatewayError for one that fails before it. */
export const firstWords = async (
  response: Response,
  { target, codec, abort }: Pick<Call, 'target' | 'codec' | 'abort'>,
  tap: Tap,
): Promise<StreamAnswer> => {
  const type = response.headers.get('content-type') ?? ''
  if (response.body === null) throw broken()
  let stream = response.body
  if (type.includes('json') || type.includes('html')) {
    const opened = await opening(stream, abort)
    stream = opened.stream
    if (!SSE.test(opened.text)) {
      const body = parseObject(await readText(new Response(stream), ERROR_BYTES, abort))
      throw (body === undefined ? undefined : codec.faultIn(body)) ?? malformedAnswer()
    }
  }
  const source = readFrom(stream, tap, abort)
  for (;;) {
    const first = await source.read()
    if (tap.state === 'failed' && (first === undefined || first === '')) throw tap.error ?? broken()
    if (first === undefined) throw broken()
    if (first !== '' || tap.state === 'done') return { kind: 'stream', target, first, source, tap }
  }
}

/** How a stream begins, whatever its server calls it: no JSON does. */
const SSE = /^\s*(?:data|event|id|retry)?:/

/** The first bytes of a body as text, and all of it. */
const opening = async (body: ReadableStream<Uint8Array>, abort: AbortController) => {
  const reader = body.getReader()
  const { value } = await reader.read().catch((error) => {
    throw networkError(error, abort)
  })
  const stream = new ReadableStream<Uint8Array>({
    start: (to) => {
      if (value !== undefined) to.enqueue(value)
    },
    pull: async (to) => {
      const next = await reader.read()
      if (next.done) to.close()
      else to.enqueue(next.value)
    },
    cancel: (reason) => reader.cancel(reason),
  })
  return { text: new TextDecoder().decode(value), stream }
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
        if (done) text += tap.end?.() ?? ''
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
