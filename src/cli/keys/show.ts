// A key as the command line shows it, and `keys show`.

import type { Key } from '../../keys/key.ts'
import { statusOf } from '../../keys/status.ts'
import type { Store } from '../../store/store.ts'
import { command } from '../command.ts'
import { DATA_FLAGS, JSON_FLAG, requireData, withStore } from '../data.ts'
import { EXIT, failure, type Io, printJson } from '../io.ts'
import { columns, grouped } from '../table.ts'

/** A key as JSON; `rpm`, `tpm` and `concurrency` are null where the gateway's default applies. */
export const keyJson = (key: Key, now: number) => ({
  id: key.id,
  label: key.label,
  tokens_total: key.tokensTotal,
  tokens_used: key.tokensUsed,
  tokens_remaining: Math.max(0, key.tokensTotal - key.tokensUsed),
  expires_at: new Date(key.expiresAt).toISOString(),
  models: key.models,
  rpm: key.rpm ?? null,
  tpm: key.tpm ?? null,
  concurrency: key.concurrency ?? null,
  status: statusOf(key, now),
  created_at: new Date(key.createdAt).toISOString(),
})

/** Prints one key; `secret` is given where it has just been made, with the one note that matters. */
export const printKey = (key: Key, secret: string | undefined, json: boolean | undefined, io: Io): void => {
  const shown = keyJson(key, io.now())
  if (json) {
    const { id, ...rest } = shown
    printJson(io, secret === undefined ? shown : { id, key: secret, ...rest })
    return
  }
  const limit = (value: number | undefined) => (value === undefined ? 'default' : value === 0 ? 'none' : grouped(value))
  const rows = [
    ['id', key.id],
    ...(secret === undefined ? [] : [['key', secret]]),
    ['label', key.label],
    ['status', shown.status],
    [
      'tokens',
      `${grouped(key.tokensUsed)} of ${grouped(key.tokensTotal)} used, ${grouped(shown.tokens_remaining)} left`,
    ],
    ['expires', shown.expires_at],
    ['models', key.models.join(', ')],
    ['limits', `rpm ${limit(key.rpm)}, tpm ${limit(key.tpm)}, concurrency ${limit(key.concurrency)}`],
    ['created', shown.created_at],
  ]
  io.out(columns(rows).join('\n'))
  if (secret !== undefined) io.err('Keep the key now: it is not stored and is not shown again.')
}

/** The key, or a Failure that says there is none. */
export const requireKey = (store: Store, id: string): Key => {
  const key = store.keys.get(id)
  if (key) return key
  throw failure(`There is no key "${id}"; "sluice keys list" shows them.`)
}

export const keysShow = command({
  name: 'show',
  summary: 'Show one key',
  args: {
    id: { type: 'positional', required: true, description: 'The id of the key, key_…' },
    ...DATA_FLAGS,
    ...JSON_FLAG,
  },
  run: (args, io) =>
    withStore(requireData(args, io), io, 'read', (store) => {
      printKey(requireKey(store, args.id), undefined, args.json, io)
      return EXIT.ok
    }),
})
