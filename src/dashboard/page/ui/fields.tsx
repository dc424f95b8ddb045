// Form fields: a label, the control, a hint; what is wrong with the whole form stands below its buttons.

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { Button, Failure } from './parts.tsx'

type Common = {
  label: string
  hint?: ComponentChildren
  /** The label is for screen readers only: toolbars. */
  bare?: boolean | undefined
}

/** What ties a control to its label and its hint. */
type Tied = { id: string; 'aria-describedby'?: string }

/** `children` makes the control. */
const Field = ({ label, hint, bare = false, children }: Common & { children: (tied: Tied) => ComponentChildren }) => {
  const id = useId()
  return (
    <div class="field">
      <label for={id} class={bare ? 'sr-only' : ''}>
        {label}
      </label>
      {children(hint === undefined ? { id } : { id, 'aria-describedby': `${id}-hint` })}
      {hint !== undefined && (
        <span class="hint" id={`${id}-hint`}>
          {hint}
        </span>
      )}
    </div>
  )
}

type TextProps = Common & {
  value: string
  onChange: (value: string) => void
  type?: 'text' | 'password' | 'search' | 'datetime-local'
  required?: boolean
  autoFocus?: boolean
  placeholder?: string | undefined
  autocomplete?: HTMLInputElement['autocomplete']
  inputMode?: 'numeric' | 'decimal'
  minLength?: number
  maxLength?: number
  pattern?: string
}

export const Text = ({ label, hint, bare, value, onChange, type = 'text', ...rest }: TextProps) => {
  const input = useRef<HTMLInputElement>(null)
  // The browser looks for it when a page or a dialog opens, not when a field joins the others.
  useEffect(() => {
    if (rest.autoFocus) input.current?.focus()
  }, [])
  return (
    <Field {...{ label, hint, bare }}>
      {(tied) => (
        <input
          ref={input}
          class="input"
          // The element's types tell its kinds apart; this one takes several.
          type={type as 'text'}
          value={value}
          onInput={({ currentTarget }) => onChange(currentTarget.value)}
          {...tied}
          {...rest}
        />
      )}
    </Field>
  )
}

/** Of a second factor. */
export const Code = ({
  hint = 'Of your authenticator, or a recovery code.',
  ...rest
}: {
  value: string
  onChange: (value: string) => void
  hint?: string
  autoFocus?: boolean
}) => <Text label="Code" autocomplete="one-time-code" maxLength={40} required hint={hint} {...rest} />

export const Area = ({
  label,
  hint,
  value,
  onChange,
  rows,
}: Common & { value: string; onChange: (value: string) => void; rows: number }) => (
  <Field {...{ label, hint }}>
    {(tied) => (
      <textarea
        class="input"
        rows={rows}
        value={value}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
        onKeyDown={({ key, ctrlKey, metaKey, currentTarget }) => {
          // Enter alone is a new line. The button knows when not to send.
          if (key === 'Enter' && (ctrlKey || metaKey))
            currentTarget.form?.querySelector<HTMLElement>('[type="submit"]')?.click()
        }}
        {...tied}
      />
    )}
  </Field>
)

export const Select = <T extends string>({
  label,
  hint,
  bare,
  value,
  options,
  onChange,
}: Common & { value: T; options: readonly (readonly [T, string])[]; onChange: (value: T) => void }) => (
  <Field {...{ label, hint, bare }}>
    {(tied) => (
      <select
        class="input"
        value={value}
        onChange={({ currentTarget }) => onChange(currentTarget.value as T)}
        {...tied}
      >
        {options.map(([name, text]) => (
          <option key={name} value={name}>
            {text}
          </option>
        ))}
      </select>
    )}
  </Field>
)

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
        <div class="failure" ref={said}>
          <Failure error={error} />
        </div>
      )}
    </form>
  )
}

/** What a form in a dialog ends with. */
export const Buttons = ({ action, busy, onCancel }: { action: string; busy: boolean; onCancel: () => void }) => (
  <div class="row end">
    <Button onClick={onCancel}>Cancel</Button>
    <Button kind="primary" type="submit" busy={busy}>
      {action}
    </Button>
  </div>
)

/**
 * A whole number as typed, grouping and k/M endings allowed; undefined for anything else. A point stands before such an
 * ending only: in many languages it parts thousands.
 */
export const readCount = (text: string): number | undefined => {
  const match = /^(\d+(?:\.\d+(?=[km]))?)([km])?$/i.exec(text.replace(/[\s,_']/g, ''))
  if (match === null) return undefined
  const factor = { k: 1_000, m: 1_000_000 }[(match[2] ?? '').toLowerCase()] ?? 1
  const value = Math.round(Number(match[1]) * factor)
  return Number.isSafeInteger(value) ? value : undefined
}

/** The same where a number must stand; `name` is what the field is called. Throws what to write. */
export const needCount = (text: string, name: string): number => {
  const value = readCount(text)
  if (value === undefined) throw new Error(`${name}: write a whole number, such as 250,000 or 2M.`)
  return value
}

/** The same of days to come. */
export const needDays = (text: string, name: string): number => {
  const value = readCount(text)
  if (value === undefined || value < 1) throw new Error(`${name}: write a whole number from 1, such as 90.`)
  return value
}

/** A local time that is to come, as the API takes it. Throws what to choose. */
export const needTimeToCome = (local: string, name: string): string => {
  const at = new Date(local)
  if (!(at.getTime() > Date.now())) throw new Error(`${name}: choose a time to come.`)
  return at.toISOString()
}

/** The same where nothing may stand too: null. */
export const countOrNull = (text: string, name: string): number | null =>
  text.trim() === '' ? null : needCount(text, name)
