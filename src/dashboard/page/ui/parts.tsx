// Small parts every page uses: buttons, badges, notices, empty and waiting states, figures.

import { signal } from '@preact/signals'
import { type ComponentChildren, Fragment, type JSX } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import { mayPass } from '../lib/api.ts'
import { ago, exact } from '../lib/format.ts'
import type { Resource } from '../lib/resource.ts'
import { Icon } from './icons.tsx'

const CLOCK_MS = 15_000

type ButtonProps = Omit<JSX.IntrinsicElements['button'], 'class' | 'disabled'> & {
  kind?: 'primary' | 'danger' | 'quiet' | undefined
  size?: 'small' | 'icon' | undefined
  busy?: boolean | undefined
  disabled?: boolean | undefined
}

/** What does nothing for now, or is at it, keeps the focus: the browser would take it from a disabled element. */
export const Button = ({ kind, size, busy = false, disabled = false, onClick, children, ...rest }: ButtonProps) => (
  <button
    type="button"
    class={['button', kind, size].filter(Boolean).join(' ')}
    aria-disabled={busy || disabled}
    aria-busy={busy}
    onClick={busy || disabled ? (event) => event.preventDefault() : onClick}
    {...rest}
  >
    {busy && <span class="spin" aria-hidden="true" />}
    {children}
  </button>
)

/** Names the tab. */
export const useTitle = (title: string): void => {
  useEffect(() => {
    document.title = `${title} · sluice`
  }, [title])
}

/** The page's heading, which also names the tab. */
export const PageHead = ({
  title,
  lead,
  crumb,
  children,
}: {
  title: string
  lead?: ComponentChildren
  crumb?: { href: string; label: string }
  children?: ComponentChildren
}) => {
  useTitle(title)
  return (
    <header class="page-head">
      <div>
        {crumb && (
          <a class="crumb" href={crumb.href}>
            ‹ {crumb.label}
          </a>
        )}
        <h1 tabIndex={-1}>{title}</h1>
        {lead && <p class="lead">{lead}</p>}
      </div>
      {children && <div class="tools row">{children}</div>}
    </header>
  )
}

export const Card = ({
  title,
  tools,
  flush = false,
  children,
}: {
  title?: ComponentChildren
  tools?: ComponentChildren
  /** Content up to the border: tables. */
  flush?: boolean
  children: ComponentChildren
}) => (
  <section class="card">
    {(title || tools) && (
      <div class="card-head">
        {title ? <h2>{title}</h2> : <span />}
        {tools}
      </div>
    )}
    {flush ? children : <div class="card-body">{children}</div>}
  </section>
)

/** In one line, however long; whole under the pointer. */
export const Clip = ({ text, sub = false }: { text: string; sub?: boolean }) => (
  <span class={sub ? 'sub clip' : 'clip'} title={text}>
    {text}
  </span>
)

/** A name that may go on in the next line between its words. */
export const Breaking = ({ text }: { text: string }) => (
  <>
    {text.split(/(?<=[_/.-])/).map((piece, at) => (
      <Fragment key={at}>
        {piece}
        <wbr />
      </Fragment>
    ))}
  </>
)

export type Tone = 'good' | 'warn' | 'bad' | undefined

export const Badge = ({ tone, plain, children }: { tone?: Tone; plain?: boolean; children: ComponentChildren }) => (
  <span class={['badge', tone, plain && 'plain'].filter(Boolean).join(' ')}>{children}</span>
)

export const Notice = ({ tone, children }: { tone?: Tone; children: ComponentChildren }) => (
  <div class={['notice', tone].filter(Boolean).join(' ')} role={tone === 'bad' ? 'alert' : 'status'}>
    {children}
  </div>
)

export const Failure = ({ error, retry, busy }: { error: Error; retry?: () => void; busy?: boolean }) => (
  <Notice tone="bad">
    {error.message}{' '}
    {retry && mayPass(error) && (
      <Button size="small" busy={busy} onClick={retry}>
        Try again
      </Button>
    )}
  </Notice>
)

export const Empty = ({ title, children }: { title: string; children?: ComponentChildren }) => (
  <div class="empty">
    <b>{title}</b>
    {children}
  </div>
)

/** Lines where content will be. */
const Bones = ({ lines = 5 }: { lines?: number }) => (
  <div class="stack bones" role="status" aria-label="Loading">
    {Array.from({ length: lines }, (_, index) => (
      <span class="bone" key={index} style={{ width: `${96 - ((index * 17) % 40)}%` }} />
    ))}
  </div>
)

/** A resource's value once it is there; its error above what was there before, which is faint where it is of other inputs. */
export const Loaded = <T,>({
  of,
  children,
  lines = 6,
}: {
  of: Resource<T>
  children: (value: T) => ComponentChildren
  lines?: number
}) => (
  <>
    {of.error && (
      <div class="failure">
        <Failure error={of.error} retry={of.reload} busy={of.loading} />
      </div>
    )}
    {of.value !== undefined ? (
      <div class={of.stale ? 'loaded stale' : 'loaded'} aria-busy={of.stale && of.loading}>
        {children(of.value)}
      </div>
    ) : (
      of.error === undefined && <Bones lines={lines} />
    )}
  </>
)

export const Stat = ({ label, value, note }: { label: string; value: ComponentChildren; note?: ComponentChildren }) => (
  <div class="stat">
    <dt>{label}</dt>
    <dd class="figure">{value}</dd>
    {note !== undefined && <dd class="note">{note}</dd>}
  </div>
)

/** How much of a whole is gone. `share` from 0 to 1. */
export const Meter = ({ share, label }: { share: number; label: string }) => {
  const tone = share >= 1 ? 'bad' : share >= 0.85 ? 'warn' : ''
  const width = Math.min(100, Math.max(share > 0 ? 2 : 0, share * 100))
  return (
    <span class={`meter ${tone}`} role="img" aria-label={label}>
      <span style={{ width: `${width}%` }} />
    </span>
  )
}

/** Moves on while the page is shown, so that what is said of it does not grow old. */
const clock = signal(Date.now())
setInterval(() => {
  clock.value = Date.now()
}, CLOCK_MS)

/** A time as "3 minutes ago", the exact one as its title. */
export const When = ({ at }: { at: string | null }) =>
  at === null ? (
    <span class="muted">never</span>
  ) : (
    <time dateTime={at} title={exact(at)} class="nowrap">
      {ago(at, Math.max(clock.value, Date.now()))}
    </time>
  )

const CopyButton = ({ text, kind, autoFocus }: { text: string; kind?: 'primary'; autoFocus?: boolean }) => {
  const [state, setState] = useState<'idle' | 'done' | 'failed'>('idle')
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined)
  useEffect(() => () => clearTimeout(timer.current), [])
  const copy = async (): Promise<void> => {
    setState((await writeClipboard(text)) ? 'done' : 'failed')
    clearTimeout(timer.current)
    timer.current = setTimeout(() => setState('idle'), 2_000)
  }
  const said = state === 'done' ? 'Copied' : state === 'failed' ? 'Select and copy by hand' : 'Copy'
  return (
    <Button size="small" kind={kind} onClick={copy} autofocus={autoFocus}>
      <Icon name={state === 'done' ? 'check' : 'copy'} />
      <span aria-live="polite">{said}</span>
    </Button>
  )
}

// Without https the clipboard interface is missing: a selection and the old command still work.
const writeClipboard = async (text: string): Promise<boolean> => {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    const area = document.createElement('textarea')
    area.value = text
    const host = document.querySelector('dialog[open]') ?? document.body
    host.append(area)
    area.select()
    const copied = document.execCommand('copy')
    area.remove()
    return copied
  }
}

export const Secret = ({ text, label }: { text: string; label: string }) => (
  <div class="secret">
    <span class="sr-only">{label}</span>
    <code>{text}</code>
    {/* What is pressed next copies it, and does not close what shows it once. */}
    <CopyButton text={text} kind="primary" autoFocus />
  </div>
)

export const Snippet = ({ text }: { text: string }) => (
  <div class="snippet">
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls, so the keyboard must reach it */}
    <pre tabIndex={0}>{text}</pre>
    <CopyButton text={text} />
  </div>
)

/** One of a few. */
export const Segments = <T extends string>({
  label,
  options,
  value,
  onChange,
}: {
  label: string
  options: readonly (readonly [T, string])[]
  value: T
  onChange: (value: T) => void
}) => (
  <fieldset class="segments" aria-label={label}>
    {options.map(([name, text]) => (
      <button key={name} type="button" aria-pressed={value === name} onClick={() => onChange(name)}>
        {text}
      </button>
    ))}
  </fieldset>
)
