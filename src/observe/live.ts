// Exchanges as they end, for the dashboard's live views. Costs only counters while nobody watches.

import { isError } from '../ledger/ledger.ts'
import type { Ended, Summary } from '../relay/exchange.ts'

export type Live = {
  publish(exchange: Ended, summary: Summary): void
  /** `by`: the session or token that watches. Returns a function that ends it. */
  watch(onEnd: (exchange: Ended, summary: Summary) => void, by?: string): () => void
  /** Since the start of the process, of all exchanges or of those by one owner's keys. */
  counts(ownerId?: string): Counts
  /** How many watch, in all or by one of them. */
  watching(by?: string): number
}

/** `errors`: those refused or failed; `finished` includes them. */
export type Counts = { finished: number; errors: number }

export const createLive = (): Live => {
  const watchers = new Map<(exchange: Ended, summary: Summary) => void, string | undefined>()
  const all: Counts = { finished: 0, errors: 0 }
  const byOwner = new Map<string, Counts>()
  const countsOf = (ownerId: string): Counts => {
    const known = byOwner.get(ownerId)
    if (known !== undefined) return known
    const counts = { finished: 0, errors: 0 }
    byOwner.set(ownerId, counts)
    return counts
  }
  return {
    publish(exchange, summary) {
      const { ownerId } = exchange.key
      for (const counts of ownerId === undefined ? [all] : [all, countsOf(ownerId)]) {
        counts.finished++
        if (isError(summary.outcome)) counts.errors++
      }
      for (const onEnd of watchers.keys()) onEnd(exchange, summary)
    },
    watch(onEnd, by) {
      // A function of its own, so that the same one can watch twice.
      const watcher: typeof onEnd = (exchange, summary) => onEnd(exchange, summary)
      watchers.set(watcher, by)
      return () => void watchers.delete(watcher)
    },
    counts: (ownerId) => ({ ...(ownerId === undefined ? all : (byOwner.get(ownerId) ?? NONE)) }),
    watching: (by) => (by === undefined ? watchers.size : [...watchers.values()].filter((each) => each === by).length),
  }
}

const NONE: Counts = { finished: 0, errors: 0 }
