// Answers in the form that the client did not ask for, as servers give them that always stream, or never do.

import type { ChatEvent } from '../../ir/event.ts'
import { fold, unfold } from '../../ir/fold.ts'
import type { JsonObject } from '../../ir/json.ts'
import { requireWhole } from '../../ir/whole.ts'
import { type Frame, framesIn } from '../../lib/sse.ts'
import type { Ask, ChatCodec, EventDecoder, PassCodec, Tap, Undo } from '../../wire/codec.ts'
import { textOf } from '../../wire/pass.ts'
import { type Crossing, translateStream } from '../translate.ts'
import { broken } from '../upstream.ts'

/** How an event stream begins, whatever its content type says; no JSON begins so. */
export const EVENT_STREAM = /^\s*(?:data|event|id|retry)?:/

/**
 * The whole answer, on the provider's wire, that the text of its stream comes to. Throws GatewayError, also for half a call:
 * written anew, it could look whole.
 */
export const wholeFromStream = (provider: ChatCodec, text: string, ask: Ask, undo: Undo): JsonObject => {
  const decoder = provider.decodeEvents(undo)
  const events = framesIn(text).flatMap((frame) => decoder.push(frame))
  if (!events.some(({ type }) => type === 'finish')) events.push(...decoder.end())
  const failure = events.find((event): event is Extract<ChatEvent, { type: 'error' }> => event.type === 'error')
  if (failure !== undefined) throw failure.error
  if (!events.some(({ type }) => type === 'finish')) throw broken()
  // Without the provider's own usage the answer has none: the encoder's figures would be billed as if they were final.
  return { ...provider.encodeResponse(requireWhole(fold(events), undo.cap), ask), usage: decoder.rawUsage }
}

/** The same on a wire that is never translated, however many answers they are. */
export const passedFromStream = (
  provider: PassCodec,
  answerOf: (frames: readonly Frame[]) => JsonObject,
  text: string,
  { model, now }: Ask,
): JsonObject => {
  const frames = framesIn(text)
  const tap = provider.tap({ model, now, includeUsage: false, images: Number.POSITIVE_INFINITY })
  for (const frame of frames) tap.see(frame)
  tap.end?.()
  if (tap.state !== 'done') throw tap.error ?? broken()
  const answer = answerOf(frames)
  // Figures that do not hold the last image are not of all of them.
  return tap.summed ? answer : { ...answer, usage: undefined }
}

/**
 * The stream that a whole answer would have been: all of it as one text for the client, and a tap that has seen it. Throws
 * GatewayError for an answer that breaks off.
 */
export const streamFromWhole = (
  body: JsonObject,
  crossing: Crossing,
  onDone?: (text: string) => void,
): { tap: Tap; text: string } => {
  const { provider, undo } = crossing
  const decoder: EventDecoder = {
    push: () => unfold(provider.decodeResponse(body, undo)),
    end: () => [],
    complete: false,
    rawUsage: provider.readUsage(body)?.raw,
    serviceTier: textOf(body.service_tier),
  }
  const tap = translateStream({ ...crossing, provider: { ...provider, decodeEvents: () => decoder } }, onDone)
  const text = tap.see({ data: '' })
  if (tap.state !== 'done') throw tap.error ?? broken()
  return { tap: Object.assign(tap, { answerId: textOf(body.id) }), text }
}
