// Edits JSON text in place: every byte outside the edited members stays as it was. The text must be valid JSON.

import { asBuffer } from './as-buffer.ts'
import { type Container, readContainer, type Slot, skipSpace, skipValue } from './json-scan.ts'
import { Pieces } from './pieces.ts'

/** As the last step of a path: before the first element of a list. */
export const FRONT = -1

/**
 * Sets (`value`: JSON text) or removes (`value` undefined) the value at `path`. Setting an absent member adds it, and so does
 * setting `FRONT` an element.
 */
export type Edit = { path: readonly (string | number)[]; value: string | undefined }

type Cut = { start: number; end: number; text: string }

/**
 * Applies the edits. Of a duplicated member both are edited, as parsers differ in which of them counts. Edits of paths that
 * do not exist are ignored, except that a member can be added to an object, and an element before those of a list. `parsed`:
 * the parsed text, if available, which mostly saves scanning it.
 */
export const splice = (text: string, edits: readonly Edit[], parsed?: object): string =>
  applied(text, (parsed && onlyCut(text, edits, parsed)) ?? cutsOf(textOf(text), edits))

/**
 * The same, and of an outermost member in `once` that is written more often only the last is left: the one that `JSON.parse`
 * reads.
 */
export const spliceOnce = (text: string, edits: readonly Edit[], once: Names): string =>
  applied(text, cutsOf(textOf(text), edits, once))

const applied = (text: string, cuts: Cut[]): string => {
  if (cuts.length === 0) return text
  let out = ''
  let at = 0
  for (const cut of cuts) {
    out += text.slice(at, cut.start) + cut.text
    at = cut.end
  }
  return out + text.slice(at)
}

/** `spliceOnce` for UTF-8. `outermost`: where it is known, and only its members are edited, nothing else is read. */
export const spliceBytesOnce = (
  bytes: Uint8Array<ArrayBuffer>,
  edits: readonly Edit[],
  once: Names,
  outermost?: Container,
): Uint8Array<ArrayBuffer> | Pieces => {
  const cuts = cutsOf(latin1Of(bytes), edits, once, outermost)
  if (cuts.length === 0) return bytes
  const pieces: Uint8Array[] = []
  let at = 0
  for (const cut of cuts) {
    pieces.push(bytes.subarray(at, cut.start), utf8.encode(cut.text))
    at = cut.end
  }
  pieces.push(bytes.subarray(at))
  return new Pieces(pieces)
}

const utf8 = new TextEncoder()

/** Text that is made whole only where it must be. */
type Text = { slice(start: number, end: number): string; whole(): string }

const textOf = (text: string): Text => ({ slice: (start, end) => text.slice(start, end), whole: () => text })

/** UTF-8 bytes read as Latin-1, so that positions in the text are positions in the bytes. */
const latin1Of = (bytes: Uint8Array<ArrayBuffer>): Text => {
  const buffer = asBuffer(bytes)
  let whole: string | undefined
  return {
    slice: (start, end) => buffer.toString('latin1', start, end),
    whole: () => {
      whole ??= buffer.toString('latin1')
      return whole
    },
  }
}

/**
 * The cut of a single edit that sets an existing outermost member. Without `\u` escapes the member's name occurs in the text
 * as it is. Where it occurs exactly once, that is the member.
 */
const onlyCut = (text: string, edits: readonly Edit[], parsed: object): Cut[] | undefined => {
  const [edit] = edits
  const name = edit?.path[0]
  if (edits.length !== 1 || edit?.value === undefined || edit.path.length !== 1) return undefined
  if (typeof name !== 'string' || !/^[a-z_]+$/.test(name) || !Object.hasOwn(parsed, name)) return undefined
  const quoted = `"${name}"`
  const at = text.indexOf(quoted)
  if (text.includes(quoted, at + 1) || text.includes('\\u')) return undefined
  const start = skipSpace(text, skipSpace(text, at + quoted.length) + 1)
  return [{ start, end: skipValue(text, start), text: edit.value }]
}

/** Which members: by name, and by whether the value is an object or a list. */
export type Names = { has(name: unknown, isContainer: boolean): boolean }

const NONE: Names = { has: () => false }

/** The changes to the text, in order. Setting an equal value changes nothing. */
const cutsOf = (text: Text, edits: readonly Edit[], once: Names = NONE, known?: Container): Cut[] => {
  const cuts: Cut[] = []
  if (once !== NONE || edits.length > 0) {
    const outermost = known ?? readContainer(text.whole(), skipSpace(text.whole(), 0))
    if (outermost !== undefined)
      collect({ text, container: outermost, edits, depth: 0, cuts, removed: repeatsIn(text, outermost, once) })
  }
  return cuts.filter(({ start, end, text: set }) => text.slice(start, end) !== set).sort((a, b) => a.start - b.start)
}

/** So few names are compared with each other. */
const FEW = 12

/** Whether any name is written more than once. */
const isRepeating = (slots: readonly Slot[]): boolean => {
  if (slots.length > FEW) return new Set(slots.map(({ key }) => key)).size < slots.length
  for (let at = 1; at < slots.length; at++) {
    const key = slots[at]?.key
    for (let before = 0; before < at; before++) if (slots[before]?.key === key) return true
  }
  return false
}

/** Members that are written again further on. */
const repeatsIn = (text: Text, { slots }: Container, names: Names): Set<Slot> => {
  if (names === NONE || !isRepeating(slots)) return new Set()
  const last = new Map(slots.map((slot) => [slot.key, slot]))
  const isContainer = ({ valueStart }: Slot): boolean => /[[{]/.test(text.slice(valueStart, valueStart + 1))
  return new Set(slots.filter((slot) => last.get(slot.key) !== slot && names.has(slot.key, isContainer(slot))))
}

/** `depth`: how many names of the edits' paths lead to the container. `removed`: the slots that go whatever the edits say. */
type Collecting = {
  text: Text
  container: Container
  edits: readonly Edit[]
  depth: number
  cuts: Cut[]
  removed: Set<Slot>
}

const collect = ({ text, container, edits, depth, cuts, removed }: Collecting): void => {
  const { isObject, open, slots } = container
  // Grouped by name, so that many edits of many elements take linear time.
  const wanted = new Map<string | number | undefined, Edit[]>()
  for (const edit of edits) {
    const key = edit.path[depth]
    const others = wanted.get(key)
    if (others === undefined) wanted.set(key, [edit])
    else others.push(edit)
  }
  const found = new Set<string | number | undefined>()
  for (const slot of slots) {
    const here = wanted.get(slot.key)
    if (here === undefined || removed.has(slot)) continue
    found.add(slot.key)
    const deeper: Edit[] = []
    for (const edit of here) {
      if (edit.path.length > depth + 1) deeper.push(edit)
      else if (edit.value === undefined) removed.add(slot)
      else cuts.push({ start: slot.valueStart, end: slot.end, text: edit.value })
    }
    if (deeper.length === 0 || removed.has(slot)) continue
    const inner = readContainer(text.whole(), slot.valueStart)
    if (inner === undefined) continue
    collect({ text, container: inner, edits: deeper, depth: depth + 1, cuts, removed: new Set() })
  }
  const added: string[] = []
  for (const [key, absent] of wanted) {
    if (found.has(key) || (isObject ? typeof key === 'number' : key !== FRONT)) continue
    const name = isObject ? `${JSON.stringify(key)}:` : ''
    for (const { path, value } of absent)
      if (path.length === depth + 1 && value !== undefined) added.push(`${name}${value}`)
  }
  const more = slots.length > removed.size ? ',' : ''
  if (added.length > 0) cuts.push({ start: open + 1, end: open + 1, text: added.join(',') + more })
  // After the additions: both may begin at the same position, and removals end later.
  if (removed.size > 0) cutSlots(slots, removed, cuts)
}

// Each removed slot takes one comma with it: before the first kept slot the comma after it, later the one before. So the cuts
// of any set of slots never overlap.
const cutSlots = (slots: Slot[], removed: Set<Slot>, cuts: Cut[]): void => {
  let kept = false
  slots.forEach((slot, at) => {
    if (!removed.has(slot)) {
      kept = true
      return
    }
    const next = slots[at + 1]
    const previous = slots[at - 1]
    if (kept && previous !== undefined) cuts.push({ start: previous.end, end: slot.end, text: '' })
    else cuts.push({ start: slot.start, end: next === undefined ? slot.end : next.start, text: '' })
  })
}
