// Drives the scanner: lays one piece of a text after the other into its memory, which never grows.

import { ARRAY, BACKSLASH } from '../json-codes.ts'
import type { SharedMembers } from '../json-shared.ts'
import {
  type Bound,
  cutOf,
  JSON_BOUNDS,
  type Member,
  type Read,
  type Reader,
  SEED,
  type SharedAt,
  shortOf,
  TooMuchJson,
} from '../json-survey.ts'
import { SCANNER } from './scanner-wasm.ts'

/** As much as its memory has room for. */
export const PIECE_BYTES = 1024 * 1024

const PAGES = 21
/** Zeros behind a piece: as many bytes as are read at once. */
const BEHIND = 16

/** What `read` says; from FIRST_BOUND on, a bound. */
const MORE = 0
const WHOLE = 1
const INVALID = 2
const FIRST_BOUND = 3
const BOUNDS: readonly Bound[] = ['depth', 'containers', 'values', 'forms', 'escapes', 'digits']

type Found = 'MEMBERS' | 'LONG' | 'TEXT' | 'open' | 'longNumber' | 'consumed' | 'membersEnd' | 'longEnd'
type Exports = Record<Found, { readonly value: number }> & {
  begin(seed: number, ...most: number[]): void
  read(from: number, length: number, isLast: boolean): number
  shorten(nullFrom: number, nullTo: number): number
}
type Scanner = { exports: Exports; bytes: Buffer; words: Uint32Array }

const compiled = (): WebAssembly.Module | undefined => {
  try {
    return new WebAssembly.Module(Buffer.from(SCANNER, 'base64'))
  } catch {
    return undefined
  }
}

/** Undefined before it is needed, and null where the machine or the runtime lacks what it needs. */
let module: WebAssembly.Module | null | undefined

/** Those that nothing is read with now. Of many that were needed at once, few are kept. */
const idle: Scanner[] = []
const MOST_IDLE = 2

const take = (): Scanner => {
  const kept = idle.pop() ?? made()
  kept.exports.begin(SEED, ...MOST)
  return kept
}
const MOST = BOUNDS.map((bound) => JSON_BOUNDS[bound])

const made = (): Scanner => {
  const memory = new WebAssembly.Memory({ initial: PAGES, maximum: PAGES })
  const { exports } = new WebAssembly.Instance(module as WebAssembly.Module, { env: { memory } })
  return { exports: exports as Exports, bytes: Buffer.from(memory.buffer), words: new Uint32Array(memory.buffer) }
}

const mayScan = (): boolean => {
  module ??= compiled() ?? null
  return module !== null
}

export type Scanning = {
  pieceBytes?: number
  /** Whether an outline is to be made: else no text is cut short. */
  outlined?: boolean
  /** For an outline: a member that others may have had. */
  sharing?: SharedMembers | undefined
}

/** Undefined where there is no scanner. One is taken with the first piece, and given back with the last. */
export const scanPieces = (
  bytes: Uint8Array,
  { pieceBytes = PIECE_BYTES, outlined = true, sharing }: Scanning = {},
): Reader | undefined => {
  if (!mayScan()) return undefined
  const members: Member[] = []
  const long: number[] = []
  let at = 0
  let taken: Scanner | undefined
  let read: Read = { members, faulty: true, longNumber: false, open: -1, cut: long }

  const readPiece = ({ exports, bytes: memory, words }: Scanner): boolean => {
    const from = at
    const text = exports.TEXT.value
    const length = Math.min(pieceBytes, bytes.length - from)
    memory.set(length === bytes.length ? bytes : bytes.subarray(from, from + length), text)
    memory.fill(0, text + length, text + length + BEHIND)
    const verdict = exports.read(from, length, from + length === bytes.length)
    const bound = BOUNDS[verdict - FIRST_BOUND]
    if (bound !== undefined) throw new TooMuchJson(bound)
    at += exports.consumed.value
    for (let word = exports.MEMBERS.value / 4; word < exports.membersEnd.value / 4; word += 4)
      members.push(memberAt(words, word))
    if (verdict === INVALID) return false
    const noted = exports.LONG.value / 4
    const whole = { members, faulty: false, longNumber: exports.longNumber.value === 1, open: exports.open.value }
    if (verdict === WHOLE && from === 0 && outlined) {
      // It is all there, and cut in place.
      const shared = sharing && sharedIn(memory.subarray(text, text + length), members, sharing)
      const size = exports.shorten(shared?.start ?? 0, shared?.end ?? 0)
      const short = shortOf(memory.subarray(text, text + size))
      read = { ...whole, cut: words.slice(noted, exports.longEnd.value / 4), short, shared }
      return false
    }
    for (let word = noted; word < exports.longEnd.value / 4; word++) long.push(words[word] as number)
    if (verdict === WHOLE) read = { ...whole, cut: cutOf(members, long) }
    return verdict === MORE
  }

  return {
    next() {
      taken ??= take()
      const more = readPiece(taken)
      if (!more) this.end()
      return more
    },
    found: () => read,
    end() {
      if (taken !== undefined && idle.length < MOST_IDLE) idle.push(taken)
      taken = undefined
    },
  }
}

/** A name that is written more than once, or may be in escapes, is left to the parser. */
const sharedIn = (text: Buffer, members: readonly Member[], sharing: SharedMembers): SharedAt | undefined => {
  let found: Member | undefined
  for (const member of members) {
    const { start, nameEnd } = member
    for (let at = start; at < nameEnd; at++) if (text[at] === BACKSLASH) return undefined
    if (nameEnd - start - 2 !== sharing.name.length) continue
    if (text.toString('latin1', start + 1, nameEnd - 1) !== sharing.name) continue
    if (found !== undefined) return undefined
    found = member
  }
  if (found === undefined) return undefined
  const { valueStart: start, end } = found
  if (text[start] !== ARRAY) return undefined
  const shared = sharing.find(text.subarray(start, end))
  return shared && { start, end, name: sharing.name, shared }
}

const memberAt = (words: Uint32Array, at: number): Member => ({
  start: words[at] as number,
  nameEnd: words[at + 1] as number,
  valueStart: words[at + 2] as number,
  end: words[at + 3] as number,
})
