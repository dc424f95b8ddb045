// Which models a key or a member may use: all of them, or some from the catalogue.

import { call } from '../lib/api.ts'
import { useResource } from '../lib/resource.ts'
import { Check } from './fields.tsx'
import { Loaded } from './parts.tsx'

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
  const ids = (models.value?.items ?? []).map(({ id }) => id)
  const whole = allowed ?? ['*']
  const all = value.join() === whole.join()
  // Patterns of the configuration or the command line are no ids: they are kept as they are.
  const listed = [...new Set([...ids, ...value.filter((id) => id !== '*'), ...whole.filter((id) => id !== '*')])]
  return (
    <fieldset class="field">
      <legend class="label">
        <b>Models</b>
      </legend>
      <Check
        label={allowed === undefined || allowed.includes('*') ? 'All models, new ones too' : 'All models you may use'}
        checked={all}
        onChange={(checked) => onChange(checked ? whole : listed.slice(0, 1))}
      />
      {!all && (
        <Loaded of={models} lines={3}>
          {() => (
            <div class="checks">
              {listed.map((id) => (
                <Check
                  key={id}
                  label={id}
                  checked={value.includes(id)}
                  onChange={(checked) => {
                    const others = value.filter((other) => other !== '*' && other !== id)
                    const next = checked ? [...others, id] : others
                    if (next.length > 0) onChange(next)
                  }}
                />
              ))}
            </div>
          )}
        </Loaded>
      )}
    </fieldset>
  )
}
