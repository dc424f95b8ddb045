// A whole transcript as the events of the stream that it would have been, and the other way round; sound as the events that were
// asked for.

import { type JsonObject, parseObject } from '../../ir/json.ts'
import type { Frame } from '../../lib/sse.ts'
import { textOf } from '../pass.ts'
import { pieceOf } from './tap.ts'

export const framesOf = ({ text = '', usage }: JsonObject): Frame[] => [
  { data: JSON.stringify({ type: 'transcript.text.delta', delta: text }) },
  { data: JSON.stringify({ type: 'transcript.text.done', text, usage }) },
]

export const answerOf = (frames: readonly Frame[]): JsonObject => {
  const events = frames.map(({ data }) => parseObject(data) ?? {})
  const end = events.findLast(({ type }) => type === 'transcript.text.done')
  const usage = events.findLast((event) => event.usage !== undefined)?.usage
  const text = textOf(end?.text) ?? events.map(pieceOf).join('')
  return { text, ...(usage === undefined ? {} : { usage }) }
}

/** The events of speech, for servers that know none and answer with sound. */
export const spoken = {
  piece: (bytes: Uint8Array): Frame => ({
    data: JSON.stringify({ type: 'speech.audio.delta', audio: Buffer.from(bytes).toString('base64') }),
  }),
  end: { data: JSON.stringify({ type: 'speech.audio.done' }) },
}
