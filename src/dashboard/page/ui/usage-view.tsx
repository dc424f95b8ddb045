// Usage over time as chart and table: by model or by key, in tokens, money or requests.

import { useState } from 'preact/hooks'
import type { Series, Sums, Usage } from '../../../admin-api/schema.ts'
import { usageCsv } from '../../../lib/usage-csv.ts'
import { call } from '../lib/api.ts'
import { save } from '../lib/csv.ts'
import { compact, count, khr, khrShort, scale, usd, usdColumn, usdScale } from '../lib/format.ts'
import { type Look, looksOf, REST } from '../lib/looks.ts'
import { datesOf } from '../lib/range.ts'
import { useAction } from '../lib/resource.ts'
import { isAdmin, zone } from '../lib/session.ts'
import { Chart } from './chart.tsx'
import { Select } from './fields.tsx'
import { Swatch } from './looks.tsx'
import { Button, Card, Empty, Failure, Segments } from './parts.tsx'
import { Table } from './rows.tsx'

/** How many requests were refused, whatever for. */
export const sumOf = (refused: Usage['refused']): number => refused.reduce((sum, { count }) => sum + count, 0)

type Grouping = 'model' | 'key' | 'member' | 'team' | 'account' | 'provider' | 'tag'

const GROUPINGS: readonly (readonly [Grouping, string])[] = [
  ['model', 'By model'],
  ['key', 'By key'],
  ['member', 'By member'],
  ['team', 'By team'],
  ['account', 'By account'],
  ['provider', 'By provider'],
  ['tag', 'By tag'],
]
/** What others than admins may see. */
const OWN: ReadonlySet<Grouping> = new Set(['model', 'key', 'tag'])

const groupings = () => GROUPINGS.filter(([by]) => isAdmin.value || OWN.has(by))
const titleOf = (by: Grouping): string => GROUPINGS.find(([name]) => name === by)?.[1] ?? ''
/** What an address asks for; models where it asks for nothing that is shown. */
export const groupingOf = (asked: string | undefined): Grouping =>
  groupings().find(([by]) => by === asked)?.[0] ?? 'model'

type Measure = 'tokens' | 'usd' | 'khr' | 'requests'

const MEASURES = [
  ['tokens', 'Tokens'],
  ['usd', 'USD'],
  ['khr', 'KHR'],
  ['requests', 'Requests'],
] as const

/** What an address asks for; tokens where it asks for nothing that is shown. */
export const measureOf = (asked: string | undefined): Measure =>
  MEASURES.find(([measure]) => measure === asked)?.[0] ?? 'tokens'

/** What the server puts groups in order of, by what is looked at. */
export const MOST = { tokens: 'tokens', usd: 'cost', khr: 'cost', requests: 'requests' } as const

const VALUE: Record<Measure, (sums: Sums) => number> = {
  tokens: ({ tokens }) => tokens,
  usd: ({ cost_micro_usd }) => cost_micro_usd,
  khr: ({ cost_khr }) => cost_khr,
  requests: ({ requests }) => requests,
}
const FORMAT: Record<Measure, (value: number) => string> = { tokens: compact, usd, khr, requests: count }
const SCALE: Record<Measure, (value: number) => string> = {
  tokens: scale,
  usd: usdScale,
  khr: khrShort,
  requests: scale,
}

/** Those with something to show. */
const seriesOf = ({ series }: Usage): Series[] =>
  series.filter(({ totals }) => totals.requests > 0 || totals.tokens > 0)

export const UsageView = ({
  usage,
  grouping,
  measure,
  onMeasure,
}: {
  usage: Usage
  grouping?: { value: Grouping; onChange: (by: Grouping) => void }
  measure: Measure
  onMeasure: (measure: Measure) => void
}) => {
  const series = seriesOf(usage)
  const at = (usage.series[0]?.points ?? []).map((point) => point.at)
  const total = FORMAT[measure](VALUE[measure](usage.totals))
  return (
    <Card
      title={
        <>
          Usage over time{' '}
          <span class="muted small" style={{ fontWeight: 400 }}>
            {usage.step === 'day' ? `by day of ${zone.value}` : 'by hour'}
          </span>
        </>
      }
      tools={
        <div class="row">
          {grouping && <Select bare label="Group by" {...grouping} options={groupings()} />}
          <Segments label="Measure" value={measure} onChange={onMeasure} options={MEASURES} />
        </div>
      }
    >
      {series.length === 0 ? (
        <Empty title="No traffic in this time">
          <p>As soon as a key is used, its tokens and their cost appear here.</p>
        </Empty>
      ) : (
        <Chart
          label={`${measure} over time, ${total} in all; the table below has the figures`}
          at={at}
          step={usage.step}
          series={series.map(({ label, points }) => ({ label, values: points.map(VALUE[measure]) }))}
          looks={looksOf(series)}
          format={FORMAT[measure]}
          scale={SCALE[measure]}
        />
      )}
    </Card>
  )
}

type Grouped = { usage: Usage; by: Grouping; ofKey?: string }

const NO_SUMS = {
  requests: 0,
  errors: 0,
  input: 0,
  cache_read: 0,
  cache_write: 0,
  output: 0,
  reasoning: 0,
  cost_micro_usd: 0,
  fees_micro_usd: 0,
}
const SUMMED = Object.keys(NO_SUMS) as (keyof typeof NO_SUMS)[]

/** Every group there is, however many, and not only those with a row of their own. */
const exportTable = async ({ usage: { since, until }, by, ofKey }: Grouped, daily: boolean): Promise<void> => {
  const asked = { since, until, by, daily, ...(ofKey === undefined ? {} : { key: ofKey }) }
  const { rows, khr_per_usd } = await call('usage.table', asked)
  const total = { ...NO_SUMS }
  for (const row of rows) for (const name of SUMMED) total[name] += row[name]
  const [first, last] = datesOf({ since, until }, zone.value)
  const table = rows.map(({ group, label, day, owner, ...sums }) => ({ group, label, day, owner, sums }))
  save(
    `usage by ${by}${daily ? ' and day' : ''} ${first} to ${last}.csv`,
    usageCsv({ by, daily }, table, total, khr_per_usd),
  )
}

/** The same figures as sums, one row for each group. `ofKey`: of that key only. */
export const UsageTable = (grouped: Grouped) => {
  const { usage, by, ofKey } = grouped
  const [all, setAll] = useState(false)
  const exporting = useAction((daily: boolean) => exportTable(grouped, daily))
  // Of every key of everybody's it is refused.
  const isTooMuchByDay = isAdmin.value && by === 'key' && ofKey === undefined
  const rows = seriesOf(usage)
  if (rows.length === 0) return null
  const shown = all ? rows : rows.slice(0, 10)
  const looks = looksOf(rows)
  const money = usdColumn(rows.map(({ totals }) => totals.cost_micro_usd))
  // Most gateways have none.
  const fees = usage.totals.fees_micro_usd > 0 ? usdColumn(rows.map(({ totals }) => totals.fees_micro_usd)) : undefined
  return (
    <Card
      title={titleOf(by)}
      tools={
        <div class="row">
          <Button size="small" busy={exporting.busy} onClick={() => exporting.run(false)}>
            Export as CSV
          </Button>
          {isTooMuchByDay || (
            <Button size="small" busy={exporting.busy} onClick={() => exporting.run(true)}>
              Export by day
            </Button>
          )}
        </div>
      }
      flush
    >
      {exporting.error && (
        <div class="failure">
          <Failure error={exporting.error} />
        </div>
      )}
      <Table
        columns={[
          titleOf(by).replace(/^By (.)/, (_, first: string) => first.toUpperCase()),
          ['Requests', 'num'],
          ['Errors', 'num opt-2'],
          ['Input', 'num opt-3'],
          ['Cached', 'num opt-3'],
          ['Output', 'num opt-3'],
          ['Tokens', 'num opt-1'],
          ['USD', 'num'],
          ...(fees === undefined ? [] : [['Of which fees', 'num opt-2'] as const]),
          ['KHR', 'num opt-2'],
        ]}
      >
        {shown.map((row, index) => (
          <UsageRow key={row.group} row={row} by={by} look={looks[index] ?? REST} money={money} fees={fees} />
        ))}
      </Table>
      {rows.length > 10 && (
        <div class="more">
          <span class="muted">
            {shown.length} of {rows.length}
            {rows.some(({ group }) => group === 'other') &&
              ', the last of them all others together; the export has each'}
          </span>
          <Button size="small" onClick={() => setAll(!all)}>
            {all ? 'Show fewer' : 'Show all'}
          </Button>
        </div>
      )}
    </Card>
  )
}

type Money = (microUsd: number) => string
type UsageRowProps = { row: Series; by: Grouping; look: Look; money: Money; fees: Money | undefined }

const UsageRow = ({ row, by, look, money, fees }: UsageRowProps) => (
  <tr>
    <th scope="row">
      <span class="legend-row">
        <Swatch look={look} />
        <span>
          {by === 'key' && row.group !== 'other' ? (
            <a class="name" href={`/dashboard/keys/${encodeURIComponent(row.group)}`} title={row.label}>
              {row.label}
            </a>
          ) : (
            row.label
          )}
        </span>
      </span>
    </th>
    <td class="num">{count(row.totals.requests)}</td>
    <td class="num opt-2">{count(row.totals.errors)}</td>
    <td class="num opt-3">{compact(row.totals.input)}</td>
    <td class="num opt-3">{compact(row.totals.cache_read + row.totals.cache_write)}</td>
    <td class="num opt-3">{compact(row.totals.output)}</td>
    <td class="num opt-1">{compact(row.totals.tokens)}</td>
    <td class="num">{money(row.totals.cost_micro_usd)}</td>
    {fees && <td class="num opt-2">{fees(row.totals.fees_micro_usd)}</td>}
    <td class="num opt-2">{count(row.totals.cost_khr)}</td>
  </tr>
)
