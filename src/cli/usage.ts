// `usage`: what was consumed and what it cost, from the hourly totals.

import type { UsageQuery, UsageRow } from '../store/store.ts'
import { command } from './command.ts'
import { DATA_FLAGS, JSON_FLAG, requireData, withStore } from './data.ts'
import { EXIT, printJson } from './io.ts'
import { requireKey } from './keys/show.ts'
import { readSince } from './read.ts'
import { columns, grouped, khr, usd } from './table.ts'

const BY = ['model', 'key', 'day'] as const

export const usage = command({
  name: 'usage',
  summary: 'Tokens and cost, by model, key or day',
  args: {
    key: { type: 'string', valueHint: 'ID', description: 'Of one key only' },
    since: {
      type: 'string',
      valueHint: 'WHEN',
      description: 'From a date, or for a length such as 30d (default: everything)',
    },
    by: {
      type: 'enum',
      options: [...BY],
      valueHint: 'model|key|day',
      description: 'What a row stands for',
      default: 'model',
    },
    ...DATA_FLAGS,
    ...JSON_FLAG,
  },
  examples: ['sluice usage --since 30d --by day', 'sluice usage --key key_8Fq… --json'],
  run: (args, io) => {
    const sinceMs = readSince('--since', args.since, io.now())
    const by = args.by as UsageQuery['by']
    const config = requireData(args, io)
    return withStore(config, io, 'read', (store) => {
      if (args.key !== undefined) requireKey(store, args.key)
      const rows = store.usage({ by, sinceMs, keyId: args.key })
      const all = total(rows)
      if (args.json) {
        printJson(io, {
          by,
          since: sinceMs === undefined ? null : new Date(sinceMs).toISOString(),
          khr_per_usd: config.khrPerUsd,
          rows: rows.map((row) => rowJson(row, config.khrPerUsd)),
          total: rowJson(all, config.khrPerUsd),
        })
        return EXIT.ok
      }
      const name = (row: UsageRow) => (by === 'key' ? (store.keys.get(row.group)?.label ?? row.group) : row.group)
      const line = (row: UsageRow, group: string) => [
        group,
        grouped(row.requests),
        grouped(row.errors),
        grouped(row.input),
        grouped(row.cacheRead),
        grouped(row.cacheWrite),
        grouped(row.output),
        usd(row.costMicroUsd),
        khr(row.costMicroUsd, config.khrPerUsd),
      ]
      const head = [
        by.toUpperCase(),
        'REQUESTS',
        'ERRORS',
        'INPUT',
        'CACHE READ',
        'CACHE WRITE',
        'OUTPUT',
        'USD',
        'KHR',
      ]
      const table = [head, ...rows.map((row) => line(row, name(row))), line(all, 'total')]
      io.out(columns(table, '', [1, 2, 3, 4, 5, 6, 7, 8]).join('\n'))
      return EXIT.ok
    })
  },
})

const total = (rows: UsageRow[]): UsageRow => {
  const sum = (name: Exclude<keyof UsageRow, 'group'>) => rows.reduce((all, row) => all + row[name], 0)
  return {
    group: 'total',
    requests: sum('requests'),
    errors: sum('errors'),
    input: sum('input'),
    cacheRead: sum('cacheRead'),
    cacheWrite: sum('cacheWrite'),
    output: sum('output'),
    reasoning: sum('reasoning'),
    costMicroUsd: sum('costMicroUsd'),
  }
}

const rowJson = (row: UsageRow, khrPerUsd: number) => ({
  group: row.group,
  requests: row.requests,
  errors: row.errors,
  input: row.input,
  cache_read: row.cacheRead,
  cache_write: row.cacheWrite,
  output: row.output,
  reasoning: row.reasoning,
  tokens: row.input + row.cacheRead + row.cacheWrite + row.output,
  usd: row.costMicroUsd / 1_000_000,
  khr: Math.round((row.costMicroUsd / 1_000_000) * khrPerUsd * 100) / 100,
})
