// The accounts that a command asks, chosen by name, and what is told of them.

import { listed } from '../catalogue/catalogue.ts'
import type { Config } from '../config.ts'
import { type Account, idOfNamed, type Provider } from '../provider/provider.ts'
import type { Finding } from '../relay/asking.ts'
import { type Io, usageError } from './io.ts'
import { columns } from './table.ts'

export const ACCOUNT_FLAG = {
  account: { type: 'string', valueHint: 'PROVIDER[/NAME]', description: 'Only this provider or account' },
} as const

/** Where there is nobody to ask. */
export const NO_ACCOUNT =
  "No account is configured: set a vendor's variable, such as ANTHROPIC_API_KEY, or add one in the dashboard or the configuration."

type Asked = { provider: Provider; account: Account }

/** Throws a UsageError where none is of that name. `flag`: what it was given as. */
export const chosenAccounts = ({ providers }: Config, named: string | undefined, flag = '--account'): Asked[] => {
  const all = providers.flatMap((provider) => provider.accounts.map((account) => ({ provider, account })))
  const [meant = '', ...rest] = named?.split('/') ?? []
  const wanted = [idOfNamed(providers, meant), ...rest].join('/')
  const chosen = all.filter(
    ({ provider, account }) =>
      named === undefined || wanted === provider.id || wanted === `${provider.id}/${account.name}`,
  )
  if (chosen.length > 0 || named === undefined) return chosen
  const names = all.map(({ provider, account }) => `${provider.id}/${account.name}`).join(', ')
  throw usageError(`${flag}: found "${named}", allowed: ${names || 'nothing, for no account is configured'}.`)
}

/** Asks all of them side by side: each account's own models, one cheap call for each. */
export const askAll = async (config: Config, asked: Asked[], io: Io): Promise<Finding[]> => {
  const { askAccount } = await import('../relay/asking.ts')
  const count = asked.length === 1 ? 'one account' : `${asked.length} accounts`
  if (asked.length > 0) io.err(`note: asking ${count} for a word from each model; the vendors bill it`)
  const found = asked.map(({ provider, account }) =>
    askAccount(
      { fetch: globalThis.fetch, provider, account },
      listed(config.models).filter((model) => model.provider === provider.id),
    ),
  )
  return (await Promise.all(found)).flat()
}

/** Asked for answers, a command fails where there are none. */
export const allAnswer = (findings: readonly Finding[]): boolean =>
  findings.length > 0 && findings.every(({ ok }) => ok)

export const findingLines = (findings: Finding[]): string[] =>
  columns(
    findings.map(({ provider, account, model, upstream, ok, words }) => [
      ok ? 'ok' : 'WRONG',
      `${provider}/${account}`,
      model === undefined ? '' : model === upstream ? model : `${model} → ${upstream}`,
      words,
    ]),
  )
