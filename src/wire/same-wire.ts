// What codecs have in common whose requests only pass: to providers of vendor_b's kind, with its errors and its envelope.

import { envelope } from '../errors.ts'
import { isObject, type JsonObject } from '../ir/json.ts'
import { count, disjoint, inCharge, type Usage } from '../ir/usage.ts'
import type { PassCodec, Tap } from './codec.ts'
import {
  errorFrame,
  KEEP_ALIVE,
  malformedAnswer,
  modelEdit,
  openNotes,
  refusedMembers,
  withoutRefused,
} from './pass.ts'
import { decodeError } from './refusal/error-object.ts'

type Own = Pick<PassCodec, 'wire' | 'requestSchema' | 'faultIn' | 'readUsage'> & Partial<PassCodec>

export const sameWire = (own: Own): PassCodec => ({
  passEdits: (body, options) =>
    withoutRefused([modelEdit(options)], refusedMembers(body, options.quirks), options.quirks, body),
  outputCap: () => undefined,
  isStream: () => false,
  tap: neverStreams,
  decodeError,
  encodeError: envelope,
  keepAlive: KEEP_ALIVE,
  ...own,
})

/** Of an answer that is no stream, and so has no frames. */
const neverStreams = (): Tap => {
  const noted = openNotes()
  return Object.assign(noted, { see: () => noted.failed(malformedAnswer()), fail: errorFrame })
}

/** Figures of an answer that is made of no tokens: all that is billed is the input. */
export const inputOnly = ({ usage: raw }: JsonObject): { usage: Usage; raw: JsonObject } | undefined => {
  if (!isObject(raw)) return undefined
  const prompt = count(raw.prompt_tokens ?? raw.input_tokens ?? raw.total_tokens)
  if (prompt === undefined) return undefined
  const details = isObject(raw.prompt_tokens_details) ? raw.prompt_tokens_details : {}
  const usage = disjoint({ prompt, cacheRead: count(details.cached_tokens) })
  return { usage: inCharge({ ...usage, output: 0 }, raw), raw }
}
