// Form fields: a label, the control, a hint; what is wrong with the whole form stands below its buttons.

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Failure } from './parts.tsx'

type Common = { label: string; hint?: ComponentChildren }

type TextProps = Common & {
  value: string
  onChange: (value: string) => void
  type?: 'text' | 'password' | 'search' | 'datetime-local'
  required?: boolean
  autoFocus?: boolean
  placeholder?: string
  autocomplete?: HTMLInputElement['autocomplete']
  inputMode?: 'numeric' | 'decimal'
  minLength?: number
  maxLength?: number
  pattern?: string
}

/** `bare` hides the label from the eye: toolbars. */
export const Text = ({
  label,
  hint,
  value,
  onChange,
  bare = false,
  type = 'text',
  ...rest
}: TextProps & { bare?: boolean }) => {
  const id = useId()
  return (
    <div class="field">
      <label for={id} class={bare ? 'sr-only' : ''}>
        {label}
      </label>
      <input
        id={id}
        class="input"
        // The element's types tell its kinds apart; this one takes several.
        type={type as 'text'}
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
        {...(hint === undefined ? {} : { 'aria-describedby': `${id}-hint` })}
        {...rest}
      />
      {hint !== undefined && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  )
}

export const Area = ({
  label,
  hint,
  value,
  onChange,
  rows = 4,
  placeholder,
  mono = false,
}: Common & {
  value: string
  onChange: (value: string) => void
  rows?: number
  placeholder?: string
  mono?: boolean
}) => {
  const id = useId()
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <textarea
        id={id}
        class={mono ? 'input mono' : 'input'}
        rows={rows}
        value={value}
        placeholder={placeholder}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
        onKeyDown={({ key, ctrlKey, metaKey, currentTarget }) => {
          // Enter alone is a new line.
          if (key === 'Enter' && (ctrlKey || metaKey)) currentTarget.form?.requestSubmit()
        }}
      />
      {hint !== undefined && <span class="hint">{hint}</span>}
    </div>
  )
}

export const Select = <T extends string>({
  label,
  hint,
  value,
  options,
  onChange,
  bare = false,
}: Common & {
  value: T
  options: readonly (readonly [T, string])[]
  onChange: (value: T) => void
  /** The label is for screen readers only: toolbars. */
  bare?: boolean
}) => {
  const id = useId()
  return (
    <div class="field">
      <label for={id} class={bare ? 'sr-only' : ''}>
        {label}
      </label>
      <select id={id} class="input" value={value} onChange={({ currentTarget }) => onChange(currentTarget.value as T)}>
        {options.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
      {hint !== undefined && <span class="hint">{hint}</span>}
    </div>
  )
}

export const Check = ({
  label,
  hint,
  checked,
  onChange,
}: Common & { checked: boolean; onChange: (checked: boolean) => void }) => {
  const id = useId()
  return (
    <div class="check">
      <input
        id={id}
        type="checkbox"
        checked={checked}
        onChange={({ currentTarget }) => onChange(currentTarget.checked)}
      />
      <label for={id}>
        {label}
        {hint !== undefined && <span class="sub">{hint}</span>}
      </label>
    </div>
  )
}

/** Submits by Enter and by its button; says what went wrong. */
export const Form = ({
  onSubmit,
  error,
  children,
}: {
  onSubmit: () => void
  error?: Error | undefined
  children: ComponentChildren
}) => {
  const said = useRef<HTMLDivElement>(null)
  useEffect(() => {
    // Below the fold of a phone it would not be seen.
    if (error !== undefined) said.current?.scrollIntoView({ block: 'nearest' })
  }, [error])
  return (
    <form
      class="form"
      onSubmit={(event) => {
        event.preventDefault()
        onSubmit()
      }}
    >
      {children}
      {error && (
        <div ref={said}>
          <Failure error={error} />
        </div>
      )}
    </form>
  )
}

/** A whole number as typed, grouping and k/M endings allowed; undefined for anything else. */
export const readCount = (text: string): number | undefined => {
  const match = /^(\d+(?:\.\d+)?)\s*([km])?$/i.exec(text.replace(/[\s,_']/g, ''))
  if (match === null) return undefined
  const factor = { k: 1_000, m: 1_000_000 }[(match[2] ?? '').toLowerCase()] ?? 1
  const value = Math.round(Number(match[1]) * factor)
  return Number.isSafeInteger(value) ? value : undefined
}
