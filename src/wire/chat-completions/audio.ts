// Audio output of a stream, collected into the one opaque part that a whole answer holds.

import type { Json, JsonObject } from '../../ir/json.ts'
import type { OpaquePart } from '../../ir/part.ts'

export const endsAudio = (audio: JsonObject): boolean => typeof audio.expires_at === 'number'

export const audioCollector = () => {
  const texts: Record<'data' | 'transcript', string[]> = { data: [], transcript: [] }
  let rest: { [name: string]: Json | undefined } | undefined
  let ended = false
  return {
    add: (piece: JsonObject): void => {
      const { data, transcript, ...members } = piece
      ended = endsAudio(piece)
      rest = { ...rest, ...members }
      if (typeof data === 'string') texts.data.push(data)
      if (typeof transcript === 'string') texts.transcript.push(transcript)
    },
    /** Whether the last piece ends the audio, which vendors send instead of a finish reason. */
    get ended() {
      return ended
    },
    /** The part, or undefined where there was no audio. */
    take: (): OpaquePart | undefined => {
      if (rest === undefined) return undefined
      const audio = { ...rest, data: texts.data.join(''), transcript: texts.transcript.join('') }
      return { type: 'opaque', origin: 'chat-completions', value: { audio } }
    },
  }
}
