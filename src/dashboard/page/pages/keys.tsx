// Keys: find, sort, make.

import { useEffect, useRef, useState } from 'preact/hooks'
import type { KeyWithSecret, ListedKey, KeyStatus as Status } from '../../../admin-api/schema.ts'
import { type Ask, call } from '../lib/api.ts'
import { compact, count, counted, day } from '../lib/format.ts'
import { returns, useLive } from '../lib/live.ts'
import { useQuery } from '../lib/query.ts'
import { useResource } from '../lib/resource.ts'
import { isAdmin, session } from '../lib/session.ts'
import { Spark } from '../ui/chart.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { Select, Text } from '../ui/fields.tsx'
import { Icon } from '../ui/icons.tsx'
import { KeyForm } from '../ui/key-form.tsx'
import { KeyStatus, QuotaMeter } from '../ui/key-status.tsx'
import { Button, Clip, Empty, Loaded, PageHead, When } from '../ui/parts.tsx'
import { LinkRow } from '../ui/rows.tsx'
import { SecretDialog } from '../ui/secret-dialog.tsx'

const PAGE = 50
const SEARCH_DELAY_MS = 200

type Sort = NonNullable<Ask<'keys.list'>['sort']>

const STATUSES: readonly (readonly [Status | '', string])[] = [
  ['', 'Any status'],
  ['active', 'Active'],
  ['exhausted', 'Exhausted'],
  ['expired', 'Expired'],
  ['revoked', 'Revoked'],
]

const SORTS: ReadonlySet<string> = new Set(['created_at', 'label', 'expires_at', 'tokens_used', 'tokens_remaining'])

export const Keys = () => {
  const [query, setQuery] = useQuery()
  const [creating, setCreating] = useState(false)
  const [made, setMade] = useState<KeyWithSecret>()
  const sort = (SORTS.has(query.sort ?? '') ? query.sort : 'created_at') as Sort
  const order: Order = query.order === 'asc' ? 'asc' : 'desc'
  const status = (STATUSES.find(([name]) => name === query.status)?.[0] ?? '') as Status | ''
  const offset = Math.max(0, Math.trunc(Number(query.offset)) || 0)
  const keys = useResource(
    async (signal) => {
      const asked: Ask<'keys.list'> = {
        ...{ sort, order, offset, limit: PAGE, search: query.search ?? '' },
        ...(status === '' ? {} : { status }),
        ...(query.owner ? { owner: query.owner } : {}),
      }
      return { offset, ...(await call('keys.list', asked, signal)) }
    },
    [sort, order, status, offset, query.search, query.owner, returns.value],
  )
  const { value } = keys
  const beyond = value !== undefined && value.offset === offset && value.items.length === 0 && value.total > 0
  useEffect(() => {
    if (beyond) setQuery({ offset: '' })
  }, [beyond])
  useLive((exchange) =>
    keys.change((shown) => ({
      ...shown,
      items: shown.items.map((key) => (key.id === exchange.key.id ? used(key, exchange) : key)),
    })),
  )
  const filtered = [query.search, query.owner, status].some((value) => value)
  const most = session.value?.member?.limits.max_keys
  return (
    <>
      <PageHead
        title="Keys"
        lead={
          !isAdmin.value && most
            ? `You may have ${counted(most, 'key')}; one that was used counts until it expires, for a day at least.`
            : undefined
        }
      >
        <Button kind="primary" onClick={() => setCreating(true)}>
          <Icon name="plus" />
          Create key
        </Button>
      </PageHead>
      <div class="row" style={{ marginBottom: '12px' }}>
        <div style={{ flex: '1 1 220px', maxWidth: '360px' }}>
          <Search asked={query.search ?? ''} onAsk={(search) => setQuery({ search, offset: '' })} />
        </div>
        <Select
          bare
          label="Status"
          value={status}
          options={STATUSES}
          onChange={(next) => setQuery({ status: next, offset: '' })}
        />
      </div>
      {query.owner && (
        <p class="row muted" style={{ marginBottom: '12px' }}>
          Only the keys of {value?.items.find(({ owner }) => owner?.id === query.owner)?.owner?.name ?? 'one member'}.
          <Button size="small" onClick={() => setQuery({ owner: '', offset: '' })}>
            Show all keys
          </Button>
        </p>
      )}
      <Loaded of={keys} lines={10}>
        {({ items, total, offset: before }) => (
          <div class="card">
            {items.length === 0 ? (
              <NoKeys filtered={filtered} onCreate={() => setCreating(true)} />
            ) : (
              <KeysTable
                items={items}
                sort={sort}
                order={order}
                onSort={(next) => setQuery({ sort: next, order: turned(next, sort, order), offset: '' })}
              />
            )}
            {total > PAGE && (
              <div class="more">
                <span class="muted">
                  {count(before + 1)}–{count(before + items.length)} of {count(total)}
                </span>
                <span class="row">
                  <Button
                    size="small"
                    disabled={offset === 0}
                    onClick={() => setQuery({ offset: offset <= PAGE ? '' : String(offset - PAGE) })}
                  >
                    Previous
                  </Button>
                  <Button
                    size="small"
                    disabled={offset + PAGE >= total}
                    onClick={() => setQuery({ offset: String(offset + PAGE) })}
                  >
                    Next
                  </Button>
                </span>
              </div>
            )}
          </div>
        )}
      </Loaded>
      {creating && (
        <Dialog title="New key" onClose={() => setCreating(false)} firm>
          <KeyForm
            onCancel={() => setCreating(false)}
            onDone={(secret) => {
              setCreating(false)
              setMade(secret)
              keys.reload()
            }}
          />
        </Dialog>
      )}
      {made && <SecretDialog made={made} onClose={() => setMade(undefined)} />}
    </>
  )
}

/** Asks once no more is typed for a moment; what is asked from elsewhere, by a link or the way back, stands in it. */
const Search = ({ asked, onAsk }: { asked: string; onAsk: (text: string) => void }) => {
  const [text, setText] = useState(asked)
  const own = useRef(asked)
  useEffect(() => {
    if (asked !== own.current) setText(asked)
    own.current = asked
  }, [asked])
  useEffect(() => {
    if (text === asked) return
    const timer = setTimeout(() => {
      own.current = text
      onAsk(text)
    }, SEARCH_DELAY_MS)
    return () => clearTimeout(timer)
  }, [text])
  return (
    <Text
      bare
      label="Search keys"
      type="search"
      placeholder={isAdmin.value ? 'Search label, id or owner' : 'Search label or id'}
      value={text}
      onChange={setText}
    />
  )
}

const NoKeys = ({ filtered, onCreate }: { filtered: boolean; onCreate: () => void }) =>
  filtered ? (
    <Empty title="No key matches">
      <p>Look for a part of its label or id, or choose another status.</p>
    </Empty>
  ) : (
    <Empty title="No keys yet">
      <p>A key lets one client in: with a quota of tokens, an expiry, and the models it may use.</p>
      <Button kind="primary" onClick={onCreate}>
        Create the first key
      </Button>
    </Empty>
  )

/** The key as it stands after an exchange that has just ended. */
const used = (key: ListedKey, exchange: { tokens: number; started_at: string }): ListedKey => {
  const left = Math.max(0, key.tokens_remaining - exchange.tokens)
  return {
    ...key,
    status: key.status === 'active' && left === 0 ? 'exhausted' : key.status,
    tokens_used: key.tokens_used + exchange.tokens,
    tokens_remaining: left,
    last_used_at: exchange.started_at,
    spark: key.spark.map((tokens, index) => (index === key.spark.length - 1 ? tokens + exchange.tokens : tokens)),
  }
}

type Order = 'asc' | 'desc'
type Sorted = { sort: Sort; order: Order; onSort: (sort: Sort) => void }

/** The other way round at a second press; at the first, labels from A and figures and times from the greatest. */
const turned = (next: Sort, sort: Sort, order: Order): Order =>
  (next === sort ? order === 'desc' : next === 'label') ? 'asc' : 'desc'

const Head = ({ by, label, css = '', sort, order, onSort }: Sorted & { by: Sort; label: string; css?: string }) => (
  <th scope="col" class={css} aria-sort={sort === by ? (order === 'asc' ? 'ascending' : 'descending') : undefined}>
    <button type="button" onClick={() => onSort(by)}>
      {label}
      {sort === by && <span aria-hidden="true">{order === 'asc' ? ' ↑' : ' ↓'}</span>}
    </button>
  </th>
)

const KeysTable = ({ items, ...sorted }: Sorted & { items: ListedKey[] }) => (
  <div class="table-wrap">
    <table>
      <thead>
        <tr>
          <Head by="label" label="Label" {...sorted} />
          {isAdmin.value && (
            <th scope="col" class="opt-3">
              Owner
            </th>
          )}
          <th scope="col">Status</th>
          <Head by="tokens_used" label="Used" css="num opt-1" {...sorted} />
          <Head by="tokens_remaining" label="Left" css="num" {...sorted} />
          <th scope="col" class="opt-2">
            14 days
          </th>
          <Head by="expires_at" label="Expires" css="opt-2" {...sorted} />
          <th scope="col" class="opt-3">
            Last used
          </th>
        </tr>
      </thead>
      <tbody>
        {items.map((key) => {
          const href = `/dashboard/keys/${encodeURIComponent(key.id)}`
          return (
            <LinkRow key={key.id} href={href}>
              <th scope="row">
                <a class="name" href={href} title={key.label}>
                  {key.label}
                </a>
                <span class="sub mono nowrap opt-2">
                  {key.id}
                  {key.last_four !== null && ` · …${key.last_four}`}
                </span>
              </th>
              {isAdmin.value && (
                <td class="opt-3">
                  {key.owner === null ? <span class="muted">–</span> : <Clip text={key.owner.name} />}
                </td>
              )}
              <td>
                <KeyStatus status={key.status} />
              </td>
              <td class="num opt-1">
                {compact(key.tokens_used)} <span class="muted">/ {compact(key.tokens_total)}</span>
                <QuotaMeter of={key} />
              </td>
              <td class="num">{compact(key.tokens_remaining)}</td>
              <td class="opt-2">
                <Spark
                  values={key.spark}
                  label={`${compact(key.spark.reduce((sum, value) => sum + value, 0))} tokens in 14 days`}
                />
              </td>
              <td class="opt-2 nowrap">{day(key.expires_at)}</td>
              <td class="opt-3">
                <When at={key.last_used_at} />
              </td>
            </LinkRow>
          )
        })}
      </tbody>
    </table>
  </div>
)
