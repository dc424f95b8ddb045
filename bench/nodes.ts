// A node over PostgreSQL beside the same gateway over its file, in turns: what of the database costs whom.

import { createClient } from '../src/store/postgres/client.ts'
import { type OwnServer, startPostgres } from '../test/support/postgres.ts'
import { askOf, CASES, type Case, probe } from './cases.ts'
import { type NodeFigures, spread } from './figures.ts'
import type { Bench } from './measure.ts'
import { cpuOfServer, cpuUs, type Server } from './processes.ts'

export type Database = {
  url: string
  /** Microseconds that all processes of the server that are there have used. */
  cpuUs(): number
  stop(): Promise<void>
}

/** As a server is set up that keeps what it is given. */
export const KEEPS = ['fsync=on', 'full_page_writes=on']

export const startDatabase = async (): Promise<Database> => {
  const server: OwnServer = await startPostgres(KEEPS)
  const { url } = await server.database()
  const client = createClient(url)
  const [backend] = await client.query<{ pid: number }>('SELECT pg_backend_pid() AS pid')
  const used = cpuOfServer(backend?.pid ?? 0)
  return {
    url,
    cpuUs: used,
    async stop() {
      await client.close()
      await server.stop()
    },
  }
}

/** Small answers and streams: what of each the ledger is a part of. */
export const NODE_CASES: readonly Case[] = CASES.filter(({ id }) => id === 'a' || id === 'b')

/** Each gateway has a key of its own. */
export const measureNode = async (
  { generator, pace, provider, key }: Bench,
  one: Case,
  { file, node, database }: { file: Server; node: Server & { key: string }; database: Database },
): Promise<NodeFigures> => {
  const kind = one.question.stream ? 'stream' : 'json'
  await provider.control({ mode: 'answer' })
  const contend = async (server: Server, secret: string) => {
    const ask = askOf(one.question, server.port, secret)
    const [complete] = await probe(one.question, ask, provider)
    return { pid: server.pid, ask, complete, costs: [] as number[] }
  }
  const all = [await contend(file, key), await contend(node, node.key)] as const
  const ofDatabase: number[] = []
  const run = async ({ pid, ask, complete, costs }: (typeof all)[number], windowMs: number): Promise<void> => {
    const before = [cpuUs(pid), database.cpuUs()] as const
    const { answers } = await generator.load({ kind, ask, connections: one.connections, windowMs, complete })
    if (answers === 0) throw new Error(`case ${one.id}: no answer within ${windowMs} ms`)
    costs.push((cpuUs(pid) - before[0]) / answers)
    if (pid === node.pid) ofDatabase.push((database.cpuUs() - before[1]) / answers)
  }
  for (const side of all) await run(side, pace.warmUpMs)
  for (const { costs } of all) costs.length = 0
  ofDatabase.length = 0
  for (let round = 0; round < pace.rounds; round++)
    for (const side of round % 2 === 0 ? all : all.toReversed()) await run(side, pace.windowMs)
  const [{ costs: ofFile }, { costs: ofNode }] = all
  return {
    ...{ id: one.id, name: one.name, fileUs: spread(ofFile).median, nodeUs: spread(ofNode).median },
    databaseUs: spread(ofDatabase).median,
    ratio: spread(ofNode.map((cost, round) => cost / (ofFile[round] || 1))),
  }
}
