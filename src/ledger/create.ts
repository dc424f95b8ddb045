// The ledger over a journal: admission in memory, reservations written once per turn of the event loop, settlements in
// groups.

import type { Price } from '../catalogue/model.ts'
import { GatewayError } from '../errors.ts'
import { totalTokens, type Usage } from '../ir/usage.ts'
import { type Later, PAUSE_MS, START_TRIES, triesAgain } from '../store/patience.ts'
import { isBusy, type Store } from '../store/store.ts'
import { admit } from './admission.ts'
import { costMicroUsd } from './cost.ts'
import { toCount, toText, wholeCounts } from './figures.ts'
import type { Batch, OpenExchange, Progress, SettledExchange } from './journal.ts'
import type { Ledger, Reservation, Resumed, Settlement } from './ledger.ts'

/** When the ledger's own work runs; tests supply their own. */
export type Timers = {
  /** At the end of this turn of the event loop. */
  soon(run: () => void): void
  /** After so many milliseconds, without keeping the process alive. */
  later: Later
}

/** By catalogue id. */
export type Prices = (modelId: string) => Price | undefined

export type LedgerOptions = {
  store: Pick<Store, 'keys' | 'journal'>
  /** Milliseconds since the epoch. */
  clock: () => number
  /** The prices in force: an exchange is billed by those it began with. */
  prices: () => Prices
  /** Whether an open exchange of a previous process will be settled later, and not at the start. */
  isResumed?: (exchangeId: string) => boolean
  timers?: Timers
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

const PROCESS_TIMERS: Timers = {
  soon: (run) => setImmediate(run),
  later: (run, delayMs) => setTimeout(run, delayMs).unref(),
}

/** `held`: the part of `reserved` that is still held. `prices`: those it began with. */
type Held = OpenExchange & { held: number; readonly prices: Prices }
/** `tries`: writes of it that failed because another process was writing. */
type Waiting = { open: Held; tries: number; resolve: () => void; reject: (cause: unknown) => void }

/**
 * Claims the journal and settles what a killed process left open, except what `isResumed`. Throws a StoreError when another
 * server has claimed it, or it cannot be written.
 */
export const createLedger = ({
  store,
  clock,
  prices,
  isResumed = () => false,
  timers = PROCESS_TIMERS,
}: LedgerOptions): Ledger => {
  const { keys, journal } = store
  const open = new Map<string, Held>()
  const held = new Map<string, number>()
  const progress = new Map<OpenExchange, Usage>()
  let waiting: Waiting[] = []
  let settled: SettledExchange[] = []
  let scheduled = false
  let settleDue = false
  let progressDue = false
  let retryDue = false
  /** Set between two tries while another process is writing: nothing is written until the pause is over. */
  let pausing = false

  const hold = (keyId: string, tokens: number): void => {
    const now = (held.get(keyId) ?? 0) + tokens
    if (now > 0) held.set(keyId, now)
    else held.delete(keyId)
  }
  const enter = (exchange: Held): void => {
    open.set(exchange.exchangeId, exchange)
    hold(exchange.keyId, exchange.held)
  }
  const close = (exchange: Held): void => {
    open.delete(exchange.exchangeId)
    hold(exchange.keyId, -exchange.held)
  }
  const schedule = (): void => {
    if (scheduled) return
    scheduled = true
    timers.soon(() => {
      scheduled = false
      if (pausing) return
      // After a write that failed, settlements go with the first one that may succeed.
      write(retryDue || settled.length >= SETTLE_GROUP ? 'settled' : 'opened')
    })
  }

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
        else {
          close(each.open)
          each.reject(cause)
        }
      }
      if (isBusy(cause)) pause()
      else retryLater()
      return cause
    }
    if (what !== 'opened') settled = []
    for (const { open } of batch.progressed) progress.delete(open)
    waiting = due.splice(OPEN_GROUP)
    if (waiting.length > 0) schedule()
    for (const each of due) each.resolve()
    return undefined
  }

  const pause = (): void => {
    if (pausing) return
    pausing = true
    timers.later(() => {
      pausing = false
      writeAll()
    }, PAUSE_MS)
  }

  const retryLater = (): void => {
    if (retryDue || (settled.length === 0 && progress.size === 0)) return
    retryDue = true
    timers.later(() => {
      retryDue = false
      writeAll()
    }, RETRY_MS)
  }

  /** Writes all that waits, progress in groups. */
  const writeAll = (): void => {
    if (pausing) return
    if (write('all') !== undefined || progress.size === 0) progressDue = false
    else timers.later(writeAll, PROGRESS_PAUSE_MS)
  }

  /** Charges the key and queues the settlement. Returns the cost. */
  const record = (exchange: Held, how: SettledExchange['settlement'], raw: Settlement['rawUsage']): number => {
    const usage = wholeCounts(how.usage)
    const cost = costMicroUsd(usage, exchange.prices(how.model ?? exchange.model))
    journal.charge(exchange.keyId, totalTokens(usage))
    const key = keys.get(exchange.keyId)
    settled.push({
      open: exchange,
      settlement: {
        ...how,
        usage,
        attempts: toCount(how.attempts),
        firstByteMs: how.firstByteMs === undefined ? undefined : toCount(how.firstByteMs),
        totalMs: how.totalMs === undefined ? undefined : toCount(how.totalMs),
      },
      endedAt: clock(),
      costMicroUsd: cost,
      rawUsage: toText(raw),
      leftAfter: key === undefined ? undefined : key.tokensTotal - key.tokensUsed,
    })
    return cost
  }

  const resumed: Resumed[] = []
  let recovered = 0
  const writeSettled = (required = false): void => {
    if (pausing && !required) return
    const failure = write('settled')
    if (required && failure !== undefined) throw failure
  }
  for (const { usage, ...left } of journal.claim(writeSettled)) {
    const exchange: Held = { ...left, held: left.reserved, prices: prices() }
    if (isResumed(exchange.exchangeId)) {
      enter(exchange)
      const { exchangeId, keyId, startedAt, reserved, model, stream, inputEstimate } = exchange
      const reservation = { exchangeId, keyId, startedAt, reserved, outputCap: undefined }
      resumed.push({ reservation, model, stream, inputEstimate, usage })
      continue
    }
    const how = { outcome: 'failed', usage, estimated: true, errorCode: 'internal_error', attempts: 1 } as const
    record(exchange, { ...how, status: undefined, totalMs: undefined }, undefined)
    recovered++
  }
  let failure = write('settled')
  for (let tries = 1; isBusy(failure) && tries < START_TRIES; tries++) failure = write('settled')
  if (failure !== undefined) throw failure

  return {
    resumed,
    recovered,
    async reserve(ask) {
      const key = keys.get(ask.key.id) ?? ask.key
      if (open.has(ask.exchangeId)) throw new Error(`exchange ${ask.exchangeId} has its reservation already`)
      const { reserved, outputCap } = admit(key, held.get(key.id) ?? 0, ask)
      const exchange: Held = {
        row: 0,
        exchangeId: ask.exchangeId,
        keyId: key.id,
        model: ask.model,
        wire: ask.wire,
        stream: ask.stream,
        startedAt: clock(),
        inputEstimate: toCount(ask.inputEstimate),
        reserved,
        held: reserved,
        prices: prices(),
      }
      enter(exchange)
      schedule()
      try {
        await new Promise<void>((resolve, reject) => waiting.push({ open: exchange, tries: 0, resolve, reject }))
      } catch (cause) {
        throw notRecorded(cause)
      }
      const { exchangeId, startedAt } = exchange
      return { exchangeId, keyId: key.id, startedAt, reserved, outputCap }
    },
    progress({ exchangeId }: Reservation, usage) {
      const exchange = open.get(exchangeId)
      if (exchange === undefined) return
      progress.set(exchange, wholeCounts(usage))
      if (progressDue) return
      progressDue = true
      timers.later(writeAll, PROGRESS_MS)
    },
    narrow({ exchangeId }, tokens) {
      const exchange = open.get(exchangeId)
      if (exchange === undefined || tokens >= exchange.held) return
      hold(exchange.keyId, tokens - exchange.held)
      exchange.held = tokens
    },
    settle({ exchangeId }, { rawUsage, ...settlement }) {
      const exchange = open.get(exchangeId)
      if (exchange === undefined) throw new Error(`exchange ${exchangeId} is settled already`)
      close(exchange)
      progress.delete(exchange)
      const cost = record(exchange, settlement, rawUsage)
      if (settled.length >= SETTLE_GROUP) schedule()
      else if (!settleDue) {
        settleDue = true
        timers.later(() => {
          settleDue = false
          writeSettled()
        }, SETTLE_MS)
      }
      return cost
    },
    openCount(keyIds) {
      const unwritten = retryDue ? settled.map((each) => each.open) : []
      const all = [...open.values(), ...unwritten]
      return keyIds === undefined ? all.length : all.filter(({ keyId }) => keyIds.has(keyId)).length
    },
    isStuck: () => retryDue,
    heldBy: (keyId) => held.get(keyId) ?? 0,
    flush() {
      do {
        const failure = write('all')
        if (failure !== undefined) throw failure
      } while (waiting.length + progress.size > 0)
    },
  }
}

/** The error for requests that come while the store cannot be written. */
export const notRecorded = (cause: unknown): GatewayError =>
  new GatewayError('service_unavailable', 'The gateway cannot record requests at the moment. Try again shortly.', {
    cause,
    retryAfterMs: 1_000,
  })

const NONE: SettledExchange[] = []

const takeFirst = (progress: Map<OpenExchange, Usage>, most: number): Progress[] => {
  const first: Progress[] = []
  for (const [open, usage] of progress) {
    if (first.length >= most) break
    first.push({ open, usage })
  }
  return first
}
