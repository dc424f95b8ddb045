// A line of JSON that is too long to be read whole: its long strings are put aside as its bytes come, neither decoded nor
// parsed, and a mark stands for all but the beginning of each.

import { BACKSLASH, ESCAPED_BYTES, onBorder, pastEscape, QUOTE } from './json-codes.ts'

const CR = 13
const LF = 10

/** Where long strings are put. */
export type Aside = {
  /** How many characters of one event may be read all the same. */
  readonly mostRead: number
  /** Whether a string that begins so, behind its quote, is put aside. */
  takes(beginning: string, string: readonly Buffer[]): boolean
  /** What stands for its rest. */
  put(rest: readonly Uint8Array[]): string
}

/** A line is read so from this length on. */
export const LONG_LINE_CHARS = 1024 * 1024
/** Shorter strings are read. */
const LEAST_BYTES = 64 * 1024
/** The beginning of a string, which says what it is. */
const KEPT_BYTES = 4 * 1024

export class LongLine {
  readonly #aside: Aside
  /** What has been read, without the string that is open. */
  #text = ''
  /** The string that is open, behind its quote. */
  #string: Buffer[] | undefined
  #stringBytes = 0
  #put = 0
  #read = 0
  /** Whether it ends in the beginning of an escape, as far as it has come. */
  #escaping = false

  constructor(aside: Aside) {
    this.#aside = aside
  }

  /** How many bytes of it have been put aside. */
  get put(): number {
    return this.#put
  }

  /** About how many characters of it are read, whether they are held as text yet or not. */
  get read(): number {
    return this.#read
  }

  /** How many bytes the string has that is open. */
  get open(): number {
    return this.#stringBytes
  }

  /** The text so far, a string that is open at its end included: what is no JSON is put nowhere. Not asked for where it is too long. */
  get text(): string {
    return this.#text + decoded(this.#string ?? [])
  }

  /** Where in the chunk the line ends; -1 where it goes on. */
  push(chunk: Uint8Array): number {
    const all = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)
    const end = lineEndIn(all)
    const line = end === -1 ? all : all.subarray(0, end)
    // Up to where it has been taken. What has many short strings is taken as it stands.
    let from = 0
    for (let at = 0; at < line.length; ) {
      if (this.#string === undefined) {
        const quote = line.indexOf(QUOTE, at)
        if (quote === -1) break
        at = quote + 1
        this.#string = []
      }
      const close = this.#stringEnd(line, at)
      const until = close === -1 ? line.length : close
      const isWhole = close !== -1 && this.#string.length === 0
      if (!isWhole || until - at >= LEAST_BYTES) {
        if (from < at) this.#take(line.toString('utf8', from, at), at - from)
        this.#string.push(line.subarray(at, until))
        this.#stringBytes += until - at
        from = until
        if (close !== -1) this.#close(this.#string)
      }
      if (close === -1) break
      this.#string = undefined
      at = close + 1
    }
    if (from < line.length) this.#take(line.toString('utf8', from), line.length - from)
    return end
  }

  /** What is too long to be read is not held either. */
  #take(text: string, bytes: number): void {
    this.#read += bytes
    if (this.#read <= this.#aside.mostRead) this.#text += text
  }

  /** Where the quote stands that ends it; -1 where it goes on. */
  #stringEnd(line: Buffer, at: number): number {
    for (let from = at; ; ) {
      const quote = line.indexOf(QUOTE, from)
      const until = quote === -1 ? line.length : quote
      const isEscaped = this.#isEscaped(line, at, until)
      if (quote === -1 || !isEscaped) {
        this.#escaping = isEscaped
        return quote
      }
      from = quote + 1
      if (from < line.length) continue
      this.#escaping = false
      return -1
    }
  }

  /** Whether a backslash before it stands for no backslash. */
  #isEscaped(line: Buffer, at: number, until: number): boolean {
    let back = until
    while (back > at && line[back - 1] === BACKSLASH) back--
    const isOdd = (until - back) % 2 === 1
    return back === at && this.#escaping ? !isOdd : isOdd
  }

  /** Of the string that is open, up to its quote. */
  #close(string: readonly Buffer[]): void {
    const bytes = this.#stringBytes
    this.#stringBytes = 0
    if (bytes < LEAST_BYTES || !this.#putAside(string, bytes))
      this.#take(this.#read + bytes > this.#aside.mostRead ? '' : decoded(string), bytes)
  }

  /** Whether the string is taken. */
  #putAside(string: readonly Buffer[], bytes: number): boolean {
    const begins = Buffer.concat(string, KEPT_BYTES)
    const kept = wholeUntil(begins, KEPT_BYTES - 2 * ESCAPED_BYTES)
    const beginning = begins.toString('utf8', 0, kept)
    if (!this.#aside.takes(beginning, string)) return false
    this.#put += bytes - kept
    this.#take(beginning + this.#aside.put(behind(string, kept)), kept)
    return true
  }
}

/** About `end`, on a border of characters: in no escape, nor between the two that make one character. */
const wholeUntil = (json: Buffer, end: number): number => {
  let at = 0
  while (at < end) {
    const next = json.indexOf(BACKSLASH, at)
    if (next === -1 || next >= end) return onBorder(json, at, end)
    at = pastEscape(json, next)
    if (FIRST_HALF.test(json.toString('latin1', next, at)) && json[at] === BACKSLASH) at = pastEscape(json, at)
  }
  return at
}
const FIRST_HALF = /^\\ud[89ab]/i

const decoded = (pieces: readonly Uint8Array[]): string =>
  pieces.length === 0 ? '' : Buffer.concat(pieces).toString('utf8')

const behind = (pieces: readonly Uint8Array[], bytes: number): Uint8Array[] => {
  let left = bytes
  return pieces.flatMap((piece) => {
    const rest = piece.subarray(Math.min(left, piece.byteLength))
    left -= piece.byteLength - rest.byteLength
    return rest.byteLength === 0 ? [] : [rest]
  })
}

/** Up to where the characters are whole. */
export const wholeCharacters = (bytes: Uint8Array): number => {
  for (let back = 1; back < MOST_BYTES && back <= bytes.byteLength; back++) {
    const at = bytes.byteLength - back
    const byte = bytes[at] ?? 0
    if (byte >= FIRST_OF_SEVERAL) return back < bytesFrom(byte) ? at : bytes.byteLength
    if (byte < FIRST_BEYOND_ASCII) break
  }
  return bytes.byteLength
}

/** Of a character in UTF-8. */
const MOST_BYTES = 4
const FIRST_BEYOND_ASCII = 0x80
const FIRST_OF_SEVERAL = 0xc0
const bytesFrom = (first: number): number => (first < 0xe0 ? 2 : first < 0xf0 ? 3 : MOST_BYTES)

const lineEndIn = (chunk: Buffer): number => {
  const [lf, cr] = [chunk.indexOf(LF), chunk.indexOf(CR)]
  return lf === -1 || cr === -1 ? Math.max(lf, cr) : Math.min(lf, cr)
}
