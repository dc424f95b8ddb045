// One key: what is left, what it may do, what was used when, and everything that can be done with it.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso/router'
import type { Key, KeyWithSecret, Usage } from '../../../admin-api/schema.ts'
import { call } from '../lib/api.ts'
import { compact, count, counted, countField, dateTime, usd } from '../lib/format.ts'
import { returns, useAfterTraffic } from '../lib/live.ts'
import { lastSeen, useQuery } from '../lib/query.ts'
import { isRange, spanOf } from '../lib/range.ts'
import { useAction, useResource } from '../lib/resource.ts'
import { isAdmin, session, zone } from '../lib/session.ts'
import { BudgetMeter, budgetLeft, budgetNote } from '../ui/budget.tsx'
import { Connect } from '../ui/connect.tsx'
import { Confirm, Dialog } from '../ui/dialog.tsx'
import { Buttons, Check, Form, needCount, readCount, Select, Text } from '../ui/fields.tsx'
import { KeyForm, LIMITS } from '../ui/key-form.tsx'
import { KeyStatus, QuotaMeter } from '../ui/key-status.tsx'
import { Button, Card, Loaded, Notice, PageHead, Stat, When } from '../ui/parts.tsx'
import { RangeField } from '../ui/range-field.tsx'
import { SecretDialog } from '../ui/secret-dialog.tsx'
import { toolsField } from '../ui/server-tools-field.tsx'
import { MOST, measureOf, sumOf, UsageTable, UsageView } from '../ui/usage-view.tsx'

/** The figures are asked for again at most this often while its exchanges end. */
const REFRESH_MS = 500

type Doing = 'edit' | 'again' | 'top-up' | 'rotate' | 'revoke' | 'reset'

export const KeyPage = () => {
  const { id = '' } = useRoute().params
  const { route } = useLocation()
  const key = useResource((signal) => call('keys.get', { id }, signal), [id, returns.value])
  const [doing, setDoing] = useState<Doing>()
  const [made, setMade] = useState<KeyWithSecret>()
  useAfterTraffic(REFRESH_MS, key.reload, (exchange) => exchange.key.id === id)
  return (
    <div class="stack">
      <PageHead
        crumb={{ href: lastSeen('/dashboard/keys'), label: 'Keys' }}
        title={key.value?.label ?? 'Key'}
        lead={
          key.value && (
            <span class="row">
              <KeyStatus status={key.value.status} />
              <code>{key.value.id}</code>
            </span>
          )
        }
      >
        {key.value && key.value.status !== 'revoked' && <Actions onDo={setDoing} />}
      </PageHead>
      <Loaded of={key} lines={12}>
        {(value) => (
          <>
            {value.status === 'revoked' && <Revoked onAgain={() => setDoing('again')} />}
            {value.old_secret_until && (
              <Notice tone="warn">
                The secret before this one works, too, until {dateTime(value.old_secret_until)}. To end it now, rotate
                once more and choose “Ends at once”.
              </Notice>
            )}
            {value.capture === 'content' && value.status !== 'revoked' && <Captured />}
            <Figures of={value} />
            <KeyUsage id={id} />
            <Facts of={value} />
            {value.status !== 'revoked' && <Connect of={value} />}
            {doing && (
              <Dialogs
                doing={doing}
                of={value}
                onClose={() => setDoing(undefined)}
                onChange={key.set}
                onSecret={(secret) => {
                  setMade(secret)
                  if (secret.key.id === id) key.set(secret.key)
                }}
              />
            )}
            {made && (
              <SecretDialog
                made={made}
                onClose={() => {
                  setMade(undefined)
                  if (made.key.id !== id) route(`/dashboard/keys/${encodeURIComponent(made.key.id)}`)
                }}
              />
            )}
          </>
        )}
      </Loaded>
    </div>
  )
}

const Revoked = ({ onAgain }: { onAgain: () => void }) => (
  <Notice tone="warn">
    Revoked: whoever uses this key is refused, for good. Was it a mistake? A new key can take its place, with what this
    one had left; its clients need the new secret.{' '}
    <Button size="small" onClick={onAgain}>
      Make a new key like it
    </Button>
  </Notice>
)

/** Whose key it is has to know, also where somebody else has set it so. */
const Captured = () => (
  <Notice tone="warn">
    What is said with this key is captured: its prompts and answers go with the traces to OpenTelemetry, for all who may
    read those{session.value?.traces ? '' : ', as soon as this gateway exports any'}. Edit the key to change that.
  </Notice>
)

const Actions = ({ onDo }: { onDo: (doing: Doing) => void }) => (
  <>
    <Button onClick={() => onDo('edit')}>Edit</Button>
    <Button onClick={() => onDo('top-up')}>Top up</Button>
    {isAdmin.value && <Button onClick={() => onDo('reset')}>Reset usage</Button>}
    <Button onClick={() => onDo('rotate')}>Rotate</Button>
    <Button kind="danger" onClick={() => onDo('revoke')}>
      Revoke
    </Button>
  </>
)

const quotaNote = ({ tokens_total, renews, renews_at }: Key): string =>
  `${count(tokens_total)} tokens${renews === null || renews_at === null ? '' : ` a ${renews}, again from ${dateTime(renews_at)}`}`

const Figures = ({ of }: { of: Key }) => (
  <section class="card" aria-label="Quota">
    <dl class="stats">
      <Stat
        label="Tokens left"
        value={compact(of.tokens_remaining)}
        note={
          of.tokens_held > 0 ? `${compact(of.tokens_held)} held by requests under way` : `${count(of.tokens_remaining)}`
        }
      />
      <Stat label="Tokens used" value={compact(of.tokens_used)} note={<QuotaMeter of={of} />} />
      <Stat label="Quota" value={compact(of.tokens_total)} note={quotaNote(of)} />
      {of.budget && (
        <Stat
          label="Budget left"
          value={budgetLeft(of.budget)}
          note={
            <>
              <BudgetMeter of={of.budget} /> {budgetNote(of.budget)}
            </>
          }
        />
      )}
      <Stat label="Expires" value={<When at={of.expires_at} />} note={dateTime(of.expires_at)} />
      <Stat
        label="Last used"
        value={<When at={of.last_used_at} />}
        note={of.last_used_at === null ? 'no request yet' : dateTime(of.last_used_at)}
      />
    </dl>
  </section>
)

const KeyUsage = ({ id }: { id: string }) => {
  const [query, setQuery] = useQuery()
  const range = isRange(query.range, zone.value) ? query.range : '30d'
  const measure = measureOf(query.measure)
  const most = MOST[measure]
  const usage = useResource(
    (signal) => call('keys.usage', { id, ...spanOf(range, zone.value), most }, signal),
    [id, range, most, returns.value],
  )
  useAfterTraffic(REFRESH_MS, usage.reload, (exchange) => exchange.key.id === id)
  return (
    <div class="stack" style={{ gap: '8px' }}>
      <div class="row" style={{ justifyContent: 'space-between' }}>
        <span class="muted">
          {usage.value &&
            `${counted(usage.value.totals.requests, 'request')}, ${usd(usage.value.totals.cost_micro_usd)} in this time. `}
          <a href={`/dashboard/exchanges?key=${encodeURIComponent(id)}`}>Its exchanges</a>
        </span>
        <RangeField value={range} onChange={(next) => setQuery({ range: next })} />
      </div>
      <Loaded of={usage}>
        {(value) => (
          <div class="stack">
            <Refused of={value.refused} keyId={id} />
            <UsageView usage={value} measure={measure} onMeasure={(next) => setQuery({ measure: next })} />
            <UsageTable usage={value} by="model" ofKey={id} />
            <Unfinished of={value} />
          </div>
        )}
      </Loaded>
    </div>
  )
}

/** What was refused before it became an exchange: it is in no sum. */
const Refused = ({ of, keyId }: { of: Usage['refused']; keyId: string }) =>
  of.length === 0 ? null : (
    <p class="muted">
      <a href={`/dashboard/exchanges?outcome=refused&key=${encodeURIComponent(keyId)}`}>
        {counted(sumOf(of), 'request')} refused
      </a>
      {`: ${of.map(({ code, count: times }) => `${count(times)} ${code}`).join(', ')}.`}
    </p>
  )

/** Who asks again for each broken answer is billed for each: that is to be seen. */
const Unfinished = ({ of: { unfinished } }: { of: Usage }) =>
  unfinished === undefined || unfinished.requests === 0 ? null : (
    <p class="muted">
      {unfinished.whole ? '' : 'At least '}
      {counted(unfinished.requests, 'answer')} broke off or {unfinished.requests === 1 ? 'was' : 'were'} left before the
      end, billed by an estimate: {count(unfinished.tokens)} tokens.
    </p>
  )

const limit = (value: number | null): ComponentChildren =>
  value === null ? <span class="muted">the gateway's default</span> : value === 0 ? 'no limit' : count(value)

const Facts = ({ of }: { of: Key }) => (
  <div class="cols">
    <Card title="May use">
      <dl class="facts">
        <dt>Models</dt>
        <dd>{of.models.includes('*') ? 'all models' : of.models.join(', ')}</dd>
        <dt>Tools at the vendor</dt>
        <dd>{toolsField(of.server_tools)}</dd>
        <dt>Used from</dt>
        <dd>{of.ips === null ? 'anywhere' : of.ips.join(', ')}</dd>
        <dt>{LIMITS.rpm}</dt>
        <dd>{limit(of.rpm)}</dd>
        <dt>{LIMITS.tpm}</dt>
        <dd>{limit(of.tpm)}</dd>
        <dt>{LIMITS.concurrency}</dt>
        <dd>{limit(of.concurrency)}</dd>
      </dl>
    </Card>
    <Card title="About">
      <dl class="facts">
        <dt>Owner</dt>
        <dd>{of.owner?.name ?? <span class="muted">nobody in particular</span>}</dd>
        {of.last_four !== null && (
          <>
            <dt>Secret</dt>
            <dd>
              <code>sk-sl-…{of.last_four}</code>
            </dd>
          </>
        )}
        <dt>Created</dt>
        <dd>{dateTime(of.created_at)}</dd>
        <dt>Expires</dt>
        <dd>{dateTime(of.expires_at)}</dd>
        {of.revoked_at && (
          <>
            <dt>Revoked</dt>
            <dd>{dateTime(of.revoked_at)}</dd>
          </>
        )}
        {isAdmin.value && (
          <>
            <dt>Changes</dt>
            <dd>
              <a href={`/dashboard/audit?target=${encodeURIComponent(of.id)}`}>In the audit</a>
            </dd>
          </>
        )}
      </dl>
    </Card>
  </div>
)

type DialogsProps = {
  doing: Doing
  of: Key
  onClose: () => void
  onChange: (key: Key) => void
  onSecret: (made: KeyWithSecret) => void
}

const Dialogs = ({ doing, of, onClose, onChange, onSecret }: DialogsProps) => {
  switch (doing) {
    case 'edit':
      return (
        <Dialog title="Edit key" onClose={onClose} firm>
          <KeyForm
            existing={of}
            onCancel={onClose}
            onDone={(_, key) => {
              onChange(key)
              onClose()
            }}
          />
        </Dialog>
      )
    case 'again':
      return (
        <Dialog title={`New key like “${of.label}”`} onClose={onClose} firm>
          <KeyForm
            like={of}
            onCancel={onClose}
            onDone={(secret) => {
              if (secret) onSecret(secret)
              onClose()
            }}
          />
        </Dialog>
      )
    case 'top-up':
      return <TopUp of={of} onClose={onClose} onChange={onChange} />
    case 'rotate':
      return <Rotate of={of} onClose={onClose} onSecret={onSecret} />
    case 'reset':
      return (
        <Confirm
          title="Reset usage"
          action="Reset to zero"
          onClose={onClose}
          run={async () => onChange(await call('keys.reset', { id: of.id }))}
        >
          <p>
            The {count(of.tokens_used)} tokens used count as not used: the key has its whole quota again. What was spent
            stays in the statistics.
          </p>
        </Confirm>
      )
    case 'revoke':
      return (
        <Confirm
          title={`Revoke “${of.label}”?`}
          action="Revoke key"
          last
          onClose={onClose}
          run={async () => onChange(await call('keys.revoke', { id: of.id }))}
        >
          <p>
            Whoever uses it is refused from now on. This cannot be undone: only a new key, with a new secret, can take
            its place.
          </p>
        </Confirm>
      )
  }
}

const USUAL = 1_000_000

const TopUp = ({ of, onClose, onChange }: { of: Key; onClose: () => void; onChange: (key: Key) => void }) => {
  // A member's key ends at the member's limit, wherever an admin has put it.
  const most = isAdmin.value ? null : (session.value?.member?.limits.max_tokens_per_key ?? null)
  const room = most === null ? USUAL : Math.min(USUAL, most - of.tokens_total)
  const [tokens, setTokens] = useState(countField(Math.max(0, room)))
  const [lasting, setLasting] = useState(false)
  const value = readCount(tokens)
  const adding = useAction(async () => {
    onChange(await call('keys.top-up', { id: of.id, tokens: needCount(tokens, 'Tokens to add'), lasting }))
    onClose()
  })
  if (room <= 0 && most !== null) {
    return (
      <Dialog title="Top up" onClose={onClose}>
        <p>The key has the {count(most)} tokens that one of yours may have. An admin can give it more.</p>
      </Dialog>
    )
  }
  return (
    <Dialog title="Top up" onClose={onClose}>
      <Form onSubmit={() => void adding.run()} error={adding.error}>
        <Text
          label="Tokens to add"
          value={tokens}
          onChange={setTokens}
          inputMode="numeric"
          required
          autoFocus
          hint={value === undefined ? 'Such as 250,000 or 2M' : `Then ${count(of.tokens_remaining + value)} are left.`}
        />
        {of.renews !== null && (
          <Check
            label={`For every ${of.renews} to come`}
            hint={`Else for this ${of.renews} alone: the next begins with ${count(of.tokens_total - of.tokens_extra)}.`}
            checked={lasting}
            onChange={setLasting}
          />
        )}
        <Buttons action="Add tokens" busy={adding.busy} onCancel={onClose} />
      </Form>
    </Dialog>
  )
}

const GRACES = [
  ['0', 'Ends at once'],
  ['3600', 'Works for one more hour'],
  ['86400', 'Works for one more day'],
  ['604800', 'Works for one more week'],
] as const

const Rotate = ({
  of,
  onClose,
  onSecret,
}: {
  of: Key
  onClose: () => void
  onSecret: (made: KeyWithSecret) => void
}) => {
  const [grace, setGrace] = useState<(typeof GRACES)[number][0]>('0')
  return (
    <Confirm
      title="Rotate the secret"
      action="Make a new secret"
      danger={false}
      onClose={onClose}
      run={async () => onSecret(await call('keys.rotate', { id: of.id, grace_seconds: Number(grace) }))}
    >
      <div class="form">
        <p>The key keeps its quota, limits and history; only the secret changes.</p>
        <Select label="The old secret" value={grace} options={GRACES} onChange={setGrace} />
      </div>
    </Confirm>
  )
}
