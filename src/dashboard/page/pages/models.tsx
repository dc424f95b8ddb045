// Models: what the catalogue holds, what it costs, who serves it and how they are; and what admins set of it.

import { useState } from 'preact/hooks'
import { HEALTH } from '../../../admin-api/health.ts'
import type { Entry, Model, TargetHealth } from '../../../admin-api/schema.ts'
import { permits } from '../../../keys/key.ts'
import { call } from '../lib/api.ts'
import { compact, count, usdPrice } from '../lib/format.ts'
import { useAction, useResource, useWatched } from '../lib/resource.ts'
import { isAdmin, session } from '../lib/session.ts'
import { ModelDialog } from '../ui/model-dialog.tsx'
import { Badge, Button, Card, Empty, Failure, Loaded, Notice, PageHead } from '../ui/parts.tsx'
import { Table } from '../ui/rows.tsx'

export const Models = () => {
  const models = useWatched((signal) => call('models.list', undefined, signal))
  const entries = useResource(
    async (signal) => (isAdmin.value ? (await call('entries.list', undefined, signal)).items : []),
    [isAdmin.value],
  )
  const [editing, setEditing] = useState<Model | 'new'>()
  const done = (): void => {
    setEditing(undefined)
    models.reload()
    entries.reload()
  }
  const kept = entries.value ?? []
  const resting = kept.filter(({ section, problem }) => section !== 'accounts' && problem !== null)
  return (
    <div class="stack">
      <PageHead title="Models" lead="Prices in USD for a million tokens. Each model answers on every wire of its kind.">
        {isAdmin.value && (
          <Button kind="primary" onClick={() => setEditing('new')}>
            Add model
          </Button>
        )}
      </PageHead>
      {entries.error && <Failure error={entries.error} retry={entries.reload} />}
      {resting.map(({ section, name, problem }) => (
        <Notice key={`${section} ${name}`} tone="warn">
          Set here and not in force: {section} <b>{name}</b>: {problem}.{' '}
          <RemoveEntry section={section} name={name} onDone={done} />
        </Notice>
      ))}
      <Loaded of={models} lines={12}>
        {({ items }) =>
          items.length === 0 ? (
            <div class="card">
              <Empty title="No models" />
            </div>
          ) : (
            groups(items).map(([provider, own]) => (
              <Provider key={provider} provider={provider} models={own} entries={kept} onEdit={setEditing} />
            ))
          )
        }
      </Loaded>
      {editing !== undefined && models.value && (
        <ModelDialog
          of={editing === 'new' ? undefined : editing}
          catalogue={models.value}
          entries={kept}
          onDone={done}
          onClose={() => setEditing(undefined)}
        />
      )}
    </div>
  )
}

const RemoveEntry = ({ section, name, onDone }: Pick<Entry, 'section' | 'name'> & { onDone: () => void }) => {
  const removing = useAction(async () => {
    await call('entries.remove', { section, name })
    onDone()
  })
  return (
    <>
      <Button size="small" busy={removing.busy} onClick={() => void removing.run()}>
        Remove it
      </Button>
      {removing.error && ` ${removing.error.message}`}
    </>
  )
}

const groups = (items: Model[]): [string, Model[]][] => {
  const providers = [...new Set(items.map(({ provider }) => provider))]
  return providers.map((provider) => [provider, items.filter((model) => model.provider === provider)])
}

/** What long prompts, other classes of service, sound and pictures cost, where that is something else; and of when, if not of `day`. */
const otherPrices = (
  { price: { long_context: long, service_tiers: tiers, ...of } }: Model,
  day: string | null,
): string =>
  [
    ...(long === null
      ? []
      : [`prompts above ${compact(long.above)} tokens: ${usdPrice(long.input)} in, ${usdPrice(long.output)} out`]),
    ...Object.entries(tiers).map(([tier, times]) => `${tier}\u00a0×\u00a0${count(times)}`),
    ...(
      [
        ['sound', of.audio],
        ['pictures', of.image],
      ] as const
    ).flatMap(([kind, rates]) =>
      rates === null ? [] : [`${kind}: ${usdPrice(rates.input)} in, ${usdPrice(rates.output)} out`],
    ),
    ...Object.entries(of.per_image).map(
      ([kind, usd]) => `a picture${kind === 'default' ? '' : ` ${kind}`} ${usdPrice(usd)}`,
    ),
    ...(of.as_told ? ['costs what its provider says'] : isFree(of) ? ['costs nothing here'] : []),
    ...(of.as_of === day || of.as_of === null ? [] : [`prices of ${of.as_of}`]),
  ]
    .map((text) => ` · ${text}`)
    .join('')

/** Whether nothing that is used of it costs anything: it is its maker's gift, or nobody has said its price. */
const isFree = ({
  input,
  output,
  image,
  audio,
  per_image: pictures,
}: Omit<Model['price'], 'long_context' | 'service_tiers'>): boolean =>
  input === 0 && output === 0 && image === null && audio === null && Object.keys(pictures).length === 0

/** Who says of it, where that is not the catalogue. */
const saidBy = ({ id }: Model, entries: readonly Entry[]): string => {
  const said = entries.find(({ section, name }) => section === 'models' && name === id)
  if (said === undefined) return ''
  return said.managed === 'file' ? ' · from sluice.yaml' : ' · set here'
}

const Provider = ({
  provider,
  models,
  entries,
  onEdit,
}: {
  provider: string
  models: Model[]
  entries: readonly Entry[]
  onEdit: (model: Model) => void
}) => {
  const day = latestOf(models)
  return (
    <Card title={provider} tools={day && <span class="muted small">Prices of {day}</span>} flush>
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
        actions={isAdmin.value}
      >
        {models.map((model) => (
          <tr key={model.id}>
            <th scope="row">
              <b class="name nowrap">{model.id}</b>
              <span class="sub">
                {model.display_name}, {model.family}
                {model.aliases.length > 0 && ` · also ${model.aliases.join(', ')}`}
                {model.fallbacks.length > 0 && ` · falls back to ${model.fallbacks.join(', ')}`}
                {otherPrices(model, day)}
                {saidBy(model, entries)}
              </span>
            </th>
            <td class="wide opt-3 nowrap">
              {model.input_modalities.join('+')} → {model.output_modalities.join('+')}
            </td>
            <td class="num opt-2">{compact(model.context_window)}</td>
            <td class="num opt-3">{compact(model.max_output_tokens)}</td>
            <td class="num">{usdPrice(model.price.input)}</td>
            <td class="num">{usdPrice(model.price.output)}</td>
            <td class="num wide opt-2">
              {usdPrice(model.price.cache_read)} / {usdPrice(model.price.cache_write)}
            </td>
            <td class="opt-1">
              <Targets model={model} />
            </td>
            {isAdmin.value && (
              <td>
                <span class="row end">
                  <Button size="small" aria-label={`Edit ${model.id}`} onClick={() => onEdit(model)}>
                    Edit
                  </Button>
                </span>
              </td>
            )}
          </tr>
        ))}
      </Table>
    </Card>
  )
}

/** The latest price list of its models. */
const latestOf = (models: readonly Model[]): string | null =>
  models
    .map(({ price }) => price.as_of)
    .reduce((latest, day) => (day !== null && day > (latest ?? '') ? day : latest), null)

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
