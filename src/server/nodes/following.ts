// Shows on live pages what ends at other nodes: looked for each second, while anybody watches.

import type { Gateway } from '../../gateway.ts'

const EVERY_MS = 1_000
/** The newest that are looked at: more than a page could show of a second. */
const MOST = 200

/** Runs until the returned function is called. */
export const followOthers = (
  { live, store, log, clock }: Pick<Gateway, 'live' | 'store' | 'log' | 'clock'>,
  everyMs = EVERY_MS,
) => {
  let looking = false
  let failing = false
  /** What ended before anybody watched is on the page already. */
  let isFirst = true
  const look = async (): Promise<void> => {
    const isWatched = live.watching() > 0
    if (isWatched) {
      const rows = await store.exchanges({ limit: MOST })
      // Whoever watches began to within the last round: what ended in that may not be on the page.
      const since = isFirst ? clock() - 2 * everyMs : 0
      for (const row of rows.reverse())
        if (row.endedAt !== null || row.refusal !== null) live.show(row, (row.endedAt ?? row.startedAt) < since)
    }
    isFirst = !isWatched
  }
  const round = async (): Promise<void> => {
    if (looking) return
    looking = true
    try {
      await look()
      failing = false
    } catch (cause) {
      if (!failing) log.warn('what other nodes served could not be read: tried again', { cause: String(cause) })
      failing = true
    } finally {
      looking = false
    }
  }
  const rounds = setInterval(() => void round(), everyMs).unref()
  return () => clearInterval(rounds)
}
