// A gateway before the demo providers, as a newcomer starts it, with its setup link at hand: the compiled file when
// SLUICE_BINARY names it, else in this process.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { loadConfig, problemLine } from '../../src/config.ts'
import { startDemoProviders } from '../../src/demo/index.ts'
import { startServer } from '../../src/server/serve.ts'
import { BINARY, launch, PROGRAM } from '../binary/support/process.ts'
import { silentLog } from '../support/silent-log.ts'

export type Started = { url: string; setupLink: string; stop(): Promise<void> }

/** `empty`: no vendor is configured. `file`: what sluice.yaml says. */
export const startDashboard = async ({
  empty = false,
  file,
}: {
  empty?: boolean
  file?: string | undefined
} = {}): Promise<Started> => {
  const providers = await startDemoProviders({ delayMs: 4, record: 0 })
  const directory = mkdtempSync(join(tmpdir(), 'sluice-page-'))
  if (file !== undefined) writeFileSync(join(directory, 'sluice.yaml'), file)
  const running = await (BINARY === undefined ? startHere : startThere)(directory, empty ? {} : providers.env)
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
  const server = await startServer(
    { ...loaded.config, drainMs: 500 },
    { err: (line) => lines.push(line) },
    { log: silentLog },
  )
  const setupLink = lines.find((line) => line.startsWith('Setup'))?.replace(/^Setup\s+/, '') ?? ''
  return { url: server.url, setupLink, stop: () => server.stop() }
}

const startThere = async (directory: string, env: Record<string, string>): Promise<Started> => {
  const child = launch(PROGRAM, ['serve', '--host', '127.0.0.1', '--port', '0', '--data', './data'], directory, env)
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
