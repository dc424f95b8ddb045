// Which models a key or a member may use: all of them, some from the catalogue, or those that a pattern names.

import { useRef, useState } from 'preact/hooks'
import { permits } from '../../../keys/key.ts'
import { call } from '../lib/api.ts'
import { useResource } from '../lib/resource.ts'
import { Check } from './fields.tsx'
import { Button, Loaded } from './parts.tsx'

/** Throws what to do where none is chosen. */
export const needModels = (models: string[]): string[] => {
  if (models.length === 0) throw new Error('Models: choose at least one.')
  return models
}

export const ModelsField = ({
  value,
  onChange,
  allowed,
}: {
  value: string[]
  onChange: (models: string[]) => void
  /** What a member may hand on; all without it. */
  allowed?: string[] | undefined
}) => {
  const models = useResource((signal) => call('models.list', undefined, signal), [])
  const whole = allowed ?? ['*']
  const ids = (models.value?.items ?? []).map(({ id }) => id)
  const [typed, setTyped] = useState('')
  /** What stands in the field counts as it is typed, and has no row before it is added. */
  const pending = useRef('')
  // A pattern may begin with the one that means all of them.
  const all = value.join() === whole.join() && !value.includes(pending.current)
  // What was chosen once stays in the list. Patterns, which are no ids, come first, where they are seen to come.
  const chosen = useRef(new Set<string>())
  for (const id of [...value, ...whole]) if (id !== '*' && id !== pending.current) chosen.current.add(id)
  const listed = [
    ...[...chosen.current].filter((id) => !ids.includes(id)),
    ...ids.filter((id) => permits({ models: whole }, id) || value.includes(id)),
  ]
  const without = (id: string): string[] => value.filter((other) => other !== '*' && other !== id)
  const type = (text: string): void => {
    const others = without(pending.current)
    const pattern = text.trim()
    pending.current = others.includes(pattern) ? '' : pattern
    setTyped(text)
    onChange(pending.current === '' ? others : [...others, pattern])
  }
  /** Empties the field; what stood there stays chosen. */
  const add = (): void => {
    pending.current = ''
    setTyped('')
  }
  return (
    <fieldset class="field">
      <legend class="label">
        <b>Models</b>
      </legend>
      <Check
        label={allowed === undefined || allowed.includes('*') ? 'All models, new ones too' : 'All models you may use'}
        checked={all}
        onChange={(checked) => {
          add()
          onChange(checked ? whole : [])
        }}
      />
      {!all && (
        <Loaded of={models} lines={3}>
          {() => (
            <>
              <div class="checks">
                {listed.map((id) => (
                  <Check
                    key={id}
                    label={id}
                    checked={value.includes(id)}
                    onChange={(checked) => onChange(checked ? [...without(id), id] : without(id))}
                  />
                ))}
              </div>
              <div class="pattern">
                <input
                  class="input"
                  aria-label="Models by a pattern"
                  placeholder="By a pattern, such as vendorA-*"
                  maxLength={200}
                  value={typed}
                  onInput={({ currentTarget }) => type(currentTarget.value)}
                  onKeyDown={(event) => {
                    if (event.key !== 'Enter') return
                    event.preventDefault()
                    add()
                  }}
                />
                <Button size="small" onClick={add}>
                  Add
                </Button>
              </div>
            </>
          )}
        </Loaded>
      )}
    </fieldset>
  )
}
