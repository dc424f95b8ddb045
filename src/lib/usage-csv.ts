// Usage as a table for spreadsheets: raw figures, and a row of totals.

import { csvOf } from './csv.ts'

type Sums = {
  requests: number
  errors: number
  input: number
  cache_read: number
  cache_write: number
  output: number
  reasoning: number
  cost_micro_usd: number
  /** The part of it that is not of tokens. */
  fees_micro_usd: number
}

type Row = { group: string; label: string; day?: string | undefined; owner?: string | null | undefined; sums: Sums }

const COUNTS = ['requests', 'errors', 'input', 'cache_read', 'cache_write', 'output', 'reasoning'] as const

/** With two decimals. A division before would make half a hundredth a little less than that. */
export const khrOf = (microUsd: number, khrPerUsd: number): number => Math.round((microUsd * khrPerUsd) / 1e4) / 100

/** `by`: what a row is; those whose groups have names get a column for them, keys one for their owners. `daily`: of each day. */
export const usageCsv = (
  { by, daily = false }: { by: string; daily?: boolean | undefined },
  rows: readonly Row[],
  total: Sums,
  khrPerUsd: number,
): string => {
  const isNamed = by === 'key' || by === 'member' || by === 'team'
  const named = (group: string, label: string, owner: string): string[] => [
    group,
    ...(isNamed ? [label] : []),
    ...(by === 'key' ? [owner] : []),
  ]
  const figures = (sums: Sums): number[] => [
    ...COUNTS.map((name) => sums[name]),
    sums.input + sums.cache_read + sums.cache_write + sums.output,
    sums.cost_micro_usd / 1e6,
    khrOf(sums.cost_micro_usd, khrPerUsd),
    sums.fees_micro_usd / 1e6,
  ]
  const isDaily = daily && by !== 'day'
  const dated = (day: string): string[] => (isDaily ? [day] : [])
  return csvOf([
    [...dated('day'), ...named(by, 'label', 'owner'), ...COUNTS, 'tokens', 'usd', 'khr', 'fees_usd'],
    ...rows.map(({ group, label, day = '', owner, sums }) => [
      ...dated(day),
      ...named(group === '' && !isNamed ? label : group, label, owner ?? ''),
      ...figures(sums),
    ]),
    [...dated(isDaily ? 'total' : ''), ...named(isDaily ? '' : 'total', '', ''), ...figures(total)],
  ])
}
