// A PostgreSQL database as what a store is moved from or to: by one transaction.

import { getTableName, is } from 'drizzle-orm'
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core'
import type { Calendar } from '../../lib/calendar.ts'
import {
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
import { type Client, createClient, type Queries } from './client.ts'
import { migrate } from './migrate.ts'
import { goOnCounting } from './numbering.ts'
import * as schema from './schema.ts'
import { createSums } from './sums.ts'

const typeOf = (type: string): MovedTable['columns'][number]['type'] => {
  if (type === 'bigint' || type === 'boolean' || type === 'text') return type
  // Of this database alone: no other has such a column.
  return 'text'
}

/** Those that others refer to come first. */
export const MOVED_TABLES: readonly MovedTable[] = Object.values<unknown>(schema)
  .filter((each): each is PgTable => is(each, PgTable))
  .map((table): MovedTable => {
    const { columns, primaryKeys } = getTableConfig(table)
    const key = [...columns.filter(({ primary }) => primary), ...primaryKeys.flatMap((of) => of.columns)]
    return {
      name: getTableName(table),
      columns: columns.map((column) => ({ name: column.name, type: typeOf(column.getSQLType()) })),
      order: key.map((column) => column.name),
    }
  })
  .sort((a, b) => Number(b.name === 'members') - Number(a.name === 'members'))

const TABLES: Reader['tables'] = new Map(
  MOVED_TABLES.map(({ name, columns }) => [name, new Set(columns.map((column) => column.name))]),
)

/** Of what is many millions of rows it takes hours, in which the database is not always asked something. */
const MANNER = { deadlineMs: 7 * 24 * 3_600_000, stuckMs: 0, lockMs: 0 }

const REACH_MS = 2_000

/** The node that had what is in flight: there is none of this name, so that another takes it over. */
const NODE = 'moved'

/** In words, without a password. */
const placeOf = (url: string): string => {
  const { host, pathname } = new URL(url)
  return `${pathname.slice(1)} at ${host}`
}

const withClient = async <T>(url: string, run: (client: Client) => Promise<T>): Promise<T> => {
  const client = createClient(url)
  try {
    // Whoever waits at a terminal has written it wrong more often than it is just starting.
    await client.query('SELECT 1', [], { deadlineMs: REACH_MS })
    await migrate(client, placeOf(url))
    return await run(client)
  } finally {
    await client.close()
  }
}

/** Throws a StoreError, with nothing written, where anything is in it already, or `run` throws. */
export const writePostgres = <T>(url: string, run: (writer: Writer) => Promise<T>): Promise<T> =>
  withClient(url, (client) =>
    client.begin(async (tx) => {
      // A node that starts now waits.
      await tx.query('LOCK TABLE nodes IN ACCESS EXCLUSIVE MODE')
      await requireEmpty(tx, placeOf(url))
      const done = await run(writerOf(tx))
      await prepare(tx)
      return done
    }, MANNER),
  )

/** What it writes there itself for its own use. */
const OWN = new Set(['versions', 'life'])

const requireEmpty = async (tx: Queries, where: string): Promise<void> => {
  for (const { name } of MOVED_TABLES)
    if (!OWN.has(name) && (await tx.query(`SELECT 1 FROM ${name} LIMIT 1`)).length > 0)
      throw storeError(`The database ${where} is in use already: its table ${name} is not empty. Move to a new one.`)
}

/** What many nodes need to be told beside. */
const EXTRA: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  exchanges: { summed: 'true' },
  reservations: { node: `'${NODE}'`, held: 'reserved', held_micro_usd: 'reserved_micro_usd' },
}

const writerOf = (tx: Queries): Writer => ({
  tables: TABLES,
  async write({ name, columns }, rows) {
    const extra = Object.entries(EXTRA[name] ?? {})
    const names = namesOf(columns)
    const also = (texts: string[]): string => texts.map((text) => `, ${text}`).join('')
    const typed = columns.map((column) => `"${column.name}" ${column.type}`).join(', ')
    await tx.query(
      `INSERT INTO ${name} (${names}${also(extra.map(([column]) => column))})
       SELECT ${names}${also(extra.map(([, value]) => value))} FROM json_to_recordset($1::text::json) AS given(${typed})`,
      [JSON.stringify(rows.map((row) => Object.fromEntries(columns.map((column, i) => [column.name, row[i]]))))],
    )
  },
  figures: async (table) => inOrder((await tx.query<Record<string, unknown>>(figuresOf(table, 'char_length')))[0]),
})

/** What follows from the rows. */
const prepare = async (tx: Queries): Promise<void> => {
  await tx.query(
    `UPDATE keys SET tokens_held = held.tokens
     FROM (SELECT key_id, sum(reserved) AS tokens FROM reservations GROUP BY key_id) AS held WHERE keys.id = held.key_id`,
  )
  await tx.query(
    `UPDATE budgets SET held_tokens = held.tokens, held_micro_usd = held.micro_usd FROM (
       SELECT of.budget, sum(reserved) AS tokens, sum(reserved_micro_usd) AS micro_usd
       FROM reservations CROSS JOIN LATERAL json_array_elements_text(budgets::json) AS of(budget)
       WHERE budgets IS NOT NULL GROUP BY of.budget
     ) AS held WHERE budgets.id = held.budget`,
  )
  // Nodes tell what was changed by versions that grow.
  await tx.query(
    `INSERT INTO versions (what, n) SELECT 'changes', 1 + greatest(0, (SELECT max(version) FROM keys),
       (SELECT max(version) FROM budgets)) ON CONFLICT (what) DO UPDATE SET n = greatest(versions.n, excluded.n)`,
  )
  await goOnCounting(tx)
}

/**
 * As of one moment, with all that ended in the sums: by this calendar what is not yet. Throws a StoreError where nodes run on
 * it.
 */
export const readPostgres = <T>(url: string, calendar: Calendar, run: (reader: Reader) => Promise<T>): Promise<T> =>
  withClient(url, async (client) => {
    await requireStopped(client, placeOf(url))
    await createSums(client, calendar).add()
    return await client.begin(
      async (tx) => {
        // Nodes that start now wait.
        await tx.query('LOCK TABLE nodes IN SHARE MODE')
        await requireStopped(tx, placeOf(url))
        return await run({ tables: TABLES, rows: (table) => rowsIn(tx, table) })
      },
      { ...MANNER, level: 'REPEATABLE READ' },
    )
  })

const requireStopped = async (db: Queries, where: string): Promise<void> => {
  const live = await db.query(
    'SELECT 1 FROM nodes WHERE until > (extract(epoch FROM clock_timestamp()) * 1000)::bigint LIMIT 1',
  )
  if (live.length > 0) throw storeError(`A node is running on the database ${where}; stop all of them first.`)
  if ((await db.query(LEFT_OPEN)).length > 0)
    throw storeError(
      `The last node on the database ${where} was ended in the midst of requests; start one once more and stop it, then move it.`,
    )
}

async function* rowsIn(tx: Queries, { name, columns, order }: MovedTable): AsyncGenerator<Row[]> {
  const cursor = `moved_${name}`
  await tx.query(
    `DECLARE ${cursor} NO SCROLL CURSOR FOR SELECT ${namesOf(columns)} FROM ${name} ORDER BY ${namesOf(order.map((column) => ({ name: column })))}`,
  )
  for (;;) {
    const rows = await tx.query<Record<string, Cell>>(`FETCH ${BATCH_ROWS} FROM ${cursor}`)
    if (rows.length > 0) yield rows.map((found) => columns.map((column) => found[column.name] ?? null))
    if (rows.length < BATCH_ROWS) break
  }
  await tx.query(`CLOSE ${cursor}`)
}
