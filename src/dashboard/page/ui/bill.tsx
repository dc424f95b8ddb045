// What made an exchange's cost: the tokens of each class, calls and pictures, each at its price.

import type { BillLine, ExplainedExchange } from '../../../admin-api/schema.ts'
import { count, usdFine, usdPrice } from '../lib/format.ts'
import { Card } from './parts.tsx'
import { Table } from './rows.tsx'

const NAMES: Readonly<Record<string, string>> = {
  input: 'Input',
  cache_read: 'Read from cache',
  cache_write: 'Written to cache',
  cache_write_1h: 'Written to cache for an hour',
  output: 'Output',
  audio_input: 'Sound heard',
  audio_cache_read: 'Sound read from cache',
  audio_output: 'Sound made',
  image_input: 'Pictures seen',
  image_cache_read: 'Pictures read from cache',
  image_output: 'Pictures made',
  pictures: 'Pictures, priced each',
  told: 'As the provider told it',
}

export const Bill = ({ of: { exchange, bill } }: { of: ExplainedExchange }) => (
  <Card title={bill === null ? 'Tokens' : 'Tokens and cost'} flush>
    <Table columns={['Class', ['Tokens', 'num'], ['Cost', 'num']]}>
      {bill === null ? (
        <Classes of={exchange} />
      ) : (
        bill.lines.map((line) => (
          <Line key={`${line.what} ${line.tool} ${line.model} ${line.usd}`} of={line} reasoning={exchange.reasoning} />
        ))
      )}
      <tr>
        <th scope="row">
          <b>Billed</b>
        </th>
        <td class="num">
          <b>{count(exchange.tokens)}</b>
        </td>
        <td class="num">
          <b>{exchange.outcome === 'open' ? '–' : usdFine(exchange.cost_micro_usd)}</b>
        </td>
      </tr>
    </Table>
    <Notes of={{ exchange, bill }} />
  </Card>
)

const Line = ({
  of: { what, tool, model, count: number, usd, micro_usd },
  reasoning,
}: {
  of: BillLine
  reasoning: number
}) => (
  <tr>
    <th scope="row">
      {what === 'calls' ? `${tool}, ${number} ${number === 1 ? 'call' : 'calls'}` : (NAMES[what] ?? what)}
      <span class="sub">
        {model !== null && `${model}, `}
        {usd !== null && `${usdPrice(usd)} ${what === 'calls' ? 'each' : 'per million'}`}
        {what === 'output' && model === null && reasoning > 0 && `; ${count(reasoning)} of reasoning`}
      </span>
    </th>
    <td class="num">{what === 'calls' || number === null ? '–' : count(number)}</td>
    <td class="num">{usdFine(micro_usd)}</td>
  </tr>
)

const Classes = ({ of }: { of: ExplainedExchange['exchange'] }) => (
  <>
    {(['input', 'cache_read', 'cache_write', 'output'] as const).map((name) => (
      <tr key={name}>
        <th scope="row">
          {NAMES[name]}
          {name === 'output' && of.reasoning > 0 && <span class="sub">{count(of.reasoning)} of reasoning</span>}
        </th>
        <td class="num">{count(of[name])}</td>
        <td class="num">–</td>
      </tr>
    ))}
  </>
)

const Notes = ({ of: { exchange, bill } }: { of: Pick<ExplainedExchange, 'exchange' | 'bill'> }) => {
  const notes = bill === null ? unknown(exchange) : known(bill)
  return notes.length === 0 ? null : (
    <div class="card-body">
      <p class="muted small">{notes.join(' ')}</p>
    </div>
  )
}

const unknown = ({ outcome, cost_micro_usd }: ExplainedExchange['exchange']): string[] =>
  outcome === 'open' || cost_micro_usd === 0 ? [] : ['No price that is known comes to this cost.']

const known = ({
  lines,
  long_context_above,
  factors,
  as_of,
  former,
  told_micro_usd,
}: NonNullable<ExplainedExchange['bill']>): string[] => [
  ...(lines.length > 0 && lines.every(({ usd, micro_usd }) => usd === 0 || (usd === null && micro_usd === 0))
    ? ['The model has no price: it counts as 0.']
    : []),
  ...(long_context_above === null
    ? []
    : [`The prices are those of prompts above ${count(long_context_above)} tokens.`]),
  ...Object.entries(factors).map(([name, factor]) => `${name}: prices times ${factor}.`),
  ...(former ? ['By the price of that time: the model has another now.'] : []),
  ...(as_of === null ? [] : [`Price list of ${as_of}.`]),
  ...(told_micro_usd === null ? [] : [`The provider says that it charged ${usdFine(told_micro_usd)}.`]),
]
