// The attempt loop: targets in order until one answers, and what each attempt reports to the circuit breaker.

import { GatewayError } from '../errors.ts'
import type { AttemptNote } from '../ledger/ledger.ts'
import { wantsSeveral } from '../wire/chat-completions/pass.ts'
import { withoutGuess } from './adapt/cap-name.ts'
import { detourFor, withoutDetour } from './adapt/detours.ts'
import { withLearned, withShorterAnswer } from './adapt/remedies.ts'
import { toldOf } from './adapt/told.ts'
import { attemptQueue } from './attempt-queue.ts'
import { timeLeft } from './call.ts'
import type { ClientRequest } from './exchange.ts'
import type { Relay } from './services.ts'
import type { Target } from './target.ts'
import { beginAttempt } from './trace.ts'
import { timedOut } from './upstream.ts'

/** One try. Throws GatewayError; one whose `failover` is true may be tried elsewhere. */
type Attempt<Answer> = (target: Target, abort: AbortController) => Promise<Answer>

/**
 * Tries targets in order, as `attemptQueue` gives them. Moves on only for errors another target may not share, and only
 * before the first byte of an answer.
 */
export const firstAnswer = async <Answer>(
  relay: Relay,
  request: ClientRequest,
  targets: readonly Target[],
  attempt: Attempt<Answer>,
): Promise<Answer> => {
  if (targets.length === 0) {
    throw new GatewayError(
      'service_unavailable',
      `No provider account is configured for the model ${request.model.id}. Use another model, or tell those who run the gateway.`,
      { retryAfterMs: 60_000, retry: false },
    )
  }
  let failure: GatewayError | undefined
  let refused: GatewayError | undefined
  /** What a refusal has named before the one that stands. */
  let named: GatewayError | undefined
  /** What was refused as the client has written it, where that was written anew. */
  let asWritten: GatewayError | undefined
  let detour: Target | undefined
  /** What led to the detour, where it may be about something of the request as well. */
  let missing: GatewayError | undefined
  const told = new Set<Target['learned']>()
  let forms = 0
  const queue = attemptQueue(targets, relay.maxTries)
  for (let target = queue.next(); target !== undefined; target = queue.next()) {
    if (request.client.gone || timeLeft(request, target) === 0) break
    try {
      const answer = await tryTarget(relay, request, target, attempt)
      if (isOn(detour, target)) relay.detours.remember(request, target, missing === undefined)
      if (told.has(target.learned)) relay.detours.rememberLearned(request, target)
      return answer
    } catch (thrown) {
      if (!(thrown instanceof GatewayError)) throw thrown
      // What the request holds for this provider alone (a file, a store, an answer) may be what was not found.
      const isUnsaid = thrown.code === 'invalid_request' && thrown.provider === undefined && isOn(detour, target)
      const error = isUnsaid ? (missing ?? thrown) : thrown
      const onDetour = error === missing ? undefined : detourFor(relay, request, error, target)
      if (onDetour !== undefined) {
        detour = onDetour
        missing = error.remedy === undefined && error.provider?.status === 404 ? error : undefined
      }
      const otherWire = onDetour ?? withoutDetour(relay, request, error, target)
      const bare = canDropReasoning(error, request, target) ? { ...target, withoutReasoning: true as const } : undefined
      const anew = canWriteAnew(error, request, target) ? { ...target, anew: true as const } : undefined
      const taught = withoutGuess(error, target) ?? withLearned(error, request, target)
      if (taught !== undefined) told.add(taught.learned)
      const adapted = taught ?? withShorterAnswer(error, request, target)
      const about = toldOf(error, request, target)
      if (about !== error) named = about
      if (anew !== undefined) asWritten = about
      const again = otherWire ?? adapted ?? anew ?? (error.failover ? undefined : bare)
      if (again !== undefined && forms < MOST_FORMS) {
        forms++
        queue.retry(again)
        continue
      }
      // Another account of the model may be able to read the reasoning.
      if (bare !== undefined) queue.retryLater(bare)
      else if (!ACCOUNT_CLOSED.has(error.provider?.status)) queue.spend()
      // A request that a fallback model cannot take may still be answered by the others.
      if (!error.failover && target.model.id !== request.model.id) {
        refused ??= about
        continue
      }
      if (!error.failover) throw asWritten ?? (named !== undefined && isUnnamed(about) ? named : about)
      // The client gets the first failure, unless a later one takes precedence.
      if (failure === undefined || precedence(error) > precedence(failure)) failure = error
    }
  }
  throw failure ?? refused ?? timedOut('did not answer')
}

const isOn = (detour: Target | undefined, { name, wire }: Target): boolean =>
  detour?.name === name && detour.wire === wire

/** A request that is refused as invalid, for nothing that its client could know. */
const isUnnamed = ({ code, retry }: GatewayError): boolean => code === 'upstream_error' && !retry

/** How often a request is asked again in another form: some servers name only one of all that they refuse at a time. */
const MOST_FORMS = 32

/** Without it the answer is translated, which one in the background, or several answers, cannot be. */
const canDropReasoning = ({ remedy }: GatewayError, request: ClientRequest, target: Target): boolean =>
  remedy === 'no-reasoning' && target.withoutReasoning !== true && mayBeRead(request)

/** What the gateway writes of another wire's request is so anyway. */
const canWriteAnew = ({ remedy }: GatewayError, request: ClientRequest, target: Target): boolean =>
  remedy === 'anew' && target.anew !== true && request.bodyWire === target.wire && mayBeRead(request)

const mayBeRead = ({ background, body }: ClientRequest): boolean => !background && !wantsSeveral(body.outline)

/** Statuses of a refused credential or account. They come at once and cost nothing, so they use up no try. */
const ACCOUNT_CLOSED = new Set<number | undefined>([401, 402, 403])

/** The client gets the highest: when to retry says more than that a target is broken, and that more than a final no. */
const precedence = ({ code, retry }: GatewayError): number => (retry ? (code === 'service_unavailable' ? 2 : 1) : 0)

const tryTarget = async <Answer>(
  relay: Relay,
  request: ClientRequest,
  target: Target,
  attempt: Attempt<Answer>,
): Promise<Answer> => {
  const { health } = relay
  const startedAt = relay.stopwatch()
  const note: AttemptNote = {
    provider: target.provider.id,
    account: target.account.name,
    model: target.model.id,
    wire: target.wire,
    ms: 0,
  }
  request.attempts.push(note)
  if (request.trace !== undefined) beginAttempt(request.trace, performance.now() - request.begunAt)
  const abort = new AbortController()
  request.client.call = abort
  // A background answer can only be found by its id: the call runs on until the provider has sent that.
  request.client.callOutlivesClient = request.background
  const begunAt = health.begin(target.name)
  try {
    const answer = await attempt(target, abort)
    request.client.callOutlivesClient = false
    note.ms = Math.round(relay.stopwatch() - startedAt)
    request.firstByteMs = Math.round(performance.now() - request.begunAt)
    health.succeeded(target.name, begunAt)
    return answer
  } catch (error) {
    // A stream that begins with an error may stay open for long, and nobody reads it.
    abort.abort()
    note.ms = Math.round(relay.stopwatch() - startedAt)
    if (!(error instanceof GatewayError) || request.client.gone) {
      health.ended(target.name, begunAt)
      throw error
    }
    note.errorCode = error.code
    if (error.provider?.status !== undefined) note.providerStatus = error.provider.status
    const { code, requestId } = error.provider ?? {}
    const { credential } = target.account
    if (code !== undefined && !repeats(code, credential)) note.providerCode = code
    if (requestId !== undefined && !repeats(requestId, credential)) note.providerRequestId = requestId
    if (error.provider?.trouble !== undefined) {
      health.troubled(target.name, error.provider.trouble, target.model.upstream)
    }
    if (isTargetFault(error)) health.failed(target.name, begunAt, restAsked(error))
    else health.ended(target.name, begunAt)
    throw error
  }
}

/**
 * Whether a failure counts against its target. One that no retry can mend is the request's fault. So may be most refusals,
 * for instance of a file that does not exist: a client must not be able to close an account for everyone else.
 */
export const isTargetFault = ({ failover, retry, provider: { status = 0, code } = {} }: GatewayError): boolean => {
  if (!failover || !retry || MODEL_SLIPS.has(code)) return false
  return status < 400 || status >= 500 || ACCOUNT_REFUSALS.has(status) || UNKNOWN_MODEL.has(code)
}

/** How long a provider that is overloaded, or an account without money, is to be left alone. */
export const restAsked = ({ code, retryAfterMs, provider }: GatewayError): number | undefined =>
  code === 'service_unavailable' || provider?.trouble === 'no-money' ? retryAfterMs : undefined

/** Statuses of refusals that concern the account: its credential, balance or rate. Other 400s are not retried. */
const ACCOUNT_REFUSALS = new Set([400, 401, 402, 403, 407, 408, 429])

/** Codes for what a model could not do with one request: a client could bring them about at will. */
const MODEL_SLIPS = new Set<string | undefined>(['tool_use_failed', 'json_validate_failed'])

/** Codes of refusals for an unknown model, which the configuration names and not the client. */
const UNKNOWN_MODEL = new Set<string | undefined>(['model_not_found', 'DeploymentNotFound'])

/** Whether a provider's code or id contains the credential, which must not reach a log. Short ones match by chance. */
const repeats = (text: string, credential: string): boolean => credential.length >= 8 && text.includes(credential)
