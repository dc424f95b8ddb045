// What an exchange costs: whole micro-USD, from tokens and the model's prices.

import type { Price, Rates } from '../catalogue/model.ts'
import type { PicturesMade } from '../ir/pictures.ts'
import { CLASSES, type Usage } from '../ir/usage.ts'
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
 * Exact below 9,000 USD, and never more than a column can hold. It may be what the provider says. `prices`: of other models, which
 * have answered within.
 */
export const costMicroUsd = (usage: Usage, price: Price | undefined, prices: Prices = NONE): number => {
  if (price === undefined) return 0
  const told = toldMicroUsd(usage, price)
  if (told !== undefined) return told
  let units = SCALE / 2
  for (const billed of billedApart(usage, price, prices))
    eachPart(billed.usage, billed.price, (_part, count, rate) => {
      units += count * rate
    })
  return Math.min((units - (units % SCALE)) / SCALE, Number.MAX_SAFE_INTEGER)
}

const NONE: Prices = () => undefined

/** All that it costs, by its provider's word, where that is what counts. */
export const toldMicroUsd = ({ charged }: Usage, { asTold }: Price): number | undefined =>
  asTold ? charged : undefined

/** `model`: another than the one that was asked. */
type Billed = { usage: Usage; price: Price; model?: string | undefined }

/** What is billed by itself: the answer's own, and the rounds within it. */
export const billedApart = (usage: Usage, price: Price, prices: Prices): Billed[] => {
  const { apart, ...rest } = usage
  if (apart === undefined) return [{ usage, price }]
  const { serviceTier, inferenceGeo } = usage
  const rounds = apart.map(({ model, usage: counts }): Billed => {
    const of: Usage = { ...(serviceTier && { serviceTier }), ...(inferenceGeo && { inferenceGeo }) }
    for (const name of APART) {
      // They are of the whole, and never more than it.
      const taken = Math.min(counts[name] ?? 0, rest[name] ?? 0)
      if (taken === 0) continue
      of[name] = taken
      rest[name] = (rest[name] ?? 0) - taken
    }
    const other = model === undefined ? undefined : prices(model)
    return other === undefined ? { usage: of, price } : { usage: of, price: other, model }
  })
  return [{ usage: rest, price }, ...rounds]
}

const APART = [...CLASSES, 'cacheWrite1h'] as const

/** What tokens of one price are: a class of them, or the part of one that is priced apart. */
export type Part =
  | ('input' | 'cache_read' | 'cache_write' | 'cache_write_1h' | 'output')
  | `${(typeof KINDS)[number]}_${'input' | 'cache_read' | 'output'}`

const KINDS = ['audio', 'image'] as const

/** Disjoint parts, each at its whole rate (`scaledRate`) for this prompt's length, class of service and region. */
export const eachPart = (usage: Usage, price: Price, take: (part: Part, count: number, rate: number) => void): void => {
  const rates = ratesFor(usage, price)
  const times = timesFor(usage, price)
  const { cacheWrite = 0, cacheWrite1h: hour = 0 } = usage
  let { input = 0, cacheRead = 0, output = 0 } = usage
  for (const kind of KINDS) {
    const own = price[kind]
    if (own === undefined) continue
    const heard = Math.min(usage[`${kind}Input`] ?? 0, input)
    const read = Math.min(usage[`${kind}CacheRead`] ?? 0, cacheRead)
    const made = Math.min(usage[`${kind}Output`] ?? 0, output)
    take(`${kind}_input`, heard, scaledRate(own.input, times))
    take(`${kind}_cache_read`, read, scaledRate(own.cacheRead, times))
    take(`${kind}_output`, made, scaledRate(own.output, times))
    input -= heard
    cacheRead -= read
    output -= made
  }
  take('input', input, scaledRate(rates.input, times))
  take('cache_read', cacheRead, scaledRate(rates.cacheRead, times))
  take('cache_write', cacheWrite - hour, scaledRate(rates.cacheWrite, times))
  take('cache_write_1h', hour, scaledRate(rates.cacheWrite1h ?? rates.cacheWrite, times))
  take('output', output, scaledRate(rates.output, times))
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
  prices?: Prices,
): { costMicroUsd: number; feesMicroUsd: number } => {
  const isTold = price !== undefined && toldMicroUsd(usage, price) !== undefined
  const fees = isTold ? 0 : feesMicroUsd(by, price)
  return {
    costMicroUsd: Math.min(costMicroUsd(usage, price, prices) + fees, Number.MAX_SAFE_INTEGER),
    feesMicroUsd: fees,
  }
}

/** Whether the prompt is one that has prices of its own. */
export const isLong = ({ input = 0, cacheRead = 0, cacheWrite = 0 }: Usage, { long }: Price): boolean =>
  long !== undefined && input + cacheRead + cacheWrite > long.above

const ratesFor = (usage: Usage, price: Price): Rates => (isLong(usage, price) ? (price.long ?? price) : price)

/** By how much the class of service and the region that were told multiply every price, by their names. */
export const factorsFor = ({ serviceTier, inferenceGeo }: Usage, { serviceTiers = {} }: Price): [string, number][] =>
  [serviceTier, inferenceGeo].flatMap((name): [string, number][] =>
    name !== undefined && Object.hasOwn(serviceTiers, name) ? [[name, serviceTiers[name] ?? 1]] : [],
  )

const timesFor = (usage: Usage, price: Price): number =>
  usage.serviceTier === undefined && usage.inferenceGeo === undefined
    ? 1
    : factorsFor(usage, price).reduce((times, [, factor]) => times * factor, 1)
