// Background answers, which providers finish after the client was answered: where each is made, for clients that read it
// later and for the settlement of its exchange.

/** `id`: the answer's, as its provider gave it. `model`: the catalogue id. `createdAt`: milliseconds since the epoch. */
export type BackgroundAnswer = {
  readonly id: string
  readonly exchangeId: string
  readonly keyId: string
  readonly provider: string
  readonly account: string
  readonly model: string
  readonly createdAt: number
}

/** Writes are durable at once, and throw a StoreError. Records are kept as long as exchanges are. */
export type BackgroundStore = {
  keep(answer: BackgroundAnswer): Promise<void>
  /** A key's own answer by its id. */
  find(keyId: string, id: string): Promise<BackgroundAnswer | undefined>
  /** The answer of an exchange. */
  of(exchangeId: string): Promise<BackgroundAnswer | undefined>
  forget(answer: BackgroundAnswer): Promise<void>
}
