// Admission: whether a request fits what a key has left, and how much is set aside for it.

import { GatewayError } from '../errors.ts'
import type { Key } from '../keys/key.ts'
import type { ReserveAsk } from './ledger.ts'

/**
 * While others hold the rest, a smaller answer than this is not worth starting: the request does better to wait for
 * them. A client that asks for less gets what it asks.
 */
const LEAST_OUTPUT = 16
/** Requests in flight end at any time; a second later there may be room. */
const HELD_RETRY_MS = 1_000

/**
 * Sums up to: used + held ≤ total, but for the input estimate of a key's last request, which is let through when
 * nothing else is in flight. `held`: tokens set aside for the key's requests in flight. Throws `quota_exhausted` when
 * nothing is left or a fixed output is more than is left, `rate_limit_exceeded` when what is left is only held.
 */
export const admit = (
  key: Key,
  held: number,
  ask: Pick<ReserveAsk, 'inputEstimate' | 'outputCap' | 'maxOutput' | 'answers' | 'fixed'>,
): { reserved: number; outputCap: number | undefined } => {
  const left = leftOf(key)
  const input = Math.max(0, Math.ceil(ask.inputEstimate))
  const answers = Math.max(1, Math.floor(ask.answers ?? 1))
  const cap = Math.max(0, Math.floor(ask.outputCap ?? ask.maxOutput))
  const wanted = cap * answers
  const free = left - held - input
  if (free >= wanted) return { reserved: input + wanted, outputCap: undefined }
  // What cannot be made smaller: a fixed output, and one token of each answer.
  const least = ask.fixed === true ? wanted : answers > 1 ? answers : 0
  if (held > 0 && free < Math.max(least, Math.min(wanted, LEAST_OUTPUT * answers))) {
    throw new GatewayError(
      'rate_limit_exceeded',
      'The rest of the token quota of this API key is held by its requests in flight. Try again when they are done.',
      { retryAfterMs: HELD_RETRY_MS },
    )
  }
  if (least > 0 && free < least) {
    throw new GatewayError(
      'quota_exhausted',
      `The token quota left of this API key, ${left}, does not cover what was asked for.`,
    )
  }
  const outputCap = Math.min(cap, Math.max(1, Math.floor(free / answers)))
  return { reserved: input + outputCap * answers, outputCap }
}

/** Tokens left. Throws `quota_exhausted` when nothing is. */
export const leftOf = (key: Key): number => {
  const left = key.tokensTotal - key.tokensUsed
  if (left <= 0)
    throw new GatewayError(
      'quota_exhausted',
      'The token quota of this API key is used up. Ask for more tokens, or use another key.',
    )
  return left
}
