// The breaker: which accounts are worth trying, by account and model, from what their last attempts came to.

import type { Clock } from './exchange.ts'

/** Failures within one or two windows of this length count together. */
const WINDOW_MS = 15_000
const MIN_ATTEMPTS = 5
const FAILURE_RATE = 0.5
/** How long an open breaker keeps traffic away before it lets one request through to see. */
const OPEN_MS = 10_000

export type BreakerState = 'closed' | 'open' | 'half-open'

/** What a target is known by: the account of a provider, and one model there. */
export const targetName = (provider: string, account: string, model: string): string =>
  `${provider}/${account}/${model}`

export type Health = {
  /** Whether an attempt may go there now. A half-open breaker lets one request through at a time. */
  allows(target: string): boolean
  /** Gives the time, by the breaker's own clock. */
  begin(target: string): number
  /** `begunAt`: an attempt from before the breaker opened says nothing of what is now. */
  succeeded(target: string, begunAt?: number): void
  /** `coolMs`: how long the provider asked to be left alone. */
  failed(target: string, coolMs?: number): void
  /** The attempt ended without a word about the account: the client left, or the request was at fault. */
  ended(target: string): void
  /**
   * Whose turn it is, best first, by weight: over any stretch each has its share to within one request, and between
   * equals the one with least in flight comes first. The first has had its turn then.
   */
  turns<Each extends Weighted>(targets: readonly Each[]): Each[]
  states(): { target: string; state: BreakerState; inFlight: number }[]
}

type Weighted = { name: string; account: { weight: number } }

type Circuit = {
  /** Attempts that ended well and badly in the window that began at `since`, and in the one before it. */
  since: number
  good: number
  bad: number
  goodBefore: number
  badBefore: number
  openedAt: number
  openUntil: number
  /** Whether it was told that it failed, so that it will be told that it answers. */
  told: boolean
  probing: boolean
  inFlight: number
  /** What it has been owed and has not had: its weight at every turn, less all of them at its own. */
  owed: number
}

/**
 * `clock`: one that is never set back, or a breaker would stay open for as long as it was set back by. `tell`: a target
 * has failed too often, or answers again; not of one that only asked to be left alone.
 */
export const createHealth = (
  clock: Clock = performance,
  tell: (target: string, answers: boolean) => void = () => undefined,
): Health => {
  const circuits = new Map<string, Circuit>()
  const circuit = (target: string): Circuit => {
    const known = circuits.get(target)
    if (known !== undefined) return known
    const fresh: Circuit = {
      since: clock.now(),
      good: 0,
      bad: 0,
      goodBefore: 0,
      badBefore: 0,
      openedAt: 0,
      openUntil: 0,
      told: false,
      probing: false,
      inFlight: 0,
      owed: 0,
    }
    circuits.set(target, fresh)
    return fresh
  }
  const leave = (target: string): Circuit => {
    const at = circuit(target)
    at.inFlight = Math.max(0, at.inFlight - 1)
    return at
  }
  const stateOf = (at: Circuit): BreakerState => {
    if (at.openUntil === 0) return 'closed'
    return clock.now() < at.openUntil ? 'open' : 'half-open'
  }

  return {
    allows: (target) => {
      const at = circuits.get(target)
      if (at === undefined || at.openUntil === 0) return true
      return stateOf(at) === 'half-open' && !at.probing
    },
    begin: (target) => {
      const at = circuit(target)
      at.inFlight++
      if (stateOf(at) === 'half-open') at.probing = true
      return clock.now()
    },
    succeeded: (target, begunAt = Number.POSITIVE_INFINITY) => {
      const at = leave(target)
      if (at.openUntil !== 0 && begunAt < at.openedAt) return
      // What was before an outage that is over counts no more.
      if (at.openUntil !== 0) at.bad = at.badBefore = 0
      at.openUntil = 0
      at.probing = false
      turn(at, clock.now())
      at.good++
      if (!at.told) return
      at.told = false
      tell(target, true)
    },
    failed: (target, coolMs) => {
      const at = leave(target)
      const now = clock.now()
      const wasProbe = at.probing
      at.probing = false
      turn(at, now)
      at.bad++
      const bad = at.bad + at.badBefore
      const total = bad + at.good + at.goodBefore
      const tripped = wasProbe || (bad >= MIN_ATTEMPTS && bad / total >= FAILURE_RATE)
      if (tripped || coolMs !== undefined) at.openedAt = now
      if (tripped) at.openUntil = now + OPEN_MS
      if (coolMs !== undefined) at.openUntil = Math.max(at.openUntil, now + coolMs)
      if (!tripped || at.told) return
      at.told = true
      tell(target, false)
    },
    ended: (target) => {
      leave(target).probing = false
    },
    turns: (targets) => {
      let all = 0
      const drawn = targets.map((target) => {
        const at = circuit(target.name)
        at.owed += target.account.weight
        all += target.account.weight
        return { target, at, lot: Math.random() }
      })
      drawn.sort((a, b) => b.at.owed - a.at.owed || a.at.inFlight - b.at.inFlight || a.lot - b.lot)
      const [first] = drawn
      if (first !== undefined) first.at.owed -= all
      return drawn.map(({ target }) => target)
    },
    states: () => [...circuits].map(([target, at]) => ({ target, state: stateOf(at), inFlight: at.inFlight })),
  }
}

/** Moves on to the window that holds `now`: two counts stand for a sliding one, whatever the traffic. */
const turn = (at: Circuit, now: number): void => {
  if (now < at.since + WINDOW_MS) return
  const next = now < at.since + 2 * WINDOW_MS
  at.goodBefore = next ? at.good : 0
  at.badBefore = next ? at.bad : 0
  at.good = 0
  at.bad = 0
  at.since = now
}
