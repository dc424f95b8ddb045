// The ledger over a journal: admission and counters in memory, and every exchange settled once. writer.ts writes.

import type { Price } from '../catalogue/model.ts'
import { GatewayError } from '../errors.ts'
import { totalTokens } from '../ir/usage.ts'
import { START_TRIES } from '../store/patience.ts'
import { isBusy, type Store } from '../store/store.ts'
import { admit } from './admission.ts'
import { costMicroUsd } from './cost.ts'
import { toCount, toText, wholeCounts } from './figures.ts'
import type { OpenExchange, SettledExchange } from './journal.ts'
import type { Ledger, Resumed, Settlement } from './ledger.ts'
import { createWriter, type Timers } from './writer.ts'

/** By catalogue id. */
export type Prices = (modelId: string) => Price | undefined

type LedgerOptions = {
  store: Pick<Store, 'keys' | 'journal'>
  /** Milliseconds since the epoch. */
  clock: () => number
  /** The prices in force: an exchange is billed by those it began with. */
  prices: () => Prices
  /** Whether an open exchange of a previous process will be settled later, and not at the start. */
  isResumed?: (exchangeId: string) => boolean
  timers?: Timers
}

const PROCESS_TIMERS: Timers = {
  soon: (run) => setImmediate(run),
  later: (run, delayMs) => setTimeout(run, delayMs).unref(),
}

/** `held`: the part of `reserved` that is still held. `prices`: those it began with. */
type Held = OpenExchange & { held: number; readonly prices: Prices }

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
  const writer = createWriter(journal, timers)
  const open = new Map<string, Held>()
  const held = new Map<string, number>()

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

  /** Charges the key and has the settlement written. Returns the cost. */
  const record = (exchange: Held, how: SettledExchange['settlement'], raw: Settlement['rawUsage']): number => {
    const usage = wholeCounts(how.usage)
    const cost = costMicroUsd(usage, exchange.prices(how.model ?? exchange.model))
    journal.charge(exchange.keyId, totalTokens(usage))
    const key = keys.get(exchange.keyId)
    writer.settle({
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
  for (const { usage, ...left } of journal.claim(writer.writeSettled)) {
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
  insist(() => writer.writeSettled(true))

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
      try {
        await writer.open(exchange)
      } catch (cause) {
        close(exchange)
        throw notRecorded(cause)
      }
      const { exchangeId, startedAt } = exchange
      return { exchangeId, keyId: key.id, startedAt, reserved, outputCap }
    },
    progress({ exchangeId }, usage) {
      const exchange = open.get(exchangeId)
      if (exchange !== undefined) writer.progress(exchange, wholeCounts(usage))
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
      return record(exchange, settlement, rawUsage)
    },
    openCount(keyIds) {
      const all = [...open.values(), ...writer.stuck()]
      return keyIds === undefined ? all.length : all.filter(({ keyId }) => keyIds.has(keyId)).length
    },
    isStuck: writer.isStuck,
    heldBy: (keyId) => held.get(keyId) ?? 0,
    flush: writer.flush,
  }
}

/** At a start nothing runs yet that a wait could hold up: tries again at once while another process is writing. */
const insist = (write: () => void): void => {
  for (let tries = 1; ; tries++) {
    try {
      write()
      return
    } catch (cause) {
      if (!isBusy(cause) || tries >= START_TRIES) throw cause
    }
  }
}

/** The error for requests that come while the store cannot be written. */
export const notRecorded = (cause: unknown): GatewayError =>
  new GatewayError('service_unavailable', 'The gateway cannot record requests at the moment. Try again shortly.', {
    cause,
    retryAfterMs: 1_000,
  })
