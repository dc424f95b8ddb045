// Settings: one's own password and sessions, and for admins the gateway's figures and admin tokens.

import { useState } from 'preact/hooks'
import { MOST_SESSION_DAYS } from '../../../admin-api/bounds.ts'
import type { Settings as SettingsValue } from '../../../admin-api/schema.ts'
import { type Ask, call } from '../lib/api.ts'
import { changesOf, changesWithin } from '../lib/changes.ts'
import { counted, countField } from '../lib/format.ts'
import { useAction, useResource } from '../lib/resource.ts'
import { isAdmin, loadSession, MIN_PASSWORD, session } from '../lib/session.ts'
import { Confirm } from '../ui/dialog.tsx'
import { Check, Form, needCount, needDays, Text } from '../ui/fields.tsx'
import { LIMITS, LimitFields } from '../ui/key-form.tsx'
import { ModelsField, needModels } from '../ui/models-field.tsx'
import { Badge, Button, Card, Loaded, Notice, PageHead } from '../ui/parts.tsx'
import { Alerts } from './alerts.tsx'
import { GatewayBudget } from './gateway-budget.tsx'
import { OwnSessions } from './own-sessions.tsx'
import { SecondFactor } from './second-factor.tsx'
import { Tokens } from './tokens.tsx'

export const Settings = () => (
  <div class="stack">
    <PageHead title="Settings" lead={isAdmin.value ? undefined : `Signed in as ${session.value?.member?.name ?? ''}`} />
    {isAdmin.value && <General />}
    {isAdmin.value && <GatewayBudget />}
    {isAdmin.value && <Alerts />}
    {isAdmin.value && <Tokens />}
    <OwnSessions />
    <div class="cols">
      <Password />
      <SecondFactor />
    </div>
  </div>
)

const General = () => {
  const settings = useResource((signal) => call('settings.get', undefined, signal), [])
  return (
    <Loaded of={settings} lines={8}>
      {(value) => <GeneralForm of={value} onSaved={settings.set} />}
    </Loaded>
  )
}

type Put = Ask<'settings.put'>

/** What a configuration file can say as well. */
const IN_FILE: ReadonlySet<keyof Put> = new Set(['khr_per_usd', 'retention_days', 'limits'] as const)

/** The fields' texts. */
const draftOf = ({
  khr_per_usd,
  retention_days,
  limits,
  key_defaults,
  trust_proxy,
  session_days,
  second_factor_for_admins,
}: SettingsValue) => ({
  rate: String(khr_per_usd),
  retention: String(retention_days),
  rpm: countField(limits.rpm),
  tpm: countField(limits.tpm),
  concurrency: countField(limits.concurrency),
  tokens: countField(key_defaults.tokens_total),
  expiry: String(key_defaults.expires_days),
  models: key_defaults.models,
  trust: networksField(trust_proxy),
  factor: second_factor_for_admins,
  sessionDays: String(session_days),
})

const ANYONE = 'anyone'

/** Empty: nobody. */
const networksField = (trust: SettingsValue['trust_proxy']): string =>
  typeof trust === 'boolean' ? (trust ? ANYONE : '') : trust.join(', ')

const trustIn = (text: string): SettingsValue['trust_proxy'] => {
  const names = text.split(/[\s,]+/).filter((name) => name !== '')
  if (names.length === 0) return false
  return names.length === 1 && names[0] === ANYONE ? true : names
}

const number = (text: string, name: string, isAllowed: (value: number) => boolean, allowed: string): number => {
  const value = text.trim() === '' ? Number.NaN : Number(text.replace(/[\s,_']/g, ''))
  if (!Number.isFinite(value) || !isAllowed(value)) throw new Error(`${name}: write a number ${allowed}.`)
  return value
}

const isSessionDays = (value: number): boolean => Number.isInteger(value) && value >= 1 && value <= MOST_SESSION_DAYS

const GeneralForm = ({ of, onSaved }: { of: SettingsValue; onSaved: (value: SettingsValue) => void }) => {
  const [opened, setOpened] = useState(of)
  const [draft, setDraft] = useState(() => draftOf(of))
  const [saved, setSaved] = useState(false)
  const set = (change: Partial<typeof draft>): void => {
    setDraft((before) => ({ ...before, ...change }))
    setSaved(false)
  }

  const changes = (): Put => {
    const figures = {
      khr_per_usd: number(draft.rate, 'Riel for one US dollar', (value) => value > 0, 'above 0'),
      retention_days: number(draft.retention, 'Keep single exchanges', (value) => value >= 0, 'from 0 on'),
      trust_proxy: trustIn(draft.trust),
      second_factor_for_admins: draft.factor,
      session_days: number(
        draft.sessionDays,
        'Sign in again after',
        isSessionDays,
        `from 1 to ${MOST_SESSION_DAYS}, whole`,
      ),
    }
    const { khr_per_usd, retention_days, trust_proxy, session_days, second_factor_for_admins, limits, key_defaults } =
      opened
    return {
      ...changesOf({ khr_per_usd, retention_days, trust_proxy, session_days, second_factor_for_admins }, figures),
      ...changesWithin('limits', limits, {
        rpm: needCount(draft.rpm, LIMITS.rpm),
        tpm: needCount(draft.tpm, LIMITS.tpm),
        concurrency: needCount(draft.concurrency, LIMITS.concurrency),
      }),
      ...changesWithin('key_defaults', key_defaults, {
        tokens_total: needCount(draft.tokens, 'Token quota'),
        expires_days: needDays(draft.expiry, 'Days until expiry'),
        models: needModels(draft.models),
      }),
    }
  }
  const put = async (body: Put): Promise<void> => {
    setSaved(false)
    const next = await call('settings.put', body)
    onSaved(next)
    setOpened(next)
    setDraft(draftOf(next))
    setSaved(true)
    void loadSession()
  }
  const [shorter, setShorter] = useState<Put>()
  /** What is past a shorter time is removed for good: that is asked about first. */
  const save = useAction(async () => {
    const body = changes()
    const kept = body.retention_days ?? 0
    if (kept > 0 && (opened.retention_days === 0 || kept < opened.retention_days)) setShorter(body)
    else await put(body)
  })
  const back = useAction(put)
  const origin = (name: keyof Put) =>
    of.overridden.includes(name) ? (
      <>
        set here{' '}
        <button type="button" class="button inline" onClick={() => back.run({ [name]: null } as Put)}>
          {IN_FILE.has(name) ? "Back to the configuration's" : 'Back to the default'}
        </button>
      </>
    ) : IN_FILE.has(name) ? (
      'from the configuration'
    ) : (
      'the default'
    )
  return (
    <Card title="Gateway">
      <Form onSubmit={() => void save.run()} error={save.error ?? back.error}>
        <div class="cols">
          <div class="form">
            <Text
              label="Riel for one US dollar"
              value={draft.rate}
              onChange={(rate) => set({ rate })}
              inputMode="decimal"
              hint={origin('khr_per_usd')}
            />
            <Text
              label="Keep single exchanges, days"
              value={draft.retention}
              onChange={(retention) => set({ retention })}
              inputMode="decimal"
              hint={<>0 keeps them for ever; sums are always kept; {origin('retention_days')}</>}
            />
            <Text
              label="Sign in again after, days"
              value={draft.sessionDays}
              onChange={(sessionDays) => set({ sessionDays })}
              inputMode="numeric"
              hint={<>A session ends after 7 days without use in any case; {origin('session_days')}</>}
            />
            <Check
              label="Ask a second factor of every admin"
              hint={<>Who has none sets one up before anything else; {origin('second_factor_for_admins')}</>}
              checked={draft.factor}
              onChange={(factor) => set({ factor })}
            />
            <Text
              label="Trusted proxies"
              hint={<>Whose X-Forwarded headers are believed; empty: nobody's; {origin('trust_proxy')}</>}
              value={draft.trust}
              onChange={(trust) => set({ trust })}
              placeholder="Such as 10.0.0.0/8"
            />
          </div>
          <div class="form">
            <h3>
              New keys{' '}
              <span class="muted small" style={{ fontWeight: 400 }}>
                {origin('key_defaults')}
              </span>
            </h3>
            <div class="pair">
              <Text
                label="Token quota"
                value={draft.tokens}
                onChange={(tokens) => set({ tokens })}
                inputMode="numeric"
              />
              <Text
                label="Days until expiry"
                value={draft.expiry}
                onChange={(expiry) => set({ expiry })}
                inputMode="numeric"
              />
            </div>
            <ModelsField value={draft.models} onChange={(models) => set({ models })} />
            <h3>
              Limits of keys that set none{' '}
              <span class="muted small" style={{ fontWeight: 400 }}>
                0 is no limit, {origin('limits')}
              </span>
            </h3>
            <LimitFields of={draft} onChange={set} />
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
