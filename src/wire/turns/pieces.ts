// What is said in whatever form its server writes it: a text, one part, or a list of either, whose texts may have no type.

import { isObject, type Json } from '../../ir/json.ts'
import { given } from '../read.ts'

/** As a list of parts; what is neither a text nor a part stays as it is. */
export const piecesOf = (content: Json | undefined): Json[] => [content ?? []].flat().map(pieceOf)

export const pieceOf = (piece: Json): Json => {
  if (typeof piece === 'string') return { type: 'text', text: piece }
  const isText = isObject(piece) && !given(piece.type) && typeof piece.text === 'string'
  return isText ? { ...piece, type: 'text' } : piece
}
