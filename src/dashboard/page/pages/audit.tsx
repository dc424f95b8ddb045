// Audit: who changed what, newest first.

import type { AuditEntry } from '../../../admin-api/schema.ts'
import { call } from '../lib/api.ts'
import { count, dateTime, exact, timeOf } from '../lib/format.ts'
import { usePages } from '../lib/pages.ts'
import { useQuery } from '../lib/query.ts'
import { useResource } from '../lib/resource.ts'
import { Button, Card, Empty, Loaded, PageHead } from '../ui/parts.tsx'
import { Older, Table } from '../ui/rows.tsx'

const PAGE = 50

export const Audit = () => {
  const [query, setQuery] = useQuery()
  const people = usePeople()
  const target = query.target ? { target: query.target } : {}
  const entries = usePages(
    (before, signal) => call('audit.list', { ...target, ...before, limit: PAGE }, signal),
    [query.target],
  )
  return (
    <>
      <PageHead
        title="Audit"
        lead="Every change of keys, members, tokens and settings, who signed in, and what alerts were sent. Entries cannot be altered here."
      >
        {query.target && <Button onClick={() => setQuery({ target: '' })}>Show all</Button>}
      </PageHead>
      {query.target && (
        <p class="muted" style={{ marginBottom: '12px' }}>
          Only what was done to <code>{query.target}</code>.
        </p>
      )}
      <Loaded of={entries} lines={10}>
        {({ items }) => (
          <Card flush>
            {items.length === 0 ? (
              <Empty title={query.target ? 'Nothing was done to it' : 'No changes yet'} />
            ) : (
              <Table css="tall" columns={['Time', ['Who', 'opt-1'], 'What', ['Change', 'opt-1']]}>
                {items.map((entry) => (
                  <Entry key={entry.row} of={entry} people={people} />
                ))}
              </Table>
            )}
            <Older of={entries} shown={items.length} />
          </Card>
        )}
      </Loaded>
    </>
  )
}

/** Names of members by id; a removed one keeps the id. */
type People = ReadonlyMap<string, string>

const usePeople = (): People => {
  const members = useResource((signal) => call('members.list', undefined, signal), [])
  return new Map((members.value?.items ?? []).map(({ id, name }) => [id, name]))
}

const KINDS = { cli: 'command line', member: 'member', token: 'admin token', system: 'the gateway' } as const

const whoDid = ({ actor }: AuditEntry): string => actor.name ?? KINDS[actor.kind]

const Entry = ({ of, people }: { of: AuditEntry; people: People }) => (
  <tr>
    <td class="nowrap">
      <time dateTime={of.at} title={exact(of.at)}>
        {timeOf(of.at)}
      </time>
      <span class="sub narrow">{whoDid(of)}</span>
    </td>
    <td class="opt-1 nowrap">
      {whoDid(of)}
      {of.actor.name && of.actor.kind !== 'member' && <span class="sub">{KINDS[of.actor.kind]}</span>}
    </td>
    <td>
      {of.action}
      <span class="sub" title={of.target}>
        <Target of={of} />
      </span>
      <span class="narrow">
        <Change of={of} people={people} />
      </span>
    </td>
    <td class="opt-1">
      <Change of={of} people={people} />
    </td>
  </tr>
)

/** By what it is called now; the id where it has no name any more. */
const Target = ({ of: { target, target_name } }: { of: AuditEntry }) => {
  const name = target_name ?? <span class="mono">{target}</span>
  const href = /^key_\w+$/.test(target) ? `/dashboard/keys/${encodeURIComponent(target)}` : undefined
  return href === undefined ? <span>{name}</span> : <a href={href}>{name}</a>
}

const members = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : {}

const said = (name: string, value: unknown, people: People): string => {
  if (value === undefined || value === null) return '–'
  if (typeof value === 'number')
    return /(At|Until)$/.test(name) ? dateTime(new Date(value).toISOString()) : count(value)
  if (Array.isArray(value)) return value.map((each) => said('', each, people)).join(', ')
  if (typeof value !== 'string') return JSON.stringify(value)
  return name === 'ownerId' ? (people.get(value) ?? value) : value
}

/** tokensTotal → tokens total, ownerId → owner */
const words = (name: string): string =>
  name.replace(/Id$/, '').replace(/([A-Z])/g, (letter) => ` ${letter.toLowerCase()}`)

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

/** The members that differ, before and after. What people wrote turns nothing but itself around. */
const Change = ({ of, people }: { of: AuditEntry; people: People }) => {
  const before = flat(members(of.before))
  const after = flat(members(of.after))
  const names = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
    (name) => !KNOWN.has(name) && JSON.stringify(before[name] ?? null) !== JSON.stringify(after[name] ?? null),
  )
  if (names.length === 0) return <span class="muted">–</span>
  const fresh = Object.keys(before).length === 0
  return (
    <span class="small">
      {names.map((name) => (
        <span key={name} class="change">
          <span class="muted">{words(name)}</span>{' '}
          {!fresh && (
            <>
              <bdi>{said(name, before[name], people)}</bdi> →{' '}
            </>
          )}
          <bdi>{said(name, after[name], people)}</bdi>
        </span>
      ))}
    </span>
  )
}
