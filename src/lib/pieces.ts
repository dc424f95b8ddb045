// Bytes that are parts of others, put together where they are sent: what is held is what they are parts of.

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

/** As it is given to what reads it at once. */
export const forNow = (sent: Sent): string | Uint8Array<ArrayBuffer> => (sent instanceof Pieces ? sent.forNow() : sent)

export const textOf = (sent: Sent): string => {
  const now = forNow(sent)
  return typeof now === 'string' ? now : new TextDecoder().decode(now)
}
