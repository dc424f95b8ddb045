// One error object on three wires: what any of their providers says with it means the same on each.

import { describe, expect, test } from 'bun:test'
import type { GatewayError } from '../../src/errors.ts'
import type { JsonObject } from '../../src/ir/json.ts'
import { CODECS } from '../../src/wire/index.ts'

const WIRES = [CODECS['chat-completions'], CODECS.responses, CODECS.images]

describe.each(WIRES.map((codec) => [codec.wire, codec] as const))('a failure on %s', (_, codec) => {
  const decode = (status: number, error: JsonObject): GatewayError =>
    codec.decodeError(status, { error: { message: 'secret', ...error } })

  test.each<[number, JsonObject, string]>([
    [400, { code: 'cyber_policy' }, 'content_policy_violation'],
    [400, { code: 'ResponsibleAIPolicyViolation' }, 'content_policy_violation'],
    [400, { code: 'request_too_large' }, 'payload_too_large'],
    [413, {}, 'payload_too_large'],
    [400, { type: 'insufficient_quota', code: 'insufficient_quota' }, 'service_unavailable'],
    [503, { type: 'server_error' }, 'service_unavailable'],
    [200, { code: 429 }, 'service_unavailable'],
    [200, { code: 502 }, 'upstream_error'],
    [429, { code: 1302 }, 'service_unavailable'],
    [404, { code: 'model_not_found' }, 'upstream_error'],
  ])('with the status %d and %j is %s', (status, error, code) => {
    const decoded = decode(status, error)
    expect(decoded.code as string).toBe(code)
    expect(decoded.message).not.toContain('secret')
  })

  test.each<[number, JsonObject, boolean]>([
    [400, { code: 'unsupported_parameter' }, false],
    [400, { code: 20_015 }, false],
    [422, {}, false],
    [200, { type: 'invalid_request_error' }, false],
    [400, { code: 'model_not_found' }, true],
    [400, { type: 'server_error' }, true],
    [401, { code: 'invalid_api_key' }, true],
  ])('with the status %d and %j goes to another target: %p', (status, error, failover) => {
    expect(decode(status, error).failover).toBe(failover)
  })

  test('that names a figure too many is a prompt too long, code or none', () => {
    const message = "This model's maximum context length is 8192 tokens. However, your request has 9001 input tokens."
    expect(decode(400, { message, code: 400, type: 'BadRequestError' }).message).toBe(
      'prompt is too long: 9001 tokens > 8192 maximum',
    )
  })

  test('that an account’s limit will never take goes to another account, whatever its status', () => {
    const message = 'Request too large for x on tokens per minute (TPM): Limit 3, Requested 4.'
    for (const status of [413, 429]) {
      const { code, failover, retry } = decode(status, { message, type: 'tokens', code: 'rate_limit_exceeded' })
      expect([code, failover, retry]).toEqual(['service_unavailable', true, false])
    }
  })

  test.each([
    ['174ms', 174],
    ['1.5s', 1_500],
    ['2m', 120_000],
    ['6m0s', 360_000],
    ['1m26.4s', 86_400],
    ['1h10m5.759s', 4_205_759],
  ])('that asks for a patience of %s is told so', (words, ms) => {
    const message = `Rate limit reached for x. Please try again in ${words}. More.`
    expect(decode(429, { message, code: 'rate_limit_exceeded' }).retryAfterMs).toBe(ms)
  })
})
