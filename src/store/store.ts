// The store: all the gateway's durable data. A narrow port; a backend is a folder beside this file that passes its tests.
// What a process reads of its own memory is synchronous, everything else a promise: a backend may be elsewhere. A write waits
// by itself while another one keeps it from being done.

import type { AlertStore } from '../alerts/alert.ts'
import type { Budgets } from '../keys/budgets.ts'
import type { Actor, Keys } from '../keys/key.ts'
import type { BackgroundStore } from '../ledger/background.ts'
import type { Journal } from '../ledger/journal.ts'
import type { AnswerStore } from '../ledger/kept-answers.ts'
import type { FactorStore, MemberStore, SessionStore, SettingStore, TeamStore, TokenStore } from '../members/member.ts'
import type { EntryStore } from './entries.ts'
import type { Insight } from './insight.ts'
import type { PriceStore } from './prices.ts'
import type { RefusalStore } from './refusals.ts'
import type { ExchangeRow, UsageQuery, UsageTable } from './usage.ts'

/**
 * One sentence an operator can act on: a wrong file, a newer schema, a running server. `busy`: nothing was written, since
 * another program is writing.
 */
export type StoreError = Error & { name: 'StoreError'; busy?: true }

export const storeError = (message: string, cause?: unknown): StoreError =>
  Object.assign(new Error(message, cause === undefined ? undefined : { cause }), { name: 'StoreError' as const })

export const isStoreError = (error: unknown): error is StoreError =>
  error instanceof Error && error.name === 'StoreError'

/** Whether a write failed only because another program is writing: tried again, it may succeed. */
export const isBusy = (error: unknown): boolean => isStoreError(error) && error.busy === true

type AuditQuery = { limit: number; before?: number | undefined; target?: string | undefined }

/** `before` and `after`: the target's state, without secrets. */
export type AuditRow = {
  row: number
  at: number
  actor: Actor
  action: string
  target: string
  before: unknown
  after: unknown
}

export type Store = {
  keys: Keys
  budgets: Budgets
  members: MemberStore
  teams: TeamStore
  sessions: SessionStore
  factors: FactorStore
  tokens: TokenStore
  settings: SettingStore
  prices: PriceStore
  /** What of the configuration was set at run time. */
  entries: EntryStore
  refusals: RefusalStore
  background: BackgroundStore
  answers: AnswerStore
  alerts: AlertStore
  insight: Insight
  /** May block: for commands, which have nothing else to do. */
  usage(query: UsageQuery): Promise<UsageTable>
  /** Newest first, those in flight and refusals among them. */
  exchanges(query: { limit: number; id?: string | undefined }): Promise<ExchangeRow[]>
  audit(query: AuditQuery): Promise<AuditRow[]>
  /** When each key's last exchange began, in ms since the epoch. */
  lastUsed(keyIds: readonly string[]): Promise<Map<string, number>>
  /** Reloads what another process has changed; false when nothing has. */
  refresh(): Promise<boolean>
  /** Refreshes regularly (every 250 ms) until the returned function is called. Does not keep the process alive. */
  watch(intervalMs?: number): () => void
  /**
   * Removes settled exchanges that began before `beforeMs`, the records of their background answers, refusals of before, and
   * the hourly sums of the whole days before it: at most `batch` rows. Returns how many, fewer than `batch` when none are left. Daily
   * sums stay. Blocks: a few µs a row, more where pages are read from the disk.
   */
  prune(beforeMs: number, batch: number): Promise<number>
  /** Writes one page, unchanged. Throws where the store cannot be written; a StoreError that `isBusy` as `write` does. */
  probe(): Promise<void>
  close(): Promise<void>
}

/** A store in which one process keeps the books: `createLedger` claims its journal. */
export type SqliteStore = Store & { journal: Journal }
