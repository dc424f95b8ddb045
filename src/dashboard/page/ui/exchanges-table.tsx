// Exchanges as rows, newest first.

import type { Exchange } from '../../../admin-api/schema.ts'
import { count, duration, timeOf, usdFine } from '../lib/format.ts'
import { Badge, Breaking, Clip, type Tone } from './parts.tsx'
import { type Column, LinkRow, Table } from './rows.tsx'

const TONES: Record<Exchange['outcome'], Tone> = {
  open: undefined,
  done: 'good',
  refused: 'warn',
  failed: 'bad',
  aborted: 'warn',
}

export const OutcomeBadge = ({ exchange }: { exchange: Exchange }) => (
  <Badge tone={TONES[exchange.outcome]}>
    <Breaking text={exchange.error_code ?? exchange.outcome} />
  </Badge>
)

/** Many begin in the same second: a link is told from the next by more. */
const nameOf = ({ started_at, model, key, outcome, error_code }: Exchange): string =>
  `${timeOf(started_at)}, ${model ?? 'no model'}, ${key.label}, ${error_code ?? outcome}`

/** What was loaded and what has ended since: each once, as it is now, in the order of the list, newest first. */
export const withEnded = (loaded: Exchange[], ended: Exchange[]): Exchange[] => {
  const ids = new Set(ended.map(({ id }) => id))
  return [...ended, ...loaded.filter(({ id }) => !ids.has(id))].sort(
    (a, b) => Date.parse(b.started_at) - Date.parse(a.started_at),
  )
}

const COLUMNS: Column[] = [
  'Time',
  ['Model', 'opt-1'],
  ['Key', 'opt-1'],
  ['Wire', 'opt-4'],
  'Outcome',
  ['Tokens', 'num opt-2'],
  ['Cost', 'num opt-2'],
  ['First byte', 'num opt-4'],
  ['Total', 'num opt-1'],
]
const BRIEF: Column[] = ['Time', ['Model', 'opt-1'], 'Outcome', ['Total', 'num opt-1']]

export const ExchangesTable = ({
  items,
  ended,
  brief = false,
}: {
  items: Exchange[]
  /** Those that have come in by themselves. */
  ended: Exchange[]
  brief?: boolean
}) => {
  const fresh = new Set(ended.map(({ id }) => id))
  return (
    <Table css="dense" columns={brief ? BRIEF : COLUMNS}>
      {items.map((exchange) => {
        const href = `/dashboard/exchanges/${encodeURIComponent(exchange.id)}`
        return (
          <LinkRow key={exchange.id} href={href} fresh={fresh.has(exchange.id)}>
            <th scope="row" class="nowrap">
              <a class="name" href={href} aria-label={nameOf(exchange)}>
                {timeOf(exchange.started_at)}
              </a>
              <span class="sub narrow">{exchange.model ?? '–'}</span>
            </th>
            <td class="opt-1 nowrap">
              {exchange.model ?? <span class="muted">–</span>}
              {brief && <Clip sub text={exchange.key.label} />}
              {!brief && exchange.attempts > 1 && <span class="sub">{exchange.attempts} attempts</span>}
            </td>
            {!brief && (
              <>
                <td class="opt-1">
                  <Clip text={exchange.key.label} />
                </td>
                <td class="opt-4 nowrap">
                  {exchange.wire}
                  {exchange.stream && <span class="muted"> · stream</span>}
                </td>
              </>
            )}
            <td>
              <OutcomeBadge exchange={exchange} />
              {!brief && (
                <span class="sub narrow">
                  {count(exchange.tokens)} tokens
                  <Clip text={exchange.key.label} />
                </span>
              )}
            </td>
            {!brief && (
              <>
                <td class="num opt-2">
                  {exchange.estimated ? '~' : ''}
                  {count(exchange.tokens)}
                </td>
                <td class="num opt-2">{exchange.outcome === 'open' ? '–' : usdFine(exchange.cost_micro_usd)}</td>
                <td class="num opt-4">{duration(exchange.first_byte_ms)}</td>
              </>
            )}
            <td class="num opt-1">{duration(exchange.total_ms)}</td>
          </LinkRow>
        )
      })}
    </Table>
  )
}
