// What an exchange costs: whole micro-USD, from tokens and the model's prices.

import type { Price, Rates } from '../catalogue/model.ts'
import type { ServerToolCalls } from '../ir/server-tools.ts'
import type { Usage } from '../ir/usage.ts'
import { toCount } from './figures.ts'

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

/** Micro-USD of the calls of tools that ran at the vendor, rounded half up once; those without a price cost nothing. */
export const feesMicroUsd = (calls: ServerToolCalls | undefined, price: Price | undefined): number => {
  const fees = price?.perCall
  if (calls === undefined || fees === undefined) return 0
  let units = SCALE / 2
  for (const [tool, count] of Object.entries(calls))
    if (Object.hasOwn(fees, tool)) units += toCount(count) * Math.round((fees[tool] ?? 0) * 1e6 * SCALE)
  return Math.min((units - (units % SCALE)) / SCALE, Number.MAX_SAFE_INTEGER)
}

const ratesFor = ({ input = 0, cacheRead = 0, cacheWrite = 0 }: Usage, price: Price): Rates =>
  price.long !== undefined && input + cacheRead + cacheWrite > price.long.above ? price.long : price

const timesFor = ({ serviceTier, inferenceGeo }: Usage, { serviceTiers = {} }: Price): number => {
  const times = (name: string | undefined): number =>
    name !== undefined && Object.hasOwn(serviceTiers, name) ? (serviceTiers[name] ?? 1) : 1
  return times(serviceTier) * times(inferenceGeo)
}
