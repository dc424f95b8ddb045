// Requests of known keys that were refused before they became exchanges: the latest of each key one by one, and how many
// they were.

import type { Wire } from '../ir/wire.ts'

/** What a request is held to, in that order. `records`: it could not be recorded; `gateway`: a fault of our own. */
export const CHECKS = [
  'authentication',
  'address',
  'capacity',
  'rate limit',
  'body size',
  'request',
  'model',
  'permission',
  'quota',
  'records',
  'gateway',
] as const
export type CheckName = (typeof CHECKS)[number]

export type Refusal = {
  /** The request id the client saw. */
  readonly id: string
  readonly keyId: string
  /** Milliseconds since the epoch. */
  readonly at: number
  readonly wire: Wire
  readonly path: string
  /** The catalogue id, where it was known by then. */
  readonly model: string | undefined
  readonly status: number
  readonly code: string
  /** The check that it did not pass. */
  readonly failed: CheckName
  /** The message the client got. */
  readonly told: string
  readonly address: string | undefined
  readonly tag: string | undefined
}

/** How many of a key were refused with a code in the hour that begins then. */
export type RefusedCount = { readonly keyId: string; readonly hour: number; readonly code: string; count: number }

/** Under this key id the counts of all keys together are kept. */
export const ALL_KEYS = ''

/** So many are kept of each key, the latest. */
export const KEPT_OF_KEY = 1_000

/** What is written at once. */
export type RefusalGroup = { readonly refusals: readonly Refusal[]; readonly counts: readonly RefusedCount[] }

export type RefusalStore = {
  /**
   * One transaction, of the process that has claimed the journal. Throws with nothing written: a StoreError where the disk or
   * another process (`isBusy`) prevents it. Where nothing is heard of its end, the same group is said again, and written once.
   */
  write(group: RefusalGroup): Promise<void>
}
