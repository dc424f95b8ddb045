// Errors: a provider's answer classified by status and machine code, and the gateway's own as this wire's clients read it.

import { envelope, GatewayError } from '../../errors.ts'
import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { type FailureDetails, isBeyondLimit, OVERLOAD_CODES, OVERLOAD_TYPES, providerError } from '../failure.ts'

const CONTENT_POLICY = new Set([
  'invalid_prompt',
  'content_policy_violation',
  'content_filter',
  'moderation_blocked',
  'ResponsibleAIPolicyViolation',
])
const OVERLOADED = new Set([...OVERLOAD_CODES, ...OVERLOAD_TYPES])

/**
 * `body` is what the provider sent, of any shape; a stream's error frame comes with the stream's own 200. The figures
 * of a context length error, the patience a rate limit asks for and that none will do stand in the text; nothing else is
 * read there.
 */
export const decodeError = (status: number, body: unknown): GatewayError => {
  const error = isObject(body) && isObject(body.error) ? body.error : isObject(body) ? body : {}
  const code = typeof error.code === 'string' ? error.code : undefined
  const type = typeof error.type === 'string' ? error.type : undefined
  const message = typeof error.message === 'string' ? error.message : ''
  const param = typeof error.param === 'string' ? error.param : undefined
  // Some servers give the status they would have answered with as the code.
  const effective = status < 400 && typeof error.code === 'number' ? error.code : status
  const provider: FailureDetails['provider'] = { status: effective }
  const shown = code ?? type
  if (shown !== undefined) provider.code = shown
  if (isObject(body) && typeof body.request_id === 'string') provider.requestId = body.request_id
  const is = (names: Set<string>) => (code !== undefined && names.has(code)) || (type !== undefined && names.has(type))

  const figures = contextFigures(message, error)
  // Other servers than the vendor's have no code for it: a figure too many is as plain.
  const isTooLong = type === 'exceed_context_size_error' || (effective === 400 && figures !== undefined)
  if (code === 'context_length_exceeded' || isTooLong) return providerError('context-length', { provider, ...figures })
  if (is(CONTENT_POLICY)) return providerError('content-policy', { provider })
  if (effective === 413) return providerError('too-large', { provider })
  if (effective === 429 || effective === 503 || effective === 529 || is(OVERLOADED)) {
    if (isBeyondLimit(message)) return providerError('beyond-limit', { provider })
    const retryAfterMs = patience(message)
    return providerError('overloaded', { provider, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) })
  }
  if (effective === 400 && code === 'unsupported_value' && param?.endsWith('.role')) {
    // Coding agents read these words and ask again without system messages in the conversation.
    const role = message.includes("'developer'") ? 'developer' : 'system'
    return new GatewayError('invalid_request', `Unexpected role "${role}": this model does not take it here.`, {
      param: 'messages',
      provider,
    })
  }
  const asked = effective === 400 || effective === 422 || (effective < 400 && type === 'invalid_request_error')
  const lost = code === 'model_not_found' || code === 'invalid_api_key'
  return providerError(asked && !lost ? 'invalid' : 'refused', { provider })
}

/** Words by which servers say that they, not the model, put an end to the answer. */
const FAULTS = /^(?:error|abort|network_error|insufficient_system_resource)$|malformed_function_call/i

/** What an answer or a chunk says went wrong; undefined where it is one. */
export const failureIn = (body: JsonObject): GatewayError | undefined => {
  const { error, choices } = body
  if (isObject(error) || (typeof error === 'string' && error !== '')) return decodeError(200, body)
  const broken = Array.isArray(choices) ? choices.find(isBroken) : undefined
  return broken === undefined ? undefined : decodeError(200, broken)
}

const isBroken = (choice: Json): boolean =>
  isObject(choice) &&
  (isObject(choice.error) || (typeof choice.finish_reason === 'string' && FAULTS.test(choice.finish_reason)))

const MAXIMUM = /maximum context length is (\d+)/
const TOKENS = /(?:resulted in|requested(?: about)?|request has) (\d+)/

const contextFigures = (message: string, error: JsonObject): { tokens: number; maximum: number } | undefined => {
  const maximum = figure(MAXIMUM.exec(message)?.[1], error.n_ctx)
  const tokens = figure(TOKENS.exec(message)?.[1], error.n_prompt_tokens)
  return maximum === undefined || tokens === undefined ? undefined : { tokens, maximum }
}

const figure = (digits: string | undefined, member: Json | undefined): number | undefined => {
  if (digits !== undefined) return Number(digits)
  return typeof member === 'number' ? member : undefined
}

const PATIENCE = /try again in ([\d.]+)(ms|s|m)\b/
const UNIT_MS: Record<string, number> = { ms: 1, s: 1_000, m: 60_000 }

const patience = (message: string): number | undefined => {
  const [, amount, unit] = PATIENCE.exec(message) ?? []
  if (amount === undefined || unit === undefined) return undefined
  const ms = Math.ceil(Number(amount) * (UNIT_MS[unit] ?? 0))
  return Number.isFinite(ms) && ms > 0 ? ms : undefined
}

/** The contract's envelope: this wire's clients read it as it is. */
export const encodeError = (error: GatewayError, _requestId: string): JsonObject => envelope(error) as JsonObject
