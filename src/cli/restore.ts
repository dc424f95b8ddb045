// `restore`: a copy put in place of the database, once it is found whole.

import { resolve } from 'node:path'
import { databasePath } from '../config.ts'
import { command } from './command.ts'
import { DATA_FLAGS, requireData } from './data.ts'
import { EXIT } from './io.ts'

export const restore = command({
  name: 'restore',
  summary: 'Replace the database with a backup; the server must be stopped',
  args: { file: { type: 'positional', required: true, description: 'A file made by "sluice backup"' }, ...DATA_FLAGS },
  run: async (args, io) => {
    const path = databasePath(requireData(args, io))
    const { restoreStore } = await import('../store/sqlite/index.ts')
    restoreStore(resolve(io.cwd, args.file), path)
    io.err(`The database ${path} is restored.`)
    return EXIT.ok
  },
})
