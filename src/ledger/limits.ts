// Rate limits of a key: requests and tokens per minute over an exact sliding window, and requests at once.

import { GatewayError } from '../errors.ts'
import type { Wire } from '../ir/wire.ts'
import type { Key } from '../keys/key.ts'
import { limitHeaders } from './limit-headers.ts'
import { WINDOW_MS, Window } from './window.ts'

/** Per minute, per minute, at once; 0 is no limit. */
export type LimitDefaults = { rpm: number; tpm: number; concurrency: number }

/** `clock`: milliseconds since the epoch. `defaults` are for keys that set none of their own. */
export type LimitsOptions = { clock: () => number; defaults: LimitDefaults }

/** One admitted request. All calls are safe in any order and more than once. */
export type Ticket = {
  /** The request was refused by the gateway: it consumes nothing. Leaves as well. */
  refund(): void
  /** Tokens settled, counted in the window from now on. */
  tokens(count: number): void
  /** The request is over: its place is free. */
  leave(): void
  /** The limits' headers as of now; empty where no limit is set. */
  headers(wire: Wire): Record<string, string>
}

/** How one limit of a key stands. `resetMs`: until the window is empty again. */
export type Standing = { limit: number; remaining: number; resetMs: number }

/** Absent: not limited. */
export type KeyState = { requests?: Standing; tokens?: Standing; concurrency?: { limit: number; active: number } }

export type Limits = {
  /**
   * Throws `rate_limit_exceeded` with a truthful `retryAfterMs`, having counted nothing. Tokens count once settled:
   * what requests in flight will use is not known yet, so `tpm` admits while the settled minute is below it.
   */
  enter(key: Key): Ticket
  keyState(key: Key): KeyState
  /** What a refused request is told: the same headers a ticket gives. */
  headers(key: Key, wire: Wire): Record<string, string>
}

/** Nobody knows when a request in flight will end: worth another look after this long. */
const PLACE_RETRY_MS = 1_000

/** What a key has used lately; `active`: requests in flight. */
type Lately = { requests: Window; tokens: Window; active: number }

export const createLimits = ({ clock, defaults }: LimitsOptions): Limits => {
  const keys = new Map<string, Lately>()
  let last = 0
  let offset = 0
  let sweptAt = 0

  // A clock that is set back must neither stretch a window nor reorder it.
  const time = (): number => {
    const now = clock() + offset
    if (now < last) offset += last - now
    else last = now
    return last
  }

  const latelyOf = (key: Key, now: number): Lately => {
    if (now - sweptAt > WINDOW_MS) {
      sweptAt = now
      for (const [id, idle] of keys) {
        if (idle.active === 0 && idle.requests.sum(now) === 0 && idle.tokens.sum(now) === 0) keys.delete(id)
      }
    }
    let lately = keys.get(key.id)
    if (lately === undefined) {
      lately = { requests: new Window(), tokens: new Window(), active: 0 }
      keys.set(key.id, lately)
    }
    return lately
  }

  const keyState = (key: Key): KeyState => {
    const rpm = key.rpm ?? defaults.rpm
    const tpm = key.tpm ?? defaults.tpm
    const concurrency = key.concurrency ?? defaults.concurrency
    const state: KeyState = {}
    if (rpm === 0 && tpm === 0 && concurrency === 0) return state
    const now = time()
    const lately = keys.get(key.id)
    if (rpm > 0) state.requests = standing(lately?.requests, rpm, now)
    if (tpm > 0) state.tokens = standing(lately?.tokens, tpm, now)
    if (concurrency > 0) state.concurrency = { limit: concurrency, active: lately?.active ?? 0 }
    return state
  }

  const headers = (key: Key, wire: Wire): Record<string, string> => limitHeaders(keyState(key), wire, clock())

  return {
    enter(key) {
      const rpm = key.rpm ?? defaults.rpm
      const tpm = key.tpm ?? defaults.tpm
      const concurrency = key.concurrency ?? defaults.concurrency
      if (rpm === 0 && tpm === 0 && concurrency === 0) return UNLIMITED
      const now = time()
      const lately = latelyOf(key, now)
      const requestsMs = rpm > 0 ? lately.requests.waitFor(now, rpm) : 0
      const tokensMs = tpm > 0 ? lately.tokens.waitFor(now, tpm) : 0
      if (requestsMs > 0 || tokensMs > 0) {
        throw requestsMs >= tokensMs ? over(some(rpm, 'request'), requestsMs) : over(some(tpm, 'token'), tokensMs)
      }
      if (concurrency > 0 && lately.active >= concurrency) {
        throw new GatewayError(
          'rate_limit_exceeded',
          `This API key may have ${some(concurrency, 'request')} in flight at once. Try again when one is done.`,
          { retryAfterMs: PLACE_RETRY_MS },
        )
      }
      let inside = true
      let counted = rpm > 0
      if (counted) lately.requests.add(now, 1)
      lately.active++
      const leave = () => {
        if (inside) lately.active--
        inside = false
      }
      return {
        refund() {
          leave()
          if (counted) lately.requests.remove(now, 1)
          counted = false
        },
        tokens(count) {
          // A key that was idle for a while may have been swept: its window is looked up anew.
          if (count > 0) latelyOf(key, time()).tokens.add(last, count)
        },
        leave,
        headers: (wire) => headers(key, wire),
      }
    },
    keyState,
    headers,
  }
}

/** For keys without limits: nothing to count, nothing to say. */
const UNLIMITED: Ticket = { refund() {}, tokens() {}, leave() {}, headers: () => ({}) }

const standing = (window: Window | undefined, limit: number, now: number): Standing => ({
  limit,
  remaining: Math.max(0, limit - (window?.sum(now) ?? 0)),
  resetMs: window?.emptyIn(now) ?? 0,
})

const some = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

const over = (limit: string, retryAfterMs: number): GatewayError =>
  new GatewayError(
    'rate_limit_exceeded',
    `This API key has reached its limit of ${limit} per minute. Try again in ${Math.ceil(retryAfterMs / 1000)} s.`,
    { retryAfterMs },
  )
