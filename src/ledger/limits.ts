// Rate limits of a key: requests and tokens per minute over an exact sliding window, and requests at once.

import { GatewayError } from '../errors.ts'
import type { Wire } from '../ir/wire.ts'
import type { Key, RateLimits } from '../keys/key.ts'
import { type Limited, type LimitState, limitHeaders } from './limit-headers.ts'
import { WINDOW_MS, Window } from './window.ts'

/**
 * `clock`: milliseconds since the epoch, for headers that name a time. `stopwatch`: milliseconds, by which the windows go: it
 * is never set. `defaults` are for keys that set none of their own.
 */
type LimitsOptions = { clock: () => number; stopwatch: () => number; defaults: RateLimits }

/** One admitted request. Its functions may be called in any order and more than once. */
export type Ticket = {
  /** The gateway refused the request: it counts against no limit. Releases it too. */
  refund(): void
  /** Counts settled tokens in the window, from now on. */
  addTokens(count: number): void
  /** The request has ended: it no longer counts as in flight. */
  release(): void
  /** The rate-limit headers as of now; empty where no limit is set. */
  headers(wire: Wire): Record<string, string>
  /** Of one that comes in with its reservation, where none is made after all: throws as `enter` would have. */
  enterAlone?(): Promise<void>
}

export type Limits = {
  /**
   * Throws `rate_limit_exceeded` with a truthful `retryAfterMs`, having counted nothing. Tokens count once settled:
   * what requests in flight will use is not known yet, so `tpm` admits while the settled tokens of the minute are below it.
   */
  enter(key: Key): Ticket
  /** The rate-limit headers for a refused request, as a ticket gives them. */
  headers(key: Key, wire: Wire): Record<string, string>
  /** How they stand now. */
  states(key: Key): Limited
}

/**
 * The limits of a process that is one of several, which are asked for elsewhere: `id` is the request's. `reserves`: it is about
 * to make its reservation, with which it may come in.
 */
export type GatewayLimits = Pick<Limits, 'headers'> & {
  enter(key: Key, id: string, reserves?: boolean): Ticket | Promise<Ticket>
}

/** When a request in flight will end is not known: a client should try again after this long. */
const CONCURRENCY_RETRY_MS = 1_000

/** What a key has used in the last minute. `active`: requests in flight. */
type KeyUsage = { requests: Window; tokens: Window; active: number }

export const createLimits = ({ clock, stopwatch, defaults }: LimitsOptions): Limits => {
  const keys = new Map<string, KeyUsage>()
  let sweptAt = 0

  // Whole, as amounts of one millisecond share an entry of a window.
  const time = (): number => Math.floor(stopwatch())

  const usageOf = (key: Key, now: number): KeyUsage => {
    if (now - sweptAt > WINDOW_MS) {
      sweptAt = now
      for (const [id, idle] of keys) {
        if (idle.active === 0 && idle.requests.sum(now) === 0 && idle.tokens.sum(now) === 0) keys.delete(id)
      }
    }
    let usage = keys.get(key.id)
    if (usage === undefined) {
      usage = { requests: new Window(), tokens: new Window(), active: 0 }
      keys.set(key.id, usage)
    }
    return usage
  }

  const states = (key: Key): Limited => {
    const { rpm, tpm } = limitsOf(key, defaults)
    const now = time()
    const usage = keys.get(key.id)
    return {
      requests: rpm > 0 ? stateOf(usage?.requests, rpm, now) : undefined,
      tokens: tpm > 0 ? stateOf(usage?.tokens, tpm, now) : undefined,
    }
  }
  const headers = (key: Key, wire: Wire): Record<string, string> => limitHeaders(states(key), wire, clock())

  return {
    enter(key) {
      if (!isLimited(key, defaults)) return UNLIMITED
      const { rpm, tpm, concurrency } = limitsOf(key, defaults)
      const now = time()
      const usage = usageOf(key, now)
      const requestsMs = rpm > 0 ? usage.requests.waitFor(now, rpm) : 0
      const tokensMs = tpm > 0 ? usage.tokens.waitFor(now, tpm) : 0
      if (requestsMs > 0 || tokensMs > 0) throw limitReached({ rpm, tpm }, requestsMs, tokensMs)
      if (concurrency > 0 && usage.active >= concurrency) throw tooManyAtOnce(concurrency)
      let active = true
      let counted = rpm > 0
      if (counted) usage.requests.add(now, 1)
      usage.active++
      const release = () => {
        if (active) usage.active--
        active = false
      }
      return {
        refund() {
          release()
          if (counted) usage.requests.remove(now, 1)
          counted = false
        },
        addTokens(count) {
          // The key may have been swept while it was idle: its window is looked up again.
          const now = time()
          if (count > 0) usageOf(key, now).tokens.add(now, count)
        },
        release,
        headers: (wire) => headers(key, wire),
      }
    },
    headers,
    states,
  }
}

export const limitsOf = (key: Key, defaults: RateLimits): RateLimits => ({
  rpm: key.rpm ?? defaults.rpm,
  tpm: key.tpm ?? defaults.tpm,
  concurrency: key.concurrency ?? defaults.concurrency,
})

export const isLimited = (key: Key, defaults: RateLimits): boolean => {
  const { rpm, tpm, concurrency } = limitsOf(key, defaults)
  return rpm > 0 || tpm > 0 || concurrency > 0
}

/** For keys without limits. */
export const UNLIMITED: Ticket = { refund() {}, addTokens() {}, release() {}, headers: () => ({}) }

const stateOf = (window: Window | undefined, limit: number, now: number): LimitState => ({
  limit,
  remaining: Math.max(0, limit - (window?.sum(now) ?? 0)),
  resetMs: window?.emptyIn(now) ?? 0,
})

const plural = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`

/** By the limit that is waited for longer. */
export const limitReached = (
  { rpm, tpm }: Pick<RateLimits, 'rpm' | 'tpm'>,
  requestsMs: number,
  tokensMs: number,
): GatewayError => {
  const limit = requestsMs >= tokensMs ? plural(rpm, 'request') : plural(tpm, 'token')
  const retryAfterMs = Math.max(requestsMs, tokensMs)
  return new GatewayError(
    'rate_limit_exceeded',
    `This API key has reached its limit of ${limit} per minute. Try again in ${Math.ceil(retryAfterMs / 1000)}s.`,
    { retryAfterMs, cause: BY_LIMITS },
  )
}

/** The cause of what a key's limits refuse: what it has set aside is refused by the same code. */
export const BY_LIMITS = 'the limits of the key'

export const tooManyAtOnce = (concurrency: number): GatewayError =>
  new GatewayError(
    'rate_limit_exceeded',
    `This API key may have ${plural(concurrency, 'request')} in flight at once. Try again when one is done.`,
    { retryAfterMs: CONCURRENCY_RETRY_MS, cause: BY_LIMITS },
  )
