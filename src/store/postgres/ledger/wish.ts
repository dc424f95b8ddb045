// A reservation that a node asks the database for, from its wish to what is held.

import type { Budget } from '../../../keys/budget.ts'
import type { Key } from '../../../keys/key.ts'
import type { Admitted } from '../../../ledger/admission.ts'
import { mostOf, type Per } from '../../../ledger/bounds.ts'
import type { Prices } from '../../../ledger/cost.ts'
import { toCount } from '../../../ledger/figures.ts'
import type { OpenExchange } from '../../../ledger/journal.ts'
import type { Reservation } from '../../../ledger/ledger.ts'
import type { SharedReserve } from '../../../ledger/shared.ts'
import { picturesText } from '../../exchange-texts.ts'
import type { Held } from './held.ts'

/** `tried`: what it may have been granted by an attempt of which nothing was heard. */
export type Wish = {
  id: string
  key: Key
  asked: SharedReserve
  counted: readonly Budget[]
  per: Per | undefined
  prices: Prices
  startedAt: number
  tag: string | undefined
  admitted: Admitted
  tried: Admitted[]
  /** With nothing held: what was left in each bound where more than that was admitted. */
  alone: (number | null)[] | undefined
  unknown: boolean
}

/** As the database takes it. One literal: put together from several it takes several times as long. */
export const wishRow = (wish: Wish, at: number): object => {
  const { asked, counted, admitted } = wish
  const ids = counted.length === 0 ? undefined : counted.map(({ id }) => id)
  return {
    at,
    id: wish.id,
    key_id: wish.key.id,
    seen: asked.keysSeen,
    model: asked.model,
    wire: asked.wire,
    stream: asked.stream,
    started_at: wish.startedAt,
    input_estimate: toCount(asked.inputEstimate),
    tag: wish.tag,
    reserved: admitted.input + admitted.output,
    reserved_micro_usd: microUsdOf(wish, admitted),
    alone: wish.alone,
    counts: ids,
    budgets: ids && JSON.stringify(ids),
    address: asked.address,
    pictures: picturesText(asked.pictures),
    enters: asked.enters,
  }
}

export const microUsdOf = ({ per }: Pick<Wish, 'per'>, { input, output }: Admitted): number =>
  per === undefined ? 0 : Math.min(mostOf(per, input, output), Number.MAX_SAFE_INTEGER)

export const heldOf = (wish: Wish, admitted: Admitted): Held => {
  const { asked, per } = wish
  const open: OpenExchange = {
    row: 0,
    exchangeId: wish.id,
    keyId: wish.key.id,
    model: asked.model,
    wire: asked.wire,
    stream: asked.stream,
    startedAt: wish.startedAt,
    inputEstimate: toCount(asked.inputEstimate),
    reserved: admitted.input + admitted.output,
    reservedMicroUsd: microUsdOf(wish, admitted),
    budgets: wish.counted.map(({ id }) => id),
    address: asked.address,
    tag: wish.tag,
    pictures: asked.pictures,
  }
  return { open, per, prices: wish.prices, soFar: { usage: {} } }
}

export const reservationOf = (
  { exchangeId, keyId, startedAt, reserved, tag }: OpenExchange,
  outputCap: number | undefined,
): Reservation => ({ exchangeId, keyId, startedAt, reserved, outputCap, tag })

/** Thrown where the least that a prompt takes would have to be known, which only its node can tell. */
export const LATER = new Error('the least input is to be worked out')
export const lateInput = (asked: SharedReserve) => {
  const { inputEstimate, outputCap, maxOutput, answers, leastOutput, fixed, leastInput = 0 } = asked
  const least = (): number => {
    if (leastInput === 'later') throw LATER
    return leastInput
  }
  return { inputEstimate, leastInput: least, outputCap, maxOutput, answers, leastOutput, fixed }
}
