// What is counted for Prometheus: each thing once, and of keys and budgets those with the smallest part left, so that there
// are never too many of them.

import { expect, test } from 'bun:test'
import { createMetrics, type Measured, type Metrics } from '../../src/observe/metrics.ts'
import type { Ended, Summary } from '../../src/relay/exchange.ts'

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

const metricsOf = (keys: object[] = [], budgets: object[] = []) => {
  const nothing = {
    providers: new Map(),
    open: new Map(),
    arriving: { count: 0 },
    sockets: { count: 0 },
    health: { states: () => [] },
  }
  const store = { keys: { list: () => keys }, budgets: { list: () => budgets } }
  const gateway = { ...nothing, store, ledger: { openCount: () => 0 }, clock: () => NOW } as unknown as Measured
  return createMetrics(gateway)
}

/** Of a metric: the value by its labels' values. */
const valuesOf = async (metrics: Metrics, name: string): Promise<Record<string, number>> => {
  const lines = (await metrics.text()).matchAll(/^(\w+)\{(.*)\} (\S+)$/gm)
  const values = [...lines].flatMap(([, of, labels = '', value]) =>
    of === name ? [[Array.from(labels.matchAll(/="([^"]*)"/g), ([, each]) => each).join(' '), Number(value)]] : [],
  )
  return Object.fromEntries(values)
}

test('what is left of a quota is told of keys in force alone', async () => {
  const keys = [
    key('fresh', 0),
    key('used', 999),
    key('over', 1_200),
    key('ended', 0, { expiresAt: NOW }),
    key('revoked', 0, { revokedAt: NOW - 1 }),
  ]
  expect(await valuesOf(metricsOf(keys), 'sluice_quota_remaining_tokens')).toEqual({ fresh: 1_000, used: 1, over: 0 })
})

test('of more than are told it is those that have the smallest part left, whatever their size', async () => {
  // 1,000 parts, each of a total of its own, in no order.
  const keys = Array.from({ length: 1_000 }, (_, at) => {
    const part = (at * 619) % 1_000
    const total = 1_000 * (1 + (at % 7))
    return key(`left-${part}`, total - (total / 1_000) * part, { tokensTotal: total })
  })
  const left = await valuesOf(metricsOf(keys), 'sluice_quota_remaining_tokens')
  const wanted = Array.from({ length: MOST }, (_, part) => `left-${part}`)
  expect(Object.keys(left).toSorted()).toEqual(wanted.toSorted())
})

test('budgets are told in what they are of', async () => {
  const budgets = [budget('key:1', 'usd', 400), budget('team:2', 'tokens', 1)]
  expect(await valuesOf(metricsOf([], budgets), 'sluice_budget_remaining')).toEqual({
    'key:1 micro_usd': 600,
    'team:2 tokens': 999,
  })
})

test('an exchange counts once: its attempts where they were made, its tokens and its cost where there are any', async () => {
  const metrics = metricsOf()
  const tries = [
    { provider: 'v', account: 'a', errorCode: 'upstream_error' },
    { provider: 'v', account: 'b' },
  ]
  const exchange = { wire: 'messages', stream: true, model: { id: 'm' }, attempts: tries, firstByteMs: 20 }
  const summary = { outcome: 'done', status: 200, tokens: { input: 1, cacheRead: 2, output: 0 }, costMicroUsd: 1 }
  const settled = (of: object, how: object = {}): void =>
    metrics.settled(
      { ...exchange, ...of } as unknown as Ended,
      { ...summary, totalMs: 70, ...how } as unknown as Summary,
    )
  settled({})
  settled({ resumed: true, model: { id: 'resumed' } })
  settled({ firstByteMs: undefined, attempts: tries.slice(1) }, { outcome: 'aborted', costMicroUsd: 0, tokens: {} })
  settled(
    { attempts: [] },
    { outcome: 'failed', status: 502, errorCode: 'upstream_error', tokens: {}, costMicroUsd: 0 },
  )
  metrics.refused('responses', 404, 'invalid_model')
  expect(await valuesOf(metrics, 'sluice_attempts_total')).toEqual({
    ...{ 'v a upstream_error': 1, 'v b ok': 1, 'v b aborted': 1 },
  })
  expect(await valuesOf(metrics, 'sluice_tokens_total')).toEqual({
    ...{ 'm input': 1, 'm cache_read': 2, 'resumed input': 1, 'resumed cache_read': 2 },
  })
  expect(await valuesOf(metrics, 'sluice_cost_micro_usd_total')).toEqual({ m: 1, resumed: 1 })
  expect(await valuesOf(metrics, 'sluice_errors_total')).toEqual({
    ...{ 'messages upstream_error': 1, 'responses invalid_model': 1 },
  })
  expect(await valuesOf(metrics, 'sluice_requests_total')).toEqual({
    ...{ 'messages m done 200': 1, 'messages resumed done 200': 1, 'messages m aborted 200': 1 },
    ...{ 'messages m failed 502': 1, 'responses  refused 404': 1 },
  })
  expect(await valuesOf(metrics, 'sluice_first_byte_seconds_sum')).toEqual({
    'messages m': 0.04,
    'messages resumed': 0.02,
  })
})
