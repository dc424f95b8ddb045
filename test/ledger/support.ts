// A ledger for tests: its timers run when the test says, its journal fails when the test says.

import type { Key } from '../../src/keys/key.ts'
import type { Prices } from '../../src/ledger/cost.ts'
import { createLedger } from '../../src/ledger/create.ts'
import type { Batch } from '../../src/ledger/journal.ts'
import type { Ledger, Reservation, ReserveAsk, Settlement } from '../../src/ledger/ledger.ts'
import type { Timers } from '../../src/ledger/writer.ts'
import type { SqliteStore } from '../../src/store/store.ts'
import { NOW } from '../store/support.ts'

export const PRICE = {
  ...{ input: 5, output: 25, cacheRead: 0.5, cacheWrite: 6.25 },
  ...{ perCall: { web_search: 0.01 }, perImage: { default: 0.04 } },
}

export type Bench = {
  ledger: Ledger
  /** Runs what the ledger put off to the end of the turn. */
  turn(): void
  /** Reserves, and ends the turn. */
  reserve(ask: ReserveAsk): Promise<Reservation>
  /** Runs what the ledger put off by time. */
  wait(): void
  /** Makes the next writes fail. */
  failing(is: boolean): void
  writes(): number
  /** What the last write, done or failed, was asked to write. */
  last(): Batch
  /** Writes tried, failed ones included. */
  attempts(): number
}

type BenchOptions = {
  clock?: () => number
  prices?: Prices
  isResumed?: (exchangeId: string) => boolean
  onRefused?: ((exchangeId: string) => void) | undefined
  onFailure?: (cause: unknown) => void
}

export const bench = (
  store: SqliteStore,
  {
    clock = () => NOW,
    prices = () => PRICE,
    isResumed = () => false,
    onRefused = () => undefined,
    onFailure,
  }: BenchOptions = {},
): Bench => {
  let soon: (() => void)[] = []
  let later: (() => void)[] = []
  let failing = false
  let writes = 0
  let attempts = 0
  let last: Batch = { opened: [], progressed: [], settled: [] }
  const timers: Timers = { soon: (run) => soon.push(run), later: (run) => later.push(run) }
  const journal: SqliteStore['journal'] = {
    ...store.journal,
    write(batch) {
      attempts++
      last = batch
      if (failing) throw new Error('disk full')
      writes++
      store.journal.write(batch)
    },
  }
  const run = (due: (() => void)[]) => {
    for (const each of due) each()
  }
  const ledger = createLedger({
    ...{
      store: { keys: store.keys, budgets: store.budgets, journal },
      clock,
      prices: () => prices,
      isResumed,
      timers,
      onRefused,
      ...(onFailure === undefined ? {} : { onFailure }),
    },
  })
  const turn = (): void => {
    const due = soon
    soon = []
    run(due)
  }
  return {
    ledger,
    turn,
    reserve(asked) {
      const reserving = ledger.reserve(asked)
      turn()
      return reserving
    },
    wait() {
      const due = later
      later = []
      run(due)
    },
    failing(is) {
      failing = is
    },
    writes: () => writes,
    last: () => last,
    attempts: () => attempts,
  }
}

export const ask = (key: Key, more: Partial<ReserveAsk> = {}): ReserveAsk => ({
  ...{ exchangeId: `req_${crypto.randomUUID()}`, key, model: 'vendorA-opus-4-8', wire: 'messages', stream: true },
  ...{ inputEstimate: 100, outputCap: undefined, maxOutput: 1_000 },
  ...more,
})

export const settlement = (more: Partial<Settlement> = {}): Settlement => ({
  ...{ outcome: 'done', usage: { input: 100, output: 50 }, estimated: false, status: 200, attempts: 1, totalMs: 900 },
  ...more,
})
