// Opens the store that a configuration names: the database in the data directory, or the one that several nodes share.

import { type Config, databasePath } from '../config.ts'
import type { PostgresStore } from '../store/postgres/open.ts'
import { openStore } from '../store/sqlite/index.ts'
import type { SqliteStore } from '../store/store.ts'

/** `isShared`: other nodes may be at it, and the database keeps the books. */
export type Opened = { isShared: false; store: SqliteStore } | { isShared: true; store: PostgresStore }

/** `path`: in place of the data directory's own. */
type OpenOptions = { clock?: (() => number) | undefined; path?: string; lockWaitMs?: number }

/** Throws a StoreError for one that cannot be used. */
export const openStoreOf = async (
  config: Pick<Config, 'store' | 'dataDir' | 'calendar'>,
  { clock, path = databasePath(config), lockWaitMs = 0 }: OpenOptions = {},
): Promise<Opened> => {
  const { calendar } = config
  if (config.store === undefined)
    return {
      isShared: false,
      store: openStore(path, { calendar, lockWaitMs, ...(clock === undefined ? {} : { clock }) }),
    }
  const { openPostgres } = await import('../store/postgres/open.ts')
  return { isShared: true, store: await openPostgres(config.store, { clock, calendar }) }
}
