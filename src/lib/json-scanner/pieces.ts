// Drives the scanner: lays one piece of a text after the other into its memory, which never grows.

import { type Bound, cutOf, JSON_BOUNDS, type Member, type Reader, SEED, TooMuchJson } from '../json-survey.ts'
import { SCANNER } from './scanner-wasm.ts'

/** As much as its memory has room for. */
export const PIECE_BYTES = 1024 * 1024

const PAGES = 21
/** Zeros behind a piece: as many bytes as are read at once. */
const BEHIND = 16

/** What `read` says; from FIRST_BOUND on, a bound. */
const MORE = 0
const WHOLE = 1
const FIRST_BOUND = 3
const BOUNDS: readonly Bound[] = ['depth', 'containers', 'values', 'forms', 'escapes', 'digits']

type Found = 'MEMBERS' | 'LONG' | 'TEXT' | 'open' | 'longNumber' | 'consumed' | 'membersEnd' | 'longEnd'
type Exports = Record<Found, { readonly value: number }> & {
  begin(seed: number, ...most: number[]): void
  read(from: number, length: number, isLast: boolean): number
  shorten(): number
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

const scanner = (): Scanner | undefined => {
  const kept = idle.pop()
  if (kept !== undefined) return kept
  module ??= compiled() ?? null
  if (module === null) return undefined
  const memory = new WebAssembly.Memory({ initial: PAGES, maximum: PAGES })
  const { exports } = new WebAssembly.Instance(module, { env: { memory } })
  return { exports: exports as Exports, bytes: Buffer.from(memory.buffer), words: new Uint32Array(memory.buffer) }
}

/** Undefined where there is no scanner. */
export const scanPieces = (bytes: Uint8Array, pieceBytes = PIECE_BYTES): Reader | undefined => {
  const taken = scanner()
  if (taken === undefined) return undefined
  const { exports, bytes: memory, words } = taken
  const text = exports.TEXT.value
  const members: Member[] = []
  const long: number[] = []
  let at = 0
  let verdict = MORE
  let cut: ArrayLike<number> | undefined
  let short: string | undefined

  const gather = (): void => {
    for (let word = exports.LONG.value / 4; word < exports.longEnd.value / 4; word++) long.push(words[word] as number)
  }

  /** A text that was there in one piece is cut in place. */
  const shorten = (): void => {
    const length = exports.shorten()
    cut = words.slice(exports.LONG.value / 4, exports.longEnd.value / 4)
    short = memory.toString('utf8', text, text + length)
  }

  exports.begin(SEED, ...BOUNDS.map((bound) => JSON_BOUNDS[bound]))
  return {
    next() {
      const from = at
      const length = Math.min(pieceBytes, bytes.length - from)
      memory.set(length === bytes.length ? bytes : bytes.subarray(from, from + length), text)
      memory.fill(0, text + length, text + length + BEHIND)
      verdict = exports.read(from, length, from + length === bytes.length)
      const bound = BOUNDS[verdict - FIRST_BOUND]
      if (bound !== undefined) throw new TooMuchJson(bound)
      at += exports.consumed.value
      for (let word = exports.MEMBERS.value / 4; word < exports.membersEnd.value / 4; word += 4)
        members.push(memberAt(words, word))
      if (verdict === WHOLE && from === 0) shorten()
      else gather()
      return verdict === MORE
    },
    found() {
      const read = { members, faulty: verdict !== WHOLE, longNumber: exports.longNumber.value === 1 }
      const open = exports.open.value
      return { ...read, open, cut: cut ?? cutOf(members, long), ...(short === undefined ? {} : { short }) }
    },
    end() {
      if (idle.length < MOST_IDLE) idle.push(taken)
    },
  }
}

const memberAt = (words: Uint32Array, at: number): Member => ({
  start: words[at] as number,
  nameEnd: words[at + 1] as number,
  valueStart: words[at + 2] as number,
  end: words[at + 3] as number,
})
