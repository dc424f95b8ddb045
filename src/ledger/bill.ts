// What made a cost, to be followed by hand: so many tokens, calls and pictures, each at its price.

import type { Price } from '../catalogue/model.ts'
import type { ServerToolCalls } from '../ir/server-tools.ts'
import type { Usage } from '../ir/usage.ts'
import {
  billedApart,
  costMicroUsd,
  eachPart,
  factorsFor,
  isLong,
  type Part,
  type Prices,
  SCALE,
  toldMicroUsd,
} from './cost.ts'
import { toCount } from './figures.ts'

/**
 * `what`: a part of the tokens, `calls` of a tool at the vendor, `pictures` that are priced each, or all of it as the provider
 * `told` it. `usd`: for a million tokens, the class of service and the region counted in, or for one call. `microUsd`: not rounded,
 * as only their sum is. `model`: another's that answered within, at its own price.
 */
export type BillLine = {
  what: Part | 'calls' | 'pictures' | 'told'
  tool?: string
  model?: string
  count: number | undefined
  usd: number | undefined
  microUsd: number
}

/** `above`: the prices are those of prompts of more tokens. `factors`: what they were multiplied by, and why. */
type Bill = { lines: BillLine[]; above: number | undefined; factors: [string, number][] }

/** `prices`: of other models, which have answered within. */
type Charged = {
  costMicroUsd: number
  feesMicroUsd: number
  serverTools: ServerToolCalls | undefined
  prices: Prices
}

/** Undefined where this is not the price it was charged by: what it comes to is something else, to the micro-USD. */
export const billBy = (
  price: Price,
  usage: Usage,
  { costMicroUsd: cost, feesMicroUsd: fees, serverTools = {}, prices }: Charged,
): Bill | undefined => {
  if (Math.min(costMicroUsd(usage, price, prices) + fees, Number.MAX_SAFE_INTEGER) !== cost) return undefined
  const told = toldMicroUsd(usage, price)
  if (told !== undefined)
    return {
      lines: [{ what: 'told', count: undefined, usd: undefined, microUsd: told }],
      ...{ above: undefined, factors: [] },
    }
  const calls = Object.entries(serverTools).flatMap(([tool, told]): BillLine[] => {
    const count = toCount(told)
    const usd = price.perCall !== undefined && Object.hasOwn(price.perCall, tool) ? price.perCall[tool] : undefined
    return usd === undefined ? [] : [{ what: 'calls', tool, count, usd, microUsd: count * usd * 1e6 }]
  })
  const rest = fees - calls.reduce((sum, { microUsd }) => sum + microUsd, 0)
  const isRest = Math.abs(rest) > 1
  if (isRest && (rest < 0 || price.perImage === undefined)) return undefined
  const pictures: BillLine[] = isRest ? [{ what: 'pictures', count: undefined, usd: undefined, microUsd: rest }] : []
  const lines: BillLine[] = []
  const billed = billedApart(usage, price, prices)
  for (const { usage: of, price: at, model } of billed)
    eachPart(of, at, (what, count, rate) => {
      if (count === 0) return
      const usd = rate / SCALE
      const alike = lines.find((line) => line.what === what && line.model === model && line.usd === usd)
      const all = count + (alike?.count ?? 0)
      const line = { what, ...(model === undefined ? {} : { model }), count: all, usd, microUsd: (all * rate) / SCALE }
      if (alike === undefined) lines.push(line)
      else Object.assign(alike, line)
    })
  return {
    lines: [...lines, ...calls, ...pictures],
    above: billed.some(({ usage: of, model }) => model === undefined && isLong(of, price))
      ? price.long?.above
      : undefined,
    factors: factorsFor(usage, price),
  }
}
