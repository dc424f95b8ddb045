// What is wrong with accounts, and the notice of it that the overview begins with.

import type { Account } from '../../../admin-api/schema.ts'
import { call } from '../lib/api.ts'
import { counted, timeOf } from '../lib/format.ts'
import { useWatched } from '../lib/resource.ts'
import { Notice } from './parts.tsx'

type Served = Account['models'][number]

/** One failure is no trouble yet. */
export const ails = ({ state, failures, trouble }: Served): boolean =>
  state !== 'closed' || failures > 1 || trouble !== null

export const mending = ({ what, upstream }: NonNullable<Served['trouble']>): string =>
  what === 'no_money'
    ? 'The account is out of money: top it up at the provider.'
    : `The provider knows no model "${upstream}": correct its upstream id.`

export const since = (at: string | null): string => (at === null ? '' : ` since ${timeOf(at)}`)

/** Which accounts fail or are not used, and why, or that there is none; nothing while all is well. */
export const Trouble = () => {
  const accounts = useWatched((signal) => call('accounts.list', undefined, signal))
  if (accounts.value?.items.length === 0) {
    return (
      <Notice tone="warn">
        No provider account is configured: no request can be answered yet.{' '}
        <a href="/dashboard/start">Add the first one</a>
      </Notice>
    )
  }
  const ill = (accounts.value?.items ?? []).filter(({ problem, models }) => problem !== null || models.some(ails))
  if (ill.length === 0) return null
  return (
    <Notice tone="warn">
      {ill.map((account) => (
        <p key={`${account.provider} ${account.name}`}>
          {account.problem === null ? 'Failing' : 'Not used'}: {account.provider} / {account.name}: {ailmentOf(account)}
        </p>
      ))}
      <a href="/dashboard/accounts">See the accounts</a>
    </Notice>
  )
}

const MOST_NAMED = 3

/** Of many models the first are named. */
const ailmentOf = ({ problem, models, last_error }: Account): string => {
  if (problem !== null) return `${problem}.`
  const ill = models.filter(ails)
  const named = ill.slice(0, MOST_NAMED).map(({ model, failing_since }) => `${model}${since(failing_since)}`)
  const more = ill.length > named.length ? ` and ${counted(ill.length - named.length, 'more model')}` : ''
  const told = ill.find(({ trouble }) => trouble !== null)?.trouble ?? null
  return `${named.join(', ')}${more}. ${told === null ? (last_error?.words ?? '') : mending(told)}`
}
