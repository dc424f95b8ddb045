// What an exchange costs: whole micro-USD, from tokens and the model's prices.

import type { KindRates, Price, Rates } from '../catalogue/model.ts'
import type { PicturesMade } from '../ir/pictures.ts'
import type { Usage } from '../ir/usage.ts'
import { toCount } from './figures.ts'
import type { Settlement } from './ledger.ts'
import { mostOfPicture, rateOfPicture } from './pictures.ts'

/** By catalogue id. */
export type Prices = (modelId: string) => Price | undefined

/** Prices are scaled to whole millionths of a micro-USD per token: sums are exact, so that 0.5 rounds up. */
export const SCALE = 1_000_000

/** A price of a token, whole. */
export const scaledRate = (rate: number, times = 1): number => Math.round(rate * times * SCALE)

/**
 * Micro-USD, rounded half up once, over all classes; reasoning is part of output. 0 for a model without a price.
 * Exact below 9,000 USD, and never more than a column can hold. Without a price it may be what the provider says.
 */
export const costMicroUsd = (usage: Usage, price: Price | undefined): number => {
  if (price === undefined) return 0
  if (price.asTold) return usage.charged ?? 0
  const rates = ratesFor(usage, price)
  const times = timesFor(usage, price)
  const scaled = (rate: number): number => scaledRate(rate, times)
  const hour = usage.cacheWrite1h ?? 0
  const units =
    (price.audio === undefined ? 0 : kindsOf(usage, 'audio', { own: price.audio, rates }, scaled)) +
    (price.image === undefined ? 0 : kindsOf(usage, 'image', { own: price.image, rates }, scaled)) +
    (usage.input ?? 0) * scaled(rates.input) +
    (usage.cacheRead ?? 0) * scaled(rates.cacheRead) +
    ((usage.cacheWrite ?? 0) - hour) * scaled(rates.cacheWrite) +
    hour * scaled(rates.cacheWrite1h ?? rates.cacheWrite) +
    (usage.output ?? 0) * scaled(rates.output) +
    SCALE / 2
  return Math.min((units - (units % SCALE)) / SCALE, Number.MAX_SAFE_INTEGER)
}

/** What tokens of sound or of pictures cost more than their classes, or less. */
const kindsOf = (
  usage: Usage,
  kind: 'audio' | 'image',
  { own, rates }: { own: KindRates; rates: Rates },
  scaled: (rate: number) => number,
): number => {
  const { input = 0, cacheRead = 0, output = 0 } = usage
  return (
    Math.min(usage[`${kind}Input`] ?? 0, input) * (scaled(own.input) - scaled(rates.input)) +
    Math.min(usage[`${kind}CacheRead`] ?? 0, cacheRead) * (scaled(own.cacheRead) - scaled(rates.cacheRead)) +
    Math.min(usage[`${kind}Output`] ?? 0, output) * (scaled(own.output) - scaled(rates.output))
  )
}

/**
 * Micro-USD of what is billed by the piece, rounded half up once: calls of tools that ran at the vendor, of which those without a
 * price cost nothing, and pictures.
 */
export const feesMicroUsd = (
  { serverTools, pictures }: Pick<Settlement, 'serverTools' | 'pictures'>,
  price: Price | undefined,
): number => {
  const fees = price?.perCall
  let units = SCALE / 2
  if (serverTools !== undefined && fees !== undefined)
    for (const [tool, count] of Object.entries(serverTools))
      if (Object.hasOwn(fees, tool)) units += toCount(count) * scaledFee(fees[tool] ?? 0)
  units += picturesUnits(pictures, price, rateOfPicture)
  return Math.min((units - (units % SCALE)) / SCALE, Number.MAX_SAFE_INTEGER)
}

const scaledFee = (usd: number): number => Math.round(usd * 1e6 * SCALE)

const picturesUnits = (
  pictures: PicturesMade | undefined,
  price: Price | undefined,
  rateOf: typeof rateOfPicture,
): number =>
  pictures === undefined || price?.perImage === undefined
    ? 0
    : toCount(pictures.count) * scaledFee(rateOf(price.perImage, pictures))

/** The most that pictures as they are asked for can cost by any of these prices, whole and rounded up. */
export const mostOfPictures = (pictures: PicturesMade | undefined, prices: readonly (Price | undefined)[]): number =>
  pictures === undefined
    ? 0
    : Math.ceil(Math.max(0, ...prices.map((price) => picturesUnits(pictures, price, mostOfPicture))) / SCALE)

/** What an exchange costs, and the part of it that is not of tokens. */
export const costOf = (
  usage: Usage,
  by: Pick<Settlement, 'serverTools' | 'pictures'>,
  price: Price | undefined,
): { costMicroUsd: number; feesMicroUsd: number } => {
  const fees = feesMicroUsd(by, price)
  return { costMicroUsd: Math.min(costMicroUsd(usage, price) + fees, Number.MAX_SAFE_INTEGER), feesMicroUsd: fees }
}

const ratesFor = ({ input = 0, cacheRead = 0, cacheWrite = 0 }: Usage, price: Price): Rates =>
  price.long !== undefined && input + cacheRead + cacheWrite > price.long.above ? price.long : price

const timesFor = ({ serviceTier, inferenceGeo }: Usage, { serviceTiers = {} }: Price): number => {
  const times = (name: string | undefined): number =>
    name !== undefined && Object.hasOwn(serviceTiers, name) ? (serviceTiers[name] ?? 1) : 1
  return times(serviceTier) * times(inferenceGeo)
}
