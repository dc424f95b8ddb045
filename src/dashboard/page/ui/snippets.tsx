// Tabs of text to paste, one for each common client.

import { useId, useState } from 'preact/hooks'
import type { SnippetInput, SnippetOf } from '../lib/snippets.ts'
import { Snippet } from './parts.tsx'

export const Snippets = ({ of, ...input }: SnippetInput & { of: readonly SnippetOf[] }) => {
  const [shown, setShown] = useState('curl')
  const id = useId()
  const names = of.map(([name]) => name)
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
          {of.map(([name, label]) => (
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
      </div>
    </div>
  )
}
