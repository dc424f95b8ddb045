// The dashboard for Grafana asks for nothing that /metrics does not have, by no label that it lacks; and what it asks shows
// something, by a real Prometheus.

import { describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import { budgetOf, GATEWAY, termsOf } from '../../src/keys/budget.ts'
import { SYSTEM, startDemoGateway, startGateway } from '../support/gateway.ts'
import { prometheusMissing, type Scrape, startPrometheus } from './prometheus.ts'

type Panel = { title: string; type: string; targets: { expr: string }[] }

const panels = async (): Promise<Panel[]> =>
  (await Bun.file(join(import.meta.dir, '../../docs/grafana/sluice.json')).json()).panels

test('every metric and label that the dashboard asks for is there', async () => {
  const gateway = await startGateway({ config: { metrics: { enabled: true, token: undefined } } })
  const text = await (await gateway.get('/metrics')).text()
  const source = await Bun.file(join(import.meta.dir, '../../src/observe/metrics.ts')).text()
  await gateway.stop()
  const known = new Set(Array.from(text.matchAll(/^# TYPE (\S+)/gm), ([, name]) => name))
  const asked = (await panels()).flatMap(({ targets }) => targets.map(({ expr }) => expr))
  expect(asked.length).toBeGreaterThan(15)
  for (const expr of asked) {
    for (const [name] of expr.matchAll(/\b(?:sluice|process)_\w+/g))
      expect([name, known.has(name.replace(/_bucket$/, ''))]).toEqual([name, true])
    for (const [, labels = ''] of expr.matchAll(/\bby \(([^)]*)\)/g))
      for (const label of labels.split(', ')) expect(label === 'le' || source.includes(`'${label}'`)).toBe(true)
  }
})

describe.skipIf(prometheusMissing !== undefined)('asked of a real Prometheus', () => {
  test('every panel shows something of a gateway that has answered, failed and spent', async () => {
    const gateway = await startDemoGateway({ metrics: { enabled: true, token: undefined } })
    const { id, secret } = await gateway.issue({})
    const { budgets } = gateway.server.gateway.store
    await budgets.set(budgetOf('key', id), termsOf({ tokens: 5_000_000 }), SYSTEM)
    await budgets.set(GATEWAY, termsOf({ usd: 50 }), SYSTEM)
    const say = async (content: string): Promise<void> => {
      const body = { model: 'vendorA-opus-4-8', max_tokens: 50, messages: [{ role: 'user', content }] }
      const response = await gateway.post('/v1/messages', body, { authorization: `Bearer ${secret}` })
      await response.text()
    }
    const scrapes: Scrape[] = []
    const first = Date.parse('2026-09-01T08:00:00Z') / 1_000
    const EVERY_S = 15
    for (let i = 0; i < 8; i++) {
      await say('Say hello')
      await say('[[error:500]]')
      await gateway.idle()
      scrapes.push({ at: first + i * EVERY_S, text: await (await gateway.get('/metrics')).text() })
    }
    await gateway.stop()
    const last = scrapes.at(-1)?.at ?? 0
    const prometheus = await startPrometheus('sluice', scrapes)
    try {
      for (const { title, type, targets } of await panels()) {
        for (const { expr } of targets) {
          const asked = expr.replaceAll('$job', '.*').replaceAll('$__rate_interval', '1m')
          const found = await (type === 'timeseries'
            ? prometheus.range(asked, first + 60, last)
            : prometheus.query(asked, last))
          const numbers = found.flatMap(({ value, values = [] }) => [...(value ? [value] : []), ...values])
          const shown = numbers.filter(([, number]) => Number.isFinite(Number(number))).length
          expect({ title, asked, isShown: shown > 0 }).toEqual({ title, asked, isShown: !NONE_HERE.test(asked) })
        }
      }
    } finally {
      await prometheus.stop()
    }
  })
})

/** Nothing is exported here. */
const NONE_HERE = /sluice_otlp_dropped_total/
