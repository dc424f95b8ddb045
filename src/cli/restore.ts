// `restore`: a copy put in place of the database, once it is found whole.

import { resolve } from 'node:path'
import { command } from './command.ts'
import { DATA_FLAGS, JSON_FLAG, requireData, requireFile } from './data.ts'
import { EXIT, printJson } from './io.ts'

export const restore = command({
  name: 'restore',
  summary: 'Replace the database with a backup; the server must be stopped',
  args: {
    file: { type: 'positional', required: true, description: 'A file made by "sluice backup"' },
    ...DATA_FLAGS,
    ...JSON_FLAG,
  },
  run: async (args, io) => {
    const database = requireFile(requireData(args, io), 'put a copy back with pg_restore, while no node runs.')
    const file = resolve(io.cwd, args.file)
    const { restoreStore } = await import('../store/sqlite/index.ts')
    restoreStore(file, database)
    if (args.json) printJson(io, { database, file })
    else io.err(`The database ${database} is restored.`)
    return EXIT.ok
  },
})
