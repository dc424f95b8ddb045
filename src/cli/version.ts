// `version`: what this binary is.

import { VERSION } from '../version.ts'
import { command } from './command.ts'
import { JSON_FLAG } from './data.ts'
import { EXIT, printJson } from './io.ts'

export const version = command({
  name: 'version',
  summary: 'Print the version',
  args: { ...JSON_FLAG },
  run: (args, io) => {
    if (args.json) printJson(io, { name: 'sluice', version: VERSION, bun: Bun.version })
    else io.out(`sluice ${VERSION}`)
    return EXIT.ok
  },
})
