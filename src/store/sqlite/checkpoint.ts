// Checkpoints off the hot path: a thread copies the log into the database and waits for the disk, so that no request has
// to.

import type { Database } from 'bun:sqlite'
import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { createThread } from '../../lib/thread.ts'

/** Records written between two checkpoints: a few megabytes of log with one key, a few tens with thousands. */
const RECORDS = 20_000
/** How often in that time it is looked whether the disk has room for what the log holds. */
const LOOKS = 20
/** How often a disk that stays full is tried. */
const FULL_MS = 5_000

export type Checkpoints = {
  /** Reports records that were written to the log. */
  wrote(records: number): void
  /** Reports that the disk had no room for a write: the log gives back what it need not hold. */
  full(): void
  stop(): void
}

/**
 * For the connection of the one writer. If the thread cannot keep up or cannot run, SQLite's own checkpoints take over.
 */
export const createCheckpoints = (
  db: Database,
  path: string,
  every = RECORDS,
  isShort = () => freeBytes(path) < logBytes(path),
): Checkpoints => {
  // Copies the few frames that the thread's last pass left, so that the log starts over instead of growing.
  const finish = db.query('PRAGMA wal_checkpoint(PASSIVE)')
  const empty = db.query('PRAGMA wal_checkpoint(TRUNCATE)')
  const thread = createThread<string, void>('store/sqlite/checkpoint-thread.ts')
  let records = 0
  let looked = 0
  let triedAt = Number.NEGATIVE_INFINITY
  let busy = false

  /** A checkpoint may take as much room as the log does: where none is left for it, a full disk would stay full. */
  const becameShort = (): boolean => {
    if (records < looked + every / LOOKS) return false
    looked = records
    return isShort()
  }

  return {
    wrote(more) {
      records += more
      if (busy) return
      const short = becameShort()
      if (!short && records < every) return
      records = looked = 0
      busy = true
      thread
        .ask(path)
        .then(() => (short ? empty : finish).get())
        .catch(() => {})
        .finally(() => {
          busy = false
        })
    },
    full() {
      const now = performance.now()
      if (now < triedAt + FULL_MS) return
      triedAt = now
      try {
        empty.get()
      } catch {
        // Not even the database can grow: only somebody else can make room.
      }
    },
    stop: thread.stop,
  }
}

const freeBytes = (path: string): number => {
  try {
    const { bavail, bsize } = statfsSync(dirname(path))
    return bavail * bsize
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

const logBytes = (path: string): number => statSync(`${path}-wal`, { throwIfNoEntry: false })?.size ?? 0
