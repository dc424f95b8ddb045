// A gateway before the demo providers, as a newcomer starts it, with its setup link at hand.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig, problemLine } from '../../src/config.ts'
import { startDemoProviders } from '../../src/demo/index.ts'
import { silentLog } from '../../src/log.ts'
import { type Server, startServer } from '../../src/serve.ts'

export type Started = { url: string; setupLink: string; server: Server; stop(): Promise<void> }

export const startDashboard = async (): Promise<Started> => {
  const providers = await startDemoProviders({ delayMs: 4, record: 0 })
  const directory = mkdtempSync(join(tmpdir(), 'sluice-page-'))
  const loaded = loadConfig({
    flags: { host: '127.0.0.1', port: '0', data: join(directory, 'data') },
    cwd: directory,
    env: {
      VENDOR_A_BASE_URL: providers.vendorA.baseUrl,
      VENDOR_A_API_KEY: providers.vendorA.apiKey,
      VENDOR_B_BASE_URL: providers.vendorB.baseUrl,
      VENDOR_B_API_KEY: providers.vendorB.apiKey,
    },
  })
  if (!loaded.ok) throw new Error(loaded.problems.map(problemLine).join('\n'))
  const lines: string[] = []
  const server = await startServer({ ...loaded.config, drainMs: 500 }, { err: (line) => lines.push(line) }, silentLog)
  return {
    url: server.url,
    setupLink: lines.find((line) => line.startsWith('Setup'))?.replace(/^Setup\s+/, '') ?? '',
    server,
    stop: async () => {
      await server.stop()
      await providers.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}
