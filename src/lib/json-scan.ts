// Scans JSON text for the positions of members, elements and strings, without building values. For text that is not JSON
// the result is arbitrary, but the scan ends: parsing reports the error.

import { ARRAY, ARRAY_END, BACKSLASH, COMMA, OBJECT, OBJECT_END, QUOTE } from './json-codes.ts'
import { JSON_BOUNDS } from './json-survey.ts'

/** A member or an element: its name or index, where it begins, where its value does, and where both end. */
export type Slot = { key: string | number; start: number; valueStart: number; end: number }

/** An object or an array: where it opens, and its members or elements. */
export type Container = { isObject: boolean; open: number; slots: Slot[] }

type Span = { start: number; end: number }

/** The members of the object, or the elements of the array, that opens here. */
export const readSlots = (text: string, open: number): Slot[] => {
  const slots: Slot[] = []
  const isObject = text.charCodeAt(open) === OBJECT
  let at = skipSpace(text, open + 1)
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === OBJECT_END || code === ARRAY_END) break
    const start = at
    let key: string | number = slots.length
    if (isObject) {
      const end = skipString(text, at)
      key = readKey(text, at, end)
      at = skipSpace(text, skipSpace(text, end) + 1)
    }
    const valueStart = at
    const end = skipValue(text, at)
    slots.push({ key, start, valueStart, end })
    at = skipSpace(text, end)
    if (text.charCodeAt(at) === COMMA) at = skipSpace(text, at + 1)
  }
  return slots
}

/** The object or the array that opens here, if one does. */
export const readContainer = (text: string, open: number): Container | undefined => {
  const first = text.charCodeAt(open)
  if (first !== OBJECT && first !== ARRAY) return undefined
  return { isObject: first === OBJECT, open, slots: readSlots(text, open) }
}

const readKey = (text: string, start: number, end: number): string => {
  const raw = text.slice(start + 1, end - 1)
  if (!raw.includes('\\')) return raw
  try {
    return JSON.parse(text.slice(start, end)) as string
  } catch {
    return raw
  }
}

export const skipSpace = (text: string, at: number): number => {
  let i = at
  for (;;) {
    const code = text.charCodeAt(i)
    if (code !== 32 && code !== 10 && code !== 13 && code !== 9) return i
    i++
  }
}

/** The end of the string that opens here; past the text's end for one that never closes, as below. */
const skipString = (text: string, open: number): number => {
  let quote = open
  for (;;) {
    quote = text.indexOf('"', quote + 1)
    if (quote === -1) return text.length + 1
    let back = quote - 1
    while (text.charCodeAt(back) === BACKSLASH) back--
    if ((quote - back) % 2 === 1) return quote + 1
  }
}

/** The end of the value that begins here. */
export const skipValue = (text: string, start: number): number => {
  const first = text.charCodeAt(start)
  if (first === QUOTE) return skipString(text, start)
  let at = start
  if (first !== OBJECT && first !== ARRAY) {
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === COMMA || code === OBJECT_END || code === ARRAY_END || code <= 32) break
    }
    return at
  }
  let depth = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) {
      at = skipString(text, at)
      continue
    }
    at++
    if (code === OBJECT || code === ARRAY) depth++
    else if (code === OBJECT_END || code === ARRAY_END) {
      depth--
      if (depth === 0) return at
    }
  }
  return text.length + 1
}

const MOST_DEPTH = JSON_BOUNDS.depth

/** Whether JSON is nested more deeply than it should be read, to be written again. */
export const isDeep = (text: string): boolean => {
  if (text.length <= 2 * MOST_DEPTH) return false
  let depth = 0
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at)
    if (code === QUOTE) at = skipString(text, at) - 1
    else if (code === OBJECT || code === ARRAY) {
      if (++depth > MOST_DEPTH) return true
    } else if (code === OBJECT_END || code === ARRAY_END) depth--
  }
  return false
}

/** The position of the value of an object's first member of that name. Later members are not read. */
export const findMember = (text: string, name: string, from = 0): Span | undefined => {
  let at = skipSpace(text, from)
  if (text.charCodeAt(at) !== OBJECT) return undefined
  at = skipSpace(text, at + 1)
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = skipString(text, at)
    const key = readKey(text, at, keyEnd)
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1)
    const end = skipValue(text, start)
    if (key === name) return { start, end }
    at = skipSpace(text, end)
    if (text.charCodeAt(at) !== COMMA) return undefined
    at = skipSpace(text, at + 1)
  }
  return undefined
}

/** The same for a path through objects and, with 0, the first elements of arrays. */
export const findPath = (text: string, path: readonly (string | 0)[]): Span | undefined => {
  let found: Span | undefined = { start: 0, end: text.length }
  for (const step of path) {
    if (step !== 0) found = findMember(text, step, found.start)
    else if (text.charCodeAt(skipSpace(text, found.start)) !== ARRAY) return undefined
    else found = { start: skipSpace(text, skipSpace(text, found.start) + 1), end: found.end }
    if (found === undefined) return undefined
  }
  return found
}

/** The member of that name where it is written once. */
export const onlySlot = ({ slots }: Container, name: string): Slot | undefined => {
  const [slot, other] = slots.filter(({ key }) => key === name)
  return other === undefined ? slot : undefined
}
