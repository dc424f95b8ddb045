// `keys revoke`: the end of a key.

import { command } from '../command.ts'
import { DATA_FLAGS, JSON_FLAG, requireData, withStore } from '../data.ts'
import { CLI_ACTOR, EXIT } from '../io.ts'
import { printKey, requireKey } from './show.ts'

export const keysRevoke = command({
  name: 'revoke',
  summary: 'End a key for good; in force in a running server within a second',
  args: {
    id: { type: 'positional', required: true, description: 'The id of the key, key_…' },
    ...DATA_FLAGS,
    ...JSON_FLAG,
  },
  run: (args, io) =>
    withStore(requireData(args, io), io, 'read', (store) => {
      requireKey(store, args.id)
      printKey(store.keys.revoke(args.id, CLI_ACTOR), undefined, args.json, io)
      return EXIT.ok
    }),
})
