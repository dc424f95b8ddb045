// Exchanges as they end, for whoever is watching: the dashboard's live views. Costs a counter when nobody is.

import type { Exchange, Summary } from './relay/exchange.ts'

export type Live = {
  publish(exchange: Exchange, summary: Summary): void
  /** Returns its end. */
  watch(see: (exchange: Exchange, summary: Summary) => void): () => void
  /** Since the start of the process. */
  counts(): { finished: number; errors: number; watching: number }
}

export const createLive = (): Live => {
  const watchers = new Set<(exchange: Exchange, summary: Summary) => void>()
  let finished = 0
  let errors = 0
  return {
    publish(exchange, summary) {
      finished++
      if (summary.outcome === 'refused' || summary.outcome === 'failed') errors++
      for (const see of watchers) see(exchange, summary)
    },
    watch(see) {
      const one: typeof see = (exchange, summary) => see(exchange, summary)
      watchers.add(one)
      return () => void watchers.delete(one)
    },
    counts: () => ({ finished, errors, watching: watchers.size }),
  }
}
