// How long the conversations are that providers keep: a request that continues an answer by its id brings all of it, and
// says nothing of it itself.

import { createRecent } from '../../lib/recent.ts'
import { answerKey, previousAnswerOf } from '../affinity.ts'
import type { ClientBody } from '../client-body.ts'

/** How many answers are remembered. A request that continues one that is forgotten counts for what it says itself. */
const MAX_REMEMBERED = 20_000

export type Continued = {
  /** The body, its estimate raised by what the answer that it continues and its prompt came to. */
  withPrevious(keyId: string, body: ClientBody): ClientBody
  remember(keyId: string, answerId: string, tokens: number): void
}

export const createContinued = (): Continued => {
  const lengths = createRecent<string, number>(MAX_REMEMBERED)
  return {
    withPrevious(keyId, body) {
      const previous = previousAnswerOf(body)
      const tokens = previous === undefined ? 0 : (lengths.get(answerKey(keyId, previous)) ?? 0)
      return tokens === 0 ? body : { ...body, inputEstimate: body.inputEstimate + tokens }
    },
    remember(keyId, answerId, tokens) {
      lengths.set(answerKey(keyId, answerId), tokens)
    },
  }
}
