// Overview: what the gateway did in a span of time, and what it is doing now.

import type { Latency, Usage } from '../../../admin-api/schema.ts'
import { call } from '../lib/api.ts'
import { compact, count, countFigure, duration, khrShort, percent, usdFigure } from '../lib/format.ts'
import { returns, useAfterTraffic, useEnded } from '../lib/live.ts'
import { useQuery } from '../lib/query.ts'
import { isRange, spanOf } from '../lib/range.ts'
import { useResource } from '../lib/resource.ts'
import { isAdmin } from '../lib/session.ts'
import { ExchangesTable, withEnded } from '../ui/exchanges-table.tsx'
import { LiveDot } from '../ui/live-dot.tsx'
import { Card, Empty, Loaded, PageHead, Stat } from '../ui/parts.tsx'
import { RangeField } from '../ui/range-field.tsx'
import { Table } from '../ui/rows.tsx'
import { groupingOf, MOST, measureOf, sumOf, UsageTable, UsageView } from '../ui/usage-view.tsx'
import { Trouble } from './accounts.tsx'

/** The figures are asked for again at most this often while exchanges end. */
const REFRESH_MS = 4_000
const RECENT = 8

export const Overview = () => {
  const [query, setQuery] = useQuery()
  const range = isRange(query.range) ? query.range : '24h'
  const by = groupingOf(query.by)
  const measure = measureOf(query.measure)
  const most = MOST[measure]
  const usage = useResource(
    async (signal) => ({ by, usage: await call('usage.get', { ...spanOf(range), by, most }, signal) }),
    [range, by, most, returns.value],
  )
  useAfterTraffic(REFRESH_MS, usage.reload, () => true)
  return (
    <div class="stack">
      <PageHead title="Overview" lead={<LiveDot />}>
        <RangeField value={range} onChange={(next) => setQuery({ range: next })} />
      </PageHead>
      {isAdmin.value && <Trouble />}
      <Loaded of={usage} lines={12}>
        {({ by: shown, usage: value }) => (
          <>
            <section class="card" aria-label="Totals">
              <dl class="stats">
                <Stat label="Requests" value={countFigure(value.totals.requests)} note={failuresOf(value)} />
                <Stat
                  label="Tokens"
                  value={compact(value.totals.tokens)}
                  note={`${compact(value.totals.output)} output`}
                />
                <Stat
                  label="Cost"
                  value={usdFigure(value.totals.cost_micro_usd)}
                  note={`${khrShort(value.totals.cost_khr)} at ${count(value.khr_per_usd)}`}
                />
                <Stat label="Cache hits" value={percent(value.cache_hit_share)} note="of prompt tokens" />
                <Stat
                  label="First byte"
                  value={duration(value.latency.first_byte_ms?.p50 ?? null)}
                  note={`p95 ${duration(value.latency.first_byte_ms?.p95 ?? null)}`}
                />
                <Stat
                  label="Whole answer"
                  value={duration(value.latency.total_ms?.p50 ?? null)}
                  note={`p95 ${duration(value.latency.total_ms?.p95 ?? null)}`}
                />
              </dl>
            </section>
            <UsageView
              usage={value}
              grouping={{ value: by, onChange: (next) => setQuery({ by: next }) }}
              measure={measure}
              onMeasure={(next) => setQuery({ measure: next })}
            />
            <UsageTable usage={value} by={shown} />
            <div class="cols lean">
              <Latest />
              <LatencyCard latency={value.latency} />
            </div>
          </>
        )}
      </Loaded>
    </div>
  )
}

const failuresOf = ({ error_share, refused }: Usage): string => {
  if (error_share === null) return 'none yet'
  const count = sumOf(refused)
  return `${percent(error_share)} errors${count === 0 ? '' : `, ${compact(count)} refused`}`
}

/** The newest exchanges, moving by themselves. */
const Latest = () => {
  const page = useResource((signal) => call('exchanges.list', { limit: RECENT }, signal), [returns.value])
  const ended = useEnded(RECENT, () => true, [returns.value])
  return (
    <Card
      title="Latest exchanges"
      tools={
        <span class="row">
          <a href="/dashboard/exchanges?outcome=failed" aria-label="Failed exchanges">
            Failed
          </a>
          <a href="/dashboard/exchanges">All exchanges</a>
        </span>
      }
      flush
    >
      <Loaded of={page} lines={RECENT}>
        {({ items }) => {
          const latest = withEnded(items, ended).slice(0, RECENT)
          return latest.length === 0 ? (
            <Empty title="Nothing yet">
              <p>Make a key and send a first request: it shows up here at once.</p>
              <a class="button" href="/dashboard/keys">
                Go to keys
              </a>
            </Empty>
          ) : (
            <ExchangesTable items={latest} ended={ended} brief />
          )
        }}
      </Loaded>
    </Card>
  )
}

const LatencyCard = ({ latency }: { latency: Latency }) => (
  <Card title="Latency" flush>
    <Table columns={['Percentile', ['First byte', 'num'], ['Whole answer', 'num']]}>
      {(['p50', 'p95', 'p99'] as const).map((name) => (
        <tr key={name}>
          <th scope="row">{name}</th>
          <td class="num">{duration(latency.first_byte_ms?.[name] ?? null)}</td>
          <td class="num">{duration(latency.total_ms?.[name] ?? null)}</td>
        </tr>
      ))}
    </Table>
    <p class="more muted small">From {count(latency.sampled)} answered exchanges of this time.</p>
  </Card>
)
