// Exchanges as they end, for the dashboard's live views. Costs only counters while nobody watches.

import { isError } from '../ledger/ledger.ts'
import type { Ended, Summary } from '../relay/exchange.ts'
import type { Refusal } from '../store/refusals.ts'

export type Live = {
  publish(exchange: Ended, summary: Summary): void
  /** Counts a request that was refused before it became an exchange. */
  refused(ownerId: string | undefined): void
  /** Shows such requests, once they are written. */
  publishRefused(refusals: readonly Refusal[]): void
  /** `by`: the session or token that watches. Returns a function that ends it. */
  watch(onEnd: Watcher['ended'], by?: string, onRefused?: Watcher['refused']): () => void
  /** Since the start of the process, of all exchanges or of those by one owner's keys. */
  counts(ownerId?: string): Counts
  /** How many watch, in all or by one of them. */
  watching(by?: string): number
}

type Watcher = {
  ended(exchange: Ended, summary: Summary): void
  refused(refusal: Refusal): void
}

/** `errors`: those refused or failed; `finished` includes them. */
export type Counts = { finished: number; errors: number }

export const createLive = (): Live => {
  const watchers = new Map<Watcher, string | undefined>()
  const all: Counts = { finished: 0, errors: 0 }
  const byOwner = new Map<string, Counts>()
  const countsOf = (ownerId: string): Counts => {
    const known = byOwner.get(ownerId)
    if (known !== undefined) return known
    const counts = { finished: 0, errors: 0 }
    byOwner.set(ownerId, counts)
    return counts
  }
  const count = (ownerId: string | undefined, isFailure: boolean): void => {
    for (const counts of ownerId === undefined ? [all] : [all, countsOf(ownerId)]) {
      counts.finished++
      if (isFailure) counts.errors++
    }
  }
  return {
    publish(exchange, summary) {
      count(exchange.key.ownerId, isError(summary.outcome))
      for (const watcher of watchers.keys()) watcher.ended(exchange, summary)
    },
    refused: (ownerId) => count(ownerId, true),
    publishRefused(refusals) {
      for (const watcher of watchers.keys()) for (const refusal of refusals) watcher.refused(refusal)
    },
    watch(ended, by, refused = () => undefined) {
      const watcher: Watcher = { ended, refused }
      watchers.set(watcher, by)
      return () => void watchers.delete(watcher)
    },
    counts: (ownerId) => ({ ...(ownerId === undefined ? all : (byOwner.get(ownerId) ?? NONE)) }),
    watching: (by) => (by === undefined ? watchers.size : [...watchers.values()].filter((each) => each === by).length),
  }
}

const NONE: Counts = { finished: 0, errors: 0 }
