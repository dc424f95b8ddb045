// Opens a database file as a Store: checked first, then migrated, then loaded.

import { Database } from 'bun:sqlite'
import { mkdirSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { drizzle } from 'drizzle-orm/bun-sqlite'
import { type Store, storeError } from '../store.ts'
import { createBackground } from './background.ts'
import { createChange } from './change.ts'
import { appliedMigrations, checkFile, checkSchema, refusalOf } from './check.ts'
import { createInsight } from './insight.ts'
import { createJournal } from './journal.ts'
import { createKeyRing } from './keys.ts'
import { lockServer } from './lock.ts'
import { createMembers } from './members.ts'
import { MIGRATIONS } from './migrations.ts'
import { createPrivate } from './private.ts'
import { createQueries } from './queries.ts'
import { createSessions } from './sessions.ts'
import { createSettings } from './settings.ts'
import { createTokens } from './tokens.ts'

/** `clock`: milliseconds since the epoch, Date.now by default. `busyTimeoutMs`: how long a write waits for another process. */
export type OpenOptions = { clock?: () => number; busyTimeoutMs?: number }

const MEMORY = ':memory:'

/**
 * `path` is the database file (its folder is made) or ':memory:'. A damaged file, one of another program or of a newer
 * version throws a StoreError and is left as it was.
 */
export const openStore = (path: string, options: OpenOptions = {}): Store => {
  let db: Database | undefined
  try {
    if (path !== MEMORY) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      checkFile(path)
      createPrivate(path)
    }
    db = new Database(path, { create: true, readwrite: true })
    prepare(db, path, options.busyTimeoutMs ?? 2_000)
    return storeOf(db, path, options.clock ?? Date.now)
  } catch (error) {
    db?.close()
    throw refusalOf(path, error)
  }
}

const storeOf = (db: Database, path: string, clock: () => number): Store => {
  // Statements of `query` end with their connection; those of `prepare`, which drizzle calls, would keep the file open.
  db.prepare = (text: string) => db.query(text)
  const orm = drizzle(db)
  const transaction = orm.transaction.bind(orm)
  const inPlace = path === MEMORY ? () => true : placeOf(path)
  /** Set while the file is not where it was opened: what is written then, nobody finds again. */
  let astray = false
  const requireInPlace = (): void => {
    if (!astray) return
    throw storeError(
      `The database ${path} was deleted or replaced under the running server; stop the server and put it back, or restore a backup.`,
    )
  }
  orm.transaction = (change, config) => {
    requireInPlace()
    try {
      return transaction(change, config)
    } catch (cause) {
      throw refusalOf(path, cause)
    }
  }
  // Read before the keys are, so that no change falls between the two.
  const version = db.query<{ data_version: number }, []>('PRAGMA data_version')
  let seen = version.get()?.data_version
  const change = createChange(orm, clock)
  const ring = createKeyRing(orm, change, clock, () => changed())
  const journal = createJournal(db, path === MEMORY ? undefined : path, ring)
  const queries = createQueries(db, orm)
  const insight = createInsight(db, orm)
  /** A read or a change that finds in the database whatever is settled. */
  const settled =
    <Args extends unknown[], Found>(read: (...args: Args) => Found) =>
    (...args: Args): Found => {
      journal.settle()
      return read(...args)
    }
  let watching: Timer | undefined

  const refresh = (): boolean => {
    const now = version.get()?.data_version
    if (now === seen) return false
    ring.reload(!journal.claimed())
    seen = now
    return true
  }
  /** A file that cannot be read now is read again at the next look: what changed is still unseen. */
  const changed = (): boolean => {
    try {
      return refresh()
    } catch {
      return false
    }
  }
  const unwatch = () => {
    clearInterval(watching)
    watching = undefined
  }

  return {
    keys: { ...ring.keys, update: settled(ring.keys.update) },
    members: createMembers(orm, change, clock),
    sessions: createSessions(orm, change),
    tokens: createTokens(orm, change, clock),
    settings: createSettings(orm, change, clock),
    journal: {
      ...journal,
      write(batch) {
        requireInPlace()
        journal.write(batch)
      },
    },
    background: createBackground(orm),
    ...queries,
    usage: settled(queries.usage),
    exchanges: settled(queries.exchanges),
    prune(beforeMs, batch) {
      const gone = queries.prune(beforeMs, batch)
      journal.wrote(gone)
      return gone
    },
    series: settled(insight.series),
    topKeys: settled(insight.topKeys),
    hoursKept: settled(insight.hoursKept),
    exchangePage: settled(insight.exchangePage),
    latencies: settled(insight.latencies),
    lastUsed: settled(insight.lastUsed),
    refresh,
    watch(intervalMs = 250) {
      unwatch()
      watching = setInterval(() => {
        astray = !inPlace()
        changed()
      }, intervalMs)
      watching.unref()
      return unwatch
    },
    // Set to what it is: the page that holds it is written all the same.
    probe() {
      requireInPlace()
      db.run('PRAGMA user_version = 0')
    },
    close() {
      unwatch()
      journal.stop()
      try {
        db.close(true)
      } finally {
        journal.release()
      }
    },
  }
}

/** Says whether the file of that name is still the one it is now. A look that fails for another reason says nothing. */
const placeOf = (path: string): (() => boolean) => {
  const { dev, ino } = statSync(path)
  return () => {
    try {
      const now = statSync(path, { throwIfNoEntry: false })
      return now !== undefined && now.ino === ino && now.dev === dev
    } catch {
      return true
    }
  }
}

/** What the log may keep of the disk: more than it needs between two checkpoints. */
const LOG_BYTES = 64 * 1024 * 1024

const prepare = (db: Database, path: string, busyTimeoutMs: number): void => {
  db.run(`PRAGMA busy_timeout = ${busyTimeoutMs}`)
  db.run('PRAGMA journal_mode = WAL')
  db.run('PRAGMA synchronous = NORMAL')
  db.run('PRAGMA foreign_keys = ON')
  db.run('PRAGMA cache_size = -16384')
  // A server's checkpoints are made by a thread; these, within a write, are for when it cannot keep up.
  db.run('PRAGMA wal_autocheckpoint = 32000')
  // A log that grew past all measure, behind a long reader for instance, gives its disk back when it begins anew.
  db.run(`PRAGMA journal_size_limit = ${LOG_BYTES}`)
  const applied = appliedMigrations(db)
  if (applied?.length === MIGRATIONS.length) return
  let unlock: (() => void) | undefined
  try {
    // A server of before goes by the tables that it knows: they must not change under it.
    if (applied !== undefined && path !== MEMORY) unlock = lockServer(path, olderOn(path), busyTimeoutMs)
    migrate(db, path)
  } catch (error) {
    // Whoever held the lock may have been another process of this version, which has done it.
    if (appliedMigrations(db)?.length !== MIGRATIONS.length) throw error
  } finally {
    unlock?.()
  }
}

const olderOn = (path: string): string =>
  `A server of an older version is running on ${path}; stop it first: this version changes the database when it opens it.`

/** Applies what is missing, all or nothing; two processes that open a new file at once do it once. */
const migrate = (db: Database, path: string): void => {
  db.transaction(() => {
    checkSchema(db, path)
    db.run(
      'CREATE TABLE IF NOT EXISTS migrations (position integer PRIMARY KEY, name text NOT NULL, at integer NOT NULL)',
    )
    const applied = appliedMigrations(db)?.length ?? 0
    for (const [offset, migration] of MIGRATIONS.slice(applied).entries()) {
      db.run(migration.sql)
      db.run('INSERT INTO migrations VALUES (?, ?, ?)', [applied + offset, migration.name, Date.now()])
    }
  }).immediate()
}
