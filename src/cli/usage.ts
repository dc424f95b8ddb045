// `usage`: what was consumed and what it cost, from its sums.

import type { ServerToolCalls } from '../ir/server-tools.ts'
import { calendarOf, dateOf, dayNamed, UTC } from '../lib/calendar.ts'
import { isoOrNull } from '../lib/iso-time.ts'
import { HOUR_MS } from '../lib/spans.ts'
import { khrOf, usageCsv } from '../lib/usage-csv.ts'
import type { ShownSums } from '../observe/shown.ts'
import { isOfAccounts, USAGE_BY, type UsageBy } from '../store/usage.ts'
import { BACKEND_FLAGS } from './backend.ts'
import { command } from './command.ts'
import { JSON_FLAG } from './data.ts'
import { EXIT, printJson, usageError } from './io.ts'
import { idOf } from './keys/show.ts'
import { openBackend } from './open-backend.ts'
import { readSince } from './read.ts'
import { columns, grouped, inert, khr, usdColumn } from './table.ts'

export const usage = command({
  name: 'usage',
  summary: 'Tokens and cost by model, key, member, team, account, tag or day',
  args: {
    key: { type: 'string', valueHint: 'KEY', description: 'Only this key, by its id or label' },
    since: {
      type: 'string',
      valueHint: 'WHEN',
      description:
        'From a date such as 2026-09-01, or a duration ago such as 30d, on the full hour (default: everything)',
    },
    until: {
      type: 'string',
      valueHint: 'WHEN',
      description: 'Up to a date such as 2026-10-01, which is left out; a time counts its whole day (default: now)',
    },
    by: {
      type: 'enum',
      options: [...USAGE_BY],
      valueHint: 'WHAT',
      description:
        'What each row is: model, key, member, team, account, provider, tag (of x-gateway-tag) or day; days are those of time_zone',
      default: 'model',
    },
    daily: {
      type: 'boolean',
      description: 'Each day of each by itself, such as for a vendor’s bill with --by account',
    },
    csv: { type: 'boolean', description: 'Print a table for spreadsheets, with raw figures and a row of totals' },
    ...BACKEND_FLAGS,
    ...JSON_FLAG,
  },
  examples: [
    'sluice usage --since 30d --by day',
    'sluice usage --by key --since 2026-09-01 --until 2026-10-01',
    'sluice usage --by member --since 30d --csv > usage.csv',
    'sluice usage --by account --daily --since 2026-09-01 --until 2026-10-01 --csv',
    'sluice usage --key key_8Fq… --json',
  ],
  run: async (args, io) => {
    const backend = await openBackend(args, io)
    const dated = [args.since, args.until].some((text) => text !== undefined && dayNamed(text) !== undefined)
    const calendar = dated ? await backend.calendar() : UTC
    const sinceMs = readSince('--since', args.since, io.now(), calendar)
    const untilMs = readSince('--until', args.until, io.now(), calendar)
    if (sinceMs !== undefined && untilMs !== undefined && sinceMs >= untilMs)
      throw usageError('--until must be later than --since.')
    if (sinceMs !== undefined && sinceMs > io.now())
      io.err('note: --since is in the future: nothing has been used since then')
    const by = args.by as UsageBy
    const { daily } = args
    if (daily && by === 'day') throw usageError('--daily goes with another --by than day.')
    if (daily && by === 'key' && args.key === undefined)
      throw usageError('--daily with --by key needs a --key: each day of every key is more than a table holds.')
    if (args.csv && args.json) throw usageError('--csv and --json cannot be used together.')
    if (args.key !== undefined && isOfAccounts(by))
      throw usageError(`--by ${by} is summed over all keys together: leave --key out.`)
    const keyId = args.key === undefined ? undefined : await idOf(backend, args.key)
    const { since, rows, khr_per_usd, ...zone } = await backend.usage({ by, daily, sinceMs, untilMs, keyId })
    const { time_zone, time_zone_since: changed, time_zone_before: before } = zone
    const { dayOf } = calendarOf(time_zone) ?? UTC
    const dateAt = (at: string): string => dateOf(dayOf(Date.parse(at)))
    if (changed !== null && (sinceMs ?? 0) < Date.parse(changed))
      io.err(
        `note: days of single keys up to ${dateAt(changed)} are those of ${before}, and later ones of ${time_zone}`,
      )
    if (since !== null && sinceMs !== undefined && sinceMs - Date.parse(since) >= HOUR_MS)
      io.err(
        by === 'tag'
          ? `note: tags are counted by whole days: from ${dateAt(since)} on`
          : `note: single hours of ${dateAt(since)} are no longer kept: the whole day is counted`,
      )
    const all = totalOf(rows)
    if (args.json) {
      printJson(io, {
        by,
        since,
        until: isoOrNull(untilMs),
        time_zone,
        khr_per_usd,
        rows: rows.map((row) => ({
          label: row.label,
          ...(row.day === undefined ? {} : { day: row.day }),
          ...(row.owner === undefined ? {} : { owner: row.owner }),
          ...rowJson(row.group, row, khr_per_usd),
          ...toolsJson(row.server_tools),
        })),
        total: { ...rowJson('total', all, khr_per_usd), ...toolsJson(totalTools(rows)) },
      })
      return EXIT.ok
    }
    if (args.csv) {
      const titled = rows.map(({ group, label, day, owner, ...sums }) => ({ group, label, day, owner, sums }))
      io.out(usageCsv({ by, daily }, titled, all, khr_per_usd).trimEnd())
      return EXIT.ok
    }
    const cost = usdColumn([...rows, all].map(({ cost_micro_usd }) => cost_micro_usd))
    const fees = usdColumn([...rows, all].map(({ fees_micro_usd }) => fees_micro_usd))
    const line = (group: string, sums: ShownSums, day: string) => [
      ...(daily ? [day] : []),
      group,
      grouped(sums.requests),
      grouped(sums.errors),
      grouped(sums.input),
      grouped(sums.cache_read),
      grouped(sums.cache_write),
      grouped(sums.output),
      cost(sums.cost_micro_usd),
      khr(sums.cost_micro_usd, khr_per_usd),
      ...(all.fees_micro_usd > 0 ? [fees(sums.fees_micro_usd)] : []),
    ]
    const head = [
      ...(daily ? ['DAY'] : []),
      ...[by.toUpperCase(), 'REQUESTS', 'ERRORS', 'INPUT', 'CACHE READ', 'CACHE WRITE', 'OUTPUT', 'USD', 'KHR'],
      ...(all.fees_micro_usd > 0 ? ['OF WHICH FEES'] : []),
    ]
    // Keys may be called the same.
    const called = Map.groupBy(rows, ({ label }) => label)
    const named = ({ group, label }: (typeof rows)[number]): string =>
      called.get(label)?.every((other) => other.group === group) ? label : `${label} (${group})`
    const total = daily ? line('', all, 'total') : line('total', all, '')
    const table = [head, ...rows.map((row) => line(named(row), row, row.day ?? '')), total]
    const figures = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((column) => column + (daily ? 1 : 0))
    io.out(columns(table, '', figures).join('\n'))
    const tools = Object.entries(totalTools(rows))
    if (tools.length > 0)
      io.out(
        `Calls of tools at the vendor: ${tools.map(([name, calls]) => `${inert(name)} ${grouped(calls)}`).join(', ')}`,
      )
    return EXIT.ok
  },
})

const totalTools = (rows: readonly { server_tools?: ServerToolCalls }[]): ServerToolCalls => {
  const all: ServerToolCalls = {}
  for (const { server_tools: tools = {} } of rows)
    for (const [name, calls] of Object.entries(tools)) all[name] = (all[name] ?? 0) + calls
  return all
}

/** No member where there were none. */
const toolsJson = (tools: ServerToolCalls = {}) => (Object.keys(tools).length === 0 ? {} : { server_tools: tools })

const totalOf = (rows: readonly ShownSums[]): ShownSums => {
  const sum = (name: keyof ShownSums) => rows.reduce((all, row) => all + row[name], 0)
  return {
    requests: sum('requests'),
    errors: sum('errors'),
    input: sum('input'),
    cache_read: sum('cache_read'),
    cache_write: sum('cache_write'),
    output: sum('output'),
    reasoning: sum('reasoning'),
    cost_micro_usd: sum('cost_micro_usd'),
    fees_micro_usd: sum('fees_micro_usd'),
  }
}

const rowJson = (group: string, sums: ShownSums, khrPerUsd: number) => ({
  group,
  requests: sums.requests,
  errors: sums.errors,
  input: sums.input,
  cache_read: sums.cache_read,
  cache_write: sums.cache_write,
  output: sums.output,
  reasoning: sums.reasoning,
  tokens: sums.input + sums.cache_read + sums.cache_write + sums.output,
  usd: sums.cost_micro_usd / 1_000_000,
  khr: khrOf(sums.cost_micro_usd, khrPerUsd),
  fees_usd: sums.fees_micro_usd / 1_000_000,
})
