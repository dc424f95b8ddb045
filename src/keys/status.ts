// The state of a key, and the refusal that goes with it.

import { GatewayError } from '../errors.ts'
import type { Key } from './key.ts'

/** `exhausted` may still read its models and usage; `expired` and `revoked` are refused everywhere. */
export type KeyStatus = 'active' | 'exhausted' | 'expired' | 'revoked'

/** `now`: milliseconds since the epoch; a key is expired from `expiresAt` on. */
export const statusOf = (key: Key, now: number): KeyStatus => {
  if (key.revokedAt !== undefined) return 'revoked'
  if (key.expiresAt <= now) return 'expired'
  return key.tokensUsed >= key.tokensTotal ? 'exhausted' : 'active'
}

/** Throws `invalid_api_key` for a key that is revoked or expired. */
export const requireInForce = (key: Key, now: number): void => {
  const status = statusOf(key, now)
  if (status === 'revoked') throw new GatewayError('invalid_api_key', 'The API key has been revoked. Get a new one.')
  if (status === 'expired') {
    throw new GatewayError('invalid_api_key', 'The API key has expired. Get a new one or have this one extended.')
  }
}
