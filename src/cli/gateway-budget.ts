// `budget`: what the whole gateway may use, where the configuration does not say it.

import { GATEWAY } from '../keys/budget.ts'
import { BACKEND_FLAGS } from './backend.ts'
import { BUDGET, readBudget } from './budget.ts'
import { command } from './command.ts'
import { JSON_FLAG } from './data.ts'
import { usageError } from './io.ts'
import { openPeople } from './open-people.ts'
import { budgetCommand } from './people.ts'

export const budget = command({
  name: 'budget',
  summary: 'Show what the whole gateway may use, or set it',
  args: {
    budget: { type: 'positional', required: false, description: `What it may use from now on, ${BUDGET}` },
    'warn-at': { type: 'string', valueHint: 'LIST', description: 'Percent at which it is told (80,100)' },
    ...BACKEND_FLAGS,
    ...JSON_FLAG,
  },
  examples: ['sluice budget', 'sluice budget 500usd/month --warn-at 50,80,100', 'sluice budget none'],
  run: async (args, io) => {
    const { budget: written, 'warn-at': marks } = args
    if (written === undefined && marks !== undefined) throw usageError('--warn-at goes with a budget.')
    const change = written === undefined ? {} : { budget: readBudget('BUDGET', written, marks) }
    return budgetCommand(
      await openPeople(args, io),
      { id: GATEWAY, name: 'The gateway' },
      { ...change, json: args.json },
      io,
    )
  },
})
