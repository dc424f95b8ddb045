// One key: what is left, what it may do, what was used when, and everything that can be done with it.

import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { useLocation, useRoute } from 'preact-iso/router'
import type { Key, KeyWithSecret, Usage } from '../../../admin-api/schema.ts'
import { call } from '../lib/api.ts'
import { compact, count, counted, dateTime, usd } from '../lib/format.ts'
import { returns, useAfterTraffic } from '../lib/live.ts'
import { lastSeen, useQuery } from '../lib/query.ts'
import { isRange, spanOf } from '../lib/range.ts'
import { useResource } from '../lib/resource.ts'
import { isAdmin, session, zone } from '../lib/session.ts'
import { BudgetMeter, budgetLeft, budgetNote } from '../ui/budget.tsx'
import { Connect } from '../ui/connect.tsx'
import { type Doing, KeyDialog } from '../ui/key-dialogs.tsx'
import { LIMITS } from '../ui/key-form.tsx'
import { KeyStatus, QuotaMeter } from '../ui/key-status.tsx'
import { Button, Card, Loaded, Notice, PageHead, Stat, When } from '../ui/parts.tsx'
import { RangeField } from '../ui/range-field.tsx'
import { SecretDialog } from '../ui/secret-dialog.tsx'
import { toolsField } from '../ui/server-tools-field.tsx'
import { MOST, measureOf, sumOf, UsageTable, UsageView } from '../ui/usage-view.tsx'

/** The figures are asked for again at most this often while its exchanges end. */
const REFRESH_MS = 500

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
              <KeyDialog
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
