// Checkpoints beside the writer: what is in the log comes into the database while writing goes on.

import { Database } from 'bun:sqlite'
import { afterEach, expect, test } from 'bun:test'
import { copyFileSync, statSync } from 'node:fs'
import { createCheckpoints, type DiskRoom } from '../../src/store/sqlite/checkpoint.ts'
import { until } from '../support/until.ts'
import { cleanUp, newPath, open } from './support.ts'

afterEach(cleanUp)

const openDatabase = (path: string): Database => {
  const db = new Database(path)
  db.run('PRAGMA journal_mode = WAL')
  db.run('PRAGMA wal_autocheckpoint = 0')
  db.run('CREATE TABLE records (text)')
  return db
}
const MB = 1024 * 1024
const ROOM: DiskRoom = { free: 100 * MB, log: 0, growth: 0, unused: 0 }
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

/** What the database file holds without its log. */
const inFile = (path: string, table = 'records'): number => {
  copyFileSync(path, `${path}.alone`)
  const alone = new Database(`${path}.alone`)
  try {
    return alone.query<{ count: number }, []>(`SELECT count(*) AS count FROM ${table}`).get()?.count ?? 0
  } catch {
    // Not even the table has come there.
    return 0
  } finally {
    alone.close()
  }
}

test('are made after a number of records, and the log starts over even under constant writes', async () => {
  const path = newPath()
  const db = openDatabase(path)
  const checkpoints = createCheckpoints(db, path, 100)
  const insert = db.query('INSERT INTO records VALUES (?)')
  try {
    for (let i = 0; i < 99; i++) insert.run('x'.repeat(1_000))
    checkpoints.wrote(99)
    await turn()
    expect(inFile(path)).toBe(0)
    const deadline = performance.now() + 60_000
    let written = 99
    let log = 0
    // Written without end: a log that were never begun anew would only grow.
    for (; performance.now() < deadline; written++) {
      insert.run('x'.repeat(1_000))
      checkpoints.wrote(1)
      const { size } = statSync(`${path}-wal`)
      if (log > 0 && size === log && written % 500 === 0) break
      if (written % 500 === 0) log = size
      if (written % 10 === 0) await turn()
    }
    // A copy taken in the middle of a checkpoint is no database: a later one is.
    await until(() => inFile(path) > 99)
    expect(performance.now()).toBeLessThan(deadline)
  } finally {
    checkpoints.stop()
    db.close()
  }
})

test('are made early where the disk would have no room for one later, and give the log back', async () => {
  const path = newPath()
  const db = openDatabase(path)
  let room = ROOM
  const checkpoints = createCheckpoints(db, path, 100, () => room)
  const insert = db.query('INSERT INTO records VALUES (?)')
  const logBytes = () => statSync(`${path}-wal`).size
  const writeTen = (): void => {
    for (let i = 0; i < 10; i++) insert.run('x'.repeat(1_000))
    checkpoints.wrote(10)
  }
  try {
    for (let i = 0; i < 5; i++) writeTen()
    await turn()
    expect(inFile(path)).toBe(0)
    room = { ...ROOM, free: 8 * MB, log: 9 * MB }
    writeTen()
    while (logBytes() > 0) await turn()
    expect(inFile(path)).toBe(60)
  } finally {
    checkpoints.stop()
    db.close()
  }
})

test.each([
  ['plenty', ROOM, false],
  ['less than the log holds, and enough for all of it', { ...ROOM, free: 8 * MB, log: 9 * MB, growth: 3 * MB }, false],
  [
    'too little for the log to become part of the database',
    { ...ROOM, free: 8 * MB, log: 9 * MB, growth: 7 * MB },
    true,
  ],
  ['too little for what is open', { ...ROOM, free: 1.5 * MB }, true],
  ['pages of its own to fill, and enough for the log', { ...ROOM, free: 1.5 * MB, unused: 4 * MB }, false],
  ['pages of its own to fill, and nothing for the log', { ...ROOM, free: 0.5 * MB, unused: 4 * MB }, true],
])('a disk with %s', (_, room, isShort) => {
  const path = newPath()
  const db = openDatabase(path)
  const checkpoints = createCheckpoints(db, path, 100, () => room)
  expect(checkpoints.isShort()).toBe(isShort)
  checkpoints.stop()
  db.close()
})

test('a disk is looked at more often the less room it has', () => {
  const path = newPath()
  const db = openDatabase(path)
  let looks = 0
  const looked = (free: number): number => {
    const checkpoints = createCheckpoints(db, path, 20_000, () => {
      looks++
      return { ...ROOM, free }
    })
    looks = 0
    for (let i = 0; i < 1_000; i++) checkpoints.wrote(1)
    checkpoints.stop()
    return looks
  }
  expect([1_000, 20, 3].map((megabytes) => looked(megabytes * MB))).toEqual([1, 6, 125])
  db.close()
})

test('are made when a write finds the disk full: the log gives its room back', () => {
  const path = newPath()
  const db = openDatabase(path)
  const checkpoints = createCheckpoints(db, path)
  db.run("INSERT INTO records VALUES ('one')")
  expect(statSync(`${path}-wal`).size).toBeGreaterThan(0)
  checkpoints.full()
  expect([statSync(`${path}-wal`).size, inFile(path)]).toEqual([0, 1])
  checkpoints.stop()
  db.close()
})

test('a disk that somebody else has filled is short as soon as a write finds it full, and no longer once there is room', () => {
  const path = newPath()
  const db = openDatabase(path)
  let room = ROOM
  const checkpoints = createCheckpoints(db, path, 20_000, () => room)
  room = { ...ROOM, free: 0 }
  expect(checkpoints.isShort()).toBe(false)
  checkpoints.full()
  expect(checkpoints.isShort()).toBe(true)
  room = ROOM
  expect(checkpoints.isShort()).toBe(false)
  checkpoints.stop()
  db.close()
})

test('count what pruning writes, so that no write has to checkpoint', async () => {
  const path = newPath()
  const store = open(path)
  store.journal.claim(() => {})
  const db = new Database(path)
  db.run(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 30000)
     INSERT INTO exchanges (row, id, key_id, model, wire, stream, started_at, input_estimate, reserved, outcome)
     SELECT i, 'x' || i, 'key_1', 'a', 'messages', 0, 1, 1, 1, 'done' FROM n`,
  )
  db.run('PRAGMA wal_checkpoint(TRUNCATE)')
  db.close()
  expect(inFile(path, 'exchanges')).toBe(30_000)
  for (let step = 0; step < 250; step++) await store.prune(2, 100)
  // A copy taken in the middle of a checkpoint is no database: the next one is.
  await until(() => inFile(path, 'exchanges') % 30_000 !== 0)
})

test('shrink a log that grew by one large write', async () => {
  const path = newPath()
  const store = open(path)
  const other = new Database(path)
  try {
    other.run('CREATE TABLE long (bytes blob)')
    other.run('BEGIN')
    other.run(
      'WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100) INSERT INTO long SELECT zeroblob(1e6) FROM n',
    )
    other.run('COMMIT')
    expect(statSync(`${path}-wal`).size).toBeGreaterThan(100e6)
    other.run('PRAGMA wal_checkpoint(PASSIVE)')
    await store.probe()
    expect(statSync(`${path}-wal`).size).toBeLessThanOrEqual(64 * 1024 * 1024)
  } finally {
    other.close()
  }
})
