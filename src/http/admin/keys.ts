// Keys as they are: the list, one of them. A member sees their own.

import type { Input } from '../../admin-api/contract.ts'
import { totalTokens } from '../../ir/usage.ts'
import type { Key } from '../../keys/key.ts'
import { statusOf } from '../../keys/status.ts'
import { dayAfter } from '../../lib/calendar.ts'
import { DAY_MS } from '../../lib/spans.ts'
import { type Call, keyOf, keysOf, type Part } from './call.ts'
import { keyView, memberNames, oneKeyView } from './view.ts'

const SPARK_DAYS = 14

export const keys: Part<'keys.list' | 'keys.get'> = {
  'keys.list': async (call, input) => {
    const { gateway } = call
    const names = await memberNames(gateway)
    const found = keysOf(call).filter((key) => key.purpose === undefined && matches(call, key, input, names))
    const sign = input.order === 'asc' ? 1 : -1
    const measure = MEASURES[input.sort]
    found.sort((a, b) => sign * compare(measure(a), measure(b)) || compare(a.id, b.id))
    const page = found.slice(input.offset, input.offset + input.limit)
    const ids = page.map((key) => key.id)
    const used = await gateway.store.lastUsed(ids)
    const sparks = await sparksOf(call, ids)
    const items = page.map((key) => ({
      ...keyView(gateway, key, names, used.get(key.id)),
      spark: sparks.get(key.id) ?? Array<number>(SPARK_DAYS).fill(0),
    }))
    return { items, total: found.length }
  },
  'keys.get': (call, { id }) => oneKeyView(call.gateway, keyOf(call, id)),
}

const MEASURES: Record<Input<'keys.list'>['sort'], (key: Key) => string | number> = {
  created_at: (key) => key.createdAt,
  label: (key) => key.label.toLowerCase(),
  expires_at: (key) => key.expiresAt,
  tokens_used: (key) => key.tokensUsed,
  tokens_remaining: (key) => key.tokensTotal - key.tokensUsed,
}

const compare = (a: string | number, b: string | number): number => (a < b ? -1 : a > b ? 1 : 0)

const matches = (
  { gateway }: Call,
  key: Key,
  { search, status, owner }: Input<'keys.list'>,
  names: ReadonlyMap<string, string>,
): boolean => {
  if (status !== undefined && statusOf(key, gateway.clock()) !== status) return false
  if (owner !== undefined && key.ownerId !== owner) return false
  const wanted = search?.trim().toLowerCase() ?? ''
  if (wanted === '') return true
  const words = [key.label, key.id, names.get(key.ownerId ?? '') ?? '']
  return words.some((word) => word.toLowerCase().includes(wanted))
}

const sparksOf = async ({ gateway }: Call, keyIds: string[]): Promise<Map<string, number[]>> => {
  const now = gateway.clock()
  const { calendar } = gateway.config
  const after = dayAfter(calendar.dayOf(now))
  const first = dayAfter(after, -SPARK_DAYS)
  const [since, until] = [calendar.startOf(first), calendar.startOf(after)]
  const sparks = new Map<string, number[]>()
  for (const row of await gateway.store.insight.series({ step: 'day', by: 'key', since, until, keyIds })) {
    const spark = sparks.get(row.group) ?? Array<number>(SPARK_DAYS).fill(0)
    spark[(calendar.dayOf(row.at) - first) / DAY_MS] = totalTokens(row)
    sparks.set(row.group, spark)
  }
  return sparks
}
