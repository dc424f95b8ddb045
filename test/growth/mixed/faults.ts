// What fails by lot: processes, their networks, the database, the store of limits.

import { setTimeout as later } from 'node:timers/promises'
import type { Chance } from '../../../scripts/fuzz/chance.ts'
import { killWhole, launch, PROGRAM } from '../../binary/support/process.ts'
import type { OwnServer } from '../../support/postgres.ts'
import type { Proxy as Line } from '../../support/proxy.ts'
import type { TestRedis } from '../../support/redis.ts'
import { type Fleet, type Node, nodeAt } from '../fleet.ts'
import type { Nodes } from '../nodes.ts'
import { kill, partOf, partsOf } from '../parts.ts'

/** By its name, each until it is over; whether all serve again is for the caller to see. */
export type Faults = Readonly<Record<string, () => Promise<unknown>>>

/** `slots`: those that run, each in its place. `start`: another in this place. `still`: how long what stands still does. */
type OfNodes = {
  chance: Chance
  nodes: Nodes
  slots: Node[]
  start(slot: number): Promise<Node>
  lines: readonly Line[]
  server: OwnServer
  redis: TestRedis
  stillMs: number
}

export const faultsOfNodes = ({ chance, nodes, slots, start, lines, server, redis, stillMs }: OfNodes): Faults => {
  const any = (): number => chance.below(slots.length)
  const end = async (slot: number, signal: NodeJS.Signals): Promise<void> => {
    const child = slots[slot]?.child
    child?.kill(signal)
    await child?.exited
    await later(chance.below(stillMs / 4))
    slots[slot] = await start(slot)
  }
  const silent = async (silenced: readonly Line[]): Promise<void> => {
    const how = chance.pick(['late', 'lost'] as const)
    for (const line of silenced) line.silence(how)
    await later(stillMs)
    for (const line of silenced) line.speak()
  }
  return {
    'a node is killed': () => end(any(), 'SIGKILL'),
    'a node stands still': async () => {
      const { child } = slots[any()] as Node
      child.kill('SIGSTOP')
      await later(stillMs)
      child.kill('SIGCONT')
    },
    'nodes are replaced one by one': async () => {
      for (const slot of slots.keys()) await end(slot, 'SIGTERM')
    },
    'all are told to read their files': async () => {
      for (const { child } of slots) child.kill('SIGHUP')
    },
    'the database is restarted': () => server.restart('fast'),
    'the database crashes': () => server.restart('immediate'),
    'the way of one to the database is silent': () => silent([lines[any()] as Line]),
    'all ways to the database are silent': () => silent(lines),
    'connections are cut': async () => {
      const when = chance.pick(['before', 'after'] as const)
      for (const line of lines) line.cuts = { when, every: 9 }
      await later(stillMs / 2)
      for (const line of lines) line.cuts = undefined
    },
    'the rows of keys are locked': () =>
      nodes.query(`WITH locked AS MATERIALIZED (SELECT id FROM keys FOR UPDATE)
        SELECT pg_sleep(${stillMs / 1_000}) FROM (SELECT count(*) FROM locked) AS one`),
    'the store of limits is lost': async () => {
      await redis.halt()
      await later(chance.below(stillMs))
      await redis.start()
    },
  }
}

type OfWorkers = { chance: Chance; fleet: Fleet; stillMs: number }

/** Of several processes over one file. */
export const faultsOfWorkers = ({ chance, fleet, stillMs }: OfWorkers): Faults => {
  const child = () => fleet.at(0).child
  const again = async (): Promise<void> => {
    const { directory } = fleet.at(0)
    const started = launch(PROGRAM, ['serve'], directory)
    fleet.all[0] = nodeAt(await started.ready(), started, directory, fleet)
  }
  return {
    'a worker is killed': () => kill(partOf(child(), 'worker')),
    'the owner of the books is killed': () => kill(partOf(child(), 'owner')),
    'a process stands still': async () => {
      const { pid } = chance.pick(partsOf(child()))
      process.kill(pid, 'SIGSTOP')
      await later(Math.min(stillMs, 7_000))
      process.kill(pid, 'SIGCONT')
    },
    'it is told to read its file': async () => child().kill('SIGHUP'),
    'all are killed': async () => {
      await killWhole(child())
      await again()
    },
    'it is stopped and started': async () => {
      child().kill('SIGTERM')
      await child().exited
      await again()
    },
  }
}
