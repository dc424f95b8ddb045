// `serve`: the gateway, until it is asked to stop.

import type { Config } from '../config.ts'
import { command } from './command.ts'
import { DATA_FLAGS, requireConfig } from './data.ts'
import { EXIT, type Io } from './io.ts'

export const LISTEN_FLAGS = {
  host: { type: 'string', valueHint: 'HOST', description: 'Address to listen on (SLUICE_HOST; default 127.0.0.1)' },
  port: {
    type: 'string',
    valueHint: 'PORT',
    description: 'Port; 0 lets the system choose (SLUICE_PORT; default 8080)',
  },
} as const

export const serve = command({
  name: 'serve',
  summary: 'Run the gateway',
  args: { ...LISTEN_FLAGS, ...DATA_FLAGS },
  examples: [
    'VENDOR_A_BASE_URL=https://… VENDOR_A_API_KEY=… sluice serve',
    'sluice serve --config sluice.yaml --host 0.0.0.0 --port 8080 --data /var/lib/sluice',
  ],
  run: (args, io) => runServer(requireConfig(args, io), io),
})

/** Runs a server until the first request to stop, then drains it; a second request ends it at once. */
export const runServer = async (config: Config, io: Io, ready?: (url: string) => void): Promise<number> => {
  const { startServer } = await import('../serve.ts')
  const stops = stopRequests(io)
  try {
    const server = await startServer(config, { err: io.err })
    ready?.(server.url)
    await stops.first
    const stopped = server.stop().then(() => EXIT.ok)
    return await Promise.race([stopped, stops.second.then(() => EXIT.failed)])
  } finally {
    stops.end()
  }
}

const stopRequests = (io: Io) => {
  const first = Promise.withResolvers<void>()
  const second = Promise.withResolvers<void>()
  let seen = 0
  const end = io.onStop(() => {
    seen += 1
    if (seen === 1) first.resolve()
    else second.resolve()
  })
  return { first: first.promise, second: second.promise, end }
}
