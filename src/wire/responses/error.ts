// A provider's failure on this wire, in an HTTP body or within a stream, and the body of an error for its clients.

import { envelope, type GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../ir/json.ts'
import { classified, readErrorObject } from '../error-object.ts'

/** `status` is 200 for a failure within a stream: the code alone tells then. Accepts `{error}` and the bare error. */
export const decodeError = (status: number, body: unknown): GatewayError => classified(readErrorObject(status, body))

export const encodeError = (error: GatewayError, requestId: string): JsonObject => ({
  ...envelope(error),
  request_id: requestId,
})
