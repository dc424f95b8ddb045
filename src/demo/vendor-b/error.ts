// How vendor_b words its failures: four members always, null where there is nothing to say. Source: as recorded, 2026-08.

import type { Json, JsonObject } from '../../ir/json.ts'
import { type DemoWireName, type Failure, MARKER, VendorError } from '../vendor.ts'

export const invalid = (message: string, param: string | null, code: string | null = null, status = 400): VendorError =>
  make(status, { type: 'invalid_request_error', code, message, param })

export const unauthorised = (key: string | undefined): VendorError =>
  key === undefined
    ? invalid(
        "You didn't provide an API key. You need to provide your API key in an Authorization header.",
        null,
        null,
        401,
      )
    : invalid(`Incorrect API key provided: ${key.slice(0, 4)}****${key.slice(-4)}.`, null, 'invalid_api_key', 401)

const make = (
  status: number,
  { message, type, param = null, code }: { message: string; type: string; param?: string | null; code: string | null },
  headers: Record<string, string> = {},
): VendorError => new VendorError(status, { message, type, param, code }, headers)

const RESET = { 'retry-after': '3', 'retry-after-ms': '2800', 'x-ratelimit-reset-tokens': '2.8s' }

export const failure = (name: Failure, wire: DemoWireName): VendorError => {
  switch (name) {
    case 'invalid':
      return invalid("Invalid value: 'demo'.", 'demo', 'invalid_value')
    case 'credential':
      return unauthorised('demo-wrong-key')
    case 'billing':
      return make(402, {
        type: 'insufficient_quota',
        code: 'billing_hard_limit_reached',
        message: 'Billing hard limit has been reached.',
      })
    case 'permission':
      return make(403, {
        type: 'request_forbidden',
        code: 'unsupported_country_region_territory',
        message: 'Country not supported.',
      })
    case 'model':
      return wire === 'responses'
        ? invalid("The requested model 'x' does not exist.", 'model', 'model_not_found')
        : invalid('The model `x` does not exist or you do not have access.', null, 'model_not_found', 404)
    case 'conflict':
      return invalid('The request conflicts with another one.', null, null, 409)
    case 'too_large':
      return invalid('Maximum content size limit exceeded.', null, null, 413)
    case 'rate_limit':
      return make(
        429,
        {
          type: 'tokens',
          code: 'rate_limit_exceeded',
          message:
            'Rate limit reached for demo in organization org-vendor on tokens per min (TPM). Please try again in 2.8s.',
        },
        RESET,
      )
    case 'quota':
      return make(429, {
        type: 'insufficient_quota',
        code: 'insufficient_quota',
        message: 'You exceeded your current quota.',
      })
    case 'context_length':
      return wire === 'responses'
        ? invalid(
            'Your input exceeds the context window of this model. Please adjust your input and try again.',
            'input',
            'context_length_exceeded',
          )
        : invalid(
            "This model's maximum context length is 128000 tokens. However, your messages resulted in 131072 tokens.",
            'messages',
            'context_length_exceeded',
          )
    case 'content_policy':
      return wire === 'images'
        ? new VendorError(400, {
            message: 'Your request was rejected by the safety system. safety_violations=[demo].',
            type: 'image_generation_user_error',
            param: null,
            code: 'moderation_blocked',
            moderation_details: { moderation_stage: 'input', categories: ['demo'] },
          })
        : invalid(
            'Invalid prompt: your prompt was flagged as potentially violating our usage policy.',
            null,
            'invalid_prompt',
          )
    case 'server':
      return make(500, {
        type: 'server_error',
        code: null,
        message: 'The server had an error while processing your request. Sorry about that!',
      })
    case 'bad_gateway':
      return make(502, { type: 'server_error', code: null, message: 'Bad gateway.' })
    case 'overloaded':
      return make(503, {
        type: 'service_unavailable_error',
        code: 'server_is_overloaded',
        message: 'Our servers are currently overloaded.',
      })
    case 'timeout':
      return make(504, { type: 'server_error', code: null, message: 'The request timed out.' })
  }
}

/** The `error` object with the marker in its text. */
export const errorMembers = (error: VendorError): JsonObject & { message: string; code: Json } => ({
  param: null,
  ...error.members,
  code: error.members.code ?? null,
  message: `${error.message} (${MARKER}, upstream host vendor-b.demo.internal)`,
})

export const errorBody = (error: VendorError): JsonObject => ({ error: errorMembers(error) })
