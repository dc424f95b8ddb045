// The ledger of one process, shared by others: it carries out what they ask over its own ledger and limits.

import { GatewayError, unavailable } from '../errors.ts'
import { totalTokens } from '../ir/usage.ts'
import type { Key, Keys } from '../keys/key.ts'
import { unknownKey } from '../keys/secret.ts'
import { requireInForce } from '../keys/status.ts'
import type { SoFar } from './journal.ts'
import type { Begun, Ledger, Reservation, Resumed, Settlement } from './ledger.ts'
import type { Limits, Ticket } from './limits.ts'
import { lastKnown } from './settled.ts'
import { type Ask, type SharedLedger, type SharedReserve, toShared, type Verdict } from './shared.ts'

type OwnerOptions = {
  ledger: Pick<Ledger, 'reserve' | 'progress' | 'narrow' | 'settle' | 'requireLeft'>
  limits: Limits
  keys: Pick<Keys, 'get' | 'versionOf'>
  /** Reads what other processes have changed of the keys. */
  refresh(): void
  /** Milliseconds since the epoch. */
  clock(): number
  /** Whether one exchange more may be open. `open`: how many all nodes have. */
  hasRoom?(open: () => number): boolean
  /** What nodes that may still be running had open when the ledger was started anew. */
  left?: readonly Resumed[]
  /** Takes over an exchange whose answer goes on without its node; false where it does not. */
  takeOver?(left: Resumed, addTokens: (count: number) => void): boolean
  onSettled?(settled: OwnedSettlement): void
}

/** The end of a node's exchange. */
export type OwnedSettlement = {
  reservation: Reservation
  facts: Facts
  settlement: Settlement
  costMicroUsd: number
}

type Facts = Pick<Resumed, 'model' | 'wire' | 'stream' | 'inputEstimate' | 'pictures'>

export type OwnedLedger = SharedLedger & {
  /** Nobody is waited for any more: what was `left`, and no node runs, is settled. Returns how many that were. */
  settleLeft(): number
  /** How many exchanges the nodes have open. */
  openCount(): number
}

/** An exchange of a node. `reservation`: once it is durable. */
type Running = {
  keyId: string
  facts: Facts
  soFar: SoFar
  ticket: Ticket | undefined
  reservation?: Reservation
  reserving?: Promise<Verdict>
}

/** `ending`: of what it does not have any more, and that is not durable yet. */
type Node = {
  running: Map<string, Running>
  ending: Map<string, Promise<void>>
  tickets: Map<string, Ticket>
  isGone: boolean
}

export const createOwner = ({
  ledger,
  limits,
  keys,
  refresh,
  clock,
  hasRoom = () => true,
  left: leftOpen = [],
  takeOver = () => false,
  onSettled = () => undefined,
}: OwnerOptions): OwnedLedger => {
  const nodes = new Map<string, Node>()
  const left = new Map(leftOpen.map((each) => [each.reservation.exchangeId, each]))

  const openCount = (): number => [...nodes.values()].reduce((sum, { running }) => sum + running.size, left.size)
  const requireRoom = (): void => {
    if (!hasRoom(openCount)) throw unavailable('is busy', { cause: 'max_open_exchanges' })
  }

  const keyOf = (id: string): Key => {
    // The command line may have issued it a moment ago.
    if (keys.get(id) === undefined) refresh()
    const key = keys.get(id)
    if (key === undefined) throw unknownKey()
    return key
  }

  const enter = (node: Node, id: string, keyId: string): Verdict => {
    const key = keyOf(keyId)
    try {
      if (!node.tickets.has(id)) node.tickets.set(id, limits.enter(key))
      return { limits: limits.states(key) }
    } catch (thrown) {
      return { error: toShared(thrown), limits: limits.states(key) }
    }
  }

  const leave = (node: Node, id: string, refund: boolean): Verdict => {
    const ticket = node.tickets.get(id)
    if (refund) ticket?.refund()
    else ticket?.release()
    node.tickets.delete(id)
    return DONE
  }

  const reserve = async (node: Node, id: string, { keyId, keysSeen, leastInput, enters, ...asked }: SharedReserve) => {
    const key = keyOf(keyId)
    if (keys.versionOf(keyId) > keysSeen) return { again: 'key' } as const
    requireInForce(key, clock())
    const entered = enters ? enter(node, id, keyId) : DONE
    if (entered.error !== undefined) return entered
    requireRoom()
    const { model, wire, stream, inputEstimate, pictures } = asked
    const running: Running = {
      keyId,
      facts: { model, wire, stream, inputEstimate, pictures },
      soFar: { usage: {} },
      ticket: node.tickets.get(id),
    }
    const reserving = reserved(node, id, running, () =>
      ledger.reserve({
        ...asked,
        ...{ exchangeId: id, key },
        ...(leastInput === undefined ? {} : { leastInput: leastInput === 'later' ? workOut : () => leastInput }),
      }),
    )
    running.reserving = reserving
    return reserving
  }

  const reserved = async (
    node: Node,
    id: string,
    running: Running,
    ask: () => Promise<Reservation>,
  ): Promise<Verdict> => {
    node.running.set(id, running)
    const { ticket } = running
    const key = ticket && keys.get(running.keyId)
    const withLimits = (verdict: Verdict): Verdict =>
      key === undefined ? verdict : { ...verdict, limits: limits.states(key) }
    try {
      const reservation = await ask()
      running.reservation = reservation
      if (node.isGone && node.running.delete(id)) settleAlone(running)
      return withLimits({ reservation })
    } catch (thrown) {
      node.running.delete(id)
      return thrown === LATER ? { again: 'least-input' } : withLimits({ error: toShared(thrown) })
    }
  }

  const settle = async (node: Node, id: string, settlement: Settlement): Promise<Verdict> => {
    const running = node.running.get(id)
    // A node that waited in vain for its reservation gives it back.
    if (running?.reservation === undefined) await running?.reserving?.catch(() => undefined)
    const reservation = running?.reservation
    if (running !== undefined && reservation !== undefined && node.running.delete(id)) {
      const ending = close(running, reservation, settlement)
      node.ending.set(id, ending)
      void ending.then(() => node.ending.delete(id))
    }
    // What is not known any more is settled: a node asks again where it has not heard what came of it.
    await node.ending.get(id)
    return DONE
  }

  const close = ({ facts, ticket }: Running, reservation: Reservation, settlement: Settlement): Promise<void> => {
    const { costMicroUsd, written } = ledger.settle(reservation, settlement)
    ticket?.addTokens(totalTokens(settlement.usage))
    onSettled({ reservation, facts, settlement, costMicroUsd })
    return written
  }

  /** For one that nobody will say any more of: by its last figures, as after a start. */
  const settleAlone = (running: Running, begun?: Begun): void => {
    const { reservation, facts, soFar, ticket } = running
    if (reservation === undefined) return
    if (takeOver({ reservation, ...facts, ...soFar, begun }, (count) => ticket?.addTokens(count))) return
    void close(running, reservation, {
      ...lastKnown({ ...facts, ...soFar }),
      ...{ status: 500, totalMs: Math.max(0, clock() - reservation.startedAt) },
    })
  }

  const carryOut = async (node: Node, ask: Ask): Promise<Verdict> => {
    try {
      if (ask.do === 'reserve') return await (node.running.get(ask.id)?.reserving ?? reserve(node, ask.id, ask.ask))
      if (ask.do === 'settle') return await settle(node, ask.id, ask.settlement)
      if (ask.do === 'enter') return enter(node, ask.id, ask.keyId)
      if (ask.do === 'look') {
        await ledger.requireLeft(keyOf(ask.keyId))
        return DONE
      }
      if (ask.do === 'leave') return leave(node, ask.id, ask.refund)
      const running = node.running.get(ask.id)
      if (running?.reservation === undefined) return DONE
      if (ask.do === 'let-go') {
        if (node.running.delete(ask.id)) settleAlone(running, ask.begun)
      } else if (ask.do === 'narrow') ledger.narrow(running.reservation, ask.tokens)
      else {
        running.soFar = { usage: ask.usage, serverTools: ask.serverTools }
        ledger.progress(running.reservation, ask.usage, ask.serverTools)
      }
      return DONE
    } catch (thrown) {
      return { error: toShared(thrown) }
    }
  }

  return {
    openCount,
    join(name, ids) {
      const node = nodes.get(name) ?? newNode()
      nodes.set(name, node)
      const still = new Set(ids)
      for (const [id, running] of node.running)
        if (!still.has(id) && running.reservation !== undefined && node.running.delete(id)) settleAlone(running)
      for (const id of ids) {
        const known = left.get(id)
        if (known === undefined || !left.delete(id)) continue
        node.running.set(id, runningOf(known))
      }
      return {
        carry: (group) =>
          node.isGone
            ? Promise.reject(new GatewayError('service_unavailable', 'This node has been counted as gone.'))
            : Promise.all(group.map((ask) => carryOut(node, ask))),
      }
    },
    gone(name) {
      const node = nodes.get(name)
      if (node === undefined) return
      nodes.delete(name)
      node.isGone = true
      for (const [id, running] of node.running)
        if (running.reservation !== undefined && node.running.delete(id)) settleAlone(running)
      for (const ticket of node.tickets.values()) ticket.release()
    },
    settleLeft() {
      const alone = [...left.values()]
      left.clear()
      for (const each of alone) settleAlone(runningOf(each))
      return alone.length
    },
  }
}

const DONE: Verdict = {}

const newNode = (): Node => ({ running: new Map(), ending: new Map(), tickets: new Map(), isGone: false })

const runningOf = ({ reservation, usage, serverTools, ...facts }: Resumed): Running => ({
  ...{ keyId: reservation.keyId, facts, soFar: { usage, serverTools }, ticket: undefined, reservation },
})

/** Thrown where the least that a prompt takes would have to be known, which only its node can tell. */
const LATER = new Error('the least input is to be worked out')
const workOut = (): never => {
  throw LATER
}
