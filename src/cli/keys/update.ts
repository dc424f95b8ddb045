// `keys update`: what is named changes, the rest stays.

import type { KeyPatch } from '../../keys/key.ts'
import { command } from '../command.ts'
import { DATA_FLAGS, JSON_FLAG, requireData, withStore } from '../data.ts'
import { CLI_ACTOR, EXIT, usageError } from '../io.ts'
import { readCount, readExpiry, readModels } from '../read.ts'
import { LIMIT_FLAGS, readLimits } from './limit-flags.ts'
import { printKey, requireKey } from './show.ts'

export const keysUpdate = command({
  name: 'update',
  summary: 'Change a key; in force in a running server within a second',
  args: {
    id: { type: 'positional', required: true, description: 'The id of the key, key_…' },
    label: { type: 'string', valueHint: 'L', description: 'New name' },
    tokens: { type: 'string', valueHint: 'N', description: 'New token quota in all' },
    'add-tokens': { type: 'string', valueHint: 'N', description: 'Tokens added to the quota' },
    expires: { type: 'string', valueHint: 'WHEN', description: 'ISO time, or a length from now such as 90d' },
    models: { type: 'string', valueHint: 'LIST', description: 'Model ids with commas between, * for every model' },
    ...LIMIT_FLAGS,
    'reset-usage': { type: 'boolean', description: 'Count used tokens from 0 again' },
    ...DATA_FLAGS,
    ...JSON_FLAG,
  },
  examples: ['sluice keys update key_8Fq… --add-tokens 1000000', 'sluice keys update key_8Fq… --expires 30d --rpm 120'],
  run: (args, io) => {
    const { label, tokens, expires, models } = args
    const added = readCount('--add-tokens', args['add-tokens'])
    if (tokens !== undefined && added !== undefined) throw usageError('--tokens and --add-tokens exclude each other.')
    if (label !== undefined && label.trim() === '') throw usageError('--label: found an empty text, allowed: a name.')
    const config = requireData(args, io)
    const total = readCount('--tokens', tokens)
    const changes: KeyPatch = {
      ...readLimits(args),
      ...(label === undefined ? {} : { label: label.trim() }),
      ...(total === undefined ? {} : { tokensTotal: total }),
      ...(expires === undefined ? {} : { expiresAt: readExpiry('--expires', expires, io.now()) }),
      ...(models === undefined ? {} : { models: readModels('--models', models, config) }),
      ...(args['reset-usage'] ? { tokensUsed: 0 } : {}),
    }
    if (added === undefined && Object.values(changes).every((value) => value === undefined)) {
      throw usageError('Nothing to change: name at least one flag; "sluice keys update --help" lists them.')
    }
    return withStore(config, io, 'read', (store) => {
      const { tokensTotal } = requireKey(store, args.id)
      const patch = added === undefined ? changes : { ...changes, tokensTotal: tokensTotal + added }
      printKey(store.keys.update(args.id, patch, CLI_ACTOR), undefined, args.json, io)
      return EXIT.ok
    })
  },
})
