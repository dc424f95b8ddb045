// Spoken output of a stream, gathered into the one opaque part that a whole answer holds.

import type { Json, JsonObject } from '../../ir/json.ts'
import type { OpaquePart } from '../../ir/part.ts'

export const endsSpeech = (audio: JsonObject): boolean => typeof audio.expires_at === 'number'

export const audioCollector = () => {
  const texts: Record<'data' | 'transcript', string[]> = { data: [], transcript: [] }
  let rest: { [name: string]: Json | undefined } | undefined
  let ended = false
  return {
    add: (piece: JsonObject): void => {
      const { data, transcript, ...members } = piece
      ended = endsSpeech(piece)
      rest = { ...rest, ...members }
      if (typeof data === 'string') texts.data.push(data)
      if (typeof transcript === 'string') texts.transcript.push(transcript)
    },
    /** Whether the last piece was the end of the sound, which vendors send in place of a reason. */
    get ended() {
      return ended
    },
    /** The part, or undefined where nothing was spoken. */
    take: (): OpaquePart | undefined => {
      if (rest === undefined) return undefined
      const audio = { ...rest, data: texts.data.join(''), transcript: texts.transcript.join('') }
      return { type: 'opaque', origin: 'chat-completions', value: { audio } }
    },
  }
}
