// A running server as a backend: the admin API with an admin token, and its failures in sentences for whoever typed.

import { Value } from '@sinclair/typebox/value'
import { CONTRACT, type Contract } from '../admin-api/contract.ts'
import { type Answer, type Ask, adminRequest } from '../admin-api/request.ts'
import type { RouteName } from '../admin-api/routes.ts'
import type { Account, AlertReceiver, AlertTest } from '../admin-api/schema.ts'
import { type JsonObject, parseJson } from '../ir/json.ts'
import { writtenBudget } from '../keys/budget.ts'
import { calendarOf, UTC } from '../lib/calendar.ts'
import { iso } from '../lib/iso-time.ts'
import type { ShownKey } from '../observe/shown.ts'
import { VERSION } from '../version.ts'
import { type Backend, type KeyChange, noSuchKey, type ServerAddress } from './backend.ts'
import { failure, usageError } from './io.ts'
import { type Reply, reach, refusalIn, TIMEOUT_MS } from './reach.ts'
import { inert } from './table.ts'

/** Keys in one answer: the most the API gives. */
const PAGE = 200

/** What a key has captured, in the API's word. */
const NOTHING = 'none' as const

/** A key's wishes in the API's words. */
const writtenKey = <Wish extends Pick<KeyChange, 'tokensTotal' | 'expiresAt' | 'serverTools' | 'capture' | 'budget'>>({
  tokensTotal,
  expiresAt,
  serverTools,
  capture,
  budget,
  ...rest
}: Wish) => ({
  ...rest,
  ...(tokensTotal === undefined ? {} : { tokens_total: tokensTotal }),
  ...(expiresAt === undefined ? {} : { expires_at: iso(expiresAt) }),
  ...(serverTools === undefined ? {} : { server_tools: serverTools }),
  ...(capture === undefined ? {} : { capture: capture ?? NOTHING }),
  ...(budget === undefined ? {} : { budget: budget && writtenBudget(budget) }),
})

export const remoteBackend = (address: ServerAddress): Backend => {
  const call = <N extends RouteName>(name: N, input?: Ask<N>): Promise<Answer<N>> => remoteCall(address, name, input)
  return {
    calendar: async () => calendarOf((await call('session.get')).time_zone ?? UTC.zone) ?? UTC,
    createKey: (wish) => call('keys.create', writtenKey(wish)),
    async listKeys() {
      const keys: ShownKey[] = []
      for (;;) {
        const page = await call('keys.list', { sort: 'created_at', order: 'asc', limit: PAGE, offset: keys.length })
        keys.push(...page.items)
        if (page.items.length < PAGE || keys.length >= page.total) return keys
      }
    },
    getKey: (id) => call('keys.get', { id }),
    // One call for each kind of change: the API adds tokens by itself, so that two who top up do not undo each other. They
    // are added last: what fails before can be asked for again, and is not added twice.
    async updateKey(id, { addTokens, lasting = false, once, resetUsage, ...wish }) {
      const change = writtenKey(wish)
      let key: ShownKey | undefined
      if (Object.keys(change).length > 0) key = await call('keys.update', { id, ...change })
      if (resetUsage) key = await call('keys.reset', { id })
      if (addTokens !== undefined && addTokens > 0)
        key = await remoteCall(address, 'keys.top-up', { id, tokens: addTokens, lasting }, once)
      return key ?? (await call('keys.get', { id }))
    },
    revokeKey: (id) => call('keys.revoke', { id }),
    rotateKey: (id, graceMs) => call('keys.rotate', { id, grace_seconds: Math.ceil(graceMs / 1000) }),
    usage: ({ by, daily, sinceMs, untilMs, keyId }) =>
      call('usage.table', {
        by,
        ...(daily ? { daily } : {}),
        ...(sinceMs === undefined ? {} : { since: iso(sinceMs) }),
        ...(untilMs === undefined ? {} : { until: iso(untilMs) }),
        ...(keyId === undefined ? {} : { key: keyId }),
      }),
    models: () => call('models.list'),
    async priced() {
      const [{ items, brands }, entries, accounts] = await Promise.all([
        call('models.list'),
        call('entries.list', { section: 'models' }),
        call('accounts.list'),
      ])
      const kept = entries.items.filter(({ managed }) => managed === 'store')
      return {
        ...{ models: items, brands },
        presetOf: Object.fromEntries(
          accounts.items.flatMap(({ provider, preset }) => (preset === null ? [] : [[provider, preset]])),
        ),
        kept: Object.fromEntries(kept.map(({ name, value }) => [name, value as JsonObject])),
        inFile: entries.items.filter(({ managed }) => managed === 'file').map(({ name }) => name),
      }
    },
    async setModels(models) {
      for (const { name, value } of models) await call('entries.put', { section: 'models', name, value })
    },
  }
}

/** Accounts live in the server alone: which are kept away is known to the process that calls them. */
export const remoteAccounts = async (address: ServerAddress): Promise<Account[]> =>
  (await remoteCall(address, 'accounts.list')).items

export const remoteReceivers = async (address: ServerAddress): Promise<AlertReceiver[]> =>
  (await remoteCall(address, 'alerts.list')).items

/** `receiver` undefined: all of them. */
export const testReceivers = async (address: ServerAddress, receiver?: string): Promise<AlertTest[]> =>
  (await remoteCall(address, 'alerts.test', receiver === undefined ? {} : { receiver })).items

/** One call of the admin API, its failures in sentences. */
export const remoteCall = async <N extends RouteName>(
  address: ServerAddress,
  name: N,
  input?: Ask<N>,
  once?: string,
): Promise<Answer<N>> => {
  const { status, body, location } = await send(address, name, input, once)
  const { output }: Contract = CONTRACT[name]
  if (status === 200 && Value.Check(output, body)) return body as Answer<N>
  if (location !== undefined) {
    throw failure(`${address.url} sends callers elsewhere (${status}); give --server the address it leads to.`)
  }
  const refused = refusalIn(body)
  if (status === 401) {
    throw failure(
      'The server refuses the token: it is wrong, revoked or expired, or whoever made it is no admin now. Make a new one in the dashboard, under Settings.',
    )
  }
  const key = keyOf(input)
  if (status === 404 && refused?.code === 'not_found' && OF_OTHERS.test(name)) throw failure(refused.message)
  if (status === 404 && refused?.code === 'not_found' && key !== undefined) throw failure(noSuchKey(key))
  if (status === 400 && refused !== undefined) throw usageError(refused.message)
  if (refused !== undefined && status !== 404 && status !== 405) throw failure(refused.message)
  throw failure(await mismatch(address, status))
}

/** What is about something else than a key. */
const OF_OTHERS = /^(?:accounts|entries|members|teams|budgets)\./

const send = <N extends RouteName>(
  { url, token }: ServerAddress,
  name: N,
  input?: Ask<N>,
  once?: string,
): Promise<Reply> => {
  const { method, path, body } = adminRequest(name, input)
  return reach(url, path, { method, secret: token, body, once })
}

/** The key that was asked for or about. */
const keyOf = (input: { id?: string; key?: string } = {}): string | undefined => input.id ?? input.key

/** Why an answer is none we know: another version, or no gateway at all. */
const mismatch = async (address: ServerAddress, status: number): Promise<string> => {
  const { body } = await send(address, 'session.get').catch(() => ({ body: undefined }))
  const version = (body as { version?: unknown } | undefined)?.version
  if (version === undefined && (await isGateway(address)))
    return `The gateway at ${address.url} has its admin API elsewhere (admin.listen or admin.hosts in its configuration): give --server the address of its dashboard.`
  return typeof version === 'string' && version !== ''
    ? `The gateway at ${address.url} runs sluice ${inert(version).slice(0, 40)} and does not know this command as sluice ${VERSION} does; use the same version on both sides.`
    : `What answers at ${address.url} (${status}) is no sluice gateway, or one too old for --server.`
}

/** Whether it serves the client API, whatever else it does not. */
const isGateway = async ({ url }: ServerAddress): Promise<boolean> => {
  try {
    const answer = await fetch(`${url}/v1`, { redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) })
    const found = parseJson(await answer.text()) as { object?: unknown; name?: unknown } | undefined
    return found?.object === 'gateway' && found.name === 'sluice'
  } catch {
    return false
  }
}
