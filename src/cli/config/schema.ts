// `config schema`: the JSON Schema of the configuration file, for editors.

import { configJsonSchema } from '../../config/schema.ts'
import { command } from '../command.ts'
import { JSON_FLAG } from '../data.ts'
import { EXIT, printJson } from '../io.ts'

export const configSchema = command({
  name: 'schema',
  summary: 'Print the JSON Schema of the configuration file',
  args: { ...JSON_FLAG },
  examples: ['sluice config schema > sluice.schema.json'],
  run: (_args, io) => {
    printJson(io, configJsonSchema())
    return EXIT.ok
  },
})
