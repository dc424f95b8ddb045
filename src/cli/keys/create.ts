// `keys create`: a new key, its secret shown once.

import { BACKEND_FLAGS } from '../backend.ts'
import { BUDGET_FLAGS, readBudgetFlags } from '../budget.ts'
import { command } from '../command.ts'
import { JSON_FLAG } from '../data.ts'
import { EXIT } from '../io.ts'
import { openBackend } from '../open-backend.ts'
import { readCount, readExpiry, readLabel, readRenewal } from '../read.ts'
import {
  CAPTURE_FLAG,
  IPS_FLAG,
  LIMIT_FLAGS,
  RENEWS,
  readLimits,
  readUse,
  SERVER_TOOLS_FLAG,
  USE_WORDS,
} from './limit-flags.ts'
import { printKey } from './show.ts'

export const keysCreate = command({
  name: 'create',
  meant: 'label',
  summary: 'Create a key; its secret is shown once',
  args: {
    label: { type: 'string', valueHint: 'NAME', description: 'Name of the key (required)' },
    tokens: {
      type: 'string',
      valueHint: 'N',
      description: 'Token quota, such as 500k or 1_000_000 (default 1M, or as set in the dashboard)',
    },
    renews: { type: 'string', valueHint: 'WHEN', description: RENEWS, default: 'never' },
    expires: {
      type: 'string',
      valueHint: 'WHEN',
      description: 'Date (its end), ISO time, or a duration such as 90d or 12h (default 365d, or as set there)',
    },
    models: {
      type: 'string',
      valueHint: 'LIST',
      description: 'Model ids separated by commas; * for every model (default *, or as set there)',
    },
    ...SERVER_TOOLS_FLAG,
    ...IPS_FLAG,
    ...CAPTURE_FLAG,
    ...BUDGET_FLAGS,
    ...LIMIT_FLAGS,
    ...BACKEND_FLAGS,
    ...JSON_FLAG,
  },
  words: USE_WORDS,
  examples: [
    'sluice keys create --label alice --tokens 5M --expires 90d',
    'sluice keys create --label bob --tokens 20M --renews month',
    'sluice keys create --label trial --budget 5usd/week',
    "sluice keys create --label ci --models 'vendorA-haiku-4-5,vendorB-*' --rpm 60 --json",
  ],
  run: async (args, io) => {
    const label = readLabel('--label', args.label ?? '', 'is required: the name of the key.')
    const backend = await openBackend(args, io)
    const { expires } = args
    const tokensTotal = readCount('--tokens', args.tokens)
    const { key, secret } = await backend.createKey({
      label,
      renews: readRenewal('--renews', args.renews),
      ...(tokensTotal === undefined ? {} : { tokensTotal }),
      ...(expires === undefined
        ? {}
        : { expiresAt: readExpiry('--expires', expires, io.now(), await backend.calendar()) }),
      ...readUse(args),
      ...readLimits(args),
      ...readBudgetFlags(args),
    })
    printKey(key, secret, args.json, io)
    return EXIT.ok
  },
})
