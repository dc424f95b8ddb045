// The composition root: configuration and store become one Gateway, built once and passed.

import { createCatalogue } from './catalogue/catalogue.ts'
import type { Config } from './config.ts'
import { createLedger } from './ledger/create.ts'
import type { Ledger } from './ledger/ledger.ts'
import { createLimits, type Limits } from './ledger/limits.ts'
import type { Log } from './log.ts'
import { createAffinity } from './relay/affinity.ts'
import type { Clock, Relay } from './relay/exchange.ts'
import { createHealth } from './relay/health.ts'
import type { Store } from './store/store.ts'

export type Gateway = Relay & {
  config: Config
  store: Store
  ledger: Ledger
  limits: Limits
  log: Log
  /** Exchanges in flight, by id: what a stop waits for and shedding counts. */
  open: Map<string, AbortController>
  /** Set when the server is stopping: new exchanges are refused. */
  draining: boolean
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
  config,
  store,
  log,
  fetch = globalThis.fetch,
  clock = Date,
}: GatewayOptions): Gateway => {
  const catalogue = createCatalogue(config)
  const now = (): number => clock.now()
  return {
    config,
    store,
    log,
    catalogue,
    providers: new Map(config.providers.map((provider) => [provider.id, provider])),
    ledger: createLedger({ store, clock: now, prices: (id) => catalogue.resolve(id)?.price }),
    limits: createLimits({ clock: now, defaults: config.limits }),
    health: createHealth(clock),
    affinity: createAffinity(),
    fetch,
    clock,
    fallbacks: config.fallbacks,
    keepAliveMs: config.keepAliveMs,
    earlyStartMs: config.earlyStartMs,
    maxTries: config.maxTries,
    open: new Map(),
    draining: false,
  }
}
