// A stream's frames, by the reader the gateway itself uses.

import { type Frame, FrameReader } from '../../src/lib/sse.ts'

/** The frames of a stream that arrives in these pieces, each as text or as bytes. */
export const framesOf = (...pieces: (string | Uint8Array)[]): Frame[] => {
  const reader = new FrameReader()
  const bytes = pieces.map((piece) => (typeof piece === 'string' ? new TextEncoder().encode(piece) : piece))
  return [...bytes.flatMap((piece) => reader.push(piece)), ...reader.end()]
}
