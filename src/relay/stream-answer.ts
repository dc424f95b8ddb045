// A stream, opened and read up to its first output for the client: passed, translated, of bytes, or made of a whole answer that
// came in its place.

import { type JsonObject, parseObject } from '../ir/json.ts'
import { withExact } from '../lib/json-exact.ts'
import { type Frame, writeFrame } from '../lib/sse.ts'
import { includeUsage, wantsSeveral } from '../wire/chat-completions/pass.ts'
import type { PassCodec, Tap } from '../wire/codec.ts'
import { malformedAnswer } from '../wire/pass.ts'
import { asksCompaction } from '../wire/responses/compaction.ts'
import { answerIn } from '../wire/responses/references.ts'
import { streamFromWhole } from './adapt/other-form.ts'
import { imagesAsked } from './adapt/pictures.ts'
import { requireBoundedAnswer } from './answer-bounds.ts'
import { ANSWER_BYTES, answerBody, ERROR_BYTES, readText } from './answer-text.ts'
import type { Call } from './call.ts'
import { bytesHeard, heardBy } from './capture.ts'
import { secondsOf } from './exchange.ts'
import {
  crossing,
  faultListed,
  hasOtherForm,
  hearAll,
  keeperOf,
  type Read,
  type Reading,
  type StreamAnswer,
} from './reading.ts'
import {
  beginning,
  endedSource,
  type HeldSource,
  joined,
  type Reader,
  rawTap,
  readBytes,
  readFrom,
  type Unread,
} from './source.ts'
import { quirksOf, translateStream } from './translate.ts'
import { broken } from './upstream.ts'

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

export const openStream: Read<StreamAnswer> = async (reading, response, heard) => {
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
  const { ofBytes } = codec
  const isSound = ofBytes !== undefined && SOUND.test(response.headers.get('content-type') ?? '')
  const events = isSound ? await asEvents(response, ofBytes, abort) : response
  return readToFirstOutput(events, { relay, target, codec, abort, unread, ...holding }, tap, fromWhole)
}

const SOUND = /^\s*(?:audio|video)\//i

/** An event of each piece of a body, and the last. */
const asEvents = async (
  response: Response,
  { piece, end }: NonNullable<PassCodec['ofBytes']>,
  abort: AbortController,
): Promise<Response> => {
  const reader = await soundIn(response, abort)
  const written = (frame: Frame): Uint8Array<ArrayBuffer> => utf8.encode(writeFrame(frame))
  const pull = async (to: ReadableStreamDefaultController<Uint8Array<ArrayBuffer>>): Promise<void> => {
    const { done, value } = await reader.read()
    if (done) {
      to.enqueue(written(end))
      to.close()
    } else if (value.byteLength > 0) to.enqueue(written(piece(value)))
    else await pull(to)
  }
  return new Response(new ReadableStream({ pull, cancel: (reason) => reader.cancel(reason) }))
}

const utf8 = new TextEncoder()

/** Sound may begin like anything, also like what is compressed: it is unpacked where its headers say so, and nowhere else. */
const soundIn = async (response: Response, abort: AbortController): Promise<Reader> => {
  const isPacked = response.headers.has('content-encoding')
  const reader = isPacked ? await answerBody(response, abort) : (response.body?.getReader() ?? null)
  if (reader === null) throw broken()
  return reader
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
  const reader = await soundIn(response, abort)
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
