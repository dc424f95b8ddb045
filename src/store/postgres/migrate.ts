// Brings a database to this version's tables, all of the missing migrations or none. Nodes that start together do it once;
// a node of an older version may go on beside newer ones until a migration takes away what it needs.

import { storeError } from '../store.ts'
import type { Client, Queries } from './client.ts'
import { MIGRATIONS, type Migration } from './migrations.ts'

type Database = Pick<Client, 'query' | 'begin'>

/** `least`: how many migrations a node must know to run on the database. */
type Applied = { names: string[]; least: number }

/** Held while the tables are changed; any number that nothing else of this program takes. */
const LOCK = 7_588_219_044
/** A change of a table waits for statements that run, and all later ones wait for it: not for long. */
const LOCK_WAIT = '5s'
/** Of all missing migrations together, on tables of any size. */
const LONGEST_MS = 3_600_000

/** By its name as it is: as text it would be read, and folded, as an identifier. */
const SCHEMA = '(SELECT oid FROM pg_namespace WHERE nspname = current_schema())'

/** `where`: the database in words, without a password. Throws a StoreError for a database it cannot use, which is left as it was. */
export const migrate = async (
  db: Database,
  where: string,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> => {
  if (isCurrent(await read(db), migrations, where)) return
  const run = async (tx: Queries): Promise<void> => {
    await tx.query('SELECT pg_advisory_xact_lock($1)', [LOCK])
    const applied = await read(tx)
    if (isCurrent(applied, migrations, where)) return
    if (applied === undefined) await requireEmpty(tx, where)
    await tx.query(`SELECT set_config('lock_timeout', $1, true)`, [LOCK_WAIT])
    await tx.query(TABLE)
    let { least } = applied ?? NONE
    for (const [position, { name, sql, contracts }] of migrations.entries()) {
      if (position < (applied ?? NONE).names.length) continue
      for (const statement of sql.split('--> statement-breakpoint')) await tx.query(unbound(statement))
      if (contracts) least = position + 1
      await tx.query(ADD, [position, name, least])
    }
  }
  // Who begins while another changes the tables waits for as long as that takes.
  await db.begin(run, { deadlineMs: LONGEST_MS, lockMs: 0 })
}

/**
 * Does what a start does first, and undoes it: makes a table, or writes by `write` where the tables are there. Throws a StoreError
 * for a database that a start would refuse.
 */
export const tryOut = async (db: Database, where: string, write: string): Promise<void> => {
  const undone = new Error('undone')
  const run = async (tx: Queries): Promise<never> => {
    const applied = await read(tx)
    const isThere = isCurrent(applied, MIGRATIONS, where)
    if (applied === undefined) await requireEmpty(tx, where)
    await tx.query(isThere ? write : 'CREATE TABLE sluice_tried (id text)')
    throw undone
  }
  await db.begin(run).catch((cause: unknown) => {
    if (cause !== undone) throw cause
  })
}

const NONE: Applied = { names: [], least: 0 }

/** Statements that were written for the schema that most have; whose tables are in another one has it first in the search_path. */
const unbound = (statement: string): string =>
  statement.replaceAll('"public".', '').replaceAll('current_schema()::regnamespace', SCHEMA)

const TABLE = `
  CREATE TABLE IF NOT EXISTS migrations (
    position bigint PRIMARY KEY, name text NOT NULL, least bigint NOT NULL, at bigint NOT NULL)`
const ADD = `
  INSERT INTO migrations (position, name, least, at)
  VALUES ($1, $2, $3, (extract(epoch FROM clock_timestamp()) * 1000)::bigint)`

/** Undefined where it has no list of them. Who may not read it is told so by reading it. */
const read = async (db: Queries): Promise<Applied | undefined> => {
  const columns = await db.query(
    `SELECT 1 FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
     WHERE c.relname = 'migrations' AND c.relnamespace = ${SCHEMA}
       AND a.attname IN ('position', 'name', 'least') AND NOT a.attisdropped`,
  )
  // Other programs have tables of this name too.
  if (columns.length < 3) return undefined
  const rows = await db.query<{ name: string; least: number }>('SELECT name, least FROM migrations ORDER BY position')
  return { names: rows.map(({ name }) => name), least: rows.at(-1)?.least ?? 0 }
}

/** Whether nothing is to be done. Throws where nothing can be. */
const isCurrent = (applied: Applied | undefined, migrations: readonly Migration[], where: string): boolean => {
  if (applied === undefined) return false
  const { names, least } = applied
  const known = Math.min(names.length, migrations.length)
  const isOurs = migrations.slice(0, known).every(({ name }, position) => names[position] === name)
  if (!isOurs || least > migrations.length)
    throw storeError(`The database ${where} was changed by a newer version of sluice; use that version to open it.`)
  return names.length >= migrations.length
}

/** What extensions brought along is nobody's. */
const requireEmpty = async (tx: Queries, where: string): Promise<void> => {
  const [found] = await tx.query<{ encoding: string }>(`SELECT current_setting('server_encoding') AS encoding`)
  if (found?.encoding !== 'UTF8')
    throw storeError(`The database ${where} cannot hold every text: make one with ENCODING 'UTF8'.`)
  const tables = await tx.query(
    `SELECT 1 FROM pg_class c
     WHERE c.relnamespace = ${SCHEMA} AND c.relkind IN ('r', 'p')
       AND NOT EXISTS (SELECT FROM pg_depend d WHERE d.objid = c.oid AND d.deptype = 'e') LIMIT 1`,
  )
  if (tables.length > 0)
    throw storeError(`The database ${where} holds tables of another program; make one for sluice alone.`)
}
