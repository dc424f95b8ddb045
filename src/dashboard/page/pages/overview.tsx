// Overview: what the gateway did in a span of time, and what it is doing now.

import type { Latency, OwnedBudget, Usage } from '../../../admin-api/schema.ts'
import { call } from '../lib/api.ts'
import { compact, count, countFigure, duration, khrShort, percent, usd, usdFigure } from '../lib/format.ts'
import { returns, useAfterTraffic, useEnded } from '../lib/live.ts'
import { useQuery } from '../lib/query.ts'
import { isRange, monthAfter, spanOf, thisMonth } from '../lib/range.ts'
import { useResource } from '../lib/resource.ts'
import { isAdmin, zone } from '../lib/session.ts'
import { Trouble } from '../ui/account-trouble.tsx'
import { BudgetMeter, shareUsed, usedText } from '../ui/budget.tsx'
import { ExchangesTable, withEnded } from '../ui/exchanges-table.tsx'
import { LiveDot } from '../ui/live-dot.tsx'
import { Card, Empty, Loaded, PageHead, Stat } from '../ui/parts.tsx'
import { RangeField } from '../ui/range-field.tsx'
import { Table } from '../ui/rows.tsx'
import { groupingOf, MOST, measureOf, sumOf, UsageTable, UsageView } from '../ui/usage-view.tsx'

/** The figures are asked for again at most this often while exchanges end. */
const REFRESH_MS = 4_000
const RECENT = 8

export const Overview = () => {
  const [query, setQuery] = useQuery()
  const range = isRange(query.range, zone.value) ? query.range : '24h'
  const by = groupingOf(query.by)
  const measure = measureOf(query.measure)
  const most = MOST[measure]
  const usage = useResource(
    async (signal) => ({
      by,
      usage: await call('usage.get', { ...spanOf(range, zone.value), by, most, compare: true }, signal),
    }),
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
                <Stat label="Cost" value={usdFigure(value.totals.cost_micro_usd)} note={costNote(value)} />
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
            <Spending />
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

const MANY_TIMES = 2

/** How much more or less it is than in the time before. */
const changed = (now: number, before: number): string => {
  if (before === 0) return now === 0 ? '' : 'nothing before then'
  if (now === before) return 'as much as before'
  const share = now / before - 1
  if (share >= MANY_TIMES) return `${count(Math.round(now / before))} times as much as before`
  return `${percent(Math.abs(share))} ${share < 0 ? 'less' : 'more'} than before`
}

const costNote = ({ totals, before, khr_per_usd }: Usage) => {
  const riel = `${khrShort(totals.cost_khr)} at ${count(khr_per_usd)}`
  const change = before === null ? '' : changed(totals.cost_micro_usd, before.totals.cost_micro_usd)
  if (change === '') return riel
  return (
    <>
      {change}
      <br />
      {riel}
    </>
  )
}

/** What the month has cost and will cost at this rate, and how much of each budget is gone. */
const Spending = () => {
  const month = useResource(
    async (signal) => {
      const current = thisMonth(zone.value)
      const { totals, since } = await call('usage.get', { ...spanOf(current, zone.value), by: 'none' }, signal)
      const whole = Date.parse(monthAfter(current, 1)) - Date.parse(current)
      const gone = (Date.now() - Date.parse(since)) / whole
      return { cost: totals.cost_micro_usd, atEnd: totals.cost_micro_usd / gone, gone }
    },
    [returns.value],
  )
  const budgets = useResource(async (signal) => (await call('budgets.list', undefined, signal)).items, [returns.value])
  useAfterTraffic(SPENDING_MS, month.reload, () => true)
  useAfterTraffic(SPENDING_MS, budgets.reload, () => true)
  return (
    <Card title="Spending">
      <Loaded of={month} lines={1}>
        {({ cost, atEnd, gone }) => (
          <p>
            <b>{usd(cost)}</b> this month.{' '}
            <span class="muted">
              {gone < LEAST_GONE
                ? 'It has only begun: too early to say what it will come to.'
                : `At this rate ${usd(atEnd)} by its end.`}
            </span>
          </p>
        )}
      </Loaded>
      <Loaded of={budgets} lines={1}>
        {(items) => (items.length === 0 ? null : <Budgets of={items} />)}
      </Loaded>
    </Card>
  )
}
const SPENDING_MS = 10_000
/** Of a month: from a few hours nobody can tell. */
const LEAST_GONE = 0.03
const MOST_BUDGETS = 8
/** Before the name, of which a long one shows its beginning. */
const WHOSE = { key: 'Key', member: 'Member', team: 'Team', gateway: '' } as const

const Budgets = ({ of }: { of: OwnedBudget[] }) => {
  const fullest = [...of].sort((a, b) => shareUsed(b.budget) - shareUsed(a.budget)).slice(0, MOST_BUDGETS)
  return (
    <ul class="budgets">
      {fullest.map((each) => (
        <li key={`${each.kind} ${each.owner?.id ?? ''}`}>
          <span class="whose" title={each.owner?.name}>
            {each.owner === null ? (
              'The whole gateway'
            ) : (
              <>
                <span class="muted">{WHOSE[each.kind]}</span> {each.owner.name}
              </>
            )}
          </span>
          <BudgetMeter of={each.budget} />
          <span class="num">{usedText(each.budget)}</span>
        </li>
      ))}
      {of.length > fullest.length && <li class="muted">and {of.length - fullest.length} that are less used</li>}
    </ul>
  )
}

/** Errors among the requests that are counted above; what was refused is not among those. */
const failuresOf = ({ totals, refused, before }: Usage): string => {
  const turnedAway = sumOf(refused)
  const words = [
    ...(totals.requests === 0 ? [] : [`${percent(totals.errors / totals.requests)} errors`]),
    ...(before === null || before.totals.requests === 0
      ? []
      : [`${percent(before.totals.errors / before.totals.requests)} before`]),
    ...(turnedAway === 0 ? [] : [`${compact(turnedAway)} refused besides`]),
  ]
  return words.length === 0 ? 'none yet' : words.join(', ')
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
