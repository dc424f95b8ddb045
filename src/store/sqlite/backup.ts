// Backup and restore: whole copies of the database.

import { Database } from 'bun:sqlite'
import { closeSync, existsSync, fsyncSync, linkSync, mkdirSync, openSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { createPrivate } from '../../lib/private-file.ts'
import { codeOf } from '../../lib/system-code.ts'
import { PATIENCE_MS } from '../patience.ts'
import { storeError } from '../store.ts'
import { appliedMigrations, checkFile, type FileKind, toStoreError } from './check.ts'
import { followLinks } from './links.ts'
import { lockServer } from './lock.ts'

/**
 * Writes a checked copy of the database `named`, safe beside a running server. A database of an older version is not
 * migrated for it. Throws a StoreError; a copy that fails leaves no file under the name asked for.
 */
export const backupStore = (named: string, file: string): void => {
  const path = followLinks(named)
  let db: Database | undefined
  try {
    // Throws the reason where the file cannot be read.
    statSync(path)
    undoSetAside(path)
    checkFile(path)
    db = new Database(path, { readwrite: true })
    db.run(`PRAGMA busy_timeout = ${PATIENCE_MS}`)
    if (appliedMigrations(db) === undefined)
      throw storeError(`The database ${path} is empty: there is nothing to copy.`)
    if (existsSync(file)) throw storeError(`The file ${file} exists already; choose another name for the backup.`)
    copyTo(db, `${file}.partial`, file)
  } catch (error) {
    throw toStoreError(path, error)
  } finally {
    db?.close()
  }
}

/**
 * Puts the `copy` in place of the database `named`, once it is found whole; what was there stays beside it as
 * `<path>.previous`. Throws a StoreError when a server runs on it, or when the copy is damaged or newer.
 */
export const restoreStore = (copy: string, named: string): void => {
  const [file, path] = [followLinks(copy), followLinks(named)]
  undoSetAside(path)
  if (!existsSync(file) || !statSync(file).isFile() || statSync(file).size === 0)
    throw storeError(`There is no backup at ${file}; name a file that "sluice backup" has made.`)
  checkFile(file, 'copy')
  makeFolder(path, 'database')
  const unlock = lockServer(path)
  const source = new Database(file, { readonly: true })
  try {
    if (appliedMigrations(source) === undefined) throw storeError(`The file ${file} is not a backup of sluice.`)
    copyTo(source, `${path}.partial`, path, path)
  } finally {
    source.close()
    unlock()
  }
}

/** `database`: the one that the copy is put in place of. */
const copyTo = (db: Database, partial: string, file: string, database?: string): void => {
  const what = database === undefined ? 'copy' : 'database'
  makeFolder(file, what)
  rmSync(partial, { force: true })
  try {
    createPrivate(partial, database)
    vacuumInto(db, partial)
    checkFile(partial, 'copy')
    syncFile(partial)
    if (database !== undefined) setAside(database)
    renameSync(partial, file)
    syncFolder(dirname(file))
  } catch (error) {
    rmSync(partial, { force: true })
    throw toStoreError(file, error, what)
  }
}

// Damage is in the source; any other failure is at the destination.
const vacuumInto = (db: Database, file: string): void => {
  try {
    db.run('VACUUM INTO ?', [file])
  } catch (error) {
    const code = codeOf(error)
    throw /^SQLITE_(CORRUPT|NOTADB)/.test(code) ? toStoreError(db.filename, error) : error
  }
}

const makeFolder = (file: string, what: FileKind): void => {
  try {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
  } catch (error) {
    throw toStoreError(file, error, what)
  }
}

/** What belongs to a database and would be applied to another one in its place: its log, or a change that was cut off. */
const LOGS = ['-wal', '-journal']

// The old database keeps its own name too until the rename, so that there is always one.
const setAside = (path: string): void => {
  const there = ['', ...LOGS].filter((end) => existsSync(path + end))
  if (there.length === 0) return
  for (const end of ['', ...LOGS]) rmSync(`${path}.previous${end}`, { force: true })
  for (const end of there) (end === '' ? linkSync : renameSync)(path + end, `${path}.previous${end}`)
  rmSync(`${path}-shm`, { force: true })
}

/** Makes a database whole again whose replacement was interrupted: its log had been set aside, its successor not come. */
export const undoSetAside = (path: string): void => {
  if (!isSetAside(path)) return
  let unlock: (() => void) | undefined
  try {
    unlock = lockServer(path)
    if (!isSetAside(path)) return
    for (const end of LOGS) {
      const setAside = `${path}.previous${end}`
      if (existsSync(setAside) && !existsSync(path + end)) renameSync(setAside, path + end)
    }
    rmSync(`${path}.previous`)
  } catch {
    // It is being replaced at this moment.
  } finally {
    unlock?.()
  }
}

const isSetAside = (path: string): boolean => {
  const previous = statSync(`${path}.previous`, { throwIfNoEntry: false })
  if (previous === undefined) return false
  const now = statSync(path, { throwIfNoEntry: false })
  return now?.ino === previous.ino && now.dev === previous.dev
}

// Windows flushes only what is open for writing.
const syncFile = (path: string): void => sync(openSync(path, 'r+'))

const syncFolder = (path: string): void => {
  try {
    sync(openSync(path, 'r'))
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && CANNOT_SYNC.has(error.code))) throw error
  }
}

/** Windows and some file systems do not flush folders: there the file's own flush must do. */
const CANNOT_SYNC = new Set<unknown>(['EPERM', 'EACCES', 'EISDIR', 'EINVAL'])

const sync = (file: number): void => {
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
