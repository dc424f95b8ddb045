// Decodes a provider's error on this wire, in an HTTP body or within a stream, and encodes the body of an error.

import { envelope, type GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../ir/json.ts'
import { classified, readErrorObject } from '../error-object.ts'

/** `status` is 200 for a failure within a stream, where only the code counts. Accepts `{error}` and the bare error. */
export const decodeError = (status: number, body: unknown): GatewayError => classified(readErrorObject(status, body))

export const encodeError = (error: GatewayError, requestId: string): JsonObject => ({
  ...envelope(error),
  request_id: requestId,
})
