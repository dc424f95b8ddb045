// The body of a refusal beside its error, for as long as that lives: what it is about is read where the body that was sent is
// known (refused.ts). Kept apart, as no text of a provider's may come near a log or a client.

import type { GatewayError } from '../../errors.ts'
import { isObject } from '../../ir/json.ts'

const bodies = new WeakMap<GatewayError, unknown>()

/** `body`: with the error, or the error itself. Of an answer that failed, the rest is no part of it. */
export const withRefusal = (error: GatewayError, body: unknown): GatewayError => {
  bodies.set(error, isObject(body) && isObject(body.error) && 'output' in body ? body.error : body)
  return error
}

export const refusalOf = (error: GatewayError): unknown => bodies.get(error)
