// `keys rotate`: a new secret for the same key.

import { command } from '../command.ts'
import { DATA_FLAGS, JSON_FLAG, requireData, withStore } from '../data.ts'
import { CLI_ACTOR, EXIT, failure } from '../io.ts'
import { readLength } from '../read.ts'
import { printKey, requireKey } from './show.ts'

export const keysRotate = command({
  name: 'rotate',
  summary: 'Give a key a new secret, shown once',
  args: {
    id: { type: 'positional', required: true, description: 'The id of the key, key_…' },
    grace: {
      type: 'string',
      valueHint: 'LENGTH',
      description: 'How long the old secret stays valid, such as 24h',
      default: '0',
    },
    ...DATA_FLAGS,
    ...JSON_FLAG,
  },
  examples: ['sluice keys rotate key_8Fq… --grace 24h'],
  run: (args, io) => {
    const graceMs = readLength('--grace', args.grace)
    return withStore(requireData(args, io), io, 'read', (store) => {
      if (requireKey(store, args.id).revokedAt !== undefined) {
        throw failure(`The key "${args.id}" is revoked; make a new one with "sluice keys create".`)
      }
      const { key, secret } = store.keys.rotate(args.id, graceMs, CLI_ACTOR)
      printKey(key, secret, args.json, io)
      if (graceMs > 0) io.err(`The old key stays valid until ${new Date(io.now() + graceMs).toISOString()}.`)
      return EXIT.ok
    })
  },
})
