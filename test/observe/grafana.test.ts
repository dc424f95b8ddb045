// The dashboard for Grafana asks for nothing that /metrics does not have, by no label that it lacks.

import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { startGateway } from '../support/gateway.ts'

type Dashboard = { panels: { title: string; targets: { expr: string }[] }[] }

test('every metric and label that the dashboard asks for is there', async () => {
  const gateway = await startGateway({ config: { metrics: { enabled: true, token: undefined } } })
  const text = await (await gateway.get('/metrics')).text()
  const source = await Bun.file(join(import.meta.dir, '../../src/observe/metrics.ts')).text()
  await gateway.stop()
  const known = new Set(Array.from(text.matchAll(/^# TYPE (\S+)/gm), ([, name]) => name))
  const dashboard: Dashboard = await Bun.file(join(import.meta.dir, '../../docs/grafana/sluice.json')).json()
  const asked = dashboard.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr))
  expect(asked.length).toBeGreaterThan(15)
  for (const expr of asked) {
    for (const [name] of expr.matchAll(/\b(?:sluice|process)_\w+/g))
      expect([name, known.has(name.replace(/_bucket$/, ''))]).toEqual([name, true])
    for (const [, labels = ''] of expr.matchAll(/\bby \(([^)]*)\)/g))
      for (const label of labels.split(', ')) expect(label === 'le' || source.includes(`'${label}'`)).toBe(true)
  }
})
