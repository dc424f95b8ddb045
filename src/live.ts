// Exchanges as they end, for the dashboard's live views. Costs only counters while nobody watches.

import { isError } from './ledger/ledger.ts'
import type { Ended, Summary } from './relay/exchange.ts'

export type Live = {
  publish(exchange: Ended, summary: Summary): void
  /** Returns a function that ends it. */
  watch(onEnd: (exchange: Ended, summary: Summary) => void): () => void
  /** Since the start of the process, of all exchanges or of those by one owner's keys. */
  counts(ownerId?: string): Counts
  watching(): number
}

/** `errors`: those refused or failed; `finished` includes them. */
export type Counts = { finished: number; errors: number }

export const createLive = (): Live => {
  const watchers = new Set<(exchange: Ended, summary: Summary) => void>()
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
      for (const onEnd of watchers) onEnd(exchange, summary)
    },
    watch(onEnd) {
      // A function of its own, so that the same one can watch twice.
      const watcher: typeof onEnd = (exchange, summary) => onEnd(exchange, summary)
      watchers.add(watcher)
      return () => void watchers.delete(watcher)
    },
    counts: (ownerId) => ({ ...(ownerId === undefined ? all : (byOwner.get(ownerId) ?? NONE)) }),
    watching: () => watchers.size,
  }
}

const NONE: Counts = { finished: 0, errors: 0 }
