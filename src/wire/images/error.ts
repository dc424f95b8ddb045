// Errors of the images wire: the provider's, classified, and the gateway's envelope.

import { envelope, type GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../ir/json.ts'
import { classified, readErrorObject } from '../error-object.ts'

/** `status` is 200 for an error within a stream. */
export const decodeError = (status: number, body: unknown): GatewayError => classified(readErrorObject(status, body))

export const encodeError = (error: GatewayError): JsonObject => envelope(error)
