// Whether a file is a database of ours, whole and not newer than we are. Reads only: the file stays as it is.

import { constants, Database } from 'bun:sqlite'
import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { pathToFileURL } from 'node:url'
import { storeError } from '../store.ts'
import { MIGRATIONS } from './migrations.ts'

const MAGIC = 'SQLite format 3\0'
/** Up to this size every page is checked, in some ten milliseconds; above, what an opening store needs. */
const FULL_CHECK_BYTES = 16 * 1024 * 1024

/** Throws a StoreError. A missing or empty file passes: it will be made. `thorough` reads every page, however many. */
export const checkFile = (path: string, options: { thorough?: boolean } = {}): void => {
  if (!existsSync(path)) return
  let db: Database | undefined
  try {
    const { size } = statSync(path)
    if (size === 0) return
    checkHeader(path, size)
    db = openAsIs(path)
    checkSchema(db, path)
    checkPages(db, path, options.thorough === true || size <= FULL_CHECK_BYTES)
  } catch (cause) {
    throw refusalOf(path, cause)
  } finally {
    db?.close()
  }
}

/** Without a log nobody has it open, and it is read without making one. What a crash left is played in first. */
const openAsIs = (path: string): Database => {
  if (existsSync(`${path}-wal`) || existsSync(`${path}-journal`)) {
    const db = new Database(path, { readonly: true })
    db.run('PRAGMA busy_timeout = 5000')
    return db
  }
  const { SQLITE_OPEN_READONLY, SQLITE_OPEN_URI } = constants
  return new Database(`${pathToFileURL(path).href}?immutable=1`, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI)
}

/** A StoreError for what a system or SQLite says of a file that cannot be used; anything else as it is. */
export const refusalOf = (path: string, cause: unknown): unknown => {
  const named = obstacleOf(path, cause)
  return named === cause && codeOf(cause).startsWith('SQLITE_') ? damaged(path, cause) : named
}

/** A StoreError where the disk or another program is in the way; anything else as it is. */
export const obstacleOf = (path: string, cause: unknown): unknown => {
  const say = REFUSALS.find(([pattern]) => pattern.test(codeOf(cause)))?.[1]
  return say === undefined ? cause : storeError(say(path), cause)
}

const codeOf = (cause: unknown): string => (cause instanceof Error && 'code' in cause ? String(cause.code) : '')

const damaged = (path: string, cause?: unknown) =>
  storeError(`The database ${path} is damaged; restore it from a backup with "sluice restore FILE".`, cause)

const REFUSALS: [RegExp, (path: string) => string][] = [
  [/^EISDIR$/, (path) => `There is a folder at ${path}, where the database should be; choose another data directory.`],
  [
    /^(ENOENT|ENAMETOOLONG)$/,
    (path) => `The folder of the database ${path} cannot be made; choose another data directory.`,
  ],
  [/^(EEXIST|ENOTDIR)$/, (path) => `The database ${path} has no folder: a file is in its place.`],
  [
    /^(EACCES|EPERM|EROFS|SQLITE_(PERM|AUTH|READONLY|CANTOPEN))/,
    (path) =>
      `The database ${path} cannot be opened; let this user read and write the file and its folder, on a disk that takes new files.`,
  ],
  [
    /^(ENOSPC|SQLITE_(FULL|IOERR_SHMSIZE))/,
    (path) => `The disk of the database ${path} is full; make room and try again.`,
  ],
  [/^(EIO|SQLITE_IOERR)/, (path) => `The disk of the database ${path} fails; see what is wrong with it.`],
  [/^SQLITE_(BUSY|LOCKED)/, (path) => `The database ${path} is kept busy by another program; try again.`],
]

const checkHeader = (path: string, size: number): void => {
  const header = Buffer.alloc(100)
  const file = openSync(path, 'r')
  let length: number
  try {
    length = readSync(file, header, 0, 100, 0)
  } finally {
    closeSync(file)
  }
  if (length < 100 || header.toString('latin1', 0, 16) !== MAGIC) {
    throw storeError(`The file ${path} is not a database of sluice, or its beginning is damaged.`)
  }
  // A page size of 65,536 is written as 1. Pages still in the write-ahead log may be missing from the file.
  const pageSize = header.readUInt16BE(16) === 1 ? 65_536 : header.readUInt16BE(16)
  const log = `${path}-wal`
  if ((!existsSync(log) || statSync(log).size === 0) && size < header.readUInt32BE(28) * pageSize) throw damaged(path)
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

/** Throws a StoreError for a database of another program or of a newer version. */
export const checkSchema = (db: Database, path: string): void => {
  const applied = appliedMigrations(db)
  if (applied === undefined) {
    if (db.query('SELECT 1 FROM sqlite_schema').get() === null) return
    throw storeError(`The file ${path} is a database of another program.`)
  }
  if (applied.some((name, position) => MIGRATIONS[position]?.name !== name)) {
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
