// Long strings of JSON that are passed over: a mark stands for all but the beginning of each while the rest is parsed and
// written in another form, and their bytes go on as they are, neither decoded nor written again.

import { isAscii } from 'node:buffer'
import { asBuffer } from './as-buffer.ts'
import { BACKSLASH, COLON, isInCharacter, onBorder, pastEscape, QUOTE, SPACE } from './json-codes.ts'
import { BEGINS, EDGE, markIn, markOf, numberIn } from './json-mark.ts'
import { free } from './memory.ts'
import { Pieces } from './pieces.ts'
import type { Steps } from './steps.ts'

const HEAD = Buffer.from(BEGINS)

/** For a value that is known. */
const NULL = 'null'

/** Shorter strings are read sooner than they are marked. */
export const MARKED_BYTES = 512

export type Marked = {
  /** The JSON text, with marks. To be asked for once: it is not kept. */
  text(): string
  /** About how long it is. */
  readonly size: number
  /** How many there are. */
  readonly count: number
  /** Which mark a string ends in; undefined for one without. */
  markIn(text: string): number | undefined
  /** Where the string that a mark is of stands, up to where it is kept, and how many bytes the mark hides in place of its own. */
  placeOf(which: number): {
    readonly start: number
    readonly kept: number
    readonly end: number
    readonly hidden: number
  }
  /** The string that a mark is of, whole: a long one in steps. */
  whole(which: number): Steps<string>
  /** JSON written since with the hidden bytes in place of the marks; undefined where one has not come through whole. */
  written(json: Uint8Array<ArrayBuffer>): Pieces | undefined
}

/** Where a value stands. */
type Span = { readonly start: number; readonly end: number }

/**
 * The bytes must be JSON in UTF-8. `cut`: its long strings, as a reader notes them. `known`: a value that need not be read, a list;
 * a null stands for it. Undefined where there are none to mark, or what a mark begins with is among it. One that may hold half
 * of a character is not marked: it may not go on as it is.
 */
export const markLong = (bytes: Uint8Array<ArrayBuffer>, cut: ArrayLike<number>, known?: Span): Marked | undefined => {
  const all = asBuffer(bytes)
  const spans = longIn(all, cut, known)
  const count = spans.length / 3
  if (count === 0 || all.includes(EDGE)) return undefined
  const marks = Array.from({ length: count }, (_, which) =>
    markOf(which, (spans[which * 3 + 2] as number) - (spans[which * 3 + 1] as number)),
  )
  const placeOf = (which: number): ReturnType<Marked['placeOf']> => {
    const start = spans[which * 3] as number
    const kept = spans[which * 3 + 1] as number
    const end = spans[which * 3 + 2] as number
    return { start, kept, end, hidden: end - kept - (marks[which]?.length ?? 0) }
  }
  // A mark is shorter than what it stands for.
  const short = Buffer.allocUnsafe(bytes.length + NULL.length)
  let from = 0
  let to = 0
  const put = (until: number, text: string, past: number): void => {
    to += all.copy(short, to, from, until)
    to += short.write(text, to, 'latin1')
    from = past
  }
  let isPast = known === undefined
  for (let which = 0; which < count; which++) {
    const kept = spans[which * 3 + 1] as number
    if (known !== undefined && !isPast && kept > known.start) {
      put(known.start, NULL, known.end)
      isPast = true
    }
    put(kept, marks[which] as string, spans[which * 3 + 2] as number)
  }
  if (known !== undefined && !isPast) put(known.start, NULL, known.end)
  to += all.copy(short, to, from)
  return {
    text: () => {
      const made = short.subarray(0, to)
      const text = decoded(made)
      free(short)
      return text
    },
    size: to,
    count,
    markIn: (text) => markIn(text, count),
    placeOf,
    whole: (which) => stringAt(all, spans[which * 3] as number, spans[which * 3 + 2] as number),
    written: (json) => written(json, count, (which) => [all.subarray(spans[which * 3 + 1], spans[which * 3 + 2])]),
  }
}

/** Without a search for characters of several bytes where there is none. */
const decoded = (text: Buffer): string => text.toString(isAscii(text) ? 'latin1' : 'utf8')

/** A string is decoded in one step, and its escapes are read in another, where it has more bytes. */
const STEP_BYTES = 1024 * 1024

function* stringAt(all: Buffer, start: number, end: number): Steps<string> {
  const isPlain = !all.subarray(start, end).includes(BACKSLASH)
  const json = isPlain ? all.subarray(start, end) : all.subarray(start - 1, end + 1)
  const text = decoded(json)
  if (isPlain) return text
  if (json.length > STEP_BYTES) yield
  return JSON.parse(text)
}

/** How a character of two halves begins where it is escaped; either may stand alone. */
const HALVES = ['\\ud', '\\uD']
/** In a longer text it is not looked for whether one does. */
const LOOKED_THROUGH_BYTES = 64 * 1024
/** An escape: a whole character, a half that stands alone, or any other. */
const ESCAPE = /\\(?:ud[89ab]..\\ud[c-f]..|(ud[89a-f])|.)/gi

const mayHoldHalf = (text: Buffer): boolean => {
  if (!HALVES.some((half) => text.includes(half))) return false
  if (text.length > LOOKED_THROUGH_BYTES) return true
  for (const [, half] of text.toString('latin1').matchAll(ESCAPE)) if (half !== undefined) return true
  return false
}

/** How an address that holds its data begins, which is kept with what tells the type of that. */
const DATA = Buffer.from('data:')
const KEPT_OF_DATA = 96

/** A longer beginning, up to the first escape. */
const keptOfData = (all: Buffer, start: number, kept: number): number => {
  if (all[start] !== DATA[0] || !all.subarray(start, start + DATA.length).equals(DATA)) return kept
  const longer = all.subarray(start, start + KEPT_OF_DATA)
  const escaped = longer.indexOf(BACKSLASH)
  return start + (escaped === -1 ? longer.length : escaped)
}

/** Of each: where it begins, up to where it stays, on a border of characters, and where it ends. No names, and none that may be blank. */
const longIn = (bytes: Buffer, cut: ArrayLike<number>, known: Span | undefined): number[] => {
  const spans: number[] = []
  const mayHaveHalves = HALVES.some((half) => bytes.includes(half))
  for (let one = 0; one < cut.length; one += 3) {
    const start = cut[one] as number
    const end = cut[one + 2] as number
    if (end - start < MARKED_BYTES || isName(bytes, end)) continue
    if (known !== undefined && start > known.start && start < known.end) continue
    const noted = onBorder(bytes, start, keptOfData(bytes, start, cut[one + 1] as number))
    const kept = saysSomething(bytes, start, noted) ? noted : keptPastEscapes(bytes, start)
    if (kept === undefined) continue
    if (!mayHaveHalves || !mayHoldHalf(bytes.subarray(kept, end))) spans.push(start, kept, end)
  }
  return spans
}

const isName = (bytes: Uint8Array, end: number): boolean => {
  let at = end + 1
  while (at < bytes.length && (bytes[at] as number) <= SPACE) at++
  return bytes[at] === COLON
}

/** A longer beginning where it is in escapes, or in another script; undefined where that may be blank too. */
const keptPastEscapes = (bytes: Buffer, start: number): number | undefined => {
  let at = start
  for (const most = start + KEPT_ESCAPED; at < most; ) {
    if (bytes[at] !== BACKSLASH) at++
    // Half a character is not kept without the other.
    else if (HALVES.some((half) => bytes.toString('latin1', at, at + half.length) === half)) break
    else at = pastEscape(bytes, at)
  }
  const kept = onBorder(bytes, start, at)
  const begins: string = JSON.parse(`"${bytes.toString('utf8', start, kept)}"`)
  return begins.trim() === '' ? undefined : kept
}
const KEPT_ESCAPED = 64

const saysSomething = (bytes: Uint8Array, start: number, end: number): boolean => {
  for (let at = start; at < end; at++) {
    const byte = bytes[at] as number
    if (byte > SPACE && byte < EDGE && byte !== QUOTE && byte !== BACKSLASH) return true
  }
  return false
}

/** `begins`: by what of its beginning a mark is looked for. */
const written = (
  json: Uint8Array<ArrayBuffer>,
  count: number,
  hidden: (which: number) => readonly Uint8Array[],
  begins: number | Buffer = EDGE,
): Pieces | undefined => {
  const all = asBuffer(json)
  const pieces: Uint8Array[] = []
  let from = 0
  for (let at = all.indexOf(begins); at !== -1; at = all.indexOf(begins, from)) {
    const number = at + HEAD.length
    const end = all.indexOf(EDGE, number)
    const which = numberIn((place) => all[place], number, end, count)
    if (which === undefined || all.compare(HEAD, 0, HEAD.length, at, number) !== 0) return undefined
    pieces.push(all.subarray(from, at))
    for (const piece of hidden(which)) pieces.push(piece)
    from = end + 1
  }
  pieces.push(all.subarray(from))
  return new Pieces(pieces)
}

/** Strings that are put aside one after the other, as they come, from text that may hold anything. */
export class PutAside {
  /** Whether each is written once, and let go of then. */
  readonly #once: boolean
  readonly #strings: (readonly Uint8Array[])[] = []
  #held = 0

  constructor(once: boolean) {
    this.#once = once
  }

  /** What stands for the bytes of a JSON string's rest. */
  put(rest: readonly Uint8Array[]): string {
    const bytes = sizeOf(rest)
    this.#strings.push(rest)
    this.#held += bytes
    return markOf(this.#strings.length - 1, Math.round(bytes * charsPerByte(rest)))
  }

  /** Text with the bytes in place of the marks; undefined where one has not come through whole. */
  written(text: string): Pieces | undefined {
    const hidden = (which: number): readonly Uint8Array[] => {
      const rest = this.#strings[which] ?? []
      if (this.#once) {
        this.#held -= sizeOf(rest)
        this.#strings[which] = []
      }
      return rest
    }
    return written(Buffer.from(text), this.#strings.length, hidden, HEAD)
  }

  get isEmpty(): boolean {
    return this.#strings.length === 0
  }

  /** How many bytes are held. */
  get held(): number {
    return this.#held
  }
}

const sizeOf = (pieces: readonly Uint8Array[]): number => pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)

/** Of each piece its beginning is looked at: tokens are estimated by characters. */
const charsPerByte = (pieces: readonly Uint8Array[]): number => {
  let chars = 0
  let bytes = 0
  for (const piece of pieces) {
    const most = Math.min(piece.byteLength, LOOKED_AT_BYTES)
    let at = 0
    while (at < most) {
      const byte = piece[at] as number
      if (!isInCharacter(byte)) chars += byte >= FIRST_OF_PAIR ? 2 : 1
      at = byte === BACKSLASH ? pastEscape(piece, at) : at + 1
    }
    bytes += at
  }
  return bytes === 0 ? 1 : chars / bytes
}
const LOOKED_AT_BYTES = 4 * 1024
/** Of a character that is two in a string. */
const FIRST_OF_PAIR = 0xf0
