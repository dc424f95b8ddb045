// vendor_b's audio: speech that is a tone as long as its text takes to say, and transcripts that tell what they were given.

import { asObject, asText, type Json, type JsonObject } from '../../ir/json.ts'
import { writeFrame } from '../../lib/sse.ts'
import { countTokens } from '../prompt.ts'
import { invalid } from './error.ts'

const RATE = 8_000
const SECONDS_PER_WORD = 0.05

const wordsIn = (text: string): number => text.split(/\s+/).filter(Boolean).length

/** A wave of 16 bits, one channel. */
const waveOf = (text: string): Uint8Array => {
  const samples = Math.ceil(wordsIn(text) * SECONDS_PER_WORD * RATE)
  const wave = Buffer.alloc(44 + samples * 2)
  wave.write('RIFF', 0)
  wave.writeUInt32LE(36 + samples * 2, 4)
  wave.write('WAVEfmt ', 8)
  wave.writeUInt32LE(16, 16)
  wave.writeUInt16LE(1, 20)
  wave.writeUInt16LE(1, 22)
  wave.writeUInt32LE(RATE, 24)
  wave.writeUInt32LE(RATE * 2, 28)
  wave.writeUInt16LE(2, 32)
  wave.writeUInt16LE(16, 34)
  wave.write('data', 36)
  wave.writeUInt32LE(samples * 2, 40)
  for (let at = 0; at < samples; at++) wave.writeInt16LE(Math.round(8_000 * Math.sin(at / 3)), 44 + at * 2)
  return wave
}

export type Spoken = { bytes: Uint8Array; stream: boolean; play: () => Iterable<string> }

/** Throws `VendorError`. */
export const composeSpeech = (asked: JsonObject): Spoken => {
  const text = asText(asked.input)
  for (const name of ['model', 'input', 'voice'])
    if (asked[name] === undefined)
      throw invalid(`Missing required parameter: '${name}'.`, name, 'missing_required_parameter')
  if (text.length > 4096)
    throw invalid(
      "Invalid 'input': string too long. Expected a string with maximum length 4096.",
      'input',
      'string_above_max_length',
    )
  const bytes = waveOf(text)
  const tokens = countTokens(text)
  const heard = Math.ceil((bytes.byteLength - 44) / (RATE * 2) / 0.05)
  function* play(): Generator<string> {
    for (let at = 0; at < bytes.byteLength; at += 4_096)
      yield frame({ type: 'speech.audio.delta', audio: Buffer.from(bytes.subarray(at, at + 4_096)).toString('base64') })
    const usage = { input_tokens: tokens, output_tokens: heard, total_tokens: tokens + heard }
    yield frame({ type: 'speech.audio.done', usage })
  }
  return { bytes, stream: asked.stream_format === 'sse', play }
}

type Transcript = { body: JsonObject | string; stream: boolean; play: () => Iterable<string> }

/** Models of the older kind are billed by the second, and do not stream. */
const isOld = (model: string): boolean => /whisper/i.test(model)

/** Throws `VendorError`. */
export const composeTranscript = (asked: JsonObject, into: string, withUsage: boolean): Transcript => {
  const { bytes } = asObject(asked.file)
  const model = asText(asked.model)
  if (model === '') throw invalid('you must provide a model parameter', null)
  if (typeof bytes !== 'number')
    throw invalid("Missing required parameter: 'file'.", 'file', 'missing_required_parameter')
  const format = asText(asked.response_format) || 'json'
  const seconds = Math.max(1, Math.ceil((bytes - 44) / (RATE * 2)))
  const text = `${into} of ${bytes} bytes${asked.prompt === undefined ? '' : `, told “${asText(asked.prompt)}”`}.`
  const stamp = (mark: string): string =>
    `00:00:00${mark}000 --> 00:00:${String(seconds % 60).padStart(2, '0')}${mark}000`
  switch (format) {
    case 'text':
      return whole(`${text}\n`)
    case 'srt':
      return whole(`1\n${stamp(',')}\n${text}\n`)
    case 'vtt':
      return whole(`WEBVTT\n\n${stamp('.')}\n${text}\n`)
  }
  const heard = seconds * 10
  const said = countTokens(text)
  const figures: JsonObject = isOld(model)
    ? { type: 'duration', seconds }
    : {
        type: 'tokens',
        input_tokens: heard,
        input_token_details: { text_tokens: 0, audio_tokens: heard },
        output_tokens: said,
        total_tokens: heard + said,
      }
  const usage = withUsage ? { usage: figures } : {}
  const segments = [{ id: 0, start: 0, end: seconds, text }]
  const more: JsonObject =
    format === 'verbose_json' ? { task: 'transcribe', language: 'english', duration: seconds, segments } : {}
  function* play(): Generator<string> {
    for (const delta of text.split(/(?= )/)) yield frame({ type: 'transcript.text.delta', delta })
    yield frame({ type: 'transcript.text.done', text, ...usage })
  }
  return { body: { ...more, text, ...usage }, stream: asked.stream === 'true' && !isOld(model), play }
}

const whole = (body: string): Transcript => ({ body, stream: false, play: () => [] })

const frame = (event: JsonObject & { type: Json }): string => writeFrame({ data: JSON.stringify(event) })
