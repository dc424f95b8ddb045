// Tabs of text to paste, one for each common client, and one for the coding agents and others that `sluice connect` knows.

import { useId, useState } from 'preact/hooks'
import type { ConnectedClient } from '../../../admin-api/schema.ts'
import { call } from '../lib/api.ts'
import { useResource } from '../lib/resource.ts'
import type { SnippetInput, SnippetOf } from '../lib/snippets.ts'
import { Select } from './fields.tsx'
import { Loaded, Snippet } from './parts.tsx'

/** The tab of the clients that are known to the gateway. */
const AGENTS = 'agents'

/** `keyId`: of the key they are for; absent where the clients that only write text have nothing to ask for. */
export const Snippets = ({ of, keyId, ...input }: SnippetInput & { of: readonly SnippetOf[]; keyId?: string }) => {
  const [shown, setShown] = useState('curl')
  const id = useId()
  const tabs: (readonly [string, string])[] = of.map(([name, label]) => [name, label] as const)
  if (keyId !== undefined) tabs.push([AGENTS, 'Agents and editors'])
  const names = tabs.map(([name]) => name)
  const move = (step: number): void => {
    const next = names[(names.indexOf(shown) + step + names.length) % names.length]
    if (next === undefined) return
    setShown(next)
    document.getElementById(`${id}-${next}`)?.focus()
  }
  const write = of.find(([name]) => name === shown)?.[2]
  return (
    <div class="stack" style={{ gap: '8px' }}>
      <div class="table-wrap">
        <div
          class="segments"
          role="tablist"
          aria-label="Client"
          onKeyDown={({ key }) => {
            if (key === 'ArrowRight') move(1)
            if (key === 'ArrowLeft') move(-1)
          }}
        >
          {tabs.map(([name, label]) => (
            <button
              key={name}
              id={`${id}-${name}`}
              type="button"
              role="tab"
              class="nowrap"
              aria-selected={name === shown}
              aria-controls={`${id}-panel`}
              tabIndex={name === shown ? 0 : -1}
              onClick={() => setShown(name)}
            >
              {label}
            </button>
          ))}
        </div>
      </div>
      <div role="tabpanel" id={`${id}-panel`} aria-labelledby={`${id}-${shown}`}>
        {write && <Snippet text={write(input)} />}
        {shown === AGENTS && keyId !== undefined && <Agents keyId={keyId} {...input} />}
      </div>
    </div>
  )
}

const Agents = ({ keyId, origin, secret }: SnippetInput & { keyId: string }) => {
  const clients = useResource((signal) => call('clients.list', { key: keyId, origin }, signal), [keyId, origin])
  const [chosen, setChosen] = useState('claude-code')
  return (
    <Loaded of={clients} lines={4}>
      {({ items }) => {
        const client = items.find(({ name }) => name === chosen) ?? items[0]
        if (client === undefined) return <p class="muted">No model of this key answers in text.</p>
        return (
          <div class="stack" style={{ gap: '8px' }}>
            <Select
              label="Client"
              value={client.name}
              options={items.map(({ name, title }) => [name, title] as const)}
              onChange={setChosen}
            />
            <Snippet text={textOf(client, origin, secret)} />
            {client.notes.map((note) => (
              <p key={note} class="muted small">
                {note}
              </p>
            ))}
          </div>
        )
      }}
    </Loaded>
  )
}

const textOf = ({ name, files, start }: ConnectedClient, origin: string, secret: string): string =>
  [
    `# in one command, where sluice is installed; it asks for the key\nsluice connect ${name} --server ${origin}`,
    ...files.map(({ shown, text }) => `# or by hand: ${shown}\n${text.replaceAll('YOUR_KEY', secret)}`),
    `# then\n${start}`,
  ].join('\n\n')
