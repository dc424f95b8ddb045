// Edits JSON text in place: every byte outside the edited members stays as it was. The text must be valid JSON.

/** Sets (`value`: JSON text) or removes (`value` undefined) what stands at `path`. Setting an absent member adds it. */
export type Edit = { path: readonly (string | number)[]; value: string | undefined }

type Cut = { start: number; end: number; text: string }
type Slot = { key: string | number; start: number; valueStart: number; end: number }

/**
 * Applies the edits. A name that occurs twice in one object is edited at both places, for readers differ in which of
 * them counts; a path that leads nowhere is left out, but for the adding of a member to an object.
 */
export const splice = (text: string, edits: readonly Edit[]): string => {
  if (edits.length === 0) return text
  const cuts: Cut[] = []
  collect(text, skipSpace(text, 0), edits, 0, cuts)
  if (cuts.length === 0) return text
  cuts.sort((a, b) => a.start - b.start)
  let out = ''
  let at = 0
  for (const cut of cuts) {
    out += text.slice(at, cut.start) + cut.text
    at = cut.end
  }
  return out + text.slice(at)
}

const collect = (text: string, open: number, edits: readonly Edit[], depth: number, cuts: Cut[]): void => {
  const first = text.charCodeAt(open)
  if (first !== OBJECT && first !== ARRAY) return
  const slots = readSlots(text, open)
  const removed = new Set<Slot>()
  for (const edit of edits) {
    const key = edit.path[depth]
    const last = depth === edit.path.length - 1
    let found = false
    for (const slot of slots) {
      if (slot.key !== key) continue
      found = true
      if (!last) continue
      if (edit.value === undefined) removed.add(slot)
      else cuts.push({ start: slot.valueStart, end: slot.end, text: edit.value })
    }
    if (!found && last && edit.value !== undefined && first === OBJECT) {
      const comma = slots.length > 0 ? ',' : ''
      cuts.push({ start: open + 1, end: open + 1, text: `${JSON.stringify(key)}:${edit.value}${comma}` })
    }
  }
  if (removed.size > 0) cutSlots(slots, removed, cuts)
  const deeper = edits.filter((edit) => edit.path.length > depth + 1)
  if (deeper.length === 0) return
  for (const slot of slots) {
    const inside = deeper.filter((edit) => edit.path[depth] === slot.key)
    if (inside.length > 0 && !removed.has(slot)) collect(text, slot.valueStart, inside, depth + 1, cuts)
  }
}

// Each removed slot takes one comma along: those before the first kept slot the comma behind them, others the one
// before. So any set of slots can go without two cuts meeting.
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

const OBJECT = 123
const ARRAY = 91
const QUOTE = 34
const BACKSLASH = 92

/** The members of the object, or the elements of the array, that opens here. */
const readSlots = (text: string, open: number): Slot[] => {
  const slots: Slot[] = []
  const isObject = text.charCodeAt(open) === OBJECT
  let at = skipSpace(text, open + 1)
  let index = 0
  while (at < text.length) {
    const code = text.charCodeAt(at)
    if (code === 125 || code === 93) break
    const start = at
    let key: string | number = index
    if (isObject) {
      const end = skipString(text, at)
      key = readKey(text, at, end)
      at = skipSpace(text, skipSpace(text, end) + 1)
    }
    const valueStart = at
    const end = skipValue(text, at)
    slots.push({ key, start, valueStart, end })
    index++
    at = skipSpace(text, end)
    if (text.charCodeAt(at) === 44) at = skipSpace(text, at + 1)
  }
  return slots
}

const readKey = (text: string, start: number, end: number): string => {
  const raw = text.slice(start + 1, end - 1)
  return raw.includes('\\') ? (JSON.parse(text.slice(start, end)) as string) : raw
}

const skipSpace = (text: string, at: number): number => {
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

const skipValue = (text: string, start: number): number => {
  const first = text.charCodeAt(start)
  if (first === QUOTE) return skipString(text, start)
  let at = start
  if (first !== OBJECT && first !== ARRAY) {
    for (; at < text.length; at++) {
      const code = text.charCodeAt(at)
      if (code === 44 || code === 125 || code === 93 || code <= 32) break
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
    else if (code === 125 || code === 93) {
      depth--
      if (depth === 0) return at
    }
  }
  return text.length + 1
}

/** Where the value of an object's first member of that name stands. Stops there: later members are not read. */
export const findMember = (text: string, name: string): { start: number; end: number } | undefined => {
  let at = skipSpace(text, 0)
  if (text.charCodeAt(at) !== OBJECT) return undefined
  at = skipSpace(text, at + 1)
  while (text.charCodeAt(at) === QUOTE) {
    const keyEnd = skipString(text, at)
    const key = readKey(text, at, keyEnd)
    const start = skipSpace(text, skipSpace(text, keyEnd) + 1)
    const end = skipValue(text, start)
    if (key === name) return { start, end }
    at = skipSpace(text, end)
    if (text.charCodeAt(at) !== 44) return undefined
    at = skipSpace(text, at + 1)
  }
  return undefined
}
