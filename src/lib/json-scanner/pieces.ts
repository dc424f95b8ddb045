// Drives the scanner: lays one piece of a text after the other into its memory, which never grows.

import { ARRAY, BACKSLASH } from '../json-codes.ts'
import type { Shared, SharedMembers, Standing } from '../json-shared.ts'
import {
  type Allowance,
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
const PIECE_BYTES = 1024 * 1024

const PAGES = 21
/** Zeros behind a piece: as many bytes as are read at once. */
const BEHIND = 16

/** What `read` says; from FIRST_BOUND on, a bound. */
const MORE = 0
const WHOLE = 1
const INVALID = 2
const FIRST_BOUND = 3
const BOUNDS: readonly Bound[] = ['depth', 'containers', 'values', 'forms', 'escapes', 'digits']

type Counted = 'containers' | 'values' | 'forms' | 'longNumber'
type Found = 'MEMBERS' | 'LONG' | 'TEXT' | 'open' | 'consumed' | 'membersEnd' | 'longEnd' | Counted
type Exports = Record<Found, { readonly value: number }> & {
  begin(seed: number, ...most: number[]): void
  pass(from: number, size: number, ...counts: readonly number[]): void
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

const take = (allowed?: Allowance): Scanner => {
  const kept = idle.pop() ?? made()
  begin(kept, allowed)
  return kept
}
const giveBack = (scanner: Scanner): void => {
  if (idle.length < MOST_IDLE) idle.push(scanner)
}
const begin = ({ exports }: Scanner, allowed?: Allowance): void => {
  const most = allowed === undefined ? JSON_BOUNDS : { ...JSON_BOUNDS, ...allowed }
  exports.begin(SEED, ...BOUNDS.map((bound) => most[bound]))
}

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
  /** What it may hold beyond the bounds of all. */
  allowed?: Allowance | undefined
}

/** Undefined where there is no scanner. One is taken with the first piece, and given back with the last. */
export const scanPieces = (
  bytes: Uint8Array,
  { pieceBytes = PIECE_BYTES, outlined = true, sharing, allowed }: Scanning = {},
): Reader | undefined => {
  if (!mayScan()) return undefined
  const members: Member[] = []
  const long: number[] = []
  let at = 0
  let taken: Scanner | undefined
  let read: Read = { members, faulty: true, longNumber: false, containers: 0, open: -1, cut: long }

  const readPiece = (scanner: Scanner): boolean => {
    const { exports, words } = scanner
    const from = at
    const piece = laid(scanner, bytes.subarray(from, from + pieceBytes))
    const { length } = piece
    const isWhole = length === bytes.length && outlined
    const past = isWhole && sharing ? readPast(scanner, piece, sharing) : undefined
    if (past !== undefined) {
      read = past
      return false
    }
    const verdict = exports.read(from, length, from + length === bytes.length)
    const bound = BOUNDS[verdict - FIRST_BOUND]
    if (bound !== undefined) throw new TooMuchJson(bound)
    at += exports.consumed.value
    members.push(...membersIn(scanner))
    if (verdict === INVALID) return false
    if (verdict === WHOLE && isWhole) {
      read = cutShort(scanner, members, sharing && sharedIn(piece, members, sharing))
      return false
    }
    for (let word = exports.LONG.value / 4; word < exports.longEnd.value / 4; word++) long.push(words[word] as number)
    if (verdict === WHOLE) read = { members, ...seen(scanner), cut: cutOf(members, long) }
    return verdict === MORE
  }

  return {
    next() {
      taken ??= take(allowed)
      const more = readPiece(taken)
      if (!more) this.end()
      return more
    },
    found: () => read,
    end() {
      if (taken !== undefined) giveBack(taken)
      taken = undefined
    },
  }
}

/** Into its memory; what is returned is there. */
const laid = ({ exports, bytes: memory }: Scanner, piece: Uint8Array): Buffer => {
  const text = exports.TEXT.value
  const end = text + piece.length
  memory.set(piece, text)
  memory.fill(0, end, end + BEHIND)
  return memory.subarray(text, end)
}

const seen = ({ exports }: Scanner) => ({
  faulty: false,
  longNumber: exports.longNumber.value === 1,
  containers: exports.containers.value,
  open: exports.open.value,
})

/** What it finds in a text that is all there, and cut in place. */
const cutShort = (scanner: Scanner, members: readonly Member[], shared: SharedAt | undefined): Read => {
  const { exports, bytes: memory, words } = scanner
  const text = exports.TEXT.value
  const size = exports.shorten(shared?.start ?? 0, shared?.end ?? 0)
  const cut = words.slice(exports.LONG.value / 4, exports.longEnd.value / 4)
  return { members, ...seen(scanner), cut, short: shortOf(memory.subarray(text, text + size)), shared }
}

/**
 * Reads a text with a member that is shared and stands where it did before, without reading that again. Undefined where there
 * is none, and where all must be read: what exceeds a bound, or is no JSON, is told by that alone.
 */
const readPast = (scanner: Scanner, text: Buffer, sharing: SharedMembers): Read | undefined => {
  const { exports } = scanner
  const known = sharing.again(text)
  if (known === undefined) return undefined
  exports.pass(known.start, known.end - known.start, ...countsOf(known.shared))
  if (exports.read(0, text.length, true) === WHOLE) {
    const members = membersIn(scanner)
    const shared = sharedIn(text, members, sharing, known)
    if (shared?.start === known.start) return cutShort(scanner, members, shared)
  }
  begin(scanner)
  return undefined
}

/** What is counted of a shared member, by itself. */
const countsOf = (shared: Shared): readonly number[] => {
  const known = COUNTS.get(shared)
  if (known !== undefined) return known
  const scanner = take()
  const { exports } = scanner
  exports.read(0, laid(scanner, shared.bytes).length, true)
  const counts = COUNTED.map((name) => exports[name].value)
  giveBack(scanner)
  COUNTS.set(shared, counts)
  return counts
}
const COUNTED: readonly Counted[] = ['containers', 'values', 'forms', 'longNumber']
const COUNTS = new WeakMap<Shared, readonly number[]>()

/** A name that is written more than once, or may be in escapes, is left to the parser. `known`: where one is known to stand. */
const sharedIn = (
  text: Buffer,
  members: readonly Member[],
  sharing: SharedMembers,
  known?: Standing,
): SharedAt | undefined => {
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
  if (known?.start === start) return { ...known, name: sharing.name }
  const shared = sharing.find(text.subarray(start, end))
  if (shared !== undefined) sharing.stands({ shared, start, end }, text)
  return shared && { start, end, name: sharing.name, shared }
}

const membersIn = ({ exports, words }: Scanner): Member[] => {
  const members: Member[] = []
  for (let word = exports.MEMBERS.value / 4; word < exports.membersEnd.value / 4; word += 4)
    members.push(memberAt(words, word))
  return members
}

const memberAt = (words: Uint32Array, at: number): Member => ({
  start: words[at] as number,
  nameEnd: words[at + 1] as number,
  valueStart: words[at + 2] as number,
  end: words[at + 3] as number,
})
