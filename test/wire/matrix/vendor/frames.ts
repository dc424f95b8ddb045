// How the vendors write a stream's text.

import type { JsonObject } from '../../../../src/ir/json.ts'

/** A frame whose event is its data's type. */
export const typed = (data: JsonObject): string => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`

export const bare = (data: JsonObject | string): string =>
  `data: ${typeof data === 'string' ? data : JSON.stringify(data)}\n\n`

/** A text in up to four pieces, never one within a surrogate pair. */
export const pieces = (text: string): string[] => {
  const letters = [...text]
  const size = Math.max(1, Math.ceil(letters.length / 4))
  return Array.from({ length: Math.ceil(letters.length / size) }, (_, at) =>
    letters.slice(at * size, (at + 1) * size).join(''),
  )
}

/** The lists' items in turn: one of each, then the next of each. */
export const mixed = <T>(lists: T[][]): T[] => {
  const longest = Math.max(0, ...lists.map((list) => list.length))
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat()
}
