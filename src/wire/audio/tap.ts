// Watches an audio stream of events that passes through: pieces of sound or of text, then the end with its usage. Some
// servers write a transcript in chunks as of a chat, and end it as they end that; others each piece as a transcript of its
// own, which gets the type of one, and no end, which is added.

import { asObject, asObjects, type JsonObject, parseObject } from '../../ir/json.ts'
import { type Edit, splice } from '../../lib/json-splice.ts'
import { type Frame, writeFrame } from '../../lib/sse.ts'
import type { Tap, TapOptions } from '../codec.ts'
import { errorFrame, isToldError, malformedAnswer, openNotes, textOf } from '../pass.ts'
import { decodeError } from '../refusal/error-object.ts'
import { readSpoken, readUsage } from './usage.ts'

/** What it tells of its output is sound. */
const SPOKEN = 'speech.audio.done'
const ENDS = new Set(['transcript.text.done', SPOKEN])

/** What an event adds to a transcript. */
export const pieceOf = ({ delta, choices }: JsonObject): string =>
  textOf(delta) ??
  asObjects(choices)
    .map((choice) => textOf(asObject(choice.delta).content) ?? '')
    .join('')

/** A piece that is a transcript of its own. An end may be named by its event alone. */
const wholePieceOf = ({ type, text }: JsonObject, named: string): string | undefined =>
  type === undefined && !ENDS.has(named) ? textOf(text) : undefined

const typed = (piece: string): Edit[] => [
  { path: ['type'], value: '"transcript.text.delta"' },
  { path: ['delta'], value: JSON.stringify(piece) },
]

export const tap = ({ model, tokensPer }: TapOptions): Tap => {
  const noted = openNotes()
  const named: Edit = { path: ['model'], value: JSON.stringify(model) }
  /** Of such pieces, their texts. */
  let whole: string | undefined
  const see = (frame: Frame): string => {
    if (noted.state !== 'open') return ''
    if (frame.data === '[DONE]') {
      const ended = end()
      noted.state = 'done'
      return ended + writeFrame(frame)
    }
    const data = parseObject(frame.data)
    if (data === undefined) return noted.failed(malformedAnswer())
    const type = textOf(data.type) ?? frame.event ?? ''
    if (type === 'error' || isToldError(data.error)) return noted.failed(decodeError(200, data))
    noted.begun = true
    const piece = wholePieceOf(data, type)
    noted.output.add(piece ?? pieceOf(data))
    const told = (type === SPOKEN ? readSpoken : readUsage)(data, tokensPer)
    if (told !== undefined) {
      noted.usage = told.usage
      noted.rawUsage = told.raw
    }
    if (ENDS.has(type)) noted.state = 'done'
    if (piece !== undefined) whole = (whole ?? '') + piece
    const edits = [...(data.model === undefined ? [] : [named]), ...(piece === undefined ? [] : typed(piece))]
    return writeFrame(edits.length === 0 ? frame : { ...frame, data: splice(frame.data, edits, data) })
  }
  const end = (): string => {
    if (noted.state !== 'open' || whole === undefined) return ''
    noted.state = 'done'
    return writeFrame({ data: JSON.stringify({ type: 'transcript.text.done', text: whole }) })
  }
  return Object.assign(noted, { see, end, fail: errorFrame })
}
