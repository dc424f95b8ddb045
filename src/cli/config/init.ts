// `config init`: a commented configuration to start from.

import { writeFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { sampleFor } from '../../config/sample.ts'
import { reasonOf } from '../../config/secret.ts'
import { nearest } from '../../lib/nearest.ts'
import type { Preset } from '../../provider/preset.ts'
import { PRESETS, presetNamed } from '../../provider/presets/index.ts'
import { command } from '../command.ts'
import { JSON_FLAG } from '../data.ts'
import { EXIT, failure, printJson, usageError } from '../io.ts'

const PRESET_NAMES = PRESETS.map(({ name }) => name)

export const configInit = command({
  name: 'init',
  summary: 'Write a commented sluice.yaml',
  args: {
    file: { type: 'positional', description: 'File to write', default: 'sluice.yaml', required: false },
    preset: {
      type: 'string',
      valueHint: 'A,B',
      description: `Vendors and servers it is to name, of ${PRESET_NAMES.join(', ')}`,
    },
    force: { type: 'boolean', description: 'Overwrite an existing file' },
    ...JSON_FLAG,
  },
  words: { preset: PRESET_NAMES },
  examples: ['sluice config init --preset anthropic,openai'],
  run: (args, io) => {
    const path = resolve(io.cwd, args.file)
    const text = sampleFor(presetsOf(args.preset))
    try {
      writeFileSync(path, text, { flag: args.force ? 'w' : 'wx' })
    } catch (error) {
      if (reasonOf(error) === 'EEXIST') throw failure(`${path} already exists; --force overwrites it.`)
      throw failure(`${path} cannot be written (${reasonOf(error)}).`)
    }
    if (args.json) printJson(io, { file: path })
    else io.err(`${path} is written; "sluice config check" tells whether it is complete.`)
    return EXIT.ok
  },
})

const presetsOf = (names: string | undefined): Preset[] =>
  [...new Set(names?.split(',').map((name) => name.trim()))].map((name) => {
    const preset = presetNamed(name)
    if (preset !== undefined) return preset
    const near = nearest(name, PRESET_NAMES)
    const hint = near === undefined ? '' : `; did you mean "${near}"?`
    throw usageError(`--preset: found "${name}", allowed: ${PRESET_NAMES.join(', ')}${hint}`)
  })
