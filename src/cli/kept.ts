// What stands beside the configuration in a data directory, for commands: read, and changed beside a running server, which has it
// in force within a second.

import type { Config } from '../config.ts'
import { type Credentials, createCredentials } from '../entries/credentials.ts'
import { createEntries, type Entries } from '../entries/entries.ts'
import type { Store } from '../store/store.ts'

export type Kept = { entries: Entries; credentials: Credentials }

export const keptIn = async (store: Store, config: Config): Promise<Kept> => {
  const credentials = createCredentials(config)
  return {
    credentials,
    entries: await createEntries({ base: config, store: store.entries, credentials, changed: () => undefined }),
  }
}
