// A gateway before the demo providers, as a newcomer starts it, with its setup link at hand: the compiled file when
// SLUICE_BINARY names it, else in this process.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig, problemLine } from '../../src/config.ts'
import { startDemoProviders } from '../../src/demo/index.ts'
import { silentLog } from '../../src/log.ts'
import { startServer } from '../../src/serve.ts'
import { launch } from '../binary/support/process.ts'

const BINARY = process.env.SLUICE_BINARY || undefined

export type Started = { url: string; setupLink: string; stop(): Promise<void> }

export const startDashboard = async (): Promise<Started> => {
  const providers = await startDemoProviders({ delayMs: 4, record: 0 })
  const directory = mkdtempSync(join(tmpdir(), 'sluice-page-'))
  const env = {
    VENDOR_A_BASE_URL: providers.vendorA.baseUrl,
    VENDOR_A_API_KEY: providers.vendorA.apiKey,
    VENDOR_B_BASE_URL: providers.vendorB.baseUrl,
    VENDOR_B_API_KEY: providers.vendorB.apiKey,
  }
  const running = BINARY === undefined ? await startHere(directory, env) : await startThere(BINARY, directory, env)
  return {
    ...running,
    stop: async () => {
      await running.stop()
      await providers.stop()
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

const startHere = async (directory: string, env: Record<string, string>): Promise<Started> => {
  const flags = { host: '127.0.0.1', port: '0', data: join(directory, 'data') }
  const loaded = loadConfig({ flags, cwd: directory, env })
  if (!loaded.ok) throw new Error(loaded.problems.map(problemLine).join('\n'))
  const lines: string[] = []
  const server = await startServer({ ...loaded.config, drainMs: 500 }, { err: (line) => lines.push(line) }, silentLog)
  const setupLink = lines.find((line) => line.startsWith('Setup'))?.replace(/^Setup\s+/, '') ?? ''
  return { url: server.url, setupLink, stop: () => server.stop() }
}

const startThere = async (binary: string, directory: string, env: Record<string, string>): Promise<Started> => {
  const child = launch(binary, ['serve', '--host', '127.0.0.1', '--port', '0', '--data', './data'], directory, env)
  const url = await child.ready()
  return {
    url,
    setupLink: await child.says(/^Setup\s+(\S+)/),
    stop: async () => {
      child.kill('SIGTERM')
      await child.exited
    },
  }
}
