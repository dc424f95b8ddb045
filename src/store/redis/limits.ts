// The limits of keys over several nodes, counted in Valkey or Redis in place of their rows: in front of a node's books, which it
// asks for all else, and for the limits too while that server is away.

import type { Key, Keys, RateLimits } from '../../keys/key.ts'
import { limitsOf } from '../../ledger/limits.ts'
import type { Ask, AskOf, SharedNode, Verdict } from '../../ledger/shared.ts'
import { enteredVerdict, sumsOf } from '../rows/entered.ts'
import type { Window, Windows } from './windows.ts'

/** Whether any node says that the limits are counted in the database for now, so that all count in one place. */
type Switch = {
  /** Says so, for some seconds. */
  raise(): Promise<void>
  isRaised(): Promise<boolean>
}

type Options = {
  books: SharedNode
  windows: Windows
  keys: Pick<Keys, 'get'>
  /** This node's own, of one start of one process. */
  node: string
  /** For keys without limits of their own. */
  defaults: RateLimits
  shared: Switch
  /** They are counted elsewhere from now on. `cause`: why, where this node found it. */
  changed(isAway: boolean, cause?: unknown): void
  stopwatch?: () => number
}

export type LimitsElsewhere = SharedNode & {
  /** Whether they are counted in the database. */
  isAway(): boolean
  /** Tokens that a key's exchange came to. */
  settled(keyId: string, tokens: number): void
  /** Looks whether it has changed where they are counted, says who is still in, and what is still to be counted. */
  look(): Promise<void>
}

type Entered = { keyId: string; second: number; since: number }
type Uncounted = { requests: number; tokens: number; since: number }
/** Said under this number, and said again under it until it is heard. */
type Said = Uncounted & { keyId: string; number: number }

/** What is older counts against no limit any more. */
const MINUTE_MS = 60_000
/** How often those who are in say that they still are. */
const STAYS_MS = 2_000

export const createLimitsElsewhere = (options: Options): LimitsElsewhere => {
  const { books, windows, keys, node, defaults, shared, changed, stopwatch = () => performance.now() } = options
  /** Those that came in there, by id. */
  const entered = new Map<string, Entered>()
  /** By key: what is to be counted there. */
  const uncounted = new Map<string, Uncounted>()
  let unheard: Said[] = []
  let number = 0
  let isCounting = false
  let stayedAt = Number.NEGATIVE_INFINITY
  /** This node does not reach it. */
  let isLost = false
  let isAway = false

  const isNow = (next: boolean, cause?: unknown): void => {
    if (next === isAway) return
    isAway = next
    changed(next, cause)
  }
  const lose = (cause: unknown): void => {
    if (isLost) return
    isLost = true
    isNow(true, cause)
    void shared.raise().catch(nothing)
  }

  const toCount = (keyId: string, requests: number, tokens: number): void => {
    const at = uncounted.get(keyId) ?? { requests: 0, tokens: 0, since: stopwatch() }
    at.requests += requests
    at.tokens += tokens
    uncounted.set(keyId, at)
  }
  /** In order: a key's number only rises. */
  const count = async (): Promise<void> => {
    if (isCounting || isLost) return
    isCounting = true
    try {
      while (!isLost && unheard.length + uncounted.size > 0) {
        if (unheard.length === 0) {
          unheard = [...uncounted].map(([keyId, what]): Said => ({ ...what, keyId, number: ++number }))
          uncounted.clear()
        }
        const heard = await Promise.all(unheard.map(say))
        unheard = unheard.filter((_, at) => heard[at] !== true)
      }
    } finally {
      isCounting = false
    }
  }
  const say = async ({ keyId, requests, tokens, number, since }: Said): Promise<boolean> => {
    if (stopwatch() - since >= MINUTE_MS) return true
    try {
      await windows.count(keyId, { requests, tokens, node, number })
      return true
    } catch (cause) {
      lose(cause)
      return false
    }
  }

  type Enter = AskOf<'enter'>
  type Leave = AskOf<'leave'>

  const enterBooks = async (asks: readonly Enter[]): Promise<Verdict[]> => {
    const verdicts = await books.carry(asks)
    // There they count too, for when all is counted there again.
    for (const [i, { keyId }] of asks.entries()) if (isIn(verdicts[i])) toCount(keyId, 1, 0)
    void count()
    return verdicts
  }

  const enterKey = async (key: Key, asks: readonly Enter[]): Promise<Verdict[]> => {
    try {
      const ids = asks.map(({ id }) => id)
      const window = await windows.enter(key.id, limitsOf(key, defaults), ids)
      const second = Math.floor(window.now / 1_000)
      for (const [i, id] of ids.entries())
        if (window.said[i] === 'ok' || window.said[i] === 'in')
          entered.set(id, { keyId: key.id, second, since: stopwatch() })
      return verdictsOf(window, key, defaults)
    } catch (cause) {
      lose(cause)
      return enterBooks(asks)
    }
  }

  const enter = async (asks: readonly Enter[]): Promise<Verdict[]> => {
    const verdicts = new Array<Verdict>(asks.length)
    const byKey = new Map<Key | undefined, number[]>()
    for (const [at, { keyId }] of asks.entries()) {
      const key = isAway ? undefined : keys.get(keyId)
      byKey.set(key, [...(byKey.get(key) ?? []), at])
    }
    await Promise.all(
      [...byKey].map(async ([key, places]) => {
        const those = places.flatMap((at) => asks[at] ?? [])
        const said = key === undefined ? await enterBooks(those) : await enterKey(key, those)
        for (const [i, at] of places.entries()) verdicts[at] = said[i] ?? { lost: true }
      }),
    )
    return verdicts
  }

  /** Nobody waits for it: who does not say that they stay count no more soon. */
  const leave = (asks: readonly Leave[]): void => {
    const byKey = new Map<string, { ids: string[]; refunded: { id: string; second: number }[] }>()
    for (const { id, refund } of asks) {
      const at = entered.get(id)
      if (at === undefined || !entered.delete(id)) continue
      const those = byKey.get(at.keyId) ?? { ids: [], refunded: [] }
      if (refund) those.refunded.push({ id, second: at.second })
      else those.ids.push(id)
      byKey.set(at.keyId, those)
    }
    if (isLost) return
    for (const [keyId, { ids, refunded }] of byKey) void windows.leave(keyId, ids, refunded).catch(lose)
  }

  const stay = async (): Promise<void> => {
    const now = stopwatch()
    if (now - stayedAt < STAYS_MS) return
    stayedAt = now
    const byKey = new Map<string, string[]>()
    for (const [id, { keyId, since }] of entered) {
      if (now - since < STAYS_MS / 2) continue
      const ids = byKey.get(keyId) ?? []
      ids.push(id)
      byKey.set(keyId, ids)
    }
    await Promise.all([...byKey].map(([keyId, ids]) => windows.stay(keyId, ids))).catch(lose)
  }

  /** Whether it takes what is written again. */
  const tryAgain = async (): Promise<void> => {
    try {
      await windows.count('probe', { requests: 1, tokens: 0, node, number: ++number })
      isLost = false
    } catch {
      for (const [keyId, { since }] of uncounted) if (stopwatch() - since >= MINUTE_MS) uncounted.delete(keyId)
      await shared.raise()
    }
  }

  return {
    async carry(group) {
      const verdicts = new Array<Verdict>(group.length)
      const isHere = (ask: Ask): boolean => ask.do !== 'enter' && !(ask.do === 'leave' && entered.has(ask.id))
      const here = group.flatMap((ask, at) => (isHere(ask) ? [at] : []))
      const enters = group.flatMap((ask, at) => (ask.do === 'enter' ? [at] : []))
      const leaves = group.filter((ask): ask is Leave => ask.do === 'leave' && entered.has(ask.id))
      // What ends makes room for what begins: it goes out first.
      leave(leaves)
      const [said, decided] = await Promise.all([
        here.length === 0 ? [] : books.carry(here.flatMap((at) => group[at] ?? [])),
        enter(enters.map((at) => group[at] as Enter)),
      ])
      for (const at of group.keys()) verdicts[at] = {}
      for (const [i, at] of here.entries()) verdicts[at] = said[i] ?? { lost: true }
      for (const [i, at] of enters.entries()) verdicts[at] = decided[i] ?? { lost: true }
      return verdicts
    },
    isCrowded: () => books.isCrowded?.() ?? false,
    isAway: () => isAway,
    settled(keyId, tokens) {
      if (tokens <= 0) return
      toCount(keyId, 0, tokens)
      void count()
    },
    async look() {
      if (isLost) await tryAgain()
      if (isLost) return
      isNow(await shared.isRaised())
      await count()
      await stay()
    },
  }
}

const nothing = (): void => undefined

const isIn = (verdict: Verdict | undefined): boolean =>
  verdict !== undefined && verdict.error === undefined && verdict.lost !== true

/** How its windows stand for each in turn, those before it counted. */
const verdictsOf = (window: Window, key: Key, defaults: RateLimits): Verdict[] => {
  const { now, said } = window
  const second = Math.floor(now / 1_000)
  const { seconds, requests, tokens } = window
  const isLast = seconds.at(-1) === second
  const before = isLast ? (requests.at(-1) ?? 0) : 0
  let more = 0
  return said.map((word, at) => {
    if (word === 'ok') more++
    const counted = {
      seconds: isLast || more === 0 ? seconds : [...seconds, second],
      requests: more === 0 ? requests : [...(isLast ? requests.slice(0, -1) : requests), before + more],
      tokens: isLast || more === 0 ? tokens : [...tokens, 0],
    }
    return enteredVerdict(
      { at, said: word === 'in' ? 'ok' : word, now, ...sumsOf(counted) },
      { key, defaults, counted },
    )
  })
}
