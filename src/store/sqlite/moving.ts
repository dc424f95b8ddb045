// A database file as what a store is moved from or to.

import { Database, type SQLQueryBindings } from 'bun:sqlite'
import { closeSync, existsSync, fsyncSync, mkdirSync, openSync, renameSync, rmSync } from 'node:fs'
import { dirname } from 'node:path'
import { getTableName, is } from 'drizzle-orm'
import { getTableConfig, SQLiteTable } from 'drizzle-orm/sqlite-core'
import {
  BATCH_LETTERS,
  BATCH_ROWS,
  type Cell,
  figuresOf,
  inOrder,
  LEFT_OPEN,
  type MovedTable,
  namesOf,
  type Reader,
  type Row,
  type Writer,
} from '../moving.ts'
import { storeError } from '../store.ts'
import { LIST_ALL } from './blocks.ts'
import { toStoreError } from './check.ts'
import { followLinks } from './links.ts'
import { lockServer } from './lock.ts'
import { openStore } from './open.ts'
import * as schema from './schema.ts'

const TABLES: Reader['tables'] = new Map(
  Object.values<unknown>(schema)
    .filter((each): each is SQLiteTable => is(each, SQLiteTable))
    .map((table) => [getTableName(table), new Set(getTableConfig(table).columns.map(({ name }) => name))]),
)

/** Nothing writes to it meanwhile. Throws a StoreError where there is none, or a server runs on it. */
export const readSqlite = async <T>(named: string, run: (reader: Reader) => Promise<T>): Promise<T> => {
  const path = followLinks(named)
  if (!existsSync(path)) throw storeError(`There is no database at ${path} to move.`)
  let unlock = lockServer(path, runningOn(path))
  let db: Database | undefined
  try {
    // What an older version has made is brought to this one's tables, which locks it by itself.
    unlock()
    await openStore(path).close()
    unlock = lockServer(path, runningOn(path))
    db = new Database(path, { readwrite: true })
    db.run('BEGIN IMMEDIATE')
    if (db.query(LEFT_OPEN).get() !== null)
      throw storeError(
        `The last server on ${path} was ended in the midst of requests; start it once more and stop it, then move it.`,
      )
    const source = db
    return await run({ tables: TABLES, rows: (table) => rowsIn(source, table) })
  } catch (error) {
    throw toStoreError(path, error)
  } finally {
    db?.close()
    unlock()
  }
}

const runningOn = (path: string): string => `A server is running on ${path}; stop it first.`

function* rowsIn(db: Database, { name, columns, order }: MovedTable): Generator<Row[]> {
  const all = db.query<Record<string, string | number | null>, []>(
    `SELECT ${namesOf(columns)} FROM ${name} ORDER BY ${order.join(', ')}`,
  )
  let batch: Row[] = []
  let letters = 0
  for (const found of all.iterate()) {
    batch.push(columns.map(({ name: column, type }) => toCell(found[column] ?? null, type)))
    for (const cell of Object.values(found)) if (typeof cell === 'string') letters += cell.length
    if (batch.length < BATCH_ROWS && letters < BATCH_LETTERS) continue
    yield batch
    batch = []
    letters = 0
  }
  if (batch.length > 0) yield batch
}

const toCell = (cell: string | number | null, type: MovedTable['columns'][number]['type']): Cell => {
  if (cell === null) return null
  if (type === 'boolean') return cell !== 0
  // No other database has a NUL in a text.
  return type === 'text' ? String(cell).replaceAll('\0', '\ufffd') : Math.round(Number(cell))
}

/** The file is there once all is in it. Throws a StoreError where there is one already. */
export const writeSqlite = async <T>(named: string, run: (writer: Writer) => Promise<T>): Promise<T> => {
  const path = followLinks(named)
  const partial = `${path}.partial`
  let unlock: (() => void) | undefined
  let db: Database | undefined
  try {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 })
    unlock = lockServer(path)
    if (existsSync(path)) throw storeError(`There is a database at ${path} already; move to another data directory.`)
    remove(partial)
    await openStore(partial).close()
    db = new Database(partial, { readwrite: true })
    // What fails is removed: nothing of it needs to be undone.
    for (const how of ['journal_mode = OFF', 'synchronous = OFF', 'foreign_keys = OFF']) db.run(`PRAGMA ${how}`)
    db.run('BEGIN')
    const done = await run(writerOf(db))
    for (const list of LIST_ALL) db.run(list)
    db.run('COMMIT')
    db.close(true)
    db = undefined
    sync(partial)
    renameSync(partial, path)
    return done
  } catch (error) {
    throw toStoreError(path, error)
  } finally {
    db?.close()
    remove(partial)
    unlock?.()
  }
}

const writerOf = (db: Database): Writer => ({
  tables: TABLES,
  write(table, rows) {
    const insert = db.query<unknown, SQLQueryBindings[]>(
      `INSERT INTO ${table.name} (${namesOf(table.columns)}) VALUES (${table.columns.map(() => '?').join(', ')})`,
    )
    for (const row of rows) insert.run(...row)
  },
  figures: async (table) => inOrder(db.query<Record<string, number>, []>(figuresOf(table, 'length')).get()),
})

const remove = (file: string): void => {
  for (const end of ['', '-wal', '-shm', '-journal', '.lock']) rmSync(`${file}${end}`, { force: true })
}

const sync = (path: string): void => {
  const file = openSync(path, 'r+')
  try {
    fsyncSync(file)
  } finally {
    closeSync(file)
  }
}
