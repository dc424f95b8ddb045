// `config init`: a commented configuration to start from.

import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { SAMPLE } from '../../config/sample.ts'
import { reasonOf } from '../../config/secret.ts'
import { command } from '../command.ts'
import { JSON_FLAG } from '../data.ts'
import { EXIT, failure, printJson } from '../io.ts'

export const configInit = command({
  name: 'init',
  summary: 'Write a commented sluice.yaml',
  args: {
    file: { type: 'positional', description: 'File to write', default: 'sluice.yaml', required: false },
    force: { type: 'boolean', description: 'Overwrite an existing file' },
    ...JSON_FLAG,
  },
  run: (args, io) => {
    const path = resolve(io.cwd, args.file)
    try {
      writeFileSync(path, SAMPLE, { flag: args.force ? 'w' : 'wx' })
    } catch (error) {
      if (reasonOf(error) === 'EEXIST') throw failure(`${path} already exists; --force overwrites it.`)
      throw failure(`${path} cannot be written (${reasonOf(error)}).`)
    }
    if (args.json) printJson(io, { file: path })
    else io.err(`${path} is written; "sluice config check" tells whether it is complete.`)
    return EXIT.ok
  },
})
