// Models: what the catalogue holds, what it costs, who serves it and how they are.

import { HEALTH } from '../../../admin-api/health.ts'
import type { Model, TargetHealth } from '../../../admin-api/schema.ts'
import { permits } from '../../../keys/key.ts'
import { call } from '../lib/api.ts'
import { compact, count } from '../lib/format.ts'
import { useWatched } from '../lib/resource.ts'
import { isAdmin, session } from '../lib/session.ts'
import { Badge, Card, Empty, Loaded, PageHead } from '../ui/parts.tsx'
import { Table } from '../ui/rows.tsx'

const price = new Intl.NumberFormat(undefined, { style: 'currency', currency: 'USD', maximumFractionDigits: 3 })

export const Models = () => {
  const models = useWatched((signal) => call('models.list', undefined, signal))
  return (
    <div class="stack">
      <PageHead
        title="Models"
        lead="Prices in USD for a million tokens. Each model answers on every wire of its kind."
      />
      <Loaded of={models} lines={12}>
        {({ items }) =>
          items.length === 0 ? (
            <div class="card">
              <Empty title="No models" />
            </div>
          ) : (
            groups(items).map(([provider, own]) => <Provider key={provider} provider={provider} models={own} />)
          )
        }
      </Loaded>
    </div>
  )
}

const groups = (items: Model[]): [string, Model[]][] => {
  const providers = [...new Set(items.map(({ provider }) => provider))]
  return providers.map((provider) => [provider, items.filter((model) => model.provider === provider)])
}

/** What long prompts and other classes of service cost, where that is something else. */
const otherPrices = ({ price: { long_context: long, service_tiers: tiers } }: Model): string =>
  [
    ...(long === null
      ? []
      : [
          `prompts above ${compact(long.above)} tokens: ${price.format(long.input)} in, ${price.format(long.output)} out`,
        ]),
    ...Object.entries(tiers).map(([tier, times]) => `${tier}\u00a0×\u00a0${count(times)}`),
  ]
    .map((text) => ` · ${text}`)
    .join('')

const Provider = ({ provider, models }: { provider: string; models: Model[] }) => (
  <Card title={provider} flush>
    <Table
      css="alike"
      columns={[
        'Model',
        ['In → out', 'wide opt-3'],
        ['Context', 'num opt-2'],
        ['Max out', 'num opt-3'],
        ['Input', 'num'],
        ['Output', 'num'],
        ['Cache read / write', 'num wide opt-2'],
        [isAdmin.value ? 'Served by' : 'State', 'opt-1'],
      ]}
    >
      {models.map((model) => (
        <tr key={model.id}>
          <th scope="row">
            <b class="name nowrap">{model.id}</b>
            <span class="sub">
              {model.display_name}, {model.family}
              {model.aliases.length > 0 && ` · also ${model.aliases.join(', ')}`}
              {model.fallbacks.length > 0 && ` · falls back to ${model.fallbacks.join(', ')}`}
              {otherPrices(model)}
            </span>
          </th>
          <td class="wide opt-3 nowrap">
            {model.input_modalities.join('+')} → {model.output_modalities.join('+')}
          </td>
          <td class="num opt-2">{compact(model.context_window)}</td>
          <td class="num opt-3">{compact(model.max_output_tokens)}</td>
          <td class="num">{price.format(model.price.input)}</td>
          <td class="num">{price.format(model.price.output)}</td>
          <td class="num wide opt-2">
            {price.format(model.price.cache_read)} / {price.format(model.price.cache_write)}
          </td>
          <td class="opt-1">
            <Targets model={model} />
          </td>
        </tr>
      ))}
    </Table>
  </Card>
)

export const STATE_TONES = { closed: 'good', 'half-open': 'warn', open: 'bad' } as const

const Targets = ({ model }: { model: Model }) => {
  if (!model.available) return <Badge>not configured</Badge>
  const own = session.value?.member
  if (own?.role === 'member' && !permits(own.limits, model.id)) return <Badge>not for your keys</Badge>
  if (model.targets.length === 0) return <Badge tone="good">available</Badge>
  return (
    <span class="row" style={{ gap: '4px' }}>
      {model.targets.map((target: TargetHealth) => (
        <Badge key={`${target.provider} ${target.account}`} tone={STATE_TONES[target.state]}>
          {target.provider === model.provider ? target.account : `${target.provider} ${target.account}`}:{' '}
          {HEALTH[target.state]}
          {target.in_flight > 0 && `, ${count(target.in_flight)} under way`}
        </Badge>
      ))}
    </span>
  )
}
