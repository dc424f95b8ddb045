// The journal: what the ledger asks of the store. Every write of usage goes through `write`, all or nothing.

import type { PicturesMade } from '../ir/pictures.ts'
import type { ServerToolCalls } from '../ir/server-tools.ts'
import type { Usage } from '../ir/usage.ts'
import type { Wire } from '../ir/wire.ts'
import type { BudgetId, Spent } from '../keys/budget.ts'
import type { BackgroundAnswer } from './background.ts'
import type { Settlement } from './ledger.ts'

/** An open exchange. `row` is its number in the store, set by the write that makes it durable. */
export type OpenExchange = {
  row: number
  readonly exchangeId: string
  readonly keyId: string
  readonly model: string
  readonly wire: Wire
  readonly stream: boolean
  /** Milliseconds since the epoch. */
  readonly startedAt: number
  readonly inputEstimate: number
  /** What was reserved at first, in tokens. */
  readonly reserved: number
  /** The same of budgets in money; 0 where none counts. */
  readonly reservedMicroUsd: number
  /** The budgets it counts against, from its reservation to its end. */
  readonly budgets: readonly BudgetId[]
  readonly address?: string | undefined
  readonly tag?: string | undefined
  /** The pictures it asks for: a provider may go on with all of them whatever becomes of us. */
  readonly pictures?: PicturesMade | undefined
}

/** What an exchange has come to: whole counts. */
export type SoFar = { readonly usage: Usage; readonly serverTools?: ServerToolCalls | undefined }

/**
 * An exchange a previous process left open, with its last durable figures. `ended`: it was settled, and its row written, but
 * not its sums.
 */
export type LeftOpen = OpenExchange & SoFar & { readonly ended?: SettledExchange }

/** The end of an exchange, ready to be written: counts are whole and not negative. */
export type SettledExchange = {
  readonly open: OpenExchange
  readonly settlement: Omit<Settlement, 'rawUsage' | 'status' | 'totalMs'> & {
    readonly status: number | undefined
    readonly totalMs: number | undefined
  }
  readonly endedAt: number
  readonly costMicroUsd: number
  /** The part of it that is not of tokens. */
  readonly feesMicroUsd: number
  /** JSON text. */
  readonly rawUsage: string | undefined
  /** What the key had left after this charge. */
  readonly leftAfter: number | undefined
  /** Its row may be written already, with figures that the sums were refused for. */
  readonly replaces?: true
}

export type Progress = SoFar & { readonly open: OpenExchange }

/**
 * `settled`: their rows, unless those are written, and their sums. `ended`: their rows alone, which are cheap to write; their
 * reservations stay until they are among the `settled`, so that a killed process leaves word of what is not in the sums.
 */
export type Batch = {
  opened: OpenExchange[]
  progressed: Progress[]
  ended?: SettledExchange[]
  settled: SettledExchange[]
}

/** The ledger's durable side where one process keeps the books, and all of it is synchronous. */
export type Journal = {
  /** What a key is billed as on a day, by its own words. */
  tags(keyId: string, day: number): string[]
  /** What a member or a team is called, or a key. */
  nameOf(budget: BudgetId): string | undefined
  /** The answer that is made in the background of an exchange, where there is one. */
  answerOf(exchangeId: string): BackgroundAnswer | undefined
  /**
   * Makes this process the one writer of exchanges until the store closes, and lists what a previous one left open.
   * Throws a StoreError where another process is the writer. `writeSettled` is called before this process reads
   * exchanges or their sums, so that the read includes what was settled just before; where another process is writing they
   * stay for later, unless they are `required`: then it throws a StoreError.
   */
  claim(writeSettled: (required?: boolean) => void): LeftOpen[]
  /** Adds what was spent to a key and to budgets, live at once; it becomes durable with the `write` of its sums. */
  charge(exchange: Pick<OpenExchange, 'keyId' | 'budgets'>, spent: Spent): void
  /**
   * One transaction: the batch, its sums and what was charged. Throws with nothing written: a StoreError where the disk, its
   * permissions or another process (`isBusy`, after a moment) prevent it, anything else where the database refuses what the
   * batch holds. Synchronous.
   */
  write(batch: Batch): void
  /**
   * Why nothing more should be opened, for the operator: the disk has room left only for ending what is open. A journal that
   * filled its disk could never be written again.
   */
  shortage(): Error | undefined
}
