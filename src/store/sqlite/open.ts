// Opens a database file as a Store: checked first, then migrated, then loaded.

import { Database } from 'bun:sqlite'
import { mkdirSync } from 'node:fs'
import { dirname } from 'node:path'
import type { AlertStore } from '../../alerts/alert.ts'
import type { Budgets } from '../../keys/budgets.ts'
import type { Keys } from '../../keys/key.ts'
import type { BackgroundStore } from '../../ledger/background.ts'
import type { AnswerStore } from '../../ledger/kept-answers.ts'
import { type Calendar, UTC } from '../../lib/calendar.ts'
import { createPrivate } from '../../lib/private-file.ts'
import type {
  FactorStore,
  MemberStore,
  SessionStore,
  SettingStore,
  TeamStore,
  TokenStore,
} from '../../members/member.ts'
import type { EntryStore } from '../entries.ts'
import { PATIENCE_MS, TRY_MS } from '../patience.ts'
import type { PriceStore } from '../prices.ts'
import { usageIn } from '../reading/sums.ts'
import type { RefusalStore } from '../refusals.ts'
import { type SqliteStore, type Store, storeError } from '../store.ts'
import { createAlertStore } from './alerts.ts'
import { createBackground } from './background.ts'
import { undoSetAside } from './backup.ts'
import { createBudgetRing } from './budgets.ts'
import { createChange } from './change.ts'
import { appliedMigrations, checkFile, checkSchema, toAccessError, toStoreError } from './check.ts'
import { createEntries } from './entries.ts'
import { createFactors } from './factors.ts'
import { insightQueries } from './insight.ts'
import { createInsight } from './insight-beside.ts'
import { createJournal } from './journal.ts'
import { createKeptAnswers } from './kept-answers.ts'
import { createKeyRing } from './keys.ts'
import { followLinks } from './links.ts'
import { lockServer } from './lock.ts'
import { createMembers } from './members.ts'
import { MIGRATIONS } from './migrations.ts'
import { ormOf } from './orm.ts'
import { createPatient } from './patient.ts'
import { createPrices } from './prices.ts'
import { createQueries } from './queries.ts'
import { readNow, WORDS } from './reading.ts'
import { createRefusals } from './refusals.ts'
import { lastRow } from './rows.ts'
import { type SameFile, type SameLog, watchFile, watchLog } from './same-file.ts'
import { createSessions } from './sessions.ts'
import { createSettings } from './settings.ts'
import { createTeams } from './teams.ts'
import { createTokens } from './tokens.ts'

/**
 * `clock`: milliseconds since the epoch, Date.now by default. `calendar`: by which days and hours are summed, UTC by default.
 * `large`: the exchanges that make a database one, 50,000. `follows`: the counters of keys are another process's, and are
 * not read again. `lockWaitMs`: how long a server that is just ending is waited for.
 */
export type OpenOptions = {
  clock?: () => number
  calendar?: Calendar
  large?: number
  follows?: boolean
  lockWaitMs?: number
}

/** The dashboard's queries on fewer exchanges take a few milliseconds, less than a thread takes to start. */
const LARGE = 50_000

const MEMORY = ':memory:'

/**
 * `named` is the database file (its folder is created) or ':memory:'. A damaged file, one of another program or of a newer
 * version throws a StoreError and is left as it was.
 */
export const openStore = (named: string, options: OpenOptions = {}): SqliteStore => {
  const path = followLinks(named)
  let db: Database | undefined
  try {
    if (path !== MEMORY) {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
      undoSetAside(path)
      checkFile(path)
      createPrivate(path, path)
    }
    db = new Database(path, { create: true, readwrite: true })
    prepare(db, path)
    return storeOf(db, path, {
      clock: Date.now,
      calendar: UTC,
      large: LARGE,
      follows: false,
      lockWaitMs: 0,
      ...options,
    })
  } catch (error) {
    db?.close()
    throw toStoreError(path, error)
  }
}

const storeOf = (
  db: Database,
  path: string,
  { clock, calendar, large, follows, lockWaitMs }: Required<OpenOptions>,
): SqliteStore => {
  const orm = ormOf(db)
  const transaction = orm.transaction.bind(orm)
  let sameFile: SameFile | undefined
  let sameLog: SameLog | undefined
  /** Set while the path no longer leads to what was opened, and says so: what is written to that would be lost. */
  let replaced: string | undefined
  const requireSameFile = (): void => {
    if (replaced !== undefined) throw storeError(replaced)
  }
  orm.transaction = (change, config) => {
    requireSameFile()
    try {
      return transaction(change, config)
    } catch (cause) {
      throw toStoreError(path, cause)
    }
  }
  // Read before the keys, so that no change between the two is missed.
  const version = db.query<{ data_version: number }, []>('PRAGMA data_version')
  const schemaVersion = db.query<{ schema_version: number }, []>('PRAGMA schema_version')
  let seen = version.get()?.data_version
  const change = createChange(orm, clock)
  const ofBudgets = createBudgetRing(db, orm, change, clock)
  const ring = createKeyRing({ orm, change, clock, refresh: () => changed(), ofBudgets })
  const background = createBackground(orm)
  const journal = createJournal(db, {
    path: path === MEMORY ? undefined : path,
    ...{ ring, ofBudgets, calendar, lockWaitMs },
  })
  // One that serves beside the one that has claimed the journal.
  if (follows) db.run(`PRAGMA busy_timeout = ${TRY_MS}`)
  const patient = createPatient(() => follows || journal.claimed())
  const queries = createQueries(db, orm, clock, calendar)
  const refusals = createRefusals(db, path, journal.nextRow, journal.wrote)
  const insight = createInsight({
    own: insightQueries(db, orm, calendar),
    calendar,
    path,
    isLarge: () => path !== MEMORY && replaced === undefined && lastRow(db) >= large,
    settle: journal.settle,
  })
  /** Writes waiting settlements first, so that `run` finds them in the database. */
  const afterSettling =
    <Args extends unknown[], Result>(run: (...args: Args) => Result) =>
    (...args: Args): Result => {
      journal.settle()
      return run(...args)
    }
  let watching: Timer | undefined

  const refresh = (): boolean => {
    const now = version.get()?.data_version
    if (now === seen) return false
    const all = !follows && !journal.claimed()
    ring.reload(all)
    ofBudgets.reload(all)
    seen = now
    return true
  }
  /** A file that cannot be read now is read the next time: `seen` is still the old version. */
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

  const { issue, update, renew, revoke, rotate, ...ofKeys } = ring.keys
  const { set, renew: renewBudget, nameOf, marks, ...counted } = ofBudgets.budgets

  return {
    keys: {
      ...ofKeys,
      ...patient<Pick<Keys, 'issue' | 'update' | 'renew' | 'revoke' | 'rotate'>>({
        ...{ issue, revoke, rotate },
        update(id, patch, actor, check) {
          // Written later, what was settled before a reset would count after it.
          journal.settle(patch.tokensUsed !== undefined)
          return update(id, patch, actor, check)
        },
        renew(id) {
          journal.settle(true)
          return renew(id)
        },
      }),
    },
    budgets: {
      ...counted,
      ...patient<Pick<Budgets, 'set' | 'renew' | 'nameOf' | 'marks'>>({
        ...{ set, nameOf, marks },
        renew(id, actor) {
          journal.settle(true)
          renewBudget(id, actor)
        },
      }),
    },
    members: patient<MemberStore>(createMembers({ orm, change, clock, ring, ofBudgets })),
    teams: patient<TeamStore>(createTeams(orm, change, clock, ofBudgets)),
    sessions: patient<SessionStore>(createSessions(orm, change, clock)),
    factors: patient<FactorStore>(createFactors(orm, change, clock)),
    tokens: patient<TokenStore>(createTokens(orm, change, clock)),
    settings: patient<SettingStore>(createSettings(orm, change, clock)),
    prices: patient<PriceStore>(createPrices(orm, clock)),
    entries: patient<EntryStore>(createEntries(orm, change, clock)),
    journal: {
      ...journal,
      ...{ nameOf, answerOf: background.of },
      write(batch) {
        requireSameFile()
        journal.write(batch)
      },
    },
    refusals: patient<RefusalStore>({
      write(group) {
        requireSameFile()
        refusals.write(group)
      },
    }),
    background: patient<BackgroundStore>(background),
    answers: patient<AnswerStore>(
      createKeptAnswers(db, (run) => orm.transaction(run, { behavior: 'immediate' }), clock, journal.wrote),
    ),
    alerts: patient<AlertStore>(createAlertStore(orm, change)),
    insight,
    ...patient<Pick<Store, 'usage' | 'exchanges' | 'audit' | 'lastUsed' | 'refresh' | 'prune' | 'probe' | 'close'>>({
      usage: afterSettling((query) => readNow(db, usageIn(query, calendar, WORDS))),
      exchanges: afterSettling(queries.exchanges),
      audit: queries.audit,
      lastUsed: afterSettling(queries.lastUsed),
      refresh,
      prune(beforeMs, batch) {
        requireSameFile()
        const gone = queries.prune(beforeMs, batch)
        journal.wrote(gone)
        return gone
      },
      // The value stays the same; its page is written nevertheless.
      probe() {
        requireSameFile()
        try {
          db.run('PRAGMA user_version = 0')
        } catch (cause) {
          throw toAccessError(path, cause)
        }
      },
      close() {
        unwatch()
        insight.stop()
        journal.stop()
        try {
          db.close(true)
        } finally {
          sameFile?.close()
          journal.release()
        }
      },
    }),
    watch(intervalMs = 250) {
      unwatch()
      if (path !== MEMORY) {
        sameFile ??= watchFile(path, () => schemaVersion.get()?.schema_version ?? 0)
        sameLog ??= watchLog(path)
      }
      watching = setInterval(() => {
        if (sameFile?.holds() === false) replaced = fileReplaced(path)
        else if (sameLog?.holds() === false) replaced = logReplaced(path)
        else replaced = journal.holds() ? undefined : takenOver(path)
        changed()
      }, intervalMs)
      watching.unref()
      return unwatch
    },
  }
}

const fileReplaced = (path: string): string =>
  `The database ${path} was deleted or replaced under the running server; stop the server and put it back, or restore a backup.`

const takenOver = (path: string): string =>
  `The lock of the database ${path} was deleted, and another server runs on it; stop this one.`

const logReplaced = (path: string): string =>
  `The log of the database ${path}, in the files ending in -wal and -shm, was deleted or replaced under the running server; stop the server, which saves what it can, and start it again.`

/** The size the log file is cut back to: more than it needs between two checkpoints. */
const LOG_BYTES = 64 * 1024 * 1024

const prepare = (db: Database, path: string): void => {
  // A command and a start have nothing else to do; a server's writes wait in steps, from its claim on.
  db.run(`PRAGMA busy_timeout = ${PATIENCE_MS}`)
  db.run('PRAGMA journal_mode = WAL')
  db.run('PRAGMA synchronous = NORMAL')
  db.run('PRAGMA foreign_keys = ON')
  db.run('PRAGMA cache_size = -16384')
  // A server's checkpoints are made by a thread; these, within a write, are for when it cannot keep up.
  db.run('PRAGMA wal_autocheckpoint = 32000')
  // A log that grew far larger, for instance behind a long reader, is cut back when it starts over.
  db.run(`PRAGMA journal_size_limit = ${LOG_BYTES}`)
  const applied = appliedMigrations(db)
  if (applied?.length === MIGRATIONS.length) return
  let unlock: (() => void) | undefined
  try {
    // The tables must not change under a running server of an older version.
    if (applied !== undefined && path !== MEMORY) unlock = lockServer(path, olderOn(path), PATIENCE_MS)
    migrate(db, path)
  } catch (error) {
    // The lock may have been held by another process of this version, which has migrated it.
    if (appliedMigrations(db)?.length !== MIGRATIONS.length) throw error
  } finally {
    unlock?.()
  }
}

const olderOn = (path: string): string =>
  `A server of an older version is running on ${path}; stop it first: this version changes the database when it opens it.`

/** Applies the missing migrations, all or none. Two processes that open a new file together apply them once. */
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
