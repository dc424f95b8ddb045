// Every error a client can get, as data, and the one class that carries one. The table is the contract's.

type ErrorRow = {
  status: number
  type: 'authentication_error' | 'permission_error' | 'invalid_request_error' | 'rate_limit_error' | 'api_error'
  /** Whether another target may succeed, so that the relay may try it. */
  failover: boolean
  /** Whether a client's own retry can help; `false` is sent as `x-should-retry: false`. */
  retry: boolean
}

export const ERRORS = {
  missing_api_key: { status: 401, type: 'authentication_error', failover: false, retry: false },
  invalid_api_key: { status: 401, type: 'authentication_error', failover: false, retry: false },
  permission_denied: { status: 403, type: 'permission_error', failover: false, retry: false },
  quota_exhausted: { status: 402, type: 'invalid_request_error', failover: false, retry: false },
  rate_limit_exceeded: { status: 429, type: 'rate_limit_error', failover: false, retry: true },
  context_length_exceeded: { status: 400, type: 'invalid_request_error', failover: false, retry: true },
  content_policy_violation: { status: 400, type: 'invalid_request_error', failover: false, retry: true },
  invalid_model: { status: 404, type: 'invalid_request_error', failover: false, retry: false },
  payload_too_large: { status: 413, type: 'invalid_request_error', failover: false, retry: false },
  invalid_json: { status: 400, type: 'invalid_request_error', failover: false, retry: true },
  service_unavailable: { status: 503, type: 'api_error', failover: true, retry: true },
  gateway_timeout: { status: 504, type: 'api_error', failover: true, retry: true },
  upstream_error: { status: 502, type: 'api_error', failover: true, retry: true },
  internal_error: { status: 500, type: 'api_error', failover: false, retry: true },
  not_found: { status: 404, type: 'invalid_request_error', failover: false, retry: false },
  method_not_allowed: { status: 405, type: 'invalid_request_error', failover: false, retry: true },
  invalid_request: { status: 400, type: 'invalid_request_error', failover: false, retry: true },
} as const satisfies Record<string, ErrorRow>

export type ErrorCode = keyof typeof ERRORS

/** What the operator's log may say of a provider's failure; never shown to a client. */
export type ProviderFailure = {
  status?: number
  code?: string
  requestId?: string | undefined
  trouble?: Trouble | undefined
}

/** What those who run the gateway have to mend, as no client can: the account's balance, or the id that a model has there. */
export type Trouble = 'no-money' | 'unknown-model'

/** Machine-readable details, written by the gateway. */
export type ErrorDetails = { [name: string]: Detail | undefined }
type Detail = string | number | boolean | null | Detail[] | ErrorDetails

export type ErrorOptions = {
  cause?: unknown
  /** JSON path of the request member at fault, as the client wrote it. */
  param?: string | undefined
  /** Milliseconds after which a retry can help; becomes `Retry-After`. */
  retryAfterMs?: number | undefined
  /** Overrides the row: `false` where neither another target nor a retry can help. */
  retry?: boolean
  /** Overrides the row. `true` with `retry: false`: only another target may succeed. `false`: no other target can. */
  failover?: boolean
  /** Passed as `error.details` to clients of the messages wire, which alone knows it. */
  details?: ErrorDetails | undefined
  provider?: ProviderFailure
  remedy?: Remedy | undefined
  /** For some remedies: the values that the refusal names. */
  named?: readonly string[] | undefined
  /** Where what a refusal names stands in the body that was sent. */
  place?: readonly (string | number)[] | undefined
  /** What its client can do about that, in the gateway's words. */
  advice?: string | undefined
  window?: ContextWindow | undefined
}

/** What a refusal tells where the prompt may fit with a shorter answer: in tokens. `atLeast`: it may be longer. */
export type ContextWindow = { maximum: number; prompt: number; atLeast: boolean }

/** How a provider may take the request that it refused. */
export type Remedy =
  | 'responses-wire'
  | 'chat-wire'
  /** By the vendor's own names, not the neutral ones: it misses its version header. */
  | 'own-names'
  /** Without the other vendor's web search, which this server has not. */
  | 'no-web-search'
  /** With functions in place of tools of other types. */
  | 'functions-only'
  /** Without the conversation's thoughts, or with one in each turn of the model's. */
  | 'no-reasoning'
  | 'all-reasoning'
  /** With a signature at each turn's first call. */
  | 'signed-calls'
  /** With the output cap under its newer name. */
  | 'newer-cap'
  /** Thinking adaptively in place of by a budget, or the other way round. */
  | 'adaptive-thinking'
  | 'thinking-budget'
  /** Thinking all the same, in its own way or by a budget. */
  | 'always-thinking'
  | 'always-by-budget'
  /** With the system speaking at the beginning only. */
  | 'no-mid-system'
  /** Where the model may choose whether to call a tool. */
  | 'no-forced-tools'
  /** With a tool in place of structured output, always or where there are other tools. */
  | 'output-by-tool'
  | 'output-or-tools'
  /** With a reply of the model's between a tool's message and the user's. */
  | 'reply-to-tools'
  /** With one of the efforts that are named, or without any where none is. */
  | 'other-effort'
  /** The same where thinking is turned off. */
  | 'other-idle-effort'
  /** Without a summary of its thought, or without anything about thinking. */
  | 'no-summary'
  | 'no-thinking'
  /** With a summary in place of a compaction of its own. */
  | 'no-compact'
  /** Without the members that are named, which the provider does not take. */
  | 'without-members'
  /** The same of all that no answer depends on, where it has not said what it refuses. */
  | 'without-settings'
  /** With a digest in place of what identifies the user. */
  | 'hashed-user'
  /** With an empty text beside calls, where there was none. */
  | 'no-null-content'
  /** With messages in their long form. */
  | 'long-messages'
  /** With the output cap that is named: more is none that the model could give. */
  | 'lower-cap'
  /** The same of a cap that is too low. */
  | 'higher-cap'
  /** The same of members that come with betas, those of tools named as such. */
  | 'without-beta-members'
  /** Without the betas that are named, or without any where none is. */
  | 'without-betas'
  /** With the user and the model speaking in turns. */
  | 'alternating-roles'
  /** With the limits of schemas told in words. */
  | 'no-schema-limits'
  /** With what the system says in the user's first turn. */
  | 'no-system'
  /** With an instruction that names JSON, where the answer is to be some. */
  | 'json-word'
  /** With ids of calls of nine letters and digits. */
  | 'short-call-ids'
  /** With `system` in place of the role `developer`, or the other way round. */
  | 'system-role'
  | 'developer-role'
  /** With calls that were made at once, one after the other. */
  | 'calls-in-turn'
  /** Written anew by the gateway, which puts calls, ids, texts and pictures as the wire has them. */
  | 'anew'
  /** As a stream, or not as one, whatever the client has asked for. */
  | 'streamed'
  | 'not-streamed'

/** An error in the gateway's own words: `message` may be shown to a client, `cause` and `provider` never are. */
export class GatewayError extends Error {
  readonly code: ErrorCode
  readonly param: string | undefined
  readonly retryAfterMs: number | undefined
  readonly details: ErrorDetails | undefined
  readonly provider: ProviderFailure | undefined
  readonly remedy: Remedy | undefined
  readonly named: readonly string[] | undefined
  readonly place: readonly (string | number)[] | undefined
  readonly advice: string | undefined
  readonly window: ContextWindow | undefined
  readonly #retry: boolean | undefined
  readonly #failover: boolean | undefined

  constructor(code: ErrorCode, message: string, options: ErrorOptions = {}) {
    super(message, 'cause' in options ? { cause: options.cause } : undefined)
    this.name = 'GatewayError'
    this.code = code
    this.param = options.param
    // Some providers ask for years.
    this.retryAfterMs = options.retryAfterMs && Math.min(options.retryAfterMs, LONGEST_RETRY_MS)
    this.details = options.details
    this.provider = options.provider && identifiersOf(options.provider)
    this.remedy = options.remedy
    this.named = options.named
    this.place = options.place
    this.advice = options.advice
    this.window = options.window
    this.#retry = options.retry
    this.#failover = options.failover
  }

  get status(): number {
    return ERRORS[this.code].status
  }

  get type(): ErrorRow['type'] {
    return ERRORS[this.code].type
  }

  /** Whether the relay may move on to another target. */
  get failover(): boolean {
    return this.#failover ?? (this.#retry !== false && ERRORS[this.code].failover)
  }

  /** Whether the client's own retry can help. */
  get retry(): boolean {
    return this.#retry ?? ERRORS[this.code].retry
  }
}

const LONGEST_RETRY_MS = 86_400_000

/** Drops a provider's code and id unless they look like identifiers: a provider may put any text there. */
const identifiersOf = ({ status, code, requestId, trouble }: ProviderFailure): ProviderFailure => ({
  ...(status === undefined ? {} : { status }),
  ...(code !== undefined && IDENTIFIER.test(code) ? { code } : {}),
  ...(requestId !== undefined && IDENTIFIER.test(requestId) ? { requestId } : {}),
  ...(trouble === undefined ? {} : { trouble }),
})

const IDENTIFIER = /^[\w.:/-]{1,100}$/

/** A 400 that names the member at fault. */
export const invalidRequest = (message: string, param?: string): GatewayError =>
  new GatewayError('invalid_request', message, { param })

/**
 * The gateway itself is at its limits or stops: other targets would fare no better, and none is at fault. A failed stream
 * has no status: agents tell by the first words whether to ask again (decisions/0003).
 */
export const unavailable = (what: string, options: ErrorOptions = {}): GatewayError =>
  new GatewayError('service_unavailable', `Service unavailable: the gateway ${what}. Try again shortly.`, {
    failover: false,
    retryAfterMs: 2_000,
    ...options,
  })

/** The contract's envelope. `param` is null where no member is at fault, as the field's clients expect. */
export const envelope = (error: GatewayError) => ({
  error: {
    message: error.message,
    type: error.type,
    code: error.code,
    param: error.param ?? null,
  },
})
