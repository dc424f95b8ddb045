// Errors of the images wire: the vendor's classes in, the gateway's envelope out.

import { envelope, type GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../ir/json.ts'
import { classified, readErrorObject } from '../error-object.ts'

/** `status` is 200 for an error within a stream. */
export const decodeError = (status: number, body: unknown): GatewayError => classified(readErrorObject(status, body))

export const encodeError = (error: GatewayError): JsonObject => envelope(error)
