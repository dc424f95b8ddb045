// What stands beside the configuration file: what was set at run time, in the file's own words.

import type { FileModel } from './schema/models.ts'
import type { FileAccount, FileProvider } from './schema/providers.ts'

/** Credentials are those themselves. */
export type Overlay = {
  providers: Readonly<Record<string, FileProvider>>
  accounts: readonly { provider: string; account: FileAccount & { name: string } }[]
  models: Readonly<Record<string, FileModel>>
  aliases: Readonly<Record<string, string>>
  fallbacks: Readonly<Record<string, string[]>>
}

export const NOTHING_KEPT: Overlay = { providers: {}, accounts: [], models: {}, aliases: {}, fallbacks: {} }
