// `keys update`: what is named changes, the rest stays.

import { isOnceName } from '../../keys/check.ts'
import { BACKEND_FLAGS, type KeyChange } from '../backend.ts'
import { BUDGET_FLAGS, readBudgetFlags } from '../budget.ts'
import { command } from '../command.ts'
import { JSON_FLAG } from '../data.ts'
import { EXIT, usageError } from '../io.ts'
import { openBackend } from '../open-backend.ts'
import { readCount, readExpiry, readLabel, readRenewal } from '../read.ts'
import {
  CAPTURE_CHANGE_FLAG,
  IPS_CHANGE_FLAG,
  LIMIT_CHANGE_FLAGS,
  RENEWS,
  readLimitChanges,
  readUse,
  SERVER_TOOLS_FLAG,
  USE_WORDS,
} from './limit-flags.ts'
import { idOf, KEY_ID, printKey, requireUnrevoked } from './show.ts'

const readOnce = (name: string | undefined): string | undefined => {
  if (name === undefined || isOnceName(name)) return name
  throw usageError('--once must be 1 to 255 characters of ASCII.')
}

export const keysUpdate = command({
  name: 'update',
  summary: 'Change a key; takes effect in a running server within a second',
  args: {
    ...KEY_ID,
    label: { type: 'string', valueHint: 'NAME', description: 'New name' },
    tokens: { type: 'string', valueHint: 'N', description: 'New token quota' },
    'add-tokens': {
      type: 'string',
      valueHint: 'N',
      description: 'Tokens to add to the quota; of one that renews, for this period alone',
    },
    lasting: { type: 'boolean', description: 'With --add-tokens: for every period to come as well' },
    once: {
      type: 'string',
      valueHint: 'NAME',
      description: 'With --add-tokens: a name for it, by which a command that is repeated adds nothing more',
    },
    renews: { type: 'string', valueHint: 'WHEN', description: RENEWS },
    expires: {
      type: 'string',
      valueHint: 'WHEN',
      description: 'Date (its end), ISO time, or a duration from now such as 90d',
    },
    models: { type: 'string', valueHint: 'LIST', description: 'Model ids separated by commas; * for every model' },
    ...SERVER_TOOLS_FLAG,
    ...IPS_CHANGE_FLAG,
    ...CAPTURE_CHANGE_FLAG,
    ...BUDGET_FLAGS,
    ...LIMIT_CHANGE_FLAGS,
    'reset-usage': { type: 'boolean', description: 'Set the used tokens back to 0' },
    ...BACKEND_FLAGS,
    ...JSON_FLAG,
  },
  words: USE_WORDS,
  examples: [
    'sluice keys update key_8Fq… --add-tokens 1000000',
    'sluice keys update key_8Fq… --add-tokens 1000000 --once invoice-2026-09',
    'sluice keys update key_8Fq… --expires 30d --rpm 120',
  ],
  run: async (args, io) => {
    const { label, tokens, renews, expires } = args
    const addTokens = readCount('--add-tokens', args['add-tokens'])
    if (tokens !== undefined && addTokens !== undefined)
      throw usageError('--tokens and --add-tokens cannot be used together.')
    if (args.lasting && addTokens === undefined) throw usageError('--lasting goes with --add-tokens.')
    const once = readOnce(args.once)
    const total = readCount('--tokens', tokens)
    const backend = await openBackend(args, io)
    const change: KeyChange = {
      ...readLimitChanges(args),
      ...readBudgetFlags(args),
      ...(label === undefined ? {} : { label: readLabel('--label', label, 'must not be empty.') }),
      ...(total === undefined ? {} : { tokensTotal: total }),
      ...(renews === undefined ? {} : { renews: readRenewal('--renews', renews) }),
      ...(expires === undefined
        ? {}
        : { expiresAt: readExpiry('--expires', expires, io.now(), await backend.calendar()) }),
      ...readUse(args),
      ...(addTokens === undefined ? {} : { addTokens }),
      ...(args.lasting ? { lasting: true } : {}),
      ...(args['reset-usage'] ? { resetUsage: true } : {}),
    }
    const others = Object.keys(change).filter((name) => name !== 'addTokens' && name !== 'lasting')
    if (once !== undefined && (addTokens === undefined || others.length > 0))
      throw usageError('--once goes with --add-tokens alone: make other changes by a command of their own.')
    if (Object.keys(change).length === 0) {
      throw usageError('Nothing to change: name at least one flag; "sluice keys update --help" lists them.')
    }
    const id = await idOf(backend, args.id)
    requireUnrevoked(await backend.getKey(id))
    printKey(await backend.updateKey(id, { ...change, once }), undefined, args.json, io)
    return EXIT.ok
  },
})
