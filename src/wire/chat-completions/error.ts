// Errors: a provider's answer classified by status and machine code, and the gateway's own as this wire's clients read it.

import { envelope, GatewayError } from '../../errors.ts'
import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { classified, type ErrorObject, readErrorObject } from '../error-object.ts'
import { providerError } from '../failure.ts'

/** `body` is what the provider sent, of any shape; a stream's error frame comes with the stream's own 200. */
export const decodeError = (status: number, body: unknown): GatewayError => {
  const error = readErrorObject(status, body)
  const { param } = error.members
  const refusesRole =
    error.status === 400 && error.code === 'unsupported_value' && typeof param === 'string' && param.endsWith('.role')
  if (wantsResponses(error)) return providerError('invalid', { provider: error.provider, takenOn: 'responses' })
  if (!refusesRole) return classified(error)
  // Coding agents read these words and ask again without system messages in the conversation.
  const role = error.message.includes("'developer'") ? 'developer' : 'system'
  return new GatewayError('invalid_request', `Unexpected role "${role}": this model does not take it here.`, {
    param: 'messages',
    provider: error.provider,
  })
}

/** The vendor has some models, and others beside tools, on its newer wire alone: there is no code for it but its path. */
const wantsResponses = ({ status, code, message }: ErrorObject): boolean =>
  (status === 400 || status === 404) &&
  (code === 'unsupported_api_for_model' ||
    (message.includes('v1/chat/completions') && message.includes('v1/responses')))

/** Words by which servers say that they, not the model, put an end to the answer. */
const FAULTS = /^(?:error|abort|network_error|insufficient_system_resource)$|malformed_function_call/i

/** What an answer or a chunk says went wrong; undefined where it is one. */
export const failureIn = (body: JsonObject): GatewayError | undefined => {
  const { error, object, choices } = body
  if (isObject(error) || (typeof error === 'string' && error !== '') || object === 'error')
    return decodeError(200, body)
  const broken = Array.isArray(choices) ? choices.find(isBroken) : undefined
  return broken === undefined ? undefined : decodeError(200, broken)
}

const isBroken = (choice: Json): boolean =>
  isObject(choice) &&
  (isObject(choice.error) || (typeof choice.finish_reason === 'string' && FAULTS.test(choice.finish_reason)))

/** The contract's envelope: this wire's clients read it as it is. */
export const encodeError = (error: GatewayError): JsonObject => envelope(error)
