// What lists share: the table with its headings, a row that leads somewhere, and the foot that asks for older ones.

import type { ComponentChildren } from 'preact'
import { useLocation } from 'preact-iso/router'
import { count } from '../lib/format.ts'
import type { Pages } from '../lib/pages.ts'
import { Button } from './parts.tsx'

/** A heading, with the class of its column's cells where they have one. */
export type Column = string | readonly [heading: string, css: string]

/** `children`: the rows. `actions`: their last cells are buttons, which need no heading to be seen. */
export const Table = ({
  columns,
  css,
  actions = false,
  children,
}: {
  columns: readonly Column[]
  css?: string
  actions?: boolean
  children: ComponentChildren
}) => (
  <div class="table-wrap">
    <table class={css}>
      <thead>
        <tr>
          {columns.map((column) => {
            const [heading, own] = typeof column === 'string' ? [column] : column
            return (
              <th key={heading} scope="col" class={own}>
                {heading}
              </th>
            )
          })}
          {actions && (
            <th scope="col">
              <span class="sr-only">Actions</span>
            </th>
          )}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  </div>
)

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
