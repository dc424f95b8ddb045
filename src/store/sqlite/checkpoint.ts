// Checkpoints off the hot path: a worker thread copies the log into the database and waits for the disk, so that no
// request has to.

import type { Database } from 'bun:sqlite'
import { canOpen, FOR_A_THREAD } from '../../lib/descriptors.ts'
import type { Checkpointed, ToCheckpoint } from './checkpoint-thread.ts'

/** Records written between two checkpoints: a few megabytes of log with one key, a few tens with thousands. */
const RECORDS = 20_000
/** The thread is ended after this long without work, to free its memory. */
const IDLE_MS = 60_000

// In the compiled binary all modules have the path of the entry point.
const THREAD = import.meta.file === 'checkpoint.ts' ? './checkpoint-thread.ts' : './store/sqlite/checkpoint-thread.ts'

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
