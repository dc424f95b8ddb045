// `accounts`: the credentials at providers as the running server finds them, and which of them rest.

import { HEALTH } from '../admin-api/health.ts'
import type { Account } from '../admin-api/schema.ts'
import { accountsAdd, accountsRemove, accountsReseal, accountsTest, accountsUpdate } from './accounts-change.ts'
import { NO_ACCOUNT } from './asked.ts'
import { RUNNING_FLAGS, runningServer } from './backend.ts'
import { command } from './command.ts'
import { JSON_FLAG } from './data.ts'
import { EXIT, printJson } from './io.ts'
import { columns, grouped } from './table.ts'

export const accounts = command({
  name: 'accounts',
  summary: 'Health of the accounts',
  args: { ...RUNNING_FLAGS, ...JSON_FLAG },
  below: [accountsAdd, accountsUpdate, accountsRemove, accountsTest, accountsReseal],
  examples: ['sluice accounts --server https://gateway.example --token sl-admin-…'],
  run: async (args, io) => {
    const address = runningServer(args, io, 'knows the health of its accounts')
    const { remoteAccounts } = await import('./remote.ts')
    const items = await remoteAccounts(address)
    if (args.json) printJson(io, items)
    else if (items.length === 0) io.out(NO_ACCOUNT)
    else io.out(accountLines(items).join('\n'))
    return EXIT.ok
  },
})

const inWords = ({ what, upstream }: NonNullable<Account['models'][number]['trouble']>): string =>
  what === 'no_money' ? 'out of money' : `unknown there as ${upstream}`

const accountLines = (items: Account[]): string[] => {
  const rows = items.map((account) => [
    account.provider,
    account.name,
    HEALTH[account.state],
    account.models
      .filter(({ state, trouble }) => state !== 'closed' || trouble !== null)
      .map(({ model, state, trouble }) => `${model} ${trouble === null ? HEALTH[state] : inWords(trouble)}`)
      .join(', ') || '-',
    grouped(account.in_flight),
    `${account.weight}`,
    account.wires.join(', '),
    account.base_url,
  ])
  const head = ['PROVIDER', 'ACCOUNT', 'STATE', 'UNHEALTHY MODELS', 'IN FLIGHT', 'WEIGHT', 'WIRES', 'BASE URL']
  return columns([head, ...rows], '', [4, 5])
}
