// What the ledger has to write, and when: reservations and the rows of settlements as they come together, their sums in
// groups, the progress of streams in small groups with pauses between.

import { type Later, PATIENCE_MS, PAUSE_MS, triesAgain } from '../store/patience.ts'
import { isBusy, isStoreError } from '../store/store.ts'
import type { Batch, Journal, OpenExchange, Progress, SettledExchange, SoFar } from './journal.ts'

/** When the ledger's own work runs; tests supply their own. */
export type Timers = {
  /** Before long: what comes in this turn of the event loop, and in the next, is written together. */
  soon(run: () => void): void
  /** After so many milliseconds, without keeping the process alive. */
  later: Later
}

type Writer = {
  /** Resolves once the exchange is durable. Rejects with the cause where it cannot be written. */
  open(exchange: OpenExchange): Promise<void>
  progress(exchange: OpenExchange, soFar: SoFar): void
  /**
   * Resolves once the exchange is durable, or has waited for that as long as patience lasts: it stays to be written then.
   * `clamped`: what is written in its place where the database refuses it.
   */
  settle(exchange: SettledExchange, clamped: () => SettledExchange): Promise<void>
  /** Adds the sums of an exchange whose row a previous process has written. */
  add(exchange: SettledExchange, clamped: () => SettledExchange): void
  /** Writes the settlements that wait, but while another process is writing: then `required` ones throw the StoreError. */
  writeSettled(required?: boolean): void
  /** Whether the store has refused to write, and settlements or progress wait for the next try. */
  isStuck(): boolean
  /** The settlements that wait for that. */
  stuck(): OpenExchange[]
  /** Writes all that waits. Throws the cause where it cannot be written. */
  flush(): void
}

/** What is told of writes that fail. */
export type Faults = {
  /** Something waits, or was refused, since the store cannot be written. */
  failed(cause: unknown): void
  /** The database refused this one while it takes others: `clamped` was written in its place. */
  refused(exchange: SettledExchange, clamped: SettledExchange, cause: unknown): void
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
/** The sums of settlements wait this long, or until there are this many, to be added together. */
const SETTLE_MS = 20
const SETTLE_GROUP = 128
/** How long a write that failed waits before it is tried again by itself; the next reservation tries sooner. */
const RETRY_MS = 250

/** `tries`: writes of it that failed because another process was writing. */
type Waiting = { open: OpenExchange; tries: number; resolve: () => void; reject: (cause: unknown) => void }

/** `release`: lets the end of its answer go. */
type Ending = { exchange: SettledExchange; clamped: () => SettledExchange; release: () => void }

/** One thing to write, and what follows once it is written, or is refused for itself: then a cause is what stays. */
type Item = { part: Partial<Batch>; done: () => void; refused: (cause: unknown) => unknown }

export const createWriter = (journal: Pick<Journal, 'write'>, timers: Timers, faults: Faults): Writer => {
  const progress = new Map<OpenExchange, SoFar>()
  let waiting: Waiting[] = []
  /** Settlements whose rows are not written. */
  let ended: Ending[] = []
  /** Settlements whose rows are written, and their sums are not. */
  let unsummed: Ending[] = []
  /** Settlements that the database refused even by clamped figures: only the next try by itself takes them up again. */
  const aside: Ending[] = []
  let writes = 0
  /** From the first progress that waits until none is left. */
  let progressDue = false

  const after = (delayMs: number) => (run: () => void) => timers.later(run, delayMs)
  const turn = createAlarm(timers.soon, () => {
    // After a write that failed, settlements go with the first reservation that may succeed, or wait for the next try.
    if (!pause.isSet() && !(retry.isSet() && waiting.length === 0)) write('turn')
  })
  const summing = createAlarm(after(SETTLE_MS), () => writeSettled())
  const retry = createAlarm(after(RETRY_MS), () => {
    ended.push(...aside.splice(0))
    writeAll()
  })
  /** Between two tries while another process is writing: nothing is written until it is over. */
  const pause = createAlarm(after(PAUSE_MS), () => writeAll())
  /** No answer is held for ever by a store that cannot be written. */
  const patience = createAlarm(after(PATIENCE_MS), () => {
    for (const { release } of [...ended, ...aside]) release()
  })

  /** Writes a group of the waiting reservations and as much else as is asked for. Returns the failure, undefined if there was none. */
  const write = (what: 'turn' | 'settled' | 'all'): unknown => {
    const sums = what !== 'turn' || retry.isSet() || unsummed.length + ended.length >= SETTLE_GROUP
    const opened = waiting.slice(0, OPEN_GROUP)
    const rows = ended
    const summed = sums ? [...unsummed, ...rows] : NONE
    const batch: Required<Batch> = {
      opened: opened.map((each) => each.open),
      progressed: what === 'all' ? takeFirst(progress, Math.max(PROGRESS_GROUP, progress.size * PROGRESS_PART)) : [],
      ended: sums ? [] : rows.map(toExchange),
      settled: summed.map(toExchange),
    }
    if (opened.length + batch.progressed.length + rows.length + summed.length === 0) return undefined
    const written = (): void => {
      for (const { open } of batch.progressed) progress.delete(open)
      for (const { release } of rows) release()
      unsummed = sums ? [] : unsummed.concat(rows)
      ended = []
      waiting = waiting.slice(opened.length)
      for (const { resolve } of opened) resolve()
    }
    const cause = tried(batch)
    if (cause === undefined) written()
    const failure =
      cause === undefined || isStoreError(cause)
        ? cause
        : writeWhatItTakes(cause, (declined) => itemsOf(batch, declined, { opened, rows: sums ? [] : rows, summed }))
    if (isBusy(failure)) pause.set()
    if (failure !== undefined) failed(failure)
    if (unsummed.length > 0) summing.set()
    if (waiting.length > 0) turn.set()
    return failure
  }

  /** Returns the failure. */
  const tried = (batch: Batch): unknown => {
    try {
      journal.write(batch)
      writes++
      return undefined
    } catch (cause) {
      return cause
    }
  }

  /** Nothing more is written for now. Settlements and progress stay for the next write; reservations for a number of tries while another process is writing. */
  const failed = (cause: unknown): void => {
    faults.failed(cause)
    const due = isStoreError(cause) ? waiting.splice(0) : []
    for (const each of due) {
      if (triesAgain(cause, ++each.tries)) waiting.push(each)
      else each.reject(cause)
    }
    if (!isBusy(cause) && ended.length + aside.length + unsummed.length + progress.size > 0) retry.set()
    if (ended.length + aside.length > 0) patience.set()
  }

  /** For a batch that the database refused. Returns the failure for which something stays unwritten. */
  const writeWhatItTakes = (cause: unknown, itemsWith: (declined: OpenExchange[]) => Item[]): unknown => {
    const before = writes
    const declined: OpenExchange[] = []
    const failure = writeApart(itemsWith(declined))
    if (writes > before) {
      for (const open of declined) progress.delete(open)
      return failure
    }
    // A database that takes nothing at all refuses none of them for itself.
    ended.push(...aside.splice(0))
    return cause
  }

  /**
   * Writes what a refused batch holds without what the database refuses of it, by halves. Returns the failure for which something
   * stays unwritten.
   */
  const writeApart = (items: readonly Item[]): unknown => {
    const cause = tried(batchOf(items))
    if (cause === undefined) {
      for (const { done } of items) done()
      return undefined
    }
    const [only] = items
    if (isStoreError(cause) || only === undefined) return cause
    if (items.length === 1) return only.refused(cause)
    const half = Math.ceil(items.length / 2)
    const failure = writeApart(items.slice(0, half))
    return isStoreError(failure) ? failure : (writeApart(items.slice(half)) ?? failure)
  }

  const itemsOf = (
    batch: Batch,
    declined: OpenExchange[],
    { opened, rows, summed }: { opened: Waiting[]; rows: Ending[]; summed: Ending[] },
  ): Item[] => [
    ...opened.map(
      (each): Item => ({
        part: { opened: [each.open] },
        done: () => {
          waiting = waiting.filter((other) => other !== each)
          each.resolve()
        },
        refused: (cause) => {
          waiting = waiting.filter((other) => other !== each)
          faults.failed(cause)
          each.reject(cause)
          return undefined
        },
      }),
    ),
    ...batch.progressed.map((each): Item => {
      const done = (): void => void progress.delete(each.open)
      return { part: { progressed: [each] }, done, refused: () => void declined.push(each.open) }
    }),
    ...rows.map(
      (each): Item => ({
        part: { ended: [each.exchange] },
        done: () => {
          take(each)
          unsummed.push(each)
          each.release()
        },
        refused: (cause) => writeClamped(each, cause),
      }),
    ),
    ...summed.map(
      (each): Item => ({
        part: { settled: [each.exchange] },
        done: () => {
          take(each)
          each.release()
        },
        refused: (cause) => writeClamped(each, cause),
      }),
    ),
  ]

  const take = (ending: Ending): void => {
    ended = ended.filter((each) => each !== ending)
    unsummed = unsummed.filter((each) => each !== ending)
  }

  const writeClamped = (ending: Ending, cause: unknown): unknown => {
    const clamped = ending.clamped()
    const failure = tried({ opened: [], progressed: [], settled: [clamped] })
    if (isStoreError(failure)) return failure
    take(ending)
    if (failure !== undefined) {
      aside.push(ending)
      return failure
    }
    ending.release()
    faults.refused(ending.exchange, clamped, cause)
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
    progress(exchange, soFar) {
      progress.set(exchange, soFar)
      if (progressDue) return
      progressDue = true
      timers.later(writeAll, PROGRESS_MS)
    },
    settle(exchange, clamped) {
      progress.delete(exchange.open)
      const { promise, resolve } = Promise.withResolvers<void>()
      ended.push({ exchange, clamped, release: resolve })
      if (pause.isSet() || retry.isSet()) patience.set()
      turn.set()
      return promise
    },
    add(exchange, clamped) {
      unsummed.push({ exchange, clamped, release: () => undefined })
      summing.set()
    },
    writeSettled,
    isStuck: retry.isSet,
    stuck: () => (retry.isSet() ? [...ended, ...aside].map(({ exchange }) => exchange.open) : []),
    flush() {
      ended.push(...aside.splice(0))
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

const NONE: Ending[] = []

const toExchange = ({ exchange }: Ending): SettledExchange => exchange

const batchOf = (items: readonly Item[]): Batch => ({
  opened: items.flatMap(({ part }) => part.opened ?? []),
  progressed: items.flatMap(({ part }) => part.progressed ?? []),
  ended: items.flatMap(({ part }) => part.ended ?? []),
  settled: items.flatMap(({ part }) => part.settled ?? []),
})

const takeFirst = (progress: Map<OpenExchange, SoFar>, most: number): Progress[] => {
  const first: Progress[] = []
  for (const [open, { usage, serverTools }] of progress) {
    if (first.length >= most) break
    first.push({ open, usage, serverTools })
  }
  return first
}
