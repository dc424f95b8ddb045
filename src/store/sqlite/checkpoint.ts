// Checkpoints beside the hot path: a thread copies the log into the database and waits for the disk, so that no request
// has to.

import type { Database } from 'bun:sqlite'
import { canOpen, FOR_A_THREAD } from '../../lib/descriptors.ts'
import type { Checkpointed, ToCheckpoint } from './checkpoint-thread.ts'

/** Records written between two checkpoints: from some megabytes of log with one key to some ten with thousands. */
const RECORDS = 20_000
/** After so long without work the thread goes, and its memory with it. */
const IDLE_MS = 60_000

// In the one compiled file every module stands where the entry point stood.
const THREAD = import.meta.file === 'checkpoint.ts' ? './checkpoint-thread.ts' : './store/sqlite/checkpoint-thread.ts'

export type Checkpoints = {
  /** So many records more are in the log. */
  wrote(records: number): void
  stop(): void
}

/**
 * For the connection of the one writer. A log that grows all the same, because the thread cannot keep up or cannot run,
 * is left to SQLite's own checkpoints.
 */
export const createCheckpoints = (db: Database, path: string, every = RECORDS): Checkpoints => {
  // What the thread left over are the frames of its last pass: once they are copied the log begins anew.
  const finish = db.query('PRAGMA wal_checkpoint(PASSIVE)')
  let records = 0
  let thread: Worker | undefined
  let busy = false
  let idle: Timer | undefined

  const end = (): void => {
    thread?.terminate()
    thread = undefined
    busy = false
  }
  const start = (): Worker => {
    const worker = new Worker(new URL(THREAD, import.meta.url).href)
    worker.onmessage = ({ data }: MessageEvent<Checkpointed>) => {
      if (thread !== worker) return
      busy = false
      idle = setTimeout(end, IDLE_MS)
      idle.unref()
      if (data.failure === undefined) finish.get()
    }
    worker.onerror = end
    worker.unref()
    return worker
  }

  return {
    wrote(more) {
      records += more
      if (records < every || busy) return
      records = 0
      clearTimeout(idle)
      try {
        if (thread === undefined && !canOpen(FOR_A_THREAD)) return
        thread ??= start()
        busy = true
        thread.postMessage({ path } satisfies ToCheckpoint)
      } catch {
        end()
      }
    },
    stop() {
      clearTimeout(idle)
      end()
    },
  }
}
