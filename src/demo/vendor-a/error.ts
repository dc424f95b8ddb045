// How vendor_a words its failures. Source: the API's published error list and recorded bodies, 2026-08.

import type { JsonObject } from '../../ir/json.ts'
import { type Failure, MARKER, VendorError } from '../vendor.ts'

/** A 400 as the vendor words them: the path of the member, then what is wrong. */
export const invalid = (message: string): VendorError =>
  new VendorError(400, { type: 'invalid_request_error', message }, { 'x-should-retry': 'false' })

export const unauthorised = (message = 'invalid x-api-key'): VendorError =>
  new VendorError(401, { type: 'authentication_error', message }, { 'x-should-retry': 'false' })

const row = (status: number, type: string, message: string, headers: Record<string, string> = {}) => ({
  status,
  type,
  message,
  headers,
})

const TABLE: Record<Failure, ReturnType<typeof row>> = {
  invalid: row(400, 'invalid_request_error', 'The request is malformed.'),
  credential: row(401, 'authentication_error', 'invalid x-api-key'),
  billing: row(402, 'billing_error', 'Your organization has disabled billing.'),
  permission: row(403, 'permission_error', 'Your API key does not have permission to use the specified resource.'),
  model: row(404, 'not_found_error', 'model: there-is-no-such-model'),
  conflict: row(409, 'conflict_error', 'The request conflicts with another one.'),
  too_large: row(413, 'request_too_large', 'Request exceeds the maximum size'),
  rate_limit: row(
    429,
    'rate_limit_error',
    "This request would exceed your organization's rate limit of 30,000 input tokens per minute (org: 9d50ef40-vendor).",
    { 'retry-after': '7' },
  ),
  quota: row(
    400,
    'invalid_request_error',
    'Your credit balance is too low to access the API. Please go to Plans & Billing to upgrade or purchase credits.',
  ),
  context_length: row(400, 'invalid_request_error', 'prompt is too long: 209512 tokens > 200000 maximum'),
  content_policy: row(400, 'invalid_request_error', 'Output blocked by content filtering policy'),
  server: row(500, 'api_error', 'Internal server error'),
  bad_gateway: row(502, 'api_error', 'Bad gateway'),
  overloaded: row(529, 'overloaded_error', 'Overloaded', { 'x-should-retry': 'true' }),
  timeout: row(504, 'timeout_error', 'The request timed out.'),
}

export const failure = (name: Failure): VendorError => {
  const { status, type, message, headers } = TABLE[name]
  return new VendorError(status, { type, message }, headers)
}

/** The 413 comes from the vendor's edge: neither a top-level type nor a request id. */
export const errorBody = (error: VendorError, requestId: string): JsonObject =>
  error.status === 413
    ? { error: { ...error.members, message: marked(error.message) } }
    : {
        type: 'error',
        error: { details: null, ...error.members, message: marked(error.message) },
        request_id: requestId,
      }

const marked = (message: string): string => `${message} (${MARKER}, upstream host vendor-a.demo.internal)`
