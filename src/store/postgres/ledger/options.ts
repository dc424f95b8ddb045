// What the books of one node are made of.

import type { Budgets } from '../../../keys/budgets.ts'
import type { Keys, RateLimits } from '../../../keys/key.ts'
import type { Prices } from '../../../ledger/cost.ts'
import type { OpenExchange } from '../../../ledger/journal.ts'
import type { Resumed, Settlement } from '../../../ledger/ledger.ts'
import type { Calendar } from '../../../lib/calendar.ts'
import type { Known } from '../../../lib/known.ts'
import type { Client } from '../client.ts'

export type BooksOptions = {
  client: Client
  /** This node's own, of one start of one process. */
  node: string
  keys: Pick<Keys, 'get' | 'versionOf'>
  budgets: Pick<Budgets, 'of' | 'nameOf'>
  /** Reads what other nodes have changed of the keys. */
  refresh(): unknown
  /** Milliseconds since the epoch, as the database has it. */
  clock(): number
  prices(): Prices
  calendar: Calendar
  /** For keys without limits of their own. */
  defaults: RateLimits
  /** Whether tokens count in the windows of keys here, and not elsewhere. */
  countsTokens?(): boolean
  timing?: Partial<Timing>
  /** Takes over an exchange of a node that is gone, whose answer goes on; false where it does not. */
  takeOver?(left: Resumed): Known<boolean>
  onSettled?(settled: { open: OpenExchange; settlement: Settlement; costMicroUsd: number }): void
  /** Something could not be asked of the database. */
  onFailure?(cause: unknown): void
  /** The database refused the figures of this exchange. */
  onRefused?(exchangeId: string, cause: unknown): void
}

/** As every part of the books takes them. */
export type Terms = Required<BooksOptions> & {
  timing: Timing
  /** A statement that may be said again: nothing is to be heard of it but that it was. */
  say(text: string, params: readonly unknown[]): Promise<unknown>
}

/** Milliseconds. */
export type Timing = {
  reserveMs: number
  sayMs: number
  leaseMs: number
  beatMs: number
  sweepMs: number
  /** How often reservations are looked for that nobody knows of, and how old they are then. */
  netMs: number
}

const TIMING: Timing = {
  ...{ reserveMs: 5_000, sayMs: 10_000, leaseMs: 2_000, beatMs: 250, sweepMs: 250, netMs: 10_000 },
}

export const termsOf = (options: BooksOptions): Terms => {
  const timing = { ...TIMING, ...options.timing }
  return {
    ...{ countsTokens: () => true, takeOver: () => false, onSettled: nothing, onFailure: nothing, onRefused: nothing },
    ...options,
    timing,
    say: (text, params) => options.client.query(text, params, { deadlineMs: timing.sayMs, isRepeatable: true }),
  }
}

const nothing = (): void => undefined
