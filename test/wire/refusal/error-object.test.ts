// The error object of three wires is classified the same on each.

import { describe, expect, test } from 'bun:test'
import type { GatewayError } from '../../../src/errors.ts'
import type { Json, JsonObject } from '../../../src/ir/json.ts'
import { CODECS } from '../../../src/wire/index.ts'

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
    [400, { code: 'previous_response_not_found', param: 'previous_response_id' }, 'invalid_request'],
    [404, { message: "Item with id 'rs_1' not found. Items are not persisted.", param: 'input' }, 'invalid_request'],
    [404, { message: "Invalid value: Item with id 'rs_1' not found.", param: 'input' }, 'upstream_error'],
    [413, { code: 'tokens_limit_reached' }, 'context_length_exceeded'],
    [400, { code: '1261' }, 'context_length_exceeded'],
    [400, { code: '1301' }, 'content_policy_violation'],
    [400, { code: 'data_inspection_failed' }, 'content_policy_violation'],
    [403, { code: 403, metadata: { reasons: ['violence'], flagged_input: 'x' } }, 'content_policy_violation'],
    [403, { code: 403, metadata: { reasons: [] } }, 'upstream_error'],
    [400, { code: 'SensitiveContentDetected.Violence', type: 'BadRequest' }, 'content_policy_violation'],
    [400, { code: 'InputTextSensitiveContentDetected', type: 'BadRequest' }, 'content_policy_violation'],
    [400, { code: 'OutputTextSensitiveContentDetected', type: 'BadRequest' }, 'content_policy_violation'],
    [400, { message: 'Content Exists Risk of x' }, 'upstream_error'],
    [200, { code: '429' }, 'service_unavailable'],
    [200, { http_status_code: 503 }, 'service_unavailable'],
    [200, { status: 429 }, 'service_unavailable'],
    [200, { type: 'insufficient_balance_error', http_code: '429' }, 'service_unavailable'],
    [200, { code: [{ toString: 1, valueOf: 1 }] }, 'upstream_error'],
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
    [200, { type: 'unprocessable_entity_error', http_code: '422' }, false],
    [200, { code: 'image_too_large' }, false],
    [200, { code: 'invalid_image_url', type: 'error' }, false],
    [200, { code: 'unsupported_parameter', type: 'error' }, false],
    [200, { code: 'vector_store_timeout' }, true],
    [400, { code: 'model_not_found' }, true],
    [400, { code: 'invalid_encrypted_content' }, true],
    [400, { code: 'previous_response_not_found', param: 'previous_response_id' }, true],
    [404, { message: "Item with id 'rs_1' not found. Items are not persisted.", param: 'input' }, true],
    [400, { type: 'server_error' }, true],
    [400, { code: 'tool_use_failed', type: 'invalid_request_error', failed_generation: 'secret' }, true],
    [200, { code: 'json_validate_failed', type: 'invalid_request_error' }, true],
    [401, { code: 'invalid_api_key' }, true],
    [400, { code: 400, status: 'INVALID_ARGUMENT', details: [{ reason: 'API_KEY_INVALID' }] }, true],
    [400, { code: 400, status: 'INVALID_ARGUMENT', details: [{ fieldViolations: [] }] }, false],
    [400, { code: 'Arrearage', type: 'Arrearage' }, true],
  ])('with the status %d and %j goes to another target: %p', (status, error, failover) => {
    expect(decode(status, error).failover).toBe(failover)
  })

  test.each<[number, string, boolean]>([
    [1002, 'service_unavailable', true],
    [1004, 'upstream_error', true],
    [1008, 'service_unavailable', true],
    [1026, 'content_policy_violation', false],
    [1027, 'content_policy_violation', false],
    [2013, 'upstream_error', false],
    [2056, 'service_unavailable', true],
  ])('told by the outcome %d beside an answer’s members is %s', (number, code, failover) => {
    for (const status of [200, 400]) {
      const outcome = { status_code: number, status_msg: 'secret' }
      const error = codec.decodeError(status, { choices: null, base_resp: outcome })
      expect([error.code as string, error.failover, error.provider?.code]).toEqual([
        code,
        failover,
        `base_resp.${number}`,
      ])
    }
  })

  test.each<[number, JsonObject]>([
    [400, { code: 'image_parse_error' }],
    [
      400,
      {
        code: 'invalid_value',
        param: 'input',
        message: 'The image data you provided does not represent a valid image. secret',
      },
    ],
    [400, { message: 'messages.0.content.1: Could not process image secret' }],
    [200, { code: 'invalid_base64_image' }],
    [400, { message: '.messages[9].image[0]: You have uploaded an unsupported image. Please make sure it is valid.' }],
  ])('for an invalid image (%d, %j) has the message at which agents remove it', (status, error) => {
    const { code, message } = decode(status, error)
    expect([code, message]).toEqual([
      'invalid_request',
      'Could not process image: The image data you provided does not represent a valid image. Take it out, or send it as a JPEG, PNG, GIF or WebP.',
    ])
  })

  test.each([
    'this model does not support image input (ref: secret)',
    "This model doesn't support the image field for user messages. Remove image and try again.",
    'image input is not supported - hint: you may need to provide the mmproj',
  ])('for images that the model takes none of has words at which agents remove them: %s', (message) => {
    const error = decode(400, { message })
    expect([error.code, error.message]).toEqual([
      'invalid_request',
      'Could not process image: This model takes none. Take it out, or use a model that sees.',
    ])
  })

  test.each<[number, JsonObject]>([
    [400, { code: 'invalid_image_url', message: 'Error while downloading https://secret.' }],
    [400, { code: 'invalid_value', param: 'url', message: 'Error while downloading file. Upstream status code: 404.' }],
    [400, { code: 'invalid_image_url', message: 'Timeout while downloading https://secret.' }],
    [400, { message: '.messages[1].image[0]: Failed to download image from https://secret.' }],
    [400, { message: "This URL is disallowed by the website's robots.txt file. Please use a different URL." }],
    [200, { code: 'failed_to_download_image' }],
  ])(
    'for a file that the provider cannot fetch (%d, %j) has the words at which clients send it themselves',
    (status, error) => {
      const { code, message } = decode(status, error)
      expect([code, message]).toEqual([
        'invalid_request',
        'Unable to download the file. Please verify the URL and try again, or send the file itself.',
      ])
    },
  )

  test.each(['Unable to call download_file.', 'Error in tool download-file: no schema'])(
    'for a tool that is called so has no such words: %s',
    (message) => {
      expect(decode(400, { message }).code).toBe('upstream_error')
    },
  )

  test('for an image that is too large has the sentences that both vendors’ agents look for', () => {
    expect(decode(400, { code: 'image_too_large' }).message).toMatch(/image exceeds the maximum/)
    for (const words of [
      'Too many images in request. Max is 50.',
      'request contains 52 images, exceeding the maximum of 50 allowed per request',
      'At most 50 image(s) may be provided in one request.',
      'Image count 51 exceeds limit 50 per request.',
      'The request contains too many images: 51 images were provided, but the model supports a maximum of 50 images.',
    ])
      expect(decode(400, { message: words }).message).toBe(
        'Too many images in request. Max is 50. Take some of them out.',
      )
    const empty = 'messages.27.content.1.image.source.base64: image cannot be empty'
    expect(decode(400, { message: empty }).message).toStartWith('Could not process image')
    const words = 'messages.0: image exceeds 5 MB maximum: 6 bytes > 5 bytes secret'
    expect(decode(400, { message: words }).message).toBe(
      'image exceeds 5 MB maximum: 6 bytes > 5 bytes. Take it out, or send a smaller one.',
    )
    expect(decode(500, { message: words }).code).toBe('upstream_error')
  })

  const tooMany = (member: string): string =>
    `Invalid '${member}': array too long. Expected an array with maximum length 128, but got an array with length 142 instead.`

  test.each<[JsonObject]>([
    [{ code: 'array_above_max_length', param: 'tools', message: tooMany('tools') }],
    [{ code: 'invalid_request_body', message: tooMany('tools') }],
    [{ message: tooMany('functions') }],
  ])('for more tools than the model takes is the client’s to mend: %j', (error) => {
    const { code, param, message } = decode(400, error)
    expect([code as string, param]).toEqual(['invalid_request', 'tools'])
    expect(message).toBe("'tools' holds more tools than this model takes, which is 128. Send fewer.")
    expect(decode(400, { message: `x ${error.message}` }).code).toBe('upstream_error')
  })

  test('that names more tokens than the maximum is a prompt too long, with or without a code', () => {
    const message = "This model's maximum context length is 8192 tokens. However, your request has 9001 input tokens."
    expect(decode(400, { message, code: 400, type: 'BadRequestError' }).message).toBe(
      "prompt is too long: 9001 tokens > 8192 maximum (this model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens)",
    )
  })

  test.each([
    'However, you requested 9001 tokens (8000 in the messages, 1001 in the completion).',
    'You requested a total of 9001 tokens: 8000 tokens from the input messages and 1001 tokens for the completion.',
    'However, you requested about 9001 tokens (8000 of text input, 1001 in the output).',
    'Your request has 8000 input tokens (1001 > 8192 - 8000).',
    'However, you requested 1001 output tokens and your prompt contains 8000 input tokens, for a total of 9001 tokens.',
    "You passed 8000 input tokens and requested 1001 output tokens. However, the model's context length is only 8192 tokens.",
    "prompt is too long: 9001 tokens > 8192 maximum (this model's maximum context length is 8192 tokens. However, you requested 9001 tokens: input length and `max_tokens` exceed context limit: 8000 + 1001 > 8192)",
    'prompt is too long: 9001 tokens > 8192 maximum (input length and `max_tokens` exceed context limit: 8000 + 1001 > 8192)',
  ])('for a prompt that leaves no room for the answer says how much there is: %s', (words) => {
    const { message } = decode(400, { message: `This model's maximum context length is 8192 tokens. ${words}` })
    expect(message).toBe(
      "prompt is too long: 9001 tokens > 8192 maximum (this model's maximum context length is 8192 tokens. However, you requested 9001 tokens: input length and `max_tokens` exceed context limit: 8000 + 1001 > 8192)",
    )
  })

  test('for a prompt that does not fit even alone does not mention room for the answer', () => {
    const words =
      "This model's maximum context length is 8 tokens. You requested 19 tokens (10 in the messages, 9 in the completion)."
    expect(decode(400, { message: words }).message).toBe(
      "prompt is too long: 19 tokens > 8 maximum (this model's maximum context length is 8 tokens. However, your messages resulted in 19 tokens)",
    )
  })

  test.each([
    'However, you requested 5000 output tokens and your prompt contains at least 3193 input tokens, for a total of at least 8193 tokens.',
    "You passed 3193 input tokens and requested 5000 output tokens. However, the model's context length is only 8192 tokens.",
    'However, you requested 0 output tokens and your prompt contains at least 8193 input tokens, for a total of at least 8193 tokens.',
  ])('for a prompt that was not counted to its end does not mention room for the answer: %s', (words) => {
    const { message } = decode(400, { message: `This model's maximum context length is 8192 tokens. ${words}` })
    expect(message).toBe(
      "prompt is too long: 8193 tokens > 8192 maximum (this model's maximum context length is 8192 tokens. However, your messages resulted in 8193 tokens)",
    )
  })

  const TOLD = [
    "You passed 9001 input tokens and requested 9 output tokens. However, the model's context length is only 8192 tokens, resulting in a maximum input length of 8183 tokens.",
    "The input (9001 tokens) is longer than the model's context length (8192 tokens).",
    "Requested token count exceeds the model's maximum context length of 8192 tokens. You requested a total of 9001 tokens.",
    "Input length (9001) exceeds model's maximum context length (8192).",
    'Input length 9001 exceeds the maximum allowed input length of 8192 tokens.',
    'The decoder prompt (length 9001) is longer than the maximum model length of 8192.',
    'Prompt has 9,001 tokens, but the configured context size is 8,192 tokens',
    'Prompt contains 9001 tokens and 0 draft tokens, too large for model with 8192 maximum context length',
    "This model's maximum prompt length is 8192 but the request contains 9001 tokens.",
    'The input token count (9001) exceeds the maximum number of tokens allowed (8192).',
    'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8192. Given: 9001 `inputs` tokens and 9 `max_new_tokens`',
    'prompt token count of 9001 exceeds the limit of 8192',
    'length of prompt_tokens (9001) must be less than max_seq_len (8192).',
    'max_total_tokens (9001) must be less than or equal to max_seq_len (8192)',
    'Input tokens exceed the configured limit of 8192 tokens. Your messages resulted in 9001 tokens. Please reduce the length of the messages.',
    'Invalid request: Your request exceeded model token limit: 8192 (requested: 9001)',
    'Please reduce the length of the messages or completion. Current length is 9001 while limit is 8192',
    'The estimated number of input and maximum output tokens (9001) exceeded this model context window limit (8192)',
    'The prompt is too long: 9001, model maximum context length: 8192',
    "This model's maximum context length is 8192 tokens. However, your prompt contains at least 9001 input tokens, which leaves none for an answer.",
    'request (9001 tokens) exceeds the available context size (8192 tokens)',
    "prompt is too long: 9001 tokens > 8192 maximum (this model's maximum context length is 8192 tokens)",
    "prompt is too long: 9001 tokens > 8192 maximum (this model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens)",
    'Trying to keep the first 9001 tokens when context the overflows. However, the model is loaded with context length of only 8192 tokens, which is not enough.',
    'The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 9001>= n_ctx: 8192). Try to load the model with a larger context length, or provide a shorter input.',
    'Requested tokens (9001) exceed context window of 8192',
    'input (9001 tokens) is too large to process. increase the physical batch size (current batch size: 8192)',
    'rpc error: code = Internal desc = request (9001 tokens) exceeds the available context size (8192 tokens), try increasing it',
  ]
  const SAID = [
    "You passed 99001 input characters and requested 9 output tokens. However, the model's context length is only 8192 tokens.",
    'prompt too long; exceeded max context length by 9 tokens',
    "This model's maximum context length is 2048 tokens. However, your prompt contains 90210 characters (more than 32768 characters, which is the upper bound for 2048 input tokens).",
    'prompt is too long: 12345678901234567890 tokens > 8192 maximum',
    'Input is too long for requested model.',
    'the request exceeds the available context size, try increasing it',
    'The number of tokens to keep from the initial prompt is greater than the context length.',
    'invalid params, context window exceeds limit',
    '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 8192]',
    'tokens in request more than max tokens allowed',
    'Total tokens of image and text exceed max message tokens. Request id: 021',
    'Reached context length of 4096 tokens with model (arch: x) that does not currently support mid-generation context overflow.',
    'Invalid request: Your request exceeded model token limit: 8192',
    'Prompt exceeds max length',
    'model max length exceeded, max length:8192',
    'The input token count exceeds the maximum number of tokens allowed 8192.',
    'The input token count exceeds the maximum number of tokens allowed (8192).',
    'max_tokens must be at least 1, got -809. (parameter=max_tokens, value=-809)',
    'max_completion_tokens must be at least 1, got -809.',
    'Please reduce the length of the messages or completion.',
    "prompt is too long: the input exceeds the context window of this model (this model's maximum context length is exceeded)",
  ]
  test.each([
    ...TOLD.map((message) => [
      message,
      "prompt is too long: 9001 tokens > 8192 maximum (this model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens)",
    ]),
    ...SAID.map((message) => [
      message,
      "prompt is too long: the input exceeds the context window of this model (this model's maximum context length is exceeded)",
    ]),
  ])('that says a prompt is too long is recognised, in any body: %s', (message, due) => {
    const bodies: unknown[] = [
      { error: { message, type: 'x', code: 400 } },
      { object: 'error', message, type: 'BadRequestError', param: null, code: 400 },
      { code: 'invalid-argument', error: message },
      [{ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }],
      { errors: [{ message, code: 5021 }], success: false, result: {} },
      { errors: [message] },
      [message],
      { detail: message },
      { detail: { error: message } },
      { detail: { type: 'error', error: { type: 'invalid_request_error', message } } },
      { error: { error: { message, code: 400 } } },
      { error: { message: 'a request failed', code: 400, details: { response: { error: { code: 400, message } } } } },
      { error: { message: 'Provider returned error', code: 400, metadata: { raw: message, provider_name: 'x' } } },
    ]
    for (const body of bodies) {
      for (const status of [200, 400, 413, 422]) {
        const { code, message: said } = codec.decodeError(status, body)
        expect([code, said]).toEqual(['context_length_exceeded', due])
      }
      for (const status of [401, 429, 503])
        expect(codec.decodeError(status, body).code).not.toBe('context_length_exceeded')
      // A fault of the server's own may be told in such words, but not with a prompt's figures.
      const ofServer = codec.decodeError(500, body)
      expect(ofServer.code).toBe(due.includes('9001') ? 'context_length_exceeded' : 'upstream_error')
    }
  })

  test.each([
    'max_tokens: 100000 > 64000, which is the maximum allowed number of output tokens',
    "Invalid 'user': string too long. Expected a string with maximum length 64.",
    'Tool argument validation failed: input length exceeds 1000 characters',
    'You exceeded your current quota',
    'You have exceeded your token limit.',
    'Your request exceeded the token limit per minute',
    'max_tokens (100000) exceeds the model token limit',
    'max_tokens exceeds the maximum token limit of 4096',
    'The output exceeds the limit of 4096 tokens (requested: 9001)',
    '`max_tokens` must be <= 4096, requested 9001',
    'max_tokens must be less than or equal to 8192',
    'max_tokens must be at least 1, got 0.',
    "Invalid 'user': current length is 300 while limit is 64",
  ])('about another limit is not taken for a prompt too long: %s', (message) => {
    expect(codec.decodeError(400, { error: { message } }).code).toBe('upstream_error')
  })

  test('is classified in linear time, however long its message', () => {
    for (const piece of ['exceeds the ', 'prompt ', 'context length is ', 'requested ', 'maximum '])
      expect(codec.decodeError(400, { error: { message: piece.repeat(100_000) } }).code).toBe('upstream_error')
  })

  test.each<[number, (faults: JsonObject[]) => JsonObject]>([
    [422, (detail) => ({ detail })],
    [422, (detail) => ({ object: 'error', message: { detail }, type: 'invalid_request_error', code: null })],
    [400, (detail) => ({ object: 'Error', detail, message: detail, type: 'invalid_request_error', code: 3001 })],
  ])('that lists reasoning among unknown members refuses the reasoning: %d', (status, body) => {
    const fault = (...path: Json[]) => ({
      ...{ type: 'extra_forbidden', loc: ['body', 'messages', ...path], msg: 'Extra inputs are not permitted' },
      input: 'reasoning_content',
    })
    const known = [fault(1, 'user', 'name'), fault(3, 'assistant', 'reasoning_content')]
    expect(codec.decodeError(status, body(known)).remedy).toBe('no-reasoning')
    expect(codec.decodeError(status, body([fault(1, { toString: 1 }), { msg: 5 }])).remedy).toBeUndefined()
  })

  test.each<JsonObject>([
    { message: 'Reasoning input is not enabled for this model', type: 'invalid_request_invalid_args', code: '3051' },
    {
      message:
        'Reasoning input items can only be provided to a reasoning or computer use model. Remove reasoning items.',
      ...{ type: 'invalid_request_error', param: 'input', code: null },
    },
    {
      message: "Invalid value: 'thinking'. Supported values are: 'text', 'refusal'.",
      ...{ type: 'invalid_request_error', param: 'messages[1].content[0].type', code: 'invalid_value' },
    },
  ])('of a model that takes no thoughts at all refuses the reasoning: %j', (error) => {
    expect(decode(400, error).remedy).toBe('no-reasoning')
  })

  test.each<JsonObject>([
    { message: "Invalid value: 'thinking'. Supported values are: 'text'.", param: 'tools[0].name' },
    { message: "Invalid value: 'audio'. Supported values are: 'text'.", param: 'messages[1].content[0].type' },
  ])('about something else does not: %j', (error) => {
    expect(decode(400, error).remedy).toBeUndefined()
  })

  test.each<[number, JsonObject, boolean]>([
    [429, { code: 'insufficient_quota' }, true],
    [429, { message: 'Slow down' }, false],
    [503, {}, false],
  ])('of an account without money does not ask to try again at once: %d %j', (status, error, isSpent) => {
    const { code, message, retryAfterMs = 0, provider } = decode(status, error)
    expect(code).toBe('service_unavailable')
    expect([provider?.trouble, /overloaded|at the moment/.test(message), retryAfterMs > 60_000]).toEqual(
      isSpent ? ['no-money', false, true] : [undefined, true, false],
    )
  })

  test('with a reason among its details has that as the code in the log', () => {
    const details = [null, { '@type': 'x' }, { reason: 'API_KEY_INVALID' }]
    expect(decode(400, { code: 400, status: 'INVALID_ARGUMENT', details }).provider?.code).toBe('API_KEY_INVALID')
    expect(decode(429, { code: 429, status: 'RESOURCE_EXHAUSTED' }).provider?.code).toBe('RESOURCE_EXHAUSTED')
  })

  test('for a request above the account’s rate limit goes to another account, whatever its status', () => {
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
  ])('that asks to wait %s has that delay', (words, ms) => {
    const message = `Rate limit reached for x. Please try again in ${words}. More.`
    expect(decode(429, { message, code: 'rate_limit_exceeded' }).retryAfterMs).toBe(ms)
    expect(decode(429, { message: `Quota exceeded for x. Please retry in ${words}.`, code: 429 }).retryAfterMs).toBe(ms)
  })
})
