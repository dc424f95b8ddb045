// Spoken output of a stream, gathered into the one opaque part that a whole answer holds.

import type { Json, JsonObject } from '../../ir/json.ts'
import type { OpaquePart } from '../../ir/part.ts'

export const audioCollector = () => {
  const texts: Record<'data' | 'transcript', string[]> = { data: [], transcript: [] }
  let rest: { [name: string]: Json | undefined } | undefined
  return {
    add: ({ data, transcript, ...members }: JsonObject): void => {
      rest = { ...rest, ...members }
      if (typeof data === 'string') texts.data.push(data)
      if (typeof transcript === 'string') texts.transcript.push(transcript)
    },
    /** The part, or undefined where nothing was spoken. */
    take: (): OpaquePart | undefined => {
      if (rest === undefined) return undefined
      const audio = { ...rest, data: texts.data.join(''), transcript: texts.transcript.join('') }
      return { type: 'opaque', origin: 'chat-completions', value: { audio } }
    },
  }
}
