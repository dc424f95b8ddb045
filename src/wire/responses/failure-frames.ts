// How a responses stream ends when it breaks: its own terminal event, then the gateway's error frame.

import { envelope, type GatewayError } from '../../errors.ts'
import type { JsonObject } from '../../ir/json.ts'
import { writeFrame } from '../../lib/sse.ts'

/** `response`: as it began; `sequence`: the next number; `started`: whether `response.created` was sent. */
type Broken = { response: JsonObject; sequence: number; started: boolean }

/** `response.failed`, preceded by `response.created` where the stream had not begun, then the `error` frame. */
export const failureFrames = (error: GatewayError, broken: Broken): string => {
  let sequence = broken.sequence
  let out = ''
  const event = (type: string, members: JsonObject) => {
    out += writeFrame({ event: type, data: JSON.stringify({ type, ...members, sequence_number: sequence++ }) })
  }
  if (!broken.started) event('response.created', { response: broken.response })
  event('response.failed', { response: { ...broken.response, status: 'failed', error: failureOf(error) } })
  event('error', { code: error.code, message: error.message, param: error.param ?? null, ...envelope(error) })
  return out
}

/** The `error` of a response that failed. */
export const failureOf = (error: GatewayError): JsonObject => ({ code: responseCode(error), message: error.message })

// Codes that agents act on; the wire has none for the gateway's other errors.
const responseCode = (error: GatewayError): string => {
  switch (error.code) {
    case 'context_length_exceeded':
      return 'context_length_exceeded'
    case 'content_policy_violation':
      return 'invalid_prompt'
    case 'rate_limit_exceeded':
      return 'rate_limit_exceeded'
    default:
      return 'server_error'
  }
}
