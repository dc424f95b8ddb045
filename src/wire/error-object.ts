// The error object of vendor_b's three wires, as the vendor and servers of its kind fill it: classified by machine code,
// then by status.

import type { GatewayError } from '../errors.ts'
import { isObject, type Json, type JsonObject } from '../ir/json.ts'
import { type FailureClass, type FailureDetails, providerError } from './failure.ts'
import { overlong } from './overlong.ts'
import { UNREADABLE_CODES, unreadable } from './unreadable.ts'

/** What is wrong with the request itself: an answer or a stream that fails has no status to say that it is. */
const INVALID = [
  ...UNREADABLE_CODES,
  'invalid_type',
  'invalid_value',
  'unsupported_value',
  'unsupported_parameter',
  'unsupported_file',
  'unknown_parameter',
  'missing_required_parameter',
  'empty_array',
  'invalid_image_url',
  'image_file_not_found',
  'image_too_small',
  'failed_to_download_image',
]

/** By code, or by type where there is no code. */
const CLASS_OF_CODE = new Map<string, FailureClass>([
  ...INVALID.map((code) => [code, 'invalid'] as const),
  ['invalid_encrypted_content', 'sealed-elsewhere'],
  ['context_length_exceeded', 'context-length'],
  ['exceed_context_size_error', 'context-length'],
  ['tokens_limit_reached', 'context-length'],
  ['tokens_too_long', 'context-length'],
  ['characters_too_long', 'context-length'],
  ['1261', 'context-length'],
  ['invalid_prompt', 'content-policy'],
  ['content_policy_violation', 'content-policy'],
  ['content_filter', 'content-policy'],
  ['moderation_blocked', 'content-policy'],
  ['image_content_policy_violation', 'content-policy'],
  ['bio_policy', 'content-policy'],
  ['cyber_policy', 'content-policy'],
  ['misalignment_policy_violation', 'content-policy'],
  ['ResponsibleAIPolicyViolation', 'content-policy'],
  ['data_inspection_failed', 'content-policy'],
  ['1301', 'content-policy'],
  ['request_too_large', 'too-large'],
  ['rate_limit_exceeded', 'overloaded'],
  ['rate_limit_error', 'overloaded'],
  ['insufficient_quota', 'overloaded'],
  ['billing_hard_limit_reached', 'overloaded'],
  ['server_is_overloaded', 'overloaded'],
  ['service_unavailable_error', 'overloaded'],
  ['overloaded_error', 'overloaded'],
  ['slow_down', 'overloaded'],
])

/** Given with a 400, and yet no fault of the request. */
const NOT_THE_REQUEST = new Set(['model_not_found', 'invalid_api_key', 'server_error'])

export type ErrorObject = {
  /** What the provider answered, or would have answered had its stream not begun. */
  status: number
  code: string | undefined
  type: string | undefined
  message: string
  /** All of it. */
  members: JsonObject
  /** What the operator's log may know. */
  provider: FailureDetails['provider']
}

/** Reads a body of any shape. `status` is 200 for an error in a stream or a 200 answer. */
export const readErrorObject = (status: number, body: unknown): ErrorObject => {
  const members = membersOf(body)
  const code = nameIn(members.code)
  const type = nameIn(members.type)
  const at = status < 400 ? (statusIn(members) ?? status) : status
  const shown = code ?? type
  return {
    status: at,
    code,
    type,
    message: messageIn(members),
    members,
    provider: {
      status: at,
      ...(shown === undefined ? {} : { code: shown }),
      ...(isObject(body) && typeof body.request_id === 'string' ? { requestId: body.request_id } : {}),
    },
  }
}

/** Under a name of its own, the first of a list, or bare. */
export const membersOf = (body: unknown): JsonObject => {
  const whole: unknown = Array.isArray(body) ? body[0] : body
  if (typeof whole === 'string') return { message: whole }
  if (!isObject(whole)) return {}
  const { error, errors, detail } = whole
  return [error, firstOf(errors), detail].find(isObject) ?? whole
}

const firstOf = (list: Json | undefined): Json | undefined => (Array.isArray(list) ? list[0] : undefined)

/** What the error says, with what it quotes of the server behind its own. */
export const messageIn = ({ message, error, errors, detail, metadata }: JsonObject): string => {
  const said = [message, error, firstOf(errors), detail].find((text) => typeof text === 'string') ?? ''
  return isObject(metadata) && typeof metadata.raw === 'string' ? `${said}\n${metadata.raw}` : `${said}`
}

const nameIn = (value: Json | undefined): string | undefined =>
  typeof value === 'string' && value !== '' ? value : undefined

/** Some servers say which status they would have answered with. */
const statusIn = ({ code, http_status_code: status }: JsonObject): number | undefined =>
  [code, status].filter((value) => typeof value !== 'object' && /^[45]\d\d$/.test(`${value}`)).map(Number)[0]

/**
 * The error in the gateway's words. Of the provider's text four things are read: the figures of a prompt that is too
 * long, how long a rate limit asks to wait, that waiting will not help, and what is wrong with a picture or a PDF.
 */
export const classified = (error: ErrorObject): GatewayError => {
  const { provider, message } = error
  const length = overlong(message, error.members)
  const kind = classOf(error, length !== undefined)
  switch (kind) {
    case 'context-length':
      return providerError(kind, { provider, ...length })
    case 'overloaded':
      return isBeyondLimit(message)
        ? providerError('beyond-limit', { provider })
        : providerError(kind, { provider, ...patience(message) })
    case 'invalid':
      return unreadable(message, error.code, provider) ?? providerError(kind, { provider })
    default:
      return providerError(kind, { provider })
  }
}

const classOf = ({ status, code = '', type = '', members }: ErrorObject, isOverlong: boolean): FailureClass => {
  const told = CLASS_OF_CODE.get(code) ?? CLASS_OF_CODE.get(type)
  if (told !== undefined) return told
  // Other servers than the vendor's have no code for these.
  if (isFlagged(members)) return 'content-policy'
  if (isOverlong && (status < 400 || FAULTS_OF_REQUESTS.has(status))) return 'context-length'
  if (status === 413) return 'too-large'
  if (status === 429 || status === 503 || status === 529) return 'overloaded'
  const invalid = status === 400 || status === 422 || (status < 400 && type === 'invalid_request_error')
  return invalid && !NOT_THE_REQUEST.has(code) && !NOT_THE_REQUEST.has(type) ? 'invalid' : 'refused'
}

/** A relay's own moderation refuses with 403, and says for which reasons. */
const isFlagged = ({ metadata }: JsonObject): boolean =>
  isObject(metadata) && Array.isArray(metadata.reasons) && metadata.reasons.length > 0

const FAULTS_OF_REQUESTS = new Set([400, 413, 422])

/** A rate limit no patience meets; nothing but these words tells it from one that passes. */
const isBeyondLimit = (message: string): boolean => message.startsWith('Request too large for ')

/** `174ms`, `20s`, `1m26.4s` */
const PATIENCE = /(?:try again|retry) in ((?:\d+(?:\.\d+)?(?:ms|[hms]))+)/
const AMOUNT = /([\d.]+)(ms|[hms])/g
const UNIT_MS: { [unit: string]: number } = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 }

const patience = (message: string): { retryAfterMs?: number } => {
  const asked = PATIENCE.exec(message)?.[1] ?? ''
  let ms = 0
  for (const [, amount, unit = ''] of asked.matchAll(AMOUNT)) ms += Number(amount) * (UNIT_MS[unit] ?? 0)
  return ms > 0 ? { retryAfterMs: Math.ceil(ms) } : {}
}
