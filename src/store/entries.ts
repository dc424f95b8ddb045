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

/** What an entry becomes; in place of one, undefined: nothing. `credential` is kept as it was where it is absent. */
export type EntryChange = { value: unknown; credential?: SealedCredential | undefined }

export type EntryStore = {
  /** By section, in their order, then by age. */
  list(): Promise<KeptEntry[]>
  /** Another text after every change, whichever process made it. */
  revision(): Promise<string>
  /** All of the changes or none; what `next` throws undoes them. In the audit. Removing what is not there is nothing. */
  change(
    changes: readonly { section: Section; name: string; next: () => EntryChange | undefined }[],
    actor: Actor,
  ): Promise<void>
  /** Gives every credential that `next` returns another for that one, all or none; how many. In the audit. */
  reseal(next: (entry: KeptEntry) => SealedCredential | undefined, actor: Actor): Promise<number>
}
