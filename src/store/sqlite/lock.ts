// The server's lock on a database: held by the operating system, so that it ends with the process however that ends.

import { Database } from 'bun:sqlite'
import { storeError } from '../store.ts'

/**
 * Takes the lock and returns its release. Throws a StoreError while another server holds it. An exclusive transaction
 * on an empty database beside the real one is a lock on every platform SQLite runs on.
 */
export const lockServer = (path: string): (() => void) => {
  const db = new Database(`${path}.lock`, { create: true, readwrite: true })
  try {
    db.run('PRAGMA busy_timeout = 0')
    db.run('PRAGMA journal_mode = MEMORY')
    db.run('BEGIN EXCLUSIVE')
  } catch (cause) {
    db.close()
    throw storeError(`Another server is running on ${path}; stop it first, or choose another data directory.`, cause)
  }
  return () => db.close()
}
