// What an exchange may come to, and how it ended, in the figures that are written.

import type { Price } from '../catalogue/model.ts'
import { mostOf, type Per, perOf, timesOf } from './bounds.ts'
import { costMicroUsd, costOf, mostOfPictures, type Prices } from './cost.ts'
import { toCount, toText, wholeCounts } from './figures.ts'
import type { OpenExchange, SettledExchange } from './journal.ts'
import type { ReserveAsk, Resumed, Settlement } from './ledger.ts'

type Asked = Pick<ReserveAsk, 'model' | 'fallbacks' | 'classes' | 'inputEstimate' | 'pictures'>

/** By the model asked for and those that may answer in its place. */
export const mostPer = (
  { model, fallbacks = [], classes = [], inputEstimate, pictures }: Asked,
  prices: Prices,
): Per => {
  const all = [model, ...fallbacks].map(prices)
  const per = perOf(all, inputEstimate, timesOf(classes, all))
  per.fees = mostOfPictures(pictures, all)
  return per
}

/** What so many tokens come to at most, of whichever class. Of an exchange of a previous process that is not known. */
export const mostOfAny = (
  { per, inputEstimate }: { per: Per | undefined; inputEstimate: number },
  tokens: number,
): number => {
  if (per === undefined) return Number.POSITIVE_INFINITY
  const prompt = Math.min(inputEstimate, tokens)
  return mostOf({ ...per, output: Math.max(per.input, per.output) }, prompt, tokens - prompt)
}

/**
 * What is billed of an exchange that nobody is left to settle: its last figures. Where there are none, its prompt: it goes to its
 * provider in the turn it is reserved in, and is billed there whatever came of it. The same of the pictures that it asks for.
 */
export const lastKnown = ({
  inputEstimate,
  usage,
  serverTools,
  pictures,
}: Pick<Resumed, 'inputEstimate' | 'usage' | 'serverTools' | 'pictures'>): Omit<Settlement, 'status' | 'totalMs'> => ({
  ...{ outcome: 'failed', errorCode: 'internal_error', attempts: 1, estimated: true },
  usage: Object.keys(usage).length > 0 ? usage : { input: inputEstimate, output: 0 },
  ...{ serverTools, pictures },
})

/**
 * A settlement without a word of its provider's, and by no more tokens than were set aside for it: what the database refuses
 * is an answer that nobody can have had.
 */
export const clamped = (
  { open, settlement, ...settled }: SettledExchange,
  price: Price | undefined,
): SettledExchange => {
  const { outcome, status, errorCode, attempts, model, usage: told } = settlement
  const most = Math.max(0, open.reserved - open.inputEstimate)
  const usage = { input: open.inputEstimate, output: Math.min(told.output ?? 0, most) }
  return {
    ...settled,
    open,
    settlement: { outcome, usage, estimated: true, status, errorCode, attempts, model, totalMs: undefined },
    costMicroUsd: costMicroUsd(usage, price),
    feesMicroUsd: 0,
    rawUsage: undefined,
    leftAfter: undefined,
    replaces: true,
  }
}

/** Its end, without what its key had left. `prices`: those it began with. */
export const endOf = (
  open: OpenExchange,
  { rawUsage, ...how }: SettledExchange['settlement'] & Pick<Settlement, 'rawUsage'>,
  prices: Prices,
  endedAt: number,
): Omit<SettledExchange, 'leftAfter'> => {
  const usage = wholeCounts(how.usage)
  return {
    open,
    settlement: {
      ...how,
      usage,
      attempts: toCount(how.attempts),
      firstByteMs: how.firstByteMs === undefined ? undefined : toCount(how.firstByteMs),
      totalMs: how.totalMs === undefined ? undefined : toCount(how.totalMs),
    },
    endedAt,
    ...costOf(usage, how, prices(how.model ?? open.model), prices),
    rawUsage: toText(rawUsage),
  }
}
