// Checks that a file is a database of this program, undamaged and not of a newer version. Leaves what it holds as it is.

import { constants, Database } from 'bun:sqlite'
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { codeOf } from '../../lib/system-code.ts'
import { storeError } from '../store.ts'
import { MIGRATIONS } from './migrations.ts'

const MAGIC = 'SQLite format 3\0'
/** Up to this size every page is checked, in some ten milliseconds; above it, only the ends of each table. */
const FULL_CHECK_BYTES = 16 * 1024 * 1024

/** Throws a StoreError. A missing or empty file passes: it will be created. `kind` copy: every page is read, however many. */
export const checkFile = (path: string, kind: FileKind = 'database'): void => {
  if (!existsSync(path)) return
  let db: Database | undefined
  try {
    const { size } = statSync(path)
    if (size === 0) return
    checkHeader(path, size, kind)
    db = openAsIs(path)
    checkSchema(db, path)
    checkPages(db, path, kind === 'copy' || size <= FULL_CHECK_BYTES)
  } catch (cause) {
    throw toStoreError(path, cause)
  } finally {
    db?.close()
  }
}

/**
 * Without a log file nobody has the database open: it is opened without creating one. Otherwise SQLite recovers it first:
 * a change that was cut off before the database had its log stands half done in the file, and is undone there.
 */
const openAsIs = (path: string): Database => {
  const halfDone = existsSync(`${path}-journal`)
  if (halfDone || existsSync(`${path}-wal`)) {
    const db = new Database(path, halfDone ? { readwrite: true } : { readonly: true })
    db.run('PRAGMA busy_timeout = 5000')
    return db
  }
  const { SQLITE_OPEN_READONLY, SQLITE_OPEN_URI } = constants
  return new Database(`${pathToFileURL(path).href}?immutable=1`, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
}

/** A StoreError for any error of the system or of SQLite about a file; anything else as it is. */
export const toStoreError = (path: string, cause: unknown, what: FileKind = 'database'): unknown => {
  const error = toAccessError(path, cause, what)
  if (error !== cause) return error
  if (isMissing(cause)) return storeError(lacking(path), cause)
  return DAMAGE.test(codeOf(cause)) ? damaged(path, cause) : error
}

/** A table or a column that is not there: something else has changed the database, whose pages are as good as ever. */
const isMissing = (cause: unknown): boolean =>
  codeOf(cause) === 'SQLITE_ERROR' &&
  cause instanceof Error &&
  /no such (table|column)|has no column named/.test(cause.message)

const lacking = (path: string): string =>
  `The database ${path} lacks a table or a column that this version of sluice needs: another program or version has changed it. Open it with that version, or restore a backup with "sluice restore FILE".`

// What a statement is refused for says nothing of the file.
const DAMAGE = /^SQLITE_(?!ERROR|CONSTRAINT|MISUSE|RANGE)/

/** A StoreError where the disk, permissions or another program prevent access; anything else, damage too, as it is. */
export const toAccessError = (path: string, cause: unknown, what: FileKind = 'database'): unknown => {
  const code = codeOf(cause)
  if (BUSY.test(code)) {
    const error = storeError(`The database ${path} is kept busy by another program; try again.`, cause)
    return Object.assign(error, { busy: true as const })
  }
  const say = REFUSALS.find(([pattern]) => pattern.test(code))?.[1]
  return say === undefined ? cause : storeError(say(path, what), cause)
}

const damaged = (path: string, cause?: unknown) =>
  storeError(`The database ${path} is damaged; restore a backup that is whole with "sluice restore FILE".`, cause)

/** What a file is: the copy of a database lies wherever it is told to, the database itself in the data directory. */
export type FileKind = 'database' | 'copy'

const ELSEWHERE: Record<FileKind, string> = {
  database: 'choose another data directory with --data',
  copy: 'choose another place',
}

const INSTEAD: Record<FileKind, string> = {
  database: 'move it away, or put a copy in its place with "sluice restore FILE"',
  copy: 'name a file that "sluice backup" has made',
}

const FULL = /^(ENOSPC|SQLITE_(FULL|IOERR_SHMSIZE))/

/** Whether this failed because the disk is full. */
export const isFull = (cause: unknown): boolean => FULL.test(codeOf(cause))

const REFUSALS: [RegExp, (path: string, what: FileKind) => string][] = [
  [/^EISDIR$/, (path, what) => `There is a folder at ${path}, where the ${what} should be; ${ELSEWHERE[what]}.`],
  [/^(ENOENT|ENAMETOOLONG)$/, (path, what) => `The folder of the ${what} ${path} cannot be made; ${ELSEWHERE[what]}.`],
  [
    /^(EEXIST|ENOTDIR)$/,
    (path, what) => `The ${what} ${path} has no folder: a file is in its place; ${ELSEWHERE[what]}.`,
  ],
  [
    /^(EACCES|EPERM|EROFS|ELOOP|SQLITE_(PERM|AUTH|READONLY|CANTOPEN))/,
    (path, what) =>
      `The ${what} ${path} cannot be opened; let this user read and write the file and its folder, on a disk that takes new files.`,
  ],
  [FULL, (path, what) => `The disk of the ${what} ${path} is full; make room and try again.`],
  [/^(EIO|SQLITE_IOERR)/, (path, what) => `The disk of the ${what} ${path} fails; see what is wrong with it.`],
]

const BUSY = /^SQLITE_(BUSY|LOCKED)/

const checkHeader = (path: string, size: number, kind: FileKind): void => {
  const header = Buffer.alloc(100)
  const file = openSync(path, 'r')
  let length: number
  try {
    length = readSync(file, header, 0, 100, 0)
  } finally {
    closeSync(file)
  }
  if (length < 100 || header.toString('latin1', 0, 16) !== MAGIC) {
    throw storeError(`The file ${path} is not a database of sluice, or its beginning is damaged; ${INSTEAD[kind]}.`)
  }
  // A page size of 65,536 is written as 1. Pages still in the write-ahead log, or of a change that was cut off, may be
  // missing from the file.
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16)
  const holds = (end: string): boolean => (statSync(path + end, { throwIfNoEntry: false })?.size ?? 0) > 0
  if (!holds('-wal') && !holds('-journal') && size < header.readUInt32BE(28) * pageSize) throw damaged(path)
}

/** Names of the migrations a database has had, in order; undefined where it has no list of them. */
export const appliedMigrations = (db: Database): string[] | undefined => {
  // Other programs have tables of this name too.
  const columns = db.query("SELECT 1 FROM pragma_table_info('migrations') WHERE name IN ('position', 'name')").all()
  if (columns.length < 2) return undefined
  return db
    .query<{ name: string }, []>('SELECT name FROM migrations ORDER BY position')
    .all()
    .map((entry) => entry.name)
}

/** Throws a StoreError for a database of another program or of a newer version, or whose list of migrations is damaged. */
export const checkSchema = (db: Database, path: string): void => {
  const applied = appliedMigrations(db)
  if (applied === undefined) {
    if (db.query('SELECT 1 FROM sqlite_schema').get() === null) return
    throw storeError(`The file ${path} is a database of another program.`)
  }
  if (applied.some((name, position) => MIGRATIONS[position]?.name !== name)) {
    // A damaged list has names that nobody knows, too.
    checkPages(db, path, true)
    throw storeError(`The database ${path} was written by a newer version of sluice; use that version to open it.`)
  }
}

const checkPages = (db: Database, path: string, every: boolean): void => {
  if (every) {
    const verdict = db.query<{ quick_check: string }, []>('PRAGMA quick_check(1)').get()
    if (verdict?.quick_check !== 'ok') throw damaged(path, verdict?.quick_check)
    return
  }
  const tables = db
    .query<{ name: string }, []>("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'")
    .all()
  for (const { name } of tables) {
    db.query(`SELECT * FROM "${name}" ORDER BY rowid LIMIT 1`).get()
    db.query(`SELECT * FROM "${name}" ORDER BY rowid DESC LIMIT 1`).get()
  }
}
