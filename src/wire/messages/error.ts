// Errors of this wire: the provider's, classified by status and machine code, and the gateway's in its clients' form.

import { envelope, GatewayError, type ProviderFailure, type Remedy } from '../../errors.ts'
import { asList, asObject, filledText, isObject, type JsonObject } from '../../ir/json.ts'
import { withRefusal } from '../refusal/body.ts'
import { retryDelay } from '../refusal/delay.ts'
import { classOfCode, membersOf, messageIn, statusIn } from '../refusal/error-object.ts'
import { type FailureClass, type FailureDetails, providerError } from '../refusal/failure.ts'
import { isSure, overlong } from '../refusal/overlong.ts'
import { unreadable } from '../refusal/unreadable.ts'
import { EFFORTS } from '../settings/effort.ts'
import { isFailure, wordOf } from '../turns/ending.ts'

/** `status`: 200 for an error within a stream, whose type then decides. */
export const decodeError = (status: number, body: unknown): GatewayError => withRefusal(classOf(status, body), body)

const classOf = (status: number, body: unknown): GatewayError => {
  const error = membersOf(body)
  const type = filledText(error.type)
  const message = messageIn(error)
  const details = asObject(error.details)
  const errorCode = filledText(details.error_code)
  const requestId = isObject(body) ? filledText(body.request_id) : undefined
  const provider: ProviderFailure = {
    ...(status >= 400 ? { status } : {}),
    ...(type === undefined ? {} : { code: errorCode ?? type }),
    ...(requestId === undefined ? {} : { requestId }),
  }
  // Relays in front of servers of other wires keep their codes.
  const known = classOfCode(filledText(error.code) ?? '', status)
  if (known !== undefined && known !== 'invalid')
    return providerError(known, { provider, ...(known === 'context-length' ? overlong(message, error) : {}) })
  const told = status >= 400 ? status : (STATUS_OF_TYPE[type ?? ''] ?? statusIn(error))
  const effective = told ?? 500
  // Some servers refuse with 422 what they cannot parse.
  if (effective === 400 || effective === 422)
    return actionable(message, errorCode, details, provider) ?? refusedRequest(error, message, errorCode, provider)
  // Some servers have types of their own, and tell no status in a stream.
  const length = overlong(message, error)
  if (length !== undefined && (effective === 413 || told === undefined || isSure(length, effective)))
    return providerError('context-length', { provider, ...length })
  const kind = CLASS_OF_STATUS[effective] ?? 'refused'
  return providerError(kind, { provider, ...(kind === 'overloaded' ? retryDelay(message, error) : {}) })
}

/** The failure of an answer that ends by its server's own; undefined for any other end. */
export const failureIn = ({ stop_reason: reason }: JsonObject): GatewayError | undefined =>
  isFailure(reason) ? decodeError(200, { error: { type: wordOf(reason) } }) : undefined

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
  402: 'out-of-money',
  413: 'too-large',
  429: 'overloaded',
  503: 'overloaded',
  529: 'overloaded',
}

const POLICY = /Output blocked by content filtering policy/

const SPENDING_CODES = new Set([
  'enforced_spend_limit_reached',
  'contract_spend_limit_reached',
  'ramp_limit_exceeded',
  'organization_on_hold',
])

/** The provider answers all of these with one status and one type: its message, or a code where there is one, tells which. */
const refusedRequest = (
  error: JsonObject,
  message: string,
  errorCode: string | undefined,
  provider: ProviderFailure,
): GatewayError => {
  const fault = (kind: FailureClass, figures: Omit<FailureDetails, 'provider'> = {}): GatewayError =>
    providerError(kind, { provider, ...figures })
  const length = overlong(message, error)
  if (length !== undefined) return fault('context-length', length)
  if (POLICY.test(message)) return fault('content-policy')
  if (errorCode === 'request_body_too_large_after_decoding') return fault('too-large')
  if (OWN_VERSION.test(message)) return fault('invalid', { remedy: 'own-names' })
  const remedy = WAYS_OF_THINKING.find(([pattern]) => pattern.test(message))?.[1]
  if (remedy !== undefined) return fault('invalid', { remedy })
  const idle = IDLE_EFFORT.exec(message)
  if (idle !== null) {
    const named: string[] = [...EFFORTS]
    return fault('invalid', { remedy: 'other-idle-effort', named: named.slice(0, named.indexOf(idle[1] ?? '') + 1) })
  }
  const unknown = betaMembersIn(message)
  if (unknown.length > 0) return fault('invalid', { remedy: 'without-beta-members', named: unknown })
  const betas = refusedBetas(message)
  if (betas !== undefined) return fault('invalid', { remedy: 'without-betas', named: betas })
  if (errorCode !== undefined && SPENDING_CODES.has(errorCode)) return fault('out-of-money')
  return fault('invalid')
}

/** The gateway sends one under the name that the configuration gives it. */
const OWN_VERSION = /^anthropic-version: header is required/

/** A model thinks by a budget or as it sees fit: which, clients cannot know by the gateway's name of it. */
const WAYS_OF_THINKING: [RegExp, Remedy][] = [
  [/thinking\.type\.enabled\W{0,2} is not supported/, 'adaptive-thinking'],
  [/invalid thinking\.type: \W{0,3}enabled/, 'adaptive-thinking'],
  [/adaptive thinking is not supported|does not support the effort parameter/i, 'thinking-budget'],
  [
    /thinking[. ]type\W{0,2} (?:must|should) be \W?enabled\W? or \W?disabled|Input tag 'adaptive' found/,
    'thinking-budget',
  ],
  [/supported for thinking; 'adaptive' is not/, 'thinking-budget'],
  [/thinking\.type\.disabled\W{0,2} is not supported/, 'always-thinking'],
  [/invalid thinking: only type=enabled is allowed/, 'always-by-budget'],
  // Other vendors' models want a thought in each of their turns with calls.
  [/content\[\]\.thinking\W.{0,40}passed back|reasoning_content is missing in assistant tool call/, 'all-reasoning'],
]

/** Where thinking is turned off, a model takes no effort, or none above the one that is named. */
const IDLE_EFFORT =
  /not supported when thinking is disabled on this model(?:\. Use effort '(\w{1,9})' or below)?|cannot be disabled when reasoning_effort is set/

/**
 * The betas that the provider does not know, `[]` for any of them; undefined for an error about something else. The
 * vendor's models at other clouds know few of those that its own agents ask for.
 */
const refusedBetas = (message: string): string[] | undefined => {
  const named = UNKNOWN_BETAS.exec(message)?.[1]
  if (named !== undefined) return [...named.matchAll(/[\w.-]{1,64}/g)].map(([beta]) => beta)
  return message.includes('invalid beta flag') ? [] : undefined
}

/** Those of the members that come with betas that are refused, and that a request means the same without. */
const betaMembersIn = (message: string): string[] =>
  [...message.matchAll(BETA_MEMBERS)].flatMap(
    ([, list, ofList, ofBody]) => ofBody ?? (ofList ? [`${list}.${ofList}`] : []),
  )

const BETA_MEMBERS =
  /(tools|messages)\.\d+\.(?:custom\.)?(defer_loading|eager_input_streaming|input_examples|strict|output_config): Extra inputs|(?:^|\s)(?:body\.)?(safeguards|diagnostics): Extra inputs/g

const UNKNOWN_BETAS = /Unexpected value\(s\) ([\w`., -]{1,2000}) for the `[\w-]{1,64}` header/

/** One that takes it, in another place. */
const MISPLACED_SYSTEM_TURN = /(?:^|\s)(?:messages\.(\d{1,6}): )?role .?system.? must (?:precede an|follow a)/

/** Claude Code speaks as the user where it reads these words, of which it wants all. */
const systemTurnRefused = (message: string): string | undefined => {
  const misplaced = MISPLACED_SYSTEM_TURN.exec(message)
  if (misplaced === null) return undefined
  const path = misplaced[1] === undefined ? 'messages' : `messages.${misplaced[1]}`
  return `${path}: role "system" must follow a user message and come last or precede an assistant message.`
}

const NO_PREFILL = /does not support assistant message prefill/
const OTHER_ID = /tool_use\.id: String should match pattern/
const ID = "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'"
const NO_THOUGHT = /Expected .?thinking.? or .?redacted_thinking.?, but found/
const THOUGHT =
  'Expected `thinking` or `redacted_thinking`: with a thinking budget a round of calls begins with a thought. Send it back, or turn thinking off.'
const PREFILL = 'This model does not support assistant message prefill. The conversation must end with a user message.'
/** A model that cannot be forced to call a tool, or not while it thinks, in the words of several servers. */
const FORCED_TOOL =
  /tool_choice: type .{0,24} are not supported|tool_choice forces tool use|not support this tool_choice|tool_choice .{0,40}incompatible with thinking/
/** Why a thought is refused: it was changed, or comes from another conversation, model or provider. */
const REFUSED_THOUGHTS: [RegExp, string][] = [
  [
    /bound to a different conversation/,
    'Invalid `signature` in `thinking` block. The block is bound to a different conversation. Leave the thoughts out, or set `thinking.block_binding.prefix_mismatch_behavior` to "drop_block".',
  ],
  [
    /Invalid `?(?:signature|data)`? in `?(?:redacted_)?thinking`? block/,
    'Invalid `signature` in `thinking` block. Send the thoughts back as they were given, or leave them out.',
  ],
  [
    /thinking\.signature: Field required|each `?thinking`? block must contain `?thinking/,
    'Invalid `signature` in `thinking` block: it has none, or no thought. Send the thoughts back as they were given, or leave them out.',
  ],
  [
    /thinking`? blocks? .{0,40}cannot be modified/,
    '`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. Send them back as they were given, or leave them out.',
  ],
]
const EXTRA_MEMBER =
  /(?:^|[\s"])(?:body\.)?(context_management|thread|output_config(?:\.(?:format|effort))?): Extra inputs are not permitted/
/** Refusals of markers in these places have other reasons. */
const EXTRA_MARKER =
  /^(?!.*(?:\bsystem\.\d|tool_result|ttl)).*\bcache_control(?:\.\w{1,40})?: Extra inputs are not permitted/
/** How the request is asked again. A server without the first knows only the older way of thinking. */
const WITHOUT_MEMBER: { [member: string]: Pick<FailureDetails, 'remedy' | 'named'> } = {
  output_config: { remedy: 'thinking-budget' },
  'output_config.effort': { remedy: 'other-effort', named: [] },
  'output_config.format': { remedy: 'output-by-tool' },
}
const NO_EFFORT = /output_config.{1,80}requires a model that supports/
const CODE = /^[\w.-]{1,64}$/

/** Refusals that coding agents act on: our own sentence with the phrase or the code that they look for. */
const actionable = (
  message: string,
  errorCode: string | undefined,
  details: JsonObject,
  provider: ProviderFailure,
): GatewayError | undefined => {
  const systemTurn = systemTurnRefused(message)
  if (systemTurn !== undefined)
    return new GatewayError('invalid_request', systemTurn, { param: 'messages', provider, remedy: 'no-mid-system' })
  if (NO_PREFILL.test(message)) return new GatewayError('invalid_request', PREFILL, { param: 'messages', provider })
  if (NO_THOUGHT.test(message))
    return new GatewayError('invalid_request', THOUGHT, { param: 'messages', provider, remedy: 'anew' })
  if (OTHER_ID.test(message))
    return new GatewayError('invalid_request', ID, { param: 'messages', provider, remedy: 'anew' })
  if (FORCED_TOOL.test(message)) {
    return new GatewayError(
      'invalid_request',
      "'tool_choice': this model cannot be forced to use a tool, or not while it thinks. Choose auto or none.",
      { param: 'tool_choice', provider, remedy: 'no-forced-tools' },
    )
  }
  const thought = sentenceOf(REFUSED_THOUGHTS, message)
  if (thought !== undefined) {
    return new GatewayError('invalid_request', thought, { param: 'messages', provider, remedy: 'no-reasoning' })
  }
  const member = NO_EFFORT.test(message)
    ? 'output_config'
    : EXTRA_MARKER.test(message)
      ? 'cache_control'
      : EXTRA_MEMBER.exec(message)?.[1]
  if (member === 'thread') return threadError('thread_unsupported_request', ['thread'], provider)
  if (member !== undefined) {
    const sentence = `${member}: Extra inputs are not permitted for this model.`
    return new GatewayError('invalid_request', sentence, { param: member, provider, ...WITHOUT_MEMBER[member] })
  }
  return byCode(errorCode, details, provider) ?? unreadable(message, errorCode, provider)
}

const sentenceOf = (refusals: [RegExp, string][], message: string): string | undefined =>
  refusals.find(([pattern]) => pattern.test(message))?.[1]

const byCode = (
  errorCode: string | undefined,
  details: JsonObject,
  provider: ProviderFailure,
): GatewayError | undefined => {
  if (errorCode === undefined) return undefined
  const sentence = SENTENCES.get(errorCode)
  if (sentence !== undefined) {
    return new GatewayError('invalid_request', sentence, { details: { error_code: errorCode }, provider })
  }
  if (errorCode === 'image_dimensions_too_large') return largeImages(details, provider)
  if (!errorCode.startsWith('thread_') || !CODE.test(errorCode)) return undefined
  const { unsupported } = details
  const members = Array.isArray(unsupported)
    ? unsupported.filter((member): member is string => typeof member === 'string' && CODE.test(member))
    : undefined
  return threadError(errorCode, members, provider)
}

const CHANGED_BLOCK = 'The compaction block is not as it was given. Send it back unchanged.'

/** The gateway's sentence for each code that the vendor's own client acts on. */
const SENTENCES: ReadonlyMap<string, string> = new Map([
  ['available_tools_limit_exceeded', 'The conversation makes more tools available than this model takes. Send fewer.'],
  ['tool_name_conflict', 'The conversation adds a tool under the name of another one. Rename one of them.'],
  [
    'tool_reference_unresolved',
    'The conversation refers to a tool that is not defined at that place. Define it, or leave the reference out.',
  ],
  ['compaction_block_ambiguous', 'The conversation holds several compaction blocks. Send only the newest.'],
  ['compaction_block_misplaced', 'The compaction block must be the first block of the conversation. Move it there.'],
  ['compaction_content_mismatch', CHANGED_BLOCK],
  ['compaction_signature_invalid', CHANGED_BLOCK],
  ['compaction_tool_changes_mismatch', CHANGED_BLOCK],
  ['compaction_incomplete_turn', 'The conversation to compact ends within an assistant turn. Finish that first.'],
  ['compaction_nothing_to_summarize', 'The conversation holds nothing to compact. Send it without compaction.'],
  [
    'compaction_too_many_tool_references',
    'The conversation refers to more tools than a compaction can keep. Send it without compaction.',
  ],
])

const IMAGE_PATH = /^messages\.\d{1,6}\.content(?:\.\d{1,6}(?:\.content)?){1,4}$/

/** `paths`: where the images stand in the request that the provider received. */
const largeImages = (
  { max_side_length_pixels: pixels, paths }: JsonObject,
  provider: ProviderFailure,
): GatewayError => {
  const most = typeof pixels === 'number' ? pixels : undefined
  const allowed = most === undefined ? '' : `: ${most} pixels`
  return new GatewayError(
    'invalid_request',
    `At least one of the image dimensions exceed max allowed size${allowed}. Take the image out, or send a smaller one.`,
    {
      details: {
        error_code: 'image_dimensions_too_large',
        ...(most === undefined ? {} : { max_side_length_pixels: most }),
        paths: asList(paths).filter((path) => typeof path === 'string' && IMAGE_PATH.test(path)),
      },
      provider,
    },
  )
}

const threadError = (errorCode: string, unsupported: string[] | undefined, provider: ProviderFailure): GatewayError =>
  new GatewayError('invalid_request', 'thread: this conversation cannot be continued by reference. Send it whole.', {
    param: 'thread',
    details: { error_code: errorCode, ...(unsupported === undefined ? {} : { unsupported }) },
    // Another account may have it.
    ...(errorCode === 'thread_not_found' ? { retry: false, failover: true } : {}),
    provider,
  })

/** The body of a failed request, and the data of the frame that ends a failed stream. `requestId` may be ''. */
export const encodeError = (error: GatewayError, requestId: string): JsonObject => ({
  type: 'error',
  error: { ...envelope(error).error, ...(error.details === undefined ? {} : { details: error.details }) },
  ...(requestId === '' ? {} : { request_id: requestId }),
})
