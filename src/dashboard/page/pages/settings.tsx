// Settings: one's own password and sessions, and for admins the gateway's figures and admin tokens.

import { useState } from 'preact/hooks'
import type { Settings as SettingsValue } from '../../../admin-api/schema.ts'
import { type Ask, call } from '../lib/api.ts'
import { counted, countField } from '../lib/format.ts'
import { useAction, useResource } from '../lib/resource.ts'
import { isAdmin, loadSession, MIN_PASSWORD, session, signOut } from '../lib/session.ts'
import { Confirm } from '../ui/dialog.tsx'
import { Check, Form, readCount, Text } from '../ui/fields.tsx'
import { ModelsField } from '../ui/models-field.tsx'
import { Badge, Button, Card, Failure, Loaded, Notice, PageHead } from '../ui/parts.tsx'
import { Tokens } from './tokens.tsx'

export const Settings = () => (
  <div class="stack">
    <PageHead title="Settings" lead={isAdmin.value ? undefined : `Signed in as ${session.value?.member?.name ?? ''}`} />
    {isAdmin.value && <General />}
    {isAdmin.value && <Tokens />}
    <Own />
  </div>
)

const General = () => {
  const settings = useResource((signal) => call('settings.get', undefined, signal), [])
  // Above the form, which starts anew with what was saved.
  const [saved, setSaved] = useState(false)
  return (
    <Loaded of={settings} lines={8}>
      {(value) => (
        <GeneralForm
          key={JSON.stringify(value)}
          of={value}
          saved={saved}
          onSaving={() => setSaved(false)}
          onSaved={(next) => {
            settings.set(next)
            setSaved(true)
          }}
        />
      )}
    </Loaded>
  )
}

type Put = Ask<'settings.put'>

const number = (text: string, name: string): number => {
  const value = Number(text.replace(/[\s,_']/g, ''))
  if (text.trim() === '' || !Number.isFinite(value) || value < 0) throw new Error(`${name}: write a number.`)
  return value
}
const whole = (text: string, name: string): number => {
  const value = readCount(text)
  if (value === undefined) throw new Error(`${name}: write a whole number.`)
  return value
}

type GeneralFormProps = {
  of: SettingsValue
  saved: boolean
  onSaving: () => void
  onSaved: (value: SettingsValue) => void
}

const GeneralForm = ({ of, saved, onSaving, onSaved }: GeneralFormProps) => {
  const [rate, setRate] = useState(String(of.khr_per_usd))
  const [retention, setRetention] = useState(String(of.retention_days))
  const [rpm, setRpm] = useState(countField(of.limits.rpm))
  const [tpm, setTpm] = useState(countField(of.limits.tpm))
  const [concurrency, setConcurrency] = useState(countField(of.limits.concurrency))
  const [tokens, setTokens] = useState(countField(of.key_defaults.tokens_total))
  const [expiry, setExpiry] = useState(String(of.key_defaults.expires_days))
  const [models, setModels] = useState(of.key_defaults.models)
  const [trust, setTrust] = useState(of.trust_proxy)

  const changes = (): Put => {
    const next = {
      khr_per_usd: number(rate, 'Riel for one dollar'),
      retention_days: number(retention, 'Keep exchanges'),
      limits: {
        rpm: whole(rpm, 'Requests a minute'),
        tpm: whole(tpm, 'Tokens a minute'),
        concurrency: whole(concurrency, 'Requests at once'),
      },
      key_defaults: {
        tokens_total: whole(tokens, 'Token quota'),
        expires_days: whole(expiry, 'Days until expiry'),
        models,
      },
      trust_proxy: trust,
    }
    const changed = Object.entries(next).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(of[name as keyof typeof next]),
    )
    return Object.fromEntries(changed) as Put
  }
  const put = async (body: Put): Promise<void> => {
    onSaving()
    onSaved(await call('settings.put', body))
    void loadSession()
  }
  const [shorter, setShorter] = useState<Put>()
  /** What is past a shorter time is removed for good: that is asked about first. */
  const save = useAction(async () => {
    const body = changes()
    const kept = body.retention_days ?? 0
    if (kept > 0 && (of.retention_days === 0 || kept < of.retention_days)) setShorter(body)
    else await put(body)
  })
  const back = useAction(put)
  const Origin = ({ name }: { name: string }) =>
    of.overridden.includes(name) ? (
      <>
        set here{' '}
        <button type="button" class="button inline" onClick={() => back.run({ [name]: null } as Put)}>
          Back to the configuration's
        </button>
      </>
    ) : (
      <>from the configuration</>
    )
  return (
    <Card title="Gateway">
      <Form onSubmit={() => void save.run()} error={save.error ?? back.error}>
        <div class="cols">
          <div class="form">
            <Text
              label="Riel for one US dollar"
              value={rate}
              onChange={setRate}
              inputMode="decimal"
              hint={<Origin name="khr_per_usd" />}
            />
            <Text
              label="Keep single exchanges, days"
              value={retention}
              onChange={setRetention}
              inputMode="decimal"
              hint={
                <>
                  0 keeps them for ever; sums are always kept; <Origin name="retention_days" />
                </>
              }
            />
            <Check
              label="Trust X-Forwarded headers"
              hint={
                <>
                  Only behind a proxy of yours that sets them; <Origin name="trust_proxy" />
                </>
              }
              checked={trust}
              onChange={setTrust}
            />
          </div>
          <div class="form">
            <h3>
              New keys{' '}
              <span class="muted small" style={{ fontWeight: 400 }}>
                <Origin name="key_defaults" />
              </span>
            </h3>
            <div class="pair">
              <Text label="Token quota" value={tokens} onChange={setTokens} inputMode="numeric" />
              <Text label="Days until expiry" value={expiry} onChange={setExpiry} inputMode="numeric" />
            </div>
            <ModelsField value={models} onChange={setModels} />
            <h3>
              Limits of keys that set none{' '}
              <span class="muted small" style={{ fontWeight: 400 }}>
                0 is no limit, <Origin name="limits" />
              </span>
            </h3>
            <div class="pair">
              <Text label="Requests / minute" value={rpm} onChange={setRpm} inputMode="numeric" />
              <Text label="Tokens / minute" value={tpm} onChange={setTpm} inputMode="numeric" />
              <Text label="At once" value={concurrency} onChange={setConcurrency} inputMode="numeric" />
            </div>
          </div>
        </div>
        <div class="row end">
          <span role="status">{saved && <Badge tone="good">Saved and in force</Badge>}</span>
          <Button kind="primary" type="submit" busy={save.busy || back.busy}>
            Save
          </Button>
        </div>
      </Form>
      {shorter && (
        <Confirm
          title={`Keep exchanges for ${counted(shorter.retention_days ?? 0, 'day')} only?`}
          action="Save and remove"
          onClose={() => setShorter(undefined)}
          run={() => put(shorter)}
        >
          <p>Single exchanges that are older are removed and cannot be brought back. Sums and what was billed stay.</p>
        </Confirm>
      )}
    </Card>
  )
}

const Own = () => {
  const [everywhere, setEverywhere] = useState(false)
  const leaving = useAction(signOut)
  return (
    <div class="cols">
      <Password />
      <Card title="Sessions">
        <div class="form">
          <p class="muted">
            A session ends after 30 days, or after 7 without use. Changing the password ends all others.
          </p>
          <div class="row">
            <Button busy={leaving.busy} onClick={() => leaving.run()}>
              Sign out here
            </Button>
            <Button kind="danger" onClick={() => setEverywhere(true)}>
              Sign out everywhere
            </Button>
          </div>
          {leaving.error && <Failure error={leaving.error} />}
        </div>
      </Card>
      {everywhere && (
        <Confirm
          title="Sign out everywhere?"
          action="Sign out everywhere"
          run={() => signOut(true)}
          onClose={() => setEverywhere(false)}
        >
          <p>All your sessions end, this one too. Your keys go on working.</p>
        </Confirm>
      )}
    </div>
  )
}

const Password = () => {
  const [current, setCurrent] = useState('')
  const [next, setNext] = useState('')
  const [again, setAgain] = useState('')
  const [done, setDone] = useState(false)
  const changing = useAction(async () => {
    setDone(false)
    if (next !== again) throw new Error('The two new passwords differ.')
    await call('session.password', { current, password: next })
    setCurrent('')
    setNext('')
    setAgain('')
    setDone(true)
  })
  return (
    <Card title="Password">
      <Form onSubmit={() => void changing.run()} error={changing.error}>
        <input type="text" hidden autocomplete="username" value={session.value?.member?.name} readOnly />
        <Text
          label="Current password"
          type="password"
          value={current}
          onChange={setCurrent}
          autocomplete="current-password"
          required
        />
        <div class="pair">
          <Text
            label="New password"
            type="password"
            value={next}
            onChange={setNext}
            autocomplete="new-password"
            minLength={MIN_PASSWORD}
            required
          />
          <Text
            label="New password again"
            type="password"
            value={again}
            onChange={setAgain}
            autocomplete="new-password"
            required
          />
        </div>
        {done && <Notice tone="good">The password is changed. Other sessions have ended.</Notice>}
        <div class="row end">
          <Button kind="primary" type="submit" busy={changing.busy}>
            Change password
          </Button>
        </div>
      </Form>
    </Card>
  )
}
