// `keys list`: every key, oldest first.

import { BACKEND_FLAGS } from '../backend.ts'
import { command } from '../command.ts'
import { JSON_FLAG } from '../data.ts'
import { EXIT, printJson } from '../io.ts'
import { openBackend } from '../open-backend.ts'
import { columns, grouped } from '../table.ts'
import { keyJson } from './show.ts'

export const keysList = command({
  name: 'list',
  summary: 'List the keys, oldest first',
  args: { ...BACKEND_FLAGS, ...JSON_FLAG },
  run: async (args, io) => {
    const shown = (await (await openBackend(args, io)).listKeys()).map(keyJson)
    if (args.json) printJson(io, shown)
    else if (shown.length === 0) io.out('There are no keys; "sluice keys create --label NAME" makes one.')
    else {
      const rows = shown.map((key) => [
        key.id,
        key.label,
        key.status,
        grouped(key.tokens_used),
        grouped(key.tokens_total),
        key.expires_at.slice(0, 10),
        key.models.join(','),
      ])
      io.out(columns([['ID', 'LABEL', 'STATUS', 'USED', 'TOTAL', 'EXPIRES', 'MODELS'], ...rows], '', [3, 4]).join('\n'))
    }
    return EXIT.ok
  },
})
