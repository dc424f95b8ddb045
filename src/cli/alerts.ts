// `alerts`: whom a running server tells of trouble, and how sending to them goes; `alerts test` sends them a word.

import type { AlertReceiver } from '../admin-api/schema.ts'
import { RUNNING_FLAGS, runningServer } from './backend.ts'
import { command } from './command.ts'
import { JSON_FLAG } from './data.ts'
import { EXIT, printJson } from './io.ts'
import { columns, grouped } from './table.ts'

const FLAGS = { ...RUNNING_FLAGS, ...JSON_FLAG } as const
const DOES = 'sends alerts'

const test = command({
  name: 'test',
  summary: 'Send a test to a receiver of alerts, or to all of them',
  args: { receiver: { type: 'positional', required: false, description: 'Its name in the configuration' }, ...FLAGS },
  examples: ['sluice alerts test pager'],
  run: async (args, io) => {
    const address = runningServer(args, io, DOES)
    const { testReceivers } = await import('./remote.ts')
    const items = await testReceivers(address, args.receiver)
    if (args.json) printJson(io, items)
    else for (const { receiver, words } of items) io.out(`${receiver}: ${words}`)
    return items.every(({ ok }) => ok) ? EXIT.ok : EXIT.failed
  },
})

export const alerts = command({
  name: 'alerts',
  summary: 'Who is told of trouble by a running server',
  args: FLAGS,
  below: [test],
  examples: ['sluice alerts --server https://gateway.example --token sl-admin-…'],
  run: async (args, io) => {
    const address = runningServer(args, io, DOES)
    const { remoteReceivers } = await import('./remote.ts')
    const items = await remoteReceivers(address)
    if (args.json) printJson(io, items)
    else if (items.length === 0) io.out('The configuration names nobody: write alerts.webhooks or alerts.email in it.')
    else io.out(receiverLines(items).join('\n'))
    return EXIT.ok
  },
})

const receiverLines = (items: AlertReceiver[]): string[] => {
  const rows = items.map(({ name, kind, format, to, only, waiting, sent_at, failing }) => [
    ...[name, format ?? kind, to, only?.join(', ') ?? 'everything', grouped(waiting)],
    failing === null ? (sent_at ?? '-') : `fails since ${failing.since}: ${failing.words}`,
  ])
  return columns([['RECEIVER', 'KIND', 'TO', 'TOLD OF', 'WAITING', 'LAST SENT'], ...rows], '', [4])
}
