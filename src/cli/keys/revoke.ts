// `keys revoke`: the end of a key.

import { BACKEND_FLAGS } from '../backend.ts'
import { command } from '../command.ts'
import { JSON_FLAG } from '../data.ts'
import { EXIT } from '../io.ts'
import { openBackend } from '../open-backend.ts'
import { idOf, KEY_ID, printKey } from './show.ts'

export const keysRevoke = command({
  name: 'revoke',
  summary: 'Revoke a key for good; takes effect in a running server within a second',
  args: {
    ...KEY_ID,
    ...BACKEND_FLAGS,
    ...JSON_FLAG,
  },
  run: async (args, io) => {
    const backend = await openBackend(args, io)
    printKey(await backend.revokeKey(await idOf(backend, args.id)), undefined, args.json, io)
    return EXIT.ok
  },
})
