// What rows of lists share: a row that leads somewhere, and the foot that asks for older ones.

import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso/router'
import { count } from '../lib/format.ts'
import type { Pages } from '../lib/pages.ts'
import { Button } from './parts.tsx'

/** Its first cell holds a link to the same place, for keyboards; a press anywhere else follows it too. */
export const LinkRow = ({
  href,
  fresh = false,
  children,
}: {
  href: string
  /** Has just come in. */
  fresh?: boolean
  children: ComponentChildren
}) => {
  const { route } = useLocation()
  return (
    <tr
      class={fresh ? 'link fresh' : 'link'}
      onClick={({ target, ctrlKey, metaKey }) => {
        if (target instanceof HTMLAnchorElement || getSelection()?.isCollapsed === false) return
        if (ctrlKey || metaKey) open(href)
        else route(href)
      }}
    >
      {children}
    </tr>
  )
}

/** Nothing where all is shown. */
export const Older = <T,>({ of, shown }: { of: Pages<T>; shown: number }) =>
  of.value === undefined || of.value.next === null ? null : (
    <div class="more">
      <span class="muted">{of.older.error?.message ?? `${count(shown)} shown`}</span>
      <Button size="small" busy={of.older.busy} onClick={of.older.run}>
        Older
      </Button>
    </div>
  )
