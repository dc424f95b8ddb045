// Errors and usage.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError, type Remedy } from '../../../src/errors.ts'
import type { JsonObject } from '../../../src/ir/json.ts'
import { chatCompletions } from '../../../src/wire/chat-completions/index.ts'
import { decodeUsage, encodeUsage } from '../../../src/wire/chat-completions/usage.ts'
import { usage } from '../../support/arbitrary/chat-completions.ts'

const vendor = (
  code: string | number | null,
  type: string | null = 'invalid_request_error',
  param: string | null = null,
) => ({
  error: { message: 'secret', type, param, code },
})

describe('a provider’s error', () => {
  test.each<[number, unknown, string]>([
    [400, vendor('context_length_exceeded'), 'context_length_exceeded'],
    [400, vendor('invalid_prompt'), 'content_policy_violation'],
    [400, vendor('content_filter', null), 'content_policy_violation'],
    [400, vendor('content_policy_violation'), 'content_policy_violation'],
    [400, vendor('moderation_blocked', 'image_generation_user_error'), 'content_policy_violation'],
    [413, '<html>', 'payload_too_large'],
    [429, vendor('rate_limit_exceeded', 'tokens'), 'service_unavailable'],
    [429, vendor('insufficient_quota', 'insufficient_quota'), 'service_unavailable'],
    [400, vendor('insufficient_quota', 'insufficient_quota'), 'service_unavailable'],
    [400, vendor('billing_hard_limit_reached'), 'service_unavailable'],
    [503, vendor('server_is_overloaded', 'service_unavailable_error'), 'service_unavailable'],
    [529, undefined, 'service_unavailable'],
    [200, vendor('slow_down', null), 'service_unavailable'],
    [401, vendor('invalid_api_key'), 'upstream_error'],
    [403, vendor('unsupported_country_region_territory', 'request_forbidden'), 'upstream_error'],
    [404, vendor('model_not_found'), 'upstream_error'],
    [500, vendor(null, 'server_error'), 'upstream_error'],
    [502, null, 'upstream_error'],
    [400, vendor('unsupported_parameter'), 'upstream_error'],
    [400, vendor('unsupported_value', 'invalid_request_error', 'messages[0].role'), 'invalid_request'],
    [400, vendor('unsupported_value', 'invalid_request_error', 'temperature'), 'upstream_error'],
    [400, vendor('unsupported_value'), 'upstream_error'],
    [400, vendor('unsupported_parameter', 'invalid_request_error', 'messages[0].role'), 'upstream_error'],
    [500, vendor('unsupported_value', 'invalid_request_error', 'messages[0].role'), 'upstream_error'],
  ])('%d %j is %s', (status, body, code) => {
    const error = chatCompletions.decodeError(status, body)
    expect(error.code as string).toBe(code)
    expect(error.message).not.toContain('secret')
    expect(error.provider?.status).toBe(status)
  })

  test('a request refused as malformed is not tried elsewhere, one refused for its model or credential is', () => {
    expect(chatCompletions.decodeError(400, vendor('unsupported_parameter')).failover).toBe(false)
    expect(chatCompletions.decodeError(422, vendor(null)).failover).toBe(false)
    expect(chatCompletions.decodeError(404, vendor('model_not_found')).failover).toBe(true)
    expect(chatCompletions.decodeError(400, vendor('model_not_found')).failover).toBe(true)
    expect(chatCompletions.decodeError(401, vendor('invalid_api_key')).failover).toBe(true)
  })

  test('the log gets the code, or the type where there is none', () => {
    const shown = (code: string | null) => chatCompletions.decodeError(400, vendor(code, 'kind')).provider?.code
    expect([shown('word'), shown(null)]).toEqual(['word', 'kind'])
  })

  test.each<[number, JsonObject, Remedy | undefined]>([
    [404, { message: 'Only supported in v1/responses and not in v1/chat/completions.' }, 'responses-wire'],
    [400, { message: 'secret', code: 'unsupported_api_for_model' }, 'responses-wire'],
    [
      400,
      { message: "Unknown parameter: 'reasoning'.", code: 'unknown_parameter', param: 'reasoning' },
      'responses-wire',
    ],
    [400, { message: "Unknown parameter: 'seeds'.", code: 'unknown_parameter', param: 'seeds' }, undefined],
    [400, { message: 'There is no v1/responses here.' }, undefined],
    [500, { message: 'v1/responses and v1/chat/completions are down.' }, undefined],
    [400, { message: 'secret', code: 'unsupported_parameter', param: 'max_tokens' }, 'newer-cap'],
    [400, { message: 'secret', code: 'unsupported_parameter', param: 'tools' }, undefined],
    [400, { message: "Invalid schema for response_format 'unsupported_claims': In context=(), secret" }, undefined],
  ])('%d %j: the remedy is %p', (status, error, known) => {
    const { code, remedy } = chatCompletions.decodeError(status, { error })
    expect([code, remedy]).toEqual(['upstream_error', known])
  })

  test('of a prompt that is too long, only the figures are the provider’s', () => {
    const message =
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Secret."
    const error = chatCompletions.decodeError(400, { error: { ...vendor('context_length_exceeded').error, message } })
    expect(error.message).toStartWith('prompt is too long: 9001 tokens > 8192 maximum (')
  })

  test.each([
    ['174ms', 174],
    ['1.5s', 1_500],
    ['2m', 120_000],
  ])('a rate limit that asks for %s', (words, ms) => {
    const message = `Rate limit reached for x in organization org-secret. Please try again in ${words}. More.`
    const error = chatCompletions.decodeError(429, {
      error: { message, type: 'tokens', param: null, code: 'rate_limit_exceeded' },
    })
    expect(error.retryAfterMs).toBe(ms)
    expect(error.message).not.toContain('secret')
  })

  test.each<[JsonObject, string]>([
    [
      {
        code: 400,
        type: 'BadRequestError',
        message: 'maximum context length is 8 tokens. However, you requested 9 tokens',
      },
      '9 tokens > 8 maximum',
    ],
    [
      {
        code: null,
        type: 'invalid_request_error',
        message: 'maximum context length is 8. You requested about 9 tokens',
      },
      '9 tokens > 8 maximum',
    ],
    [
      { code: 400, type: 'x', message: 'maximum context length is 8 tokens. However, your request has 9 input tokens' },
      '9 tokens > 8 maximum',
    ],
    [
      { code: 400, type: 'exceed_context_size_error', message: 'secret', n_prompt_tokens: 9, n_ctx: 8 },
      '9 tokens > 8 maximum',
    ],
    [{ code: 400, type: 'exceed_context_size_error', message: 'secret' }, 'the input exceeds the context window'],
    [
      {
        code: 400,
        type: 'x',
        message:
          "'max_tokens' is too large: 8. This maximum context length is 8 tokens and your request has 3 input tokens",
      },
      '11 tokens > 8 maximum',
    ],
  ])('a prompt that is too long is recognised without a code: %j', (error, figures) => {
    for (const body of [{ error }, { object: 'error', ...error }]) {
      const said = chatCompletions.decodeError(400, body)
      expect([said.code, said.message]).toEqual([
        'context_length_exceeded',
        expect.stringContaining(`prompt is too long: ${figures}`),
      ])
    }
    expect(chatCompletions.decodeError(401, { error: { ...error, type: 'x' } }).code).toBe('upstream_error')
    const ofServer = chatCompletions.decodeError(500, { error: { ...error, type: 'x' } })
    expect(ofServer.code).toBe(figures.includes(' > ') ? 'context_length_exceeded' : 'upstream_error')
  })

  test.each([
    ['prompt_tokens_exceeded', true],
    ['ModelInputTooLong', true],
    ['request.context_overflow', true],
    ['max_tokens_exceeded', false],
    ['input_image_limit_exceeded', false],
    ['daily_input_tokens_exceeded', false],
    ['prompt_invalid', false],
  ])('a code is read as its words: %s says that a prompt is too long: %p', (code, isLong) => {
    for (const error of [{ code }, { type: code }])
      expect(
        chatCompletions.decodeError(400, { error: { message: 'No.', ...error } }).code === 'context_length_exceeded',
      ).toBe(isLong)
  })

  test.each<JsonObject>([
    { n_prompt_tokens: null, n_ctx: null },
    { n_prompt_tokens: 'many', n_ctx: {} },
  ])('figures that are not numbers are ignored: %j', (figures) => {
    expect(chatCompletions.decodeError(400, { error: { message: 'no', ...figures } }).code).toBe('upstream_error')
  })

  test('a request above the account’s rate limit is tried on another account, and the client is told not to retry', () => {
    const { error } = vendor('rate_limit_exceeded', 'tokens')
    const message = 'Request too large for x in organization org-secret on tokens per min (TPM): Limit 3, Requested 4.'
    const said = chatCompletions.decodeError(429, { error: { ...error, message } })
    expect([said.code, said.failover, said.retry]).toEqual(['service_unavailable', true, false])
    expect(said.message).not.toContain('secret')
  })

  test('a refused system role keeps the phrase that coding agents act on', () => {
    const error = chatCompletions.decodeError(
      400,
      vendor('unsupported_value', 'invalid_request_error', 'messages[2].role'),
    )
    expect(error.message).toContain('Unexpected role "system"')
  })

  test('any status and body give an error of the contract without the body’s text', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 200, max: 599 }),
        fc.oneof(fc.anything(), fc.record({ error: fc.anything() })),
        (status, body) => {
          const error = chatCompletions.decodeError(status, body)
          expect(error).toBeInstanceOf(GatewayError)
          const { error: shown } = chatCompletions.encodeError(error, 'req_1') as { error: Record<string, unknown> }
          expect(Object.keys(shown).sort()).toEqual(['code', 'message', 'param', 'type'])
        },
      ),
    )
  })
})

test('clients get errors in the contract’s envelope', () => {
  const error = new GatewayError('invalid_request', 'Wrong.', { param: 'n', details: { error_code: 'x' } })
  expect(chatCompletions.encodeError(error, 'req_1')).toEqual({
    error: {
      message: 'Wrong.',
      type: 'invalid_request_error',
      code: 'invalid_request',
      param: 'n',
    },
  })
})

describe('usage', () => {
  test('is the same after encoding and decoding', () => {
    fc.assert(fc.property(usage, (counts) => expect(decodeUsage(encodeUsage(counts))).toEqual(counts)))
  })

  test.each<[string, unknown, unknown]>([
    [
      'cached and written tokens are not input',
      {
        prompt_tokens: 100,
        completion_tokens: 5,
        prompt_tokens_details: { cached_tokens: 60, cache_write_tokens: 30 },
      },
      { input: 10, cacheRead: 60, cacheWrite: 30, output: 5 },
    ],
    [
      'details that are null',
      { prompt_tokens: 1, completion_tokens: 2, prompt_tokens_details: null, completion_tokens_details: null },
      { input: 1, output: 2 },
    ],
    [
      'reasoning is a part of the output',
      { prompt_tokens: 1, completion_tokens: 9, total_tokens: 10, completion_tokens_details: { reasoning_tokens: 4 } },
      { input: 1, output: 9, reasoning: 4 },
    ],
    [
      'reasoning that the server counts apart',
      { prompt_tokens: 1, completion_tokens: 5, total_tokens: 10, completion_tokens_details: { reasoning_tokens: 4 } },
      { input: 1, output: 9, reasoning: 4 },
    ],
    [
      'a cache hit under its older name',
      { prompt_tokens: 9, completion_tokens: 1, prompt_cache_hit_tokens: 4 },
      { input: 5, cacheRead: 4, output: 1 },
    ],
    [
      'a cache hit as a number of tokens',
      { prompt_tokens: 9, completion_tokens: 1, num_cached_tokens: 4 },
      { input: 5, cacheRead: 4, output: 1 },
    ],
    [
      'what was written to the cache, under the names of several servers',
      {
        prompt_tokens: 9,
        completion_tokens: 1,
        prompt_tokens_details: { cached_tokens: 0, cache_creation_input_tokens: 4 },
      },
      { input: 5, cacheRead: 0, cacheWrite: 4, output: 1 },
    ],
    [
      'cache classes under the names of another wire',
      { prompt_tokens: 9, completion_tokens: 1, cache_creation_input_tokens: 4, cache_read_input_tokens: 2 },
      { input: 3, cacheRead: 2, cacheWrite: 4, output: 1 },
    ],
    [
      'cache writes among the details of a chain of servers',
      { prompt_tokens: 9, completion_tokens: 1, prompt_tokens_details: { cache_creation_tokens: 4 } },
      { input: 5, cacheWrite: 4, output: 1 },
    ],
    [
      'reasoning beside the other figures',
      { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14, reasoning_tokens: 4 },
      { input: 9, output: 5, reasoning: 4 },
    ],
    [
      'more reasoning beside the other figures than output, which the total leaves out',
      {
        prompt_tokens: 33,
        completion_tokens: 7163,
        total_tokens: 7196,
        citation_tokens: 19355,
        reasoning_tokens: 95305,
      },
      { input: 33, output: 102468, reasoning: 95305 },
    ],
    [
      'more reasoning beside the other figures than output, which the total holds',
      { prompt_tokens: 9, completion_tokens: 5, total_tokens: 34, reasoning_tokens: 20 },
      { input: 9, output: 25, reasoning: 20 },
    ],
    [
      'more reasoning among the details than output, of which it is a part',
      { prompt_tokens: 9, completion_tokens: 5, total_tokens: 14, completion_tokens_details: { reasoning_tokens: 6 } },
      { input: 9, output: 5, reasoning: 5 },
    ],
    [
      'thoughts that only the total holds',
      { prompt_tokens: 10, completion_tokens: 2, total_tokens: 112 },
      { input: 10, output: 102 },
    ],
    [
      'thoughts that only the total holds, nothing having been cached',
      { prompt_tokens: 10, completion_tokens: 2, total_tokens: 112, prompt_tokens_details: { cached_tokens: 0 } },
      { input: 10, cacheRead: 0, output: 102 },
    ],
    ['a prompt that only the total tells', { completion_tokens: 2, total_tokens: 112 }, { input: 110, output: 2 }],
    ['no counts', {}, undefined],
    ['null', null, undefined],
    ['counts that are none', { prompt_tokens: 'many', completion_tokens: -1 }, undefined],
  ])('%s', (_, raw, expected) => {
    expect(decodeUsage(raw)).toEqual(expected as never)
  })
})
