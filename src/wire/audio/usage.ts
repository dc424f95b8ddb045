// Usage of the audio wire: in tokens, or in seconds, which count for as many tokens as the model says.

import { asObject, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { count, inCharge, inKinds, TOKENS_PER, type TokensPer, type Usage } from '../../ir/usage.ts'

export type Told = { usage: Usage; raw: JsonObject }

/** Of an answer, or of the event that ends one. Older servers tell the length of the sound and nothing else. */
export const readUsage = ({ usage: raw, duration }: JsonObject, per = TOKENS_PER): Told | undefined => {
  if (!isObject(raw)) return told(duration, per, { type: 'duration', seconds: secondsOf(duration) ?? null })
  // Seconds of its own are what a vendor bills that tells tokens, too.
  if (secondsOf(raw.prompt_audio_seconds) !== undefined) return told(raw.prompt_audio_seconds, per, raw)
  const output = count(raw.output_tokens ?? raw.completion_tokens)
  const total = count(raw.total_tokens)
  // What was heard may be counted beside the prompt's own tokens, and only in the total.
  const input =
    total !== undefined && total >= (output ?? 0) ? total - (output ?? 0) : count(raw.input_tokens ?? raw.prompt_tokens)
  if (input !== undefined) {
    const details = asObject(raw.input_token_details ?? raw.input_tokens_details ?? raw.prompt_tokens_details)
    return { usage: inCharge(inKinds({ input, output: output ?? 0 }, details, {}), raw), raw }
  }
  return told(raw.seconds ?? raw.duration ?? duration, per, raw)
}

/** The same of speech: all that comes out is sound. */
export const readSpoken = (body: JsonObject, per?: TokensPer): Told | undefined => {
  const read = readUsage(body, per)
  return read && { ...read, usage: { ...read.usage, audioOutput: read.usage.output ?? 0 } }
}

const told = (length: Json | undefined, per: TokensPer, raw: JsonObject): Told | undefined => {
  const seconds = secondsOf(length)
  return seconds === undefined
    ? undefined
    : { usage: inCharge({ input: Math.ceil(seconds * per.second), output: 0 }, raw), raw }
}

/** More than any recording. */
const MOST_SECONDS = 1e7

const secondsOf = (length: Json | undefined): number | undefined => {
  const seconds = typeof length === 'string' && length.trim() !== '' ? Number(length) : length
  return typeof seconds === 'number' && seconds >= 0 && seconds <= MOST_SECONDS ? seconds : undefined
}
