// What made a cost, to be followed by hand: so many tokens, calls and pictures, each at its price.

import type { Price } from '../catalogue/model.ts'
import type { ServerToolCalls } from '../ir/server-tools.ts'
import type { Usage } from '../ir/usage.ts'
import { costMicroUsd, eachPart, factorsFor, isLong, type Part, SCALE, toldMicroUsd } from './cost.ts'
import { toCount } from './figures.ts'

/**
 * `what`: a part of the tokens, `calls` of a tool at the vendor, `pictures` that are priced each, or all of it as the provider
 * `told` it. `usd`: for a million tokens, the class of service and the region counted in, or for one call. `microUsd`: not rounded,
 * as only their sum is.
 */
export type BillLine = {
  what: Part | 'calls' | 'pictures' | 'told'
  tool?: string
  count: number | undefined
  usd: number | undefined
  microUsd: number
}

/** `above`: the prices are those of prompts of more tokens. `factors`: what they were multiplied by, and why. */
type Bill = { lines: BillLine[]; above: number | undefined; factors: [string, number][] }

type Charged = { costMicroUsd: number; feesMicroUsd: number; serverTools: ServerToolCalls | undefined }

/** Undefined where this is not the price it was charged by: what it comes to is something else, to the micro-USD. */
export const billBy = (
  price: Price,
  usage: Usage,
  { costMicroUsd: cost, feesMicroUsd: fees, serverTools = {} }: Charged,
): Bill | undefined => {
  if (Math.min(costMicroUsd(usage, price) + fees, Number.MAX_SAFE_INTEGER) !== cost) return undefined
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
  eachPart(usage, price, (what, count, rate) => {
    if (count !== 0) lines.push({ what, count, usd: rate / SCALE, microUsd: (count * rate) / SCALE })
  })
  return {
    lines: [...lines, ...calls, ...pictures],
    above: isLong(usage, price) ? price.long?.above : undefined,
    factors: factorsFor(usage, price),
  }
}
