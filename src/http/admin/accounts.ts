// The providers' accounts, how they do, and what they say when asked. Never a credential, nor what a base URL may hide of
// one.

import type * as S from '../../admin-api/schema.ts'
import { type AccountValue, accountName } from '../../entries/entries.ts'
import { GatewayError } from '../../errors.ts'
import type { Gateway } from '../../gateway.ts'
import { dayAfter } from '../../lib/calendar.ts'
import { iso, isoOrNull } from '../../lib/iso-time.ts'
import { type AccountNotes, type Accounts, createAccounts } from '../../observe/accounts.ts'
import { bareUrl } from '../../provider/endpoint.ts'
import type { Account } from '../../provider/provider.ts'
import { askAccount, type Finding } from '../../relay/asking.ts'
import { type BreakerState, type Standing, targetName } from '../../relay/health.ts'
import type { Part } from './call.ts'
import { standingView } from './models.ts'

export const accounts: Part<'accounts.list' | 'accounts.test'> = {
  'accounts.list': async ({ gateway }) => {
    const done = await doneBy(gateway)
    return { items: [...inForce(gateway, done), ...resting(gateway, done)] }
  },
  'accounts.test': async ({ gateway }, { provider: id, account: name }) => {
    const provider = gateway.providers.get(id)
    const account = provider?.accounts.find((one) => one.name === name)
    if (provider === undefined || account === undefined)
      throw new GatewayError('not_found', 'There is no such account.')
    const models = gateway.catalogue.list().filter((model) => model.provider === provider.id)
    const test = UNDER_WAY.get(account) ?? askAccount({ fetch: gateway.fetch, provider, account }, models)
    UNDER_WAY.set(account, test)
    const found = await test.finally(() => UNDER_WAY.delete(account))
    return { items: found.map(findingView) }
  },
}

/** Each test is paid for: whoever asks meanwhile waits for the same. */
const UNDER_WAY = new WeakMap<Account, Promise<Finding[]>>()

export const findingView = ({ model, upstream, ok, verdict, words }: Finding): S.Finding => ({
  ...{ model: model ?? null, upstream: upstream ?? null },
  ...{ ok, verdict, words },
})

const inForce = (gateway: Gateway, done: Done): S.Account[] =>
  [...gateway.providers.values()].flatMap((provider) =>
    provider.accounts.map((account): S.Account => {
      const models = modelsOf(gateway, provider.id, account.name)
      return {
        provider: provider.id,
        name: account.name,
        base_url: bareUrl(account.baseUrl),
        weight: account.weight,
        wires: provider.wires,
        in_flight: models.reduce((sum, { in_flight }) => sum + in_flight, 0),
        state: worst(models.map(({ state }) => state)),
        preset: provider.preset ?? null,
        problem: null,
        ...sourceView(gateway, provider.id, account.name),
        ...notesView(gateway, done, provider.id, account.name),
        models,
      }
    }),
  )

const modelsOf = ({ catalogue, health }: Gateway, provider: string, account: string): S.Account['models'] =>
  catalogue.list().flatMap(({ id: model, upstream }) => {
    const found = health.standingOf(targetName(provider, account, model))
    if (found === undefined) return []
    const { failing } = found
    return [
      {
        model,
        ...standingView(found),
        failures: failing?.times ?? 0,
        failing_since: isoOrNull(failing?.since),
        trouble: troubleView(found, upstream),
      },
    ]
  })

/** Those that are kept and not used. */
const resting = (gateway: Gateway, done: Done): S.Account[] =>
  keptAccounts(gateway).flatMap(({ value, problem, credential }): S.Account[] => {
    if (problem === undefined) return []
    const { provider: id, name, base_url, weight = 1 } = value as AccountValue
    const provider = gateway.providers.get(id)
    return [
      {
        ...{ provider: id, name, base_url: shownUrl(base_url), weight, wires: provider?.wires ?? [] },
        ...{ in_flight: 0, state: 'open', preset: provider?.preset ?? null, problem, managed: 'store' },
        credential: { kind: 'sealed', name: null, last_four: credential?.lastFour ?? null },
        ...notesView(gateway, done, id, name),
        models: [],
      },
    ]
  })

const shownUrl = (written: string): string => (URL.canParse(written) ? bareUrl(written) : '')

const keptAccounts = ({ entries }: Gateway) => entries.list().filter(({ section }) => section === 'accounts')

/** One that there is. */
export const accountView = async (gateway: Gateway, provider: string, name: string): Promise<S.Account> => {
  const done = await doneBy(gateway)
  const found = [...inForce(gateway, done), ...resting(gateway, done)].find(
    (one) => one.provider === provider && one.name === name,
  )
  if (found === undefined) throw new GatewayError('not_found', 'There is no such account.')
  return found
}

const sourceView = (gateway: Gateway, provider: string, name: string): Pick<S.Account, 'managed' | 'credential'> => {
  const called = accountName(provider, name)
  // A configuration that was put together by hand tells no sources.
  const source = gateway.config.accountSources[called] ?? { from: 'file', credential: 'none' }
  const kept = source.from === 'store' ? keptAccounts(gateway).find((entry) => entry.name === called) : undefined
  const isOpen = source.from === 'store' && kept?.credential === undefined
  return {
    managed: source.from,
    credential: {
      kind: isOpen ? 'none' : source.credential,
      name: source.name ?? null,
      last_four: kept?.credential?.lastFour ?? null,
    },
  }
}

/** So many days are looked at, today the last of them: those of the overview's own thirty. */
const SPENT_DAYS = 30

/** What each account cost, and in which hour it was used last, whichever process asked it. */
type Spending = { since: number; of: ReadonlyMap<string, { microUsd: number; lastHour: number }> }

const spentIn = async ({ store, config: { calendar }, clock }: Gateway): Promise<Spending> => {
  const after = dayAfter(calendar.dayOf(clock()))
  const [since, until] = [calendar.startOf(dayAfter(after, -SPENT_DAYS)), calendar.startOf(after)]
  const of = new Map<string, { microUsd: number; lastHour: number }>()
  for (const { group, at, costMicroUsd } of await store.insight.series({ step: 'hour', by: 'account', since, until })) {
    const { microUsd = 0, lastHour = 0 } = of.get(group) ?? {}
    of.set(group, { microUsd: microUsd + costMicroUsd, lastHour: Math.max(lastHour, at) })
  }
  return { since, of }
}

/** So many of the latest rows tell how accounts do, whichever process wrote them. */
const LATELY = 2_000

type Done = { spent: Spending; lately: Pick<Accounts, 'notesOf'> }

const doneBy = async (gateway: Gateway): Promise<Done> => {
  const [spent, rows] = await Promise.all([spentIn(gateway), gateway.store.insight.lately(LATELY)])
  const lately = createAccounts(gateway.clock)
  for (const { attempts, firstByteMs, endedAt } of rows)
    lately.ended({ attempts, ...(firstByteMs === null ? {} : { firstByteMs }) }, endedAt)
  return { spent, lately }
}

/** What this process did itself stands in for what the latest rows do not tell. */
const notesOf = ({ accounts }: Gateway, { lately }: Done, provider: string, name: string): AccountNotes => {
  const [own, all] = [accounts.notesOf(provider, name), lately.notesOf(provider, name)]
  return {
    lastUsedAt: Math.max(own.lastUsedAt ?? 0, all.lastUsedAt ?? 0),
    lastError: (own.lastError?.at ?? 0) > (all.lastError?.at ?? 0) ? own.lastError : all.lastError,
    firstByteMs: all.firstByteMs ?? own.firstByteMs,
  }
}

const notesView = (gateway: Gateway, done: Done, provider: string, name: string) => {
  const { lastUsedAt = 0, lastError, firstByteMs } = notesOf(gateway, done, provider, name)
  const { spent: spending } = done
  const { microUsd = 0, lastHour = 0 } = spending.of.get(accountName(provider, name)) ?? {}
  // Of an account that is in none of the latest rows the sums know the hour.
  const lastUsed = Math.max(lastUsedAt, lastHour)
  return {
    last_used_at: lastUsed === 0 ? null : iso(lastUsed),
    last_error:
      lastError === undefined
        ? null
        : {
            ...{ at: iso(lastError.at), model: lastError.model, error_code: lastError.errorCode },
            words: errorWords(lastError),
          },
    first_byte_ms: firstByteMs === undefined ? null : Math.round(firstByteMs),
    spent_micro_usd: microUsd,
    spent_since: iso(spending.since),
  }
}

/** By what the provider's status says; its own words are never shown. */
const errorWords = ({ errorCode, providerStatus: status }: NonNullable<AccountNotes['lastError']>): string => {
  if (status === 401) return 'It refused the credential (401): see whether it is whole, and of this vendor.'
  if (status === 402) return 'It asked for money (402): top the account up at the provider.'
  if (status === 403) return 'It did not permit the credential to ask (403): see its rights and region.'
  if (status === 404) return 'It knew no such path or model (404): see the base URL, and the upstream id of the model.'
  if (status === 429) return 'It was at its rate limit, or out of credit (429).'
  if (status !== undefined && status >= 500) return `It failed itself (${status}).`
  if (status !== undefined && status >= 400) return `It refused the request (${status}).`
  if (errorCode === 'gateway_timeout') return 'It did not answer in time.'
  return 'It could not be reached, or broke off.'
}

const troubleView = ({ trouble }: Standing, upstream: string): S.Account['models'][number]['trouble'] => {
  if (trouble === undefined) return null
  return trouble === 'no-money' ? { what: 'no_money', upstream: null } : { what: 'unknown_model', upstream }
}

const worst = (states: BreakerState[]): BreakerState =>
  states.includes('open') ? 'open' : states.includes('half-open') ? 'half-open' : 'closed'
