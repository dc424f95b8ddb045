// The server's lock on a database: held by the operating system, so it is released however the process ends.

import { Database } from 'bun:sqlite'
import { isBusy, storeError } from '../store.ts'
import { toAccessError } from './check.ts'
import { createPrivate } from './private.ts'

/**
 * Takes the lock, waiting up to `waitMs`, and returns its release. Throws a StoreError with the message `taken` while
 * another server holds it. An exclusive transaction on an empty database beside the real one is a lock on every platform
 * SQLite runs on. Anyone who can read that file could take the lock, so it is readable by its owner alone.
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
    const error = toAccessError(file, cause)
    if (isBusy(error)) throw storeError(taken, cause)
    throw error === cause ? storeError(`The lock ${file} is damaged; delete it while no server runs.`, cause) : error
  }
}

const anotherOn = (path: string): string =>
  `Another server is running on ${path}; stop it first, or choose another data directory.`
