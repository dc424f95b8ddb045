// One exchange explained: what was checked, where it went and why, what was tried, what it cost.

import { useRoute } from 'preact-iso/router'
import type { Attempt, ExplainedExchange } from '../../../admin-api/schema.ts'
import { call } from '../lib/api.ts'
import { count, duration, exact, khr, usdFine } from '../lib/format.ts'
import { returns, useLive } from '../lib/live.ts'
import { lastSeen } from '../lib/query.ts'
import { useResource } from '../lib/resource.ts'
import { isAdmin } from '../lib/session.ts'
import { Bill } from '../ui/bill.tsx'
import { OutcomeBadge } from '../ui/exchanges-table.tsx'
import { Badge, Card, Clip, Loaded, Notice, PageHead, Snippet, Stat } from '../ui/parts.tsx'

export const ExchangePage = () => {
  const { id = '' } = useRoute().params
  const explained = useResource((signal) => call('exchanges.get', { id }, signal), [id, returns.value])
  useLive((ended) => {
    if (ended.id === id) explained.reload()
  })
  const exchange = explained.value?.exchange
  return (
    <div class="stack">
      <PageHead
        crumb={{ href: lastSeen('/dashboard/exchanges'), label: 'Exchanges' }}
        title={exchange?.model ?? (exchange === undefined ? 'Exchange' : 'Refused request')}
        lead={
          exchange && (
            <span class="row">
              <OutcomeBadge exchange={exchange} />
              {exchange.status !== null && <Badge plain>HTTP {exchange.status}</Badge>}
              <span>{exact(exchange.started_at)}</span>
              <code>{exchange.id}</code>
            </span>
          )
        }
      />
      <Loaded of={explained} lines={14}>
        {(value) => <Explained of={value} />}
      </Loaded>
    </div>
  )
}

const Explained = ({ of }: { of: ExplainedExchange }) => {
  const { exchange, failure, quota, route } = of
  const open = exchange.outcome === 'open'
  return (
    <>
      {failure !== null && (
        <Notice tone="bad">
          <p>
            <b>{failure.happened}</b>
          </p>
          <p>
            {exchange.attempts > 0 ? 'Most often: ' : ''}
            {failure.why} {failure.todo}
            {isAdmin.value && exchange.outcome === 'failed' && (
              <>
                {' '}
                <a href="/dashboard/accounts">See the accounts</a>
              </>
            )}
          </p>
        </Notice>
      )}
      <section class="card" aria-label="Figures">
        <dl class="stats">
          <Stat
            label="Whole answer"
            value={duration(exchange.total_ms)}
            note={`first byte ${duration(exchange.first_byte_ms)}`}
          />
          <Stat
            label={open ? 'Tokens so far' : 'Tokens billed'}
            value={count(exchange.tokens)}
            note={billedBy(exchange)}
          />
          <Stat
            label="Cost"
            value={open ? '–' : usdFine(exchange.cost_micro_usd)}
            note={open ? 'known when it ends' : khr(exchange.cost_khr)}
          />
          <Stat
            label="Key"
            value={
              <a href={`/dashboard/keys/${encodeURIComponent(exchange.key.id)}`}>
                <Clip text={exchange.key.label} />
              </a>
            }
            note={<code>{exchange.key.id}</code>}
          />
        </dl>
      </section>
      <div class="cols">
        <Card title="Checks">
          <ol class="trail">
            {of.checks.map(({ name, passed, detail }) => (
              <li key={name}>
                <span class={passed ? 'mark good' : 'mark bad'} role="img" aria-label={passed ? 'passed' : 'refused'}>
                  {passed ? '✓' : '✕'}
                </span>
                <span>
                  {name}
                  <span class="sub">{detail}</span>
                </span>
              </li>
            ))}
          </ol>
        </Card>
        <Card title="Route">
          <dl class="facts">
            <dt>Model</dt>
            <dd>
              {route.model ?? 'not known'}
              {route.upstream_model && route.upstream_model !== route.model && ` → ${route.upstream_model}`}
            </dd>
            <dt>Wire</dt>
            <dd>
              {route.client_wire}
              {route.provider_wire && route.provider_wire !== route.client_wire && ` → ${route.provider_wire}`}
              {exchange.stream && ', streamed'}
            </dd>
            {route.mode && (
              <>
                <dt>Body</dt>
                <dd>{route.mode === 'pass' ? 'passed as it came' : 'translated'}</dd>
              </>
            )}
            {exchange.provider && (
              <>
                <dt>{exchange.outcome === 'done' ? 'Answered by' : 'Tried last'}</dt>
                <dd>{placeOf(exchange)}</dd>
              </>
            )}
            {Object.keys(of.server_tools).length > 0 && (
              <>
                <dt>Tools at the vendor</dt>
                <dd>
                  {Object.entries(of.server_tools)
                    .map(([name, calls]) => `${name} ${count(calls)}`)
                    .join(', ')}
                  {of.fees_micro_usd > 0 && `: ${usdFine(of.fees_micro_usd)} of the cost`}
                </dd>
              </>
            )}
            {Object.keys(of.server_tools).length === 0 && of.fees_micro_usd > 0 && (
              <>
                <dt>Billed by the piece</dt>
                <dd>{usdFine(of.fees_micro_usd)} of the cost</dd>
              </>
            )}
            {exchange.address !== null && (
              <>
                <dt>From</dt>
                <dd>{exchange.address}</dd>
              </>
            )}
            {exchange.tag !== null && (
              <>
                <dt>Tag</dt>
                <dd>{exchange.tag}</dd>
              </>
            )}
            {of.dropped.length > 0 && (
              <>
                <dt>Left out</dt>
                <dd>
                  {of.dropped.map((name) => (
                    <code key={name}>{name} </code>
                  ))}
                </dd>
              </>
            )}
          </dl>
          {route.why.length > 0 && (
            <ul class="prose muted small" style={{ marginTop: '10px', paddingLeft: '18px' }}>
              {route.why.map((reason) => (
                <li key={reason}>{reason}</li>
              ))}
            </ul>
          )}
        </Card>
      </div>
      {quota !== null && (
        <>
          <Attempts attempts={of.attempts} />
          <div class="cols">
            <Bill of={of} />
            <Quota of={quota} />
          </div>
        </>
      )}
      {of.raw_usage !== null && of.raw_usage !== undefined && (
        <Card title="Usage in the provider's own words">
          <Snippet text={JSON.stringify(of.raw_usage, null, 2)} />
        </Card>
      )}
    </>
  )
}

const Quota = ({ of: quota }: { of: NonNullable<ExplainedExchange['quota']> }) => (
  <Card title="Quota">
    <dl class="facts">
      <dt>Left before</dt>
      <dd class="num">{quota.left_before === null ? 'not known' : count(quota.left_before)}</dd>
      <dt>Prompt, estimated</dt>
      <dd class="num">{count(quota.input_estimate)}</dd>
      <dt>Reserved</dt>
      <dd class="num">{count(quota.reserved)}</dd>
      <dt>Billed</dt>
      <dd class="num">{count(quota.billed)}</dd>
      <dt>Left after</dt>
      <dd class="num">{quota.left_after === null ? 'not known' : count(quota.left_after)}</dd>
    </dl>
  </Card>
)

const billedBy = ({ tokens, estimated, outcome }: ExplainedExchange['exchange']): string => {
  if (outcome === 'open') return 'counted as they come'
  if (estimated) return 'estimated: the provider gave no final figures'
  return tokens === 0 ? 'nothing was used' : "the provider's figures"
}

const Attempts = ({ attempts }: { attempts: Attempt[] }) => {
  const longest = Math.max(1, ...attempts.map(({ ms }) => ms ?? 0))
  return (
    <Card title={attempts.length === 1 ? 'One attempt' : `${attempts.length} attempts`}>
      {attempts.length === 0 ? (
        <p class="muted">No provider was called.</p>
      ) : (
        <ol class="trail">
          {attempts.map((attempt, index) => {
            const failed = attempt.result === 'failed'
            return (
              <li key={index}>
                <span class="muted">{index + 1}</span>
                <span>
                  {placeOf(attempt)}, <code>{attempt.model}</code> on {attempt.wire}{' '}
                  <Badge tone={failed ? 'bad' : attempt.result === 'answered' ? 'good' : 'warn'}>
                    {attempt.error_code ?? attempt.result}
                  </Badge>
                  <ProviderSaid attempt={attempt} />
                </span>
                <span class="num">{duration(attempt.ms)}</span>
                <span class="lane">
                  <span class={failed ? 'bad' : ''} style={{ width: `${((attempt.ms ?? 0) / longest) * 100}%` }} />
                </span>
              </li>
            )
          })}
        </ol>
      )}
    </Card>
  )
}

/** Members are not told the account. */
const placeOf = ({ provider, account }: { provider: string | null; account: string | null }): string =>
  [provider, account].filter((word) => word !== null).join(' / ')

const ProviderSaid = ({ attempt }: { attempt: Attempt }) => {
  const said = [
    attempt.provider_status !== null && `provider status ${attempt.provider_status}`,
    attempt.provider_code !== null && `code ${attempt.provider_code}`,
    attempt.provider_request_id !== null && `its request id ${attempt.provider_request_id}`,
  ].filter(Boolean)
  return said.length === 0 ? null : <span class="sub">{said.join(' · ')}</span>
}
