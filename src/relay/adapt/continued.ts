// How long the conversations are that providers keep: a request that continues an answer by its id brings all of it, and
// says nothing of it itself.

import { totalTokens, type Usage } from '../../ir/usage.ts'
import { type Known, onceKnown } from '../../lib/known.ts'
import { createRecent } from '../../lib/recent.ts'
import { answerKey, previousAnswerOf } from '../affinity.ts'
import { type ClientBody, withEstimate } from '../client-body.ts'

/** How many answers are remembered. A request that continues one that is forgotten counts for what it says itself. */
const MAX_REMEMBERED = 20_000

/** What an answer and its prompt bring to a request that continues it. Its thoughts are no part of what follows it. */
export const lengthOf = (usage: Usage): number => totalTokens(usage) - (usage.reasoning ?? 0)

export type Continued = {
  /** The body, its estimate raised by what the answer that it continues and its prompt came to. */
  withPrevious(keyId: string, body: ClientBody): Known<ClientBody>
  remember(keyId: string, answerId: string, tokens: number): void
}

/** `written`: what is written down of an answer that is not remembered here; undefined where nothing is. */
export const createContinued = (
  written: (keyId: string, answerId: string) => Promise<number | undefined>,
): Continued => {
  const lengths = createRecent<string, number>(MAX_REMEMBERED)
  const lookUp = async (keyId: string, answerId: string): Promise<number> => {
    const tokens = await written(keyId, answerId)
    if (tokens !== undefined) lengths.set(answerKey(keyId, answerId), tokens)
    return tokens ?? 0
  }
  return {
    withPrevious(keyId, body) {
      const previous = previousAnswerOf(body)
      if (previous === undefined) return body
      return onceKnown(lengths.get(answerKey(keyId, previous)) ?? lookUp(keyId, previous), (tokens) =>
        tokens === 0 ? body : withEstimate(body, body.inputEstimate + tokens),
      )
    },
    remember(keyId, answerId, tokens) {
      lengths.set(answerKey(keyId, answerId), tokens)
    },
  }
}
