// How much an answer may say that is translated: several times what any model writes in one. To make more of it another
// wire's would hold up everyone else.

import { GatewayError } from '../errors.ts'
import type { ChatEvent } from '../ir/event.ts'
import { asList, asObject, type Json, type JsonObject } from '../ir/json.ts'
import type { Logprob } from '../ir/part.ts'
import type { Wire } from '../ir/wire.ts'
import type { Allowance } from '../lib/json-survey.ts'
import { sniffMediaType } from '../wire/turns/data-url.ts'

export const ANSWER_BOUNDS = {
  /** Of texts, thoughts and calls: a million tokens. */
  chars: 4 * 1024 * 1024,
  /** Texts, thoughts, calls and citations. */
  parts: 4_096,
  /** Bytes of the pictures of a stream, which are held until it ends: as many as of a whole answer. */
  pictures: 256 * 1024 * 1024,
} as const

/** As many texts as vendors take at once, 2,048, of 3,072 numbers each. */
const EMBEDDINGS: Allowance = { values: 8_000_000 }

/**
 * Of 16,000 tokens, each with twenty others beside it: an object with a list of bytes for every one. Objects of one form are
 * parsed ten times as fast as others.
 */
const LIKELIHOODS: Allowance = { containers: 750_000, values: 3_000_000 }

/** What a whole answer to this request may hold beyond the bounds of all JSON. */
export const allowanceOf = (
  wire: Wire,
  { logprobs, top_logprobs: others, include }: JsonObject,
): Allowance | undefined => {
  if (wire === 'embeddings') return EMBEDDINGS
  const isAsked = logprobs === true || typeof others === 'number' || asList(include).includes(INCLUDED)
  return isAsked ? LIKELIHOODS : undefined
}
const INCLUDED = 'message.output_text.logprobs'

const tooLong = (): GatewayError =>
  new GatewayError(
    'upstream_error',
    'Server error: the provider sent an answer that is too long to be translated. Ask for a shorter one.',
  )

/** Whether a long string is a picture: by how its data begins, in an address or alone. */
export const isPicture = (beginning: string): boolean =>
  DATA_OF_PICTURE.test(beginning) || sniffMediaType(beginning)?.startsWith('image/') === true
const DATA_OF_PICTURE = /^data:image\/[\w.+-]+;base64,/i

/** Throws `upstream_error` for more bytes of JSON than are read at once, beside pictures. */
export const requireReadableAnswer = (bytes: number): void => {
  if (bytes > ANSWER_BOUNDS.chars) throw tooLong()
}

/** Throws `upstream_error` for a whole answer that says more. `size`: about how many characters of JSON it is. */
export const requireBoundedAnswer = (body: JsonObject, size: number): void => {
  if (partsOf(body) > ANSWER_BOUNDS.parts || (size > ANSWER_BOUNDS.chars && charsOf(body) > ANSWER_BOUNDS.chars))
    throw tooLong()
}

/** On whichever wire; a text counts beside its links. */
const partsOf = ({ content, output, choices }: JsonObject): number =>
  [...asList(content), ...asList(output), ...asList(choices).map((choice) => asObject(choice).message)].reduce<number>(
    (sum, piece) => sum + 1 + partsWithin(piece),
    0,
  )

const partsWithin = (piece: Json | undefined): number => {
  const { content, summary, tool_calls: calls, annotations, citations } = asObject(piece)
  const texts = [...asList(content), ...asList(summary)]
  const others = [calls, annotations, citations].reduce<number>((sum, list) => sum + asList(list).length, 0)
  return texts.reduce<number>((sum, text) => sum + 1 + asList(asObject(text).annotations).length, others)
}

/** Of its strings that are no pictures. */
const charsOf = (body: JsonObject): number => {
  let sum = 0
  const left: Json[] = [body]
  for (let value = left.pop(); value !== undefined; value = left.pop()) {
    if (typeof value === 'string') sum += value.length >= LEAST_OF_PICTURE && isPicture(value) ? 0 : value.length
    else if (typeof value === 'object' && value !== null)
      for (const one of Object.values(value)) if (one !== undefined) left.push(one)
  }
  return sum
}
const LEAST_OF_PICTURE = 4 * 1024

const PARTS: ReadonlySet<ChatEvent['type']> = new Set([
  'text-start',
  'refusal-start',
  'reasoning-start',
  'tool-start',
  'citation',
  'opaque',
])

/** Whether the events of a stream come to more; `chars`: of all texts so far. `likely`: its client is told how likely each token was. */
export const boundedEvents = (
  likely: boolean,
): ((events: readonly ChatEvent[], chars: number) => GatewayError | undefined) => {
  let parts = 0
  let beside = 0
  return (events, chars) => {
    for (const event of events) {
      if (PARTS.has(event.type)) parts++
      if (likely && event.type === 'text-delta' && event.logprobs !== undefined)
        beside += charsOfLikelihoods(event.logprobs)
    }
    return parts > ANSWER_BOUNDS.parts || chars + beside > ANSWER_BOUNDS.chars ? tooLong() : undefined
  }
}

/** About how many characters of JSON they are, as of a whole answer. */
const charsOfLikelihoods = (all: readonly Logprob[]): number =>
  all.reduce((sum, { top = [] }) => sum + (1 + top.length) * LIKELIHOOD_CHARS, 0)
const LIKELIHOOD_CHARS = 64
