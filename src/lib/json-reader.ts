// Reads large JSON before anything is built of it: whether it keeps the bounds, and where its members and long strings
// stand. By the scanner where the machine has what that takes, else by the survey, which finds the same.

import { OBJECT } from './json-codes.ts'
import { type Scanning, scanPieces } from './json-scanner/pieces.ts'
import { type Read, type Reader, surveyPieces } from './json-survey.ts'
import type { Turns } from './turns.ts'

/** JSON of fewer bytes costs little whatever it is: it need not be read before it is parsed. */
export const READ_BYTES = 32 * 1024

/** How many bytes are read in one turn. */
const TURN_BYTES = 512 * 1024

/** A byte order mark is no part of the text, but what reads a provider's text leaves it out. */
const withoutMark = (bytes: Uint8Array): Uint8Array =>
  bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes

const readerOf = (bytes: Uint8Array, options: Scanning): Reader => {
  const text = withoutMark(bytes)
  return scanPieces(text, options) ?? surveyPieces(text, TURN_BYTES, options.allowed)
}

/** Bytes that are all there, read at once. Throws `TooMuchJson`. */
export const readNow = (bytes: Uint8Array, options: Scanning = {}): Read => readBy(readerOf(bytes, options))

const readBy = (reader: Reader): Read => {
  try {
    while (reader.next());
    return reader.found()
  } finally {
    reader.end()
  }
}

/** The same in turns of the event loop. */
export const readInTurns = async (bytes: Uint8Array, turns: Turns, options: Scanning = {}): Promise<Read> => {
  const reader = readerOf(bytes, options)
  const size = Math.min(bytes.length, TURN_BYTES)
  try {
    while (await turns(size, () => reader.next()));
    return reader.found()
  } finally {
    reader.end()
  }
}

/** Throws `TooMuchJson`. */
export const requireBounds = (text: string): void => {
  if (text.length >= READ_BYTES) readNow(utf8.encode(text))
}
const utf8 = new TextEncoder()

/** Of the text of an object: whether it has any member. */
type ObjectSeen = { readonly isFilled: boolean }

/** Undefined for text that is no JSON object, or holds more than JSON may. Nothing is built of a long one, where there is a scanner. */
export const seenObject = (text: string): ObjectSeen | undefined => {
  try {
    if (text.length < READ_BYTES) return seenIn(JSON.parse(text))
    const bytes = utf8.encode(text)
    const scanned = scanPieces(bytes, { outlined: false })
    if (scanned === undefined) return seenIn(parseBounded(text))
    const { faulty, open, members } = readBy(scanned)
    return faulty || bytes[open] !== OBJECT ? undefined : { isFilled: members.length > 0 }
  } catch {
    return undefined
  }
}

const seenIn = (value: unknown): ObjectSeen | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? { isFilled: Object.keys(value).length > 0 }
    : undefined

/** `JSON.parse` within the bounds. Throws `TooMuchJson` too. */
export const parseBounded = (text: string): unknown => {
  requireBounds(text)
  return JSON.parse(text)
}
