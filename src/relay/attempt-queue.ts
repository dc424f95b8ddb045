// Whose turn it is among a request's targets, within the number of attempts allowed.

import type { Target } from './target.ts'

type AttemptQueue = {
  /** The next target to try; undefined when no attempt is left. */
  next(): Target | undefined
  /** Puts a target first: the one just tried, in another form. Costs no attempt. */
  retry(target: Target): void
  /** Puts a target behind the other accounts of its model. Costs no attempt. */
  retryLater(target: Target): void
  /** The target just tried has failed, at the cost of an attempt. */
  spend(): void
}

/** `targets` in order. Of the attempts that are left, one is kept for each model that has had none. */
export const attemptQueue = (targets: readonly Target[], maxAttempts: number): AttemptQueue => {
  const rest = [...targets]
  const tried = new Set<string>()
  let left = maxAttempts
  let first: Target | undefined

  const inTurn = (): Target | undefined => {
    if (left === 0) return undefined
    const untried = new Set(rest.map(({ model }) => model.id)).difference(tried)
    const at = untried.size < left ? 0 : rest.findIndex(({ model }) => untried.has(model.id))
    return rest.splice(at, 1)[0]
  }

  return {
    next() {
      const target = first ?? inTurn()
      first = undefined
      if (target !== undefined) tried.add(target.model.id)
      return target
    },
    retry(target) {
      first = target
    },
    retryLater(target) {
      const at = rest.findIndex(({ model }) => model.id !== target.model.id)
      rest.splice(at === -1 ? rest.length : at, 0, target)
    },
    spend() {
      left--
    },
  }
}
