// Errors of the images wire: the vendor's classes in, the gateway's envelope out.

import { envelope, type GatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../ir/json.ts'
import { isBeyondLimit, OVERLOAD_CODES, providerError } from '../failure.ts'

const POLICY_CODES = new Set(['moderation_blocked', 'content_policy_violation', 'invalid_prompt', 'content_filter'])

export const decodeError = (status: number, body: unknown): GatewayError => {
  const error = isObject(body) && isObject(body.error) ? body.error : {}
  const code = typeof error.code === 'string' ? error.code : undefined
  const provider = { status, ...(code === undefined ? {} : { code }) }
  if (code !== undefined && POLICY_CODES.has(code)) return providerError('content-policy', { provider })
  if (code === 'context_length_exceeded') return providerError('context-length', { provider })
  if (status === 413) return providerError('too-large', { provider })
  if (status === 429 || status === 503 || status === 529 || (code !== undefined && OVERLOAD_CODES.includes(code))) {
    const beyond = typeof error.message === 'string' && isBeyondLimit(error.message)
    return providerError(beyond ? 'beyond-limit' : 'overloaded', { provider })
  }
  if (status === 400 || status === 422) return providerError('invalid', { provider })
  return providerError('refused', { provider })
}

export const encodeError = (error: GatewayError): JsonObject => envelope(error)
