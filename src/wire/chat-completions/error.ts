// The provider's errors on this wire, classified by status and machine code.

import { GatewayError, type Remedy } from '../../errors.ts'
import { asList, asObjects, filledText, isFilled, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { isToldError } from '../pass.ts'
import { withRefusal } from '../refusal/body.ts'
import { badOutcome, classified, type ErrorObject, readErrorObject, statusIn } from '../refusal/error-object.ts'
import { providerError } from '../refusal/failure.ts'
import { isFailure } from '../turns/ending.ts'
import { OTHERS_WISHES } from './members.ts'

/** `body`: of any shape. `status`: 200 for an error within a stream or a 200 answer. */
export const decodeError = (status: number, body: unknown): GatewayError => withRefusal(classOf(status, body), body)

const classOf = (status: number, body: unknown): GatewayError => {
  const error = readErrorObject(status, body)
  const { param } = error.members
  const refusesRole =
    error.status === 400 && error.code === 'unsupported_value' && typeof param === 'string' && param.endsWith('.role')
  const remedy = remedyFor(error)
  if (remedy !== undefined) return providerError('invalid', { provider: error.provider, remedy })
  if (!refusesRole) return classified(error)
  // On this phrase, coding agents ask again without system messages in the conversation.
  const role = error.message.includes("'developer'") ? 'developer' : 'system'
  return new GatewayError('invalid_request', `Unexpected role "${role}": this model does not take it here.`, {
    param: 'messages',
    provider: error.provider,
  })
}

const remedyFor = (error: ErrorObject): Remedy | undefined => {
  if (wantsResponses(error)) return 'responses-wire'
  if (refusesOldCap(error)) return 'newer-cap'
  return (error.status === 400 || error.status === 422) && UNSIGNED.test(error.message) ? 'signed-calls' : undefined
}

/** Models that sign their calls want a signature with those of others, too. */
const UNSIGNED = /is missing a `?thought_signature/

/**
 * The vendor serves some models, or some with tools, on its newer wire only. It may have no code for this but its path.
 * What is asked for in the words of other servers can be had there.
 */
const wantsResponses = ({ status, code, message, members: { param } }: ErrorObject): boolean =>
  (status === 400 || status === 404) &&
  (code === 'unsupported_api_for_model' ||
    (code === 'unknown_parameter' && OTHERS_WISHES.some((name) => name === param)) ||
    (message.includes('v1/chat/completions') && message.includes('v1/responses')))

/** The vendor's models that think know the output cap as `max_completion_tokens` only. */
const refusesOldCap = ({ status, code, members }: ErrorObject): boolean =>
  status === 400 && code === 'unsupported_parameter' && members.param === 'max_tokens'

/** The error in an answer or a chunk; undefined where it has none. */
export const failureIn = (body: JsonObject): GatewayError | undefined => {
  const { error, object, choices } = body
  const isBare = choices === undefined && (statusIn(body) !== undefined || tellsFault(body))
  const failed = isBare || isToldError(error) || object === 'error'
  if (failed || badOutcome(body) !== undefined) return decodeError(200, body)
  const broken = asList(choices).find(isBroken)
  return broken === undefined ? undefined : decodeError(200, broken)
}

/** By a number of its server's own beside a message, or a list of faults. */
const tellsFault = ({ object, usage, code, message, errors }: JsonObject): boolean =>
  object === undefined &&
  usage === undefined &&
  ((typeof code === 'number' && code >= 400 && filledText(message) !== undefined) || asObjects(errors).length > 0)

const isBroken = (choice: Json): boolean =>
  isObject(choice) &&
  (isFilled(choice.error) || isFailure(choice.finish_reason) || isFailure(choice.native_finish_reason))
