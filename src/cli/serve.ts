// `serve`: the gateway, until it is asked to stop.

import type { ReloadAnswer } from '../config/reloaded.ts'
import { type Config, type Loaded, loadConfig, problemLine } from '../config.ts'
import { openFilesLimit } from '../observe/process.ts'
import type { Apart, Server } from '../server/serve.ts'
import { EXIT_GIVEN_UP, type Part } from '../server/workers/messages.ts'
import { command } from './command.ts'
import { DATA_FLAGS, wholeConfig } from './data.ts'
import { createFaults } from './faults.ts'
import { EXIT, type Io } from './io.ts'
import { asOwner, partOf, runSeveral, runWorker } from './parts.ts'
import { answerRequests } from './reload-requests.ts'

export const LISTEN_FLAGS = {
  host: { type: 'string', valueHint: 'HOST', description: 'Address to listen on (SLUICE_HOST; default 127.0.0.1)' },
  port: {
    type: 'string',
    valueHint: 'PORT',
    description: 'Port; 0 lets the system choose (SLUICE_PORT; default 8080)',
  },
} as const

const WORKERS_FLAG = {
  workers: {
    type: 'string',
    valueHint: 'N',
    description: 'Processes that serve, for machines of several cores (SLUICE_WORKERS; default 1)',
  },
} as const

export const serve = command({
  name: 'serve',
  meant: 'port',
  summary: 'Run the gateway',
  args: { ...LISTEN_FLAGS, ...WORKERS_FLAG, ...DATA_FLAGS },
  examples: [
    'ANTHROPIC_API_KEY=… sluice serve',
    'VENDOR_A_BASE_URL=https://… VENDOR_A_API_KEY=… sluice serve',
    'sluice serve --config sluice.yaml --host 0.0.0.0 --port 8080 --data /var/lib/sluice',
    'SLUICE_STORE=postgres://… sluice serve',
  ],
  run: async (args, io) => {
    const part = partOf(io)
    if (part?.role === 'worker') return runWorker(part, io)
    const { io: told, options } = part === undefined ? { io, options: {} } : await asOwner(part, io)
    const config = wholeConfig(args, told)
    if (part === undefined) {
      const few = fewDescriptors(config.maxOpenExchanges, openFilesLimit())
      if (few !== undefined) io.err(`warning: ${few}`)
      if (config.workers > 1) return runSeveral(config, io)
    }
    return runServer(withPort(config, part), told, {
      ...options,
      warn: (warning) => told.err(`warning: ${warning}`),
      reread: () => {
        const loaded = loadConfig({ flags: args, env: io.env, cwd: io.cwd })
        return loaded.ok ? { ...loaded, config: withPort(loaded.config, part) } : loaded
      },
    })
  },
})

/** Port 0 is any that is free: whoever starts several processes has chosen one for all. */
const withPort = (config: Config, part: Part | undefined): Config =>
  part === undefined || config.listen.port !== 0 ? config : { ...config, listen: { ...config.listen, port: part.port } }

/** What a server without a bound should be able to open, and what it opens beside two for each exchange. */
const USUAL_DESCRIPTORS = 1_024
const OWN_DESCRIPTORS = 64

/** What is wrong with a limit of descriptors under which so many exchanges (0: no bound) cannot be open at once. */
export const fewDescriptors = (maxOpenExchanges: number, limit: number | undefined): string | undefined => {
  const needed = maxOpenExchanges === 0 ? USUAL_DESCRIPTORS : 2 * maxOpenExchanges + OWN_DESCRIPTORS
  if (limit === undefined || limit >= needed) return undefined
  const lower = maxOpenExchanges === 0 ? '' : ', or lower max_open_exchanges'
  return `this process may open ${limit} files and connections; ${needed} are needed: raise "ulimit -n" (LimitNOFILE)${lower}`
}

type RunOptions = {
  warn?: (sentence: string) => void
  ready?: (url: string) => void
  /** How the configuration is read again when that is asked for; without it a request to do so ends the server. */
  reread?: () => Loaded
  /** For one that others serve for. */
  apart?: Apart
}

/** Runs a server until the first request to stop, then drains it; a second request ends it at once. */
export const runServer = async (
  config: Config,
  io: Io,
  { warn, ready, reread, apart }: RunOptions,
): Promise<number> => {
  const { startServer } = await import('../server/serve.ts')
  const stops = stopRequests(io)
  const ends = [stops.end]
  try {
    const started = Promise.withResolvers<Server>()
    // Listened to from the beginning: the signal ends a process that does not.
    const again = reread && (async () => rereadInto(await started.promise, reread, config.file))
    if (again !== undefined) {
      ends.push(io.onReload?.(() => void again()) ?? nothing)
      ends.push(answerRequests(config.dataDir, again))
    }
    const told = { err: io.err, ...(warn === undefined ? {} : { warn }) }
    const server = await Promise.race([startServer(config, told, { apart }), stops.second])
    if (server === undefined) return EXIT.failed
    server.gateway.reread = again
    started.resolve(server)
    // The thread of provider calls ends the process where it finds no descriptors to begin with: it begins with the server.
    if (apart?.doors.serves !== false) void fetch(`${server.url}/healthz`).catch(nothing)
    const broken = Promise.withResolvers<void>()
    ends.push(io.onFault?.(createFaults(server.gateway.log, broken.resolve)) ?? nothing)
    ready?.(server.url)
    const code = await Promise.race([
      stops.first.then(() => EXIT.ok),
      broken.promise.then(() => (apart === undefined ? EXIT.failed : EXIT_GIVEN_UP)),
    ])
    const stopped = server.stop().then(() => code)
    return await Promise.race([stopped, stops.second.then(() => EXIT.failed)])
  } finally {
    for (const end of ends) end()
  }
}

const nothing = (): void => undefined

/**
 * A wrong file changes nothing: what is wrong with it is logged, and the old configuration stays in force. So does one
 * that is gone: `file` is where it was.
 */
const rereadInto = async (server: Server, reread: () => Loaded, file: string | undefined): Promise<ReloadAnswer> => {
  const { log } = server.gateway
  try {
    const loaded = reread()
    if (!loaded.ok) {
      const problems = loaded.problems.map(problemLine)
      log.error('configuration not reloaded: it is wrong', { problems })
      return { problems }
    }
    if (file !== undefined && loaded.config.file === undefined) {
      const gone = `${file} is gone. Put it back, or restart without it`
      log.error(`configuration not reloaded: ${gone}`)
      return { problems: [gone] }
    }
    return { ...(await server.reload(loaded.config)), warnings: server.gateway.config.warnings }
  } catch (error) {
    log.error('configuration not reloaded', { cause: String(error) })
    return { problems: [String(error)] }
  } finally {
    log.flush()
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
