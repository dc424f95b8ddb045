// Whether JSON that comes in pieces is closed so far, told without parsing it.

import { seenOf } from './json-mark.ts'

/** Follows a list of pieces that grows. */
export type JsonNesting = {
  /** Whether all braces and brackets are closed. Pieces that were given before are not read again. */
  isClosed(pieces: readonly string[]): boolean
  /** The same for the next piece alone, where none is kept. */
  isClosedBy(piece: string): boolean
}

export const jsonNesting = (): JsonNesting => {
  let seen = 0
  let depth = 0
  let quoted = false
  let escaped = false
  /** Of what has passed unread it cannot be told, nor of what follows. */
  let unread = false

  const read = (piece: string): void => {
    unread ||= seenOf(piece) !== undefined
    if (unread) return
    for (const letter of piece) {
      if (escaped) escaped = false
      else if (quoted) {
        if (letter === '\\') escaped = true
        else if (letter === '"') quoted = false
      } else if (letter === '"') quoted = true
      else if (letter === '{' || letter === '[') depth++
      else if (letter === '}' || letter === ']') depth--
    }
  }

  const isClosed = (): boolean => unread || (depth === 0 && !quoted)

  return {
    isClosedBy: (piece) => {
      read(piece)
      return isClosed()
    },
    isClosed: (pieces) => {
      for (; seen < pieces.length; seen++) read(pieces[seen] ?? '')
      return isClosed()
    },
  }
}
