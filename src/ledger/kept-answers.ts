// Answers that clients refer to later by their ids, as if the provider had kept them, and where those are that it did keep.

/** What a kept answer consists of, each JSON text: the items it was asked with and those it came to, without the brackets of their lists, and the answer without its output. */
export type Part = 'input' | 'output' | 'rest'

/** A part of that text: parts are cut anywhere, but within no character. */
export type Piece = { readonly part: Part; readonly text: string }

export type NewAnswer = {
  readonly keyId: string
  readonly id: string
  /** The kept answer that it continues. */
  readonly previous?: string | undefined
  /** The ids of its items. */
  readonly items: readonly string[]
}

/** `account`: the one that keeps the answer itself. `tokens`: what it and its prompt came to, once that is known. */
export type Place = {
  readonly keyId: string
  readonly id: string
  readonly account: string
  readonly tokens?: number | undefined
}

/** A part of a kept answer; `row`: its answer's. */
export type PartOf = { readonly row: number; readonly part: Part }

/** `row`: what its pieces are found by. */
export type KeptAnswer = {
  readonly row: number
  readonly id: string
  readonly previous: string | undefined
  /** The account that keeps it itself: of such an answer no pieces are here. */
  readonly place: string | undefined
  /** Of such an answer: what it and its prompt came to, where that is known. */
  readonly tokens: number | undefined
}

/** What is written of an answer. */
export type Written = NewAnswer & Partial<Pick<KeptAnswer, 'place' | 'tokens'>>

/** How many bytes of answers are kept, of one key and in all; an answer counts `ANSWER_BYTES` beside its text. */
export type Bounds = { readonly perKey: number; readonly total: number }

/** For the bookkeeping of an answer: many short ones would take far more than their text. */
export const ANSWER_BYTES = 1024

/**
 * A conversation is kept, and forgotten, as a whole: its later answers mean nothing without the earlier. Past the bounds,
 * those that were used longest ago are forgotten first. Writes are done when they return, and throw a StoreError.
 */
export type AnswerStore = {
  /**
   * Writes pieces of a large answer ahead. Nobody finds them until it is kept. Returns what it goes on by. Absent where there
   * is no other place for them than memory.
   */
  stage?(staged: number | undefined, pieces: readonly Piece[]): Promise<number>
  /** False where the answer that it continues has been forgotten: then it is not kept. */
  keep(answer: NewAnswer, pieces: readonly Piece[], bounds: Bounds, staged?: number): Promise<boolean>
  /** Notes where answers are that their providers keep. What is noted last of one stands. */
  place(places: readonly Place[], bounds: Bounds): Promise<void>
  /** A key's own answer by its id. */
  find(keyId: string, id: string): Promise<KeptAnswer | undefined>
  /** That answer and those that it goes on from, one after the other, as far as they are there: in any order. */
  conversation(keyId: string, id: string): Promise<KeptAnswer[]>
  /** The key's own answers that hold these items: each once, the oldest first. */
  withItems(keyId: string, itemIds: readonly string[]): Promise<KeptAnswer[]>
  /**
   * The pieces of these parts in their order; `from`: which of the first part's is the first. No more follow once they come
   * to so many `bytes`; where they come to fewer, there are no more. `nth`: of which part a piece is.
   */
  read(parts: readonly PartOf[], from: number, bytes: number): Promise<{ nth: number; text: string }[]>
  /** Counts the conversations of these answers as used now. */
  use(answers: readonly KeptAnswer[]): Promise<void>
  /** False where the key has no such answer. Its pieces go by and by: see `sweep`. */
  forget(keyId: string, id: string): Promise<boolean>
  /** Removes what was forgotten: about so many pieces at most. Returns how many, 0 when none are left. */
  sweep(most: number): Promise<number>
  /** Forgets conversations used last before then, those past the bounds, and those of revoked keys: so many at most. Returns how many. */
  prune(beforeMs: number, bounds: Bounds, most: number): Promise<number>
}
