// The owner's side of several processes: it keeps the books for the workers, passes on what one of them learns to the
// others, and tells them what has changed.

import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../config.ts'
import type { Gateway } from '../../gateway.ts'
import type { Resumed } from '../../ledger/ledger.ts'
import type { Limits } from '../../ledger/limits.ts'
import { createOwner, type OwnedSettlement } from '../../ledger/owner.ts'
import type { SharedNode } from '../../ledger/shared.ts'
import { type Channel, listenAt } from '../../lib/channel.ts'
import { type Figures, healthWith, type Workers } from '../../observe/workers.ts'
import type { Ended, Summary } from '../../relay/exchange.ts'
import { ownBooksIn, reportRecovered } from '../own-books.ts'
import type { Apart } from '../serve.ts'
import { BOOKS, DOOR, type FromOwner, type FromWorker, hearing, type Part, sharing } from './messages.ts'

/** How often it is looked for changes that workers have to hear of. */
const LOOK_MS = 50
/** How long a worker may take to say how it goes. */
const HOW_MS = 500
/**
 * At so many looks workers that were there before are waited for: by then one that hangs has been ended, and another is there.
 * Time in which this process stood still is no look.
 */
const BACK_LOOKS = 15
const BACK_LOOK_MS = 1_000
/** A connection that is lost while its process goes on may come back for so long. */
const LOST_MS = 10_000

/** `hasEnded`: it says nothing more than what is on its way. */
type Worker = { name: string; channel: Channel; node: SharedNode; figures: Figures | undefined; hasEnded: boolean }

export const createApart = ({ dir, count, serves, number, again }: Part): Apart & { gone(name: string): void } => {
  // An owner that was killed has left its own behind.
  for (const name of [BOOKS, DOOR]) rmSync(join(dir, name), { force: true })
  let limits: Limits | undefined
  let leave = (_name: string): void => undefined
  return {
    doors: { file: join(dir, DOOR), serves },
    processes: count + 1,
    worker: serves ? number : undefined,
    othersRun: again,
    books: (store) => async (own) => {
      const books = await ownBooksIn(store)(own)
      limits = books.limits
      return books
    },
    gone: (name) => leave(name),
    begin(gateway, { resume, report }) {
      if (limits === undefined) throw new Error('the books are made before they are shared')
      const hub = createHub(gateway, limits, { dir, count, serves, again, resume, report })
      leave = hub.ended
      return hub
    },
  }
}

type HubOptions = Pick<Part, 'dir' | 'count' | 'serves' | 'again'> & {
  /** Goes on with the answer of an exchange in the background; false where it has none. */
  resume(left: Resumed, onSettled: (summary: Summary) => void): boolean
  report(exchange: Ended, summary: Summary): void
}

const createHub = (gateway: Gateway, limits: Limits, options: HubOptions) => {
  const { dir, count, serves, again, resume, report } = options
  const { store, ledger, clock } = gateway
  const workers = new Map<string, Worker>()
  const lost = new Map<string, ReturnType<typeof setTimeout>>()
  const owned = createOwner({
    ...{ ledger, limits, keys: store.keys, clock, left: again ? ledger.resumed : [] },
    hasRoom(open) {
      const most = gateway.config.maxOpenExchanges
      return most === 0 || open() + (serves ? gateway.open.size + gateway.arriving.count : 0) < most
    },
    // One that fails is made again by the watch.
    refresh: () => void store.refresh().catch(() => undefined),
    takeOver: (left, addTokens) =>
      resume(left, ({ tokens }) => addTokens(tokens.input + tokens.cacheRead + tokens.cacheWrite + tokens.output)),
    onSettled: (settled) => report(...endOf(gateway, settled)),
  })
  const asked = new Map<number, () => void>()
  let last = 0
  const askOne = ({ channel }: Worker): Promise<void> =>
    new Promise((resolve) => {
      const n = last++
      const end = (): void => {
        clearTimeout(late)
        asked.delete(n)
        resolve()
      }
      const late = setTimeout(end, HOW_MS)
      asked.set(n, end)
      channel.send({ what: 'how', n } satisfies FromOwner)
    })
  const observed: Workers = {
    open: owned.openCount,
    figures: () => [...workers.values()].flatMap(({ figures }) => figures ?? []),
    ask: async () => void (await Promise.all([...workers.values()].map(askOne))),
    async tell() {
      if (look()) await observed.ask()
    },
  }
  gateway.health = healthWith(gateway.health, observed)
  gateway.workers = observed

  const tell = (message: FromOwner, but?: Worker): void => {
    for (const worker of workers.values()) if (worker !== but) worker.channel.send(message)
  }
  const { affinity, continued } = gateway
  Object.assign(gateway, sharing(gateway, tell))
  const state = () => ({
    changes: store.keys.changes(),
    catalogue: gateway.catalogue,
    settings: gateway.settings.values(),
  })
  let seen = state()
  /** Tells of what has changed since; false where nothing has. */
  const look = (): boolean => {
    const now = state()
    const isConfigured = now.catalogue === seen.catalogue && now.settings === seen.settings
    const isKnown = now.changes === seen.changes
    seen = now
    if (!isConfigured) tell({ what: 'config', config: gateway.config })
    if (!isKnown) tell({ what: 'look' })
    return !isConfigured || !isKnown
  }
  const gone = (name: string): void => {
    clearTimeout(lost.get(name))
    lost.delete(name)
    owned.gone(name)
  }

  const waitFor = (name: string): void => {
    lost.set(
      name,
      setTimeout(() => gone(name), LOST_MS),
    )
  }
  /** It is gone once all that it said on its way is heard. */
  const ended = (name: string): void => {
    const worker = workers.get(name)
    if (worker === undefined) gone(name)
    else {
      worker.hasEnded = true
      waitFor(name)
    }
  }

  /** Workers that were there before the owner was say what they still have; then the rest is settled. */
  let looks = 0
  const lookForAll = (): void => {
    if (++looks === BACK_LOOKS) settleLeft()
  }
  let waitingForAll = again ? setInterval(lookForAll, BACK_LOOK_MS) : undefined
  waitingForAll?.unref()
  const settleLeft = (): void => {
    if (waitingForAll === undefined) return
    clearInterval(waitingForAll)
    waitingForAll = undefined
    reportRecovered(gateway.log, owned.settleLeft())
  }

  const hearsOf = (worker: Worker) => {
    const say = (answer: FromOwner): void => worker.channel.send(answer)
    return hearing<Exclude<FromWorker, { what: 'hello' }>>({
      ask({ n, group }) {
        // It has made another connection, and says there what it wants to be carried out.
        if (workers.get(worker.name) !== worker) {
          say({ what: 'verdicts', n, verdicts: group.map(() => ({ lost: true })) })
          return
        }
        worker.node.carry(group).then(
          (verdicts) => say({ what: 'verdicts', n, verdicts }),
          () => say({ what: 'fenced' }),
        )
      },
      keep({ n, answer }) {
        const kept = store.background.keep(answer).catch(() => undefined)
        void kept.then(() => say({ what: 'done', n }))
      },
      figures({ n, figures }) {
        worker.figures = figures
        asked.get(n)?.()
      },
      refused: ({ wire, status, code }) => gateway.metrics?.refused(wire, status, code),
      refusal: ({ refusal }) => gateway.refusals.add(refusal),
      counted: ({ request, how }) => gateway.metrics?.counted(request, how),
      placed(message) {
        affinity.remember(message.name, message.account, message.forMs)
        tell(message, worker)
      },
      continues(message) {
        continued.remember(message.keyId, message.answerId, message.tokens)
        tell(message, worker)
      },
    })
  }

  const books = listenAt(join(dir, BOOKS), (channel) => {
    let worker: Worker | undefined
    let hear: ReturnType<typeof hearsOf> | undefined
    return {
      heard(data) {
        const message = data as FromWorker
        if (message.what !== 'hello') {
          hear?.(message)
          return
        }
        const { name, running } = message
        clearTimeout(lost.get(name))
        lost.delete(name)
        worker = { name, channel, node: owned.join(name, running), figures: undefined, hasEnded: false }
        workers.set(name, worker)
        hear = hearsOf(worker)
        channel.send({ what: 'welcome', config: gateway.config } satisfies FromOwner)
        if (gateway.draining) channel.send({ what: 'stop' } satisfies FromOwner)
        if (workers.size >= count) settleLeft()
      },
      closed() {
        if (worker === undefined || workers.get(worker.name) !== worker) return
        const { name, hasEnded } = worker
        workers.delete(name)
        // What starts them says when it has ended.
        if (hasEnded) gone(name)
        else waitFor(name)
      },
    }
  })

  const looking = setInterval(look, LOOK_MS)
  looking.unref()

  return {
    ended,
    async stop(forMs: number) {
      tell({ what: 'stop' })
      const end = performance.now() + forMs
      while (workers.size > 0 && performance.now() < end) await Bun.sleep(10)
      for (const name of [...workers.keys(), ...lost.keys()]) gone(name)
      settleLeft()
      clearInterval(looking)
      books.close()
    },
  }
}

/** The end of a worker's exchange, for the metrics and the live views. */
const endOf = (
  { store }: Gateway,
  { reservation, facts, settlement, costMicroUsd }: OwnedSettlement,
): [Ended, Summary] => {
  const { exchangeId: id, keyId, startedAt } = reservation
  const { model, wire, stream } = facts
  const { outcome, status, errorCode, usage, estimated, totalMs, firstByteMs, trail = [], dropped = [] } = settlement
  const { input = 0, cacheRead = 0, cacheWrite = 0, output = 0, reasoning = 0 } = usage
  return [
    {
      ...{ id, key: store.keys.get(keyId) ?? { id: keyId, label: keyId }, wire, stream, startedAt },
      ...{ model: { id: model }, attempts: [...trail], dropped: [...dropped] },
      ...(firstByteMs === undefined ? {} : { firstByteMs }),
    },
    {
      ...{ outcome, status, errorCode, tokens: { input, cacheRead, cacheWrite, output } },
      ...{ reasoning, costMicroUsd, estimated, totalMs },
    },
  ]
}

/** A worker's part of the memory that all of them may hold together; the owner has one of its own. */
export const shareOf = (config: Config, count: number): Config => ({
  ...config,
  maxMemoryBytes: Math.floor(config.maxMemoryBytes / (count + 1)),
})
