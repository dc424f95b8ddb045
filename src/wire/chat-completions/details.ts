// `reasoning_details`: thoughts as servers of this kind seal them, in entries that a stream brings in pieces.

import type { Json, JsonObject } from '../../ir/json.ts'

/** What can be read of an entry. */
export const detailText = ({ text, summary }: JsonObject): string | undefined =>
  typeof text === 'string' ? text : typeof summary === 'string' ? summary : undefined

/** Whether an entry holds what only its provider can read: the others say no more than their text. */
export const isSealed = ({ signature, data }: JsonObject): boolean =>
  [signature, data].some((secret) => typeof secret === 'string' && secret !== '')

/** Adds a piece to the entries: text goes on where it left off, another member stands as told last. */
export const addPiece = (details: JsonObject[], piece: JsonObject): void => {
  const last = details.at(-1)
  if (last === undefined || last.type !== piece.type || last.index !== piece.index || piece.data !== undefined) {
    details.push(piece)
    return
  }
  const grown: { [name: string]: Json | undefined } = { ...last }
  for (const [name, value] of Object.entries(piece)) {
    if (value === null || value === undefined) continue
    const before = grown[name]
    const grows = (name === 'text' || name === 'summary') && typeof value === 'string' && typeof before === 'string'
    grown[name] = grows ? before + value : value
  }
  details[details.length - 1] = grown
}
