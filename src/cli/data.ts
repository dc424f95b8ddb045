// What most commands begin with: the configuration, and the data directory's database.

import { statSync } from 'node:fs'
import { shownStore } from '../config/store.ts'
import { type Config, databasePath, type Flags, loadConfig, problemLine } from '../config.ts'
import type { Store } from '../store/store.ts'
import { failure, type Io, usageError } from './io.ts'

/** The flags every command on the data directory takes. */
export const DATA_FLAGS = {
  config: {
    type: 'string',
    valueHint: 'FILE',
    description: 'Configuration file (SLUICE_CONFIG; default ./sluice.yaml)',
  },
  data: { type: 'string', valueHint: 'DIR', description: 'Data directory (SLUICE_DATA; default ./data)' },
} as const

export const JSON_FLAG = {
  json: { type: 'boolean', description: 'Print the result as one JSON document' },
} as const

/** The whole configuration, secrets resolved, its warnings on stderr. Throws a UsageError with every problem. */
export const requireConfig = (flags: Flags, io: Io): Config => {
  const config = wholeConfig(flags, io)
  for (const warning of config.warnings) io.err(`warning: ${warning}`)
  return config
}

/** The same without a word of its warnings. */
export const wholeConfig = (flags: Flags, io: Io): Config => loaded(flags, io, 'resolve')

/** The configuration without its accounts: a key can be made on a machine that holds no credential. */
export const requireData = (flags: Flags, io: Io): Config => loaded(flags, io, 'skip')

const loaded = (flags: Flags, io: Io, secrets: 'resolve' | 'skip'): Config => {
  const result = loadConfig({ flags, env: io.env, cwd: io.cwd, secrets })
  if (result.ok) return result.config
  throw usageError(result.problems.map(problemLine).join('\n'))
}

/**
 * Runs `use` on the store and closes it. A reader finds an empty store where no database is yet, and makes none;
 * a writer makes it. One that nodes share goes by its own clock.
 */
export const withStore = async <T>(
  config: Config,
  io: Io,
  mode: 'read' | 'write',
  use: (store: Store) => T | Promise<T>,
): Promise<T> => {
  const { openStoreOf } = await import('../server/opening.ts')
  const path = databasePath(config)
  const missing = hasNone(config)
  const isEmpty = missing && mode === 'read'
  const clock = config.store === undefined ? io.now : undefined
  const { store } = await openStoreOf(config, { clock, ...(isEmpty ? { path: ':memory:' } : {}) })
  // A server on another directory knows nothing of what is written here.
  const made = mode === 'read' ? `there is no database in ${config.dataDir} yet` : `a new database is made: ${path}`
  if (missing) io.err(`note: ${made}`)
  try {
    return await use(store)
  } finally {
    await store.close()
  }
}

/** Whether no database has been made yet. One that nodes share is made with the first that opens it. */
export const hasNone = (config: Config): boolean => config.store === undefined && isAbsent(databasePath(config))

/** For what is done to the file itself. Throws where there is none, with `instead`. */
export const requireFile = (config: Config, instead: string): string => {
  if (config.store === undefined) return databasePath(config)
  throw failure(`The store is PostgreSQL (${shownStore(config.store)}): ${instead}`)
}

/** Nothing is there. A folder that may not be looked into is another matter: opening the database says so. */
export const isAbsent = (path: string): boolean => {
  try {
    return statSync(path, { throwIfNoEntry: false }) === undefined
  } catch {
    return false
  }
}
