// Both dialects have the same tables: names, columns, nullability, defaults, keys, indexes and the types of rows. What one has
// alone is written here, and nowhere else.

import { describe, expect, test } from 'bun:test'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { is, SQL } from 'drizzle-orm'
import { getTableConfig as ofPostgres, PgDialect, PgTable } from 'drizzle-orm/pg-core'
import { getTableConfig as ofSqlite, SQLiteSyncDialect, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { MIGRATIONS } from '../../src/store/postgres/migrations.ts'
import * as postgres from '../../src/store/postgres/schema.ts'
import * as sqlite from '../../src/store/sqlite/schema.ts'

/** Tables and columns of PostgreSQL alone. */
const NODES_ALONE: Record<string, readonly string[] | 'whole'> = {
  nodes: 'whole',
  setup_links: 'whole',
  jobs: 'whole',
  attempts: 'whole',
  versions: 'whole',
  life: 'whole',
  entered: 'whole',
  windows: 'whole',
  keys: ['tokens_held', 'in_flight', 'window_seconds', 'window_requests', 'window_tokens'],
  budgets: ['held_tokens', 'held_micro_usd'],
  reservations: ['held', 'held_micro_usd', 'node'],
  exchanges: ['summed', 'alone'],
}
/** Of SQLite alone: PostgreSQL finds the exchanges of a key or a model by an index. */
const FILE_ALONE = ['exchange_blocks', 'exchange_models']
/** Indexes of PostgreSQL that SQLite has not, or not as they are. SQLite's end with the row by themselves. */
const OTHER_INDEXES: Record<string, string> = {
  exchanges_id: 'unique (id)',
  exchanges_key: '(key_id, row)',
  exchanges_model: '(model, row)',
  exchanges_not_done: "(outcome, row) where outcome <> 'done'",
  exchanges_not_summed: '(row) where NOT summed',
  refusals_key: '(key_id, row)',
  reservations_id: 'unique (id)',
  reservations_node: '(node)',
  audit_target: '(target, row)',
  teams_name: 'unique (lower("name" COLLATE "C"))',
  members_name_in_use: 'unique (lower("name" COLLATE "C")) where removed_at IS NULL',
}

type Column = {
  name: string
  notNull: boolean
  primary: boolean
  hasDefault: boolean
  default: unknown
  enumValues?: unknown
}
type Described = { columns: Column[]; primaryKeys: string[]; foreignKeys: string[]; indexes: Record<string, string> }

const dialects = { sqlite: new SQLiteSyncDialect(), postgres: new PgDialect() }

/** Names of columns without their tables and quotes; anything else as it is written. */
const written = (part: unknown, dialect: keyof typeof dialects): string =>
  is(part, SQL)
    ? dialects[dialect].sqlToQuery(part.inlineParams()).sql.replaceAll(/[`"]\w+[`"]\.(?=[`"])/g, '')
    : (part as { name: string }).name

type Config = ReturnType<typeof ofPostgres> | ReturnType<typeof ofSqlite>

const describeTable = (config: Config, dialect: keyof typeof dialects): Described => ({
  columns: config.columns.map((column) => ({
    ...{ name: column.name, notNull: column.notNull, primary: column.primary },
    // The number of a row comes by itself, by whatever means.
    ...(column.name === 'row'
      ? { hasDefault: true, default: undefined }
      : { hasDefault: column.hasDefault, default: column.default }),
    enumValues: column.enumValues,
  })),
  primaryKeys: config.primaryKeys.map(({ columns }) => columns.map(({ name }) => name).join()),
  foreignKeys: config.foreignKeys.map((key) => {
    const { columns, foreignColumns } = key.reference()
    const names = [columns, foreignColumns].map((side) => side.map(({ name }) => name).join())
    return `${names.join(' → ')} ${key.onDelete ?? 'no action'}`
  }),
  indexes: Object.fromEntries(
    config.indexes.map(({ config: each }) => {
      const method = 'method' in each && each.method !== 'btree' ? `${each.method} ` : ''
      const on = `(${each.columns.map((column) => written(column, dialect)).join(', ')})`
      const where = each.where === undefined ? '' : ` where ${written(each.where, dialect)}`
      return [each.name ?? '', `${each.unique ? 'unique ' : ''}${method}${on}${where}`]
    }),
  ),
})

const tablesOf = <Table>(
  schema: object,
  isTable: (value: unknown) => value is Table,
  of: (table: Table) => Described & { name: string },
) =>
  new Map(
    Object.values(schema)
      .filter(isTable)
      .map((table) => [of(table).name, of(table)]),
  )

const inPostgres = tablesOf(
  postgres,
  (value): value is PgTable => is(value, PgTable),
  (table) => {
    const config = ofPostgres(table)
    return { name: config.name, ...describeTable(config, 'postgres') }
  },
)
const inSqlite = tablesOf(
  sqlite,
  (value): value is SQLiteTable => is(value, SQLiteTable),
  (table) => {
    const config = ofSqlite(table)
    return { name: config.name, ...describeTable(config, 'sqlite') }
  },
)

describe('the tables of both dialects', () => {
  test('are the same but for those of one alone', () => {
    const alone = Object.keys(NODES_ALONE).filter((name) => NODES_ALONE[name] === 'whole')
    expect([...inPostgres.keys()].sort()).toEqual(
      [...[...inSqlite.keys()].filter((name) => !FILE_ALONE.includes(name)), ...alone].sort(),
    )
  })

  const common = [...inSqlite].filter(([name]) => !FILE_ALONE.includes(name))
  test.each(common)('%s', (name, one) => {
    const other = inPostgres.get(name)
    if (other === undefined) throw new Error('it is not there')
    const more = NODES_ALONE[name] ?? []
    const byName = (columns: Column[]) => columns.toSorted((a, b) => a.name.localeCompare(b.name))
    expect(byName(other.columns.filter((column) => !more.includes(column.name)))).toEqual(byName(one.columns))
    expect(other.columns.map((column) => column.name)).toEqual(expect.arrayContaining([...more]))
    expect(other.primaryKeys).toEqual(one.primaryKeys)
    expect(other.foreignKeys).toEqual(one.foreignKeys)
    for (const [index, is] of Object.entries(other.indexes))
      expect([index, is]).toEqual([index, OTHER_INDEXES[index] ?? one.indexes[index] ?? 'in no list'])
    expect(Object.keys(other.indexes)).toEqual(expect.arrayContaining(Object.keys(one.indexes)))
  })
})

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
type Flat<T> = { [name in keyof T]: T[name] }
type Tables = typeof sqlite
type Common = Exclude<
  { [name in keyof Tables]: Tables[name] extends SQLiteTable ? name : never }[keyof Tables],
  'exchangeBlocks' | 'exchangeModels'
>
type More = {
  keys: 'tokensHeld' | 'inFlight' | 'windowSeconds' | 'windowRequests' | 'windowTokens'
  budgets: 'heldTokens' | 'heldMicroUsd'
  reservations: 'held' | 'heldMicroUsd' | 'node'
  exchanges: 'summed' | 'alone'
}
type MoreOf<name> = name extends keyof More ? More[name] : never
/** True for a table whose rows read and written have one type in both dialects. */
type SameRows = {
  [name in Common]: Same<
    [Flat<Tables[name]['$inferSelect']>, Flat<Tables[name]['$inferInsert']>],
    [
      Flat<Omit<(typeof postgres)[name]['$inferSelect'], MoreOf<name>>>,
      Flat<Omit<(typeof postgres)[name]['$inferInsert'], MoreOf<name>>>,
    ]
  >
}
// What the compiler holds, whatever runs.
const sameRows: Record<Common, true> = {} as SameRows

test('rows have the same types in both dialects, or this file does not compile', () => {
  expect(sameRows).toBeDefined()
})

describe('the migrations of PostgreSQL', () => {
  const folder = new URL('../../drizzle/postgres/', import.meta.url).pathname

  test('are the files of the folder, in order, each as it is', () => {
    const names = readdirSync(folder)
      .filter((name) => name.endsWith('.sql'))
      .sort()
    expect(MIGRATIONS.map(({ name }) => `${name}.sql`)).toEqual(names)
    for (const { name, sql } of MIGRATIONS) expect(sql).toBe(readFileSync(join(folder, `${name}.sql`), 'utf8'))
  })
})
