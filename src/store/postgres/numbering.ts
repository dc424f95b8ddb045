// Rows that are numbered as they come. A database that was copied row by row, as by logical replication, has them with their
// numbers and begins to count anew; it goes on above them.

import { getTableName, is } from 'drizzle-orm'
import { getTableConfig, PgTable } from 'drizzle-orm/pg-core'
import type { Queries } from './client.ts'
import * as schema from './schema.ts'

const numbersIn = (table: PgTable) => getTableConfig(table).columns.filter(({ name }) => name === 'row')
const tables = Object.values<unknown>(schema).filter((each): each is PgTable => is(each, PgTable))
const namesOf = (isOwn: boolean): string[] =>
  tables
    .filter((table) => numbersIn(table).some(({ generatedIdentity }) => (generatedIdentity !== undefined) === isOwn))
    .map(getTableName)
const highestIn = (name: string): string => `(SELECT max(row) FROM ${name})`

const COUNTS = [
  `SELECT 'exchange_rows' AS name, greatest(${namesOf(false).map(highestIn).join(', ')}) AS highest`,
  ...namesOf(true).map((name) => `SELECT pg_get_serial_sequence('${name}', 'row'), ${highestIn(name)}`),
]
const GO_ON = `
  SELECT setval(name::regclass, highest) FROM (${COUNTS.join(' UNION ALL ')}) AS counts
  WHERE highest > coalesce(pg_sequence_last_value(name::regclass), 0)`

/** Who may not set what is behind is told so; where nothing is, no right to is needed. */
export const goOnCounting = (db: Pick<Queries, 'query'>) => db.query(GO_ON, [], { isRepeatable: true })
