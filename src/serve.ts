// A configured server from start to stop: store, gateway, listener, and the draining of what is in flight.

import { join } from 'node:path'
import { createApp } from './app.ts'
import { originOf } from './config/origin.ts'
import type { Config } from './config.ts'
import { GatewayError } from './errors.ts'
import { createGateway, type Gateway } from './gateway.ts'
import { requestId } from './http/respond.ts'
import { createLog, type Log } from './log.ts'
import { startPruning } from './pruning.ts'
import { type Clock, leave } from './relay/exchange.ts'
import { applyMetrics, type Reloaded, reload } from './reload.ts'
import { openStore } from './store/sqlite/index.ts'
import type { Store } from './store/store.ts'

export type Server = {
  url: string
  gateway: Gateway
  /** Puts a changed configuration in force for new exchanges; logs what changed and what needs a restart. */
  reload(config: Config): Promise<Reloaded>
  stop(): Promise<void>
}

export type ServeIo = { err: (line: string) => void }

/** The name of the database within the data directory. */
export const DATABASE = 'sluice.db'

/** Bun answers a body past its own limit by itself, without the envelope: its limit must never be the one that counts. */
const BUN_BODY_LIMIT = Number.MAX_SAFE_INTEGER
/**
 * How long a connection may stay without a whole request: peers that vanish say no goodbye. Longer than proxies keep
 * theirs, and within the 255 seconds that Bun can count.
 */
const IDLE_S = 240
/** How long the clients of a stopped server may take to fetch the end of their answers. */
const FAREWELL_MS = 1_000

/** Throws a sentence for the operator when the store or the port cannot be had. */
export const startServer = async (
  config: Config,
  io: ServeIo,
  log = createLog(config.log.level),
  clock?: Clock,
): Promise<Server> => {
  const store = openStore(join(config.dataDir, DATABASE))
  try {
    return await startWith(store, config, io, log, clock)
  } catch (error) {
    store.close()
    throw error
  }
}

const startWith = async (
  store: Store,
  config: Config,
  io: ServeIo,
  log: Log,
  clock: Clock | undefined,
): Promise<Server> => {
  const gateway = createGateway({ config, store, log, ...(clock === undefined ? {} : { clock }) })
  await applyMetrics(gateway)
  const app = createApp(gateway)
  const server = listen(config.listen, async (request, on) => {
    // A request that has come has the gateway's own limits: it may take as long as its provider may think.
    on.timeout(request, 0)
    const response = await app.fetch(named(request))
    if (!response.headers.has('x-request-id')) response.headers.set('x-request-id', requestId())
    if (!isStream(response)) on.timeout(request, IDLE_S)
    return response
  })
  gateway.listener = {
    addressOf: (request) => server.requestIP(asCame(request))?.address,
    streamed: (request) => server.timeout(asCame(request), IDLE_S),
    pending: () => server.pendingRequests,
  }
  const unwatch = store.watch()
  const stopPruning = startPruning(gateway)
  const url = originOf({ host: config.listen.host, port: server.port ?? config.listen.port })
  io.err(`API        ${url}/v1`)
  io.err(`Dashboard  ${url}/dashboard`)
  const setup = gateway.membership.offerSetup()
  if (setup !== undefined) io.err(`Setup      ${url}/dashboard/setup#${setup}`)

  let stopping: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    gateway.draining = true
    const stopped = server.stop()
    await drain(gateway, gateway.config.drainMs)
    await server.stop(true)
    await stopped.catch(() => undefined)
    stopPruning()
    unwatch()
    try {
      gateway.ledger.flush()
    } finally {
      store.close()
      log.flush()
    }
  }
  let current = config
  return {
    url,
    gateway,
    reload: async (next) => {
      const reloaded = await reload(gateway, current, next)
      // What was refused is still as it was, and is refused again the next time.
      current = { ...next, listen: current.listen, dataDir: current.dataDir }
      const { refused } = reloaded
      const kept = refused.length === 0 ? '' : `, but ${refused.join(' and ')} stay as they are until a restart`
      log.warn(`configuration reloaded${kept}`, { ...reloaded, warnings: next.warnings })
      return reloaded
    },
    stop: () => {
      stopping ??= stop()
      return stopping
    },
  }
}

type Listener = Bun.Server<undefined>

/** Throws a sentence for the operator where the address or the port cannot be had. */
const listen = (
  { host, port }: Config['listen'],
  answer: (request: Request, on: Listener) => Promise<Response>,
): Listener => {
  try {
    return Bun.serve({
      hostname: host,
      port,
      idleTimeout: IDLE_S,
      maxRequestBodySize: BUN_BODY_LIMIT,
      fetch: answer,
    })
  } catch (cause) {
    const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown'
    const say = UNHEARD[code]?.(host, port) ?? `Nothing can listen on port ${port} of ${host} (${code}).`
    throw Object.assign(new Error(say, { cause }), { code })
  }
}

const noAddress = (host: string): string =>
  `The address ${host} is none of this machine: choose another with --host, 0.0.0.0 for all of them.`

const UNHEARD: Readonly<Record<string, (host: string, port: number) => string>> = {
  EADDRINUSE: (host, port) =>
    `Port ${port} of ${host} is in use: stop what listens there, or choose another with --port.`,
  EACCES: (host, port) =>
    `This user may not listen on port ${port} of ${host}: choose one above 1023 with --port, or give it the right to.`,
  EADDRNOTAVAIL: noAddress,
  EINVAL: noAddress,
  ENOTFOUND: noAddress,
}

/**
 * The framework looks for the path behind the shortest host it can think of, four characters. A request under a shorter
 * name, of a container for instance, under one that is none or under none at all (HTTP/1.0) is given another; one to the
 * client API under a base that ends in a slash is given the path that was meant.
 */
const named = (request: Request): Request => {
  const { url } = request
  // Without a usable host it is the path alone.
  const at = url.startsWith('/') ? 0 : url.indexOf('/', 8)
  const isUsable = at >= 11 && URL.canParse(url)
  if (isUsable && !url.includes('//', at)) return request
  const path = at === -1 ? '/' : url.slice(at)
  const meant = path.replace(BASE, (base) => base.replace(/\/+/g, '/'))
  if (isUsable && meant === path) return request
  const renamed = new Request(`http://localhost${meant}`, request)
  RENAMED.set(renamed, request)
  return renamed
}

/** The beginning of a path of the client API, as clients put it together. */
const BASE = /^\/+(?:v1\/+){1,2}(?=[^/?])/

const RENAMED = new WeakMap<Request, Request>()

/** The request that the listener knows. */
const asCame = (request: Request): Request => RENAMED.get(request) ?? request

const isStream = ({ headers }: Response): boolean =>
  headers.get('content-type')?.startsWith('text/event-stream') === true

/** Waits for exchanges in flight; those that outlast the time are cut with a word, and settled with what they have. */
const drain = async (gateway: Gateway, drainMs: number): Promise<void> => {
  await until(() => gateway.open.size + gateway.arriving === 0, drainMs)
  for (const client of gateway.open.values()) {
    leave(client, new GatewayError('service_unavailable', 'The gateway is stopping. Try again shortly.'))
  }
  await until(() => gateway.open.size === 0, FAREWELL_MS)
  // What was settled last may still be on its way out.
  await until(() => gateway.listener?.pending() === 0, FAREWELL_MS)
}

const until = async (holds: () => boolean, forMs: number): Promise<void> => {
  const end = performance.now() + forMs
  while (!holds() && performance.now() < end) await Bun.sleep(10)
}
