// `alerts`: whom a running server tells of trouble, and how sending to them goes; `alerts test` sends them a word.

import type { AlertReceiver } from '../admin-api/schema.ts'
import { SERVER_FLAGS, type ServerAddress, serverAddress } from './backend.ts'
import { command } from './command.ts'
import { JSON_FLAG } from './data.ts'
import { EXIT, type Io, printJson, usageError } from './io.ts'
import { columns, grouped } from './table.ts'

const FLAGS = {
  ...SERVER_FLAGS,
  server: { ...SERVER_FLAGS.server, description: 'Address of the server (SLUICE_SERVER)' },
  ...JSON_FLAG,
} as const

const addressIn = (args: { server?: string | undefined; token?: string | undefined }, io: Io): ServerAddress => {
  const address = serverAddress(args, io)
  if (address !== undefined) return address
  throw usageError(
    'Only a running server sends alerts: give its address with --server (SLUICE_SERVER), and an admin token with --token (SLUICE_TOKEN).',
  )
}

const test = command({
  name: 'test',
  summary: 'Send a test to a receiver of alerts, or to all of them',
  args: { receiver: { type: 'positional', required: false, description: 'Its name in the configuration' }, ...FLAGS },
  examples: ['sluice alerts test pager'],
  run: async (args, io) => {
    const address = addressIn(args, io)
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
    const address = addressIn(args, io)
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
