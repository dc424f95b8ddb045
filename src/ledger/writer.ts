// What the ledger has to write, and when: reservations once per turn of the event loop, settlements in groups, the progress
// of streams in small groups with pauses between.

import type { Usage } from '../ir/usage.ts'
import { type Later, PAUSE_MS, triesAgain } from '../store/patience.ts'
import { isBusy } from '../store/store.ts'
import type { Batch, Journal, OpenExchange, Progress, SettledExchange } from './journal.ts'

/** When the ledger's own work runs; tests supply their own. */
export type Timers = {
  /** At the end of this turn of the event loop. */
  soon(run: () => void): void
  /** After so many milliseconds, without keeping the process alive. */
  later: Later
}

type Writer = {
  /** Resolves once the exchange is durable. Rejects with the cause where it cannot be written. */
  open(exchange: OpenExchange): Promise<void>
  /** `usage`: whole counts. */
  progress(exchange: OpenExchange, usage: Usage): void
  settle(exchange: SettledExchange): void
  /** Writes the settlements that wait, but while another process is writing: then `required` ones throw the StoreError. */
  writeSettled(required?: boolean): void
  /** Whether the store has refused to write, and settlements or progress wait for the next try. */
  isStuck(): boolean
  /** The settlements that wait for that. */
  stuck(): OpenExchange[]
  /** Writes all that waits. Throws a StoreError. */
  flush(): void
}

/** Progress waits this long to be written together. With the pauses, it is durable well within two seconds. */
const PROGRESS_MS = 250
/** The progress of many streams is written in small groups with pauses, so that no stream's events wait for all of it. */
const PROGRESS_GROUP = 24
/** A group is at least this part of what waits. */
const PROGRESS_PART = 1 / 25
const PROGRESS_PAUSE_MS = 5
/** Of reservations that come together so many are written in a turn: each goes on at once, and streams wait for all of them. */
const OPEN_GROUP = 128
/** Settlements wait this long, or until there are this many, to be written together: their sums are added once. */
const SETTLE_MS = 20
const SETTLE_GROUP = 128
/** How long a write that failed waits before it is tried again by itself; the next reservation tries sooner. */
const RETRY_MS = 250

/** `tries`: writes of it that failed because another process was writing. */
type Waiting = { open: OpenExchange; tries: number; resolve: () => void; reject: (cause: unknown) => void }

export const createWriter = (journal: Pick<Journal, 'write'>, timers: Timers): Writer => {
  const progress = new Map<OpenExchange, Usage>()
  let waiting: Waiting[] = []
  let settled: SettledExchange[] = []
  /** From the first progress that waits until none is left. */
  let progressDue = false

  const after = (delayMs: number) => (run: () => void) => timers.later(run, delayMs)
  const turn = createAlarm(timers.soon, () => {
    if (pause.isSet()) return
    // After a write that failed, settlements go with the first one that may succeed.
    write(retry.isSet() || settled.length >= SETTLE_GROUP ? 'settled' : 'opened')
  })
  const settling = createAlarm(after(SETTLE_MS), () => writeSettled())
  const retry = createAlarm(after(RETRY_MS), () => writeAll())
  /** Between two tries while another process is writing: nothing is written until it is over. */
  const pause = createAlarm(after(PAUSE_MS), () => writeAll())

  /** Writes a group of the waiting reservations and as much else as is asked for. Returns the failure, undefined if there was none. */
  const write = (what: 'opened' | 'settled' | 'all'): unknown => {
    const batch: Batch = {
      opened: waiting.slice(0, OPEN_GROUP).map((each) => each.open),
      progressed: what === 'all' ? takeFirst(progress, Math.max(PROGRESS_GROUP, progress.size * PROGRESS_PART)) : [],
      settled: what === 'opened' ? NONE : settled,
    }
    if (batch.opened.length + batch.progressed.length + batch.settled.length === 0) return undefined
    const due = waiting
    waiting = []
    try {
      journal.write(batch)
    } catch (cause) {
      // Nothing was written. Settlements and progress stay for the next write. So do reservations while another process is
      // writing, for a number of tries; otherwise they are refused.
      for (const each of due) {
        if (triesAgain(cause, ++each.tries)) waiting.push(each)
        else each.reject(cause)
      }
      if (isBusy(cause)) pause.set()
      else if (settled.length > 0 || progress.size > 0) retry.set()
      return cause
    }
    if (what !== 'opened') settled = []
    for (const { open } of batch.progressed) progress.delete(open)
    waiting = due.splice(OPEN_GROUP)
    if (waiting.length > 0) turn.set()
    for (const each of due) each.resolve()
    return undefined
  }

  /** Writes all that waits, progress in groups. */
  const writeAll = (): void => {
    if (pause.isSet()) return
    if (write('all') !== undefined || progress.size === 0) progressDue = false
    else timers.later(writeAll, PROGRESS_PAUSE_MS)
  }

  const writeSettled = (required = false): void => {
    if (pause.isSet() && !required) return
    const failure = write('settled')
    if (required && failure !== undefined) throw failure
  }

  return {
    open: (exchange) =>
      new Promise((resolve, reject) => {
        waiting.push({ open: exchange, tries: 0, resolve, reject })
        turn.set()
      }),
    progress(exchange, usage) {
      progress.set(exchange, usage)
      if (progressDue) return
      progressDue = true
      timers.later(writeAll, PROGRESS_MS)
    },
    settle(exchange) {
      progress.delete(exchange.open)
      settled.push(exchange)
      if (settled.length >= SETTLE_GROUP) turn.set()
      else settling.set()
    },
    writeSettled,
    isStuck: retry.isSet,
    stuck: () => (retry.isSet() ? settled.map(({ open }) => open) : []),
    flush() {
      do {
        const failure = write('all')
        if (failure !== undefined) throw failure
      } while (waiting.length + progress.size > 0)
    },
  }
}

/** Goes off once, however often it is set until then. */
const createAlarm = (begin: (run: () => void) => void, goOff: () => void) => {
  let isSet = false
  const run = (): void => {
    isSet = false
    goOff()
  }
  return {
    set: (): void => {
      if (isSet) return
      isSet = true
      begin(run)
    },
    isSet: (): boolean => isSet,
  }
}

const NONE: SettledExchange[] = []

const takeFirst = (progress: Map<OpenExchange, Usage>, most: number): Progress[] => {
  const first: Progress[] = []
  for (const [open, usage] of progress) {
    if (first.length >= most) break
    first.push({ open, usage })
  }
  return first
}
