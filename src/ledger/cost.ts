// What an exchange costs: whole micro-USD, from tokens and the model's prices.

import type { Price } from '../catalogue/model.ts'
import type { Usage } from '../ir/usage.ts'

/** Prices count to a millionth of a micro-USD per token, in whole numbers, so that a half is a half and not 0.4999…. */
const SCALE = 1_000_000

const scaled = (price: number): number => Math.round(price * SCALE)

/**
 * Micro-USD, rounded half up once, over all classes; reasoning is part of output. 0 for a model without a price.
 * Exact below 9,000 USD.
 */
export const costMicroUsd = (usage: Usage, price: Price | undefined): number => {
  if (price === undefined) return 0
  const hour = usage.cacheWrite1h ?? 0
  const units =
    (usage.input ?? 0) * scaled(price.input) +
    (usage.cacheRead ?? 0) * scaled(price.cacheRead) +
    ((usage.cacheWrite ?? 0) - hour) * scaled(price.cacheWrite) +
    hour * scaled(price.cacheWrite1h ?? price.cacheWrite) +
    (usage.output ?? 0) * scaled(price.output) +
    SCALE / 2
  return (units - (units % SCALE)) / SCALE
}
