// The server's lock on a database: held by the operating system, so it is released however the process ends.

import { Database } from 'bun:sqlite'
import { createPrivate } from '../../lib/private-file.ts'
import { isBusy, storeError } from '../store.ts'
import { toAccessError } from './check.ts'
import { idOf } from './same-file.ts'

/**
 * Takes the lock, waiting up to `waitMs`, and returns its release. Throws a StoreError with the message `taken` while
 * another server holds it. An exclusive transaction on an empty database beside the real one is a lock on every platform
 * SQLite runs on. Anyone who can read that file could take the lock, so it is readable by its owner alone.
 */
export const lockServer = (path: string, taken = anotherOn(path), waitMs = 0): (() => void) => {
  const file = `${path}.lock`
  let db: Database | undefined
  try {
    createPrivate(file, path)
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

export type KeptLock = {
  /** False once another server has the lock: it has settled what this one had open, and this one may write no more. */
  holds(): boolean
  release(): void
}

/** The lock of a server that runs on: where its file was deleted, it is taken anew unless another server was faster. */
export const keepLock = (path: string, waitMs = 0): KeptLock => {
  let release = lockServer(path, anotherOn(path), waitMs)
  let id = idOf(`${path}.lock`)
  let lost = false
  return {
    holds() {
      if (lost) return false
      try {
        if (idOf(`${path}.lock`) === id) return true
        const again = lockServer(path)
        release()
        release = again
        id = idOf(`${path}.lock`)
      } catch (cause) {
        // Of a file that cannot be made now the next look may make one.
        lost = cause instanceof Error && cause.message === anotherOn(path)
      }
      return !lost
    },
    release: () => release(),
  }
}

const anotherOn = (path: string): string =>
  `Another server is running on ${path}; stop it first, or choose another data directory with --data.`
