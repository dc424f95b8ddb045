// Parses large JSON with its long strings cut short, for readers that need only names, types and short values: this takes a
// fraction of the time and memory of parsing all of it.

import { asBuffer } from './as-buffer.ts'
import { type Container, OBJECT, readSlots, type Slot, skipSpace } from './json-scan.ts'

/** `view`: the UTF-8 bytes decoded as Latin-1, so that positions in the string are positions in the bytes. */
export type Outline = {
  view: string
  /** The parsed value, in which the strings of `cut` are only their beginnings. */
  value: unknown
  /** Where the outermost object stands in the bytes, and its members; undefined where the text was parsed whole. */
  outermost: Container | undefined
  /** The positions of the long strings' contents in the view; what is kept of each ends at `kept`. */
  cut: { start: number; kept: number; end: number }[]
}

/** A member of the outermost object of no more bytes than this is read exactly. */
const SMALL = 4096
/** In others, a string of more bytes than LONG is cut to its first KEPT, or to what comes before its first escape. */
const LONG = 64
const KEPT = 16
/** One that begins with an escape only when it has more than these: written in escapes, a short name has six a character. */
const LONG_ESCAPED = 600

/** Whether a string in an outline's value, of ASCII and without escapes, may be but the beginning of a longer one. */
export const mayBeCut = (text: string): boolean => text.length === KEPT

/** A control character is invalid in a JSON string, and rare elsewhere. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: that is what it looks for
const CONTROL = /[\x00-\x1f]/

/**
 * Throws a SyntaxError like `JSON.parse`, except for an invalid escape sequence in a long string, which is not noticed. The
 * bytes must be UTF-8 without a byte order mark.
 */
export const outline = (bytes: Uint8Array<ArrayBuffer>): Outline => {
  const view = asBuffer(bytes).toString('latin1')
  const open = skipSpace(view, 0)
  // Indented JSON has control characters, too. To tell those from ones within strings takes a full parse.
  if (view.charCodeAt(open) !== OBJECT || CONTROL.test(view)) {
    return { view, value: JSON.parse(new TextDecoder().decode(bytes)), outermost: undefined, cut: [] }
  }
  const long: Outline['cut'] = []
  const slots = readSlots(view, open, (start, end) => {
    if (end - start <= LONG || end > view.length) return
    const escaped = view.slice(start + 1, start + 1 + KEPT).indexOf('\\')
    if (escaped !== -1 && end - start <= LONG_ESCAPED) return
    long.push({ start: start + 1, kept: start + 1 + (escaped === -1 ? KEPT : escaped), end: end - 1 })
  })
  const cut = inside(
    slots.filter(({ valueStart, end }) => end - valueStart > SMALL),
    long,
  )
  let short = ''
  let at = 0
  for (const { kept, end } of cut) {
    short += view.slice(at, kept)
    at = end
  }
  short += view.slice(at)
  const value: unknown = JSON.parse(Buffer.from(short, 'latin1').toString())
  return { view, value, outermost: { isObject: true, open, slots: withOwnNames(slots) }, cut }
}

/** A name that is a slice of the view would hold all of it. */
const withOwnNames = (slots: Slot[]): Slot[] => {
  const names: string[] = JSON.parse(JSON.stringify(slots.map(({ key }) => key)))
  return slots.map((slot, at) => ({ ...slot, key: names[at] ?? slot.key }))
}

/** Those that lie within one of the members; both are in the order of the text. */
const inside = (members: Slot[], strings: Outline['cut']): Outline['cut'] => {
  let at = 0
  return strings.filter(({ start }) => {
    while (start > (members[at]?.end ?? start)) at++
    return start > (members[at]?.valueStart ?? start)
  })
}
