// What stands for the rest of a long string of JSON that passes unread, as text. Pages read it, too: no bytes.

/** A mark stands between two of these, which hardly any text has. */
export const EDGE = 0x7f
const ENDS = String.fromCharCode(EDGE)
/** Known to this process alone, and in no letters that base64 has others for. */
const SECRET = Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) =>
  byte.toString(16).padStart(2, '0'),
).join('')
export const BEGINS = `${ENDS}${SECRET}`
/** Behind its number stands how much it hides. */
const NUMBER = /^(\d{1,9})\.(\d{1,9})$/

export const markOf = (which: number, length: number): string => `${BEGINS}${which}.${length}${ENDS}`

/** Which of `count` marks a string ends in; undefined for one without. */
export const markIn = (text: string, count: number): number | undefined => {
  const at = markAt(text)
  return at === undefined
    ? undefined
    : numberIn((place) => text.charCodeAt(place), at + BEGINS.length, text.length - 1, count)
}

/** Where the mark begins that a string ends in. */
const markAt = (text: string): number | undefined => {
  if (text.charCodeAt(text.length - 1) !== EDGE) return undefined
  const at = text.lastIndexOf(BEGINS)
  return at === -1 ? undefined : at
}

/**
 * Whatever a mark says, only what it may stand for is put in its place: within a string, and of one. Read a character at a
 * time: of tens of thousands nothing is left behind.
 */
export const numberIn = (
  codeAt: (place: number) => number | undefined,
  from: number,
  end: number,
  count: number,
): number | undefined => {
  let number = 0
  let at = from
  for (let code = codeAt(at); at < end && code !== DOT; code = codeAt(++at)) {
    if (!isDigit(code)) return undefined
    number = number * 10 + code - ZERO
  }
  const isWhole = at > from && at - from <= MOST_DIGITS && at + 1 < end && end - at - 1 <= MOST_DIGITS
  if (!isWhole || number >= count) return undefined
  for (at++; at < end; at++) if (!isDigit(codeAt(at))) return undefined
  return number
}
const ZERO = 0x30
const DOT = 0x2e
const MOST_DIGITS = 9
const isDigit = (code: number | undefined): code is number => code !== undefined && code >= ZERO && code < ZERO + 10

/** What of a string is there, and about how many characters its mark hides; undefined for one without. */
export const seenOf = (text: string): { seen: string; hidden: number } | undefined => {
  const at = markAt(text)
  const [, , hidden] = at === undefined ? [] : (NUMBER.exec(text.slice(at + BEGINS.length, -1)) ?? [])
  return hidden === undefined ? undefined : { seen: text.slice(0, at), hidden: Number(hidden) }
}
