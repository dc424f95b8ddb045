// The circuit breaker: which targets are worth trying, by account and model, from the outcome of their last attempts.

import type { Trouble } from '../errors.ts'

/** Failures within one or two windows of this length count together. */
const WINDOW_MS = 15_000
const MIN_ATTEMPTS = 5
const FAILURE_RATE = 0.5
/** How long an open breaker keeps traffic away before it lets one request through as a probe. */
const OPEN_MS = 10_000
/** The most of a provider's `Retry-After` that is honoured: some ask for days, and the account is topped up before. */
const MOST_OPEN_MS = 300_000

export type BreakerState = 'closed' | 'open' | 'half-open'

/** The breaker's name for a target: a provider's account and one model there. */
export const targetName = (provider: string, account: string, model: string): string =>
  `${provider}/${account}/${model}`

export type Health = {
  /** Whether an attempt may go there now. A half-open breaker lets one request through at a time. */
  allows(target: string): boolean
  /** Gives the time, by the breaker's own clock. */
  begin(target: string): number
  /** `begunAt`: the success of an attempt that began before the breaker opened does not close it. */
  succeeded(target: string, begunAt?: number): void
  /**
   * `retryAfterMs`: how long the provider asked to be left alone. The failure of an attempt that began before the breaker
   * opened tells nothing else that is new.
   */
  failed(target: string, begunAt: number, retryAfterMs?: number): void
  /** A stream whose beginning counted as a success was broken off by its provider: it counts as a failure instead. */
  brokeOff(target: string, retryAfterMs?: number): void
  /** A provider has said what is wrong with a target that only those who run the gateway can mend. A success clears it. `upstream`: the model's id there. */
  troubled(target: string, trouble: Trouble, upstream: string): void
  /** The attempt ended without saying anything about the target: the client disconnected, or the request was at fault. */
  ended(target: string, begunAt: number): void
  /**
   * Smooth weighted round robin: the targets in the order to try them. Over any stretch each comes first in proportion to
   * its weight, to within one request; between equals, the one with fewest attempts in flight. Each call counts as a use
   * of the first.
   */
  roundRobin<Each extends Weighted>(targets: readonly Each[]): Each[]
  /** One of them was chosen otherwise: that is a use of it all the same. */
  drawn<Each extends Weighted>(targets: readonly Each[], first: Each | undefined): void
  /** All targets whose names begin so are as if nothing had ever been sent to them. */
  forget(beginning: string): void
  /** How a target does; undefined for one that nothing was ever sent to. */
  standingOf(target: string): Standing | undefined
  states(): (Standing & { target: string })[]
}

/** `failing`: how many of the last attempts failed, one after the other, and when the first of them did, by `wall`. */
export type Standing = {
  state: BreakerState
  inFlight: number
  failing?: { times: number; since: number } | undefined
  trouble?: Trouble | undefined
}

/**
 * How a target does by the word of several: `open` where all that have tried it keep away, and `half-open` where only some
 * do.
 */
export const together = (standings: readonly Standing[]): Standing | undefined => {
  const [first] = standings
  if (first === undefined) return undefined
  const failing = standings.flatMap((one) => one.failing ?? [])
  const isAll = (state: BreakerState): boolean => standings.every((one) => one.state === state)
  return {
    state: isAll('open') ? 'open' : isAll('closed') ? 'closed' : 'half-open',
    inFlight: standings.reduce((sum, { inFlight }) => sum + inFlight, 0),
    failing:
      failing.length === 0
        ? undefined
        : {
            times: failing.reduce((sum, { times }) => sum + times, 0),
            since: Math.min(...failing.map(({ since }) => since)),
          },
    trouble: standings.find(({ trouble }) => trouble !== undefined)?.trouble,
  }
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
  /** Whether its opening was reported, so that its closing is reported too. */
  reported: boolean
  /** When the request that may look whether it answers again began. */
  probe: number | undefined
  /** Failures since the last success, and when the first of them was. */
  failures: number
  failingAt: number
  trouble: Trouble | undefined
  inFlight: number
  /** For the round robin: grows by its weight with each call, and falls by the sum of all weights when it comes first. */
  credit: number
}

/**
 * `clock`: monotonic, or a breaker would stay open for as long as the clock was set back by. `report`: a breaker has opened
 * because most attempts fail, or closed again; not called where a provider only asked to be left alone. `wall`: the time of
 * day, for people. `reportTrouble`: called once for each, until a success.
 */
export const createHealth = (
  clock: () => number = () => performance.now(),
  report: (target: string, answers: boolean) => void = () => undefined,
  wall: () => number = Date.now,
  reportTrouble: (target: string, trouble: Trouble, upstream: string) => void = () => undefined,
): Health => {
  const circuits = new Map<string, Circuit>()
  const circuit = (target: string): Circuit => {
    const known = circuits.get(target)
    if (known !== undefined) return known
    const made = fresh(clock())
    circuits.set(target, made)
    return made
  }
  const attemptEnded = (target: string, begunAt: number): Circuit => {
    const at = circuit(target)
    at.inFlight = Math.max(0, at.inFlight - 1)
    if (at.probe === begunAt) at.probe = undefined
    return at
  }
  const fail = (target: string, at: Circuit, wasProbe: boolean, retryAfterMs: number | undefined): void => {
    const now = clock()
    if (at.failures++ === 0) at.failingAt = wall()
    at.bad++
    const bad = at.bad + at.badBefore
    const total = bad + at.good + at.goodBefore
    const tripped = wasProbe || (bad >= MIN_ATTEMPTS && bad / total >= FAILURE_RATE)
    if (tripped || retryAfterMs !== undefined) at.openedAt = now
    if (tripped) at.openUntil = now + OPEN_MS
    if (retryAfterMs !== undefined) at.openUntil = Math.max(at.openUntil, now + Math.min(retryAfterMs, MOST_OPEN_MS))
    if (!tripped || at.reported) return
    at.reported = true
    report(target, false)
  }
  const isOld = (at: Circuit, begunAt: number): boolean => at.openUntil !== 0 && begunAt < at.openedAt
  const stateOf = (at: Circuit): BreakerState => {
    if (at.openUntil === 0) return 'closed'
    return clock() < at.openUntil ? 'open' : 'half-open'
  }
  const standing = (at: Circuit): Standing => ({
    state: stateOf(at),
    inFlight: at.inFlight,
    failing: at.failures === 0 ? undefined : { times: at.failures, since: at.failingAt },
    trouble: at.trouble,
  })

  const credited = <Each extends Weighted>(targets: readonly Each[]) =>
    targets.map((target) => {
      const at = circuit(target.name)
      at.credit += target.account.weight
      return { target, at }
    })

  return {
    allows: (target) => {
      const at = circuits.get(target)
      if (at === undefined || at.openUntil === 0) return true
      return stateOf(at) === 'half-open' && at.probe === undefined
    },
    begin: (target) => {
      const at = circuit(target)
      at.inFlight++
      const now = clock()
      if (stateOf(at) === 'half-open') at.probe ??= now
      return now
    },
    succeeded: (target, begunAt = Number.POSITIVE_INFINITY) => {
      const at = attemptEnded(target, begunAt)
      at.trouble = undefined
      if (isOld(at, begunAt)) return
      // Failures from before the outage ended count no more.
      if (at.openUntil !== 0) at.bad = at.badBefore = 0
      at.openUntil = 0
      at.probe = undefined
      at.failures = 0
      advance(at, clock())
      at.good++
      if (!at.reported) return
      at.reported = false
      report(target, true)
    },
    failed: (target, begunAt, retryAfterMs) => {
      const wasProbe = circuit(target).probe === begunAt
      const at = attemptEnded(target, begunAt)
      if (isOld(at, begunAt) && retryAfterMs === undefined) return
      advance(at, clock())
      fail(target, at, wasProbe, retryAfterMs)
    },
    brokeOff: (target, retryAfterMs) => {
      const at = circuit(target)
      // What broke with all else that failed must not prolong the rest, nor take its success from a probe.
      if (at.openUntil !== 0) return
      advance(at, clock())
      if (at.good > 0) at.good--
      else if (at.goodBefore > 0) at.goodBefore--
      fail(target, at, false, retryAfterMs)
    },
    troubled: (target, trouble, upstream) => {
      const at = circuit(target)
      if (at.trouble === trouble) return
      at.trouble = trouble
      reportTrouble(target, trouble, upstream)
    },
    ended: (target, begunAt) => void attemptEnded(target, begunAt),
    roundRobin: (targets) => {
      const ranked = credited(targets).map((each) => ({ ...each, lot: Math.random() }))
      ranked.sort((a, b) => b.at.credit - a.at.credit || a.at.inFlight - b.at.inFlight || a.lot - b.lot)
      const [first] = ranked
      if (first !== undefined) first.at.credit -= weightOf(targets)
      return ranked.map(({ target }) => target)
    },
    drawn: (targets, first) => {
      for (const { target, at } of credited(targets)) if (target === first) at.credit -= weightOf(targets)
    },
    forget: (beginning) => {
      for (const [target, at] of circuits) {
        if (!target.startsWith(beginning)) continue
        // Attempts under way will end: they are none of another account's.
        Object.assign(at, fresh(clock()), { inFlight: at.inFlight, credit: at.credit })
      }
    },
    standingOf: (target) => {
      const at = circuits.get(target)
      return at && standing(at)
    },
    states: () => [...circuits].map(([target, at]) => ({ target, ...standing(at) })),
  }
}

const weightOf = (targets: readonly Weighted[]): number => targets.reduce((sum, { account }) => sum + account.weight, 0)

const fresh = (now: number): Circuit => ({
  ...{ since: now, good: 0, bad: 0, goodBefore: 0, badBefore: 0 },
  ...{ openedAt: 0, openUntil: 0, reported: false, probe: undefined },
  ...{ failures: 0, failingAt: 0, trouble: undefined, inFlight: 0, credit: 0 },
})

/** Moves on to the window that holds `now`. Two windows approximate a sliding one at a fixed cost. */
const advance = (at: Circuit, now: number): void => {
  if (now < at.since + WINDOW_MS) return
  const next = now < at.since + 2 * WINDOW_MS
  at.goodBefore = next ? at.good : 0
  at.badBefore = next ? at.bad : 0
  at.good = 0
  at.bad = 0
  at.since = now
}
