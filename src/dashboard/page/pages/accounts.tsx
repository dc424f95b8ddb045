// Accounts: the credentials the gateway has at providers, how busy they are, which models rest there, and what they say
// when asked.

import { useState } from 'preact/hooks'
import { HEALTH } from '../../../admin-api/health.ts'
import type { Account, Finding } from '../../../admin-api/schema.ts'
import { call } from '../lib/api.ts'
import { count, counted, timeOf } from '../lib/format.ts'
import { useWatched } from '../lib/resource.ts'
import { Badge, Button, Card, Empty, Loaded, Notice, PageHead } from '../ui/parts.tsx'
import { Table } from '../ui/rows.tsx'
import { STATE_TONES } from './models.tsx'

/** What a test of an account has come to. */
type Test = Finding[] | Error | 'under way'

const keyOf = ({ provider, name }: Account): string => `${provider} ${name}`

/** One failure is no trouble yet. */
const ails = ({ state, failures, trouble }: Account['models'][number]): boolean =>
  state !== 'closed' || failures > 1 || trouble !== null

export const Accounts = () => {
  const accounts = useWatched((signal) => call('accounts.list', undefined, signal))
  const [tests, setTests] = useState<Record<string, Test>>({})
  const test = (account: Account): void => {
    const tell = (said: Test): void => setTests((before) => ({ ...before, [keyOf(account)]: said }))
    tell('under way')
    call('accounts.test', { provider: account.provider, account: account.name }).then(
      ({ items }) => tell(items),
      (error: Error) => tell(error),
    )
  }
  return (
    <div class="stack">
      <PageHead
        title="Accounts"
        lead="Credentials at providers, from the configuration. An account that keeps failing rests, then is tried again."
      />
      <Loaded of={accounts} lines={6}>
        {({ items }) =>
          items.length === 0 ? (
            <div class="card">
              <Empty title="No account is configured">
                <p>
                  Set a vendor's usual variable, such as <code>ANTHROPIC_API_KEY</code> or <code>OPENAI_API_KEY</code>,
                  or <code>VENDOR_A_BASE_URL</code> and <code>VENDOR_A_API_KEY</code>, or name a provider in{' '}
                  <code>sluice.yaml</code>, and restart.
                </p>
              </Empty>
            </div>
          ) : (
            <Card flush>
              <Table
                columns={[
                  'Account',
                  'State',
                  ['Base URL', 'opt-1'],
                  ['Wires', 'opt-2'],
                  ['Weight', 'num opt-1'],
                  ['Under way', 'num'],
                ]}
              >
                {items.map((account) => (
                  <tr key={keyOf(account)}>
                    <th scope="row">
                      <b class="name">{account.name}</b>
                      <span class="sub whole">{account.provider}</span>
                    </th>
                    <td>
                      <Standing of={account} />
                      {account.models.filter(ails).map((ill) => (
                        <Ailing key={ill.model} of={ill} />
                      ))}
                      <Said test={tests[keyOf(account)]} />
                      <div>
                        <Button
                          size="small"
                          busy={tests[keyOf(account)] === 'under way'}
                          aria-label={`Test ${account.provider} / ${account.name}`}
                          title="One cheap call for each of its models; the vendor bills it"
                          onClick={() => test(account)}
                        >
                          Test
                        </Button>
                      </div>
                    </td>
                    <td class="opt-1 mono" style={{ overflowWrap: 'anywhere' }}>
                      {account.base_url}
                    </td>
                    <td class="opt-2">{account.wires.join(', ')}</td>
                    <td class="num opt-1">{account.weight}</td>
                    <td class="num">{count(account.in_flight)}</td>
                  </tr>
                ))}
              </Table>
            </Card>
          )
        }
      </Loaded>
    </div>
  )
}

/** What has failed and is tried all the same is not healthy either. */
const Standing = ({ of: { state, models } }: { of: Account }) =>
  state === 'closed' && models.some(ails) ? (
    <Badge tone="warn">failing</Badge>
  ) : (
    <Badge tone={STATE_TONES[state]}>{HEALTH[state]}</Badge>
  )

/** What stands in the way first; where nothing does, how many models have answered. */
const Said = ({ test }: { test: Test | undefined }) => {
  if (test === undefined) return null
  if (test === 'under way') return <span class="sub">Asking each model for a word …</span>
  if (test instanceof Error) return <span class="sub">The test failed: {test.message}</span>
  const wrong = test.filter(({ ok }) => !ok)
  const right = test.length - wrong.length
  return (
    <div role="status">
      {wrong.map(({ model, words }) => (
        <span key={model} class="sub whole">
          <Badge tone="bad">wrong</Badge> {model === null ? '' : `${model}: `}
          {words}
        </span>
      ))}
      {right > 0 && (
        <span class="sub">
          <Badge tone="good">ok</Badge> {counted(right, 'model')} fine
        </span>
      )}
    </div>
  )
}

const mending = ({ what, upstream }: { what: string; upstream: string | null }): string =>
  what === 'no_money'
    ? 'The account is out of money: top it up at the provider.'
    : `The provider knows no model "${upstream}": correct its upstream id.`

const Ailing = ({ of: { model, state, failures, failing_since, trouble } }: { of: Account['models'][number] }) => (
  <span class="sub">
    {model}: {state === 'closed' ? 'failing' : HEALTH[state]}
    {since(failing_since)}
    {failures > 0 && `, ${counted(failures, 'failure')} in a row`}. {trouble !== null && `${mending(trouble)} `}
    <a href={`/dashboard/exchanges?${new URLSearchParams({ model, outcome: 'failed' })}`}>What failed</a>
  </span>
)

/** What is kept away from traffic, or that none can be served; nothing while all is well. */
export const Trouble = () => {
  const accounts = useWatched((signal) => call('accounts.list', undefined, signal))
  if (accounts.value?.items.length === 0) {
    return (
      <Notice tone="warn">
        No provider account is configured: no request can be answered yet.{' '}
        <a href="/dashboard/accounts">See what is missing</a>
      </Notice>
    )
  }
  const resting = (accounts.value?.items ?? []).flatMap(({ provider, name, models }) =>
    models
      .filter(({ state }) => state !== 'closed')
      .map(({ model, failing_since }) => `${provider} / ${name}: ${model}${since(failing_since)}`),
  )
  return resting.length === 0 ? null : (
    <Notice tone="warn">
      Failing: {resting.join('; ')}. <a href="/dashboard/accounts">See the accounts</a>
    </Notice>
  )
}

const since = (at: string | null): string => (at === null ? '' : ` since ${timeOf(at)}`)
