// What ends: exchanges that are settled, and requests that leave.

import type { OpenExchange, SettledExchange } from '../../../ledger/journal.ts'
import { isLimited } from '../../../ledger/limits.ts'
import { clamped, endOf } from '../../../ledger/settled.ts'
import type { AskOf, Verdict } from '../../../ledger/shared.ts'
import { troubleOf } from '../trouble.ts'
import type { Held, Holding } from './held.ts'
import { createLately } from './lately.ts'
import type { Terms } from './options.ts'
import { endedRow, jsonOf } from './rows.ts'
import { type Concerned, type EndingParams, NOTHING_BEGINS, nothingConcerned, TURN, turnParams } from './turn.ts'

/** `held` undefined: this node knows nothing of it. `end` undefined: it was written before. */
export type Ended = { id: string; held: Held | undefined; end: Omit<SettledExchange, 'leftAfter'> | undefined }

type Ask = AskOf<'settle' | 'leave'>
/** Requests that leave, and the keys that they are of: the places of others are not let go of. */
type Left = { left: string[]; refunded: string[]; keyIds: Set<string> }
/** `alone`: its node does not say it. */
type Ending = { ended: readonly Ended[]; leaving: Left; alone?: boolean }
const NOBODY: Left = { left: [], refunded: [], keyIds: new Set() }

export const createEnding = (terms: Terms, { running, doubtful, entered }: Holding) => {
  const { say, node, keys, clock, prices, calendar, defaults, countsTokens, onSettled, onFailure, onRefused } = terms

  const sayEnding = (ending: Ending, alone = false): Promise<unknown> => {
    const parts = { node, concerned: concernedBy(ending), ending: params(ending, alone), asking: NOTHING_BEGINS }
    return say(TURN, turnParams(parts, defaults))
  }

  const leave = async (leaving: Left): Promise<void> => {
    await sayEnding({ ended: [], leaving })
    lately.heard({ ended: [], leaving })
  }

  const endedOf = (asks: readonly AskOf<'settle'>[]): Ended[] =>
    asks.map(({ id, settlement }) => {
      const held = running.get(id) ?? doubtful.get(id)
      const open = held?.open ?? unknownOpen(id)
      return { id, held, end: endOf(open, settlement, held?.prices ?? prices(), clock()) }
    })

  const forget = ({ id, settlement }: AskOf<'settle'>, { held, end }: Ended): void => {
    doubtful.delete(id)
    if (held !== undefined && end !== undefined && running.delete(id))
      onSettled({ open: held.open, settlement, costMicroUsd: end.costMicroUsd })
  }

  const isCounted = (keyId: string): boolean => {
    const key = keys.get(keyId)
    return key !== undefined && isLimited(key, defaults) && countsTokens()
  }

  const concernedBy = ({ ended, leaving: { keyIds } }: Ending): Concerned => {
    const concerned = { ...nothingConcerned(), keys: new Set(keyIds) }
    for (const { id, end } of ended) {
      if (end === undefined || end.open.keyId === '') concerned.unknown.add(id)
      else concerned.keys.add(end.open.keyId)
      for (const budget of end?.open.budgets ?? []) concerned.budgets.add(budget)
    }
    return concerned
  }

  const params = ({ ended, leaving: { left, refunded } }: Ending, alone = false): EndingParams => {
    const rows = ended.flatMap(({ end }) => (end === undefined ? [] : [end]))
    const json = jsonOf(rows.map((end) => endedRow(end, { counted: isCounted(end.open.keyId), alone, calendar })))
    return [ended.map(({ id }) => id), json, left, refunded]
  }

  /** Returns the ids of those that are written, or were before. */
  const write = async (ended: readonly Ended[], { alone = false, leaving = NOBODY } = {}): Promise<Set<string>> => {
    try {
      await sayEnding({ ended, leaving }, alone)
      lately.heard({ ended, leaving, alone })
      return new Set(ended.map(({ id }) => id))
    } catch (cause) {
      const [only] = ended
      if (troubleOf(cause) !== 'refused' || only === undefined) {
        onFailure(cause)
        return new Set()
      }
      if (leaving !== NOBODY) {
        await leave(leaving)
        return write(ended, { alone })
      }
      if (ended.length > 1) {
        const half = Math.ceil(ended.length / 2)
        const first = await write(ended.slice(0, half), { alone })
        return new Set([...first, ...(await write(ended.slice(half), { alone }))])
      }
      const { id, end } = only
      onRefused(id, cause)
      if (end === undefined || only.held === undefined || 'replaces' in end) return new Set([id])
      const price = only.held.prices(end.settlement.model ?? end.open.model)
      return write([{ ...only, end: clamped({ ...end, leftAfter: undefined }, price) }], { alone })
    }
  }

  const endingOf = (asks: readonly Ask[]): Ending => {
    const leaving: Left = { left: [], refunded: [], keyIds: new Set() }
    for (const ask of asks) {
      if (ask.do !== 'leave') continue
      ;(ask.refund ? leaving.refunded : leaving.left).push(ask.id)
      leaving.keyIds.add(ask.keyId)
    }
    return { ended: endedOf(asks.filter((ask) => ask.do === 'settle')), leaving }
  }

  /** Most leave as what they asked for ends, and are told of together: by one statement, which locks a key once. */
  const end = async (asks: readonly Ask[], { ended, leaving } = endingOf(asks)): Promise<Verdict[]> => {
    if (ended.length === 0) {
      await leave(leaving)
      return heard(asks, ended, new Set())
    }
    return heard(asks, ended, await write(ended, { leaving }))
  }

  /** Who leaves is said again with whatever was not heard. */
  const heard = (asks: readonly Ask[], ended: readonly Ended[], written: ReadonlySet<string>): Verdict[] => {
    const byId = new Map(ended.map((one) => [one.id, one]))
    const isWhole = ended.every(({ id }) => written.has(id))
    return asks.map((ask) => {
      if (ask.do === 'leave') {
        if (isWhole) entered.delete(ask.id)
        return isWhole ? {} : { lost: true }
      }
      const one = byId.get(ask.id)
      if (one === undefined || !written.has(ask.id)) return { lost: true }
      forget(ask, one)
      return {}
    })
  }

  const lately = createLately<Ending>(async ({ ended, leaving, alone }) => {
    try {
      if (ended.length === 0) await leave(leaving)
      const written = ended.length === 0 ? new Set() : await write(ended, { leaving, alone })
      return ended.every(({ id }) => written.has(id))
    } catch (cause) {
      onFailure(cause)
      return false
    }
  })

  return {
    write,
    leave,
    lately,
    end: (asks: readonly Ask[]): Promise<Verdict[]> => end(asks),
    /** To be written with what begins, or by itself where that was in the way. */
    along(asks: readonly Ask[]) {
      const ending = endingOf(asks)
      return {
        concerned: () => concernedBy(ending),
        params: () => params(ending),
        written() {
          lately.heard(ending)
          return heard(asks, ending.ended, new Set(ending.ended.map(({ id }) => id)))
        },
        alone: () => end(asks, ending),
      }
    },
  }
}

/** Of one that this node does not know of: what its row says stands. */
const unknownOpen = (exchangeId: string): OpenExchange => ({
  ...{ row: 0, exchangeId, keyId: '', model: '', wire: 'messages', stream: false, startedAt: 0, inputEstimate: 0 },
  ...{ reserved: 0, reservedMicroUsd: 0, budgets: [] },
})
