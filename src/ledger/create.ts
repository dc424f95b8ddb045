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
import type { Ledger, Resumed, Settled, Settlement } from './ledger.ts'
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
  /** The store cannot be written: settlements wait, and reservations are refused. */
  onFailure?: (cause: unknown) => void
  /** The database refused the figures of this exchange, which is settled by what was set aside for it. */
  onRefused?: (exchangeId: string, cause: unknown) => void
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
  onFailure = () => undefined,
  onRefused = () => undefined,
}: LedgerOptions): Ledger => {
  const { keys, journal } = store
  const writer = createWriter(journal, timers, {
    failed: onFailure,
    refused({ open, settlement }, clamped, cause) {
      journal.charge(open.keyId, totalTokens(clamped.settlement.usage) - totalTokens(settlement.usage))
      onRefused(open.exchangeId, cause)
    },
  })
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

  /** Charges the key and has the settlement written. */
  const record = (exchange: Held, how: SettledExchange['settlement'], raw: Settlement['rawUsage']): Settled => {
    const usage = wholeCounts(how.usage)
    const price = exchange.prices(how.model ?? exchange.model)
    const cost = costMicroUsd(usage, price)
    journal.charge(exchange.keyId, totalTokens(usage))
    const key = keys.get(exchange.keyId)
    const settled: SettledExchange = {
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
    }
    return { costMicroUsd: cost, written: writer.settle(settled, () => clamped(settled, price)) }
  }

  const resumed: Resumed[] = []
  let recovered = 0
  for (const { usage, ended, ...left } of journal.claim(writer.writeSettled)) {
    if (ended !== undefined) {
      journal.charge(left.keyId, totalTokens(usage))
      writer.add(ended, () => ended)
      continue
    }
    const exchange: Held = { ...left, held: left.reserved, prices: prices() }
    if (isResumed(exchange.exchangeId)) {
      enter(exchange)
      const { exchangeId, keyId, startedAt, reserved, model, stream, inputEstimate } = exchange
      const reservation = { exchangeId, keyId, startedAt, reserved, outputCap: undefined }
      resumed.push({ reservation, model, stream, inputEstimate, usage })
      continue
    }
    // It goes to its provider in the turn it is reserved in: the prompt is billed there, whatever came of it.
    const known = Object.keys(usage).length > 0 ? usage : { input: left.inputEstimate, output: 0 }
    const how = { outcome: 'failed', usage: known, estimated: true, errorCode: 'internal_error', attempts: 1 } as const
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
      const shortage = journal.shortage()
      if (shortage !== undefined) throw notRecorded(shortage)
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
    isStuck: () => writer.isStuck() || journal.shortage() !== undefined,
    heldBy: (keyId) => held.get(keyId) ?? 0,
    flush: writer.flush,
  }
}

/**
 * A settlement without a word of its provider's, and by no more tokens than were set aside for it: what the database refuses
 * is an answer that nobody can have had.
 */
const clamped = ({ open, settlement, ...settled }: SettledExchange, price: Price | undefined): SettledExchange => {
  const { outcome, status, errorCode, attempts, model, usage: told } = settlement
  const most = Math.max(0, open.reserved - open.inputEstimate)
  const usage = { input: open.inputEstimate, output: Math.min(told.output ?? 0, most) }
  return {
    ...settled,
    open,
    settlement: { outcome, usage, estimated: true, status, errorCode, attempts, model, totalMs: undefined },
    costMicroUsd: costMicroUsd(usage, price),
    rawUsage: undefined,
    leftAfter: undefined,
    replaces: true,
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
