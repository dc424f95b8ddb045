// The composition root: makes one Gateway of configuration, store and books.

import { type Alerts, createAlerts } from './alerts/alerts.ts'
import { createFailures, type Failures } from './alerts/failures.ts'
import { createCatalogue } from './catalogue/catalogue.ts'
import { fixedOf } from './config/fixed.ts'
import type { ReloadAnswer } from './config/reloaded.ts'
import { createSettings, type Settings } from './config/settings.ts'
import type { Config } from './config.ts'
import { createCredentials } from './entries/credentials.ts'
import { createEntries, type Entries } from './entries/entries.ts'
import type { Prices } from './ledger/cost.ts'
import { PROCESS_TIMERS } from './ledger/create.ts'
import { createAnswersInMemory } from './ledger/kept-in-memory.ts'
import type { Ledger } from './ledger/ledger.ts'
import type { GatewayLimits } from './ledger/limits.ts'
import { createTurns } from './lib/turns.ts'
import { createMembership, type Membership } from './members/membership.ts'
import { type Accounts, createAccounts } from './observe/accounts.ts'
import { createDescriptors, type Descriptors } from './observe/descriptors.ts'
import { createLive, type Live } from './observe/live.ts'
import type { Log } from './observe/log.ts'
import { type Arriving, createArriving, createMemory, createRoom, type Memory, partOf } from './observe/memory.ts'
import type { Metrics } from './observe/metrics.ts'
import type { Otlp } from './observe/otlp/otlp.ts'
import { createOutage } from './observe/outage.ts'
import { createRefusals, type Refusals } from './observe/refusals.ts'
import { createSockets, type Sockets } from './observe/sockets.ts'
import type { Workers } from './observe/workers.ts'
import { createContinued } from './relay/adapt/continued.ts'
import { createDetours } from './relay/adapt/detours.ts'
import { createPictures } from './relay/adapt/pictures.ts'
import { createRecall } from './relay/adapt/recall.ts'
import { answerKey, createAffinity } from './relay/affinity.ts'
import { createBackground } from './relay/background/watched.ts'
import type { Client, Ended, Summary } from './relay/exchange.ts'
import { createHealth, targetName } from './relay/health.ts'
import type { Relay } from './relay/services.ts'
import type { Store } from './store/store.ts'
import type { Together } from './store/together.ts'

export type Gateway = Relay & {
  config: Config
  store: Store
  ledger: Ledger
  limits: GatewayLimits
  log: Log
  /** Admitted requests in flight, exchanges and token counts, by id: a stop waits for them, and load shedding counts them. */
  open: Map<string, Client>
  /** Requests that are not admitted yet; load shedding counts them too. */
  arriving: Arriving
  /** Set when the server is to stop: it is ready for nobody any more, and takes in who comes all the same. */
  leaving: boolean
  /** Set when the server is stopping: new exchanges are refused. */
  draining: boolean
  memory: Memory
  descriptors: Descriptors
  /** Undefined where nothing is exported. */
  otlp: Otlp | undefined
  /** Undefined where metrics are disabled. */
  metrics: Metrics | undefined
  membership: Membership
  settings: Settings
  /** What stands beside the configuration. */
  entries: Entries
  /** Reads the configuration again, as a signal would have it; undefined where nobody can. */
  reread: (() => Promise<ReloadAnswer>) | undefined
  /** The configuration, and with it prices, may be another: told where somebody keeps them. */
  repriced: (() => void) | undefined
  live: Live
  /** Requests of known keys that became no exchange, on their way to the store. */
  refusals: Refusals
  /** What each account did. */
  accounts: Accounts
  alerts: Alerts
  failures: Failures
  /** What alerts tell of the ledger by. */
  trouble: { failedWrites: number; cause: unknown }
  /** Open WebSockets. */
  sockets: Sockets
  /** The listening server; undefined before it starts. */
  listener: Listener | undefined
  /** The processes that serve, where this one keeps the books for them; undefined: it serves itself. */
  workers: Workers | undefined
  /** What nodes that share the store have together; undefined: this process has its own. */
  together: Together | undefined
  /** Whether what is done once for all nodes is this one's to do. */
  isKeeper(): boolean
}

/** The peer of a WebSocket: what can be said to it. */
export type SocketPeer = {
  send(text: string): void
  /** Bytes that it has not taken yet. */
  unsent(): number
  close(code: number, reason: string): void
}

/** Our end of a WebSocket, told what comes of it. */
export type SocketEnd = {
  opened(peer: SocketPeer): void
  said(message: string | Uint8Array): void
  /** The peer has taken what it was sent. */
  drained(): void
  closed(): void
  /** Whether an answer is under way on it. */
  isBusy(): boolean
}

export type Listener = {
  /** Where clients reach the API. */
  port: number
  /** The address of the connection's peer. */
  addressOf(request: Request): string | undefined
  /** The request's stream has ended: its connection gets the idle timeout of others again. */
  streamed(request: Request): void
  /** A request that came over a connection which is not HTTP's: the address of its peer. */
  lend(request: Request, address: string | undefined): void
  /** Makes a WebSocket of a request's connection; false where that cannot be. */
  upgrade(request: Request, end: SocketEnd, headers: Record<string, string>): boolean
  /** Requests it has not finished answering. */
  pending(): number
}

type GatewayOptions = {
  config: Config
  store: Store
  log: Log
  books: MakesBooks
  /** Tests give their own. */
  clock?: (() => number) | undefined
  /** What other processes may still be at is not settled at the start, but left to be. */
  othersRun?: boolean
  /** How many processes share the memory that they may hold; 1 by default. */
  processes?: number
  /** Of a store that nodes share. */
  together?: Together | undefined
}

/** The ledger and the limits of a process, or what it asks another by that keeps them. */
export type MakesBooks = (own: OwnBooks) => Books | Promise<Books>
type Books = { ledger: Ledger; limits: GatewayLimits }
export type OwnBooks = {
  config: Config
  log: Log
  prices: () => Prices
  clock: () => number
  stopwatch: () => number
  othersRun: boolean
  failed: (cause: unknown) => void
}

export const createGateway = async (options: GatewayOptions): Promise<Gateway> => {
  const { config: base, store, log, books, clock: givenClock, othersRun = false, processes = 1, together } = options
  const credentials = createCredentials(base)
  const entries = await createEntries({
    base,
    store: store.entries,
    credentials,
    changed: (next) => gateway && takeOver(gateway, next),
  })
  const given = entries.config()
  // A copy: settings that admins change at run time are written into it.
  const config: Config = { ...given, limits: { ...given.limits } }
  const memory = partOf(createMemory(), processes)
  const clock = givenClock ?? together?.clock ?? Date.now
  const stopwatch = givenClock ?? (() => performance.now())
  const trouble: Gateway['trouble'] = { failedWrites: 0, cause: undefined }
  const reportFailedLedger = createOutage({
    began: (cause) =>
      log.error('the ledger cannot be written: requests wait or answer 503 until it can', { cause: String(cause) }),
    lasts: (cause, ms) =>
      log.error('the ledger still cannot be written', { for_s: Math.round(ms / 1_000), cause: String(cause) }),
    over: (ms) => log.warn('the ledger is written again', { after_s: Math.round(ms / 1_000) }),
    isOver: () => gateway?.ledger.isStuck() !== true,
    ...{ stopwatch, later: PROCESS_TIMERS.later },
  })
  const reportFailedWrite = (cause: unknown): void => {
    gateway?.metrics?.unwritten()
    trouble.failedWrites++
    trouble.cause = cause
    reportFailedLedger(cause)
  }
  const settings = await createSettings(config, store.settings)
  const turns = createTurns()
  const inMemory = createAnswersInMemory()
  const recall = createRecall({
    answers: () => (config.storedAnswers.keepMs === 0 ? inMemory : store.answers),
    bounds: () => (config.storedAnswers.keepMs === 0 ? IN_MEMORY : config.storedAnswers),
    turns,
    failed: seldom((cause) =>
      log.warn('an answer could not be kept: its client cannot refer to it', { cause: String(cause) }),
    ),
    isShared: together !== undefined,
    found({ keyId, id, account, tokens }) {
      affinity.remember(answerKey(keyId, id), account)
      if (tokens !== undefined) continued.remember(keyId, id, tokens)
    },
  })
  const continued = createContinued(async (keyId, answerId) => (await recall.placeOf(keyId, answerId))?.tokens)
  const affinity = createAffinity(stopwatch)
  const configured = fromConfig(config)
  // Creating the ledger settles what a killed process left: its callbacks run before the gateway exists.
  let gateway: Gateway | undefined
  const { ledger, limits } = await books({
    config,
    prices: () => (gateway ?? configured).catalogue.price,
    ...{ log, clock, stopwatch, othersRun, failed: reportFailedWrite },
  })
  const live = createLive()
  gateway = {
    config,
    store,
    log,
    ...configured,
    ledger,
    limits,
    health: createHealth(
      stopwatch,
      (breaker, answers) => log.warn(answers ? 'breaker closed' : 'breaker opened: most attempts fail', { breaker }),
      clock,
      (target, trouble, upstream) =>
        log.warn(
          trouble === 'no-money'
            ? 'account out of money: top it up at the provider'
            : 'unknown upstream model: correct the id in the configuration',
          { target, ...(trouble === 'no-money' ? {} : { upstream }) },
        ),
    ),
    affinity,
    continued,
    pictures: createPictures(),
    detours: createDetours(),
    recall,
    background: createBackground(store.background),
    fetch: globalThis.fetch,
    clock,
    stopwatch,
    open: new Map(),
    arriving: createArriving(),
    leaving: false,
    draining: false,
    memory,
    room: createRoom(memory, () => config.maxMemoryBytes),
    turns,
    descriptors: createDescriptors(),
    metrics: undefined,
    otlp: undefined,
    membership: createMembership({
      ...{ store, clock, sessionDays: () => settings.values().session_days },
      ...(together && { attempts: together.attempts, setupLinks: together.setupLinks }),
    }),
    settings,
    live,
    refusals: createRefusals({
      calendar: config.calendar,
      store: store.refusals,
      onWritten: live.publishRefused,
      onLost: (count) => log.warn('refusals were not kept one by one: more came than are written', { count }),
      isBusy: ledger.isStuck,
    }),
    entries,
    reread: undefined,
    repriced: undefined,
    accounts: createAccounts(clock),
    alerts: await alertsOf({ config, store, clock, log }, together !== undefined),
    failures: createFailures(stopwatch, () => config.alerts.errorRate.withinMs),
    trouble,
    sockets: createSockets(turns),
    listener: undefined,
    workers: undefined,
    together,
    isKeeper: () => true,
  }
  return gateway
}

/** `isIdle`: another node tells, and sends what waits. */
export const alertsOf = (
  { config, store, clock, log }: Pick<Gateway, 'config' | 'store' | 'clock' | 'log'>,
  isIdle: boolean,
) => createAlerts({ store: store.alerts, rules: () => config.alerts, clock, warn: log.warn, isIdle })

/** Reports the end of an exchange to the log, the metrics and the live views. */
export const reportEnded = (gateway: Gateway, exchange: Ended, summary: Summary): void => {
  gateway.log.exchange(exchange, summary)
  countEnded(gateway, exchange, summary)
}

/** The same of one that another process has logged. */
export const countEnded = (gateway: Gateway, exchange: Ended, summary: Summary): void => {
  const { metrics, live, accounts, failures, otlp } = gateway
  metrics?.settled(exchange, summary)
  live.publish(exchange, summary)
  accounts.ended(exchange)
  otlp?.ended(exchange, summary)
  const { outcome } = summary
  if (outcome === 'done' || outcome === 'failed') failures.count(exchange.model.id, outcome === 'failed')
}

/** Goes by another configuration from now on: new exchanges see it. Settings that admins have changed override it. */
export const takeOver = (gateway: Gateway, next: Config): void => {
  const { config, settings, health } = gateway
  const { limits } = config
  const fixed = fixedOf(config)
  for (const target of changedAccounts(config, next)) health.forget(target)
  // The same objects are kept, since others hold references to them.
  Object.assign(config, next, fixed, { limits: Object.assign(limits, next.limits) })
  settings.rebase(next)
  Object.assign(gateway, fromConfig(config))
  gateway.repriced?.()
}

/** What their targets' names begin with: how they did before tells nothing of how they do with another credential or address. */
const changedAccounts = (before: Config, next: Config): string[] => {
  const accountsOf = ({ providers }: Config) =>
    new Map(
      providers.flatMap(({ id, accounts }) => accounts.map((account) => [targetName(id, account.name, ''), account])),
    )
  const known = accountsOf(before)
  return [...accountsOf(next)].flatMap(([name, { baseUrl, credential }]) => {
    const old = known.get(name)
    return old === undefined || (old.baseUrl === baseUrl && old.credential === credential) ? [] : [name]
  })
}

/** The parts of a gateway that are made from its configuration alone: made again when that is reloaded. */
export const fromConfig = (config: Config) => ({
  catalogue: createCatalogue(config),
  providers: new Map(config.providers.map((provider) => [provider.id, provider])),
  fallbacks: config.fallbacks,
  keepAliveMs: config.keepAliveMs,
  earlyStartMs: config.earlyStartMs,
  maxTries: config.maxTries,
})

/** What is held of answers where none are written. */
const IN_MEMORY = { perKey: 16 * 1024 ** 2, total: 64 * 1024 ** 2 }

/** At most one line is logged in this time. */
const REPORT_EVERY_MS = 5_000

const seldom = (report: (cause: unknown) => void): ((cause: unknown) => void) => {
  let reportedAt = Number.NEGATIVE_INFINITY
  return (cause) => {
    if (performance.now() - reportedAt < REPORT_EVERY_MS) return
    reportedAt = performance.now()
    report(cause)
  }
}
