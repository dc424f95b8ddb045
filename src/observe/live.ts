// Exchanges as they end, for the dashboard's live views. Costs only counters while nobody watches.

import { isError } from '../ledger/ledger.ts'
import { createRecent } from '../lib/recent.ts'
import type { Ended, Summary } from '../relay/exchange.ts'
import type { Refusal } from '../store/refusals.ts'
import type { ExchangeRow } from '../store/usage.ts'

export type Live = {
  publish(exchange: Ended, summary: Summary): void
  /** Counts a request that was refused before it became an exchange. */
  refused(ownerId: string | undefined): void
  /** Shows such requests, once they are written. */
  publishRefused(refusals: readonly Refusal[]): void
  /** Shows what the store has of another node, unless it was shown already; `isOld`: counts it as shown. */
  show(row: ExchangeRow, isOld: boolean): void
  /** `by`: the session or token that watches. Returns a function that ends it. */
  watch(onEnd: Watcher['ended'], by?: string, onRefused?: Watcher['refused'], onOthers?: Watcher['others']): () => void
  /** Since the start of the process, of all exchanges or of those by one owner's keys. */
  counts(ownerId?: string): Counts
  /** How many watch, in all or by one of them. */
  watching(by?: string): number
}

type Watcher = {
  ended(exchange: Ended, summary: Summary): void
  refused(refusal: Refusal): void
  others(row: ExchangeRow): void
}

/** What was shown last, by ids: more than a page could show while the store is asked. */
const MOST_SHOWN = 5_000

/** `errors`: those refused or failed; `finished` includes them. */
export type Counts = { finished: number; errors: number }

export const createLive = (): Live => {
  const watchers = new Map<Watcher, string | undefined>()
  const shown = createRecent<string, true>(MOST_SHOWN)
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
      if (watchers.size === 0) return
      shown.set(exchange.id, true)
      for (const watcher of watchers.keys()) watcher.ended(exchange, summary)
    },
    refused: (ownerId) => count(ownerId, true),
    publishRefused(refusals) {
      if (watchers.size === 0) return
      for (const { id } of refusals) shown.set(id, true)
      for (const watcher of watchers.keys()) for (const refusal of refusals) watcher.refused(refusal)
    },
    show(row, isOld) {
      if (shown.get(row.id) !== undefined) return
      shown.set(row.id, true)
      if (!isOld) for (const watcher of watchers.keys()) watcher.others(row)
    },
    watch(ended, by, refused = nothing, others = nothing) {
      const watcher: Watcher = { ended, refused, others }
      watchers.set(watcher, by)
      return () => void watchers.delete(watcher)
    },
    counts: (ownerId) => ({ ...(ownerId === undefined ? all : (byOwner.get(ownerId) ?? NONE)) }),
    watching: (by) => (by === undefined ? watchers.size : [...watchers.values()].filter((each) => each === by).length),
  }
}

const nothing = (): void => undefined

const NONE: Counts = { finished: 0, errors: 0 }
