// A model as admins set it at run time: who serves it, what it costs, what else it is called, and what stands in for it. Only what
// was changed is set, so that the rest follows the catalogue.

import { useState } from 'preact/hooks'
import type { Entry, Model } from '../../../admin-api/schema.ts'
import { type Answer, call } from '../lib/api.ts'
import { countField } from '../lib/format.ts'
import { useAction } from '../lib/resource.ts'
import { Dialog } from './dialog.tsx'
import { Form, needCount, Select, Text } from './fields.tsx'
import { Button, Notice } from './parts.tsx'

const RATES = ['input', 'output', 'cache_read', 'cache_write'] as const
type Rate = (typeof RATES)[number]
const RATE_LABELS: Record<Rate, string> = {
  input: 'Input',
  output: 'Output',
  cache_read: 'Cache read',
  cache_write: 'Cache write',
}

type Draft = Record<Rate, string> & {
  id: string
  provider: string
  upstream: string
  context: string
  maxOutput: string
  aliases: string
  fallbacks: string
}

type Props = {
  /** Undefined: a new one. */
  of: Model | undefined
  catalogue: Answer<'models.list'>
  entries: readonly Entry[]
  onDone: () => void
  onClose: () => void
}

export const ModelDialog = ({ of, catalogue, entries, onDone, onClose }: Props) => {
  const [opened] = useState(() => draftOf(of, catalogue))
  const [draft, setDraft] = useState(opened)
  const set = (change: Partial<Draft>): void => setDraft((before) => ({ ...before, ...change }))
  const entryOf = (section: Entry['section'], name: string): Entry | undefined =>
    entries.find((entry) => entry.section === section && entry.name === name)
  const own = of && entryOf('models', of.id)
  const isFiles = own?.managed === 'file'
  const fallbacksAreFiles = of !== undefined && entryOf('fallbacks', of.id)?.managed === 'file'
  const providers = [...new Set(catalogue.items.map(({ provider }) => provider))]
  const saving = useAction(async () => {
    const id = of?.id ?? draft.id.trim()
    if (of === undefined && catalogue.items.some((model) => model.id === id))
      throw new Error(`Id: there is a model ${id} already. Edit that one.`)
    const value = isFiles ? undefined : valueIn(draft, opened, own?.value)
    if (value !== undefined) await call('entries.put', { section: 'models', name: id, value })
    if (!fallbacksAreFiles) await setFallbacks(id, wordsIn(draft.fallbacks), wordsIn(opened.fallbacks))
    await setAliases(id, wordsIn(draft.aliases), wordsIn(opened.aliases))
    onDone()
  })
  const takingBack = useAction(async () => {
    if (of === undefined) return
    await call('entries.remove', { section: 'models', name: of.id })
    onDone()
  })
  return (
    <Dialog title={of === undefined ? 'Add model' : `Edit ${of.id}`} onClose={onClose} wide firm>
      <Form onSubmit={() => void saving.run()} error={saving.error ?? takingBack.error}>
        {isFiles && <Notice>From sluice.yaml: what it says of this model is changed there.</Notice>}
        {of === undefined && (
          <Text
            label="Id"
            value={draft.id}
            onChange={(id) => set({ id })}
            required
            autoFocus
            maxLength={200}
            hint="What clients ask for"
          />
        )}
        {!isFiles && (
          <>
            <div class="pair">
              <Select
                label="Provider"
                value={draft.provider}
                options={providers.map((id) => [id, id] as const)}
                onChange={(provider) => set({ provider })}
              />
              <Text
                label="Upstream id"
                value={draft.upstream}
                onChange={(upstream) => set({ upstream })}
                placeholder={draft.id || undefined}
                hint="What the provider calls it"
              />
            </div>
            <div class="pair">
              <Text
                label="Context"
                value={draft.context}
                onChange={(context) => set({ context })}
                inputMode="numeric"
                hint="Tokens, such as 128k"
              />
              <Text
                label="Most output"
                value={draft.maxOutput}
                onChange={(maxOutput) => set({ maxOutput })}
                inputMode="numeric"
              />
            </div>
            <fieldset class="pair plain">
              <legend class="hint">Prices, USD for a million tokens</legend>
              {RATES.map((rate) => (
                <Text
                  key={rate}
                  label={RATE_LABELS[rate]}
                  value={draft[rate]}
                  onChange={(text) => set({ [rate]: text })}
                  inputMode="decimal"
                />
              ))}
            </fieldset>
          </>
        )}
        <Text
          label="Also called"
          value={draft.aliases}
          onChange={(aliases) => set({ aliases })}
          hint="Names that lead to it, parted by commas"
        />
        {fallbacksAreFiles ? (
          <p class="muted small">Falls back to {draft.fallbacks}: from sluice.yaml.</p>
        ) : (
          <Text
            label="Falls back to"
            value={draft.fallbacks}
            onChange={(fallbacks) => set({ fallbacks })}
            hint="Models tried after it, in order, parted by commas"
          />
        )}
        <div class="row end">
          {own?.managed === 'store' && (
            <Button kind="danger" busy={takingBack.busy} onClick={() => void takingBack.run()}>
              Take back what is set
            </Button>
          )}
          <Button onClick={onClose}>Cancel</Button>
          <Button kind="primary" type="submit" busy={saving.busy}>
            Save
          </Button>
        </div>
      </Form>
    </Dialog>
  )
}

const draftOf = (of: Model | undefined, { items }: Answer<'models.list'>): Draft => ({
  id: of?.id ?? '',
  provider: of?.provider ?? items.find(({ available }) => available)?.provider ?? items[0]?.provider ?? '',
  upstream: of?.upstream ?? '',
  context: of === undefined ? '' : countField(of.context_window),
  maxOutput: of === undefined ? '' : countField(of.max_output_tokens),
  input: of === undefined ? '' : `${of.price.input}`,
  output: of === undefined ? '' : `${of.price.output}`,
  cache_read: of === undefined ? '' : `${of.price.cache_read}`,
  cache_write: of === undefined ? '' : `${of.price.cache_write}`,
  aliases: of?.aliases.join(', ') ?? '',
  fallbacks: of?.fallbacks.join(', ') ?? '',
})

/** What was changed, on top of what was set before; undefined where nothing was. */
const valueIn = (draft: Draft, opened: Draft, before: unknown): object | undefined => {
  const isChanged = (name: keyof Draft): boolean => draft[name].trim() !== opened[name]
  const kept = (before ?? {}) as { price?: { as_of?: string } }
  // A price that is written here is of no list any more.
  const { as_of: _, ...priced } = kept.price ?? {}
  const rates = RATES.filter((rate) => isChanged(rate) && draft[rate].trim() !== '')
  const price = Object.fromEntries(rates.map((rate) => [rate, needPrice(draft[rate], RATE_LABELS[rate])]))
  const change = {
    ...(opened.id === '' || isChanged('provider') ? { provider: draft.provider } : {}),
    ...(isChanged('upstream') && draft.upstream.trim() !== '' ? { upstream: draft.upstream.trim() } : {}),
    ...(isChanged('context') ? { context: needCount(draft.context, 'Context') } : {}),
    ...(isChanged('maxOutput') ? { max_output: needCount(draft.maxOutput, 'Most output') } : {}),
    ...(rates.length === 0 ? {} : { price: { ...priced, ...price } }),
  }
  return Object.keys(change).length === 0 ? undefined : { ...kept, ...change }
}

const needPrice = (text: string, name: string): number => {
  const value = Number(text.trim().replace(',', '.'))
  if (text.trim() !== '' && value >= 0 && Number.isFinite(value)) return value
  throw new Error(`${name}: write a price in USD for a million tokens, such as 2.5.`)
}

const wordsIn = (text: string): string[] =>
  text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '')

const setFallbacks = async (id: string, next: string[], before: string[]): Promise<void> => {
  if (next.join() === before.join()) return
  if (next.length > 0) await call('entries.put', { section: 'fallbacks', name: id, value: next })
  else await call('entries.remove', { section: 'fallbacks', name: id })
}

const setAliases = async (id: string, next: string[], before: string[]): Promise<void> => {
  for (const name of next.filter((alias) => !before.includes(alias)))
    await call('entries.put', { section: 'aliases', name, value: id })
  for (const name of before.filter((alias) => !next.includes(alias)))
    await call('entries.remove', { section: 'aliases', name })
}
