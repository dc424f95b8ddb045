// The rate-limit headers clients read: one family on every wire, and the messages wire's own beside it.

import type { Wire } from '../ir/wire.ts'

/** One limit of a key. `resetMs`: until the window is empty again. */
export type LimitState = { limit: number; remaining: number; resetMs: number }

/** How the limits of a key stand. Undefined: not limited. */
export type Limited = { requests?: LimitState | undefined; tokens?: LimitState | undefined }

/**
 * `x-ratelimit-{limit,remaining,reset}-{requests,tokens}`, reset as a duration (`6m0s`); on messages also
 * `anthropic-ratelimit-{requests,tokens}-{limit,remaining,reset}`, reset as a time of RFC 3339. Only limits that are
 * set. `now`: milliseconds since the epoch.
 */
export const limitHeaders = ({ requests, tokens }: Limited, wire: Wire, now: number): Record<string, string> => {
  const headers: Record<string, string> = {}
  const ownSince = wire === 'messages' ? now : undefined
  if (requests !== undefined) write(headers, 'requests', requests, ownSince)
  if (tokens !== undefined) write(headers, 'tokens', tokens, ownSince)
  return headers
}

/** `ownSince`: the time, on the wire that has headers of its own beside. */
const write = (
  headers: Record<string, string>,
  what: 'requests' | 'tokens',
  { limit, remaining, resetMs }: LimitState,
  ownSince: number | undefined,
): void => {
  headers[`x-ratelimit-limit-${what}`] = String(limit)
  headers[`x-ratelimit-remaining-${what}`] = String(remaining)
  headers[`x-ratelimit-reset-${what}`] = duration(resetMs)
  if (ownSince === undefined) return
  headers[`anthropic-ratelimit-${what}-limit`] = String(limit)
  headers[`anthropic-ratelimit-${what}-remaining`] = String(remaining)
  headers[`anthropic-ratelimit-${what}-reset`] = wholeSecond(ownSince + resetMs)
}

// Rounded up: a client that waits until then must not find the limit still standing.
const wholeSecond = (time: number): string => `${new Date(Math.ceil(time / 1000) * 1000).toISOString().slice(0, 19)}Z`

/** `0s`, `120ms`, `1.5s`, `6m0s`: durations as the chat wires' clients parse them. */
export const duration = (ms: number): string => {
  const whole = Math.ceil(ms)
  if (whole > 0 && whole < 1000) return `${whole}ms`
  const minutes = Math.floor(whole / 60_000)
  const seconds = (whole % 60_000) / 1000
  return minutes > 0 ? `${minutes}m${seconds}s` : `${seconds}s`
}
