// The audio wire: its codecs, one for what is heard, in its own language or in English, and one for what is spoken.

import type { JsonObject } from '../../ir/json.ts'
import type { PassCodec } from '../codec.ts'
import { isToldError, malformedAnswer, textOf } from '../pass.ts'
import { decodeError } from '../refusal/error-object.ts'
import { sameWire } from '../same-wire.ts'
import { answerOf, framesOf, spoken } from './frames.ts'
import { charactersIn, secondsIn } from './length.ts'
import { speechSchema, transcriptionSchema } from './schema.ts'
import { tap } from './tap.ts'
import { readSpoken, readUsage } from './usage.ts'

const reportedIn = (body: JsonObject) => (isToldError(body.error) ? decodeError(200, body) : undefined)

/** Formats in which a transcript is a text, and nothing tells what it took. */
const TEXTS = new Set<unknown>(['text', 'srt', 'vtt'])

/** Of a second of speech: nobody speaks faster. */
const WRITTEN_PER_SECOND = 4

export const transcriptions = sameWire({
  wire: 'audio',
  requestSchema: transcriptionSchema,
  takesForms: true,
  isStream: ({ stream }) => stream === true,
  isText: ({ response_format: format }) => TEXTS.has(format),
  expects: ({ file }, estimate, { per }) => {
    const seconds = secondsIn(file)
    if (seconds === undefined) return { input: estimate, output: estimate }
    return { input: Math.max(1, Math.ceil(seconds * per.second)), output: Math.ceil(seconds * WRITTEN_PER_SECOND) }
  },
  tap,
  otherForm: { frames: framesOf, answer: answerOf },
  faultIn: (body) => reportedIn(body) ?? (textOf(body.text) === undefined ? malformedAnswer() : undefined),
  readUsage,
})

export const translations: PassCodec = {
  ...transcriptions,
  operation: 'audio/translations',
}

export const speech = sameWire({
  wire: 'audio',
  operation: 'audio/speech',
  requestSchema: speechSchema,
  isStream: () => true,
  isRaw: ({ stream_format: format }) => format !== 'sse',
  ofBytes: spoken,
  expects: ({ stream_format: format }, estimate, { per, whole }) => {
    const text = textOf(whole().input)
    if (text === undefined) return { input: estimate, output: 0 }
    const input = Math.ceil(charactersIn(text) * per.character)
    // Of events the last tells the tokens, which may be fewer.
    return { input, output: 0, ...(format === 'sse' ? {} : { least: input }) }
  },
  tap,
  faultIn: (body) => reportedIn(body) ?? malformedAnswer(),
  readUsage: readSpoken,
})
