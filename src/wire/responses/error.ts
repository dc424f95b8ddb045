// A provider's failure on this wire, in an HTTP body or within a stream, and the body of an error for its clients.

import { envelope, type GatewayError } from '../../errors.ts'
import { isObject, type JsonObject } from '../../ir/json.ts'
import {
  type FailureClass,
  type FailureDetails,
  isBeyondLimit,
  OVERLOAD_CODES,
  OVERLOAD_TYPES,
  providerError,
} from '../failure.ts'
import { stringOr } from './read.ts'

const CLASS_OF_CODE = new Map<string, FailureClass>([
  ['context_length_exceeded', 'context-length'],
  ['invalid_prompt', 'content-policy'],
  ['content_policy_violation', 'content-policy'],
  ['content_filter', 'content-policy'],
  ['moderation_blocked', 'content-policy'],
  ['image_content_policy_violation', 'content-policy'],
  ['bio_policy', 'content-policy'],
  ['cyber_policy', 'content-policy'],
  ['misalignment_policy_violation', 'content-policy'],
  ['request_too_large', 'too-large'],
  ...[...OVERLOAD_CODES, ...OVERLOAD_TYPES].map((code): [string, FailureClass] => [code, 'overloaded']),
  ['model_not_found', 'refused'],
  ['invalid_api_key', 'refused'],
  ['server_error', 'refused'],
])

/** `status` is 200 for a failure within a stream: the code alone tells then. Accepts `{error}` and the bare error. */
export const decodeError = (status: number, body: unknown): GatewayError => {
  const error = errorObject(body)
  const type = stringOr(error.type, '')
  const code = typeof error.code === 'string' && error.code !== '' ? error.code : type
  // Some servers give the HTTP status as the code.
  const at = typeof error.code === 'number' ? error.code : status
  const message = stringOr(error.message, '')
  const details: FailureDetails = { provider: { status, ...(code === '' ? {} : { code }) } }
  const kind = CLASS_OF_CODE.get(code) ?? CLASS_OF_CODE.get(type) ?? classOfStatus(at, type)
  if (kind === 'context-length') Object.assign(details, contextFigures(message))
  if (kind === 'overloaded' && isBeyondLimit(message)) return providerError('beyond-limit', details)
  if (kind === 'overloaded') Object.assign(details, patience(message))
  return providerError(kind, details)
}

const errorObject = (body: unknown): JsonObject => {
  if (!isObject(body)) return {}
  return isObject(body.error) ? body.error : body
}

const classOfStatus = (status: number, type: string): FailureClass => {
  if (status === 413) return 'too-large'
  if (status === 429 || status === 503 || status === 529) return 'overloaded'
  if (status === 400 || status === 422) return 'invalid'
  return status < 400 && type === 'invalid_request_error' ? 'invalid' : 'refused'
}

/** "maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens" */
const contextFigures = (message: string): { tokens?: number; maximum?: number } => {
  const maximum = /maximum context length is (\d+) tokens/.exec(message)?.[1]
  const tokens = /(?:resulted in|requested) (?:about )?(\d+) tokens/.exec(message)?.[1]
  return {
    ...(tokens === undefined ? {} : { tokens: Number(tokens) }),
    ...(maximum === undefined ? {} : { maximum: Number(maximum) }),
  }
}

/** "Please try again in 174ms" */
const patience = (message: string): { retryAfterMs?: number } => {
  const [, figure, unit] = /try again in (\d+(?:\.\d+)?)(ms|s)\b/.exec(message) ?? []
  if (figure === undefined) return {}
  return { retryAfterMs: Math.ceil(Number(figure) * (unit === 'ms' ? 1 : 1000)) }
}

export const encodeError = (error: GatewayError, requestId: string): JsonObject => {
  const { error: told } = envelope(error)
  const { details, ...rest } = told
  return {
    error: { ...rest, ...(details === undefined ? {} : { details: details as JsonObject }) },
    request_id: requestId,
  }
}
