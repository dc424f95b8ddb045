// `migrate`: the whole store moved to another database, from SQLite to PostgreSQL or back.

import { resolve } from 'node:path'
import { databasePath } from '../config.ts'
import { keyPath } from '../entries/credentials.ts'
import type { Moved } from '../store/moving.ts'
import { command } from './command.ts'
import { DATA_FLAGS, JSON_FLAG, requireData } from './data.ts'
import { EXIT, type Io, printJson, usageError } from './io.ts'

/** What is given, or the environment's, which no list of processes shows. */
type Place = { folder: string } | { url: string }

export const migrate = command({
  name: 'migrate',
  summary: 'Move all data between SQLite and PostgreSQL; no server may run',
  args: {
    from: {
      type: 'string',
      valueHint: 'STORE',
      description: 'Where the data is: sqlite:DIR, its data directory, or postgres://… (default SLUICE_STORE)',
    },
    to: {
      type: 'string',
      valueHint: 'STORE',
      description: 'Where it goes: a data directory without a database, or an empty one (default SLUICE_STORE)',
    },
    config: DATA_FLAGS.config,
    ...JSON_FLAG,
  },
  examples: [
    'sluice migrate --from sqlite:/var/lib/sluice --to postgres://sluice@db:5432/sluice',
    'SLUICE_STORE=postgres://… sluice migrate --to sqlite:/var/lib/sluice-new',
  ],
  run: async ({ from: source, to: target, config, json }, io) => {
    const from = placeOf('--from', source, io)
    const to = placeOf('--to', target, io)
    const moved = await moveBetween(from, to, config, io)
    if (json) printJson(io, { tables: Object.fromEntries(moved.tables.map(({ name, rows }) => [name, rows])) })
    else io.err(told(moved))
    if (!json && moved.sealed > 0) io.err(`note: ${keyNote('folder' in from ? from.folder : undefined, to)}`)
    return EXIT.ok
  },
})

const placeOf = (flag: string, given: string | undefined, io: Io): Place => {
  const text = given ?? io.env.SLUICE_STORE
  if (text === undefined || text === '')
    throw usageError(`${flag} is missing: sqlite:DIR or postgres://user@host:5432/database.`)
  if (/^postgres(ql)?:\/\//.test(text)) return { url: text }
  const folder = /^sqlite:(.+)$/.exec(text)?.[1]
  // What was given may hold a password.
  if (folder === undefined) throw usageError(`${flag} must be sqlite:DIR or postgres://user@host:5432/database.`)
  return { folder: resolve(io.cwd, folder) }
}

const moveBetween = async (from: Place, to: Place, config: string | undefined, io: Io): Promise<Moved> => {
  const [sqlite, postgres, { move }] = await Promise.all([
    import('../store/sqlite/moving.ts'),
    import('../store/postgres/moving.ts'),
    import('../store/moving.ts'),
  ])
  const tables = postgres.MOVED_TABLES
  if ('folder' in from && 'url' in to)
    return sqlite.readSqlite(databasePath({ dataDir: from.folder }), (reader) =>
      postgres.writePostgres(to.url, (writer) => move(tables, reader, writer)),
    )
  if ('url' in from && 'folder' in to) {
    const { calendar } = requireData({ config }, io)
    return postgres.readPostgres(from.url, calendar, (reader) =>
      sqlite.writeSqlite(databasePath({ dataDir: to.folder }), (writer) => move(tables, reader, writer)),
    )
  }
  throw usageError('One of --from and --to is SQLite, the other PostgreSQL.')
}

const told = ({ tables }: Moved): string => {
  const lines = tables.filter(({ rows }) => rows > 0).map(({ name, rows }) => `  ${name}: ${rows}`)
  return ['All is moved and counted, and the source is left as it was:', ...lines].join('\n')
}

const keyNote = (folder: string | undefined, to: Place): string =>
  'folder' in to
    ? `credentials of accounts are opened by the key that sealed them: put it at ${keyPath(to.folder)}, or in SLUICE_KEY`
    : `credentials of accounts are opened by the key in ${folder === undefined ? 'sluice.key' : keyPath(folder)}: give it to every node, as sluice.key in its data directory or in SLUICE_KEY`
