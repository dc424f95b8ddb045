// Errors as HTTP answers: the envelope of the wire, and the headers that steer clients' retries.

import { GatewayError } from '../errors.ts'
import type { Wire } from '../ir/wire.ts'
import type { Log } from '../log.ts'
import { isStoreError } from '../store/store.ts'
import { CODECS } from '../wire/index.ts'

/** A fresh request id; ids sort by time. */
export const requestId = (): string => `req_${Bun.randomUUIDv7('base64url')}`

/** Any failure as an error of the contract; what is not one is ours and unexpected. */
export const toGatewayError = (error: unknown): GatewayError => {
  if (error instanceof GatewayError) return error
  return isStoreError(error)
    ? new GatewayError(
        'service_unavailable',
        'The gateway cannot reach its records at the moment. Try again shortly.',
        {
          ...{ cause: error, retryAfterMs: 1_000 },
        },
      )
    : new GatewayError('internal_error', 'The gateway failed unexpectedly. Try again.', { cause: error })
}

/** As `toGatewayError`, and operators are told of what is unexpected. `facts`: what it happened to. */
export const reported = (log: Log, thrown: unknown, facts: { request: string; path?: string }): GatewayError => {
  const error = toGatewayError(thrown)
  if (error.code === 'internal_error') log.error('unexpected failure', { ...facts, cause: String(error.cause) })
  return error
}

/** The least a client is asked to wait where waiting is the point. */
const MIN_RETRY_AFTER_S = 1

/** The answer to a request that failed. `wire` undefined: an endpoint of no wire's. */
export const errorResponse = (
  error: GatewayError,
  id: string,
  wire: Wire | undefined,
  more: Readonly<Record<string, string>> = {},
): Response => {
  const headers: Record<string, string> = {
    ...more,
    'content-type': 'application/json',
    // By x-api-key a cache between does not see that an answer is for one client alone.
    'cache-control': 'no-store',
    'x-gateway-error-code': error.code,
    'x-request-id': id,
  }
  if (wire === 'messages') headers['request-id'] = id
  if (error.status === 429 || error.status === 503) {
    headers['retry-after'] = String(Math.max(MIN_RETRY_AFTER_S, Math.ceil((error.retryAfterMs ?? 1_000) / 1000)))
  }
  if (!error.retry) headers['x-should-retry'] = 'false'
  const codec = CODECS[wire ?? 'chat-completions']
  return new Response(JSON.stringify(codec.encodeError(error, id)), { status: error.status, headers })
}
