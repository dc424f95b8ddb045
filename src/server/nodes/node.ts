// One of several nodes: a gateway whose books a database keeps for all of them, and what it does beside serving.

import { hostname } from 'node:os'
import type { Gateway, MakesBooks } from '../../gateway.ts'
import { totalTokens } from '../../ir/usage.ts'
import { randomBase62 } from '../../keys/secret.ts'
import type { BackgroundAnswer } from '../../ledger/background.ts'
import { PROCESS_TIMERS } from '../../ledger/create.ts'
import type { Resumed } from '../../ledger/ledger.ts'
import { createNodeLedger, type NodeLedger } from '../../ledger/node.ts'
import { type Books, createBooks } from '../../store/postgres/books.ts'
import type { PostgresStore } from '../../store/postgres/open.ts'
import type { Together } from '../../store/together.ts'
import { noteZone, reportRefused, setBudget } from '../own-books.ts'
import { createFigures } from './figures.ts'
import { followOthers } from './following.ts'
import { startHousekeeping } from './housekeeping.ts'
import { createNodeLimits, type NodeLimits } from './limits.ts'

/** How long the last settlements may take to be heard. */
const SAID_MS = 5_000
/** How soon settings that were changed at another node are in force here. */
const SETTINGS_MS = 500
/** Groups under way at once: what is asked for waits for the network and the disk of another machine. */
const GROUPS = 2

/** Goes on with the answer of an exchange that another node had. */
type Resume = (left: Resumed, answer: BackgroundAnswer) => void

export type Node = {
  name: string
  books: MakesBooks
  together: Together
  begin(gateway: Gateway, resume: Resume): Promise<Running>
}

type Running = {
  /** Others keep house from now on. */
  leave(): Promise<void>
  /** All is said that was to be said, and others need not wait for the lease to end. */
  stop(): Promise<void>
}

/** Of one start of one process: what it held is taken over once it has ended, whatever begins in its place. */
const nodeName = (): string => `${hostname().slice(0, 40)}-${randomBase62(6)}`

export const createNode = (store: PostgresStore): Node => {
  const name = nodeName()
  const { client, keys, budgets, refresh } = store
  const figures = createFigures(client)
  let made: { own: NodeLedger; books: Books } | undefined
  let limits: NodeLimits | undefined
  const begun = Promise.withResolvers<Resume>()

  const takeOver = async (left: Resumed): Promise<boolean> => {
    const answer = await store.background.of(left.reservation.exchangeId)
    if (answer === undefined) return false
    const resume = await begun.promise
    made?.own.adopt(left)
    resume(left, answer)
    return true
  }

  return {
    name,
    together: {
      ...{ jobs: store.jobs, attempts: store.attempts, setupLinks: store.setupLinks, clock: store.clock },
      catchUp: async () => void (await Promise.all([store.catchUp(), figures.refresh()])),
      limitsAway: () => limits?.isAway(),
    },
    async books({ config, log, prices, clock, failed }) {
      await setBudget({ config, store })
      await noteZone({ config, store, log, clock })
      const shared = { keys, refresh, clock, prices, defaults: config.limits }
      const { limitsStore: url } = config
      const counted =
        url === undefined ? undefined : createNodeLimits({ url, store, node: name, defaults: config.limits, log })
      limits = counted
      const books = createBooks({
        ...shared,
        ...{ client, node: name, budgets, calendar: config.calendar, takeOver },
        onFailure: failed,
        onRefused: reportRefused(log),
        ...(counted === undefined ? {} : { countsTokens: counted.isAway }),
        onSettled: ({ open, settlement }) => counted?.settled(open.keyId, totalTokens(settlement.usage)),
      })
      await books.start()
      const node = counted === undefined ? books : await counted.of(books)
      const own = createNodeLedger({
        ...{ ...shared, node, timers: PROCESS_TIMERS, groups: GROUPS },
        entersLate: counted === undefined,
      })
      made = { own, books }
      const { heldBy, heldOf, openCount } = figures
      return { limits: own.limits, ledger: { ...own.ledger, heldBy, heldOf, openCount } }
    },
    async begin(gateway, resume) {
      begun.resolve(resume)
      gateway.background = { ...gateway.background, isOpenElsewhere: (id) => isOpen(store, id) }
      const housekeeping = await startHousekeeping({ jobs: store.jobs, node: name })
      gateway.isKeeper = housekeeping.isMine
      const stopFollowing = followOthers(gateway)
      const stopSettings = followSettings(gateway)
      return {
        leave: housekeeping.stop,
        async stop() {
          stopFollowing()
          stopSettings()
          await Promise.race([made?.own.said(), Bun.sleep(SAID_MS)])
          await made?.books.stop()
          limits?.stop()
        },
      }
    },
  }
}

/** Whether an exchange is in flight, at whichever node. */
const isOpen = async (store: PostgresStore, id: string): Promise<boolean> => {
  const [found] = await store.exchanges({ limit: 1, id })
  return found !== undefined && found.endedAt === null && found.refusal === null
}

const followSettings = ({ settings, log }: Gateway): (() => void) => {
  let failing = false
  const look = async (): Promise<void> => {
    try {
      await settings.refresh()
      failing = false
    } catch (cause) {
      if (!failing) log.warn('settings could not be read: tried again', { cause: String(cause) })
      failing = true
    }
  }
  const rounds = setInterval(() => void look(), SETTINGS_MS).unref()
  return () => clearInterval(rounds)
}
