// Uncaught errors of a server: logged, and the server goes on, since one exchange's error does not touch another. A
// process with many of them is stopped gracefully instead, so that its supervisor starts a fresh one.

import type { Log } from '../observe/log.ts'

/** So many within this time are no accident. */
const MOST = 10
const WITHIN_MS = 60_000
const FRAMES = 8

/** The listener. `giveUp` is called once, when the faults are too many. */
export const createFaults = (log: Log, giveUp: () => void, now: () => number = Date.now) => {
  let times: number[] = []
  return (error: unknown): void => {
    const at = now()
    times = [...times.filter((time) => time > at - WITHIN_MS), at]
    log.error('a fault that nothing caught', describe(error))
    log.flush()
    if (times.length !== MOST) return
    log.error(`${MOST} such faults within a minute: the server stops`)
    giveUp()
  }
}

// The message is cut short: one of a parser may quote what it read.
const describe = (error: unknown): object =>
  error instanceof Error
    ? {
        name: error.name,
        cause: error.message.slice(0, 200),
        at: (error.stack ?? '')
          .split('\n')
          .filter((line) => /^\s+at /.test(line))
          .slice(0, FRAMES)
          .map((line) => line.trim()),
      }
    : { cause: String(error).slice(0, 200) }
