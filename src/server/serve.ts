// A configured server from start to stop: store, gateway, listener, and draining.

import { fixedOf } from '../config/fixed.ts'
import { adminOriginOf } from '../config/origin.ts'
import type { Reloaded } from '../config/reloaded.ts'
import type { Config } from '../config.ts'
import { unavailable } from '../errors.ts'
import { countEnded, createGateway, type Gateway, type MakesBooks, reportEnded } from '../gateway.ts'
import type { Resumed } from '../ledger/ledger.ts'
import { openSockets } from '../lib/sockets.ts'
import { createHangingUp, watchDescriptors } from '../observe/descriptors.ts'
import { createLog, type Log } from '../observe/log.ts'
import { openFilesLimit } from '../observe/process.ts'
import { resumeAnswer, resumeAnswers, stopPolling } from '../relay/background/polling.ts'
import { disconnect, type Ended, type Summary } from '../relay/exchange.ts'
import type { PostgresStore } from '../store/postgres/open.ts'
import type { SqliteStore } from '../store/store.ts'
import { startAlerting } from './alerting.ts'
import { type ApartDoors, openDoors } from './doors.ts'
import { keepPrices } from './keeping-prices.ts'
import type { Listening } from './listener.ts'
import type { Node } from './nodes/node.ts'
import { type Opened, openStoreOf } from './opening.ts'
import { ownBooksIn } from './own-books.ts'
import { startPruning } from './pruning.ts'
import { applyMetrics, applyOtlp, reload } from './reload.ts'
import { startRenewing } from './renewing.ts'

export type Server = {
  url: string
  /** Of the dashboard and the admin API. */
  adminUrl: string
  gateway: Gateway
  /** Applies a changed configuration to new exchanges; logs what changed and what needs a restart. */
  reload(config: Config): Promise<Reloaded>
  stop(): Promise<void>
}

/** What stands elsewhere where other processes serve, and this one keeps the books for them. */
export type Apart = {
  books(store: SqliteStore): MakesBooks
  othersRun: boolean
  doors: ApartDoors
  /** How many processes share the memory that they may hold. */
  processes: number
  /** Its number in the log, where it serves. */
  worker: number | undefined
  begin(gateway: Gateway, how: Resuming): { stop(forMs: number): Promise<void> }
}

type Resuming = {
  /** Goes on with the answer of an exchange in the background; false where it has none. */
  resume(left: Resumed, onSettled: (summary: Summary) => void): boolean
  /** Tells of the end of an exchange that another process has logged. */
  report(exchange: Ended, summary: Summary): void
}

/** `warn`: sentences on a configuration that is right, and yet not what was meant. */
type ServeIo = { err: (line: string) => void; warn?: (sentence: string) => void }

/** How long clients of a stopping server may take to read the end of their answers. */
const LAST_READ_MS = 1_000

/** How long it may take to count what was cut. What outlasts it is settled by the next start, by its last figures. */
const COUNT_MS = 5_000

/** How long a process that was killed may take to end. */
const ENDING_MS = 2_000

/** How long other processes may take to stop, beside their drain: for the last reads, the counting and what they say last. */
const STOPPED_MS = 12_000

type Options = { log?: Log; clock?: (() => number) | undefined; apart?: Apart | undefined }

/** Throws an error with a sentence for the operator when the store or the port is not available. */
export const startServer = async (
  config: Config,
  io: ServeIo,
  { log: givenLog, clock, apart }: Options = {},
): Promise<Server> => {
  // Of several processes one may be ending that was killed with the rest.
  const opened = await openStoreOf(config, { clock, lockWaitMs: apart === undefined ? 0 : ENDING_MS })
  const base = await baseOf(opened)
  const which = { ...(apart?.worker && { worker: apart.worker }), ...(base.node && { node: base.node.name }) }
  const log = givenLog ?? createLog(config.log.level, which)
  try {
    return await startWith(base, { config, io, log, clock, apart })
  } catch (error) {
    await opened.store.close()
    throw error
  }
}

/** What nodes need is loaded by those alone. */
const baseOf = async (opened: Opened): Promise<Base> => {
  if (!opened.isShared) return { store: opened.store }
  const { createNode } = await import('./nodes/node.ts')
  return { store: opened.store, node: createNode(opened.store) }
}

/** `node`: where others share the store. */
type Base = { store: SqliteStore; node?: undefined } | { store: PostgresStore; node: Node }

type Start = {
  config: Config
  io: ServeIo
  log: Log
  clock: (() => number) | undefined
  apart: Apart | undefined
}

const startWith = async (base: Base, { config, io, log, clock, apart }: Start): Promise<Server> => {
  const { store, node } = base
  const gateway = await createGateway({
    ...{ config, log, othersRun: apart?.othersRun ?? false, processes: apart?.processes ?? 1 },
    ...(clock === undefined ? {} : { clock }),
    ...(base.node === undefined
      ? { store: base.store, books: apart?.books(base.store) ?? ownBooksIn(base.store) }
      : { store: base.store, books: base.node.books, together: base.node.together }),
  })
  for (const warning of gateway.config.warnings) io.warn?.(warning)
  await applyMetrics(gateway)
  await applyOtlp(gateway)
  const doors = openDoors(gateway, apart?.doors)
  const { clients, operators, shared, all } = doors
  gateway.listener = doors.listener
  const keyOf = (id: string) => store.keys.get(id) ?? { id, label: id }
  const onSettled = (exchange: Ended, summary: Summary): void => reportEnded(gateway, exchange, summary)
  const answerOf = (id: string) => (base.node === undefined ? base.store.journal.answerOf(id) : undefined)
  const hub = apart?.begin(gateway, {
    resume(left, then) {
      const answer = answerOf(left.reservation.exchangeId)
      if (answer === undefined) return false
      resumeAnswer(gateway, left, answer, {
        keyOf,
        onSettled(exchange, summary) {
          then(summary)
          onSettled(exchange, summary)
        },
      })
      return true
    },
    report: (exchange, summary) => countEnded(gateway, exchange, summary),
  })
  // Where other processes may still be at them, those say so first.
  if (apart?.othersRun !== true) await resumeAnswers(gateway, { keyOf, onSettled })
  const running = await node?.begin(gateway, (left, answer) =>
    resumeAnswer(gateway, left, answer, { keyOf, onSettled }),
  )
  const unwatch = store.watch()
  const unwatchEntries = watchEntries(gateway)
  await keepPrices(gateway)
  const stopPruning = await startPruning(gateway)
  const stopRenewing = startRenewing(gateway)
  const stopAlerting = await startAlerting(gateway)
  const unwatchRoom = watchRoom(gateway, all)
  const { url } = clients
  const adminUrl = adminOriginOf(config, operators)
  io.err(`API        ${url}/v1`)
  io.err(`Dashboard  ${adminUrl}/dashboard`)
  const setup = await gateway.membership.offerSetup()
  if (setup !== undefined) io.err(`Setup      ${adminUrl}/dashboard/setup#${setup}`)

  let stopping: Promise<void> | undefined
  const stop = async (): Promise<void> => {
    gateway.leaving = true
    const { lingerMs } = gateway.config
    if (lingerMs > 0) await Bun.sleep(lingerMs)
    gateway.draining = true
    // What the others pass on is answered until they have ended.
    const own = shared === undefined ? undefined : drain(gateway, [shared])
    await Promise.all([own, hub?.stop(gateway.config.drainMs + STOPPED_MS)])
    await drain(gateway, all)
    stopPruning()
    stopRenewing()
    await Promise.all([stopAlerting(), gateway.otlp?.stop()])
    await running?.leave()
    unwatchRoom()
    stopPolling(gateway)
    unwatchEntries()
    unwatch()
    try {
      await gateway.recall.flush()
      await gateway.ledger.flush()
      await gateway.refusals.flush()
      await running?.stop()
    } finally {
      await store.close()
      log.flush()
    }
  }
  let current = config
  return {
    url,
    adminUrl,
    gateway,
    reload: async (next) => {
      const reloaded = await reload(gateway, current, next)
      await gateway.workers?.tell()
      // Changes that need a restart are not applied, and are reported again the next time.
      current = { ...next, ...fixedOf(current) }
      const { refused, overridden } = reloaded
      const kept = [
        ...(refused.length === 0 ? [] : [`a restart is needed for ${refused.join(' and ')}`]),
        ...(overridden.length === 0 ? [] : [`the dashboard's settings override ${overridden.join(' and ')}`]),
      ].join(', and ')
      log.warn(`configuration reloaded${kept && `, but ${kept}`}`, { ...reloaded, warnings: gateway.config.warnings })
      return reloaded
    },
    stop: () => {
      stopping ??= stop()
      return stopping
    },
  }
}

/** How soon what another process has set is in force here. */
const ENTRIES_MS = 250

const watchEntries = ({ entries, log }: Gateway): (() => void) => {
  let failing = false
  let looking = false
  const look = async (): Promise<void> => {
    if (looking) return
    looking = true
    try {
      await entries.refresh()
      failing = false
    } catch (cause) {
      if (!failing) log.warn('what was set at run time could not be read: tried again', { cause: String(cause) })
      failing = true
    } finally {
      looking = false
    }
  }
  const rounds = setInterval(() => void look(), ENTRIES_MS).unref()
  return () => clearInterval(rounds)
}

/** Has room made while descriptors are short. Runs until the returned function is called. */
export const watchRoom = (gateway: Gateway, doors: readonly Listening[]): (() => void) =>
  watchDescriptors(gateway.descriptors, { makeRoom: roomMaker(doors), tell: (told) => gateway.log.warn(told) })

/** Closes what others need more: idle connections, and those that nothing has come on. */
const roomMaker = (listening: readonly Listening[]): (() => void) => {
  let hangUp: ReturnType<typeof createHangingUp> | 'impossible' | undefined
  return () => {
    for (const each of listening) each.closeIdle()
    // Hardly any server ever needs the system's calls: they are looked up by the first that does.
    hangUp ??= hangingUp() ?? 'impossible'
    if (hangUp !== 'impossible') hangUp(listening)
  }
}

const hangingUp = (): ReturnType<typeof createHangingUp> | undefined => {
  const sockets = openSockets()
  const limit = openFilesLimit()
  return sockets === undefined || limit === undefined ? undefined : createHangingUp(sockets, limit)
}

/** Takes nobody in any more, and ends those who are in. */
export const drain = async (gateway: Gateway, doors: readonly Listening[]): Promise<void> => {
  gateway.draining = true
  gateway.sockets.drain()
  const stopped = doors.map((listening) => listening.stop())
  await letEnd(gateway, gateway.config.drainMs)
  for (const listening of doors) await listening.stop(true)
  await Promise.allSettled(stopped)
  await until(() => gateway.open.size === 0, COUNT_MS)
}

/** Waits for exchanges in flight. Those that outlast `drainMs` are ended with an error and settled with what they have. */
const letEnd = async (gateway: Gateway, drainMs: number): Promise<void> => {
  await until(() => gateway.open.size + gateway.arriving.count === 0, drainMs)
  for (const client of gateway.open.values()) {
    disconnect(client, unavailable('is stopping', { retryAfterMs: 1_000 }))
  }
  await until(() => gateway.open.size === 0, LAST_READ_MS)
  // The last answers may still be on their way to their clients.
  await until(() => gateway.listener?.pending() === 0, LAST_READ_MS)
}

const until = async (holds: () => boolean, forMs: number): Promise<void> => {
  const end = performance.now() + forMs
  while (!holds() && performance.now() < end) await Bun.sleep(10)
}
