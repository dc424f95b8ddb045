// Deletes exchanges that are past the retention time, in steps short enough that no request waits for one.

import type { Gateway } from '../gateway.ts'
import { DAY_MS, HOUR_MS } from '../lib/spans.ts'
import { createSteps } from './steps.ts'

/** How often it looks for what has become too old. */
const EVERY_MS = 60_000
/** Rows removed at once: a fraction of a step even where every one of them is read from a disk. */
const ROWS = 20
/**
 * A clock that is so far ahead of what was to be expected may be wrong, and what it has removed is gone. It is believed
 * once it has stood for a while: one that is wrong is set right within minutes.
 */
const AHEAD_MS = 30 * DAY_MS
export const BELIEVED_AFTER_MS = HOUR_MS

/** Runs until the returned function is called. Does not keep the process alive. */
export const startPruning = async (gateway: Gateway, everyMs = EVERY_MS): Promise<() => void> => {
  const { store, clock, log } = gateway
  const isBelieved = await believing(gateway)
  const pruning = createSteps(
    async () => {
      // It may have been configured anew.
      const { retentionMs, storedAnswers } = gateway.config
      const isMore = retentionMs !== 0 && (await store.prune(clock() - retentionMs, ROWS)) === ROWS
      const { answers } = store
      const forgotten = await answers.prune(clock() - storedAnswers.keepMs, storedAnswers, ROWS)
      return (await answers.sweep(ROWS)) > 0 || forgotten > 0 || isMore
    },
    (cause) => log.warn('old exchanges could not be removed', { cause: String(cause) }),
  )
  const rounds = setInterval(() => {
    if (!pruning.isRunning() && gateway.isKeeper() && isBelieved()) pruning.run()
  }, everyMs)
  rounds.unref()
  return () => {
    clearInterval(rounds)
    pruning.stop()
  }
}

/** Whether the clock can be right: by the newest exchange, then by its own time of before and what has passed since. */
const believing = async ({ store, clock, stopwatch, log }: Gateway): Promise<() => boolean> => {
  const [newest] = await store.exchanges({ limit: 1 })
  let known = newest?.startedAt ?? clock()
  let knownAt = stopwatch()
  let doubtedAt: number | undefined
  return () => {
    const [now, at] = [clock(), stopwatch()]
    const aheadMs = now - (known + at - knownAt)
    if (aheadMs > AHEAD_MS) {
      if (doubtedAt === undefined) {
        doubtedAt = at
        const days = Math.round(aheadMs / DAY_MS)
        log.warn('the clock is far ahead: old exchanges are removed in an hour, if it still is then', { days })
      }
      if (at - doubtedAt < BELIEVED_AFTER_MS) return false
    }
    known = now
    knownAt = at
    doubtedAt = undefined
    return true
  }
}
