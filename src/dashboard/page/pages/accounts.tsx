// Accounts: the credentials the gateway has at providers, how busy they are, which models rest there, what they say when
// asked; and their changes at run time.

import { useState } from 'preact/hooks'
import { HEALTH } from '../../../admin-api/health.ts'
import type { Account, Finding, Reloaded } from '../../../admin-api/schema.ts'
import { needWeight } from '../lib/accounts.ts'
import { call } from '../lib/api.ts'
import { count, counted, dateTime, duration, usd } from '../lib/format.ts'
import { useAction, useResource, useWatched } from '../lib/resource.ts'
import { AccountForm } from '../ui/account-form.tsx'
import { ails, mending, since } from '../ui/account-trouble.tsx'
import { Confirm, Dialog } from '../ui/dialog.tsx'
import { Buttons, Form, Text } from '../ui/fields.tsx'
import { Badge, Breaking, Button, Card, Empty, Failure, Loaded, PageHead, When } from '../ui/parts.tsx'
import { Table } from '../ui/rows.tsx'
import { STATE_TONES } from './models.tsx'

/** What a test of an account has come to. */
type Test = Finding[] | Error | 'under way'

const keyOf = ({ provider, name }: Account): string => `${provider} ${name}`

type Doing = { what: 'add' } | { what: 'change' | 'remove'; of: Account }

export const Accounts = () => {
  const accounts = useWatched((signal) => call('accounts.list', undefined, signal))
  const [tests, setTests] = useState<Record<string, Test>>({})
  const [doing, setDoing] = useState<Doing>()
  const test = (account: Account): void => {
    const tell = (said: Test): void => setTests((before) => ({ ...before, [keyOf(account)]: said }))
    tell('under way')
    call('accounts.test', { provider: account.provider, account: account.name }).then(
      ({ items }) => tell(items),
      (error: Error) => tell(error),
    )
  }
  const done = (): void => {
    setDoing(undefined)
    accounts.reload()
  }
  return (
    <div class="stack">
      <PageHead
        title="Accounts"
        lead="Credentials at providers. An account that keeps failing rests, then is tried again."
      >
        <Reload onDone={accounts.reload} />
        <Button kind="primary" onClick={() => setDoing({ what: 'add' })}>
          Add account
        </Button>
      </PageHead>
      <Loaded of={accounts} lines={6}>
        {({ items }) =>
          items.length === 0 ? (
            <div class="card">
              <Empty title="No account yet">
                <p>
                  Add one here with a vendor's key, or set a vendor's usual variable, such as{' '}
                  <code>ANTHROPIC_API_KEY</code>, or name a provider in <code>sluice.yaml</code>, and restart.
                </p>
                <Button kind="primary" onClick={() => setDoing({ what: 'add' })}>
                  Add the first account
                </Button>
              </Empty>
            </div>
          ) : (
            <Card flush>
              <Table
                columns={[
                  'Account',
                  'State',
                  ['Credential', 'opt-2'],
                  ['Base URL', 'opt-3'],
                  ['Weight', 'num opt-3'],
                  ['Spent', 'num opt-1'],
                  ['First byte', 'num opt-2'],
                  ['Under way', 'num opt-1'],
                ]}
                actions
              >
                {items.map((account) => (
                  <tr key={keyOf(account)}>
                    <th scope="row">
                      <b class="name">{account.name}</b>
                      <span class="sub whole">{account.provider}</span>
                      <span class="sub whole">{FROM[account.managed]}</span>
                    </th>
                    <td>
                      <Standing of={account} />
                      {account.problem !== null && <span class="sub whole">Not used: {account.problem}.</span>}
                      {account.models.filter(ails).map((ill) => (
                        <Ailing key={ill.model} of={ill} />
                      ))}
                      <LastFailure of={account} />
                      <Said test={tests[keyOf(account)]} />
                    </td>
                    <td class="opt-2">
                      <Credential of={account} />
                    </td>
                    <td class="opt-3 mono" style={{ overflowWrap: 'anywhere' }}>
                      {account.base_url}
                      <span class="sub">{account.wires.join(', ')}</span>
                    </td>
                    <td class="num opt-3">{account.weight}</td>
                    <td class="num opt-1" title={`Since ${dateTime(account.spent_since)}`}>
                      {usd(account.spent_micro_usd)}
                      <span class="sub">
                        {account.last_used_at === null ? (
                          'never used'
                        ) : (
                          <>
                            used <When at={account.last_used_at} />
                          </>
                        )}
                      </span>
                    </td>
                    <td class="num opt-2">{duration(account.first_byte_ms)}</td>
                    <td class="num opt-1">{count(account.in_flight)}</td>
                    <td>
                      <span class="row end">
                        <Button
                          size="small"
                          busy={tests[keyOf(account)] === 'under way'}
                          aria-label={`Test ${account.provider} / ${account.name}`}
                          title="One cheap call for each of its models; the vendor bills it"
                          onClick={() => test(account)}
                        >
                          Test
                        </Button>
                        {account.managed === 'store' && (
                          <>
                            <Button
                              size="small"
                              aria-label={`Change ${account.provider} / ${account.name}`}
                              onClick={() => setDoing({ what: 'change', of: account })}
                            >
                              Change
                            </Button>
                            <Button
                              size="small"
                              aria-label={`Remove ${account.provider} / ${account.name}`}
                              onClick={() => setDoing({ what: 'remove', of: account })}
                            >
                              Remove
                            </Button>
                          </>
                        )}
                      </span>
                    </td>
                  </tr>
                ))}
              </Table>
            </Card>
          )
        }
      </Loaded>
      <p class="muted small">
        Spent: in the last thirty days. What <code>sluice.yaml</code> or the environment says is changed there; what is
        set here is in force at once.
      </p>
      {doing?.what === 'add' && <Add onDone={done} onClose={() => setDoing(undefined)} />}
      {doing?.what === 'change' && <Change of={doing.of} onDone={done} onClose={() => setDoing(undefined)} />}
      {doing?.what === 'remove' && (
        <Confirm
          title={`Remove ${doing.of.provider} / ${doing.of.name}?`}
          action="Remove account"
          last
          onClose={() => setDoing(undefined)}
          run={async () => {
            await call('accounts.remove', { provider: doing.of.provider, account: doing.of.name })
            accounts.reload()
          }}
        >
          <p>New requests go elsewhere, or nowhere. What is under way ends as it began. Its credential is deleted.</p>
        </Confirm>
      )}
    </div>
  )
}

const FROM: Record<Account['managed'], string> = {
  file: 'from sluice.yaml',
  environment: 'from the environment',
  store: 'set here',
}

/** What it takes for another one to be in force. */
const Credential = ({ of: { credential, managed } }: { of: Account }) => {
  const { kind, name, last_four } = credential
  if (kind === 'sealed') return <code>{last_four === null ? 'sealed' : `…${last_four}`}</code>
  if (kind === 'none') return <span class="muted">none</span>
  if (kind === 'literal') return <span class="muted">{managed === 'file' ? 'in sluice.yaml' : 'set'}</span>
  return (
    <>
      <code style={{ overflowWrap: 'break-word' }}>
        <Breaking text={`${kind}:${name}`} />
      </code>
      <span class="sub whole">{kind === 'env' ? 'another needs a restart' : 'read again by Reload'}</span>
    </>
  )
}

const LastFailure = ({ of: { last_error: failed } }: { of: Account }) =>
  failed === null ? null : (
    <span class="sub whole">
      Last failure <When at={failed.at} />, {failed.model}: {failed.words}
    </span>
  )

const Add = ({ onDone, onClose }: { onDone: () => void; onClose: () => void }) => {
  const presets = useResource((signal) => call('presets.list', undefined, signal), [])
  return (
    <Dialog title="Add account" onClose={onClose} firm>
      <Loaded of={presets} lines={4}>
        {({ items }) => <AccountForm presets={items} onDone={onDone} onCancel={onClose} />}
      </Loaded>
    </Dialog>
  )
}

const Change = ({ of, onDone, onClose }: { of: Account; onDone: () => void; onClose: () => void }) => {
  const [credential, setCredential] = useState('')
  const [baseUrl, setBaseUrl] = useState(of.base_url)
  const [weight, setWeight] = useState(`${of.weight}`)
  const changing = useAction(async () => {
    await call('accounts.update', {
      provider: of.provider,
      account: of.name,
      ...(credential.trim() === '' ? {} : { credential: credential.trim() }),
      ...(baseUrl.trim() === of.base_url ? {} : { base_url: baseUrl.trim() }),
      ...(needWeight(weight) === of.weight ? {} : { weight: needWeight(weight) }),
    })
    onDone()
  })
  return (
    <Dialog title={`Change ${of.provider} / ${of.name}`} onClose={onClose} firm>
      <Form onSubmit={() => void changing.run()} error={changing.error}>
        <Text
          label="Vendor key"
          type="password"
          value={credential}
          onChange={setCredential}
          autocomplete="off"
          required={of.problem !== null || baseUrl.trim() !== of.base_url}
          placeholder={of.credential.last_four === null ? 'As it is' : `…${of.credential.last_four}`}
          hint="Empty: it stays. Another address needs it again."
          autoFocus
        />
        <Text label="Base URL" value={baseUrl} onChange={setBaseUrl} required />
        <Text label="Weight" value={weight} onChange={setWeight} inputMode="decimal" required />
        <Buttons action="Save" busy={changing.busy} onCancel={onClose} />
      </Form>
    </Dialog>
  )
}

/** Has the server read its configuration again, and says what came of it. */
const Reload = ({ onDone }: { onDone: () => void }) => {
  const [told, setTold] = useState<Reloaded>()
  const reloading = useAction(async () => {
    setTold(await call('reload'))
    onDone()
  })
  return (
    <>
      <Button
        busy={reloading.busy}
        title="Read sluice.yaml and file: secrets again"
        onClick={() => void reloading.run()}
      >
        Reload
      </Button>
      {reloading.error && <Failure error={reloading.error} />}
      {told && (
        <Dialog
          title={told.problems.length > 0 ? 'Nothing was changed' : 'Reloaded'}
          onClose={() => setTold(undefined)}
        >
          <List of={told.problems} title="The configuration is wrong" />
          {told.problems.length === 0 && told.changed.length === 0 && <p>Nothing has changed.</p>}
          <List of={told.changed} title="In force now" />
          <List of={told.refused} title="A restart is needed for" />
          <List of={told.overridden} title="The dashboard's settings override" />
          <List of={told.warnings} title="Warnings" />
          <div class="row end">
            <Button kind="primary" onClick={() => setTold(undefined)}>
              Close
            </Button>
          </div>
        </Dialog>
      )}
    </>
  )
}

const List = ({ of, title }: { of: string[]; title: string }) =>
  of.length === 0 ? null : (
    <div>
      <h3>{title}</h3>
      <ul>
        {of.map((line) => (
          <li key={line} style={{ overflowWrap: 'anywhere' }}>
            {line}
          </li>
        ))}
      </ul>
    </div>
  )

/** What has failed and is tried all the same is not healthy either. */
const Standing = ({ of: { state, models, problem } }: { of: Account }) =>
  problem !== null ? (
    <Badge tone="bad">not used</Badge>
  ) : state === 'closed' && models.some(ails) ? (
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

const Ailing = ({ of: { model, state, failures, failing_since, trouble } }: { of: Account['models'][number] }) => (
  <span class="sub">
    {model}: {state === 'closed' ? 'failing' : HEALTH[state]}
    {since(failing_since)}
    {failures > 0 && `, ${counted(failures, 'failure')} in a row`}. {trouble !== null && `${mending(trouble)} `}
    <a href={`/dashboard/exchanges?${new URLSearchParams({ model, outcome: 'failed' })}`}>What failed</a>
  </span>
)
