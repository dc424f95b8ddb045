// Checkpoints off the hot path: a thread copies the log into the database and waits for the disk, so that no request has
// to. And the disk's room, which a checkpoint needs as much as a write does: what the log holds must fit into the database.

import type { Database } from 'bun:sqlite'
import { statfsSync, statSync } from 'node:fs'
import { dirname } from 'node:path'
import { createThread } from '../../lib/thread.ts'

/** Records written between two checkpoints: a few megabytes of log with one key, a few tens with thousands. */
const RECORDS = 20_000
/** How often in that time, at least, it is looked how much room the disk has left. */
const LOOKS = 20
/** How often a disk that stays full is tried. */
const FULL_MS = 5_000
/** The same where only the room for what is open is left: its log may be held by somebody who reads. */
const SHORT_MS = 1_000

const MB = 1024 * 1024
/** What ending the exchanges that are open, and what admins change, may come to. */
const KEPT_BYTES = 2 * MB
/** Of it, what no free page within the database can stand for: the log grows on the disk. */
const KEPT_ON_DISK = MB
/** What a record may take of the log: the pages that a transaction of its own touches. */
const RECORD_BYTES = 64 * 1024

/** The disk of a database, in bytes. */
export type DiskRoom = {
  free: number
  log: number
  /** How much the database grows when the log is copied into it. */
  growth: number
  /** Pages within the database that nothing is in. */
  unused: number
}

export type Checkpoints = {
  /** Reports records that were written to the log. */
  wrote(records: number): void
  /** Reports that the disk had no room for a write: the log gives back what it need not hold. */
  full(): void
  /** Whether the disk has room left only for ending what is open. Looks again while it is so, and makes room now and then. */
  isShort(): boolean
  stop(): void
}

/**
 * For the connection of the one writer. If the thread cannot keep up or cannot run, SQLite's own checkpoints take over.
 */
export const createCheckpoints = (
  db: Database,
  path: string,
  every = RECORDS,
  look: () => DiskRoom = roomOf(db, path),
): Checkpoints => {
  // Copies the few frames that the thread's last pass left, so that the log starts over instead of growing.
  const finish = db.query('PRAGMA wal_checkpoint(PASSIVE)')
  const empty = db.query('PRAGMA wal_checkpoint(TRUNCATE)')
  const thread = createThread<string, void>('store/sqlite/checkpoint-thread.ts')
  let records = 0
  let lookAt = 0
  let triedAt = Number.NEGATIVE_INFINITY
  let busy = false
  let short = false

  /** Whether the log should give its room back now: a checkpoint may come to take as much as the log has. */
  const isTight = (): boolean => {
    const { free, log, growth, unused } = look()
    const left = Math.min(free - growth - KEPT_ON_DISK, free - growth + unused - KEPT_BYTES)
    short = left < 0
    // Again before what is left can have been written, were every record as large as one can be.
    lookAt = records + Math.min(every / LOOKS, Math.max(1, Math.floor(left / 2 / RECORD_BYTES)))
    return short || free < log
  }
  const checkpoint = (tight: boolean): void => {
    records = lookAt = 0
    busy = true
    thread
      .ask(path)
      .then(() => {
        ;(tight ? empty : finish).get()
        if (tight) isTight()
      })
      .catch(() => {})
      .finally(() => {
        busy = false
      })
  }
  const isDue = (ms: number): boolean => {
    const now = performance.now()
    if (now < triedAt + ms) return false
    triedAt = now
    return true
  }
  isTight()

  return {
    wrote(more) {
      records += more
      const tight = records >= lookAt && isTight()
      if (!busy && (tight || records >= every)) checkpoint(tight)
    },
    full() {
      try {
        // Somebody else may have filled it since the last look: that nothing can be opened is said though nothing waits.
        isTight()
        if (isDue(FULL_MS)) empty.get()
      } catch {
        // Not even the database can grow: only somebody else can make room.
      }
    },
    isShort() {
      if (short && isTight() && !busy && isDue(SHORT_MS)) checkpoint(true)
      return short
    },
    stop: thread.stop,
  }
}

const roomOf = (db: Database, path: string): (() => DiskRoom) => {
  const page = db.query<{ page_size: number }, []>('PRAGMA page_size').get()?.page_size ?? 0
  const pages = db.query<{ page_count: number }, []>('PRAGMA page_count')
  const unused = db.query<{ freelist_count: number }, []>('PRAGMA freelist_count')
  return () => ({
    free: freeBytes(path),
    log: sizeOf(`${path}-wal`),
    growth: Math.max(0, (pages.get()?.page_count ?? 0) * page - sizeOf(path)),
    unused: (unused.get()?.freelist_count ?? 0) * page,
  })
}

const freeBytes = (path: string): number => {
  try {
    const { bavail, bsize } = statfsSync(dirname(path))
    return bavail * bsize
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

const sizeOf = (path: string): number => statSync(path, { throwIfNoEntry: false })?.size ?? 0
