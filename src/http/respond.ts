// Errors as HTTP responses: the envelope of the wire, and the headers that control clients' retries.

import { GatewayError } from '../errors.ts'
import type { Wire } from '../ir/wire.ts'
import type { Log } from '../observe/log.ts'
import { isStoreError } from '../store/store.ts'
import { CODECS } from '../wire/index.ts'

/** A fresh request id; ids sort by time. */
export const requestId = (): string => `req_${Bun.randomUUIDv7('base64url')}`

/** Any failure as an error of the contract: one that is not expected is an `internal_error`. */
export const toGatewayError = (error: unknown): GatewayError => {
  if (error instanceof GatewayError) return error
  return isStoreError(error)
    ? new GatewayError(
        'service_unavailable',
        'The gateway cannot reach its records at the moment. Try again shortly.',
        { cause: error, retryAfterMs: 1_000 },
      )
    : new GatewayError('internal_error', 'The gateway failed unexpectedly. Try again.', { cause: error })
}

/** As `toGatewayError`, with unexpected failures logged. `facts`: what the log line says of the request. */
export const reported = (log: Log, thrown: unknown, facts: { request: string; path?: string }): GatewayError => {
  const error = toGatewayError(thrown)
  if (error.code === 'internal_error') log.error('unexpected failure', { ...facts, cause: String(error.cause) })
  return error
}

/** The least that `Retry-After` asks for. */
const MIN_RETRY_AFTER_S = 1

/** The response to a failed request. `wire` undefined: an endpoint outside the wires. */
export const errorResponse = (
  error: GatewayError,
  id: string,
  wire: Wire | undefined,
  more: Readonly<Record<string, string>> = {},
): Response => {
  const headers: Record<string, string> = {
    ...more,
    'content-type': 'application/json',
    // Caches do not know that a response to x-api-key is for one client alone.
    'cache-control': 'no-store',
    'x-gateway-error-code': error.code,
    'x-request-id': id,
  }
  if (wire === 'messages') headers['request-id'] = id
  const isUnpaid = error.provider?.trouble === 'no-money'
  if (error.status === 429 || error.status === 503 || isUnpaid) {
    headers['retry-after'] = String(Math.max(MIN_RETRY_AFTER_S, Math.ceil((error.retryAfterMs ?? 1_000) / 1000)))
  }
  // Some SDKs wait for as long as they are told, without a word: of what nobody pays for meanwhile they are to say so.
  if (!error.retry || isUnpaid) headers['x-should-retry'] = 'false'
  const codec = CODECS[wire ?? 'chat-completions']
  return new Response(JSON.stringify(codec.encodeError(error, id)), { status: error.status, headers })
}
