// Parses large JSON with its long strings cut short, for readers that need only names, types and short values: this takes a
// fraction of the time and memory of parsing all of it.

import { asBuffer } from './as-buffer.ts'
import { OBJECT } from './json-codes.ts'
import { readNow } from './json-reader.ts'
import type { Container, Slot } from './json-scan.ts'
import type { Shared } from './json-shared.ts'
import { type Member, type Read, shortOf } from './json-survey.ts'
import { free } from './memory.ts'
import { atOnce, type Steps } from './steps.ts'

export type Outline = {
  /** The parsed value, in which the strings of `cut` are only their beginnings. */
  value: unknown
  /** Whether no string in it has a character beyond ASCII. */
  ascii: boolean
  /** Where the outermost object stands in the bytes, and its members; undefined where the text is no object. */
  outermost: Container | undefined
  /** Of each long string that is cut: where its contents begin in the bytes, up to where they are kept, and where they end. */
  cut: ArrayLike<number>
  /** A member that is null in `value` and not among the `cut`, to be set by whoever has looked at the rest. */
  shared?: { name: string; shared: Shared } | undefined
}

/** Throws a SyntaxError as `JSON.parse` does. The bytes must be UTF-8 without a byte order mark. `read`: what they hold. */
export const outline = (bytes: Uint8Array<ArrayBuffer>, read: Read = readNow(bytes)): Outline =>
  atOnce(outlining(bytes, read))

/** The same in steps. */
export function* outlining(bytes: Uint8Array<ArrayBuffer>, read: Read): Steps<Outline> {
  if (read.faulty) throw new SyntaxError('This is no JSON.')
  const { cut, shared } = read
  let { short } = read
  if (short === undefined) {
    const left = withoutCut(bytes, cut)
    short = shortOf(left)
    free(left)
    yield
  }
  const { text, ascii } = short
  const value: unknown = JSON.parse(text)
  return { value, ascii, outermost: outermostOf(bytes, read), cut, shared }
}

/** Where the outermost object stands, and its members; undefined where the text is none. The bytes must be JSON. */
export const outermostOf = (bytes: Uint8Array<ArrayBuffer>, { open, members }: Read): Container | undefined =>
  bytes[open] === OBJECT ? { isObject: true, open, slots: slotsOf(bytes, members) } : undefined

/** So few bytes are copied one by one: of many strings that are cut, most have no more between them. */
const FEW = 32

const withoutCut = (bytes: Uint8Array<ArrayBuffer>, cut: Outline['cut']): Buffer<ArrayBuffer> => {
  let left = bytes.length
  for (let one = 0; one < cut.length; one += 3) left -= (cut[one + 2] as number) - (cut[one + 1] as number)
  const short = Buffer.allocUnsafe(left)
  const all = asBuffer(bytes)
  let from = 0
  let to = 0
  for (let one = 0; one <= cut.length; one += 3) {
    const kept = cut[one + 1] ?? bytes.length
    if (kept - from > FEW) to += all.copy(short, to, from, kept)
    else for (; from < kept; from++) short[to++] = bytes[from] as number
    from = cut[one + 2] ?? 0
  }
  return short
}

const slotsOf = (bytes: Uint8Array<ArrayBuffer>, members: readonly Member[]): Slot[] =>
  members.map(({ start, nameEnd, valueStart, end }) => {
    const written = asBuffer(bytes).toString('utf8', start + 1, nameEnd - 1)
    return { key: written.includes('\\') ? JSON.parse(`"${written}"`) : written, start, valueStart, end }
  })
