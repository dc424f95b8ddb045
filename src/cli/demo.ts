// `demo`: the gateway in front of providers of its own, with a key and commands to paste. Only this command knows.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { Config } from '../config.ts'
import { DAY_MS } from '../lib/spans.ts'
import { command } from './command.ts'
import { DATA_FLAGS, requireConfig, withStore } from './data.ts'
import { demoCommands, demoScreen } from './demo-commands.ts'
import { CLI_ACTOR, type Io } from './io.ts'
import { LISTEN_FLAGS, runServer } from './serve.ts'

/** Between two frames of a stream, so that streaming can be seen. */
const FRAME_DELAY_MS = 25

export const demo = command({
  name: 'demo',
  summary: 'Run the gateway with built-in providers: no account needed',
  args: {
    ...LISTEN_FLAGS,
    data: { ...DATA_FLAGS.data, description: 'Data directory (default: a new one, removed at the end)' },
  },
  run: async (args, io) => {
    const { DIRECTIVES, startDemoProviders } = await import('../demo/index.ts')
    const providers = await startDemoProviders({ delayMs: FRAME_DELAY_MS, record: 0 })
    // Neither the file nor the accounts of this machine: only what was said on the command line, and the providers.
    const empty = mkdtempSync(join(tmpdir(), 'sluice-demo-'))
    const remove = (): void => rmSync(empty, { recursive: true, force: true })
    process.on('exit', remove)
    try {
      const { SLUICE_HOST, SLUICE_PORT } = io.env
      const alone = { ...io, env: { ...providers.env, SLUICE_HOST, SLUICE_PORT }, cwd: empty }
      const data = args.data === undefined ? empty : resolve(io.cwd, args.data)
      const config = requireConfig({ host: args.host, port: args.port, data }, alone)
      const input = { label: 'demo', tokensTotal: 1_000_000, expiresAt: io.now() + DAY_MS, models: ['*'] }
      // On a terminal, what a start says becomes part of the screen: its last address is the one to begin with.
      let link = ''
      const heard = (line: string): void => {
        link = /^(?:Dashboard|Setup)\s+(\S+)$/.exec(line)?.[1] ?? link
      }
      const shown: Io = io.terminal === true ? { ...io, err: heard } : io
      const { secret } = await withStore(config, shown, 'write', (store) => store.keys.issue(input, CLI_ACTOR))
      if (io.terminal !== true) {
        return await runServer(config, io, { ready: (url) => io.out(demoCommands(url, secret, DIRECTIVES)) })
      }
      const quiet: Config = { ...config, log: { level: 'silent' } }
      return await runServer(quiet, shown, { ready: (url) => io.out(demoScreen(url, secret, link)) })
    } finally {
      process.off('exit', remove)
      await providers.stop()
      remove()
    }
  },
})
