// The error object of vendor_b's three wires, as the vendor and compatible servers fill it: classified by machine code,
// then by status.

import { GatewayError, type Remedy } from '../../errors.ts'
import { asList, asObject, asObjects, asText, filledText, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { retryDelay } from './delay.ts'
import { type FailureClass, type FailureDetails, providerError } from './failure.ts'
import { isLengthCode, isSure, type Overlong, overlong } from './overlong.ts'
import { unknownReference } from './unknown-reference.ts'
import { UNREADABLE_CODES, unreadable } from './unreadable.ts'

/** Codes for faults of the request itself. Needed where there is no status, in an answer or a stream that fails. */
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
]

/** A server whose codes are the numbers of another's for other faults: they are told apart by its member's name. */
const OUTCOME = 'base_resp'

const outcomes = (kind: FailureClass, ...numbers: number[]): [string, FailureClass][] =>
  numbers.map((number) => [`${OUTCOME}.${number}`, kind])

/** By the error's `code`, else by its `type`. */
const CLASS_OF_CODE = new Map<string, FailureClass>([
  ...INVALID.map((code) => [code, 'invalid'] as const),
  ['invalid_encrypted_content', 'reasoning-refused'],
  ['tokens_limit_reached', 'context-length'],
  ['characters_too_long', 'context-length'],
  ['1261', 'context-length'],
  ['invalid_prompt', 'content-policy'],
  ['content_filter', 'content-policy'],
  ['moderation_blocked', 'content-policy'],
  ['1301', 'content-policy'],
  ['request_too_large', 'too-large'],
  ['rate_limit_exceeded', 'overloaded'],
  ['rate_limit_error', 'overloaded'],
  ['insufficient_quota', 'out-of-money'],
  ['billing_hard_limit_reached', 'out-of-money'],
  ['Arrearage', 'out-of-money'],
  ['server_is_overloaded', 'overloaded'],
  ['service_unavailable_error', 'overloaded'],
  ['overloaded_error', 'overloaded'],
  ['slow_down', 'overloaded'],
  ...outcomes('overloaded', 1002, 1039, 1041, 2045, 2056),
  ...outcomes('out-of-money', 1008),
  ...outcomes('content-policy', 1026, 1027),
  ...outcomes('invalid', 2013),
  ...outcomes('refused', 1004, 2049),
  ['invalid_api_key', 'refused'],
  ['API_KEY_INVALID', 'refused'],
  // The model wrote a call or an answer that its server could not read: it may do better when asked again.
  ['tool_use_failed', 'refused'],
  ['json_validate_failed', 'refused'],
])

/** Codes that come with a 400 although the request is not at fault. */
const NOT_THE_REQUEST = new Set(['model_not_found', 'server_error'])

/**
 * Of any policy but those of an account, of who may ask and of what is kept; and those of one server, the medium before them or the
 * category behind.
 */
const FLAGGED_CODE =
  /^(?!.*(?:org|account|iam|access|network|vpc|data|retention|privacy|security))(?:.*policy_?violation|[a-z]{1,16}_policy)$|^data_?inspection_?failed$|sensitivecontentdetected(?:\.|$)/i

export type ErrorObject = {
  /** The HTTP status, or the one the error itself names where it came with a 200. */
  status: number
  code: string | undefined
  type: string | undefined
  message: string
  /** The whole error object. */
  members: JsonObject
  /** What may go into the operator's log. */
  provider: FailureDetails['provider']
}

/** Reads a body of any shape. `status` is 200 for an error in a stream or a 200 answer. */
export const readErrorObject = (status: number, body: unknown): ErrorObject => {
  const members = membersOf(body)
  const code = filledText(members.code) ?? reasonIn(members)
  const type = filledText(members.type)
  const at = status < 400 ? (statusIn(members) ?? status) : status
  const name = code ?? type ?? filledText(members.status)
  const message = messageIn(members)
  return {
    status: at,
    code,
    type,
    message,
    members,
    provider: {
      status: at,
      ...(name === undefined ? {} : { code: name }),
      ...(isObject(body) && typeof body.request_id === 'string' ? { requestId: body.request_id } : {}),
    },
  }
}

/** The error object: under `error`, `errors` or `detail`, the first of a list, an outcome, or the body itself. */
export const membersOf = (body: unknown): JsonObject => {
  const whole: unknown = Array.isArray(body) ? body[0] : body
  if (typeof whole === 'string') return { message: whole }
  if (!isObject(whole)) return {}
  const { error, errors, detail } = whole
  if (asList(errors).some(isFault)) return { detail: errors }
  const found = [error, asList(errors)[0], detail].find(isObject)
  return (found && (behind(found) ?? found)) ?? badOutcome(whole) ?? whole
}

/** Relays put the error of the server behind them, whole, into their own, or the answer that it came with. */
const behind = ({ error, detail, details }: JsonObject): JsonObject | undefined =>
  [error, detail, asObject(asObject(details).response).error].find(isObject)

/** The outcome of a request that failed, which some servers tell by number with a 200; undefined for a good one. */
export const badOutcome = ({ [OUTCOME]: outcome }: JsonObject): JsonObject | undefined => {
  if (!isObject(outcome) || typeof outcome.status_code !== 'number' || outcome.status_code === 0) return undefined
  return { code: `${OUTCOME}.${outcome.status_code}`, message: outcome.status_msg }
}

/** The error's message, followed by the one it quotes from the server behind its own. */
export const messageIn = (members: JsonObject): string => {
  const { message, error, errors, detail, metadata } = members
  const others = [members.msg, members.error_msg, members.error_message, members.errmsg]
  const lists = [detail, message, isObject(message) ? message.detail : undefined].map(faultsIn)
  const text =
    [message, error, asList(errors)[0], detail, ...others, ...lists].find((value) => typeof value === 'string') ?? ''
  const said = isObject(metadata) && typeof metadata.raw === 'string' ? `${text}\n${metadata.raw}` : `${text}`
  return said
    .replace(PATH_BEHIND, (_, fault, path) => `${path.replace(/\[(\w+)\]/g, '.$1')}: ${fault}`)
    .replace(PYTHON_FAULT, (_, steps, fault, other) => `\n${steps.match(/\w+/g)?.join('.')}: ${fault ?? other}`)
}

const TELLING = /^(?:err(?:or)?_?)?(?:message|msg|reason|code)$/i
const MOST_WITHIN = 2

/** Whether what comes in the place of an answer tells why, under whatever names. */
export const tellsWhy = (body: JsonObject, within = 0): boolean =>
  asList(body.errors).length > 0 ||
  Object.entries(body).some(([name, value]) =>
    isObject(value)
      ? within < MOST_WITHIN && tellsWhy(value, within + 1)
      : filledText(value) !== undefined && TELLING.test(name),
  )

/** One of the servers names the member behind its fault. */
const PATH_BEHIND = /(Extra inputs are not permitted), field: '([\w.[\]]{1,200})'/g
/** Others write the list of faults as Python prints it. */
const PYTHON_FAULT = /'loc': \(([^()\n]{1,200})\), 'msg': (?:'([^'\n]{0,300})'|"([^"\n]{0,300})")/g

/** Servers that check a request by its schema list all of its faults, each with the path of a member. */
const faultsIn = (list: Json | undefined): string | undefined => {
  if (!Array.isArray(list)) return undefined
  const faults = list.filter(isFault).map(({ loc, msg }) => {
    const path = asList(loc).filter((step) => typeof step === 'string' || typeof step === 'number')
    return `${path.join('.')}: ${asText(msg)}`
  })
  return faults.length === 0 ? undefined : faults.join('\n')
}

const isFault = (one: Json): one is JsonObject => isObject(one) && one.msg !== undefined

/** Some servers give the HTTP status as the code, and the machine code as a `reason` among the details. */
const reasonIn = ({ details }: JsonObject): string | undefined =>
  filledText(asObjects(details).find(({ reason }) => filledText(reason))?.reason)

/** Some servers name the status in the error object. */
export const statusIn = ({ code, status, http_status_code, http_code }: JsonObject): number | undefined =>
  [code, status, http_status_code, http_code]
    .filter((value) => typeof value !== 'object' && STATUS.test(`${value}`))
    .map(Number)[0]

/** Of those that HTTP has for failures, and one that vendors have added: other numbers are codes of a server's own. */
const STATUS = /^(?:4[0-2]\d|431|451|50\d|51[01]|529)$/

/** `body`: of any shape. `status`: 200 for an error within a stream or a 200 answer. */
export const decodeError = (status: number, body: unknown): GatewayError => classified(readErrorObject(status, body))

/**
 * The error with the gateway's own message. Of the provider's text is read here what needs nothing else: the token counts of
 * a prompt that is too long, how long to wait for a rate limit, that waiting will not help, what is wrong with an image or a
 * PDF, that reasoning is not taken, how many tools are, and that an item is not known. The rest is read beside what was sent.
 */
export const classified = (error: ErrorObject): GatewayError => {
  const { provider, message } = error
  const unknown = unknownReference(error)
  if (unknown !== undefined) return unknown
  const length = overlong(message, error.members)
  const kind = classOf(error, length)
  switch (kind) {
    case 'context-length':
      return providerError(kind, { provider, ...length })
    case 'overloaded':
      return isBeyondLimit(message)
        ? providerError('beyond-limit', { provider })
        : providerError(kind, { provider, ...retryDelay(message, error.members) })
    case 'invalid':
      if (isRefusedReasoning(error)) return providerError('reasoning-refused', { provider })
      return (
        tooManyTools(error) ??
        unreadable(message, error.code, provider) ??
        providerError(kind, { provider, ...refusedWish(message) })
      )
    default:
      return providerError(kind, { provider })
  }
}

/** What a machine code says, on any wire; undefined for one that says nothing. */
export const classOfCode = (code: string, status?: number): FailureClass | undefined =>
  CLASS_OF_CODE.get(code) ??
  (FLAGGED_CODE.test(code) ? 'content-policy' : isLengthCode(code, status) ? 'context-length' : undefined)

const classOf = (
  { status, code = '', type = '', members }: ErrorObject,
  length: Overlong | undefined,
): FailureClass => {
  const ofType = CLASS_OF_CODE.get(type) ?? (isLengthCode(type, status) ? 'context-length' : undefined)
  const known = classOfCode(code, status) ?? ofType
  if (known !== undefined) return known
  // Compatible servers have no code for these.
  if (isFlagged(members)) return 'content-policy'
  if (length !== undefined && (status < 400 || FAULTS_OF_REQUESTS.has(status))) return 'context-length'
  if (isSure(length, status)) return 'context-length'
  if (status === 413) return 'too-large'
  if (status === 402) return 'out-of-money'
  if (status === 429 || status === 503 || status === 529) return 'overloaded'
  const invalid = status === 400 || status === 422 || (status < 400 && type === 'invalid_request_error')
  return invalid && !NOT_THE_REQUEST.has(code) && !NOT_THE_REQUEST.has(type) ? 'invalid' : 'refused'
}

/** Wishes that refusals name by no member: accounts without a proof of identity get no summary; others have no sealed thoughts. */
const refusedWish = (message: string): { remedy?: Remedy } => {
  if (NO_SUMMARY.test(message)) return { remedy: 'no-summary' }
  return NO_SEALED_THOUGHTS.test(message) ? { remedy: 'no-thinking' } : {}
}

const NO_SUMMARY = /must be verified to generate reasoning summaries/
const NO_SEALED_THOUGHTS = /Encrypted content is not supported with this model/

/** Chat clients send back reasoning that another server gave them, in a member of its name or as content. */
const isRefusedReasoning = ({ message, members: { param } }: ErrorObject): boolean =>
  (message.includes('reasoning_content') && UNKNOWN_MEMBER.test(message)) ||
  REFUSED_REASONING.test(message) ||
  (typeof param === 'string' && param.startsWith('messages') && message.startsWith("Invalid value: 'thinking'"))

/**
 * Models that do not think, of two vendors. On the responses wire a thought may be another caller's, or the item that it
 * stands with be missing, which the vendor finds by the items' ids.
 */
const REFUSED_REASONING =
  /^Reasoning input (?:is not enabled|items can only be provided)|^Item '[^']{1,99}' of type '\w{1,40}' was provided without its required |\bencrypted_content\W{1,3}was not issued to this caller/

const UNKNOWN_MEMBER = /unknown|unrecogni[sz]ed|unexpected|unsupported|not (?:permitted|allowed|supported)/i

/** The tools are the client's, whatever wire it speaks. Only the message tells for certain, and how many there may be. */
const tooManyTools = ({ message, provider }: ErrorObject): GatewayError | undefined => {
  const most = TOO_MANY_TOOLS.exec(message)?.[1]
  if (most === undefined) return undefined
  const sentence = `'tools' holds more tools than this model takes, which is ${most}. Send fewer.`
  return new GatewayError('invalid_request', sentence, { param: 'tools', provider })
}

const TOO_MANY_TOOLS =
  /^Invalid '(?:tools|functions)': array too long\. Expected an array with maximum length (\d{1,6}),/

/** Some relays refuse with 403 by their own moderation, and list the reasons. */
const isFlagged = ({ metadata }: JsonObject): boolean => asList(asObject(metadata).reasons).length > 0

const FAULTS_OF_REQUESTS = new Set([400, 413, 422])

/** A request above the rate limit itself, so that waiting does not help. Only the message tells. */
const isBeyondLimit = (message: string): boolean => message.startsWith('Request too large for ')
