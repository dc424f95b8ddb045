// A new account: a vendor's key is pasted, its vendor known by its form or chosen, and tried before it is kept.

import { useState } from 'preact/hooks'
import type { Account, Finding, Preset } from '../../../admin-api/schema.ts'
import { type AccountDraft, accountInput, EMPTY_ACCOUNT, presetOf } from '../lib/accounts.ts'
import { call } from '../lib/api.ts'
import { useAction } from '../lib/resource.ts'
import { Form, Select, Text } from './fields.tsx'
import { Badge, Button } from './parts.tsx'

/**
 * `short`: no more than is needed at first. A trial that fails keeps nothing; what was tried and failed may be kept all the
 * same, for whose vendor is down.
 */
export const AccountForm = ({
  presets,
  short = false,
  onDone,
  onCancel,
}: {
  presets: readonly Preset[]
  short?: boolean
  onDone: (made: Account) => void
  onCancel?: () => void
}) => {
  const [draft, setDraft] = useState<AccountDraft>(EMPTY_ACCOUNT)
  const [wrong, setWrong] = useState<Finding[]>()
  const set = (change: Partial<AccountDraft>): void => {
    setWrong(undefined)
    setDraft((before) => ({ ...before, ...change }))
  }
  const paste = (credential: string): void => {
    const known = presetOf(credential, presets)
    set({ credential, ...(known === undefined ? {} : { preset: known.name, baseUrl: '' }) })
  }
  const chosen = presets.find(({ name }) => name === draft.preset)
  const keep = async (): Promise<void> => onDone(await call('accounts.create', accountInput(draft)))
  const adding = useAction(async () => {
    const { items } = await call('accounts.try', accountInput(draft))
    const faults = items.filter(({ ok }) => !ok)
    if (faults.length > 0) setWrong(faults)
    else await keep()
  })
  const keeping = useAction(keep)
  const needsUrl = chosen !== undefined && chosen.base_url === null
  return (
    <Form onSubmit={() => void adding.run()} error={adding.error ?? keeping.error}>
      <Text
        label="Vendor key"
        type="password"
        value={draft.credential}
        onChange={paste}
        autocomplete="off"
        placeholder={chosen?.open ? 'None is needed' : 'Paste it here'}
        required={chosen?.open !== true}
        autoFocus
        hint="Sealed before it is written, and shown to nobody again."
      />
      <Select
        label="Vendor"
        value={draft.preset}
        onChange={(preset) => set({ preset, baseUrl: '' })}
        options={[['', 'Most keys tell it; else choose'], ...presets.map(({ name, title }) => [name, title] as const)]}
        hint={chosen && !needsUrl ? `Asked at ${draft.baseUrl.trim() || chosen.base_url}` : undefined}
      />
      {(needsUrl || isLocal(chosen) || !short) && (
        <Text
          label="Base URL"
          value={draft.baseUrl}
          onChange={(baseUrl) => set({ baseUrl })}
          placeholder={chosen?.base_url ?? 'https://…'}
          required={needsUrl}
          hint={needsUrl ? 'Where this vendor answers for you' : "Empty: the vendor's own"}
        />
      )}
      {!short && (
        <div class="pair">
          <Text label="Name" value={draft.name} onChange={(name) => set({ name })} placeholder="main" maxLength={100} />
          <Text
            label="Weight"
            value={draft.weight}
            onChange={(weight) => set({ weight })}
            inputMode="decimal"
            placeholder="1"
          />
        </div>
      )}
      {wrong && (
        <div role="alert" class="notice bad">
          {wrong.map(({ model, words }) => (
            <div key={model}>
              <Badge tone="bad">wrong</Badge> {sentence(words)}
            </div>
          ))}
          <p class="small">Nothing is kept yet.</p>
        </div>
      )}
      <p class="muted small">The vendor is asked for one word before the key is kept, and bills it.</p>
      <div class="row end">
        {onCancel && <Button onClick={onCancel}>Cancel</Button>}
        {wrong && (
          <Button busy={keeping.busy} onClick={() => void keeping.run()}>
            Add it all the same
          </Button>
        )}
        <Button kind="primary" type="submit" busy={adding.busy}>
          {wrong ? 'Test again' : 'Test and add'}
        </Button>
      </div>
    </Form>
  )
}

/** A server of one's own, which may be anywhere. */
const isLocal = (preset: Preset | undefined): boolean => preset?.base_url?.startsWith('http://127.0.0.1') === true

/** A finding stands behind its account elsewhere; here it stands alone. A host keeps its letters. */
const sentence = (words: string): string =>
  `${/^\S+[.:]/.test(words) ? words : words.charAt(0).toUpperCase() + words.slice(1)}.`
