// What of the configuration was set while the gateway ran: its entries as they are kept, and the port to them.

import type { Actor } from '../keys/key.ts'

/** The parts of the configuration that have entries, in the order in which one may name another. */
export const SECTIONS = ['providers', 'accounts', 'models', 'aliases', 'fallbacks'] as const
export type Section = (typeof SECTIONS)[number]

/** A credential as it is kept. `by`: the id of the key that opens it. `lastFour`: null where it is too short to show any. */
export type SealedCredential = { text: string; by: string; lastFour: string | null }

/** `value`: as the configuration file would say it, without the credential. An account's name is `provider/account`. */
export type KeptEntry = {
  section: Section
  name: string
  value: unknown
  credential: SealedCredential | undefined
  createdAt: number
  updatedAt: number
}

/** What an entry becomes. `credential` is kept as it was where it is absent. */
export type EntryChange = { value: unknown; credential?: SealedCredential | undefined }

export type EntryStore = {
  /** By section, in their order, then by age. */
  list(): KeptEntry[]
  /** Another text after every change, whichever process made it. */
  revision(): string
  /**
   * `next` is given the entry as it is, within the change, and says what it becomes; undefined: nothing. What it throws
   * undoes the change. In the audit.
   */
  change(
    section: Section,
    name: string,
    next: (before: KeptEntry | undefined) => EntryChange | undefined,
    actor: Actor,
  ): void
  /** Gives every credential that `next` returns another for that one; how many. `done` runs before any of it is durable. */
  reseal(next: (entry: KeptEntry) => SealedCredential | undefined, done: () => void, actor: Actor): number
}
