// Figures by key and by budget: of those with the smallest part left, so that there are never too many of them.

import { expect, test } from 'bun:test'
import { createMetrics, type Measured } from '../../src/observe/metrics.ts'

const NOW = 1_000
const MOST = 500
const key = (id: string, used: number, more: object = {}) => ({
  ...{ id, tokensTotal: 1_000, tokensUsed: used, expiresAt: NOW + 1, revokedAt: undefined },
  ...more,
})
const budget = (id: string, unit: 'usd' | 'tokens', used: number) => ({
  ...{ id, unit, amount: 1_000 },
  used: { tokens: used, microUsd: used },
})

/** Of a metric: the value for each id. */
const told = async (name: string, keys: object[], budgets: object[] = []): Promise<Map<string, number>> => {
  const nothing = {
    providers: new Map(),
    open: new Map(),
    arriving: { count: 0 },
    sockets: { count: 0 },
    health: { states: () => [] },
  }
  const store = { keys: { list: () => keys }, budgets: { list: () => budgets } }
  const gateway = { ...nothing, store, ledger: { openCount: () => 0 }, clock: () => NOW } as unknown as Measured
  const text = await createMetrics(gateway).text()
  const lines = text.matchAll(/^(\w+)\{(?:key|budget)="([^"]+)".*\} (\S+)$/gm)
  return new Map([...lines].flatMap(([, of, id = '', value]) => (of === name ? [[id, Number(value)] as const] : [])))
}

test('what is left of a quota is told of keys in force alone', async () => {
  const left = await told('sluice_quota_remaining_tokens', [
    key('fresh', 0),
    key('used', 999),
    key('over', 1_200),
    key('ended', 0, { expiresAt: NOW }),
    key('revoked', 0, { revokedAt: NOW - 1 }),
  ])
  expect(Object.fromEntries(left)).toEqual({ fresh: 1_000, used: 1, over: 0 })
})

test('of more than are told it is those that have the smallest part left, whatever their size', async () => {
  const many = Array.from({ length: MOST }, (_, at) => key(`half-${at}`, 500))
  const small = key('small but whole', 0, { tokensTotal: 10 })
  const large = key('large and nearly gone', 900_000, { tokensTotal: 1_000_000 })
  const left = await told('sluice_quota_remaining_tokens', [small, ...many, large])
  expect(left.size).toBe(MOST)
  expect(left.get('large and nearly gone')).toBe(100_000)
  expect(left.has('small but whole')).toBe(false)
})

test('budgets are told in what they are of', async () => {
  const left = await told('sluice_budget_remaining', [], [budget('key:1', 'usd', 400), budget('team:2', 'tokens', 1)])
  expect(Object.fromEntries(left)).toEqual({ 'key:1': 600, 'team:2': 999 })
})
