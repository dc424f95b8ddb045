// Checkpoints off the hot path: a thread copies the log into the database and waits for the disk, so that no request has
// to.

import type { Database } from 'bun:sqlite'
import { createThread } from '../../lib/thread.ts'

/** Records written between two checkpoints: a few megabytes of log with one key, a few tens with thousands. */
const RECORDS = 20_000

export type Checkpoints = {
  /** Reports records that were written to the log. */
  wrote(records: number): void
  stop(): void
}

/**
 * For the connection of the one writer. If the thread cannot keep up or cannot run, SQLite's own checkpoints take over.
 */
export const createCheckpoints = (db: Database, path: string, every = RECORDS): Checkpoints => {
  // Copies the few frames that the thread's last pass left, so that the log starts over instead of growing.
  const finish = db.query('PRAGMA wal_checkpoint(PASSIVE)')
  const thread = createThread<string, void>('store/sqlite/checkpoint-thread.ts')
  let records = 0
  let busy = false

  return {
    wrote(more) {
      records += more
      if (records < every || busy) return
      records = 0
      busy = true
      thread
        .ask(path)
        .then(() => finish.get())
        .catch(() => {})
        .finally(() => {
          busy = false
        })
    },
    stop: thread.stop,
  }
}
