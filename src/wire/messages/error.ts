// Failures of this wire: the provider's classified by status and machine code, ours as its clients read them.

import { envelope, GatewayError, type ProviderFailure } from '../../errors.ts'
import { isObject, type JsonObject } from '../../ir/json.ts'
import { membersOf, messageIn } from '../error-object.ts'
import { type FailureClass, type FailureDetails, providerError } from '../failure.ts'
import { overlong } from '../overlong.ts'
import { unreadable } from '../unreadable.ts'

/** `status` is 200 for an error within a stream: its type then says what the status would have been. */
export const decodeError = (status: number, body: unknown): GatewayError => {
  const error = membersOf(body)
  const type = stringOf(error.type)
  const message = messageIn(error)
  const details = isObject(error.details) ? error.details : {}
  const errorCode = stringOf(details.error_code)
  const requestId = isObject(body) ? stringOf(body.request_id) : undefined
  const provider: ProviderFailure = {
    ...(status >= 400 ? { status } : {}),
    ...(type === undefined ? {} : { code: errorCode ?? type }),
    ...(requestId === undefined ? {} : { requestId }),
  }
  const effective = status >= 400 ? status : (STATUS_OF_TYPE[type ?? ''] ?? 500)
  if (effective === 400) {
    return forCodingAgents(message, errorCode, details, provider) ?? refusedRequest(error, message, errorCode, provider)
  }
  const length = effective === 413 || effective === 422 ? overlong(message, error) : undefined
  if (length !== undefined) return providerError('context-length', { provider, ...length })
  return providerError(CLASS_OF_STATUS[effective] ?? 'refused', { provider })
}

const STATUS_OF_TYPE: { [type: string]: number } = {
  invalid_request_error: 400,
  authentication_error: 401,
  billing_error: 402,
  permission_error: 403,
  not_found_error: 404,
  request_too_large: 413,
  rate_limit_error: 429,
  api_error: 500,
  timeout_error: 504,
  overloaded_error: 529,
}

const CLASS_OF_STATUS: { [status: number]: FailureClass } = {
  413: 'too-large',
  422: 'invalid',
  429: 'overloaded',
  503: 'overloaded',
  529: 'overloaded',
}

const TOO_LONG = /prompt is too long(?:: (\d+) tokens > (\d+) maximum)?/
const WINDOW = /input length and `max_tokens` exceed context limit: (\d+) \+ (\d+) > (\d+)/
const POLICY = /Output blocked by content filtering policy/
// From their first word: other refusals quote the request, and one client's words must not close an account to all.
const CREDIT =
  /^(?:Your credit balance is too low|You have reached your specified .*usage limits|This organization has been disabled)/

const SPENT = new Set([
  'enforced_spend_limit_reached',
  'contract_spend_limit_reached',
  'ramp_limit_exceeded',
  'organization_on_hold',
])

/** The provider gives these a 400 and one type: only its words, or a code where there is one, tell them apart. */
const refusedRequest = (
  error: JsonObject,
  message: string,
  errorCode: string | undefined,
  provider: ProviderFailure,
): GatewayError => {
  const fault = (kind: FailureClass, figures: Omit<FailureDetails, 'provider'> = {}): GatewayError =>
    providerError(kind, { provider, ...figures })
  const window = WINDOW.exec(message)
  if (window !== null) {
    return fault('context-length', {
      prompt: Number(window[1]),
      answer: Number(window[2]),
      maximum: Number(window[3]),
    })
  }
  const tooLong = TOO_LONG.exec(message)
  if (tooLong !== null) {
    const [, tokens, maximum] = tooLong
    return fault('context-length', tokens === undefined ? {} : { tokens: Number(tokens), maximum: Number(maximum) })
  }
  const length = overlong(message, error)
  if (length !== undefined) return fault('context-length', length)
  if (POLICY.test(message)) return fault('content-policy')
  if (errorCode === 'request_body_too_large_after_decoding') return fault('too-large')
  if (CREDIT.test(message) || (errorCode !== undefined && SPENT.has(errorCode))) return fault('overloaded')
  return fault('invalid')
}

const SYSTEM_ROLE = /Unexpected role "system"|messages\.\d+\.role: Input should be 'user' or 'assistant'/
const PREFILL = /does not support assistant message prefill/
const CALL_ID = /tool_use\.id: String should match pattern/
const EXTRA_MEMBER = /(?:^|\s)(context_management|thread): Extra inputs are not permitted/
const WORD = /^[\w.-]{1,64}$/

/** What coding agents mend by themselves, in our words around the phrase they look for. */
const forCodingAgents = (
  message: string,
  errorCode: string | undefined,
  details: JsonObject,
  provider: ProviderFailure,
): GatewayError | undefined => {
  if (SYSTEM_ROLE.test(message)) {
    return new GatewayError(
      'invalid_request',
      'Unexpected role "system". This model takes instructions only in the top-level `system` member.',
      { param: 'messages', provider },
    )
  }
  if (PREFILL.test(message)) {
    return new GatewayError(
      'invalid_request',
      'This model does not support assistant message prefill. The conversation must end with a user message.',
      { param: 'messages', provider },
    )
  }
  if (CALL_ID.test(message)) {
    return new GatewayError('invalid_request', "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'", {
      param: 'messages',
      provider,
    })
  }
  const member = EXTRA_MEMBER.exec(message)?.[1]
  if (member === 'context_management') {
    return new GatewayError('invalid_request', 'context_management: Extra inputs are not permitted for this model.', {
      param: member,
      provider,
    })
  }
  if (member === 'thread') return threadError('thread_unsupported_request', ['thread'], provider)
  if (errorCode?.startsWith('thread_') && WORD.test(errorCode)) {
    const unsupported = details.unsupported
    const words = Array.isArray(unsupported)
      ? unsupported.filter((word): word is string => typeof word === 'string' && WORD.test(word))
      : undefined
    return threadError(errorCode, words, provider)
  }
  return unreadable(message, errorCode, provider)
}

const threadError = (errorCode: string, unsupported: string[] | undefined, provider: ProviderFailure): GatewayError =>
  new GatewayError('invalid_request', 'thread: this conversation cannot be continued by reference. Send it whole.', {
    param: 'thread',
    details: { error_code: errorCode, ...(unsupported === undefined ? {} : { unsupported }) },
    provider,
  })

const stringOf = (value: unknown): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined)

/** The body of a failed request, and the data of the frame that ends a failed stream. '' leaves the request id out. */
export const encodeError = (error: GatewayError, requestId: string): JsonObject => ({
  type: 'error',
  ...envelope(error),
  ...(requestId === '' ? {} : { request_id: requestId }),
})
