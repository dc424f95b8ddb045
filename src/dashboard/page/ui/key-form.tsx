// The form of a key, for a new one and for changes.

import { useState } from 'preact/hooks'
import type { Key, KeyWithSecret, Member, MemberLimits } from '../../../admin-api/schema.ts'
import type { Renewal } from '../../../keys/renewal.ts'
import { DAY_MS } from '../../../lib/spans.ts'
import { call } from '../lib/api.ts'
import { changesOf } from '../lib/changes.ts'
import { count, countField, limitField, toLocalField } from '../lib/format.ts'
import { useAction, useResource } from '../lib/resource.ts'
import { isAdmin, session } from '../lib/session.ts'
import { type BudgetDraft, BudgetFields, budgetDraft, needBudget } from './budget.tsx'
import { Buttons, Check, countOrNull, Form, needCount, needTimeToCome, readCount, Select, Text } from './fields.tsx'
import { ModelsField, needModels } from './models-field.tsx'
import { needTools, ServerToolsField, toolsField } from './server-tools-field.tsx'

/** What the limits of keys are called. */
export const LIMITS = { rpm: 'Requests / minute', tpm: 'Tokens / minute', concurrency: 'Requests at once' } as const

type Limits = Record<keyof typeof LIMITS, string>
type LimitFieldsProps = { of: Limits; onChange: (change: Partial<Limits>) => void; placeholder?: string }

export const LimitFields = ({ of, onChange, placeholder }: LimitFieldsProps) => (
  <div class="pair">
    {(['rpm', 'tpm', 'concurrency'] as const).map((name) => (
      <Text
        key={name}
        label={LIMITS[name]}
        value={of[name]}
        onChange={(text) => onChange({ [name]: text })}
        inputMode="numeric"
        placeholder={placeholder}
      />
    ))}
  </div>
)

const NEVER = 'never'

type Draft = Limits & {
  label: string
  /** A member's id, OWN or NOBODY; a new key's only. */
  owner: string
  tokens: string
  renews: Renewal | typeof NEVER
  expires: string
  models: string[]
  tools: string
  /** Addresses and networks with commas between them; empty: anywhere. */
  ips: string
  captures: boolean
  budget: BudgetDraft
}

const OWN = ''
const NOBODY = '-'

/** `limits`: of the member whose key it is to be; an admin's has none. */
const draftOf = (key: Key | undefined, limits: MemberLimits | undefined): Draft => {
  if (key !== undefined) {
    return {
      label: key.label,
      owner: OWN,
      tokens: countField(key.tokens_total),
      renews: key.renews ?? NEVER,
      expires: toLocalField(key.expires_at),
      models: key.models,
      tools: toolsField(key.server_tools),
      ips: (key.ips ?? []).join(', '),
      captures: key.capture === 'content',
      budget: budgetDraft(key.budget),
      rpm: limitField(key.rpm),
      tpm: limitField(key.tpm),
      concurrency: limitField(key.concurrency),
    }
  }
  const defaults = session.value?.key_defaults
  const days = Math.min(defaults?.expires_days ?? 365, limits?.max_expiry_days ?? Number.POSITIVE_INFINITY)
  const tokens = Math.min(defaults?.tokens_total ?? 1_000_000, limits?.max_tokens_per_key ?? Number.POSITIVE_INFINITY)
  // A member's longest span ends a little before it ends: the clock runs on while the form is open.
  const expires = new Date(Date.now() + days * DAY_MS - (limits?.max_expiry_days ? 60_000 : 0))
  return {
    label: '',
    owner: OWN,
    tokens: countField(tokens),
    renews: NEVER,
    expires: toLocalField(expires.toISOString()),
    tools: 'all',
    ips: '',
    captures: false,
    budget: budgetDraft(null),
    models: limits === undefined || limits.models.includes('*') ? (defaults?.models ?? ['*']) : limits.models,
    rpm: '',
    tpm: '',
    concurrency: '',
  }
}

const RENEWAL_OPTIONS: readonly (readonly [Draft['renews'], string])[] = [
  [NEVER, 'Never'],
  ['day', 'Every day'],
  ['week', 'Every Monday'],
  ['month', 'Every month'],
]

const mayRenew = (limits: MemberLimits | undefined): boolean =>
  (limits?.max_tokens_per_key ?? null) === null || session.value?.member?.may_renew === true

/** A member whose tokens are limited may end the renewals of a key, no more. */
const renewalOptions = (limits: MemberLimits | undefined, existing: Key | undefined) =>
  RENEWAL_OPTIONS.filter(([name]) => mayRenew(limits) || name === NEVER || name === existing?.renews)

const bodyOf = (draft: Draft) => ({
  label: draft.label.trim(),
  tokens_total: needCount(draft.tokens, 'Token quota'),
  renews: draft.renews === NEVER ? null : draft.renews,
  expires_at: new Date(draft.expires).toISOString(),
  models: needModels(draft.models),
  server_tools: needTools(draft.tools),
  ips: ipsIn(draft.ips),
  capture: draft.captures ? ('content' as const) : ('none' as const),
  budget: needBudget(draft.budget),
  rpm: countOrNull(draft.rpm, LIMITS.rpm),
  tpm: countOrNull(draft.tpm, LIMITS.tpm),
  concurrency: countOrNull(draft.concurrency, LIMITS.concurrency),
})

const ipsIn = (text: string): string[] | null => {
  const ips = text.split(/[\s,]+/).filter((each) => each !== '')
  return ips.length === 0 ? null : ips
}

const ownerIn = (owner: string): { owner?: string | null } =>
  owner === OWN ? {} : { owner: owner === NOBODY ? null : owner }

/** Everyone else a key can be made for; undefined until that is known, and where it is not for the caller to choose. */
const useOthers = (wanted: boolean): Member[] | undefined => {
  const members = useResource(
    async (signal) => (wanted ? (await call('members.list', undefined, signal)).items : undefined),
    [wanted],
  )
  return members.value?.filter(({ id }) => id !== session.value?.member?.id)
}

/** A new key in the place of one that is gone: for the same owner, with what that one had left. */
const draftLike = (key: Key, limits: MemberLimits | undefined): Draft => {
  const usual = draftOf(undefined, limits)
  const before = draftOf(key, limits)
  const own = key.owner?.id === session.value?.member?.id
  const renews = mayRenew(limits) ? before.renews : NEVER
  return {
    ...before,
    owner: own ? OWN : (key.owner?.id ?? NOBODY),
    renews,
    // Of a quota that renews, the remainder is this period's alone.
    tokens:
      renews !== NEVER ? before.tokens : key.tokens_remaining > 0 ? countField(key.tokens_remaining) : usual.tokens,
    expires: key.status !== 'expired' && Date.parse(key.expires_at) > Date.now() ? before.expires : usual.expires,
  }
}

/** `existing` absent: a new key, `like` another where that is given. */
export const KeyForm = ({
  existing,
  like,
  onDone,
  onCancel,
}: {
  existing?: Key
  like?: Key
  onDone: (made: KeyWithSecret | undefined, key: Key) => void
  onCancel: () => void
}) => {
  const own = isAdmin.value ? undefined : session.value?.member?.limits
  // The page shows the key anew while its form is open.
  const [opened] = useState(() => (like === undefined ? draftOf(existing, own) : draftLike(like, own)))
  const [draft, setDraft] = useState(opened)
  const set = (change: Partial<Draft>): void => setDraft((before) => ({ ...before, ...change }))
  const others = useOthers(existing === undefined && isAdmin.value)
  const members = others ?? []
  const owner = members.find(({ id }) => id === draft.owner)
  // The owner of the key before may have left.
  const gone = others !== undefined && owner === undefined && draft.owner !== OWN
  const ownerId = gone ? NOBODY : draft.owner
  // What an admin makes for a member lies within that member's limits; what they change later need not.
  const limits = owner?.role === 'member' ? owner.limits : own
  const choose = (next: string): void => {
    const chosen = members.find(({ id }) => id === next)
    const { tokens, expires, models } = draftOf(undefined, chosen?.role === 'member' ? chosen.limits : undefined)
    set({ owner: next, tokens, expires, models })
  }
  const saving = useAction(async () => {
    const body = bodyOf(draft)
    needTimeToCome(draft.expires, 'Expires')
    if (existing === undefined) {
      const made = await call('keys.create', { ...body, ...ownerIn(ownerId) })
      onDone(made, made.key)
    } else {
      // A value that stands above a member's limit by an admin's hand stays as it is, too.
      onDone(undefined, await call('keys.update', { id: existing.id, ...changesOf(bodyOf(opened), body) }))
    }
  })
  const quota = readCount(draft.tokens)
  const renewals = renewalOptions(own, existing)
  return (
    <Form onSubmit={() => void saving.run()} error={saving.error}>
      <Text
        label="Label"
        value={draft.label}
        onChange={(label) => set({ label })}
        maxLength={200}
        required
        autoFocus={existing === undefined}
        placeholder="Who or what uses it"
      />
      {members.length > 0 && (
        <Select
          label="Owner"
          value={ownerId}
          onChange={choose}
          options={[
            [OWN, `${session.value?.member?.name ?? 'You'} (you)`],
            ...members.map(({ id, name, role }) => [id, role === 'admin' ? `${name} (admin)` : name] as const),
            [NOBODY, 'Nobody: the gateway’s own'],
          ]}
          hint={owner && limits ? `Within the limits of ${owner.name}` : 'Who sees it, and what it used'}
        />
      )}
      <div class="pair">
        <Text
          label="Token quota"
          value={draft.tokens}
          onChange={(tokens) => set({ tokens })}
          inputMode="numeric"
          required
          hint={
            quota === undefined
              ? 'Such as 250,000 or 2M'
              : `${count(quota)} tokens${limits?.max_tokens_per_key ? ` of at most ${count(limits.max_tokens_per_key)}` : ''}`
          }
        />
        {renewals.length > 1 && (
          <Select
            label="Renews"
            value={draft.renews}
            onChange={(renews) => set({ renews })}
            options={renewals}
            hint="Used tokens start again from 0"
          />
        )}
        <Text
          label="Expires"
          type="datetime-local"
          value={draft.expires}
          onChange={(expires) => set({ expires })}
          required
          hint={limits?.max_expiry_days ? `At most ${count(limits.max_expiry_days)} days` : 'In your time zone'}
        />
      </div>
      <BudgetFields value={draft.budget} onChange={(budget) => set({ budget })} />
      <ModelsField value={draft.models} onChange={(models) => set({ models })} allowed={limits?.models} />
      <ServerToolsField value={draft.tools} onChange={(tools) => set({ tools })} />
      <Text
        label="May be used from"
        value={draft.ips}
        onChange={(ips) => set({ ips })}
        placeholder="Anywhere"
        hint="Addresses and networks, such as 203.0.113.7, 10.0.0.0/8; empty: from anywhere"
      />
      <LimitFields of={draft} onChange={set} placeholder="Default" />
      <Check
        label="Capture what is said"
        checked={draft.captures}
        onChange={(captures) => set({ captures })}
        hint={
          session.value?.traces
            ? 'Prompts and answers go with the traces to OpenTelemetry, for all who may read those'
            : 'Prompts and answers would go with the traces to OpenTelemetry; this gateway exports none now'
        }
      />
      <p class="muted small">Empty limits take the gateway's default; 0 is no limit.</p>
      <Buttons action={existing === undefined ? 'Create key' : 'Save'} busy={saving.busy} onCancel={onCancel} />
    </Form>
  )
}
