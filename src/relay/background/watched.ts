// Answers in the background that this gateway watches until each has ended.

import type { GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../ir/json.ts'
import type { BackgroundAnswer, BackgroundStore } from '../../ledger/background.ts'
import type { Begun, Outcome } from '../../ledger/ledger.ts'
import type { Metered } from '../exchange.ts'

export type Background = {
  readonly store: BackgroundStore
  /** Records an answer. */
  keep(answer: BackgroundAnswer): Promise<void>
  /** Gives an answer that goes on to the process that watches them; absent: this one does. */
  handOver?(exchangeId: string, lastKnown: Metered, begun: Begun): void
  /** Whether another node watches an exchange's answer; absent where there are none. */
  isOpenElsewhere?(exchangeId: string): Promise<boolean>
  /** Answers whose exchanges are not settled, by exchange id. */
  readonly watched: Map<string, Watched>
}

export const createBackground = (store: BackgroundStore): Background => ({
  store,
  keep: store.keep,
  watched: new Map(),
})

export type End = { outcome: Outcome; metered: Metered; error?: GatewayError | undefined }

/** An exchange whose answer is not finished. */
export type Open = {
  inputEstimate: number
  /** What is billed if the provider never says how it ended. */
  lastKnown: Metered
  /** Called once. Resolves once it is written. */
  settle(end: End): Promise<void>
  /** Is given the answer once it has ended, where what is said is exported. */
  hear?(body: JsonObject): void
}

export type Watched = Open & {
  readonly answer: BackgroundAnswer
  /** By the stopwatch, and how old the answer was then: the time of day may be set forward while it is made. */
  readonly watchedSince: number
  readonly ageMs: number
  /** Polls in a row to which the provider said that it does not know the answer. */
  missed: number
  timer: ReturnType<typeof setTimeout> | undefined
}
