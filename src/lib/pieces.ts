// Bytes that are parts of others, put together where they are sent: what is held is what they are parts of.

import { lend } from './memory.ts'

/** Memory in which up to so many bytes are put together, again and again: new memory costs more than the copy itself. */
const KEPT_BYTES = 1024 * 1024
let kept: Uint8Array<ArrayBuffer> | undefined

export class Pieces {
  /** In bytes. */
  readonly length: number
  readonly #pieces: readonly Uint8Array[]

  constructor(pieces: readonly Uint8Array[]) {
    this.#pieces = pieces
    this.length = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)
  }

  /** All of it, for whoever reads it before anything else is put together: what is given next may lie where this did. */
  forNow(): Uint8Array<ArrayBuffer> {
    if (this.length > KEPT_BYTES) return this.copied()
    kept ??= new Uint8Array(KEPT_BYTES)
    return this.#into(kept.subarray(0, this.length))
  }

  /** All of it, to be kept. */
  copied(): Uint8Array<ArrayBuffer> {
    return this.#into(Buffer.allocUnsafeSlow(this.length))
  }

  /** What it is made of, in order. */
  get all(): readonly Uint8Array[] {
    return this.#pieces
  }

  #into(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> {
    let at = 0
    for (const piece of this.#pieces) {
      bytes.set(piece, at)
      at += piece.byteLength
    }
    return bytes
  }
}

/** What a request is sent as. */
export type Sent = string | Uint8Array<ArrayBuffer> | Pieces

/**
 * A body of at least so many bytes is given to the runtime a part at a time: one that it is given whole it copies, and holds for
 * as long as the answer runs.
 */
const GIVEN_WHOLE_BYTES = 128 * 1024
/**
 * As much as is given before it is waited for that the connection has taken it. The runtime's copy of a part must not leave
 * memory behind of the size in which it reads answers: it would be cleared for that, and so be there in full.
 */
export const PART_BYTES = 160 * 1024

/** What `fetch` is given of it. `headers`: what goes with that. To be sent again it is asked for again. */
export const bodyOf = (
  sent: Sent,
): { body: string | Uint8Array<ArrayBuffer> | ReadableStream; headers: Record<string, string> } => {
  const { length } = sent
  if (length < GIVEN_WHOLE_BYTES) return { body: forNow(sent), headers: {} }
  const pieces = sent instanceof Pieces ? sent.all : [typeof sent === 'string' ? new TextEncoder().encode(sent) : sent]
  const bytes = pieces.reduce((sum, { byteLength }) => sum + byteLength, 0)
  return { body: inParts(pieces), headers: { 'content-length': String(bytes) } }
}

const inParts = (pieces: readonly Uint8Array[]): ReadableStream => {
  const sent = lend(pieces)
  const source: Bun.DirectUnderlyingSource = {
    type: 'direct',
    async pull(to) {
      let given = 0
      for (const piece of pieces) {
        for (let at = 0; at < piece.byteLength; at += PART_BYTES) {
          const part = piece.subarray(at, at + PART_BYTES)
          to.write(part)
          given += part.byteLength
          // Of a body in many small pieces each would be a write of its own.
          if (given < PART_BYTES) continue
          given = 0
          await to.flush()
        }
      }
      to.end()
      sent()
    },
  }
  // The DOM's types, which stand before the runtime's, know no such source.
  return new ReadableStream(source as object)
}

/** As it is given to what reads it at once. */
export const forNow = (sent: Sent): string | Uint8Array<ArrayBuffer> => (sent instanceof Pieces ? sent.forNow() : sent)

export const textOf = (sent: Sent): string => {
  const now = forNow(sent)
  return typeof now === 'string' ? now : new TextDecoder().decode(now)
}
