// A listening gateway in front of the demo vendors, as a user would run it, for clients that must not know better.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig, problemLine } from '../../src/config.ts'
import { type DemoProviders, MARKER, startDemoProviders } from '../../src/demo/index.ts'
import type { Gateway } from '../../src/gateway.ts'
import { startServer } from '../../src/server/serve.ts'
import { SYSTEM } from '../support/gateway.ts'

export type Running = {
  /** Without `/v1`, as clients of the messages wire take it. */
  url: string
  /** Ending in `/v1`, as all others take it. */
  v1: string
  key: string
  demo: DemoProviders
  gateway: Gateway
  /** A key with other limits. */
  issue(more: { tokensTotal?: number; models?: string[] }): Promise<string>
  stop(): Promise<void>
}

const FILE = `
log: { level: silent }
max_tries: 2
models:
  vendorA-opus-4-8: { upstream: opus-4-8-20260101 }
  vendorB-5.5: { upstream: five-5-2026-04 }
providers:
  vendor_a:
    wires: [messages]
    accounts: [{ name: main, base_url: "env:VENDOR_A_BASE_URL", credential: "env:VENDOR_A_API_KEY" }]
  vendor_b:
    wires: [responses, chat-completions, images]
    accounts: [{ name: main, base_url: "env:VENDOR_B_BASE_URL", credential: "env:VENDOR_B_API_KEY" }]
`

export const startGateway = async (file = FILE): Promise<Running> => {
  const demo = await startDemoProviders()
  const directory = mkdtempSync(join(tmpdir(), 'sluice-sdk-'))
  writeFileSync(join(directory, 'sluice.yaml'), file)
  const loaded = loadConfig({
    flags: { port: '0', data: join(directory, 'data') },
    cwd: directory,
    env: demo.env,
  })
  if (!loaded.ok) throw new Error(loaded.problems.map((problem) => problemLine(problem)).join('\n'))
  const server = await startServer(loaded.config, { err: () => undefined })
  const issue: Running['issue'] = async ({ tokensTotal = 1_000_000, models = ['*'] }) =>
    (
      await server.gateway.store.keys.issue(
        { label: 'sdk', tokensTotal, expiresAt: Date.now() + 3_600_000, models },
        SYSTEM,
      )
    ).secret
  return {
    url: server.url,
    v1: `${server.url}/v1`,
    key: await issue({}),
    demo,
    gateway: server.gateway,
    issue,
    stop: async () => {
      await server.stop()
      await demo.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

/** One model of each vendor: whatever the client speaks, one of them is translated. */
export const MODELS = ['vendorA-opus-4-8', 'vendorB-5.5'] as const

/** Nothing of the vendors' own: neither their marker, nor their hosts, nor their ids of the models. */
export const leaks = (text: string): string[] =>
  [MARKER, 'demo.internal', 'opus-4-8-20260101', 'five-5-2026-04', 'vka-demo', 'vkb-demo'].filter((word) =>
    text.includes(word),
  )

export const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
