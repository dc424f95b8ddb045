// Parses large JSON with its long strings cut short, for readers that need only names, types and short values: this takes a
// fraction of the time and memory of parsing all of it.

import { asBuffer } from './as-buffer.ts'
import { BACKSLASH, OBJECT } from './json-codes.ts'
import type { Container, Slot } from './json-scan.ts'
import { type Member, type Survey, surveyOf } from './json-survey.ts'

export type Outline = {
  /** The parsed value, in which the strings of `cut` are only their beginnings. */
  value: unknown
  /** Where the outermost object stands in the bytes, and its members; undefined where the text is no object. */
  outermost: Container | undefined
  /** The positions of the long strings' contents in the bytes; what is kept of each ends at `kept`. */
  cut: { start: number; kept: number; end: number }[]
}

/** A member of the outermost object of no more bytes than this is read exactly. */
const SMALL = 4096
/** In others, a long string is cut to its first KEPT bytes, or to what comes before its first escape. */
const KEPT = 16
/** One that begins with an escape only when it has more than these: written in escapes, a short name has six a character. */
const LONG_ESCAPED = 600

/** Whether a string in an outline's value, of ASCII and without escapes, may be but the beginning of a longer one. */
export const mayBeCut = (text: string): boolean => text.length === KEPT

/** Throws a SyntaxError as `JSON.parse` does. The bytes must be UTF-8 without a byte order mark. `survey`: theirs. */
export const outline = (bytes: Uint8Array<ArrayBuffer>, survey: Survey = surveyOf(bytes)): Outline => {
  if (survey.faulty) throw new SyntaxError('A string holds a control character, or an escape that there is not.')
  const { members, open } = survey
  const cut = cutOf(bytes, survey)
  const value: unknown = JSON.parse(withoutCut(bytes, cut))
  const isObject = bytes[open] === OBJECT
  return { value, outermost: isObject ? { isObject, open, slots: slotsOf(bytes, members) } : undefined, cut }
}

/** The long strings that lie within a member that is not small; both are in the order of the text. */
const cutOf = (bytes: Uint8Array, { members, long }: Survey): Outline['cut'] => {
  const cut: Outline['cut'] = []
  let member = 0
  for (let one = 0; one < long.length; one += 2) {
    const start = long[one] as number
    const end = long[one + 1] as number
    while ((members[member]?.end ?? start) < start) member++
    const { valueStart = start, end: memberEnd = start } = members[member] ?? {}
    if (start <= valueStart || memberEnd - valueStart <= SMALL) continue
    let kept = start
    while (kept < start + KEPT && bytes[kept] !== BACKSLASH) kept++
    if (kept < start + KEPT && end - start + 2 <= LONG_ESCAPED) continue
    cut.push({ start, kept, end })
  }
  return cut
}

/** So few bytes are copied one by one: of many strings that are cut, most have no more between them. */
const FEW = 256

const withoutCut = (bytes: Uint8Array, cut: Outline['cut']): string => {
  const left = cut.reduce((length, { kept, end }) => length - (end - kept), bytes.length)
  const short = Buffer.allocUnsafe(left)
  let from = 0
  let to = 0
  for (let one = 0; one <= cut.length; one++) {
    const { kept = bytes.length, end = 0 } = cut[one] ?? {}
    if (kept - from > FEW) {
      short.set(bytes.subarray(from, kept), to)
      to += kept - from
    } else for (; from < kept; from++) short[to++] = bytes[from] as number
    from = end
  }
  return short.toString()
}

const slotsOf = (bytes: Uint8Array<ArrayBuffer>, members: readonly Member[]): Slot[] =>
  members.map(({ start, nameEnd, valueStart, end }) => {
    const key: string = JSON.parse(asBuffer(bytes).toString('utf8', start, nameEnd))
    return { key, start, valueStart, end }
  })
