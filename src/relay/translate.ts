// Translation between two wires: the client's codec and the provider's back to back, for streams as one tap.

import { isBlank, withoutBlanks } from '../ir/blank.ts'
import type { ChatEvent, ChatResponse } from '../ir/event.ts'
import { fold, unfold } from '../ir/fold.ts'
import { answerWithFresh, callIdsIn, eventsWithFresh, freshIds } from '../ir/fresh-ids.ts'
import type { JsonObject } from '../ir/json.ts'
import type { AssistantPart } from '../ir/part.ts'
import { placed, placeOf } from '../ir/place.ts'
import type { Quirks } from '../ir/quirks.ts'
import type { ChatRequest } from '../ir/request.ts'
import { stopAt } from '../ir/stop-at.ts'
import { taggedThoughts } from '../ir/tagged-thoughts.ts'
import { needingText, requireText, requireWhole, wholeCalls } from '../ir/whole.ts'
import { asBuffer } from '../lib/as-buffer.ts'
import { collectNewAfter } from '../lib/collect.ts'
import { withExact } from '../lib/json-exact.ts'
import { atOnce, type Steps } from '../lib/steps.ts'
import { wantsSeveral } from '../wire/chat-completions/pass.ts'
import type { Ask, ChatCodec, EncodedRequest, PassCodec, PassEdit, Tap, Undo } from '../wire/codec.ts'
import { CODECS } from '../wire/index.ts'
import { openNotes } from '../wire/pass.ts'
import { asWritten } from '../wire/refusal/member-names.ts'
import { CAPS, mayGo } from '../wire/refusal/wishes.ts'
import { plainSeal } from '../wire/seal.ts'
import { eventsOn, shownOn } from '../wire/turns/drawn.ts'
import { reworded } from './adapt/reworded.ts'
import { boundedEvents, requireBoundedAnswer } from './answer-bounds.ts'
import { tooDeep } from './body-json.ts'
import type { ClientBody } from './client-body.ts'
import type { ClientRequest, Exchange } from './exchange.ts'
import type { Target } from './target.ts'
import { editsWithin, withEdits } from './within.ts'

/** The client's request on the provider's wire. Throws `invalid_request` where it would mean something else there. */
export function* encodeFor(
  exchange: Exchange,
  client: ChatCodec,
  provider: ChatCodec,
  target: Target,
): Steps<EncodedRequest> {
  const within = editsWithin(exchange, target)
  const made = yield* notTooDeep(
    encodedInSteps(provider, target, exchange.body.outline, () => decodedFor(exchange, client, target, within)),
  )
  return within.length === 0 ? made : { ...made, dropped: [...made.dropped, ...lostIn(within)] }
}

function* decodedFor(
  exchange: Exchange,
  client: ChatCodec,
  target: Target,
  within: readonly PassEdit[],
): Steps<ChatRequest> {
  const isOwn = within.length > 0
  const decoded = (isOwn ? undefined : exchange.decoded) ?? (yield* decodedWithin(exchange, client, within))
  if (!isOwn) exchange.decoded = decoded
  yield
  return capped(decoded, capFor(exchange, target))
}

function* decodedWithin(exchange: Exchange, client: ChatCodec, within: readonly PassEdit[]): Steps<ChatRequest> {
  const decoded = yield* client.decodeInSteps(bodyToRead(exchange, within))
  yield
  const { marked, size } = exchange.body
  collectNewAfter(marked?.size ?? size)
  return decoded
}

/** Lists the paths of what it leaves out as `removed`. By the id of a call its provider would find that its thought is missing. */
const withoutReasoning = (request: ChatRequest, removed: string[]): ChatRequest => ({
  ...request,
  turns: request.turns.map((turn) => {
    if (turn.role !== 'assistant') return turn
    const path = placeOf(turn, 'messages')
    for (const part of turn.parts) if (part.type === 'reasoning') removed.push(placeOf(part, path))
    const parts = turn.parts.filter(({ type }) => type !== 'reasoning').map(withoutItemId)
    return placed({ ...turn, parts }, path)
  }),
})

const withoutItemId = (part: AssistantPart): AssistantPart => {
  if (part.type !== 'tool-call' || part.itemId === undefined) return part
  const { itemId: _, ...call } = part
  return placed(call, placeOf(part, ''))
}

/**
 * The request as the target is to get it. `written`: the client's body, or its outline, for what is listed as dropped.
 * Throws `invalid_request`, also for one that is nested too deeply.
 */
export const encoded = (
  provider: ChatCodec,
  target: Target,
  written: JsonObject,
  decode: () => Steps<ChatRequest>,
): EncodedRequest => atOnce(notTooDeep(encodedInSteps(provider, target, written, decode)))

function* encodedInSteps(
  provider: ChatCodec,
  target: Target,
  written: JsonObject,
  decode: () => Steps<ChatRequest>,
): Steps<EncodedRequest> {
  const removed: string[] = []
  const quirks = quirksOf(target)
  const decoded = yield* decode()
  const asked = target.withoutReasoning ? withoutReasoning(decoded, removed) : decoded
  const request = reworded(asked, quirks)
  const { dropped, ...sent } = yield* provider.encodeInSteps(request, {
    model: target.model.upstream,
    maxOutput: target.model.maxOutput,
    quirks,
    blind: !target.model.inputModalities.includes('image'),
    anew: target.anew === true || target.withoutReasoning === true,
  })
  const cap = provider.outputCap(sent.body)
  if (cap !== undefined) sent.undo.cap = cap
  if (quirks.thinksInText !== undefined) sent.undo.thinksInText = quirks.thinksInText
  const taken = callIdsIn(request.turns)
  if (taken !== undefined) sent.undo.taken = taken
  return { ...sent, dropped: [...new Set(dropped.map((path) => asWritten(path, written))), ...removed] }
}

function* notTooDeep<T>(steps: Steps<T>): Steps<T> {
  try {
    return yield* steps
  } catch (error) {
    throw error instanceof RangeError ? tooDeep(error) : error
  }
}

/** The edits of a body that passes. `outputCap`: lower than the client's. */
export const editsFor = (
  codec: PassCodec,
  { outline, whole }: ClientBody,
  target: Target,
  outputCap?: number,
): PassEdit[] => {
  const quirks = passQuirksOf(target, outline)
  const { streams } = quirks
  const { upstream: model } = target.model
  const edits = codec.passEdits(outline, { model, outputCap, quirks, learned: target.learned }, () => whole().body)
  const isOther = codec.operation === undefined && streams !== undefined && streams !== (outline.stream === true)
  return isOther ? [...edits, { path: ['stream'], value: String(streams) }] : edits
}

/** The paths of what the edits take from what the client has asked for. */
export const lostIn = (edits: readonly PassEdit[]): string[] =>
  edits.flatMap(({ lost, path }) => (lost ? [path.join('.')] : []))

/** What requests of another wire have told of members leaves those that this client sent itself. */
export const passQuirksOf = (target: Target, outline: JsonObject): Quirks => {
  const known = quirksOf(target)
  const quirks = known.streams === undefined || mayBeTurned(outline) ? known : asAsked(known)
  if (target.learned?.rejects === undefined || quirks.rejects === undefined) return quirks
  const configured = target.model.quirks?.rejects ?? target.provider.quirks?.rejects
  const rejects = quirks.rejects.filter((path) => configured?.includes(path) || mayGo(path, outline))
  return { ...quirks, rejects }
}

const asAsked = ({ streams: _, ...quirks }: Quirks): Quirks => quirks

/** Whether an answer can be asked for in another form than its client's: the IR holds one, and one in the background is found by its id. */
export const mayBeTurned = (outline: JsonObject): boolean => !wantsSeveral(outline) && outline.background !== true

/** A translated request as JSON text. */
export const toJson = (value: unknown): string => wellFormed(JSON.stringify(value))

const TORN = '\\ud'

/** JSON text in which lone surrogates, from texts cut by clients, are replacement characters. */
export const wellFormed = (text: string): string =>
  text.includes(TORN) ? text.replace(LONE_SURROGATES, (found) => (found === '\\\\' ? found : '\ufffd')) : text

/** Whether JSON may hold lone surrogates. */
export const mayBeTorn = (json: Uint8Array<ArrayBuffer>): boolean => asBuffer(json).includes(TORN)

/** `JSON.stringify` escapes only lone surrogates. An escaped backslash is matched so that `\\ud800` in a text is not. */
const LONE_SURROGATES = /\\\\|\\ud[89a-f][0-9a-f]{2}/g

/** A client's whole body with edits, its numbers with all the digits that it sent. */
export const exactBody = ({ body }: ClientRequest, edits: readonly PassEdit[] = []): JsonObject => {
  const whole = body.whole()
  // To look through the text of a large one takes long.
  return withEdits(whole.plain ? whole.body : withExact(whole.text, whole.body), edits)
}

/** The same for a translation, which most of it goes through unread. */
const bodyToRead = (exchange: Exchange, edits: readonly PassEdit[] = []): JsonObject => {
  const { marked } = exchange.body
  return marked === undefined ? exactBody(exchange, edits) : withEdits(marked.body, edits)
}

/** The output cap a target must be given; undefined where the client's own stands, or its absence. */
export const capFor = (exchange: Exchange, target: Target): number | undefined => {
  return lower(lower(admittedCap(exchange, target), target.outputCap), toldCap(exchange, target))
}

const lower = (one: number | undefined, other: number | undefined): number | undefined =>
  one === undefined || (other !== undefined && other < one) ? other : one

/** The client's name of its cap, where the provider takes a lower one. */
export const lostCap = (exchange: Exchange, target: Target): string[] => {
  const { outline } = exchange.body
  const asked = CODECS[exchange.bodyWire].outputCap(outline)
  const told = asked === undefined ? undefined : lower(target.outputCap, toldCap(exchange, target))
  if (asked === undefined || told === undefined || told >= asked) return []
  return [...CAPS].filter((name) => typeof outline[name] === 'number')
}

/** What the provider has told to be the most, where the client asks for more. */
const toldCap = ({ bodyWire, body }: Exchange, { model, learned }: Target): number | undefined => {
  const most = learned?.mostOutput
  const asked = CODECS[bodyWire].outputCap(body.outline) ?? model.maxOutput
  return most !== undefined && asked > most ? most : undefined
}

/**
 * What the quota leaves is a cap. So is, for a model that stands in, its own maximum where the client asks for more, as the
 * model it asked for may take that; and that model's maximum where the client names none, as no more was reserved.
 */
const admittedCap = ({ bodyWire, model, reservation, body }: Exchange, target: Target): number | undefined => {
  const { outputCap } = reservation
  if (target.model.id === model.id) return outputCap
  const own = target.model.maxOutput
  if (outputCap !== undefined) return Math.min(outputCap, own)
  const written = CODECS[bodyWire].outputCap(body.outline)
  if (written === undefined) return own > model.maxOutput ? model.maxOutput : undefined
  return written > own ? own : undefined
}

const capped = (request: ChatRequest, cap: number | undefined): ChatRequest =>
  cap === undefined ? request : { ...request, maxOutput: Math.min(cap, request.maxOutput ?? cap) }

/** From this version of the messages API on there are no sampling parameters. */
const NO_SAMPLING_SINCE = '2026-10-21'

/** The provider's quirks and the model's, which override them, and what its refusals have told. */
export const quirksOf = ({ provider, model, learned }: Target): Quirks => {
  const known = KNOWN.get(model)
  if (known?.provider === provider && known.learned === learned) return known.quirks
  const quirks: Quirks = {
    ...((provider.versionHeader?.value ?? '') >= NO_SAMPLING_SINCE ? { noSampling: true } : {}),
    ...provider.quirks,
    ...model.quirks,
    ...learned,
  }
  KNOWN.set(model, { provider, learned, quirks })
  return quirks
}

/** Of each model, those of the last target: each request asks for them several times. */
const KNOWN = new WeakMap<Target['model'], Pick<Target, 'provider' | 'learned'> & { quirks: Quirks }>()

/**
 * What the answer's form depends on. Answers of another wire get an id of ours: some servers give all of theirs one id, or
 * none, which clients refer to on one wire, and by which agents tell answers apart on the others.
 * `now`: seconds since the epoch.
 */
export const askOf = (exchange: Exchange, { model, wire }: Target, now: number): Ask => ({
  model: model.id,
  // What a compacted conversation keeps is said again; of any other no answer says what goes through a translation unread.
  body: exchange.codec.ofWholeConversation === true ? exchange.body.whole().body : askedIn(exchange.asSent),
  stored: wire === 'responses' && exchange.bodyWire === 'responses' && exchange.asSent.outline.store !== false,
  inputEstimate: exchange.body.inputEstimate,
  now,
  ...(exchange.wire === wire ? {} : { id: exchange.id.replace(/^req_/, '') }),
})

const askedIn = ({ marked, whole }: ClientBody): JsonObject => marked?.body ?? whole().body

/** What an answer goes through on its way: from the provider's wire, on which `undo` was asked for, to the client's. */
export type Crossing = { client: ChatCodec; provider: ChatCodec; ask: Ask; undo: Undo }

/** `size`: about how many characters of JSON it is. */
export const translateResponse = (
  body: JsonObject,
  { client, provider, ask, undo }: Crossing,
  size = 0,
): JsonObject => {
  requireBoundedAnswer(body, size)
  const read = withTaggedThoughts(provider.decodeResponse(body, undo), provider, undo)
  const named = answerWithFresh(read, freshFor(client, undo))
  const shown = { ...named, parts: named.parts.map((part) => shownOn(client.wire, part)) }
  const decoded = withoutBlankTexts(shown)
  const whole = requireWhole(stopped(decoded, undo), undo.cap)
  const answer = client.needsText?.(ask.body) ? requireText(whole) : whole
  return client.encodeResponse(ask.id === undefined ? answer : { ...answer, id: ask.id }, ask)
}

const freshFor = ({ writtenCallId }: ChatCodec, { taken }: Undo): ReturnType<typeof freshIds> =>
  freshIds(taken ?? [], writtenCallId ?? ((id) => id))

/** Undefined where tags in the texts are to stay. */
const tagsIn = ({ wire }: ChatCodec, { thinksInText }: Undo): ReturnType<typeof taggedThoughts> | undefined =>
  thinksInText === false
    ? undefined
    : taggedThoughts({
        begun: thinksInText === true,
        ...(wire === 'chat-completions' && { seal: plainSeal('content') }),
      })

const withTaggedThoughts = (answer: ChatResponse, provider: ChatCodec, undo: Undo): ChatResponse => {
  const parted = answer.parts.some(({ type }) => type === 'text') ? tagsIn(provider, undo) : undefined
  return parted === undefined ? answer : fold(parted(unfold(answer)))
}

const withoutBlankTexts = (answer: ChatResponse): ChatResponse =>
  answer.parts.some((part) => part.type === 'text' && isBlank(part.text))
    ? fold(withoutBlanks()(unfold(answer)))
    : answer

const stopped = (answer: ChatResponse, { stop }: Undo): ChatResponse =>
  stop === undefined ? answer : fold(stopAt(stop)(unfold(answer)))

/** Of a part only its start may be known yet; a call is one by its name. */
const beginsAnswer = (event: ChatEvent): boolean => {
  if ('text' in event) return event.text !== ''
  return BEGINNINGS.has(event.type)
}
const BEGINNINGS: ReadonlySet<ChatEvent['type']> = new Set(['tool-start', 'opaque', 'citation', 'finish'])

/** Frames of the provider's wire in, text of the client's wire out. `onDone` is given the text that ends the answer. */
export const translateStream = ({ client, provider, ask, undo }: Crossing, onDone?: (text: string) => void): Tap => {
  const { id } = ask
  const decoder = provider.decodeEvents(undo)
  const encoder = client.encodeEvents(ask)
  const cutAtStop = stopAt(undo.stop ?? [])
  const parted = tagsIn(provider, undo) ?? ((events) => events)
  const spaced = withoutBlanks()
  const shown = eventsOn(client.wire)
  const fresh = freshFor(client, undo)
  const whole = wholeCalls(undo.cap)
  const spoken = client.needsText?.(ask.body) ? needingText() : undefined
  const noted = openNotes()
  const exceeds = boundedEvents(client.wire !== 'messages')

  /** All the provider's output is billed, also what is cut off at a stop sequence. */
  const countOutput = (event: ChatEvent): void => {
    if ('text' in event) noted.output.add(event.text)
  }

  const note = (event: ChatEvent): void => {
    noted.begun ||= beginsAnswer(event)
    switch (event.type) {
      case 'start':
      case 'usage':
        noted.usage = { ...noted.usage, ...event.usage }
        break
      case 'finish':
        noted.usage = { ...noted.usage, ...event.usage }
        noted.state = 'done'
        break
      case 'error':
        noted.failed(event.error)
        break
      default:
        break
    }
  }

  const push = (events: ChatEvent[]): string => {
    let text = ''
    events.forEach(countOutput)
    const tooLong = exceeds(events, noted.output.chars)
    if (tooLong !== undefined) return noted.failed(tooLong)
    const made = whole(cutAtStop(spaced(shown(parted(eventsWithFresh(events, fresh))))))
    for (const event of spoken?.(made) ?? made) {
      note(event)
      // Failures are sent by `fail` alone.
      if (event.type === 'start' && id !== undefined) text += encoder.push({ ...event, id })
      else if (event.type !== 'error') text += encoder.push(event)
    }
    noted.rawUsage = decoder.rawUsage
    noted.serviceTier = decoder.serviceTier
    noted.summed = decoder.summed ?? true
    noted.complete = decoder.complete
    noted.serverTools = decoder.serverTools ?? {}
    if (noted.state === 'done') onDone?.(text)
    return text
  }

  return Object.assign(noted, {
    see: ((frame) => (noted.state === 'open' ? push(decoder.push(frame)) : '')) satisfies Tap['see'],
    end: (() => (noted.state === 'open' && decoder.mayEnd ? push(decoder.end()) : '')) satisfies Tap['end'],
    fail: ((why, requestId) => encoder.push({ type: 'error', error: why, requestId })) satisfies Tap['fail'],
  })
}
