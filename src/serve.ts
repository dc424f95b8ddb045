// A configured server from start to stop: store, gateway, listener, and the draining of what is in flight.

import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { createApp } from './app.ts'
import type { Config } from './config.ts'
import { createGateway, type Gateway } from './gateway.ts'
import { createLog } from './log.ts'
import { leave } from './relay/exchange.ts'
import { openStore } from './store/sqlite/index.ts'

export type Server = { url: string; gateway: Gateway; stop(): Promise<void> }

export type ServeIo = { err: (line: string) => void }

/** The name of the database within the data directory. */
export const DATABASE = 'sluice.db'

/** Bun answers a body past its own limit by itself, without the envelope: its limit must never be the one that counts. */
const BUN_BODY_LIMIT = Number.MAX_SAFE_INTEGER
const PRUNE_EVERY_MS = 60_000
const PRUNE_BATCH = 2_000

/** Throws a sentence for the operator when the store or the port cannot be had. */
export const startServer = async (config: Config, io: ServeIo, log = createLog(config.log.level)): Promise<Server> => {
  mkdirSync(config.dataDir, { recursive: true })
  const store = openStore(join(config.dataDir, DATABASE))
  const gateway = createGateway({ config, store, log })
  const app = createApp(gateway)
  const server = Bun.serve({
    hostname: config.listen.host,
    port: config.listen.port,
    idleTimeout: 0,
    maxRequestBodySize: BUN_BODY_LIMIT,
    fetch: app.fetch,
  })
  gateway.listener = {
    addressOf: (request) => server.requestIP(request)?.address,
    pending: () => server.pendingRequests,
  }
  const unwatch = store.watch()
  const pruning = setInterval(() => prune(gateway), PRUNE_EVERY_MS)
  pruning.unref()
  const url = `http://${hostOf(config.listen.host)}:${server.port}`
  io.err(`API        ${url}/v1`)
  io.err(`Dashboard  ${url}/dashboard`)
  const setup = gateway.membership.offerSetup()
  if (setup !== undefined) io.err(`Setup      ${url}/dashboard/setup#${setup}`)

  let stopping: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    gateway.draining = true
    const stopped = server.stop()
    await drain(gateway, config.drainMs)
    await server.stop(true)
    await stopped.catch(() => undefined)
    clearInterval(pruning)
    unwatch()
    gateway.ledger.flush()
    store.close()
    log.flush()
  }
  return {
    url,
    gateway,
    stop: () => {
      stopping ??= stop()
      return stopping
    },
  }
}

const hostOf = (host: string): string => {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

/** Waits for exchanges in flight; those that outlast the time are cut, and settled like any that a client leaves. */
const drain = async (gateway: Gateway, drainMs: number): Promise<void> => {
  const until = Date.now() + drainMs
  while (gateway.open.size > 0 && Date.now() < until) await Bun.sleep(20)
  for (const client of gateway.open.values()) leave(client)
  const grace = Date.now() + 1_000
  while (gateway.open.size > 0 && Date.now() < grace) await Bun.sleep(10)
}

/** Removes what is past its keeping in small steps, one per turn, so that no request waits for it. */
const prune = (gateway: Gateway): void => {
  const { retentionMs } = gateway.config
  if (retentionMs === 0) return
  try {
    const removed = gateway.store.prune(gateway.clock.now() - retentionMs, PRUNE_BATCH)
    if (removed === PRUNE_BATCH) setTimeout(() => prune(gateway), 50).unref()
  } catch (error) {
    gateway.log.warn('old exchanges could not be removed', { cause: String(error) })
  }
}
