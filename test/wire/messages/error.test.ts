// Errors: how the provider's are classified, with the phrases that agents look for and without the provider's text.

import { describe, expect, test } from 'bun:test'
import { type ErrorCode, GatewayError } from '../../../src/errors.ts'
import type { JsonObject } from '../../../src/ir/json.ts'
import { messages } from '../../../src/wire/messages/index.ts'

const failure = (type: string, message: string, details?: JsonObject) => ({
  type: 'error',
  error: { type, message, ...(details === undefined ? {} : { details }) },
  request_id: 'req_9',
})

describe('a provider’s error is classified', () => {
  test.each<[number, unknown, ErrorCode]>([
    [400, failure('invalid_request_error', 'prompt is too long: 5 tokens > 4 maximum'), 'context_length_exceeded'],
    [
      400,
      failure(
        'invalid_request_error',
        'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease',
      ),
      'context_length_exceeded',
    ],
    [
      200,
      failure(
        'BadRequestError',
        "This model's maximum context length is 10 tokens. However, your request has 11 input tokens",
      ),
      'context_length_exceeded',
    ],
    [200, { type: 'error', error: { type: 'RateLimitError', message: 'Slow down', code: 429 } }, 'service_unavailable'],
    [200, failure('InternalServerError', 'It broke.'), 'upstream_error'],
    [400, failure('invalid_request_error', 'Output blocked by content filtering policy'), 'content_policy_violation'],
    [
      400,
      failure('invalid_request_error', 'Spent', { error_code: 'enforced_spend_limit_reached' }),
      'service_unavailable',
    ],
    [
      400,
      failure('invalid_request_error', 'Big', { error_code: 'request_body_too_large_after_decoding' }),
      'payload_too_large',
    ],
    [
      400,
      failure(
        'invalid_request_error',
        "messages.0.content.0: Input tag 'credit balance is too low' found using 'type'",
      ),
      'upstream_error',
    ],
    [400, failure('invalid_request_error', 'top_k: Extra inputs are not permitted'), 'upstream_error'],
    [401, failure('authentication_error', 'invalid x-api-key'), 'upstream_error'],
    [402, failure('billing_error', 'Pay'), 'upstream_error'],
    [403, failure('permission_error', 'No'), 'upstream_error'],
    [404, failure('not_found_error', 'model: m'), 'upstream_error'],
    [413, { error: { type: 'request_too_large', message: 'Request exceeds the maximum size' } }, 'payload_too_large'],
    [413, '<html>', 'payload_too_large'],
    [429, failure('rate_limit_error', 'Slow down'), 'service_unavailable'],
    [500, failure('api_error', 'Internal server error'), 'upstream_error'],
    [503, undefined, 'service_unavailable'],
    [504, failure('timeout_error', 'Late'), 'upstream_error'],
    [529, failure('overloaded_error', 'Overloaded'), 'service_unavailable'],
    [200, failure('rate_limit_error', 'Slow down'), 'service_unavailable'],
    [200, null, 'upstream_error'],
    // Of servers that speak the wire as others do.
    [400, { error: { message: 'Prompt exceeds max length', code: '1261' } }, 'context_length_exceeded'],
    [400, { error: 'the request exceeds the available context size' }, 'context_length_exceeded'],
    [413, { detail: 'Input length (9) exceeds the maximum context length (8).' }, 'context_length_exceeded'],
    [422, { error: { type: 'x', n_prompt_tokens: 9, n_ctx: 8 } }, 'context_length_exceeded'],
    [500, { error: 'the request exceeds the available context size' }, 'upstream_error'],
    [500, failure('api_error', 'request (9 tokens) exceeds the available context size (8)'), 'context_length_exceeded'],
    ...(
      [
        ['context_length_exceeded', 'context_length_exceeded'],
        ['content_policy_violation', 'content_policy_violation'],
        ['DataInspection', 'upstream_error'],
        ['rate_limit_exceeded', 'service_unavailable'],
      ] as const
    ).map(([code, due]): [number, unknown, ErrorCode] => [
      400,
      { type: 'error', error: { type: 'invalid_request_error', code, message: 'x' } },
      due,
    ]),
  ])('%p %j', (status, body, code) => {
    const error = messages.decodeError(status, body)
    expect(error.code).toBe(code)
    if (status >= 400) expect(error.provider?.status).toBe(status)
  })

  test('a request refused as invalid is not tried elsewhere', () => {
    const error = messages.decodeError(400, failure('invalid_request_error', 'messages.0: bad'))
    expect([error.failover, error.retry, error.status]).toEqual([false, false, 502])
    expect(error.provider?.code).toBe('invalid_request_error')
    const closer = messages.decodeError(400, failure('invalid_request_error', 'bad', { error_code: 'closer' }))
    expect(closer.provider?.code).toBe('closer')
  })

  test('of a prompt that is too long, only the figures are kept', () => {
    const { message } = messages.decodeError(
      400,
      failure('invalid_request_error', 'prompt is too long: 5 tokens > 4 maximum of sk-secret'),
    )
    expect(message).toBe(
      "prompt is too long: 5 tokens > 4 maximum (this model's maximum context length is 4 tokens. However, your messages resulted in 5 tokens)",
    )
    const window = 'input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease'
    const told = messages.decodeError(400, failure('invalid_request_error', window)).message
    expect(told).toBe(
      "prompt is too long: 210000 tokens > 200000 maximum (this model's maximum context length is 200000 tokens. However, you requested 210000 tokens: input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000)",
    )
    // As another gateway of this kind tells it.
    expect(messages.decodeError(400, failure('invalid_request_error', told)).message).toBe(told)
    const words = 'The input (9 tokens) is longer than the model’s context length (8 tokens).'
    for (const status of [400, 413, 422])
      expect(messages.decodeError(status, failure('invalid_request_error', words)).message).toStartWith(
        'prompt is too long: 9 tokens > 8 maximum (',
      )
  })
})

describe('refusals that coding agents act on', () => {
  test('by 422, with which some servers refuse what they cannot read, too', () => {
    const said = failure('invalid_request_error', "messages.2: role 'system' must precede an assistant message")
    expect(messages.decodeError(422, said)).toMatchObject({ code: 'invalid_request', param: 'messages' })
    expect(messages.decodeError(422, failure('invalid_request_error', 'no')).code).toBe('upstream_error')
    const tag = "thinking: Input tag 'adaptive' found using 'type' does not match any of the expected tags"
    expect(messages.decodeError(422, failure('invalid_request_error', tag)).remedy).toBe('thinking-budget')
  })

  test.each<[string, JsonObject, string]>([
    [
      'a system turn in a place that the model does not take',
      failure('invalid_request_error', "messages.2: role 'system' must precede an assistant message secret"),
      'messages.2: role "system" must follow a user message',
    ],
    ...[
      ['output_config: Extra inputs are not permitted', 'output_config: Extra inputs are not permitted'],
      ['output_config.format: Extra inputs are not permitted', 'output_config.format: Extra inputs are not permitted'],
      ['output_config.effort requires a model that supports it', 'output_config: Extra inputs are not permitted'],
      [
        'messages.0.content.0.text.cache_control.scope: Extra inputs are not permitted',
        'cache_control: Extra inputs are not permitted',
      ],
    ].map(([message = '', phrase = '']): [string, JsonObject, string] => [
      `members that the server does not know: ${message}`,
      failure('invalid_request_error', message),
      phrase,
    ]),
    [
      'context management',
      failure('invalid_request_error', 'context_management: Extra inputs are not permitted'),
      'context_management: Extra inputs are not permitted',
    ],
    [
      'an answer begun for the model',
      failure(
        'invalid_request_error',
        'This model does not support assistant message prefill. The conversation must end with a user message.',
      ),
      'This model does not support assistant message prefill',
    ],
    ...[
      ['messages.3.content.0: Invalid `signature` in `thinking` block', 'Invalid `signature` in `thinking` block'],
      ['messages.3.content.0: Invalid signature in thinking block', 'Invalid `signature` in `thinking` block'],
      ['messages.3.content.0.thinking.signature: Field required', 'Invalid `signature` in `thinking` block'],
      [
        'messages.3.content.0.thinking: each thinking block must contain thinking',
        'Invalid `signature` in `thinking` block',
      ],
      ['messages.3.content.0: Invalid `data` in `redacted_thinking` block', 'Invalid `signature` in `thinking` block'],
      [
        'messages.1.content.19: `thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified. These blocks must remain as they were.',
        '`thinking` or `redacted_thinking` blocks in the latest assistant message cannot be modified',
      ],
    ].map(([message = '', phrase = '']): [string, JsonObject, string] => [
      'thoughts that are not as they were given',
      failure('invalid_request_error', message),
      phrase,
    ]),
    [
      'ids of calls that another vendor made',
      failure(
        'invalid_request_error',
        "messages.1.content.0.tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
      ),
      "tool_use.id: String should match pattern '^[a-zA-Z0-9_-]+$'",
    ],
    ...[
      'tool_choice: type "tool" and "any" are not supported for this model.',
      'tool_choice forces tool use is not compatible with this model',
      'Thinking may not be enabled when tool_choice forces tool use.',
      'Thinking mode does not support this tool_choice',
      "tool_choice 'specified' is incompatible with thinking enabled",
    ].map((words): [string, JsonObject, string] => [
      words,
      failure('invalid_request_error', words),
      "'tool_choice': this model cannot be forced to use a tool",
    ]),
    ...[
      'image exceeds 5 MB maximum: 6291456 bytes > 5242880 bytes',
      'At least one of the image dimensions exceed max allowed size for many-image requests: 2000 pixels',
      'At least one of the image dimensions exceed max allowed size: 8000 pixels',
      'A maximum of 100 PDF pages may be provided.',
      'The PDF specified is password protected.',
      'The PDF specified was not valid.',
      'Could not process image',
      'Unable to download the file. Please verify the URL and try again.',
      'too many images and documents: 104 + 1 > 100',
      'Too much media: 3 document pages + 102 images > 100',
    ].map((words): [string, JsonObject, string] => [
      words,
      failure('invalid_request_error', `messages.3.content.1.secret.source.base64: ${words} secret`),
      words.replace(/\.$/, ''),
    ]),
  ])('%s', (_, body, phrase) => {
    const error = messages.decodeError(400, body)
    expect([error.code, error.status]).toEqual(['invalid_request', 400])
    expect(error.message).toStartWith(phrase)
  })

  test('a thread that one account does not have may be at another', () => {
    const failing = (error_code: string) =>
      messages.decodeError(400, failure('invalid_request_error', 'x', { error_code }))
    expect(failing('thread_not_found')).toMatchObject({ details: { error_code: 'thread_not_found' }, failover: true })
    expect(failing('thread_already_continued').failover).toBe(false)
  })

  test('threads, by the code in the details, without the provider’s text', () => {
    const error = messages.decodeError(
      400,
      failure('invalid_request_error', 'secret', {
        error_code: 'thread_unsupported_request',
        unsupported: ['mcp_servers', 'some secret prose'],
      }),
    )
    expect(messages.encodeError(error, 'r')).toMatchObject({
      error: {
        code: 'invalid_request',
        details: { error_code: 'thread_unsupported_request', unsupported: ['mcp_servers'] },
      },
    })
    expect(JSON.stringify(messages.encodeError(error, 'r'))).not.toContain('secret')
  })

  test('invalid compactions and tools, by the code in the details', () => {
    const error = messages.decodeError(
      400,
      failure('invalid_request_error', 'secret', { error_code: 'compaction_signature_invalid', hint: 'secret' }),
    )
    expect(messages.encodeError(error, 'r')).toMatchObject({
      error: {
        message: 'The compaction block is not as it was given. Send it back unchanged.',
        code: 'invalid_request',
        details: { error_code: 'compaction_signature_invalid' },
      },
    })
    expect(JSON.stringify(messages.encodeError(error, 'r'))).not.toContain('secret')
  })

  test('images with too many pixels, with their paths', () => {
    const error = messages.decodeError(
      400,
      failure('invalid_request_error', 'secret', {
        error_code: 'image_dimensions_too_large',
        max_side_length_pixels: 8000,
        paths: ['messages.0.content.1', 'messages.2.content.1.content.0', 'messages.0.content.secret', 7],
      }),
    )
    expect([error.status, error.message]).toEqual([
      400,
      'At least one of the image dimensions exceed max allowed size: 8000 pixels. Take the image out, or send a smaller one.',
    ])
    expect(error.details).toEqual({
      error_code: 'image_dimensions_too_large',
      max_side_length_pixels: 8000,
      paths: ['messages.0.content.1', 'messages.2.content.1.content.0'],
    })
  })
})

test('the gateway’s errors have the envelope, the wire’s outer type and the request id', () => {
  expect(messages.encodeError(new GatewayError('quota_exhausted', 'Spent.'), 'req_1')).toEqual({
    type: 'error',
    error: { message: 'Spent.', type: 'invalid_request_error', code: 'quota_exhausted', param: null },
    request_id: 'req_1',
  })
})
