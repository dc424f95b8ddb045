// The stores that one suite is run over: SQLite in a file, and PostgreSQL where there is one.

import { Database } from 'bun:sqlite'
import { openStore } from '../../src/store/sqlite/index.ts'
import type { Store } from '../../src/store/store.ts'
import { postgresMissing } from '../support/postgres.ts'
import { dropAll, newDatabase, nodeOn } from './postgres/support.ts'
import { cleanUp, NOW, newPath } from './support.ts'

/** What both have. */
export type AnyStore = Store

/** One database, which several processes may open. */
export type Place = {
  /** Another process on it. */
  open(clock?: () => number): Promise<AnyStore>
  count(table: string): Promise<number>
  sum(table: string, column: string): Promise<number>
}

type Kind = { name: string; isMissing: boolean; newPlace(): Promise<Place> }

const closing: { close(): unknown }[] = []

/** `ask`: for one number. */
const placeOf = (open: Place['open'], ask: (text: string) => Promise<number>): Place => ({
  open,
  count: (table) => ask(`SELECT count(*) AS n FROM ${table}`),
  sum: (table, column) => ask(`SELECT coalesce(sum(${column}), 0) AS n FROM ${table}`),
})

const IN_SQLITE: Kind = {
  name: 'SQLite',
  isMissing: false,
  newPlace: async () => {
    const path = newPath()
    const open: Place['open'] = async (clock = () => NOW) => {
      const store = openStore(path, { clock })
      closing.push(store)
      return store
    }
    return placeOf(open, async (text) => {
      using db = new Database(path, { readonly: true })
      return db.query<{ n: number }, []>(text).get()?.n ?? 0
    })
  },
}

const IN_POSTGRES: Kind = {
  name: 'PostgreSQL',
  isMissing: postgresMissing !== undefined,
  newPlace: async () => {
    const url = await newDatabase()
    const { client } = await nodeOn(url)
    return placeOf(
      (clock = () => NOW) => nodeOn(url, clock),
      async (text) => (await client.query<{ n: number }>(text))[0]?.n ?? 0,
    )
  },
}

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
