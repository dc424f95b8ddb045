// Dialogs on the browser's own element: focus stays within, Escape closes, focus returns to where it was.

import type { ComponentChildren } from 'preact'
import { useEffect, useId, useRef } from 'preact/hooks'
import { useAction } from '../lib/resource.ts'
import { Icon } from './icons.tsx'
import { Button, Failure } from './parts.tsx'

/** What had the focus before the first dialog; null when that is not known, or will be gone. */
let opener: Element | null = null

/** Where what opened it is gone, with what was done, the page's heading is the nearest place left. */
const giveBack = (): void => {
  if (document.querySelector('dialog[open]') !== null) return
  const to = opener?.isConnected === true ? opener : document.querySelector('main h1')
  if (to instanceof HTMLElement) to.focus({ preventScroll: true })
  opener = null
}

export const Dialog = ({
  title,
  onClose,
  wide = false,
  /** Something on it is shown once: a stray press beside it must not close it. */
  firm = false,
  children,
}: {
  title: string
  onClose: () => void
  wide?: boolean
  firm?: boolean
  children: ComponentChildren
}) => {
  const ref = useRef<HTMLDialogElement>(null)
  const id = useId()
  useEffect(() => {
    const dialog = ref.current
    const before = document.activeElement
    // One that follows another gives the focus back to what opened the first.
    if (document.querySelector('dialog[open]') === null && before !== document.body) opener = before
    dialog?.showModal()
    return () => {
      dialog?.close()
      setTimeout(giveBack)
    }
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape is the browser's own
    <dialog
      ref={ref}
      class={wide ? 'wide' : ''}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault()
        onClose()
      }}
      onClick={(event) => {
        if (!firm && event.target === ref.current) onClose()
      }}
    >
      <div class="dialog-head">
        <h2 id={id}>{title}</h2>
        <Button kind="quiet" size="icon" aria-label="Close" onClick={onClose}>
          <Icon name="close" />
        </Button>
      </div>
      <div class="dialog-body">{children}</div>
    </dialog>
  )
}

/** Asks before something that cannot be undone; closes once it is done. */
export const Confirm = ({
  title,
  action,
  danger = true,
  /** What opened it is there no longer once it is done: the row it stood in goes, or has nothing left to do. */
  last = false,
  run,
  onClose,
  children,
}: {
  title: string
  action: string
  danger?: boolean
  last?: boolean
  run: () => Promise<unknown>
  onClose: () => void
  children: ComponentChildren
}) => {
  const doing = useAction(run)
  return (
    <Dialog title={title} onClose={onClose}>
      <div>{children}</div>
      {doing.error && <Failure error={doing.error} />}
      <div class="row end">
        <Button onClick={onClose}>Cancel</Button>
        <Button
          kind={danger ? 'danger' : 'primary'}
          busy={doing.busy}
          onClick={async () => {
            if (!(await doing.run())) return
            if (last) opener = null
            onClose()
          }}
        >
          {action}
        </Button>
      </div>
    </Dialog>
  )
}
