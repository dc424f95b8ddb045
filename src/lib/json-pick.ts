// Reads single members and elements of JSON exactly, out of its bytes: what stands beside them is passed over, not parsed.

import { asBuffer } from './as-buffer.ts'
import { ARRAY, ARRAY_END, BACKSLASH, COMMA, OBJECT, OBJECT_END, QUOTE, SPACE } from './json-codes.ts'
import type { Slot } from './json-scan.ts'

type Picker = {
  /** The outermost object's member of that name: the last one, as parsing all of it gives. */
  member(name: string): unknown
  /** The same as it is written. */
  written(name: string): Uint8Array<ArrayBuffer> | undefined
  /** The elements of a list that is such a member, each parsed when it is asked for; undefined for what is no list. */
  elements(name: string): Iterable<unknown> | undefined
}

/** The bytes must be JSON, in UTF-8; `slots`: where the members of its outermost object stand. */
export const createPicker = (bytes: Uint8Array<ArrayBuffer>, slots: readonly Slot[]): Picker => {
  const slotOf = (name: string): Slot | undefined => slots.findLast(({ key }) => key === name)
  return {
    member(name) {
      const slot = slotOf(name)
      return slot === undefined ? undefined : parsed(bytes, slot.valueStart, slot.end)
    },
    written(name) {
      const slot = slotOf(name)
      return slot && bytes.subarray(slot.valueStart, slot.end)
    },
    elements(name) {
      const slot = slotOf(name)
      return slot === undefined || bytes[slot.valueStart] !== ARRAY ? undefined : elementsFrom(bytes, slot.valueStart)
    },
  }
}

const parsed = (bytes: Uint8Array<ArrayBuffer>, start: number, end: number): unknown =>
  JSON.parse(asBuffer(bytes).toString('utf8', start, end))

function* elementsFrom(bytes: Uint8Array<ArrayBuffer>, open: number): Generator<unknown> {
  let at = pastSpace(bytes, open + 1)
  while (at < bytes.length && bytes[at] !== ARRAY_END) {
    const end = valueEnd(bytes, at)
    yield parsed(bytes, at, end)
    at = pastSpace(bytes, end)
    if (bytes[at] === COMMA) at = pastSpace(bytes, at + 1)
  }
}

/** Where the next token begins. */
export const pastSpace = (bytes: Uint8Array, from: number): number => {
  let at = from
  while (at < bytes.length && (bytes[at] as number) <= SPACE) at++
  return at
}

/** The end of the value that begins here. */
const valueEnd = (bytes: Uint8Array, start: number): number => {
  let depth = 0
  for (let at = start; at < bytes.length; at++) {
    const code = bytes[at] as number
    if (code === QUOTE) {
      at = closingQuote(bytes, at)
      if (depth === 0) return at + 1
    } else if (code === OBJECT || code === ARRAY) depth++
    else if (code === OBJECT_END || code === ARRAY_END) {
      // A number or a word ends where its list does.
      if (depth === 0) return at
      if (--depth === 0) return at + 1
    } else if (depth === 0 && (code === COMMA || code <= SPACE)) return at
  }
  return bytes.length
}

const closingQuote = (bytes: Uint8Array, open: number): number => {
  let at = open + 1
  for (let code = bytes[at]; code !== QUOTE && at < bytes.length; code = bytes[at]) at += code === BACKSLASH ? 2 : 1
  return at
}
