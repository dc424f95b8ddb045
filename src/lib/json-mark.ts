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
  return at === undefined ? undefined : numberOf(text.slice(at + BEGINS.length, -1), count)
}

/** Where the mark begins that a string ends in. */
const markAt = (text: string): number | undefined => {
  if (text.charCodeAt(text.length - 1) !== EDGE) return undefined
  const at = text.lastIndexOf(BEGINS)
  return at === -1 ? undefined : at
}

/** Whatever a mark says, only what it may stand for is put in its place: within a string, and of one. */
export const numberOf = (digits: string, count: number): number | undefined => {
  const [, which] = NUMBER.exec(digits) ?? []
  return which !== undefined && Number(which) < count ? Number(which) : undefined
}

/** What of a string is there, and about how many characters its mark hides; undefined for one without. */
export const seenOf = (text: string): { seen: string; hidden: number } | undefined => {
  const at = markAt(text)
  const [, , hidden] = at === undefined ? [] : (NUMBER.exec(text.slice(at + BEGINS.length, -1)) ?? [])
  return hidden === undefined ? undefined : { seen: text.slice(0, at), hidden: Number(hidden) }
}
