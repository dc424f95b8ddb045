// The characters of JSON's syntax, by their codes, which are their bytes too: `{`, `[`, `}`, `]` and the others.

export const OBJECT = 123
export const ARRAY = 91
export const OBJECT_END = 125
export const ARRAY_END = 93
export const COMMA = 44
export const COLON = 58
export const QUOTE = 34
export const BACKSLASH = 92
export const SPACE = 32

/** How long a character is that is escaped by its number. */
export const ESCAPED_BYTES = 6

/** Behind the escape that is there. */
export const pastEscape = (json: Uint8Array, at: number): number => at + (json[at + 1] === U ? ESCAPED_BYTES : 2)
const U = 0x75

/** No further than to the beginning of the character that is there. */
export const onBorder = (bytes: Uint8Array, start: number, end: number): number => {
  let at = end
  while (at > start && isInCharacter(bytes[at] as number)) at--
  return at
}

export const isInCharacter = (byte: number): boolean => (byte & 0xc0) === 0x80
