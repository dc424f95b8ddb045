// The stores that one suite is run over: SQLite in a file, and PostgreSQL where there is one.

import { Database } from 'bun:sqlite'
import type { Prices } from '../../src/ledger/cost.ts'
import { PROCESS_TIMERS } from '../../src/ledger/create.ts'
import type { Reservation, ReserveAsk, Settlement } from '../../src/ledger/ledger.ts'
import { createNodeLedger } from '../../src/ledger/node.ts'
import { type Calendar, UTC } from '../../src/lib/calendar.ts'
import { createBooks } from '../../src/store/postgres/books.ts'
import { type Client, createClient } from '../../src/store/postgres/client.ts'
import type { PostgresStore } from '../../src/store/postgres/open.ts'
import { openStore } from '../../src/store/sqlite/index.ts'
import type { SqliteStore, Store } from '../../src/store/store.ts'
import { bench, PRICE } from '../ledger/support.ts'
import { postgresMissing } from '../support/postgres.ts'
import { dropAll, newDatabase, nodeOn } from './postgres/support.ts'
import { cleanUp, NOW, newPath } from './support.ts'

/** What both have. */
export type AnyStore = Store

/** Of a process that serves: what it writes of exchanges. */
export type Books = {
  reserve(ask: ReserveAsk): Promise<Reservation>
  settle(reservation: Reservation, settlement: Settlement): void
  /** Resolves once all is in the database. */
  written(): Promise<void>
}

type Opening = { clock?: () => number; calendar?: Calendar; prices?: Prices }
export type Serving = { store: AnyStore; books: Books; close(): Promise<void> }

/** One database, which several processes may open. */
export type Place = {
  /** Another process on it. */
  open(clock?: () => number, calendar?: Calendar): Promise<AnyStore>
  /** Another process, which serves. In a file there is one at a time. */
  serve(options?: Opening): Promise<Serving>
  count(table: string): Promise<number>
  sum(table: string, column: string): Promise<number>
  run(text: string): Promise<unknown>
}

/** `once`: for one process, which opens it once. `runs`: of a law that asks the database much. */
type Kind = { name: string; isMissing: boolean; newPlace(how?: 'once'): Promise<Place>; runs(most: number): number }

const closing: { close(): unknown }[] = []

/** A store of a test may be closed before it ends. */
const closedOnce = <T extends { close(): Promise<void> }>(store: T): T => {
  let closed: Promise<void> | undefined
  const once = { ...store, close: () => (closed ??= store.close()) }
  closing.push(once)
  return once
}

const IN_SQLITE: Kind = {
  name: 'SQLite',
  isMissing: false,
  runs: (most) => most,
  newPlace: async (how) => {
    const path = how === 'once' ? ':memory:' : newPath()
    const open = (clock = () => NOW, calendar = UTC): SqliteStore => closedOnce(openStore(path, { clock, calendar }))
    const ask = async (text: string): Promise<number> => {
      using db = new Database(path, { readonly: true })
      return db.query<{ n: number }, []>(text).get()?.n ?? 0
    }
    return {
      open: async (clock, calendar) => open(clock, calendar),
      async serve({ clock = () => NOW, calendar = UTC, prices = () => PRICE } = {}) {
        const store = open(clock, calendar)
        const { ledger, reserve } = bench(store, { clock, prices })
        const books: Books = { reserve, settle: ledger.settle, written: ledger.flush }
        return { store, books, close: store.close }
      },
      ...figuresBy(ask),
      async run(text) {
        using db = new Database(path)
        db.run(text)
      },
    }
  },
}

const IN_POSTGRES: Kind = {
  name: 'PostgreSQL',
  isMissing: postgresMissing !== undefined,
  // Each is a question or more to another process.
  runs: (most) => Math.ceil(most / 10),
  newPlace: async () => {
    const url = await newDatabase()
    let made: Client | undefined
    const client = (): Client => {
      made ??= closedOnce(createClient(url, { max: 1 }))
      return made
    }
    return {
      open: (clock = () => NOW, calendar = UTC) => nodeOn(url, clock, calendar),
      async serve({ clock = () => NOW, calendar = UTC, prices = () => PRICE } = {}) {
        const store = await nodeOn(url, clock, calendar)
        return serveOn(store, { clock, calendar, prices })
      },
      ...figuresBy(async (text) => (await client().query<{ n: number }>(text))[0]?.n ?? 0),
      run: (text) => client().query(text),
    }
  },
}

let nodes = 0
const serveOn = async (store: PostgresStore, { clock, calendar, prices }: Required<Opening>): Promise<Serving> => {
  const { client, keys, budgets, refresh } = store
  const shared = { keys, refresh, clock, prices: () => prices, defaults: NO_LIMITS }
  const node = createBooks({ ...shared, client, node: `node-${nodes++}`, budgets, calendar })
  await node.start()
  const { ledger, said } = createNodeLedger({ ...shared, node, timers: PROCESS_TIMERS, groups: 2 })
  const own = closedOnce({
    async close() {
      await said()
      await node.stop()
      await store.close()
    },
  })
  return { store, books: { reserve: ledger.reserve, settle: ledger.settle, written: said }, close: own.close }
}
const NO_LIMITS = { rpm: 0, tpm: 0, concurrency: 0 }

/** `ask`: for one number. */
const figuresBy = (ask: (text: string) => Promise<number>): Pick<Place, 'count' | 'sum'> => ({
  count: (table) => ask(`SELECT count(*) AS n FROM ${table}`),
  sum: (table, column) => ask(`SELECT coalesce(sum(${column}), 0) AS n FROM ${table}`),
})

/** For `describe.each`: the name first. A suite skips those that are missing. */
export const STORES: [string, Kind][] = [IN_SQLITE, IN_POSTGRES]
  .filter(({ isMissing }) => !isMissing)
  .map((kind) => [kind.name, kind])

/** Each test file gives it to its own `afterEach`. */
export const closeAll = async (): Promise<void> => {
  for (const store of closing.splice(0)) await store.close()
  await cleanUp()
  await dropAll()
}
