// Exchanges: a page of them by filter, growing downwards on demand and, while live, upwards by itself.

import { useEffect, useState } from 'preact/hooks'
import { useLocation } from 'preact-iso/router'
import type { ListedKey } from '../../../admin-api/schema.ts'
import { HOUR_MS } from '../../../lib/spans.ts'
import { type Ask, call } from '../lib/api.ts'
import { counters, returns, useEnded } from '../lib/live.ts'
import { usePages } from '../lib/pages.ts'
import { useQuery } from '../lib/query.ts'
import { useResource } from '../lib/resource.ts'
import { ExchangesTable, withEnded } from '../ui/exchanges-table.tsx'
import { Select, Text } from '../ui/fields.tsx'
import { LiveDot } from '../ui/live-dot.tsx'
import { Empty, Loaded, PageHead } from '../ui/parts.tsx'
import { Older } from '../ui/rows.tsx'

const PAGE = 50
/** Rows kept while live: the list must not grow for ever in a tab left open. */
const MOST_LIVE = 500
const MOST_CHOICES = 1_000

type Outcome = NonNullable<Ask<'exchanges.list'>['outcome']>

const OUTCOMES: readonly (readonly [Outcome | '', string])[] = [
  ['', 'Any outcome'],
  ['done', 'Done'],
  ['failed', 'Failed'],
  ['refused', 'Refused'],
  ['aborted', 'Aborted'],
  ['open', 'Under way'],
]

/** What an address says, what it is called, and how many hours that is. */
const SINCE = [
  ['', 'Any time', undefined],
  ['1h', 'Last hour', 1],
  ['24h', 'Last 24 hours', 24],
  ['7d', 'Last 7 days', 168],
] as const

export const Exchanges = () => {
  const [query, setQuery] = useQuery()
  const outcome = (OUTCOMES.find(([name]) => name === query.outcome)?.[0] ?? '') as Outcome | ''
  const [since, , hours] = SINCE.find(([name]) => name === query.since) ?? SINCE[0]
  const filter: Ask<'exchanges.list'> = {
    ...(query.key ? { key: query.key } : {}),
    ...(query.model ? { model: query.model } : {}),
    ...(outcome === '' ? {} : { outcome }),
    ...(hours === undefined ? {} : { since: new Date(Date.now() - hours * HOUR_MS).toISOString() }),
  }
  const filters = [query.key, query.model, outcome, since]
  const inputs = [...filters, returns.value]
  const page = usePages(
    (before, signal) => call('exchanges.list', { ...filter, ...before, limit: PAGE }, signal),
    inputs,
  )
  // What is under way comes and goes: the list of it is asked for again as often as they are counted.
  const counted = counters.value?.at
  useEffect(() => {
    if (outcome === 'open' && counted !== undefined) page.reload()
  }, [counted])
  const choices = useChoices(query.key)
  const ended = useEnded(
    MOST_LIVE,
    (exchange) =>
      (!query.key || exchange.key.id === query.key) &&
      (!query.model || exchange.model === query.model) &&
      (outcome === '' || exchange.outcome === outcome),
    inputs,
  )
  const filtered = filters.some((value) => value)
  return (
    <>
      <PageHead title="Exchanges" lead={<LiveDot />}>
        <Find />
        <Select
          bare
          label="Key"
          value={query.key ?? ''}
          options={withCurrent(choices.keys, query.key)}
          onChange={(key) => setQuery({ key })}
        />
        <Select
          bare
          label="Model"
          value={query.model ?? ''}
          options={withCurrent(choices.models, query.model)}
          onChange={(model) => setQuery({ model })}
        />
        <Select
          bare
          label="Outcome"
          value={outcome}
          options={OUTCOMES}
          onChange={(next) => setQuery({ outcome: next })}
        />
        <Select
          bare
          label="Time"
          value={since}
          options={SINCE.map(([name, label]) => [name, label] as const)}
          onChange={(next) => setQuery({ since: next })}
        />
      </PageHead>
      <Loaded of={page} lines={12}>
        {(value) => {
          const items = withEnded(value.items, ended)
          return (
            <div class="card">
              {items.length === 0 ? (
                <Empty title={filtered ? 'No exchange matches' : 'No exchanges yet'}>
                  <p>
                    {filtered
                      ? 'Choose a wider filter. Single exchanges are kept for a time only; their sums stay in the overview.'
                      : 'Each request of a key is listed here, with why it went as it did.'}
                  </p>
                </Empty>
              ) : (
                <ExchangesTable items={items} ended={ended} />
              )}
              <Older of={page} shown={items.length} />
            </div>
          )
        }}
      </Loaded>
    </>
  )
}

/** By what a client wrote down: every answer has the request id in its headers. */
const Find = () => {
  const { route } = useLocation()
  const [id, setId] = useState('')
  return (
    <form
      class="find"
      onSubmit={(event) => {
        event.preventDefault()
        if (id.trim() !== '') route(`/dashboard/exchanges/${encodeURIComponent(id.trim())}`)
      }}
    >
      <Text bare label="Find by request id" type="search" placeholder="Request id, req_…" value={id} onChange={setId} />
    </form>
  )
}

type Options = readonly (readonly [string, string])[]

/** As many keys as a list to choose from can hold, by label. Others have a link here on their own page. */
const listKeys = async (signal: AbortSignal): Promise<ListedKey[]> => {
  const keys: ListedKey[] = []
  for (let more = true; more && keys.length < MOST_CHOICES; ) {
    const asked = { sort: 'label', order: 'asc', limit: 200, offset: keys.length } as const
    const { items } = await call('keys.list', asked, signal)
    keys.push(...items)
    more = items.length === asked.limit
  }
  return keys
}

/** Keys and models to filter by; the key that is asked for among them, however many others there are. */
const useChoices = (key: string | undefined): { keys: Options; models: Options } => {
  const loaded = useResource(
    async (signal) => ({
      keys: (await listKeys(signal)).map(({ id, label }) => [id, label] as const),
      models: (await call('models.list', undefined, signal)).items.map(({ id }) => [id, id] as const),
    }),
    [],
  )
  const listed = loaded.value?.keys
  const beyond = listed !== undefined && key !== undefined && !listed.some(([id]) => id === key)
  const other = useResource(
    async (signal) => (beyond ? [[key, (await call('keys.get', { id: key }, signal)).label] as const] : []),
    [beyond, key],
  )
  return {
    keys: [['', 'Any key'], ...(listed ?? []), ...(other.value ?? [])],
    models: [['', 'Any model'], ...(loaded.value?.models ?? [])],
  }
}

/** What the address asks for is among the options even before they are loaded, or past the first page. */
const withCurrent = (options: Options, current: string | undefined): Options =>
  current === undefined || options.some(([name]) => name === current) ? options : [...options, [current, current]]
