// `keys rotate`: a new secret for the same key.

import { BACKEND_FLAGS } from '../backend.ts'
import { command } from '../command.ts'
import { JSON_FLAG } from '../data.ts'
import { EXIT } from '../io.ts'
import { openBackend } from '../open-backend.ts'
import { readGrace } from '../read.ts'
import { idOf, KEY_ID, printKey, requireUnrevoked } from './show.ts'

export const keysRotate = command({
  name: 'rotate',
  summary: 'Give a key a new secret, shown once',
  args: {
    ...KEY_ID,
    grace: {
      type: 'string',
      valueHint: 'DURATION',
      description: 'How long the old secret stays valid, such as 24h; 30d at most',
      default: '0',
    },
    ...BACKEND_FLAGS,
    ...JSON_FLAG,
  },
  examples: ['sluice keys rotate key_8Fq… --grace 24h'],
  run: async (args, io) => {
    const graceMs = readGrace('--grace', args.grace)
    const backend = await openBackend(args, io)
    const before = await backend.getKey(await idOf(backend, args.id))
    requireUnrevoked(before)
    const { key, secret } = await backend.rotateKey(before.id, graceMs)
    printKey(key, secret, args.json, io)
    if (key.old_secret_until !== null) io.err(`The old key stays valid until ${key.old_secret_until}.`)
    if (before.old_secret_until !== null)
      io.err(`note: an older key, valid until ${before.old_secret_until}, has ended.`)
    return EXIT.ok
  },
})
