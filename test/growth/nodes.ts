// Several nodes over one PostgreSQL database, each a process of its own, as the compiled file where SLUICE_BINARY names it.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { FileConfig } from '../../src/config/schema.ts'
import { UTC } from '../../src/lib/calendar.ts'
import { openPostgres } from '../../src/store/postgres/open.ts'
import { launch, PROGRAM } from '../binary/support/process.ts'
import { type TestServer, testPostgres } from '../support/postgres.ts'
import { postgresBooks } from './books.ts'
import { type Fleet, fleetOf, letIn, type Node, nodeAt, type People, type Prepare } from './fleet.ts'

export type Nodes = Fleet & {
  /** The database. */
  store: string
  /** One more node. */
  start(): Promise<Node>
  /** The command line beside them: what it printed. */
  run(...words: string[]): Promise<string>
  query<R extends object>(text: string): Promise<R[]>
}

export type How = {
  /** The database as a node has it, where that is not the tests' own way to it. */
  store?: (url: string, index: number) => string
  env?: (index: number) => Record<string, string>
  program?: (index: number) => string[]
  /** Has the database, in place of the one that all tests use. */
  server?: TestServer
  /** Nobody has been let in yet. */
  isNew?: boolean
  /** The nodes find nothing there, not even tables. */
  isEmpty?: boolean
  prepare?: Prepare | undefined
}

export const startNodes = async (count: number, file: FileConfig, how: How = {}): Promise<Nodes> => {
  const database = await (how.server ?? (await testPostgres())).database()
  const root = mkdtempSync(join(tmpdir(), 'sluice-nodes-'))
  const made: Node[] = []
  const env = (index: number) => ({
    SLUICE_STORE: how.store?.(database.url, index) ?? database.url,
    ...how.env?.(index),
  })
  const people: People = { token: '', secret: '' }
  const prepare = async (): Promise<void> => {
    const opened = await openPostgres(database.url, { calendar: UTC })
    Object.assign(people, await letIn(opened, how.isNew))
    await how.prepare?.(opened)
    await opened.close()
  }
  if (how.isEmpty !== true) await prepare()

  let begun = 0
  const start = async (): Promise<Node> => {
    const index = begun++
    const directory = mkdtempSync(join(root, 'node-'))
    const content = { listen: { port: 0 }, drain: '1s', log: { level: 'warn' }, metrics: { enabled: true }, ...file }
    writeFileSync(join(directory, 'sluice.yaml'), JSON.stringify(content))
    const child = launch(how.program?.(index) ?? PROGRAM, ['serve'], directory, env(index))
    return nodeAt(await child.ready(), child, directory, people)
  }
  made.push(...(await Promise.all(Array.from({ length: count }, start))))
  if (how.isEmpty === true) await prepare()
  const reading = postgresBooks(database.url)
  const { killAll, ...fleet } = fleetOf(made, reading, people)
  return {
    ...fleet,
    store: how.store?.(database.url, 0) ?? database.url,
    async start() {
      const node = await start()
      made.push(node)
      return node
    },
    async run(...words) {
      const child = launch(PROGRAM, words, root, env(0))
      const code = await child.exited
      if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${await child.err}`)
      return child.out
    },
    query: (text) => reading.query(text),
    async stop() {
      await killAll()
      await reading.close()
      await database.drop()
      rmSync(root, { recursive: true, force: true })
    },
  }
}
