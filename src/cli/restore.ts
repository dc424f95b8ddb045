// `restore`: a copy put in place of the database, once it is found whole.

import { resolve } from 'node:path'
import { databasePath } from '../config.ts'
import { command } from './command.ts'
import { DATA_FLAGS, requireData } from './data.ts'
import { EXIT } from './io.ts'

export const restore = command({
  name: 'restore',
  summary: 'Put a copy in place of the database; the server must be stopped',
  args: { file: { type: 'positional', required: true, description: 'A copy made by "sluice backup"' }, ...DATA_FLAGS },
  run: async (args, io) => {
    const path = databasePath(requireData(args, io))
    const { restoreStore } = await import('../store/sqlite/index.ts')
    restoreStore(resolve(io.cwd, args.file), path)
    io.err(`The database ${path} is restored.`)
    return EXIT.ok
  },
})
