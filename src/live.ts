// Exchanges as they end, for whoever is watching: the dashboard's live views. Costs a counter when nobody is.

import type { Ended, Summary } from './relay/exchange.ts'

export type Live = {
  publish(exchange: Ended, summary: Summary): void
  /** Returns its end. */
  watch(see: (exchange: Ended, summary: Summary) => void): () => void
  /** Since the start of the process, of all exchanges or of one owner's keys. */
  counts(ownerId?: string): Counts
  watching(): number
}

/** `errors`: those refused or failed, also among the finished. */
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
        if (summary.outcome === 'refused' || summary.outcome === 'failed') counts.errors++
      }
      for (const see of watchers) see(exchange, summary)
    },
    watch(see) {
      const one: typeof see = (exchange, summary) => see(exchange, summary)
      watchers.add(one)
      return () => void watchers.delete(one)
    },
    counts: (ownerId) => ({ ...(ownerId === undefined ? all : (byOwner.get(ownerId) ?? NONE)) }),
    watching: () => watchers.size,
  }
}

const NONE: Counts = { finished: 0, errors: 0 }
