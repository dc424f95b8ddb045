// The provider's errors on this wire.

import type { GatewayError } from '../../errors.ts'
import { withRefusal } from '../refusal/body.ts'
import { classified, readErrorObject } from '../refusal/error-object.ts'
import { providerError } from '../refusal/failure.ts'

/** `status` is 200 for a failure within a stream, where only the code counts. Accepts `{error}` and the bare error. */
export const decodeError = (status: number, body: unknown): GatewayError => withRefusal(classOf(status, body), body)

const classOf = (status: number, body: unknown): GatewayError => {
  const error = readErrorObject(status, body)
  if (!UNREAD.test(error.message)) return classified(error)
  return providerError('invalid', { provider: error.provider, remedy: 'chat-wire' })
}

/** A relay's words for a body that it cannot read, under the vendor's code for what is against its policy. */
const UNREAD = /^Invalid Responses API request/
