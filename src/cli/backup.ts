// `backup`: a whole, checked copy of the database, beside a running server too.

import { resolve } from 'node:path'
import { keyPath } from '../entries/credentials.ts'
import { command } from './command.ts'
import { DATA_FLAGS, isAbsent, JSON_FLAG, requireData, requireFile } from './data.ts'
import { EXIT, failure, printJson } from './io.ts'

export const backup = command({
  name: 'backup',
  summary: 'Copy the database to a file, also while a server runs on it',
  args: {
    file: { type: 'positional', required: true, description: 'File to write; must not exist yet' },
    ...DATA_FLAGS,
    ...JSON_FLAG,
  },
  examples: ['sluice backup /backups/sluice-2026-09-01.db'],
  run: async (args, io) => {
    const config = requireData(args, io)
    const database = requireFile(
      config,
      'copy it with pg_dump, as "pg_dump --format=custom --file=sluice.dump" does with its address.',
    )
    if (isAbsent(database))
      throw failure(`There is no database in ${config.dataDir} to copy; name the folder of the server with --data.`)
    const file = resolve(io.cwd, args.file)
    const { backupStore } = await import('../store/sqlite/index.ts')
    backupStore(database, file)
    if (args.json) printJson(io, { database, file })
    else io.err(`The database is copied to ${file}.`)
    // Who finds the one must not have the other.
    const key = keyPath(config.dataDir)
    if (!args.json && !isAbsent(key))
      io.err(`note: ${key}, which opens the credentials of accounts, is not in it: keep a copy of that elsewhere`)
    return EXIT.ok
  },
})
