// `keys rotate`: a new secret for the same key.

import { iso } from '../../lib/iso-time.ts'
import { BACKEND_FLAGS, openBackend } from '../backend.ts'
import { command } from '../command.ts'
import { JSON_FLAG } from '../data.ts'
import { EXIT } from '../io.ts'
import { readGrace } from '../read.ts'
import { KEY_ID, printKey, requireUnrevoked } from './show.ts'

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
    requireUnrevoked(await backend.getKey(args.id))
    const { key, secret } = await backend.rotateKey(args.id, graceMs)
    printKey(key, secret, args.json, io)
    if (graceMs > 0) io.err(`The old key stays valid until ${iso(io.now() + graceMs)}.`)
    return EXIT.ok
  },
})
