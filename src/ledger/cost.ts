// What an exchange costs: whole micro-USD, from tokens and the model's prices.

import type { Price, Rates } from '../catalogue/model.ts'
import type { Usage } from '../ir/usage.ts'

/** Prices are scaled to whole millionths of a micro-USD per token: sums are exact, so that 0.5 rounds up. */
export const SCALE = 1_000_000

/** A price of a token, whole. */
export const scaledRate = (rate: number, times = 1): number => Math.round(rate * times * SCALE)

/**
 * Micro-USD, rounded half up once, over all classes; reasoning is part of output. 0 for a model without a price.
 * Exact below 9,000 USD, and never more than a column can hold.
 */
export const costMicroUsd = (usage: Usage, price: Price | undefined): number => {
  if (price === undefined) return 0
  const rates = ratesFor(usage, price)
  const times = timesFor(usage, price)
  const scaled = (rate: number): number => scaledRate(rate, times)
  const hour = usage.cacheWrite1h ?? 0
  const units =
    (usage.input ?? 0) * scaled(rates.input) +
    (usage.cacheRead ?? 0) * scaled(rates.cacheRead) +
    ((usage.cacheWrite ?? 0) - hour) * scaled(rates.cacheWrite) +
    hour * scaled(rates.cacheWrite1h ?? rates.cacheWrite) +
    (usage.output ?? 0) * scaled(rates.output) +
    SCALE / 2
  return Math.min((units - (units % SCALE)) / SCALE, Number.MAX_SAFE_INTEGER)
}

const ratesFor = ({ input = 0, cacheRead = 0, cacheWrite = 0 }: Usage, price: Price): Rates =>
  price.long !== undefined && input + cacheRead + cacheWrite > price.long.above ? price.long : price

const timesFor = ({ serviceTier, inferenceGeo }: Usage, { serviceTiers = {} }: Price): number => {
  const times = (name: string | undefined): number =>
    name !== undefined && Object.hasOwn(serviceTiers, name) ? (serviceTiers[name] ?? 1) : 1
  return times(serviceTier) * times(inferenceGeo)
}
