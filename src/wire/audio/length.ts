// How long what is to be read or heard is, before its provider has said: seconds of sound, characters of text.

import { isObject, type Json } from '../../ir/json.ts'

/** Bytes a second of compressed speech, as recorders and browsers write it. */
const COMPRESSED = 8_000
/** What the header of a wave may say: more, or less, is no sound that anyone transcribes. */
const LEAST = 1_000
const MOST = 400_000

/** Seconds of the files in a form's member; undefined for what is no file. */
export const secondsIn = (given: Json | undefined): number | undefined => {
  const files = (Array.isArray(given) ? given : [given]).filter(isObject)
  if (files.length === 0) return undefined
  return files.reduce((sum, { bytes, opening }) => {
    if (typeof bytes !== 'number' || typeof opening !== 'string') return sum
    return sum + bytes / bytesPerSecond(opening)
  }, 0)
}

/** By the header of a wave, which alone tells. */
const bytesPerSecond = (opening: string): number => {
  if (!opening.startsWith('RIFF') || opening.slice(8, 16) !== 'WAVEfmt ') return COMPRESSED
  const rate = Buffer.from(opening, 'latin1')
  return rate.byteLength < 32 ? COMPRESSED : Math.min(MOST, Math.max(LEAST, rate.readUInt32LE(28)))
}

/** As vendors count them: a character beyond the first plane is one. */
export const charactersIn = (text: string): number => {
  let pairs = 0
  for (let at = 0; at < text.length; at++) {
    const unit = text.charCodeAt(at)
    if (unit >= 0xd800 && unit < 0xdc00) pairs++
  }
  return text.length - pairs
}
