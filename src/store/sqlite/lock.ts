// The server's lock on a database: held by the operating system, so that it ends with the process however that ends.

import { Database } from 'bun:sqlite'
import { storeError } from '../store.ts'
import { refusalOf } from './check.ts'
import { createPrivate } from './private.ts'

/**
 * Takes the lock, after `waitMs` at most, and returns its release. Throws a StoreError, which says `taken`, while another
 * server holds it. An exclusive transaction on an empty database beside the real one is a lock on every platform SQLite
 * runs on. Whoever may read that could hold it, too: it is its owner's alone.
 */
export const lockServer = (path: string, taken = anotherOn(path), waitMs = 0): (() => void) => {
  const file = `${path}.lock`
  let db: Database | undefined
  try {
    createPrivate(file)
    db = new Database(file, { create: true, readwrite: true })
    db.run(`PRAGMA busy_timeout = ${waitMs}`)
    db.run('PRAGMA journal_mode = MEMORY')
    db.run('BEGIN EXCLUSIVE')
    const held = db
    return () => held.close()
  } catch (cause) {
    db?.close()
    if (!isBusy(cause)) throw refusalOf(file, cause)
    throw storeError(taken, cause)
  }
}

const anotherOn = (path: string): string =>
  `Another server is running on ${path}; stop it first, or choose another data directory.`

const isBusy = (cause: unknown): boolean =>
  cause instanceof Error && 'code' in cause && String(cause.code).startsWith('SQLITE_BUSY')
