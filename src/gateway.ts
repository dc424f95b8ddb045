// The composition root: configuration and store become one Gateway, built once and passed.

import { createCatalogue } from './catalogue/catalogue.ts'
import type { Config } from './config.ts'
import { createDescriptors, type Descriptors } from './descriptors.ts'
import { createLedger } from './ledger/create.ts'
import type { Journal } from './ledger/journal.ts'
import type { Ledger } from './ledger/ledger.ts'
import { createLimits, type Limits } from './ledger/limits.ts'
import { createLive, type Live } from './live.ts'
import type { Log } from './log.ts'
import { createMembership, type Membership } from './members/membership.ts'
import { type Arriving, createArriving, createMemory, type Memory } from './memory.ts'
import type { Metrics } from './metrics.ts'
import { createAffinity } from './relay/affinity.ts'
import { createBackground } from './relay/background.ts'
import { createDetours } from './relay/detours.ts'
import type { Client, Clock, Ended, Relay, Summary } from './relay/exchange.ts'
import { createHealth } from './relay/health.ts'
import { createRecall } from './relay/recall.ts'
import { createSettings, type Settings } from './settings.ts'
import type { Store } from './store/store.ts'

export type Gateway = Relay & {
  config: Config
  store: Store
  ledger: Ledger
  limits: Limits
  log: Log
  /** Admitted requests in flight, exchanges and counts, by id: what a stop waits for and shedding counts. */
  open: Map<string, Client>
  /** Requests that are not admitted yet; shedding counts them with those that are. */
  arriving: Arriving
  /** Set when the server is stopping: new exchanges are refused. */
  draining: boolean
  memory: Memory
  descriptors: Descriptors
  /** Undefined: nothing is counted. */
  metrics: Metrics | undefined
  membership: Membership
  settings: Settings
  live: Live
  /** The server that listens, once one does. */
  listener: Listener | undefined
}

export type Listener = {
  /** The peer's address, as the connection has it. */
  addressOf(request: Request): string | undefined
  /** The request's stream is over: its connection may stay for another as long as any idle one. */
  streamed(request: Request): void
  /** Requests it has not finished answering. */
  pending(): number
}

export type GatewayOptions = {
  config: Config
  store: Store
  log: Log
  /** Tests give their own. */
  fetch?: Relay['fetch']
  clock?: Clock
}

export const createGateway = ({
  config: given,
  store,
  log,
  fetch = globalThis.fetch,
  clock: givenClock,
}: GatewayOptions): Gateway => {
  // A copy of its own: settings changed while it runs are written into it.
  const config: Config = { ...given, limits: { ...given.limits } }
  const clock = givenClock ?? Date
  const now = (): number => clock.now()
  let reportedAt = Number.NEGATIVE_INFINITY
  const unwritten = (cause: unknown): void => {
    gateway?.metrics?.unwritten()
    if (performance.now() - reportedAt < REPORT_EVERY_MS) return
    reportedAt = performance.now()
    log.error('the ledger cannot be written: requests answer 503 until it can', { cause: String(cause) })
  }
  const configured = fromConfig(config)
  // The ledger settles what a killed process left before there is a gateway to ask.
  let gateway: Gateway | undefined
  const ledger = createLedger({
    store: { keys: store.keys, journal: watched(store.journal, unwritten) },
    clock: now,
    goesOn: (exchangeId) => store.background.of(exchangeId) !== undefined,
    prices: () => (gateway ?? configured).catalogue.price,
  })
  const { recovered } = ledger
  if (recovered > 0)
    log.warn('a previous process was killed: what it left open is settled by its last figures', {
      exchanges: recovered,
    })
  gateway = {
    config,
    store,
    log,
    ...configured,
    ledger,
    limits: createLimits({ clock: now, defaults: config.limits }),
    health: createHealth(givenClock, (breaker, answers) =>
      log.warn(answers ? 'breaker closed' : 'breaker opened: most attempts fail', { breaker }),
    ),
    affinity: createAffinity(),
    detours: createDetours(),
    recall: createRecall(),
    background: createBackground(store.background),
    fetch,
    clock,
    open: new Map(),
    arriving: createArriving(),
    draining: false,
    memory: createMemory(),
    descriptors: createDescriptors(),
    metrics: undefined,
    membership: createMembership({ store, clock: now }),
    settings: createSettings(config, store.settings),
    live: createLive(),
    listener: undefined,
  }
  return gateway
}

/** An exchange has ended: for whoever reads the log, the metrics and the live views. */
export const tellEnded = ({ log, metrics, live }: Gateway, exchange: Ended, summary: Summary): void => {
  log.exchange(exchange, summary)
  metrics?.settled(exchange, summary)
  live.publish(exchange, summary)
}

/** What the relay takes from a configuration: made with the gateway, and anew when the configuration is read again. */
export const fromConfig = (config: Config) => ({
  catalogue: createCatalogue(config),
  providers: new Map(config.providers.map((provider) => [provider.id, provider])),
  fallbacks: config.fallbacks,
  keepAliveMs: config.keepAliveMs,
  earlyStartMs: config.earlyStartMs,
  maxTries: config.maxTries,
})

/** A full disk fails every write there is: one line says it for all that follow within this time. */
const REPORT_EVERY_MS = 5_000

/** A journal whose failures are told; the ledger deals with them. */
const watched = (journal: Journal, failed: (cause: unknown) => void): Journal => ({
  ...journal,
  write(batch) {
    try {
      journal.write(batch)
    } catch (cause) {
      failed(cause)
      throw cause
    }
  },
})
