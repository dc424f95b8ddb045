// The checkpoint thread: copies the write-ahead log into the database while the server goes on writing.

import { Database } from 'bun:sqlite'
import { answerAsks } from '../../lib/thread.ts'

/** Each pass copies what was written during the one before. A pass that copied no more than this is the last. */
const FEW_FRAMES = 64
const PASSES = 5

answerAsks((path: string): void => {
  const db = new Database(path, { readwrite: true })
  try {
    const pass = db.query<{ log: number; checkpointed: number }, []>('PRAGMA wal_checkpoint(PASSIVE)')
    for (let passes = 0, before = 0; passes < PASSES; passes++) {
      const copied = pass.get()?.checkpointed ?? 0
      if (copied - before <= FEW_FRAMES) return
      before = copied
    }
  } finally {
    db.close(true)
  }
})
