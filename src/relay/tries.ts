// The attempt loop: targets in order until one answers, and what each try says of its target's health.

import { GatewayError } from '../errors.ts'
import type { AttemptNote } from '../ledger/ledger.ts'
import { timeLeft } from './call.ts'
import { detourOf, wayBack } from './detours.ts'
import type { ClientRequest, Relay } from './exchange.ts'
import type { Target } from './route.ts'
import { timedOut } from './upstream.ts'

/** One try. Throws GatewayError; one whose `failover` is true may be tried elsewhere. */
type Attempt<Answer> = (target: Target, abort: AbortController) => Promise<Answer>

/**
 * Tries targets in order. Moves on only for errors another target may not share, and only before the first byte of an
 * answer.
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
  const tries = targets.slice(0, relay.maxTries)
  let detour: Target | undefined
  for (let target = tries.shift(); target !== undefined; target = tries.shift()) {
    if (request.client.left || timeLeft(request, target) === 0) break
    try {
      const answer = await record(relay, request, target, attempt)
      if (target === detour) relay.detours.taken(request, target)
      return answer
    } catch (error) {
      if (!(error instanceof GatewayError)) throw error
      detour = detourOf(error, target)
      const other = detour ?? wayBack(relay, request, error, target)
      if (other !== undefined) {
        tries.unshift(other)
        continue
      }
      // What another model cannot take says nothing of the one that was asked for.
      if (!error.failover && target.model.id !== request.model.id) {
        refused ??= error
        continue
      }
      if (!error.failover) throw error
      // The last word goes to the first failure of the model that was asked for, unless another says more.
      if (failure === undefined || word(error) > word(failure)) failure = error
    }
  }
  throw failure ?? refused ?? timedOut('did not answer')
}

/**
 * What a failure says to a client: that a target needs time, after which it may answer, more than that another one is
 * broken, and that more than that a third will never take the request.
 */
const word = ({ code, retry }: GatewayError): number => (code === 'service_unavailable' ? (retry ? 2 : 0) : 1)

const record = async <Answer>(
  relay: Relay,
  request: ClientRequest,
  target: Target,
  attempt: Attempt<Answer>,
): Promise<Answer> => {
  const { health } = relay
  const startedAt = relay.clock.now()
  const noted: AttemptNote = {
    provider: target.provider.id,
    account: target.account.name,
    model: target.model.id,
    wire: target.wire,
    ms: 0,
  }
  request.attempts.push(noted)
  const abort = new AbortController()
  request.client.call = abort
  // What goes on without its client must be known first: until it has its id, nothing of it can be found again.
  request.client.callStays = request.background
  const begunAt = health.begin(target.name)
  try {
    const answer = await attempt(target, abort)
    request.client.callStays = false
    request.firstByteAt = relay.clock.now()
    noted.ms = request.firstByteAt - startedAt
    health.succeeded(target.name, begunAt)
    return answer
  } catch (error) {
    // Whatever else this provider may say, nobody listens: a stream that begins with an error may stay open for long.
    abort.abort()
    noted.ms = relay.clock.now() - startedAt
    if (!(error instanceof GatewayError) || request.client.left) {
      health.ended(target.name)
      throw error
    }
    noted.errorCode = error.code
    if (error.provider?.status !== undefined) noted.providerStatus = error.provider.status
    const { code, requestId } = error.provider ?? {}
    const { credential } = target.account
    if (code !== undefined && !quotes(code, credential)) noted.providerCode = code
    if (requestId !== undefined && !quotes(requestId, credential)) noted.providerRequestId = requestId
    if (blames(error)) health.failed(target.name, error.code === 'service_unavailable' ? error.retryAfterMs : undefined)
    else health.ended(target.name)
    throw error
  }
}

/**
 * Whether a failure says something of its target. What no retry mends is the request's fault, even where another target
 * may take it; and most refusals a request can bring about, by naming a file that is not there for instance: five of
 * them would send everyone else's requests away.
 */
const blames = ({ failover, retry, provider: { status = 0, code } = {} }: GatewayError): boolean => {
  if (!failover || !retry) return false
  return status < 400 || status >= 500 || OF_ACCOUNTS.has(status) || NO_MODEL.has(code)
}

/** Refusals that are for the account: its credential, its money, its rate. With 400 they have a code of their own. */
const OF_ACCOUNTS = new Set([400, 401, 402, 403, 407, 408, 429])

/** Refusals that say there is no such model: the configuration names it, not the client. */
const NO_MODEL = new Set<string | undefined>(['model_not_found', 'DeploymentNotFound'])

/** Whether a provider's code or id repeats the credential, which nobody is to read. One of a few letters hides nothing. */
const quotes = (text: string, credential: string): boolean => credential.length >= 8 && text.includes(credential)
