// Admission: whether a request fits what a key has left, and how much is reserved for it.

import { GatewayError } from '../errors.ts'
import type { Key } from '../keys/key.ts'
import { RENEWAL_TIMES } from '../keys/renewal.ts'
import type { ReserveAsk } from './ledger.ts'

/**
 * While other requests hold the rest of a quota, an answer with a smaller cap than this is not worth starting: the client
 * should wait for them. A client that asks for less gets it.
 */
const LEAST_OUTPUT = 16
/** Requests in flight may end at any time. */
const HELD_RETRY_MS = 1_000

/**
 * Keeps used + held ≤ total, with one exception: when nothing else is in flight, a key's last request is admitted even if
 * its input estimate exceeds what is left, unless it surely does. `held`: tokens reserved for the key's requests in flight. Throws
 * `quota_exhausted` when nothing is left or a fixed output is more than is left, `rate_limit_exceeded` when requests in
 * flight hold what is left.
 */
export const admit = (
  key: Key,
  held: number,
  ask: Pick<
    ReserveAsk,
    'inputEstimate' | 'leastInput' | 'outputCap' | 'maxOutput' | 'answers' | 'leastOutput' | 'fixed'
  >,
): { reserved: number; outputCap: number | undefined } => {
  const left = leftOf(key)
  const surely = left < ask.inputEstimate ? (ask.leastInput?.() ?? 0) : 0
  if (surely > left) {
    const say = `The prompt takes at least ${surely} tokens, and the token quota of this API key has ${left} left.`
    throw new GatewayError(
      'quota_exhausted',
      `${say}${renewalOf(key)} Shorten it, ask for more tokens, or use another key.`,
    )
  }
  const input = Math.max(0, Math.ceil(ask.inputEstimate))
  const answers = Math.max(1, Math.floor(ask.answers ?? 1))
  const cap = Math.max(0, Math.floor(ask.outputCap ?? ask.maxOutput))
  const floor = ask.leastOutput ?? 0
  const wanted = Math.max(cap, floor) * answers
  const free = left - held - input
  if (free >= wanted) return { reserved: input + wanted, outputCap: undefined }
  // The least that can be reserved: a fixed output, or one token for each of several answers.
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
  return { reserved: input + Math.max(outputCap, floor) * answers, outputCap }
}

/** Tokens left. Throws `quota_exhausted` when nothing is. */
export const leftOf = (key: Key): number => {
  const left = key.tokensTotal - key.tokensUsed
  if (left > 0) return left
  throw new GatewayError(
    'quota_exhausted',
    `The token quota of this API key is used up.${renewalOf(key)} Ask for more tokens, or use another key.`,
  )
}

const renewalOf = ({ renews }: Key): string =>
  renews === undefined ? '' : ` It renews ${RENEWAL_TIMES[renews]}, at 00:00 UTC.`
