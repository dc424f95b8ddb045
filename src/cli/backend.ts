// What commands work on: the data directory, or a running server by its admin API. Both give the admin API's shapes.

import type { JsonObject } from '../ir/json.ts'
import type { ServerToolCalls } from '../ir/server-tools.ts'
import type { BudgetTerms } from '../keys/budget.ts'
import type { Captured } from '../keys/key.ts'
import type { Renewal } from '../keys/renewal.ts'
import type { ServerTools } from '../keys/server-tools.ts'
import type { Calendar } from '../lib/calendar.ts'
import type { ShownKey, ShownModel, ShownSums } from '../observe/shown.ts'
import type { UsageQuery } from '../store/usage.ts'
import { DATA_FLAGS } from './data.ts'
import { type Io, usageError } from './io.ts'

/** The secret is given this once. */
type MadeKey = { key: ShownKey; secret: string }

type Limits = { rpm?: number; tpm?: number; concurrency?: number }
/** `models`: names as they were typed. `renews` null: never. What is absent is as new keys get it. */
export type NewKey = Limits & {
  label: string
  tokensTotal?: number
  renews?: Renewal | null
  expiresAt?: number
  models?: string[]
  serverTools?: ServerTools
  /** Null: anywhere. */
  ips?: string[] | null
  /** Null: nothing. */
  capture?: Captured | null
  budget?: BudgetTerms | null
}
/** Absent members stay as they are; a limit of null takes the gateway's default. */
export type KeyChange = Partial<Omit<NewKey, keyof Limits>> & { [name in keyof Limits]?: number | null } & {
  addTokens?: number
  lasting?: boolean
  /** The name of this top-up, which is then made once. */
  once?: string | undefined
  resetUsage?: boolean
}

/** `since`: from when it counts, which may be earlier than was asked for; null: from the beginning. */
type ShownUsage = {
  since: string | null
  rows: (ShownSums & {
    group: string
    label: string
    day?: string
    owner?: string | null
    server_tools?: ServerToolCalls
  })[]
  khr_per_usd: number
  time_zone: string
  time_zone_since: string | null
  time_zone_before: string | null
}

export type ShownModels = {
  items: ShownModel[]
  aliases: Record<string, string>
  brands: { neutral: string; branded: string }[]
}

/** What prices are set by. `presetOf`: by provider. `kept`: models that stand beside the file, by id; `inFile`: those it names. */
export type Priced = {
  models: ShownModel[]
  brands: ShownModels['brands']
  presetOf: Readonly<Record<string, string>>
  kept: Readonly<Record<string, JsonObject>>
  inFile: readonly string[]
}

/** Every method throws a Failure or UsageError of one sentence; those of one key a Failure where there is no such key. */
export type Backend = {
  /** By whose clocks dates without a time go there. */
  calendar(): Promise<Calendar>
  createKey(input: NewKey): Promise<MadeKey>
  /** Oldest first. */
  listKeys(): Promise<ShownKey[]>
  getKey(id: string): Promise<ShownKey>
  updateKey(id: string, change: KeyChange): Promise<ShownKey>
  revokeKey(id: string): Promise<ShownKey>
  rotateKey(id: string, graceMs: number): Promise<MadeKey>
  /** `keyId` absent: every key. */
  usage(query: Omit<UsageQuery, 'keyIds'> & { keyId?: string | undefined }): Promise<ShownUsage>
  models(): Promise<ShownModels>
  priced(): Promise<Priced>
  /** In force at once, beside the file. */
  setModels(models: readonly { name: string; value: object }[]): Promise<void>
}

export const noSuchKey = (id: string): string => `There is no key "${id}"; "sluice keys list" shows them.`

const SERVER_FLAGS = {
  server: {
    type: 'string',
    valueHint: 'URL',
    description: 'Work on a running server instead of a data directory (SLUICE_SERVER)',
  },
  token: {
    type: 'string',
    valueHint: 'TOKEN',
    description: 'Admin token for --server, made in the dashboard (SLUICE_TOKEN)',
  },
} as const

/** The flags of what only a running server knows or does. */
export const RUNNING_FLAGS = {
  ...SERVER_FLAGS,
  server: { ...SERVER_FLAGS.server, description: 'Address of the server (SLUICE_SERVER)' },
} as const

/** The flags of every command that takes either. */
export const BACKEND_FLAGS = { ...DATA_FLAGS, ...SERVER_FLAGS } as const

export type Where = {
  config?: string | undefined
  data?: string | undefined
  server?: string | undefined
  token?: string | undefined
}
/** A server's address, without a slash at its end, and the token for it. */
export type ServerAddress = { url: string; token: string }

/** Undefined: this machine. Throws a UsageError for what cannot be a server's address, or has no token. */
export const serverAddress = ({ server, token, config, data }: Where, io: Io): ServerAddress | undefined => {
  const local = config !== undefined ? '--config' : data !== undefined ? '--data' : undefined
  if (server !== undefined && local !== undefined) throw usageError(`--server and ${local} cannot be used together.`)
  if (local !== undefined && token !== undefined) throw usageError(`--token and ${local} cannot be used together.`)
  const written = local === undefined ? (server ?? (io.env.SLUICE_SERVER || undefined)) : undefined
  if (written === undefined) {
    if (token !== undefined) throw usageError('--token needs --server: the address of the gateway it is for.')
    return undefined
  }
  const url = addressIn(written)
  if (url === undefined) {
    const flag = server === undefined ? 'SLUICE_SERVER' : '--server'
    // An address may hold a password: it is not repeated.
    throw usageError(
      `${flag} must be the address of a gateway without a user or password, such as http://127.0.0.1:8080.`,
    )
  }
  const secret = token ?? io.env.SLUICE_TOKEN
  if (secret === undefined || secret === '') {
    throw usageError('--token or SLUICE_TOKEN is needed with a server: an admin token, made in the dashboard.')
  }
  // What a header cannot carry is no token.
  if (!/^[\x21-\x7e]+$/.test(secret)) throw usageError('The token has characters that no admin token has.')
  return { url, token: secret }
}

/** `does`: what only a running server does. */
export const runningServer = (args: Where, io: Io, does: string): ServerAddress => {
  const address = serverAddress(args, io)
  if (address !== undefined) return address
  const how = 'give its address with --server (SLUICE_SERVER), and an admin token with --token (SLUICE_TOKEN).'
  throw usageError(`Only a running server ${does}: ${how}`)
}

/**
 * A gateway's address, without a slash at its end; undefined for what is none. The two that a server prints at its start
 * are taken for the server's own.
 */
export const addressIn = (text: string): string | undefined => {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username + url.password !== '') return undefined
  return url.origin + url.pathname.replace(/\/+$/, '').replace(/\/(v1|dashboard)$/, '')
}
