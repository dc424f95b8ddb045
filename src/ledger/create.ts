// The ledger over a journal: admission and counters in memory, and every exchange settled once. writer.ts writes.

import { GatewayError } from '../errors.ts'
import { totalTokens } from '../ir/usage.ts'
import type { Budget, BudgetId, Spent } from '../keys/budget.ts'
import { type Calendar, UTC } from '../lib/calendar.ts'
import { patiently, START_TRIES } from '../store/patience.ts'
import { isBusy, type SqliteStore } from '../store/store.ts'
import { admit, requireLeft } from './admission.ts'
import { type Bound, boundOf, mostOf, type Per, quotaOf, TOKENS } from './bounds.ts'
import type { Prices } from './cost.ts'
import { toCount, wholeCounts } from './figures.ts'
import type { OpenExchange, SettledExchange } from './journal.ts'
import type { Ledger, Resumed, Settled, Settlement } from './ledger.ts'
import { clamped, endOf, lastKnown, mostOfAny, mostPer } from './settled.ts'
import { createTags } from './tags.ts'
import { createWriter, type Timers } from './writer.ts'

type LedgerOptions = {
  store: Pick<SqliteStore, 'keys' | 'budgets' | 'journal'>
  /** Milliseconds since the epoch. */
  clock: () => number
  /** The prices in force: an exchange is billed by those it began with. */
  prices: () => Prices
  /** By which quotas and budgets renew; for the words of refusals. */
  calendar?: Calendar
  /** Whether an open exchange of a previous process will be settled later, and not at the start. */
  isResumed?: (exchangeId: string) => boolean
  timers?: Timers
  /** The store cannot be written: settlements wait, and reservations are refused. */
  onFailure?: (cause: unknown) => void
  /** The database refused the figures of this exchange, which is settled by what was set aside for it. */
  onRefused?: (exchangeId: string, cause: unknown) => void
}

export const PROCESS_TIMERS: Timers = {
  // Of those that come together some come a turn later; where nothing comes, that turn takes no time.
  soon: (run) => setImmediate(() => setImmediate(run)),
  later: (run, delayMs) => setTimeout(run, delayMs).unref(),
}

/** `held`, `heldMicroUsd`: the part of what was reserved that is still held. `prices`: those it began with. */
type Held = OpenExchange & {
  held: number
  heldMicroUsd: number
  readonly per: Per | undefined
  readonly prices: Prices
}

/**
 * Claims the journal and settles what a killed process left open, except what `isResumed`. Throws a StoreError when another
 * server has claimed it, or it cannot be written.
 */
export const createLedger = ({
  store,
  clock,
  prices,
  calendar = UTC,
  isResumed = () => false,
  timers = PROCESS_TIMERS,
  onFailure = () => undefined,
  onRefused = () => undefined,
}: LedgerOptions): Ledger => {
  const { keys, budgets, journal } = store
  const writer = createWriter(journal, timers, {
    failed: onFailure,
    refused({ open, settlement, costMicroUsd: cost }, clamped, cause) {
      journal.charge(open, {
        tokens: totalTokens(clamped.settlement.usage) - totalTokens(settlement.usage),
        microUsd: clamped.costMicroUsd - cost,
      })
      onRefused(open.exchangeId, cause)
    },
  })
  const open = new Map<string, Held>()
  const held = new Map<string, number>()
  const tags = createTags(journal.tags, calendar.dayOf)
  const heldOf = new Map<BudgetId, Spent>()

  const hold = ({ keyId, budgets: counted }: OpenExchange, tokens: number, microUsd: number): void => {
    const now = (held.get(keyId) ?? 0) + tokens
    if (now > 0) held.set(keyId, now)
    else held.delete(keyId)
    for (const id of counted) {
      const before = heldOf.get(id)
      if (before === undefined) {
        heldOf.set(id, { tokens, microUsd })
        continue
      }
      before.tokens += tokens
      before.microUsd += microUsd
      if (before.tokens <= 0 && before.microUsd <= 0) heldOf.delete(id)
    }
  }
  const enter = (exchange: Held): void => {
    open.set(exchange.exchangeId, exchange)
    hold(exchange, exchange.held, exchange.heldMicroUsd)
  }
  const close = (exchange: Held): void => {
    open.delete(exchange.exchangeId)
    hold(exchange, -exchange.held, -exchange.heldMicroUsd)
  }
  const bound = (budget: Budget, per = NO_PRICE): Bound => {
    const of = heldOf.get(budget.id) ?? NOTHING
    return budget.unit === 'usd'
      ? boundOf({ budget, held: of.microUsd, per, calendar, nameOf: journal.nameOf })
      : boundOf({ budget, held: of.tokens, per: TOKENS, calendar, nameOf: journal.nameOf })
  }

  /** Charges the key and has the settlement written. */
  const record = (exchange: Held, how: Recorded): Settled => {
    const price = exchange.prices(how.model ?? exchange.model)
    const end = endOf(exchange, how, exchange.prices, clock())
    journal.charge(exchange, { tokens: totalTokens(end.settlement.usage), microUsd: end.costMicroUsd })
    const key = keys.get(exchange.keyId)
    const settled: SettledExchange = {
      ...end,
      leftAfter: key === undefined ? undefined : key.tokensTotal - key.tokensUsed,
    }
    return { costMicroUsd: end.costMicroUsd, written: writer.settle(settled, () => clamped(settled, price)) }
  }

  const resumed: Resumed[] = []
  let recovered = 0
  for (const { usage, serverTools, ended, ...left } of journal.claim(writer.writeSettled)) {
    if (ended !== undefined) {
      journal.charge(left, { tokens: totalTokens(usage), microUsd: ended.costMicroUsd })
      writer.add(ended, () => ended)
      continue
    }
    const { reserved: tokens, reservedMicroUsd } = left
    const exchange: Held = { ...left, held: tokens, heldMicroUsd: reservedMicroUsd, per: undefined, prices: prices() }
    if (isResumed(exchange.exchangeId)) {
      enter(exchange)
      const { exchangeId, keyId, startedAt, reserved, model, wire, stream, inputEstimate, pictures } = exchange
      const reservation = { exchangeId, keyId, startedAt, reserved, outputCap: undefined }
      resumed.push({ reservation, model, wire, stream, inputEstimate, usage, serverTools, pictures })
      continue
    }
    record(exchange, {
      ...lastKnown({ ...exchange, usage, serverTools }),
      ...{ status: undefined, totalMs: undefined },
    })
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
      if (shortage !== undefined) {
        onFailure(shortage)
        throw notRecorded(shortage)
      }
      const now = clock()
      const inForce = prices()
      const counted = budgets.of(key)
      const per = counted.length === 0 ? undefined : mostPer(ask, inForce)
      const quota = quotaOf(key, held.get(key.id) ?? 0, calendar)
      const bounds = counted.length === 0 ? [quota] : [quota, ...counted.map((budget) => bound(budget, per))]
      const { input, output, outputCap } = admit(bounds, ask)
      const reserved = input + output
      const reservedMicroUsd = per === undefined ? 0 : mostOf(per, input, output)
      const exchange: Held = {
        row: 0,
        exchangeId: ask.exchangeId,
        keyId: key.id,
        model: ask.model,
        wire: ask.wire,
        stream: ask.stream,
        startedAt: now,
        inputEstimate: toCount(ask.inputEstimate),
        reserved,
        reservedMicroUsd,
        budgets: counted.length === 0 ? NO_BUDGETS : counted.map(({ id }) => id),
        address: ask.address,
        tag: ask.tag === undefined ? undefined : tags(key.id, ask.tag, now),
        pictures: ask.pictures,
        held: reserved,
        heldMicroUsd: reservedMicroUsd,
        per,
        prices: inForce,
      }
      enter(exchange)
      try {
        await writer.open(exchange)
      } catch (cause) {
        close(exchange)
        throw notRecorded(cause)
      }
      const { exchangeId, startedAt } = exchange
      return { exchangeId, keyId: key.id, startedAt, reserved, outputCap, tag: exchange.tag }
    },
    progress({ exchangeId }, usage, serverTools) {
      const exchange = open.get(exchangeId)
      if (exchange !== undefined) writer.progress(exchange, { usage: wholeCounts(usage), serverTools })
    },
    narrow({ exchangeId }, tokens) {
      const exchange = open.get(exchangeId)
      if (exchange === undefined || tokens >= exchange.held) return
      const microUsd = Math.min(exchange.heldMicroUsd, mostOfAny(exchange, tokens))
      hold(exchange, tokens - exchange.held, microUsd - exchange.heldMicroUsd)
      exchange.held = tokens
      exchange.heldMicroUsd = microUsd
    },
    settle({ exchangeId }, settlement) {
      const exchange = open.get(exchangeId)
      if (exchange === undefined) throw new Error(`exchange ${exchangeId} is settled already`)
      close(exchange)
      return record(exchange, settlement)
    },
    openCount(keyIds) {
      const all = [...open.values(), ...writer.stuck()]
      return keyIds === undefined ? all.length : all.filter(({ keyId }) => keyIds.has(keyId)).length
    },
    isStuck: () => writer.isStuck() || journal.shortage() !== undefined,
    heldBy: (keyId) => held.get(keyId) ?? 0,
    heldOf: (budget) => ({ ...(heldOf.get(budget) ?? NOTHING) }),
    requireLeft(asked) {
      const key = keys.get(asked.id) ?? asked
      requireLeft(quotaOf(key, 0, calendar))
      for (const budget of budgets.of(key)) requireLeft(bound(budget))
    },
    flush: () => patiently(writer.flush),
  }
}

/** What a settlement tells, as far as it is known of an exchange that nobody was left to settle. */
type Recorded = SettledExchange['settlement'] & Pick<Settlement, 'rawUsage'>

const NOTHING: Spent = { tokens: 0, microUsd: 0 }
const NO_BUDGETS: readonly BudgetId[] = []
const NO_PRICE: Per = { input: 0, output: 0, least: 0, fees: 0 }

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
