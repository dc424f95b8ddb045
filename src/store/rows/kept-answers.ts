// Kept answers as rows, of either dialect, and how much of what is forgotten is removed when.

import type { KeptAnswer } from '../../ledger/kept-answers.ts'
import { DAY_MS } from '../../lib/spans.ts'

export type AnswerRow = {
  row: number
  id: string
  previous: string | null
  place: string | null
  tokens: number | null
  conversation: number
  usedAt: number
}

export type FoundAnswer = KeptAnswer & Pick<AnswerRow, 'conversation' | 'usedAt'>

export const foundIn = (row: AnswerRow): FoundAnswer => ({
  ...row,
  previous: row.previous ?? undefined,
  place: row.place ?? undefined,
  tokens: row.tokens ?? undefined,
})

/** A conversation that is used all the time is noted so seldom. */
const NOTED_MS = 10_000

/** The conversations of these answers whose use is to be noted now. */
export const unnoted = (answers: readonly KeptAnswer[], now: number): number[] => {
  const due = (answers as readonly FoundAnswer[]).filter(({ usedAt }) => now - usedAt >= NOTED_MS)
  return [...new Set(due.map(({ conversation }) => conversation))]
}

/** Conversations forgotten by one write: where bounds are set lower, later writes and rounds do the rest. */
export const FORGOTTEN_AT_ONCE = 16
/** Beside the pieces that it adds, a write removes, or owes the removal of, so many of what was forgotten: that never piles up. */
export const SWEPT = 4
/** A large answer that has been written for longer never will be whole. */
export const ABANDONED_MS = DAY_MS
