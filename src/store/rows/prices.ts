// Prices as rows, of either dialect.

import { digest } from '../../lib/digest.ts'
import type { KeptPrice } from '../prices.ts'

type Known = { model: string; digest: string }

/** Of those that are not known. */
export const unknownPrices = (prices: readonly KeptPrice[], known: readonly Known[], since: number) => {
  const names = new Set(known.map(nameOf))
  return prices
    .map(({ model, price }) => ({ model, digest: digest(price), price, since }))
    .filter((row) => !names.has(nameOf(row)))
}

const nameOf = ({ model, digest }: Known): string => `${digest} ${model}`
