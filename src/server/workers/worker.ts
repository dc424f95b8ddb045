// One of several processes that serve: a gateway like any other, whose books another keeps.

import { join } from 'node:path'
import { type Config, databasePath } from '../../config.ts'
import { createGateway, type Gateway, takeOver } from '../../gateway.ts'
import { PROCESS_TIMERS } from '../../ledger/create.ts'
import { createNodeLedger, type NodeLedger } from '../../ledger/node.ts'
import { calendarOf, UTC } from '../../lib/calendar.ts'
import { createLog, type Log } from '../../observe/log.ts'
import { type Figures, ownFigures } from '../../observe/workers.ts'
import { openStore } from '../../store/sqlite/index.ts'
import { openSharedDoor } from '../doors.ts'
import { applyOtlp } from '../reload.ts'
import { drain, watchRoom } from '../serve.ts'
import { createElsewhere } from './elsewhere.ts'
import { createLink, type Link } from './link.ts'
import { BOOKS, DOOR, type FromOwner, hearing, type Part, type SentConfig, sharing } from './messages.ts'
import { shareOf } from './owner.ts'

/** How long the last settlements may take to be heard. */
const SAID_MS = 5_000
/** An owner that says nothing may stand still, as on a busy machine. By then one that hangs is about to be ended. */
const SILENT_MS = 10_000

type WorkerServer = {
  url: string
  log: Log
  gateway: Gateway
  /** Resolves when the owner has it stop. */
  toStop: Promise<void>
  stop(): Promise<void>
}

/** Resolves once it serves. */
export const startWorker = async ({ name, number, dir, port, count }: Part): Promise<WorkerServer> => {
  const welcome = Promise.withResolvers<{ config: SentConfig }>()
  const toStop = Promise.withResolvers<void>()
  let at: { gateway: Gateway; log: Log } | undefined
  let ledger: NodeLedger | undefined
  let current: Config | undefined
  let said: SentConfig | undefined

  const configure = async (config: SentConfig): Promise<void> => {
    const next = mine(config)
    if (at === undefined || current === undefined || isSame(current, next)) return
    current = next
    // What an admin has set stands over it.
    await at.gateway.settings.refresh()
    at.gateway.metrics = metricsOf(link, next)
    takeOver(at.gateway, next)
    at.log.setLevel(next.log.level)
    // Its library is loaded where it is wanted first: nobody waits for that.
    void applyOtlp(at.gateway).catch((cause) => at?.log.error('OpenTelemetry is not begun', { cause: String(cause) }))
  }
  const configured = (config: SentConfig): void => {
    said = config
    void configure(config).catch((cause) => at?.log.error('settings could not be read', { cause: String(cause) }))
  }
  const mine = (config: SentConfig): Config => {
    const calendar = calendarOf(config.timeZone) ?? UTC
    // The owner has put in what stands beside the file.
    const { providers, brands, models, aliases, fallbacks, accountSources, warnings } = config
    const served = { providers, brands, models, aliases, fallbacks, accountSources }
    const extend = () => ({ served, problems: [], warnings })
    const { metrics, otlp } = config
    // The owner sends the figures of all, for which requests are counted here; spans are sent by whoever served.
    const told = {
      metrics: { ...metrics, enabled: metrics.enabled || otlp?.metrics === true },
      otlp: otlp && { ...otlp, metrics: false },
    }
    return shareOf({ ...config, ...told, calendar, extend, listen: { ...config.listen, port } }, count)
  }
  const heard = hearing<FromOwner>({
    welcome(message) {
      welcome.resolve(message)
      configured(message.config)
    },
    config: ({ config }) => configured(config),
    // One that fails is made again by the watch.
    look: () => void at?.gateway.store.refresh().catch(() => undefined),
    placed: ({ name, account, forMs }) => affinity?.remember(name, account, forMs),
    continues: ({ keyId, answerId, tokens }) => continued?.remember(keyId, answerId, tokens),
    how: ({ n }) => at && link.send({ what: 'figures', n, figures: figuresOf(at.gateway) }),
    stop: () => toStop.resolve(),
    // What it had is settled without it: it begins anew.
    fenced: () => process.exit(1),
    // Answers that nobody waits for any more.
    ...{ verdicts: nothing, done: nothing },
  })
  let passing = (): number => 0
  // What is passed on is the owner's.
  const figuresOf = (gateway: Gateway): Figures => {
    const own = ownFigures(gateway)
    return { ...own, pending: own.pending - passing() }
  }
  let affinity: Gateway['affinity'] | undefined
  let continued: Gateway['continued'] | undefined
  const link = await createLink({
    path: join(dir, BOOKS),
    hello: () => ({ what: 'hello', name, number, running: ledger?.running() ?? [] }),
    heard,
  })
  current = mine((await welcome.promise).config)
  const log = createLog(current.log.level, { worker: number })
  const store = openStore(databasePath(current), { calendar: current.calendar, follows: true })
  const gateway = await createGateway({
    ...{ config: current, store, log },
    books({ config, prices, clock }) {
      ledger = createNodeLedger({
        ...{
          node: link,
          keys: store.keys,
          clock,
          prices,
          defaults: config.limits,
          timers: PROCESS_TIMERS,
          entersLate: true,
          silentMs: SILENT_MS,
        },
        refresh: () => store.refresh(),
      })
      return ledger
    },
  })
  at = { gateway, log }
  affinity = gateway.affinity
  continued = gateway.continued
  gateway.metrics = metricsOf(link, current)
  await applyOtlp(gateway)
  Object.assign(gateway, sharing(gateway, link.send))
  gateway.refusals = {
    add: (refusal) => link.send({ what: 'refusal', refusal }),
    ...{ settle: async () => undefined, flush: async () => undefined, waiting: () => 0 },
  }
  gateway.background = {
    ...gateway.background,
    // Without it nobody would find the answer, nor hear of its end.
    keep: (answer) => link.insist((n) => ({ what: 'keep', n, answer })),
    handOver: (exchangeId, lastKnown, begun) => ledger?.letGo(exchangeId, lastKnown, begun),
  }
  const elsewhere = createElsewhere({
    door: join(dir, DOOR),
    addressOf: (request) => gateway.listener?.addressOf(request),
    streamed: (request) => gateway.listener?.streamed(request),
  })
  passing = elsewhere.passing
  const door = openSharedDoor(gateway, elsewhere.pass)
  gateway.listener = door
  // It may have changed while this began.
  if (said !== undefined) configured(said)
  const unwatch = store.watch()
  const unwatchRoom = watchRoom(gateway, [door])

  return {
    ...{ url: door.url, log, gateway, toStop: toStop.promise },
    async stop() {
      await drain(gateway, [door])
      await gateway.recall.flush()
      await gateway.otlp?.stop()
      await Promise.race([ledger?.said(), Bun.sleep(SAID_MS)])
      unwatchRoom()
      unwatch()
      link.close()
      await store.close()
      log.flush()
    },
  }
}

/** But for what is made anew each time. */
const isSame = (
  { extend: _, calendar: __, ...one }: Config,
  { extend: ___, calendar: ____, ...other }: Config,
): boolean => Bun.deepEquals(one, other)

const nothing = (): void => undefined

/** What is counted is counted by the owner, which knows of settlements already. */
const metricsOf = (link: Link, { metrics }: Config): Gateway['metrics'] =>
  metrics.enabled
    ? {
        settled: () => undefined,
        refused: (wire, status, code) => link.send({ what: 'refused', wire, status, code }),
        counted: ({ wire, model, attempts, firstByteMs }, how) =>
          link.send({
            what: 'counted',
            request: { wire, model: { id: model.id }, attempts, ...(firstByteMs === undefined ? {} : { firstByteMs }) },
            how,
          }),
        unwritten: () => undefined,
        text: async () => '',
        told: async () => [],
      }
    : undefined
