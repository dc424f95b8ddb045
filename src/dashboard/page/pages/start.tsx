// The first minute: a vendor's key, a key for a client, and the line that connects it.

import { useState } from 'preact/hooks'
import type { Account, KeyWithSecret } from '../../../admin-api/schema.ts'
import { call } from '../lib/api.ts'
import { API_ORIGIN } from '../lib/origin.ts'
import { useAction, useResource } from '../lib/resource.ts'
import { TEXT_SNIPPETS } from '../lib/snippets.ts'
import { AccountForm } from '../ui/account-form.tsx'
import { Form, Text } from '../ui/fields.tsx'
import { Badge, Button, Card, Loaded, Notice, PageHead, Secret, Snippet } from '../ui/parts.tsx'
import { Snippets } from '../ui/snippets.tsx'

/** `model`: what clients are told to ask for. */
type Served = { account: Account; model: string | undefined }

export const Start = () => {
  const [served, setServed] = useState<Served>()
  const [made, setMade] = useState<KeyWithSecret>()
  return (
    <div class="stack">
      <PageHead title="Get started" lead="Two steps, and a client is connected. No file is needed." />
      <Card title="1. A vendor's key" tools={served && <Badge tone="good">done</Badge>}>
        {served === undefined ? (
          <FirstAccount onDone={setServed} />
        ) : (
          <p>
            <b>
              {served.account.provider} / {served.account.name}
            </b>{' '}
            is set up. <a href="/dashboard/accounts">More accounts</a>
            {served.model === undefined && (
              <>
                {' '}
                Which models it has is not known: <a href="/dashboard/models">name one</a> for clients to ask for.
              </>
            )}
          </p>
        )}
      </Card>
      <Card title="2. A key for your client" tools={made && <Badge tone="good">done</Badge>}>
        {served === undefined ? (
          <p class="muted">Next: a key of this gateway, which is what clients are given.</p>
        ) : made === undefined ? (
          <FirstKey onDone={setMade} />
        ) : (
          <Connect made={made} model={served.model ?? 'auto'} />
        )}
      </Card>
    </div>
  )
}

const FirstAccount = ({ onDone }: { onDone: (served: Served) => void }) => {
  const presets = useResource((signal) => call('presets.list', undefined, signal), [])
  const accounts = useResource((signal) => call('accounts.list', undefined, signal), [])
  const going = useAction(async (account: Account) => onDone({ account, model: await leadTo(account) }))
  const there = accounts.value?.items.find(({ problem }) => problem === null)
  return (
    <Loaded of={presets} lines={5}>
      {({ items }) => (
        <div class="stack">
          {there !== undefined && (
            <Notice>
              {there.provider} / {there.name} is there already.{' '}
              <Button size="small" busy={going.busy} onClick={() => void going.run(there)}>
                Go on with it
              </Button>
            </Notice>
          )}
          <AccountForm presets={items} short onDone={(account) => void going.run(account)} />
          {going.error && <Notice tone="bad">{going.error.message}</Notice>}
        </div>
      )}
    </Loaded>
  )
}

/** A model that is served, undefined where none has a name yet: `auto` where that leads to one, or is made to. */
const leadTo = async ({ provider }: Account): Promise<string | undefined> => {
  const { items, aliases } = await call('models.list')
  const served = items.filter(({ kind, available }) => kind === 'text' && available)
  if (served.some(({ id }) => id === aliases.auto)) return 'auto'
  const first = served.find((model) => model.provider === provider) ?? served[0]
  if (first === undefined) return undefined
  try {
    await call('entries.put', { section: 'aliases', name: 'auto', value: first.id })
    return 'auto'
  } catch {
    // The configuration says what it is.
    return first.id
  }
}

const FirstKey = ({ onDone }: { onDone: (made: KeyWithSecret) => void }) => {
  const [label, setLabel] = useState('first client')
  const making = useAction(async () => onDone(await call('keys.create', { label: label.trim() })))
  return (
    <Form onSubmit={() => void making.run()} error={making.error}>
      <Text
        label="Label"
        value={label}
        onChange={setLabel}
        maxLength={200}
        required
        hint="Who or what uses it"
        autoFocus
      />
      <div class="row">
        <Button kind="primary" type="submit" busy={making.busy}>
          Make the key
        </Button>
      </div>
    </Form>
  )
}

const Connect = ({ made, model }: { made: KeyWithSecret; model: string }) => (
  <div class="stack">
    <Notice tone="good">Copy the key now. It is shown this once and cannot be read again.</Notice>
    <Secret text={made.secret} label="Secret" />
    <p>A coding agent is connected by one command, where sluice is installed. It asks for the key:</p>
    <Snippet text={`sluice connect claude-code --server ${API_ORIGIN}`} />
    <p>Or by hand:</p>
    <Snippets of={TEXT_SNIPPETS} origin={API_ORIGIN} secret={made.secret} model={model} keyId={made.key.id} />
    <div class="row end">
      <a class="button" href="/dashboard/playground">
        Try it in the playground
      </a>
      <a class="button primary" href="/dashboard">
        To the overview
      </a>
    </div>
  </div>
)
