// Sealed thoughts as servers of this wire write them: a list of entries, which streams send in pieces.

import { asObjects, type Json, type JsonObject } from '../../ir/json.ts'
import type { Seal } from '../../ir/part.ts'

/** The members that hold such a list. */
export const LISTS = ['reasoning_details', 'thinking_blocks'] as const
export type List = (typeof LISTS)[number]

/** The entries of a message, under the name they have there. */
export const detailsIn = (message: JsonObject): { list: List; details: JsonObject[] } => {
  const list = LISTS.find((name) => Array.isArray(message[name])) ?? 'reasoning_details'
  const entries = message[list]
  return { list, details: asObjects(entries) }
}

export const detailSeal = (list: List, details: JsonObject[]): Seal => ({
  origin: 'chat-completions',
  value: { [list]: details as Json[] },
})

/** The readable text of an entry. */
export const detailText = ({ text, summary, thinking }: JsonObject): string | undefined =>
  [text, summary, thinking].find((value) => typeof value === 'string')

/** Whether an entry holds something that only its provider can read, besides its text. */
export const isSealed = ({ signature, data }: JsonObject): boolean =>
  [signature, data].some((secret) => typeof secret === 'string' && secret !== '')

/** Adds a piece to the entries: texts are appended, other members replaced. */
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
    const grows = TEXTS.has(name) && typeof value === 'string' && typeof before === 'string'
    grown[name] = grows ? before + value : value
  }
  details[details.length - 1] = grown
}

const TEXTS = new Set(['text', 'summary', 'thinking'])
