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

/** As the database takes it. */
export const wishRow = (wish: Wish, at: number): object => {
  const { id, key, asked, counted, admitted, startedAt, tag, alone } = wish
  return {
    ...{ at, id, key_id: key.id, seen: asked.keysSeen, model: asked.model, wire: asked.wire },
    ...{ stream: asked.stream, started_at: startedAt, input_estimate: toCount(asked.inputEstimate), tag },
    ...{ reserved: admitted.input + admitted.output, reserved_micro_usd: microUsdOf(wish, admitted), alone },
    ...(counted.length === 0 ? {} : namedOf(counted)),
    ...{ address: asked.address, pictures: picturesText(asked.pictures), enters: asked.enters },
  }
}

const namedOf = (counted: readonly Budget[]) => {
  const ids = counted.map(({ id }) => id)
  return { counts: ids, budgets: JSON.stringify(ids) }
}

export const microUsdOf = ({ per }: Pick<Wish, 'per'>, { input, output }: Admitted): number =>
  per === undefined ? 0 : Math.min(mostOf(per, input, output), Number.MAX_SAFE_INTEGER)

export const heldOf = (wish: Wish, admitted: Admitted): Held => {
  const { id, key, asked, counted, per, tag, startedAt } = wish
  const open: OpenExchange = {
    ...{ row: 0, exchangeId: id, keyId: key.id, model: asked.model, wire: asked.wire, stream: asked.stream, startedAt },
    ...{ inputEstimate: toCount(asked.inputEstimate), reserved: admitted.input + admitted.output },
    reservedMicroUsd: microUsdOf(wish, admitted),
    ...{ budgets: counted.map((budget) => budget.id), address: asked.address, tag, pictures: asked.pictures },
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
