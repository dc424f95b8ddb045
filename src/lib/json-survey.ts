// Surveys JSON as its bytes come, without building anything of it: whether it keeps the bounds within which parsing it is
// cheap, and where its outermost members and its long strings stand. For bytes that are not JSON what it finds is arbitrary:
// parsing reports the error. Where the machine has SIMD for WebAssembly, json-scanner/ does the same faster.

import { isAscii } from 'node:buffer'
import { ARRAY, ARRAY_END, BACKSLASH, COLON, COMMA, OBJECT, OBJECT_END, QUOTE, SPACE } from './json-codes.ts'
import type { Shared } from './json-shared.ts'

/**
 * What JSON may hold at most, so that parsing it holds the event loop for no longer than a few tens of milliseconds. Text of
 * as many objects, values or escapes is several times what any model reads; files are single strings.
 */
export const JSON_BOUNDS = {
  /** Values nested some ten thousand deep are written in quadratic time. */
  depth: 1_000,
  containers: 75_000,
  values: 150_000,
  /** Kinds of objects, by the names of their members in order: the runtime describes each anew. */
  forms: 10_000,
  escapes: 3_000_000,
  digits: 1_000,
} as const

export type Bound = keyof typeof JSON_BOUNDS

/** How much more JSON may hold of what costs little, where it is known what it is: numbers, or many objects of one form. */
export type Allowance = { readonly [bound in 'containers' | 'values']?: number }

/** Thrown for what exceeds a bound. */
export class TooMuchJson extends RangeError {
  readonly bound: Bound

  constructor(bound: Bound) {
    super(`The JSON has more than ${JSON_BOUNDS[bound]} ${bound}.`)
    this.bound = bound
  }
}

/** A member of the outermost object, by positions: of its name's quotes, where its value begins, and where that ends. */
export type Member = { start: number; nameEnd: number; valueStart: number; end: number }

/** What has been read of a text. Where it is no JSON, what is found is arbitrary. */
export type Read = {
  readonly members: readonly Member[]
  /** Whether it is known to be no JSON. Where it is not known, parsing tells. */
  readonly faulty: boolean
  readonly longNumber: boolean
  /** How many objects and lists there are. */
  readonly containers: number
  readonly open: number
  /** The long strings in members that are not small, three numbers for each as `Survey.long` has them. */
  readonly cut: ArrayLike<number>
  /** The text without what is cut, where it was at hand. */
  readonly short?: Short
  /** The member that `short` has a null for, of which nothing is among the `cut`. */
  readonly shared?: SharedAt | undefined
}

/** A member that is shared, and where its value stands. */
export type SharedAt = { readonly name: string; readonly start: number; readonly end: number; readonly shared: Shared }

/** `ascii`: whether no character beyond it stands in the text, or is escaped in it. */
export type Short = { readonly text: string; readonly ascii: boolean }

/** JSON in bytes as it is parsed. In the bytes, an escape is looked for fifty times as fast as in text that has many. */
export const shortOf = (bytes: Buffer): Short => {
  const ascii = isAscii(bytes) && !bytes.includes('\\u')
  return { text: bytes.toString(ascii ? 'latin1' : 'utf8'), ascii }
}

/** Reads a text a piece at a time. `end` comes last, whatever happens. */
export type Reader = {
  /** Whether there is more to read. Throws `TooMuchJson`. */
  next(): boolean
  found(): Read
  end(): void
}

const U = 117

/** Strings of more bytes, quotes included, are noted. */
const LONG = 64
/** Of such a string its first KEPT bytes are kept, or what comes before its first escape. */
const KEPT = 16
/** One that begins with an escape is noted only when it has more than these: written in escapes, a short name has six a character. */
const LONG_ESCAPED = 600

/** Whether a string of ASCII and without escapes may be but what is kept of a longer one. */
export const mayBeCut = (text: string): boolean => text.length === KEPT

/** So many digits, and what else belongs to a number, may be more than it holds. */
const LONG_NUMBER = 16

const ESCAPES = new Set([...'"\\/bfnrtu'].map((char) => char.charCodeAt(0)))
/** A backslash has come, and not yet what it escapes; below it, so many hexadecimal digits are still to come. */
const ESCAPED = 5

const isHex = (code: number): boolean =>
  (code >= 48 && code <= 57) || (code >= 65 && code <= 70) || (code >= 97 && code <= 102)

/** The forms that have been seen are remembered by so many bits, a power of two: some are taken for others. */
const FORM_BITS = 2 ** 18

/** Its text must not begin with a byte order mark. */
export class Survey {
  /** Of the outermost object, if that is what the text is. */
  readonly members: Member[] = []
  /** Where the contents of long strings begin, up to where they are kept, and where they end, names included: three numbers for each. */
  readonly long: number[] = []
  /** Whether a string holds what none may: a control character, or an escape that there is not. */
  faulty = false
  /** Whether a number may have more digits than numbers hold. */
  longNumber = false
  /** How many objects and lists have begun. */
  containers = 0
  /** Where the outermost value begins; -1 before it does. */
  open = -1

  #seen = 0
  #depth = 0
  #values = 0
  readonly #mostContainers: number
  readonly #mostValues: number
  #escapes = 0
  #digits = 0
  #quoted = false
  #escape = 0
  #stringStart = 0
  /** Where this string's first escape is. */
  #firstEscape = Number.POSITIVE_INFINITY
  /** Whether the next string is a name, and whether this one is. */
  #nameNext = false
  #isName = false
  /** Of a name: the hash of its bytes but the last up to four, which are `#word`, and how many there are of both. */
  #hash = 0
  #word = 0
  #size = 0
  #member: Member | undefined
  /** Where the last token of the outermost object ended. */
  #tokenEnd = 0
  /** For each depth: whether it is an object, and which names it has had. */
  readonly #isObject = new Uint8Array(JSON_BOUNDS.depth + 2)
  readonly #form = new Int32Array(JSON_BOUNDS.depth + 2)
  #forms = 0
  #known: Uint32Array | undefined

  constructor({ containers = JSON_BOUNDS.containers, values = JSON_BOUNDS.values }: Allowance = {}) {
    this.#mostContainers = containers
    this.#mostValues = values
  }

  /** Takes the next bytes. Throws `TooMuchJson`. */
  see(bytes: Uint8Array): void {
    let at = 0
    while (at < bytes.length) {
      at = this.#quoted ? this.#inString(bytes, at) : this.#between(bytes, at)
    }
    this.#seen += bytes.length
  }

  /** Reads up to the next string's opening quote, or to the end. Returns where it is. */
  #between(bytes: Uint8Array, from: number): number {
    const base = this.#seen
    let at = from
    let digits = this.#digits
    for (; at < bytes.length; at++) {
      const code = bytes[at] as number
      if (code <= SPACE) {
        digits = 0
        continue
      }
      if (this.open === -1) this.open = base + at
      if (this.#depth === 1) this.#outermost(code, base + at)
      if (code === QUOTE) {
        this.#digits = 0
        this.#beginString(base + at)
        return at + 1
      }
      if (code === COMMA) {
        digits = 0
        if (++this.#values > this.#mostValues) throw new TooMuchJson('values')
        this.#nameNext = this.#isObject[this.#depth] === 1
      } else if (code === OBJECT || code === ARRAY) {
        digits = 0
        this.#begin(code)
      } else if (code === OBJECT_END || code === ARRAY_END) {
        digits = 0
        this.#nameNext = false
        if (this.#depth > 0) this.#depth--
        if (this.#depth === 1) this.#tokenEnd = base + at + 1
      } else if (code === COLON) digits = 0
      else if (++digits >= LONG_NUMBER) {
        this.longNumber = true
        if (digits > JSON_BOUNDS.digits) throw new TooMuchJson('digits')
      }
    }
    this.#digits = digits
    return at
  }

  #begin(code: number): void {
    if (++this.containers > this.#mostContainers) throw new TooMuchJson('containers')
    if (++this.#values > this.#mostValues) throw new TooMuchJson('values')
    if (++this.#depth > JSON_BOUNDS.depth) throw new TooMuchJson('depth')
    const isObject = code === OBJECT
    this.#isObject[this.#depth] = isObject ? 1 : 0
    this.#form[this.#depth] = 0
    this.#nameNext = isObject
  }

  /** What a token of the outermost container says about its members. */
  #outermost(code: number, at: number): void {
    const member = this.#member
    if (code === COMMA || code === OBJECT_END || code === ARRAY_END) this.#endMember()
    else if (member !== undefined && member.nameEnd > 0 && member.valueStart === 0) {
      if (code !== COLON) member.valueStart = at
    }
    this.#tokenEnd = at + 1
  }

  #endMember(): void {
    const member = this.#member
    this.#member = undefined
    if (member === undefined || member.valueStart === 0) return
    member.end = this.#tokenEnd
    this.members.push(member)
  }

  #beginString(at: number): void {
    this.#quoted = true
    this.#escape = 0
    this.#stringStart = at
    this.#firstEscape = Number.POSITIVE_INFINITY
    this.#isName = this.#nameNext
    this.#nameNext = false
    this.#hash = SEED
    this.#word = 0
    this.#size = 0
    if (this.#isName && this.#depth === 1 && this.#isObject[1] === 1)
      this.#member = { start: at, nameEnd: 0, valueStart: 0, end: 0 }
  }

  /** Reads up to the string's end, or to that of the bytes. Returns where that is. */
  #inString(bytes: Uint8Array, from: number): number {
    let at = from
    let code = 0
    while (at < bytes.length) {
      if (this.#escape > 0) {
        this.#escaped(bytes[at++] as number)
        continue
      }
      if (this.#isName) {
        for (; at < bytes.length; at++) {
          code = bytes[at] as number
          if (code === QUOTE || code === BACKSLASH || code < SPACE) break
          this.#addToName(code)
        }
      } else {
        at = plainEnd(bytes, at)
        code = bytes[at] ?? 0
      }
      if (at === bytes.length) break
      at++
      if (code === QUOTE) {
        this.#endString(this.#seen + at)
        break
      }
      if (code === BACKSLASH) {
        if (++this.#escapes > JSON_BOUNDS.escapes) throw new TooMuchJson('escapes')
        this.#escape = ESCAPED
        if (this.#firstEscape > this.#seen + at) this.#firstEscape = this.#seen + at - 1
        if (this.#isName) this.#addToName(code)
      } else this.faulty = true
    }
    return at
  }

  #escaped(code: number): void {
    if (this.#isName) this.#addToName(code)
    if (this.#escape === ESCAPED) {
      if (!ESCAPES.has(code)) this.faulty = true
      this.#escape = code === U ? 4 : 0
    } else {
      if (!isHex(code)) this.faulty = true
      this.#escape--
    }
  }

  #endString(end: number): void {
    this.#quoted = false
    if (end - this.#stringStart > LONG) this.#noteLong(this.#stringStart + 1, end - 1)
    if (this.#depth === 1) {
      this.#tokenEnd = end
      if (this.#isName && this.#member !== undefined) this.#member.nameEnd = end
    }
    if (this.#isName) this.#addToForm()
  }

  #noteLong(start: number, end: number): void {
    const kept = Math.min(start + KEPT, this.#firstEscape)
    if (kept === start + KEPT || end - start + 2 > LONG_ESCAPED) this.long.push(start, kept, end)
  }

  /** Four at a time, as the scanner reads them. */
  #addToName(code: number): void {
    this.#word |= code << ((this.#size & 3) * 8)
    if ((++this.#size & 3) !== 0) return
    this.#hash = mixed(this.#hash, this.#word)
    this.#word = 0
  }

  #addToForm(): void {
    const hash = mixed(this.#hash, this.#word)
    const form = Math.imul(((this.#form[this.#depth] ?? 0) ^ hash) + SEED, PRIME)
    this.#form[this.#depth] = form
    const bit = (form ^ (form >>> 15)) & (FORM_BITS - 1)
    this.#known ??= new Uint32Array(FORM_BITS / 32)
    const word = this.#known[bit >>> 5] ?? 0
    const mask = 1 << (bit & 31)
    if ((word & mask) !== 0) return
    this.#known[bit >>> 5] = word | mask
    if (++this.#forms > JSON_BOUNDS.forms) throw new TooMuchJson('forms')
  }
}

/** What ends a run of a string's plain bytes. */
const STOPS = new Uint8Array(256).fill(1, 0, SPACE)
STOPS[QUOTE] = 1
STOPS[BACKSLASH] = 1

const stops = (bytes: Uint8Array, at: number): number => STOPS[bytes[at] as number] as number

/** Four at a time: most of a large body is read here. */
const plainEnd = (bytes: Uint8Array, from: number): number => {
  let at = from
  for (const last = bytes.length - 3; at < last; at += 4)
    if ((stops(bytes, at) | stops(bytes, at + 1) | stops(bytes, at + 2) | stops(bytes, at + 3)) !== 0) break
  while (at < bytes.length && stops(bytes, at) === 0) at++
  return at
}

const PRIME = 0x01000193

const mixed = (hash: number, word: number): number => {
  const product = Math.imul(hash ^ word, PRIME)
  return product ^ (product >>> 15)
}

/** Of this process alone: nobody can choose names that are taken for others. */
export const SEED = crypto.getRandomValues(new Int32Array(1))[0] ?? 1

/** A member of the outermost object of no more bytes than this is not cut. */
const SMALL = 4096

/** Of long strings, those that lie within a member that is not small. Both are in the order of the text. */
export const cutOf = (members: readonly Member[], long: readonly number[]): number[] => {
  const cut: number[] = []
  let member = 0
  for (let one = 0; one < long.length; one += 3) {
    const start = long[one] as number
    while ((members[member]?.end ?? start) < start) member++
    const { valueStart = start, end = start } = members[member] ?? {}
    if (start > valueStart && end - valueStart > SMALL)
      cut.push(start, long[one + 1] as number, long[one + 2] as number)
  }
  return cut
}

/** Surveys bytes that are all there, so many in one piece. */
export const surveyPieces = (bytes: Uint8Array, pieceBytes: number, allowed?: Allowance): Reader => {
  const survey = new Survey(allowed)
  let at = 0
  return {
    next() {
      survey.see(bytes.subarray(at, at + pieceBytes))
      at += pieceBytes
      return at < bytes.length
    },
    found() {
      const { members, faulty, longNumber, containers, open, long } = survey
      return { members, faulty, longNumber, containers, open, cut: cutOf(members, long) }
    },
    end() {},
  }
}
