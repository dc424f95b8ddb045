// Checkpoints beside the writer: what is in the log comes into the database while writing goes on.

import { Database } from 'bun:sqlite'
import { afterEach, expect, test } from 'bun:test'
import { copyFileSync, statSync } from 'node:fs'
import { createCheckpoints } from '../../src/store/sqlite/checkpoint.ts'
import { cleanUp, newPath } from './support.ts'

afterEach(cleanUp)

const openDatabase = (path: string): Database => {
  const db = new Database(path)
  db.run('PRAGMA journal_mode = WAL')
  db.run('PRAGMA wal_autocheckpoint = 0')
  db.run('CREATE TABLE records (text)')
  return db
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** What the database file holds without its log. */
const inFile = (path: string): number => {
  copyFileSync(path, `${path}.alone`)
  const alone = new Database(`${path}.alone`)
  try {
    return alone.query<{ count: number }, []>('SELECT count(*) AS count FROM records').get()?.count ?? 0
  } catch {
    // Not even the table has come there.
    return 0
  } finally {
    alone.close()
  }
}

test('are made once so many records were written, and the log begins anew under a writer that never stops', async () => {
  const path = newPath()
  const db = openDatabase(path)
  const checkpoints = createCheckpoints(db, path, 100)
  const insert = db.query('INSERT INTO records VALUES (?)')
  try {
    for (let i = 0; i < 99; i++) insert.run('x'.repeat(1_000))
    checkpoints.wrote(99)
    await turn()
    expect(inFile(path)).toBe(0)
    const deadline = Date.now() + 10_000
    let written = 99
    let log = 0
    // Written without end: a log that were never begun anew would only grow.
    for (; Date.now() < deadline; written++) {
      insert.run('x'.repeat(1_000))
      checkpoints.wrote(1)
      const { size } = statSync(`${path}-wal`)
      if (log > 0 && size === log && written % 500 === 0) break
      if (written % 500 === 0) log = size
      if (written % 10 === 0) await turn()
    }
    // A copy taken in the middle of a checkpoint is no database: the next one is.
    while (inFile(path) <= 99 && Date.now() < deadline) await turn()
    expect(inFile(path)).toBeGreaterThan(99)
    expect(Date.now()).toBeLessThan(deadline)
  } finally {
    checkpoints.stop()
    db.close()
  }
}, 20_000)
