// A ledger that several nodes share, for tests: nodes and the owner can be killed, the lines between them fail, and time
// passes when the test says.

import type { Key, NewKey } from '../../../src/keys/key.ts'
import { createLedger } from '../../../src/ledger/create.ts'
import type { Ledger, ReserveAsk } from '../../../src/ledger/ledger.ts'
import { createLimits, type Limits, type Ticket } from '../../../src/ledger/limits.ts'
import { createNodeLedger, type NodeLedger } from '../../../src/ledger/node.ts'
import { createOwner, type OwnedLedger } from '../../../src/ledger/owner.ts'
import type { Timers } from '../../../src/ledger/writer.ts'
import { openStore } from '../../../src/store/sqlite/index.ts'
import type { SqliteStore } from '../../../src/store/store.ts'
import type { ExchangeRow } from '../../../src/store/usage.ts'
import { ACTOR, NOW, newKey } from '../../store/support.ts'
import { ask, PRICE } from '../support.ts'
import { createLine, type Line } from './faults.ts'

const DEFAULTS = { rpm: 0, tpm: 0, concurrency: 0 }

export type Clock = { ms: number }

/** Timers that end with what they belong to; `later` runs when the test says. */
export const mortal = () => {
  let alive = true
  let due: (() => void)[] = []
  const timers: Timers = {
    soon: (run) => setImmediate(() => alive && run()),
    later: (run) => due.push(run),
  }
  return {
    timers,
    wait() {
      for (const run of due.splice(0)) if (alive) run()
    },
    kill() {
      alive = false
      due = []
    },
  }
}

type Owner = {
  store: SqliteStore
  ledger: Ledger
  limits: Limits
  shared: OwnedLedger
  life: ReturnType<typeof mortal>
}

/** A node as the model sees it. */
export type PlayedNode = NodeLedger & {
  name: string
  line: Line
  alive: boolean
  /** Enters and reserves, as a request does. */
  begin(
    key: Key,
    more?: Partial<ReserveAsk>,
  ): { id: string; ticket: Promise<Ticket>; reserving: ReturnType<Ledger['reserve']> }
}
export type TestNode = PlayedNode & { life: ReturnType<typeof mortal> }

type Ended = Pick<ExchangeRow, 'id' | 'keyId' | 'outcome' | 'input' | 'output' | 'inputEstimate'>

/** What the model plays with, whatever keeps the books. */
export type Playable = {
  keyIds: readonly string[]
  clock: Clock
  nodes: PlayedNode[]
  key(at: number): Key
  turns(): Promise<void>
  wait(ms?: number): Promise<void>
  /** Whatever keeps the books ends, and is there again. */
  restart(): Promise<void>
  killNode(at: number): void | Promise<void>
  finish(): Promise<void>
  close(): void | Promise<void>
  revoke(at: number): void | Promise<void>
  standing(keyId: string): Standing | Promise<Standing>
  openCount(): number | Promise<number>
  exchanges(): Ended[] | Promise<Ended[]>
  /** As a request that nobody has asked for otherwise. */
  enter(at: number): unknown
}
type Standing = { used: number; held: number; total: number; rpm: number | undefined }

/** Begins as a request does: what is refused at the door asks for nothing. Every other comes in with its reservation. */
export const beginAt = (ledger: NodeLedger): PlayedNode['begin'] => {
  let begun = 0
  return (key, more = {}) => {
    const asked = ask(key, more)
    const isLate = begun++ % 2 === 0
    const entering = (async () => ledger.limits.enter(key, asked.exchangeId, isLate))()
    const reserving = entering.then(async (at) => {
      try {
        return await ledger.ledger.reserve(asked)
      } catch (refused) {
        at.refund()
        throw refused
      }
    })
    const ticket = entering.then((at) => (at.enterAlone === undefined ? at : reserving.then(() => at)))
    ticket.catch(() => undefined)
    reserving.catch(() => undefined)
    return { id: asked.exchangeId, ticket, reserving }
  }
}

const startOwner = (path: string, clock: Clock, isRestart: boolean): Owner => {
  const store = openStore(path, { clock: () => NOW + clock.ms })
  const life = mortal()
  const ledger = createLedger({
    store,
    clock: () => NOW + clock.ms,
    prices: () => () => PRICE,
    timers: life.timers,
    isResumed: () => isRestart,
  })
  const limits = createLimits({ clock: () => NOW + clock.ms, stopwatch: () => clock.ms, defaults: DEFAULTS })
  const shared = createOwner({
    ...{ ledger, limits, keys: store.keys, left: ledger.resumed, clock: () => NOW + clock.ms },
    refresh: () => void store.refresh(),
  })
  return { store, ledger, limits, shared, life }
}

export type World = Awaited<ReturnType<typeof createWorld>>

export const createWorld = async (
  path: string,
  given: Partial<NewKey>[],
  nodeCount: number,
  more: { silentMs?: number } = {},
) => {
  const clock: Clock = { ms: 0 }
  const outside = openStore(path, { clock: () => NOW + clock.ms })
  const keyIds = await Promise.all(given.map(async (one) => (await outside.keys.issue(newKey(one), ACTOR)).key.id))
  let owner = startOwner(path, clock, false)
  /** The nodes' own view of the keys. */
  const seen = openStore(path, { clock: () => NOW + clock.ms })
  let made = 0

  const newNode = (): TestNode => {
    const name = `node-${made++}`
    const line = createLine()
    const life = mortal()
    const ledger = createNodeLedger({
      ...{ node: line, keys: seen.keys, refresh: () => void seen.refresh(), defaults: DEFAULTS },
      ...{ clock: () => NOW + clock.ms, prices: () => () => PRICE, timers: life.timers },
      entersLate: true,
      ...more,
    })
    line.to = owner.shared.join(name, [])
    return {
      ...ledger,
      ...{ name, line, life, alive: true },
      begin: beginAt(ledger),
    }
  }
  const nodes = Array.from({ length: nodeCount }, newNode)
  const world = {
    keyIds,
    clock,
    outside,
    nodes,
    owner: () => owner,
    key: (at: number): Key => {
      const key = seen.keys.get(keyIds[at] ?? '')
      if (key === undefined) throw new Error('there is no such key')
      return key
    },
    /** Lets all that is under way go as far as it can without time passing. */
    async turns(most = 12) {
      for (let i = 0; i < most; i++) await new Promise<void>((resolve) => setImmediate(resolve))
    },
    /** Time passes for everybody. */
    async wait(ms = 0) {
      clock.ms += ms
      owner.life.wait()
      for (const node of nodes) if (node.alive) node.life.wait()
      await world.turns()
    },
    /** As by kill -9: what is not written is lost. */
    async killOwner() {
      owner.life.kill()
      for (const node of nodes) node.line.end()
      await owner.store.close()
    },
    restartOwner() {
      owner = startOwner(path, clock, true)
      for (const node of nodes) if (node.alive) node.line.to = owner.shared.join(node.name, node.running())
      owner.shared.settleLeft()
    },
    async restart() {
      await world.killOwner()
      await world.turns()
      world.restartOwner()
    },
    async revoke(at: number) {
      await owner.store.keys.revoke(keyIds[at] ?? '', ACTOR)
    },
    standing(id: string) {
      const key = owner.store.keys.get(id)
      if (key === undefined) throw new Error('the key is gone')
      return { used: key.tokensUsed, held: owner.ledger.heldBy(id), total: key.tokensTotal, rpm: key.rpm }
    },
    openCount: () => owner.ledger.openCount(),
    exchanges: () => owner.store.exchanges({ limit: 10_000 }),
    enter: (at: number) => owner.limits.enter(world.key(at)),
    /** Another takes its place. */
    killNode(at: number) {
      const node = nodes[at]
      if (node === undefined) return
      node.alive = false
      node.life.kill()
      node.line.end()
      owner.shared.gone(node.name)
      nodes[at] = newNode()
    },
    /** Until everybody has said all, and all of it is written. */
    async finish() {
      for (const node of nodes) node.line.heal()
      for (let i = 0; i < 40; i++) await world.wait(100)
      await Promise.all(nodes.map((node) => node.said()))
      await owner.ledger.flush()
    },
    async close() {
      owner.life.kill()
      for (const node of nodes) node.life.kill()
      await owner.store.close()
      await seen.close()
      await outside.close()
    },
  }
  return world
}
