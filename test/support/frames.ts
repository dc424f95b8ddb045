// A stream's frames, by the reader the gateway itself uses, and what a codec makes of all of them.

import type { ChatEvent } from '../../src/ir/event.ts'
import { type Frame, FrameReader } from '../../src/lib/sse.ts'
import type { EventDecoder, EventEncoder } from '../../src/wire/codec.ts'

/** The frames of a stream that arrives in these pieces, each as text or as bytes. */
export const framesOf = (...pieces: (string | Uint8Array)[]): Frame[] => {
  const reader = new FrameReader()
  const bytes = pieces.map((piece) => (typeof piece === 'string' ? new TextEncoder().encode(piece) : piece))
  return [...bytes.flatMap((piece) => reader.push(piece)), ...reader.end()]
}

export const decodeAll = (decoder: EventDecoder, frames: readonly Frame[]): ChatEvent[] => [
  ...frames.flatMap((frame) => decoder.push(frame)),
  ...decoder.end(),
]

export const encodeAll = (encoder: EventEncoder, events: readonly ChatEvent[]): string =>
  events.map((event) => encoder.push(event)).join('')
