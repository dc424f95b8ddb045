// A growing text of which only a bounded part is kept, for estimating its tokens.

import { seenOf } from './json-mark.ts'

const KEPT_CHARS = 256 * 1024
const PIECES = 64
const OPENING_CHARS = 1_000

/** Collects pieces of text: their length is exact, the text itself is kept up to a bound. */
export class OutputText {
  #chars = 0
  #kept = 0
  #blocks: string[] = []
  #pieces: string[] = []

  add(piece: string | undefined): void {
    if (piece === undefined || piece === '') return
    const marked = seenOf(piece)
    const seen = marked?.seen ?? piece
    this.#chars += seen.length + (marked?.hidden ?? 0)
    const room = KEPT_CHARS - this.#kept
    if (room === 0) return
    const kept = seen.length > room ? seen.slice(0, room) : seen
    this.#kept += kept.length
    // Joining makes a flat copy, so that pieces sliced from frames do not keep the frames in memory.
    if (this.#pieces.push(kept) === PIECES) this.#join()
  }

  /** Characters added so far. */
  get chars(): number {
    return this.#chars
  }

  /** The beginning of the text, short enough to be read often. */
  get opening(): string {
    return (this.#blocks[0] ?? this.#pieces.join('')).slice(0, OPENING_CHARS)
  }

  /** The text from its beginning, cut at the bound. */
  get text(): string {
    this.#join()
    return this.#blocks.join('')
  }

  #join(): void {
    if (this.#pieces.length === 0) return
    this.#blocks.push(this.#pieces.join(''))
    this.#pieces = []
  }
}
