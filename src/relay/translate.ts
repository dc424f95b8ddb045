// Between two wires: the client's codec and the provider's back to back, as one tap of the stream.

import type { ChatEvent, ChatResponse } from '../ir/event.ts'
import { fold, unfold } from '../ir/fold.ts'
import type { JsonObject } from '../ir/json.ts'
import type { ChatRequest } from '../ir/request.ts'
import { stopAt } from '../ir/stop-at.ts'
import { requireWhole, wholeCalls } from '../ir/whole.ts'
import { withExact } from '../lib/json-exact.ts'
import type { Ask, ChatCodec, EncodedRequest, Tap, Undo } from '../wire/codec.ts'
import { CODECS } from '../wire/index.ts'
import { openNotes } from '../wire/pass.ts'
import { tooDeep } from './client-body.ts'
import type { ClientRequest, Exchange } from './exchange.ts'
import type { Target } from './route.ts'

/** The client's request on the provider's wire. Throws `invalid_request` where it would mean something else there. */
export const encodeFor = (exchange: Exchange, client: ChatCodec, provider: ChatCodec, target: Target): EncodedRequest =>
  encoded(provider, target, () => {
    exchange.request ??= client.decodeRequest(exactBody(exchange))
    return capped(exchange.request, capFor(exchange, target))
  })

/** Throws `invalid_request` for what is nested too deeply, too. */
export const encoded = (provider: ChatCodec, target: Target, request: () => ChatRequest): EncodedRequest => {
  try {
    return provider.encodeRequest(request(), {
      model: target.model.upstream,
      maxOutput: target.model.maxOutput,
      quirks: quirksOf(target),
    })
  } catch (error) {
    throw error instanceof RangeError ? tooDeep(error) : error
  }
}

/** A translated request's text. Half a character, which clients leave that cut texts, is one that stands for any. */
export const written = (body: JsonObject): string => {
  const text = JSON.stringify(body)
  return text.includes('\\ud') ? text.replace(HALVES, (found) => (found === '\\\\' ? found : '\ufffd')) : text
}

/** Whole characters are written as they are; an escaped backslash is looked at so that what follows it is not. */
const HALVES = /\\\\|\\ud[89a-f][0-9a-f]{2}/g

/** A client's whole body, its numbers as exact as it wrote them. */
export const exactBody = ({ body }: ClientRequest): JsonObject => {
  const { text, body: parsed } = body.whole()
  return withExact(text, parsed)
}

/**
 * The cap a target must be given: what the quota leaves, or, of a model that stands in for a smaller one whose client gave
 * no cap, what was set aside for that one.
 */
export const capFor = (exchange: Exchange, target: Target): number | undefined => {
  const { asked, model, reservation, body } = exchange
  if (reservation.outputCap !== undefined) return reservation.outputCap
  return target.model.maxOutput > model.maxOutput && CODECS[asked].outputCap(body.outline) === undefined
    ? model.maxOutput
    : undefined
}

const capped = (request: ChatRequest, cap: number | undefined): ChatRequest =>
  cap === undefined ? request : { ...request, maxOutput: Math.min(cap, request.maxOutput ?? cap) }

/** From this version of the messages API on there are no sampling parameters. */
const NO_SAMPLING_SINCE = '2026-10-21'

/** What the provider and the model speak differently, the model's word last. */
export const quirksOf = ({ provider, model }: Target) => ({
  ...((provider.versionHeader?.value ?? '') >= NO_SAMPLING_SINCE ? { noSampling: true } : {}),
  ...provider.quirks,
  ...model.quirks,
})

/** What the answer's form depends on. What a client may refer to has an id of ours: some servers use one for all. */
export const askOf = (exchange: Exchange, model: string, now: number): Ask => ({
  model,
  body: exchange.asSent.whole().body,
  inputEstimate: exchange.body.inputEstimate,
  now: Math.floor(now / 1000),
  ...(exchange.wire === 'responses' ? { id: exchange.id.replace(/^req_/, '') } : {}),
})

export const translateResponse = (
  body: JsonObject,
  client: ChatCodec,
  provider: ChatCodec,
  ask: Ask,
  undo: Undo,
): JsonObject => {
  const answer = requireWhole(ended(provider.decodeResponse(body, undo), undo))
  return client.encodeResponse(ask.id === undefined ? answer : { ...answer, id: ask.id }, ask)
}

const ended = (answer: ChatResponse, { stop }: Undo): ChatResponse =>
  stop === undefined ? answer : fold(stopAt(stop)(unfold(answer)))

/** Frames of the provider's wire in, text of the client's wire out. `onDone` is given the text that ends the answer. */
export const translateStream = (
  client: ChatCodec,
  provider: ChatCodec,
  ask: Ask,
  undo: Undo,
  onDone?: (text: string) => void,
): Tap => {
  const decoder = provider.decodeEvents(undo)
  const encoder = client.encodeEvents(ask)
  const stopped = stopAt(undo.stop ?? [])
  const whole = wholeCalls()
  const noted = openNotes()
  const isDone = (): boolean => noted.state === 'done'

  /** What the provider has written is billed, told or not. */
  const weigh = (event: ChatEvent): void => {
    if ('text' in event) noted.output.add(event.text)
  }

  const note = (event: ChatEvent): void => {
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

  const tell = (events: ChatEvent[]): string => {
    let text = ''
    events.forEach(weigh)
    for (const event of whole(stopped(events))) {
      note(event)
      // A failure goes out by `fail`, so that every failure of a stream takes one way.
      if (event.type === 'start' && ask.id !== undefined) text += encoder.push({ ...event, id: ask.id })
      else if (event.type !== 'error') text += encoder.push(event)
    }
    noted.rawUsage = decoder.rawUsage
    noted.serviceTier = decoder.serviceTier
    noted.summed = decoder.summed ?? true
    if (isDone()) onDone?.(text)
    return text
  }

  return Object.assign(noted, {
    see: ((frame) => (noted.state === 'open' ? tell(decoder.push(frame)) : '')) satisfies Tap['see'],
    end: (() => (noted.state === 'open' && undo.noDone ? tell(decoder.end()) : '')) satisfies Tap['end'],
    fail: ((why) => encoder.push({ type: 'error', error: why })) satisfies Tap['fail'],
  })
}
