// Audit: who changed what, newest first.

import type { AuditEntry } from '../../../http/admin/schema.ts'
import { call } from '../lib/api.ts'
import { count, dateTime, exact } from '../lib/format.ts'
import { useQuery } from '../lib/query.ts'
import { useAction, useResource } from '../lib/resource.ts'
import { Button, Card, Empty, Loaded, PageHead, When } from '../ui/parts.tsx'

const PAGE = 50

export const Audit = () => {
  const [query] = useQuery()
  const target = query.target ? { target: query.target } : {}
  const entries = useResource((signal) => call('audit.list', { ...target, limit: PAGE }, signal), [query.target])
  const older = useAction(async () => {
    const { value } = entries
    if (!value?.next) return
    const next = await call('audit.list', { ...target, limit: PAGE, before: value.next })
    entries.set({ items: [...value.items, ...next.items], next: next.next })
  })
  return (
    <>
      <PageHead
        title="Audit"
        lead="Every change of keys, members, tokens and settings. Entries cannot be altered here."
      />
      <Loaded of={entries} lines={10}>
        {({ items, next }) => (
          <Card flush>
            {items.length === 0 ? (
              <Empty title="No changes yet" />
            ) : (
              <div class="table-wrap">
                <table>
                  <thead>
                    <tr>
                      <th scope="col">Time</th>
                      <th scope="col">Who</th>
                      <th scope="col">What</th>
                      <th scope="col" class="opt-1">
                        Change
                      </th>
                    </tr>
                  </thead>
                  <tbody>
                    {items.map((entry) => (
                      <Entry key={entry.row} of={entry} />
                    ))}
                  </tbody>
                </table>
              </div>
            )}
            {next !== null && (
              <div class="more">
                <span class="muted">{older.error?.message ?? `${items.length} shown`}</span>
                <Button size="small" busy={older.busy} onClick={() => older.run()}>
                  Older
                </Button>
              </div>
            )}
          </Card>
        )}
      </Loaded>
    </>
  )
}

const KINDS = { cli: 'command line', member: 'member', token: 'admin token', system: 'the gateway' } as const

const Entry = ({ of }: { of: AuditEntry }) => (
  <tr>
    <td class="nowrap" title={exact(of.at)}>
      <When at={of.at} />
    </td>
    <td>
      {of.actor.name ?? KINDS[of.actor.kind]}
      {of.actor.name && of.actor.kind !== 'member' && <span class="sub">{KINDS[of.actor.kind]}</span>}
    </td>
    <td>
      {of.action}
      <span class="sub mono nowrap">
        {of.target.startsWith('key') && !of.target.includes(' ') ? (
          <a href={`/dashboard/keys/${encodeURIComponent(of.target)}`}>{of.target}</a>
        ) : (
          of.target
        )}
      </span>
    </td>
    <td class="opt-1">
      <Change of={of} />
    </td>
  </tr>
)

const members = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}

const said = (name: string, value: unknown): string => {
  if (value === undefined || value === null) return '–'
  if (typeof value === 'number') return name.endsWith('At') ? dateTime(new Date(value).toISOString()) : count(value)
  if (Array.isArray(value)) return value.map((each) => said('', each)).join(', ')
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** tokensTotal → tokens total */
const words = (name: string): string => name.replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)

/** Members of members stand beside the others. */
const flat = (value: Record<string, unknown>): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const inner = Object.entries(members(member))
      return inner.length > 0 ? inner : [[name, member]]
    }),
  )

/** Said elsewhere in the row. */
const KNOWN = new Set(['id', 'createdAt'])

/** Only the members that differ, before and after. */
const Change = ({ of }: { of: AuditEntry }) => {
  const before = flat(members(of.before))
  const after = flat(members(of.after))
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => !KNOWN.has(name) && JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  )
  if (names.length === 0) return <span class="muted">–</span>
  const fresh = Object.keys(before).length === 0
  const shown = names.slice(0, 6)
  return (
    <span class="small">
      {shown.map((name) => (
        <span key={name} class="change">
          <span class="muted">{words(name)}</span> {!fresh && `${said(name, before[name])} → `}
          {said(name, after[name])}
        </span>
      ))}
      {names.length > shown.length && <span class="muted">and {names.length - shown.length} more</span>}
    </span>
  )
}
