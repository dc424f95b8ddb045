// Answers that providers go on with after their clients were answered: who has them, for clients that ask for them later
// and for the settlement of their exchanges.

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

/** Durable at once; kept as long as exchanges are. */
export type BackgroundStore = {
  keep(answer: BackgroundAnswer): void
  /** A key's own answer by its id. */
  find(keyId: string, id: string): BackgroundAnswer | undefined
  /** The answer of an exchange. */
  of(exchangeId: string): BackgroundAnswer | undefined
  forget(answer: BackgroundAnswer): void
}
