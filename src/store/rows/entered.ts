// What a request at the door is told by the windows of its key.

import type { Key, RateLimits } from '../../keys/key.ts'
import { unknownKey } from '../../keys/secret.ts'
import type { Limited, LimitState } from '../../ledger/limit-headers.ts'
import { limitReached, limitsOf, tooManyAtOnce } from '../../ledger/limits.ts'
import { toShared, type Verdict } from '../../ledger/shared.ts'

/**
 * `now`: milliseconds since the epoch. `requests`, `tokens`: what counts, with the last second in which some did. The arrays go
 * together, by seconds; the first of a key that is refused for its limits has them.
 */
export type EnteredRow = Entered & {
  seconds: number[] | null
  of_requests: number[] | null
  of_tokens: number[] | null
}

type Entered = Sums & { at: number; said: string; now: number }
type Sums = { requests: number; tokens: number; last_request: number | null; last_token: number | null }

/** Second by second. */
export type Counted = { seconds: number[]; requests: number[]; tokens: number[] }

export const countedIn = ({ seconds, of_requests, of_tokens }: EnteredRow): Counted | undefined =>
  seconds === null || of_requests === null || of_tokens === null
    ? undefined
    : { seconds, requests: of_requests, tokens: of_tokens }

/** An amount counts from its second for so many more. */
const COUNTED_S = 60

/** What counts by now. */
export const sumsOf = ({ seconds, requests, tokens }: Counted): Sums => ({
  ...{ requests: sumOf(requests), tokens: sumOf(tokens) },
  last_request: seconds.findLast((_, i) => (requests[i] ?? 0) > 0) ?? null,
  last_token: seconds.findLast((_, i) => (tokens[i] ?? 0) > 0) ?? null,
})
const sumOf = (amounts: readonly number[]): number => amounts.reduce((of, amount) => of + amount, 0)

/** `counted`: of its key, where it is refused for its limits. */
export const enteredVerdict = (
  row: Entered,
  { key, defaults, counted }: { key: Key | undefined; defaults: RateLimits; counted: Counted | undefined },
): Verdict => {
  if (key === undefined || row.said === 'dead') return { error: toShared(unknownKey()) }
  const limits = limitsOf(key, defaults)
  const { now } = row
  const told: Limited = {
    requests: limits.rpm > 0 ? stateOf(limits.rpm, row.requests, row.last_request, now) : undefined,
    tokens: limits.tpm > 0 ? stateOf(limits.tpm, row.tokens, row.last_token, now) : undefined,
  }
  if (row.said === 'ok') return { limits: told }
  if (row.said === 'busy') return { error: toShared(tooManyAtOnce(limits.concurrency)), limits: told }
  const waitFor = (amounts: readonly number[] = [], limit: number): number =>
    limit > 0 ? waitUntil(counted?.seconds ?? [], amounts, limit, now) : 0
  const requestsMs = waitFor(counted?.requests, limits.rpm)
  return { error: toShared(limitReached(limits, requestsMs, waitFor(counted?.tokens, limits.tpm))), limits: told }
}

const endOf = (second: number): number => (second + COUNTED_S + 1) * 1_000

const stateOf = (limit: number, used: number, last: number | null, now: number): LimitState => ({
  limit,
  remaining: Math.max(0, limit - used),
  resetMs: last === null ? 0 : Math.max(0, endOf(last) - now),
})

/** Milliseconds until the sum is below the limit if nothing is added. */
const waitUntil = (seconds: readonly number[], amounts: readonly number[], limit: number, now: number): number => {
  let sum = sumOf(amounts)
  for (const [i, second] of seconds.entries()) {
    if (sum < limit) return 0
    sum -= amounts[i] ?? 0
    if (sum < limit) return Math.max(0, endOf(second) - now)
  }
  return 0
}
