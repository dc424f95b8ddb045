// A key as the command line names and shows it, and `keys show`.

import type { ShownKey } from '../../observe/shown.ts'
import { BACKEND_FLAGS, type Backend, noSuchKey } from '../backend.ts'
import { budgetLine } from '../budget.ts'
import { command } from '../command.ts'
import { JSON_FLAG } from '../data.ts'
import { EXIT, failure, type Io, printJson } from '../io.ts'
import { openBackend } from '../open-backend.ts'
import { columns, grouped } from '../table.ts'

/** The argument that every command on one key takes. */
export const KEY_ID = {
  id: { type: 'positional', required: true, description: 'Its id (key_…) or its label, where one key alone has it' },
} as const

/** A label may begin like an id. */
const ID = /^key_[0-9A-Za-z]{16}$/

/** The id that was meant: a label is taken where one key has it, or one that is not revoked. Throws a Failure. */
export const idOf = async (backend: Backend, named: string): Promise<string> => {
  if (ID.test(named)) return named
  const same = (await backend.listKeys()).filter(({ label }) => label === named)
  const open = same.filter(({ status }) => status !== 'revoked')
  const [only, ...others] = open.length > 0 ? open : same
  if (only === undefined) throw failure(noSuchKey(named))
  if (others.length === 0) return only.id
  throw failure(
    `Several keys are called "${named}"; name one by its id: ${[only, ...others].map(({ id }) => id).join(', ')}.`,
  )
}

/** A key as JSON; `rpm`, `tpm` and `concurrency` are null where the gateway's default applies. */
export const keyJson = (key: ShownKey): ShownKey => ({
  id: key.id,
  label: key.label,
  last_four: key.last_four,
  tokens_total: key.tokens_total,
  tokens_extra: key.tokens_extra,
  tokens_used: key.tokens_used,
  tokens_remaining: key.tokens_remaining,
  renews: key.renews,
  renews_at: key.renews_at,
  expires_at: key.expires_at,
  models: key.models,
  rpm: key.rpm,
  tpm: key.tpm,
  concurrency: key.concurrency,
  server_tools: key.server_tools,
  budget: key.budget,
  ips: key.ips,
  capture: key.capture,
  old_secret_until: key.old_secret_until,
  status: key.status,
  created_at: key.created_at,
})

/** Prints one key; `secret` is given where it has just been made, with the one note that matters. */
export const printKey = (key: ShownKey, secret: string | undefined, json: boolean | undefined, io: Io): void => {
  if (json) {
    const { id, ...rest } = keyJson(key)
    printJson(io, secret === undefined ? { id, ...rest } : { id, key: secret, ...rest })
    return
  }
  const { server_tools: tools } = key
  const limit = (value: number | null) => (value === null ? 'default' : value === 0 ? 'none' : grouped(value))
  const rows = [
    ['id', key.id],
    ...(secret === undefined ? [] : [['key', secret]]),
    ['label', key.label],
    ['status', key.status],
    [
      'tokens',
      `${grouped(key.tokens_used)} of ${grouped(key.tokens_total)} used, ${grouped(key.tokens_remaining)} left`,
    ],
    ...(key.tokens_extra === 0 || key.renews_at === null
      ? []
      : [['added', `${grouped(key.tokens_extra)} of the tokens are for this period alone`]]),
    ...(key.renews_at === null ? [] : [['renews', `every ${key.renews}, next at ${key.renews_at}`]]),
    ...(key.budget === null ? [] : [['budget', budgetLine(key.budget)]]),
    ['expires', key.expires_at],
    ...(key.old_secret_until === null ? [] : [['old key', `valid until ${key.old_secret_until}`]]),
    ['models', key.models.join(', ')],
    ['limits', `rpm ${limit(key.rpm)}, tpm ${limit(key.tpm)}, concurrency ${limit(key.concurrency)}`],
    ['tools', `${typeof tools === 'string' ? tools : tools.join(', ')} at the vendor`],
    ...(key.ips === null ? [] : [['used from', key.ips.join(', ')]]),
    ...(key.capture === 'none' ? [] : [['captured', 'prompts and answers, for OpenTelemetry']]),
    ['created', key.created_at],
  ]
  io.out(columns(rows).join('\n'))
  if (secret !== undefined) io.err('Save the key now: it is not stored and will not be shown again.')
}

/** Throws a Failure: what has ended is not changed. */
export const requireUnrevoked = ({ id, status }: ShownKey): void => {
  if (status === 'revoked') throw failure(`The key "${id}" is revoked; make a new one with "sluice keys create".`)
}

export const keysShow = command({
  name: 'show',
  summary: 'Show one key',
  args: {
    ...KEY_ID,
    ...BACKEND_FLAGS,
    ...JSON_FLAG,
  },
  run: async (args, io) => {
    const backend = await openBackend(args, io)
    printKey(await backend.getKey(await idOf(backend, args.id)), undefined, args.json, io)
    return EXIT.ok
  },
})
