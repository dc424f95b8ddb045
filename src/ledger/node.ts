// The ledger and the limits of a process that shares them with others: everything is asked of the shared ledger, in groups,
// as many of them under way at a time as there may be.

import { unavailable } from '../errors.ts'
import type { Key, Keys, RateLimits } from '../keys/key.ts'
import { createRecent } from '../lib/recent.ts'
import { PATIENCE_MS } from '../store/patience.ts'
import { costOf, type Prices } from './cost.ts'
import { wholeCounts } from './figures.ts'
import type { SoFar } from './journal.ts'
import type { Begun, Ledger, Reservation, ReserveAsk, Resumed, Settlement } from './ledger.ts'
import { type Limited, limitHeaders } from './limit-headers.ts'
import { type GatewayLimits, isLimited, type Ticket, UNLIMITED } from './limits.ts'
import { type Ask, type AskOf, fromShared, type SharedNode, type SharedReserve, type Verdict } from './shared.ts'
import type { Timers } from './writer.ts'

type NodeOptions = {
  node: SharedNode
  keys: Pick<Keys, 'versionOf'>
  /** Reads what other processes have changed of the keys. */
  refresh(): unknown
  /** Milliseconds since the epoch. */
  clock(): number
  /** For keys without limits of their own. */
  defaults: RateLimits
  prices(): Prices
  timers: Timers
  /** Whether a request may come in with its reservation, and need not be asked for before. */
  entersLate?: boolean
  /** How long the end of an answer waits for a ledger that is there and says nothing; as for one that is not, by default. */
  silentMs?: number
  /** How many groups are under way at once; more than one where what is asked for waits for a network. 1 by default. */
  groups?: number
}

export type NodeLedger = {
  ledger: Ledger
  limits: GatewayLimits
  /** The exchanges that it has, those included of which it waits to say how they ended. */
  running(): string[]
  /** An exchange of another node, which is this one's from now on. */
  adopt(exchange: Resumed): void
  /** The exchange goes on without this node. `soFar`: as far as is known. */
  letGo(exchangeId: string, soFar: SoFar, begun: Begun): void
  /** Resolves once all that was to be said is said and heard. */
  said(): Promise<void>
}

/** How long a request waits for the verdict on it. */
const VERDICT_MS = 5_000
/** How often it is looked for what has waited too long. Waits go by looks: time in which this process stood still is nobody's wait. */
const LOOK_MS = 500
/** Between two tries while the shared ledger cannot be reached. */
const RETRY_MS = 50
/** The most asked at once. */
const GROUP = 512
/** Progress waits this long, so that much of a stream is said at once. */
const PROGRESS_MS = 250
/** How often a request is asked again, for a key that changes each time or a prompt that is worked out. */
const MOST_ROUNDS = 8
/** How many keys are remembered with how their limits stand. */
const MOST_TOLD = 10_000

/** `keep`: said again until it is heard. `lost`: what came of it nobody knows. `late`: it has waited for `mostMs`, or what is kept for as long as patience lasts while the ledger could not be reached. */
type Item = {
  ask: Ask
  keep: boolean
  /** How often it was looked at while it waited, and how often of that the ledger could not be reached. */
  looks: number
  unreached: number
  mostMs: number
  done(verdict: Verdict): void
  lost(): void
  late(): void
}
type Open = { keyId: string; prices: Prices; model: string; held: number }

export const createNodeLedger = ({
  node,
  keys,
  refresh,
  clock,
  defaults,
  prices,
  timers,
  entersLate = false,
  silentMs = PATIENCE_MS,
  groups = 1,
}: NodeOptions): NodeLedger => {
  const open = new Map<string, Open>()
  const progress = new Map<string, SoFar>()
  const told = createRecent<string, Limited>(MOST_TOLD)
  /** Requests that come in with their reservation, which is not asked for yet. */
  const entering = new Set<string>()
  let queue: Item[] = []
  const underWay = new Set<Item[]>()
  /** How much they have. */
  let carried = 0
  let turnDue = false
  let paused = false
  let progressDue = false
  let lookDue = false
  const heard: (() => void)[] = []

  /** Groups that wait for the same rows are better off together: a second one goes for more than twice as much. */
  const mayGo = (): boolean =>
    underWay.size === 0 ||
    (underWay.size < groups && node.isCrowded?.() !== true && queue.length >= Math.min(GROUP, 2 * carried))

  const pump = (): void => {
    turnDue = false
    while (!paused && queue.length > 0 && mayGo()) {
      const group = queue.slice(0, GROUP)
      queue = queue.slice(group.length)
      underWay.add(group)
      carried += group.length
      void carry(group)
    }
    if (underWay.size === 0 && queue.length === 0) for (const resolve of heard.splice(0)) resolve()
  }
  const carry = async (group: Item[]): Promise<void> => {
    let verdicts: Verdict[] | undefined
    try {
      verdicts = await node.carry(group.map(({ ask }) => ask))
    } catch {
      // It is not known of any of them.
    }
    underWay.delete(group)
    carried -= group.length
    const lost: Item[] = []
    for (const [i, item] of group.entries()) {
      const verdict = verdicts?.[i]
      if (verdict === undefined || verdict.lost === true) lost.push(item)
      else item.done(verdict)
    }
    if (lost.length > 0) {
      for (const item of lost) if (!item.keep) item.lost()
      // In front of what the lost ones have given to say.
      queue = [...lost.filter(({ keep }) => keep), ...queue]
      if (!paused) timers.later(resume, RETRY_MS)
      paused = true
    }
    // What those that were waited for ask next goes along.
    if (queue.length > 0 || heard.length > 0) pumpSoon()
  }
  const pumpSoon = (): void => {
    if (turnDue) return
    turnDue = true
    timers.soon(pump)
  }
  const resume = (): void => {
    paused = false
    pump()
  }
  const inCarrying = (): Item[] => [...underWay].flat()
  const look = (): void => {
    const waiting = [...inCarrying(), ...queue]
    for (const item of waiting) if (hasWaited(item)) item.late()
    lookDue = waiting.length > 0
    if (lookDue) timers.later(look, LOOK_MS)
  }
  /** The first look may come at once. */
  const hasWaited = (item: Item): boolean => {
    const unreached = paused && item.keep ? item.unreached++ : 0
    return item.looks++ * LOOK_MS >= item.mostMs || unreached * LOOK_MS >= PATIENCE_MS
  }
  const push = (item: Omit<Item, 'looks' | 'unreached'>): void => {
    queue.push({ ...item, looks: 0, unreached: 0 })
    if (!lookDue) {
      lookDue = true
      timers.later(look, LOOK_MS)
    }
    if (underWay.size < groups && !paused) pumpSoon()
  }
  /** Said until it is heard. */
  const say = (ask: Ask, done: () => void = nothing): void =>
    push({ ask, keep: true, mostMs: silentMs, done, lost: nothing, late: done })

  /** What must be known before the request goes on. `undo` is said where it went on without the verdict. */
  const heardOf = (ask: Ask, ...undo: readonly Ask[]): Promise<Verdict> =>
    new Promise((resolve, reject) => {
      let isOver = false
      const end = (act: () => void): void => {
        if (isOver) return
        isOver = true
        act()
      }
      const giveUp = (): void =>
        end(() => {
          const words = 'cannot reach its ledger'
          reject(unavailable(words, { retryAfterMs: 1_000, cause: 'the owner of the ledger does not answer' }))
        })
      push({
        ask,
        ...{ keep: false, mostMs: VERDICT_MS, late: giveUp },
        done: (verdict) => {
          if (!isOver) end(() => resolve(verdict))
          else for (const each of undo) say(each)
        },
        lost: () => {
          for (const each of undo) say(each)
          giveUp()
        },
      })
    })

  const remember = (keyId: string, { limits }: Verdict): void => {
    if (limits !== undefined) told.set(keyId, limits)
  }
  const headersOf = (keyId: string, wire: Parameters<typeof limitHeaders>[1]): Record<string, string> =>
    limitHeaders(told.get(keyId) ?? {}, wire, clock())

  const ticketOf = (id: string, key: Key): Ticket => {
    let left: AskOf<'leave'> | undefined
    const leave = (refund: boolean): void => {
      if (entering.delete(id)) return
      if (left !== undefined) {
        // Said in one turn: it has not gone out yet.
        left.refund ||= refund
        return
      }
      left = { do: 'leave', id, keyId: key.id, refund }
      say(left)
    }
    return {
      release: () => leave(false),
      refund: () => leave(true),
      // They are counted where the exchange is settled.
      addTokens: nothing,
      headers: (wire) => headersOf(key.id, wire),
    }
  }

  const enter = async ({ id: keyId }: Key, id: string): Promise<void> => {
    const verdict = await heardOf({ do: 'enter', id, keyId }, { do: 'leave', id, keyId, refund: true })
    remember(keyId, verdict)
    if (verdict.error !== undefined) throw fromShared(verdict.error)
  }
  const enterLater = (key: Key, id: string): Ticket => {
    entering.add(id)
    return {
      ...ticketOf(id, key),
      enterAlone: async () => {
        if (entering.delete(id)) await enter(key, id)
      },
    }
  }

  /** Asks until it is decided. */
  const decided = async (asked: ReserveAsk): Promise<Reservation> => {
    const { exchangeId: id, key, leastInput, recheck } = asked
    const enters = entering.delete(id)
    let ask = sharedOf(asked, keys.versionOf(key.id), enters)
    // Who has left by then, for want of an answer, may have come in since.
    const undo: Ask[] = enters ? [{ do: 'leave', id, keyId: key.id, refund: true }] : []
    for (let round = 0; round < MOST_ROUNDS; round++) {
      const verdict = await heardOf({ do: 'reserve', id, ask }, { do: 'settle', id, settlement: GIVEN_BACK }, ...undo)
      remember(key.id, verdict)
      if (verdict.error !== undefined) throw fromShared(verdict.error)
      if (verdict.reservation !== undefined) return verdict.reservation
      if (verdict.again === 'key') {
        await refresh()
        await recheck?.()
        ask = { ...ask, keysSeen: keys.versionOf(key.id) }
      } else if (leastInput !== undefined) ask = { ...ask, leastInput: leastInput() }
    }
    throw unavailable('is busy', { cause: 'the key of a request changes all the time' })
  }

  const sayProgress = (): void => {
    progressDue = false
    for (const [id, soFar] of progress) say({ do: 'progress', id, ...soFar })
    progress.clear()
  }

  const ledger: Ledger = {
    resumed: [],
    recovered: 0,
    async reserve(asked) {
      const reservation = await decided(asked)
      const { exchangeId, key, model } = asked
      open.set(exchangeId, { keyId: key.id, model, prices: prices(), held: reservation.reserved })
      return reservation
    },
    progress({ exchangeId: id }, usage, serverTools) {
      if (!open.has(id)) return
      progress.set(id, { usage: wholeCounts(usage), serverTools })
      if (progressDue) return
      progressDue = true
      timers.later(sayProgress, PROGRESS_MS)
    },
    narrow({ exchangeId: id }, tokens) {
      const exchange = open.get(id)
      if (exchange === undefined || tokens >= exchange.held) return
      exchange.held = tokens
      say({ do: 'narrow', id, tokens })
    },
    settle({ exchangeId: id }, settlement) {
      const exchange = open.get(id)
      if (exchange === undefined) throw new Error(`exchange ${id} is settled already`)
      open.delete(id)
      progress.delete(id)
      const { promise: written, resolve } = Promise.withResolvers<void>()
      // No answer is held for ever by a ledger that cannot be reached: it is let go when this is late.
      say({ do: 'settle', id, settlement }, resolve)
      const { model, prices } = exchange
      const usage = wholeCounts(settlement.usage)
      return {
        costMicroUsd: costOf(usage, settlement, prices(settlement.model ?? model), prices).costMicroUsd,
        written,
      }
    },
    openCount(keyIds) {
      return keyIds === undefined ? open.size : [...open.values()].filter(({ keyId }) => keyIds.has(keyId)).length
    },
    isStuck: () => paused,
    heldBy: (id) => [...open.values()].reduce((sum, { keyId, held }) => sum + (keyId === id ? held : 0), 0),
    // What budgets hold is the owner's to say.
    heldOf: () => NOTHING_HELD,
    async requireLeft(key) {
      const verdict = await heardOf({ do: 'look', id: '', keyId: key.id })
      if (verdict.error !== undefined) throw fromShared(verdict.error)
    },
    flush: async () => undefined,
  }

  return {
    ledger,
    limits: {
      enter(key, id, reserves = false) {
        if (!isLimited(key, defaults)) return UNLIMITED
        return entersLate && reserves ? enterLater(key, id) : enter(key, id).then(() => ticketOf(id, key))
      },
      headers: (key, wire) => headersOf(key.id, wire),
    },
    running: () => [
      ...open.keys(),
      ...[...inCarrying(), ...queue].flatMap(({ ask }) => (ask.do === 'settle' || ask.do === 'let-go' ? [ask.id] : [])),
    ],
    adopt({ reservation: { exchangeId, keyId, reserved }, model }) {
      open.set(exchangeId, { keyId, model, prices: prices(), held: reserved })
    },
    letGo(id, { usage, serverTools }, begun) {
      if (!open.delete(id)) return
      progress.delete(id)
      say({ do: 'progress', id, usage: wholeCounts(usage), serverTools })
      say({ do: 'let-go', id, begun })
    },
    said: () =>
      new Promise((resolve) => {
        heard.push(resolve)
        pump()
      }),
  }
}

/** With each member named, so that none that is added is forgotten below. */
type Complete = { [K in keyof Required<SharedReserve>]: SharedReserve[K] }

/** One literal: what is left of a request when some of it is taken out costs several times as much. */
const sharedOf = (asked: ReserveAsk, keysSeen: number, enters: boolean): SharedReserve =>
  ({
    keyId: asked.key.id,
    keysSeen,
    leastInput: asked.leastInput === undefined ? undefined : 'later',
    enters: enters ? true : undefined,
    model: asked.model,
    fallbacks: asked.fallbacks,
    classes: asked.classes,
    wire: asked.wire,
    stream: asked.stream,
    address: asked.address,
    tag: asked.tag,
    inputEstimate: asked.inputEstimate,
    outputCap: asked.outputCap,
    maxOutput: asked.maxOutput,
    answers: asked.answers,
    pictures: asked.pictures,
    leastOutput: asked.leastOutput,
    fixed: asked.fixed,
  }) satisfies Complete

const NOTHING_HELD = { tokens: 0, microUsd: 0 }

const nothing = (): void => undefined

/** Nothing was done with it: no provider was called. */
const GIVEN_BACK: Settlement = {
  ...{ outcome: 'failed', usage: {}, estimated: false, status: 503, errorCode: 'service_unavailable' },
  ...{ attempts: 0, totalMs: 0 },
}
