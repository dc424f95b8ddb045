// The prices that models have had: what an exchange was charged by, after they have changed.

/** `price`: as JSON text. */
export type KeptPrice = { model: string; price: string }

export type PriceStore = {
  /** Keeps those that are not known yet. */
  keep(prices: readonly KeptPrice[]): Promise<void>
  /** Of a model, those that came last first. */
  of(model: string): Promise<string[]>
}
