// Refusals of members that the gateway or an optional wish of its client puts into a request, as servers of many makes and
// languages put them. Every request here holds all such members at once: what is asked again has to lack the refused one alone.

import type { Json, JsonObject } from '../../src/ir/json.ts'
import type { ChatWire } from '../../src/ir/wire.ts'

/** The client's wire and the server's. */
export type Pair = readonly [client: ChatWire, server: ChatWire]

/**
 * `member`: in the body that the server gets; it refuses for as long as that holds it. `due`: by default answered without it,
 * and without it alone. `form`: answered in whatever other form. `told X`: 400 with that param.
 */
export type Refusal = readonly [
  server: string,
  pair: Pair,
  member: string,
  status: number,
  said: Json | string,
  due?: 'form' | `told ${string}`,
]

const [CHAT, RESP, MSGS] = ['chat-completions', 'responses', 'messages'] as const
const M2C: Pair = [MSGS, CHAT]
const R2C: Pair = [RESP, CHAT]
const C2R: Pair = [CHAT, RESP]
const M2R: Pair = [MSGS, RESP]
const C2M: Pair = [CHAT, MSGS]
const R2M: Pair = [RESP, MSGS]
const C2C: Pair = [CHAT, CHAT]
const R2R: Pair = [RESP, RESP]
const M2M: Pair = [MSGS, MSGS]

const error = (message: string, more: JsonObject = {}): JsonObject => ({ error: { message, ...more } })
const openai = (message: string, param: string | null = null, code: string | null = null): JsonObject =>
  error(message, { type: 'invalid_request_error', param, code })
const anthropic = (message: string): JsonObject => ({
  type: 'error',
  error: { type: 'invalid_request_error', message },
})
const spring = (message: string, status = 400): JsonObject => ({
  ...{ timestamp: '2026-11-02T08:11:40.120+00:00', status, error: 'Bad Request', message },
  path: '/v1/chat/completions',
})
const pydantic = (type: string, msg: string, ...loc: (string | number)[]): JsonObject => ({
  detail: [
    { type, loc: ['body', ...loc], msg, input: true, url: 'https://errors.pydantic.dev/2.11/v/extra_forbidden' },
  ],
})
const relayed = (inner: JsonObject, outer = 'upstream error: do request failed'): JsonObject =>
  error(`${outer}: ${JSON.stringify(inner)} (request id: 20261102081140120034567HqZk3)`, {
    ...{ type: 'upstream_error', param: '', code: 400 },
  })
const grpc = (message: string, description = message): JsonObject => ({
  ...{
    code: 3,
    message,
    details: [{ '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ description }] }],
  },
})
const page = (text: string): string =>
  `<!doctype html><html><head><title>400</title></head><body><p>${text}</p></body></html>`

export const TO_CHAT: readonly Refusal[] = [
  ['a relay', R2C, 'prompt_cache_key', 424, error('Unknown field prompt_cache_key', { code: 424 })],
  [
    'Flask',
    R2C,
    'service_tier',
    500,
    { error: "TypeError: create() got an unexpected keyword argument 'service_tier'" },
  ],
  ['Kong', R2C, 'prompt_cache_retention', 404, { message: 'no route accepts the property prompt_cache_retention' }],
  [
    'ASP.NET',
    R2C,
    'service_tier',
    400,
    { title: 'One or more validation errors occurred.', status: 400, errors: { ServiceTier: ['It is invalid.'] } },
  ],
  [
    'marshmallow',
    R2C,
    'safety_identifier',
    422,
    { code: 422, errors: { json: { safety_identifier: ['Unknown field.'] } } },
  ],
  [
    'Valibot',
    R2C,
    'prompt_cache_key',
    400,
    {
      issues: [
        {
          kind: 'schema',
          type: 'never',
          path: [{ type: 'object', key: 'prompt_cache_key' }],
          message: 'Expected never',
        },
      ],
    },
  ],
  ['ndjson', R2C, 'service_tier', 400, '{"status":"checking"}\n{"error":"unknown field service_tier"}\n'],
  [
    'an API manager',
    R2C,
    'service_tier',
    400,
    '<error xmlns="urn:acme"><code>InvalidRequest</code><message>The field service_tier is not known.</message></error>',
  ],
  [
    'an older API manager',
    M2C,
    'temperature',
    400,
    '<?xml version="1.0"?>\n<Fault><Reason>Unsupported parameter: temperature</Reason></Fault>',
  ],
  [
    'vLLM',
    M2C,
    'stream_options',
    400,
    {
      object: 'error',
      message:
        "[{'type': 'value_error', 'loc': ('body', 'stream_options'), 'msg': 'Value error, Stream options can only be defined when `stream=True`.', 'input': {'include_usage': True}}]",
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
  ],
  [
    'vLLM',
    R2C,
    'prompt_cache_retention',
    400,
    {
      error: {
        message:
          "1 validation error:\n  {'type': 'literal_error', 'loc': ('body', 'prompt_cache_retention'), 'msg': \"Input should be 'in_memory'\", 'input': '24h', 'ctx': {'expected': \"'in_memory'\"}}\n\n  File \"/app/api_server.py\", line 90, in create\n    POST /v1/chat/completions [{'user': 'u'}]",
        type: 'Bad Request',
        param: null,
        code: 400,
      },
    },
  ],
  [
    'SGLang',
    C2R,
    'metadata',
    400,
    {
      object: 'error',
      message:
        "1 validation error for ChatCompletionRequest\nmetadata\n  Extra inputs are not permitted [type=extra_forbidden, input_value={'user': 'n', 'store': 'x'}, input_type=dict]",
      type: 'BadRequest',
      param: null,
      code: 400,
    },
  ],
  ['SGLang', M2C, 'parallel_tool_calls', 422, 'parallel_tool_calls: this build has not got parallel_tool_calls'],
  [
    'TGI',
    M2C,
    'user',
    422,
    { error: 'Input validation error: `user` cannot be used on this endpoint', error_type: 'validation' },
  ],
  [
    'llama.cpp',
    R2C,
    'prompt_cache_key',
    400,
    { error: { code: 400, message: 'Unsupported param: prompt_cache_key', type: 'invalid_request_error' } },
  ],
  [
    'ollama',
    R2C,
    'store',
    400,
    {
      error: {
        message: 'json: cannot unmarshal bool into Go struct field ChatRequest.store of type string',
        type: 'invalid_request_error',
        param: null,
        code: null,
      },
    },
  ],
  ['ollama', M2C, 'user', 400, { error: 'json: unknown field "user"' }],
  ['LM Studio', R2C, 'service_tier', 400, { error: "Unrecognized key(s) in object: 'service_tier'" }],
  [
    'LM Studio',
    M2C,
    'parallel_tool_calls',
    400,
    { error: "Invalid type for 'parallel_tool_calls': expected undefined, received boolean" },
  ],
  [
    'Triton',
    R2C,
    'verbosity',
    400,
    { object: 'error', message: 'Received unsupported verbosity', type: 'BadRequest', code: 400 },
  ],
  ['Triton', M2C, 'user', 400, { error: 'failed to parse the request: unexpected key: user' }],
  [
    'axum',
    R2C,
    'safety_identifier',
    422,
    'Failed to deserialize the JSON body into the target type: unknown field `safety_identifier`, expected one of `model`, `messages`, `stream`, `temperature`, `top_p`, `user`, `metadata`, `store` at line 1 column 402',
  ],
  [
    'axum',
    M2C,
    'temperature',
    422,
    'Failed to deserialize the JSON body into the target type: temperature: invalid type: floating point `0.3`, expected unit at line 1 column 88',
  ],
  [
    'actix',
    R2C,
    'verbosity',
    400,
    'Json deserialize error: verbosity: invalid type: map, expected unit at line 1 column 511',
  ],
  [
    'Go validator',
    R2C,
    'verbosity',
    400,
    {
      error:
        "Key: 'ChatCompletionRequest.Verbosity' Error:Field validation for 'Verbosity' failed on the 'isdefault' tag",
    },
  ],
  [
    'Go validator',
    M2C,
    'top_p',
    400,
    {
      message: "Key: 'Request.TopP' Error:Field validation for 'TopP' failed on the 'excluded_with' tag",
      type: 'one_api_error',
    },
  ],
  ['Go decoder', R2C, 'parallel_tool_calls', 400, 'decode body: json: unknown field "parallel_tool_calls"\n'],
  [
    'Spring',
    R2C,
    'prompt_cache_key',
    400,
    spring(
      'JSON parse error: Unrecognized field "prompt_cache_key" (class ai.acme.api.ChatRequest), not marked as ignorable (14 known properties: "messages", "model", "user", "store", "stream", "temperature")',
    ),
  ],
  [
    'Spring',
    M2C,
    'user',
    400,
    spring(
      "Validation failed for object='chatRequest'. Error count: 1. Field error in object 'chatRequest' on field 'user': rejected value [u]; codes [Null.chatRequest.user,Null.user]; default message [must be null]",
    ),
  ],
  [
    'Quarkus',
    R2C,
    'service_tier',
    400,
    {
      title: 'Constraint Violation',
      status: 400,
      violations: [{ field: 'complete.request.serviceTier', message: 'must be null' }],
    },
  ],
  [
    'ASP.NET',
    R2C,
    'service_tier',
    400,
    {
      type: 'https://tools.ietf.org/html/rfc9110#section-15.5.1',
      title: 'One or more validation errors occurred.',
      status: 400,
      errors: {
        '$.service_tier': [
          'The JSON value could not be converted to System.String. Path: $.service_tier | LineNumber: 0 | BytePositionInLine: 801.',
        ],
      },
      traceId: '00-84c1fd',
    },
  ],
  [
    'ASP.NET',
    M2C,
    'parallel_tool_calls',
    400,
    {
      title: 'One or more validation errors occurred.',
      status: 400,
      errors: { ParallelToolCalls: ['The ParallelToolCalls field is not supported.'] },
    },
  ],
  ['grpc-gateway', R2C, 'safety_identifier', 400, grpc('proto: (line 1:77): unknown field "safety_identifier"')],
  ['grpc-gateway', M2C, 'user', 400, grpc('proto: (line 1:19): unknown field "user"')],
  [
    'Vertex',
    R2C,
    'verbosity',
    400,
    [
      {
        error: {
          code: 400,
          message: 'Invalid JSON payload received. Unknown name "verbosity": Cannot find field.',
          status: 'INVALID_ARGUMENT',
          details: [
            {
              '@type': 'type.googleapis.com/google.rpc.BadRequest',
              fieldViolations: [
                { description: 'Invalid JSON payload received. Unknown name "verbosity": Cannot find field.' },
              ],
            },
          ],
        },
      },
    ],
  ],
  [
    'Gemini',
    M2C,
    'parallel_tool_calls',
    400,
    [
      {
        error: {
          code: 400,
          message: 'Invalid value at \'parallel_tool_calls\' (TYPE_BOOL), "false"',
          status: 'INVALID_ARGUMENT',
        },
      },
    ],
  ],
  [
    'Bedrock',
    R2C,
    'service_tier',
    400,
    {
      message:
        'Malformed input request: #: subject must not be valid against schema {"required":["messages"]}#: extraneous key [service_tier] is not permitted, please reformat your input and try again.',
    },
  ],
  [
    'Bedrock',
    M2C,
    'user',
    400,
    {
      message:
        'Malformed input request: #: extraneous key [user] is not permitted, please reformat your input and try again.',
    },
  ],
  ['Azure', R2C, 'store', 400, openai('Unrecognized request argument supplied: store')],
  [
    'Azure',
    M2C,
    'user',
    400,
    {
      error: {
        code: 'BadRequest',
        message: 'The parameter user is not enabled for this deployment.',
        innererror: null,
      },
    },
  ],
  ['Groq', R2C, 'store', 400, openai("property 'store' is unsupported")],
  [
    'Groq',
    M2C,
    'reasoning_effort',
    400,
    openai("property 'reasoning_effort' is unsupported, did you mean 'reasoning_format'?"),
    'form',
  ],
  [
    'Mistral',
    R2C,
    'store',
    422,
    {
      object: 'error',
      message: {
        detail: [
          { type: 'extra_forbidden', loc: ['body', 'store'], msg: 'Extra inputs are not permitted', input: false },
        ],
      },
      type: 'invalid_request_error',
      param: null,
      code: null,
      raw_status_code: 422,
    },
  ],
  [
    'Mistral',
    M2C,
    'user',
    422,
    {
      object: 'Error',
      detail: [{ type: 'extra_forbidden', loc: ['body', 'user'], msg: 'Extra inputs are not permitted', input: 'ann' }],
      type: 'invalid_request_error',
      code: 3001,
    },
  ],
  [
    'DeepSeek',
    R2C,
    'prompt_cache_retention',
    400,
    openai(
      'Failed to deserialize the JSON body into the target type: prompt_cache_retention: unknown variant `24h`, expected `in_memory` at line 1 column 350',
    ),
  ],
  [
    'Cerebras',
    R2C,
    'store',
    400,
    {
      message: "store: property 'store' is unsupported",
      type: 'invalid_request_error',
      param: 'validation_error',
      code: 'wrong_api_format',
    },
  ],
  [
    'Cerebras',
    M2C,
    'user',
    422,
    {
      message: '[user] – field not accepted',
      type: 'invalid_request_error',
      param: 'validation_error',
      code: 'wrong_api_format',
    },
  ],
  [
    'Fireworks',
    R2C,
    'safety_identifier',
    400,
    {
      error: {
        object: 'error',
        type: 'invalid_request_error',
        code: 'invalid_request_error',
        message: "Extra inputs are not permitted, field: 'safety_identifier', value: 'store'",
      },
    },
  ],
  ['Fireworks', M2C, 'stop', 400, openai("Extra inputs are not permitted, field: 'stop', value: ['END']"), 'form'],
  [
    'OpenRouter',
    R2C,
    'verbosity',
    400,
    error('Provider returned error', {
      code: 400,
      metadata: { raw: '{"detail":"Unsupported parameter: verbosity"}', provider_name: 'Acme', is_byok: false },
    }),
  ],
  [
    'OpenRouter',
    M2C,
    'parallel_tool_calls',
    400,
    error('Provider returned error', {
      code: 400,
      metadata: { raw: 'ERROR: "parallel_tool_calls" cannot be set', provider_name: 'Acme' },
    }),
  ],
  [
    'NIM',
    R2C,
    'verbosity',
    400,
    error('Validation: Unsupported parameter(s): `verbosity`', { type: 'Bad Request', code: 400 }),
  ],
  [
    'NIM',
    M2C,
    'user',
    422,
    {
      type: 'urn:inference-service:problem-details:unprocessable-entity',
      title: 'Unprocessable Entity',
      status: 422,
      detail: 'body -> user\n  Extra inputs are not permitted (type=extra_forbidden)',
    },
  ],
  ['new-api', R2C, 'store', 400, relayed(openai("Unknown parameter: 'store'.", 'store', 'unknown_parameter'))],
  [
    'new-api',
    M2C,
    'user',
    400,
    error('参数 user 暂不支持 (request id: 2026110208114012)', {
      type: 'new_api_error',
      param: '',
      code: 'bad_response_status_code',
    }),
  ],
  [
    'one-api',
    R2C,
    'service_tier',
    400,
    error('该渠道不支持 service_tier 字段，请移除后重试', { type: 'one_api_error' }),
  ],
  [
    'one-api',
    M2C,
    'parallel_tool_calls',
    400,
    error('bad response status code 400, message: parallel_tool_calls不是合法参数, body: ', { type: 'upstream_error' }),
  ],
  [
    'LiteLLM',
    R2C,
    'verbosity',
    400,
    error(
      "litellm.UnsupportedParamsError: ollama_chat does not support parameters: ['verbosity'], for model=m. To drop these, set `litellm.drop_params=True` or for proxy:\n\n`litellm_settings:\n drop_params: true`\n. \n If you want to use these params dynamically send allowed_openai_params=['verbosity'] in your request.",
      { type: 'None', param: null, code: '400' },
    ),
  ],
  [
    'LiteLLM',
    M2C,
    'stop',
    400,
    error(
      "MistralException - mistral does not support parameters: {'stop': ['END']}, for model=m. To drop these, set `litellm.drop_params=True`",
      { code: '400' },
    ),
    'form',
  ],
  [
    'any-llm',
    R2C,
    'prompt_cache_key',
    400,
    {
      detail:
        "UnsupportedParameterError: 'prompt_cache_key' is not supported for acme. If you must use acme with prompt_cache_key, drop it first.",
    },
  ],
  [
    'zod',
    R2C,
    'service_tier',
    400,
    {
      success: false,
      error: {
        name: 'ZodError',
        issues: [
          { code: 'unrecognized_keys', keys: ['service_tier'], path: [], message: 'Unrecognized key: "service_tier"' },
        ],
      },
    },
  ],
  [
    'zod',
    M2C,
    'user',
    400,
    {
      success: false,
      error: {
        name: 'ZodError',
        message:
          '[\n  {\n    "code": "invalid_type",\n    "expected": "never",\n    "path": [\n      "user"\n    ],\n    "message": "Invalid input: expected never, received string"\n  }\n]',
      },
    },
  ],
  [
    'ajv',
    R2C,
    'store',
    400,
    { statusCode: 400, code: 'FST_ERR_VALIDATION', error: 'Bad Request', message: 'body/store must NOT be valid' },
  ],
  [
    'NestJS',
    R2C,
    'store',
    400,
    { statusCode: 400, message: ['property store should not exist'], error: 'Bad Request' },
  ],
  [
    'Joi',
    M2C,
    'user',
    422,
    {
      statusCode: 422,
      error: 'Unprocessable Entity',
      message: '"user" is not allowed',
      validation: { source: 'body', keys: ['user'] },
    },
  ],
  [
    'Marshmallow',
    R2C,
    'verbosity',
    422,
    { code: 422, status: 'Unprocessable Entity', errors: { json: { verbosity: ['Unknown field.'] } } },
  ],
  ['Django', M2C, 'user', 400, { user: ['This field may not be set.'] }],
  ['Rails', R2C, 'store', 422, { errors: ['found unpermitted parameter: :store'] }],
  [
    'Laravel',
    M2C,
    'user',
    422,
    { message: 'The user field is prohibited.', errors: { user: ['The user field is prohibited.'] } },
  ],
  ['Phoenix', R2C, 'verbosity', 422, { errors: { detail: 'verbosity: is not accepted here' } }],
  ['cowboy', M2C, 'top_p', 400, 'bad request: top_p=0.9'],
  ['a card in bold', R2C, 'store', 400, error('This model has no support for **store**.')],
  ['guillemets', R2C, 'service_tier', 400, error('Le champ « service_tier » n’est pas accepté par ce modèle.')],
  ['German', R2C, 'store', 400, error('Unbekannter Parameter „store“.')],
  ['German, bare', M2C, 'user', 400, { fehler: 'Das Feld user wird von diesem Modell nicht unterstützt' }],
  ['French, bare', R2C, 'store', 422, { erreur: 'Le paramètre store n’est pas pris en charge' }],
  ['Spanish, bare', R2C, 'verbosity', 400, { mensaje: 'El parámetro verbosity no es compatible con este modelo.' }],
  ['Portuguese, bare', M2C, 'user', 400, { mensagem: 'O campo user não é permitido.' }],
  ['Russian', R2C, 'store', 400, { message: 'Параметр store не поддерживается этой моделью', status: 400 }],
  [
    'Japanese',
    R2C,
    'verbosity',
    400,
    { error: { message: 'verbosityパラメータはこのモデルではサポートされていません。' } },
  ],
  ['Korean', M2C, 'user', 400, { error: { message: '이 모델은 user 매개변수를 지원하지 않습니다.' } }],
  ['Chinese', R2C, 'verbosity', 400, { code: 400, msg: '不支持的参数：verbosity' }],
  ['Arabic', R2C, 'service_tier', 400, { error: { message: 'المعامل service_tier غير مدعوم' } }],
  ['single guillemets', R2C, 'store', 400, error('Champ inconnu ‹store›')],
  ['corner brackets', M2C, 'user', 400, error('パラメータ「user」は使えません')],
  ['an equation', M2C, 'temperature', 400, error('Cannot honour temperature=0.3 here')],
  ['has not got', R2C, 'prompt_cache_key', 400, error('This runtime has not got prompt_cache_key.')],
  ['has not got, bare', R2C, 'store', 400, error('The worker has not got store.')],
  [
    'having received',
    M2C,
    'parallel_tool_calls',
    400,
    error('We regret having received parallel_tool_calls, which nobody here reads.'),
  ],
  [
    'got, at the end',
    R2C,
    'safety_identifier',
    422,
    { detail: 'Nothing of that name is known, got safety_identifier' },
  ],
  ['received, with its value', R2C, 'verbosity', 400, error('received verbosity (low); remove it')],
  ['drop', M2C, 'top_p', 400, error('drop top_p and come back')],
  [
    'a list of all it knows',
    R2C,
    'verbosity',
    400,
    error('Unknown body param "verbosity". I know: "model", "messages", "user", "store", "metadata", "temperature".'),
  ],
  [
    'a list of all it knows, before',
    R2C,
    'service_tier',
    400,
    error('Of model, messages, user, store, metadata and temperature none is called service_tier.'),
  ],
  ['two at once', R2C, 'verbosity', 400, error('Remove these: verbosity')],
  [
    'JSON in a string',
    R2C,
    'store',
    400,
    { message: JSON.stringify({ errors: [{ location: 'body', param: 'store', msg: 'Unknown field' }] }) },
  ],
  [
    'JSON in a string, twice',
    M2C,
    'user',
    400,
    { error: JSON.stringify({ message: JSON.stringify({ error: { param: 'user', message: 'no' } }) }) },
  ],
  [
    'Cohere',
    R2C,
    'service_tier',
    422,
    {
      id: '7',
      message:
        "invalid request: service_tier is not a valid field. Please check for typos: 'model', 'messages', 'temperature', 'user'.",
    },
  ],
  [
    'AI21',
    M2C,
    'user',
    422,
    { detail: [{ loc: ['body', 'user'], msg: 'extra fields not permitted', type: 'value_error.extra' }] },
  ],
  [
    'watsonx',
    R2C,
    'service_tier',
    400,
    {
      errors: [
        {
          code: 'json_validation_error',
          message: "Json document validation error: service_tier: 'service_tier' is not allowed",
          more_info: '',
        },
      ],
      trace: 'f00',
      status_code: 400,
    },
  ],
  [
    'Databricks',
    M2C,
    'stream_options',
    400,
    {
      error_code: 'BAD_REQUEST',
      message:
        '{"external_model_provider":"acme","external_model_error":{"message":"stream_options: Extra inputs are not permitted"}}',
    },
  ],
  [
    'Cloudflare',
    R2C,
    'store',
    400,
    {
      success: false,
      errors: [
        {
          code: 5006,
          message:
            "AiError: Bad input: Error: oneOf at '/' not met, 0 matches: additional property 'store' not allowed",
        },
      ],
      result: {},
      messages: [],
    },
  ],
  [
    'Baseten',
    R2C,
    'verbosity',
    422,
    { error: { message: 'body.verbosity - Input should be None', type: 'invalid_request' } },
  ],
  [
    'Together',
    R2C,
    'store',
    400,
    {
      id: 'o7',
      error: {
        message: 'Invalid request: store: Unrecognized key',
        type: 'invalid_request_error',
        param: null,
        code: null,
      },
    },
  ],
  [
    'DeepInfra',
    M2C,
    'reasoning_effort=low',
    422,
    pydantic('literal_error', "Input should be 'none', 'medium' or 'high'", 'reasoning_effort'),
    'form',
  ],
  [
    'Perplexity',
    R2C,
    'parallel_tool_calls',
    400,
    error('parallel_tool_calls: unexpected keyword', { type: 'invalid_message', code: 400 }),
  ],
  [
    'MiniMax',
    R2C,
    'verbosity',
    200,
    { base_resp: { status_code: 2013, status_msg: 'invalid params, verbosity is not allowed' } },
  ],
  [
    'Zhipu',
    R2C,
    'service_tier',
    400,
    { error: { code: '1210', message: 'API 调用参数有误，请检查文档。service_tier 无效' } },
  ],
  [
    'DashScope',
    M2C,
    'parallel_tool_calls',
    400,
    {
      code: 'InvalidParameter',
      message:
        '<400> InternalError.Algo.InvalidParameter: The parallel_tool_calls parameter is only open to allow-listed accounts.',
      request_id: 'a',
    },
  ],
  [
    'Volcengine',
    R2C,
    'prompt_cache_retention',
    400,
    {
      error: {
        code: 'InvalidParameter',
        message:
          'The parameter `prompt_cache_retention` specified in the request are not valid: unknown. Request id: 021',
        param: 'prompt_cache_retention',
        type: 'BadRequest',
      },
    },
  ],
  [
    'Qianfan',
    M2C,
    'user',
    400,
    {
      error: { code: 'invalid_argument', message: 'user: invalid, should be uuid', type: 'invalid_request_error' },
      id: 'as-1',
    },
    'form',
  ],
  ['GigaChat', M2C, 'top_p', 422, { status: 422, message: 'Invalid params: top_p is not a supported option' }],
  [
    'YandexGPT',
    R2C,
    'store',
    400,
    {
      error: {
        grpcCode: 3,
        httpCode: 400,
        message: 'Invalid argument: field store: unsupported',
        httpStatus: 'Bad Request',
        details: [],
      },
    },
  ],
]

export const TO_RESPONSES: readonly Refusal[] = [
  [
    'vLLM',
    C2R,
    'include',
    400,
    {
      error: {
        message:
          "[{'type': 'literal_error', 'loc': ('body', 'include', 0), 'msg': \"Input should be 'message.output_text.logprobs'\", 'input': 'reasoning.encrypted_content'}]",
        type: 'Bad Request',
        code: 400,
      },
    },
  ],
  [
    'LM Studio',
    M2R,
    'include',
    400,
    {
      error: {
        message: 'Invalid discriminator value for include[0]: received "reasoning.encrypted_content"',
        type: 'invalid_request_error',
        param: 'include[0]',
        code: 'invalid_value',
      },
    },
  ],
  [
    'llama.cpp',
    C2R,
    'store',
    400,
    {
      error: {
        code: 400,
        message: "llama-server's Responses API does not implement 'store'",
        type: 'invalid_request_error',
      },
    },
  ],
  ['ogx', C2R, 'include', 501, { detail: 'include is not implemented' }],
  [
    'SGLang',
    M2R,
    'store',
    400,
    { object: 'error', message: 'store must be true, got False', type: 'BadRequestError', param: 'store', code: 400 },
  ],
  ['Copilot', C2R, 'service_tier', 400, error('Unsupported service_tier: flex', { code: 'unsupported_value' })],
  [
    'Codex relay',
    C2R,
    'max_output_tokens',
    400,
    { detail: 'Unsupported parameter: max_output_tokens' },
    'told max_completion_tokens',
  ],
  ['Codex relay', M2R, 'service_tier', 400, { detail: 'Unsupported parameter: service_tier' }],
  [
    'xAI',
    C2R,
    'prompt_cache_retention',
    400,
    { code: 'Client specified an invalid argument', error: 'Argument not supported: prompt_cache_retention' },
  ],
  ['xAI', M2R, 'parallel_tool_calls', 400, { code: 'invalid-argument', error: 'parallel_tool_calls: unknown field' }],
  [
    'OpenAI',
    C2R,
    'text.verbosity',
    400,
    openai(
      "Unsupported value: 'low' is not supported with the 'm' model. Supported values are: 'medium'.",
      'text.verbosity',
      'unsupported_value',
    ),
  ],
  [
    'OpenAI',
    C2R,
    'metadata',
    400,
    openai("Unsupported parameter: 'metadata' is not supported with this model.", 'metadata'),
  ],
  ['Azure', M2R, 'user', 400, openai('Unrecognized request argument supplied: user')],
  [
    'Azure',
    C2R,
    'safety_identifier',
    400,
    openai("Unknown parameter: 'safety_identifier'.", 'safety_identifier', 'unknown_parameter'),
  ],
  [
    'Azure',
    C2R,
    'reasoning',
    400,
    openai(
      "Unsupported parameter: 'reasoning.summary' is not supported with this model.",
      'reasoning.summary',
      'unsupported_parameter',
    ),
    'form',
  ],
  [
    'Databricks',
    M2R,
    'reasoning',
    400,
    { error_code: 'BAD_REQUEST', message: 'reasoning: Extra inputs are not permitted' },
    'form',
  ],
  ['transformers', C2R, 'prompt_cache_key', 422, { detail: "Unexpected fields in the request: {'prompt_cache_key'}" }],
  ['transformers', C2R, 'metadata', 422, { detail: "Unexpected fields in the request: {'metadata'}" }],
  [
    'axum',
    C2R,
    'user',
    422,
    'Failed to deserialize the JSON body into the target type: unknown field `user`, expected one of `model`, `input`, `store`, `metadata`, `include` at line 1 column 9',
  ],
  ['Go decoder', M2R, 'include', 400, 'json: unknown field "include"'],
  ['German', C2R, 'store', 400, error('Die Option store gibt es nicht.')],
  ['Chinese', M2R, 'include', 400, { error: { message: '参数include不受支持', code: 'invalid_parameter' } }],
  ['bold', C2R, 'metadata', 400, error('Leave out **metadata** please')],
  [
    'OpenRouter',
    C2R,
    'parallel_tool_calls',
    400,
    error('Provider returned error', {
      code: 400,
      metadata: { raw: '{"error":{"message":"`parallel_tool_calls` is not usable with reasoning"}}' },
    }),
  ],
  [
    'LiteLLM',
    C2R,
    'parallel_tool_calls',
    400,
    error(
      'litellm.BadRequestError: OpenAIException - {"error": {"message": "Unknown parameter: \'parallel_tool_calls\'.", "type": "invalid_request_error", "param": "parallel_tool_calls", "code": "unknown_parameter"}}. Received Model Group=m\nAvailable Model Group Fallbacks=None',
      { type: null, code: '400' },
    ),
  ],
  [
    'zod',
    M2R,
    'parallel_tool_calls',
    400,
    error('Invalid input', { issues: [{ code: 'unrecognized_keys', keys: ['parallel_tool_calls'], path: [] }] }),
  ],
]

export const TO_MESSAGES: readonly Refusal[] = [
  ['Anthropic', C2M, 'metadata', 400, anthropic('metadata: Extra inputs are not permitted')],
  [
    'Bedrock',
    C2M,
    'tool_choice.disable_parallel_tool_use',
    400,
    {
      message:
        'Malformed input request: #: subject must not be valid against schema {"required":["messages"]}#/tool_choice: extraneous key [disable_parallel_tool_use] is not permitted, please reformat your input and try again.',
    },
  ],
  [
    'Bedrock',
    R2M,
    'metadata',
    400,
    { message: '#: extraneous key [metadata] is not permitted, please reformat your input and try again.' },
  ],
  ['Vertex', R2M, 'metadata', 400, anthropic('metadata: Extra inputs are not permitted')],
  [
    'DeepSeek',
    C2M,
    'metadata',
    400,
    {
      error: {
        message:
          'Failed to deserialize the JSON body into the target type: metadata.user_id: user_id must match ^[a-zA-Z0-9_-]+$ at line 1 column 40',
        type: 'invalid_request_error',
      },
    },
    'form',
  ],
  ['Moonshot', R2M, 'metadata', 400, anthropic('Invalid request: metadata is unknown')],
  [
    'vLLM',
    C2M,
    'output_config',
    400,
    {
      error: {
        type: 'BadRequestError',
        message:
          "[{'type': 'extra_forbidden', 'loc': ('body', 'output_config'), 'msg': 'Extra inputs are not permitted', 'input': {'effort': 'low'}}]",
      },
    },
    'form',
  ],
  [
    'LM Studio',
    R2M,
    'thinking',
    400,
    anthropic("Invalid discriminator value for 'thinking.type'. Expected 'enabled' | 'disabled', got 'adaptive'"),
    'form',
  ],
  ['ollama', C2M, 'metadata', 400, anthropic('json: unknown field "metadata"')],
  ['ollama', R2M, 'metadata', 400, anthropic('metadata is not supported')],
  [
    'llama.cpp',
    C2M,
    'stop_sequences',
    400,
    { error: { code: 400, message: 'Unsupported param: stop_sequences', type: 'invalid_request_error' } },
    'form',
  ],
  [
    'new-api',
    C2M,
    'metadata',
    400,
    { error: { type: 'new_api_error', message: '参数 metadata 不合法（request id: 2）' }, type: 'error' },
  ],
  [
    'LiteLLM',
    R2M,
    'tool_choice',
    400,
    error("litellm.UnsupportedParamsError: acme does not support parameters: ['tool_choice'], for model=m.", {
      code: '400',
    }),
    'form',
  ],
  ['Copilot', C2M, 'metadata', 400, { error: { message: 'metadata is not allowed', code: 'invalid_request_body' } }],
  [
    'axum',
    C2M,
    'metadata',
    422,
    'Failed to deserialize the JSON body into the target type: metadata: unknown field `user_id`, there are no fields at line 1 column 60',
    'form',
  ],
  [
    'French',
    R2M,
    'metadata',
    400,
    { type: 'error', error: { type: 'invalid_request_error', message: 'metadata n’existe pas ici' } },
  ],
  ['bold', C2M, 'metadata', 400, anthropic('**metadata** cannot be set')],
  ['has not got', C2M, 'metadata', 400, anthropic('Your plan has not got metadata')],
]

/** On the client's own wire its bytes stay, but for hints to the server alone: it is told its member. */
export const OWN_WIRE: readonly Refusal[] = [
  ['a worker', C2C, 'logit_bias', 500, { detail: 'NotImplementedError: logit_bias' }, 'told logit_bias'],
  ['a relay', M2M, 'top_k', 424, anthropic('top_k is not accepted by the engine behind this'), 'told top_k'],
  ['Azure', C2C, 'user', 400, error('The parameter user is not enabled for this deployment.')],
  [
    'vLLM',
    C2C,
    'seed',
    400,
    { object: 'error', message: 'This runner has not got seed.', type: 'BadRequestError', code: 400 },
    'told seed',
  ],
  [
    'TGI',
    C2C,
    'seed',
    422,
    { error: 'Input validation error: seed=7 cannot be served', error_type: 'validation' },
    'told seed',
  ],
  [
    'NIM',
    C2C,
    'prompt_cache_key',
    400,
    error('Not having received prompt_cache_key would be better: it is unknown here.'),
  ],
  ['German', C2C, 'seed', 400, error('Der Parameter „seed“ ist hier unbekannt.'), 'told seed'],
  ['bold', C2C, 'logit_bias', 400, error('No **logit_bias** with this model'), 'told logit_bias'],
  ['single guillemets', C2C, 'seed', 400, error('Option ‹seed› is missing in this build'), 'told seed'],
  ['Chinese', C2C, 'metadata', 400, error('不支持metadata'), 'told metadata'],
  ['vLLM', R2R, 'prompt_cache_key', 400, error('Unknown field, got prompt_cache_key')],
  ['LM Studio', R2R, 'truncation', 400, error('**truncation**: not in this version'), 'told truncation'],
  ['axum', R2R, 'metadata', 422, 'metadata: invalid type: map, expected unit at line 1 column 7', 'told metadata'],
  ['Anthropic', M2M, 'metadata.user_id', 400, anthropic('metadata.user_id: unexpected')],
  ['Bedrock', M2M, 'top_k', 400, { message: '#: extraneous key [top_k] is not permitted' }, 'told top_k'],
  ['French', M2M, 'temperature', 400, anthropic('Réglage interdit : temperature'), 'told temperature'],
  [
    'Anthropic',
    M2M,
    'top_p',
    400,
    anthropic('`temperature` and `top_p` cannot both be specified for this model. Please use only one.'),
    'told t',
  ],
]

/** What the user says in each of the requests below, beside a greeting. */
export const SAID =
  'Which temperature and which seed should I set? My server told me: unknown parameter "store", user not allowed.'

/** The same request once and no more: what is refused is not how it is put. `code`: what the client is told. */
export type Final = readonly [server: string, pair: Pair, status: number, said: Json | string, code: string]

const LONG = 'context_length_exceeded'
const POLICY = 'content_policy_violation'
const BUSY = 'service_unavailable'
const FAILED = 'upstream_error'

export const NOT_ABOUT_MEMBERS: readonly Final[] = [
  [
    'OpenAI',
    C2R,
    400,
    openai(
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9001 tokens. Please reduce the length of the messages.",
      'messages',
      'context_length_exceeded',
    ),
    LONG,
  ],
  [
    'vLLM',
    M2C,
    400,
    {
      object: 'error',
      message:
        "This model's maximum context length is 4096 tokens. However, you requested 5012 tokens (4112 in the messages, 900 in the completion). Please reduce the length of the messages or completion.",
      type: 'BadRequestError',
      param: null,
      code: 400,
    },
    LONG,
  ],
  [
    'SGLang',
    R2C,
    400,
    {
      object: 'error',
      message: "The input (5011 tokens) is longer than the model's context length (4096 tokens).",
      type: 'BadRequest',
      code: 400,
    },
    LONG,
  ],
  [
    'TGI',
    M2C,
    422,
    {
      error:
        'Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 5200 `inputs` tokens and 900 `max_new_tokens`',
      error_type: 'validation',
    },
    LONG,
  ],
  [
    'llama.cpp',
    R2C,
    400,
    {
      error: {
        code: 400,
        message:
          'the request exceeds the available context size. try increasing the context size or enable context shift',
        type: 'exceed_context_size_error',
        n_prompt_tokens: 5010,
        n_ctx: 4096,
      },
    },
    LONG,
  ],
  [
    'LM Studio',
    M2C,
    400,
    {
      error:
        'Trying to keep the first 5012 tokens when context the overflows. However, the model is loaded with context length of only 4096 tokens, which is not enough. Try to load the model with a larger context length, or provide a shorter input',
    },
    LONG,
  ],
  [
    'Mistral',
    R2C,
    400,
    {
      object: 'error',
      message: 'Prompt contains 40012 tokens, too large for model with 32768 maximum context length',
      type: 'invalid_request_invalid_args',
      code: '3051',
    },
    LONG,
  ],
  [
    'Groq',
    C2C,
    400,
    error('Please reduce the length of the messages or completion.', {
      type: 'invalid_request_error',
      param: 'messages',
      code: 'context_length_exceeded',
    }),
    LONG,
  ],
  [
    'Gemini',
    M2C,
    400,
    [
      {
        error: {
          code: 400,
          message: 'The input token count (1050001) exceeds the maximum number of tokens allowed (1048576).',
          status: 'INVALID_ARGUMENT',
        },
      },
    ],
    LONG,
  ],
  ['Bedrock', C2M, 400, { message: 'Input is too long for requested model.' }, LONG],
  ['Anthropic', R2M, 400, anthropic('prompt is too long: 210000 tokens > 200000 maximum'), LONG],
  [
    'Anthropic',
    M2M,
    413,
    { type: 'error', error: { type: 'request_too_large', message: 'Request exceeds the maximum size' } },
    'payload_too_large',
  ],
  [
    'DashScope',
    R2C,
    400,
    openai(
      '<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]',
      null,
      'invalid_parameter_error',
    ),
    LONG,
  ],
  [
    'OpenRouter',
    M2C,
    400,
    error(
      'This endpoint\'s maximum context length is 32768 tokens. However, you requested about 40011 tokens (39111 of text input, 900 in the output). Please reduce the length of either one, or use the "middle-out" transform to compress your prompt automatically.',
      { code: 400, metadata: { provider_name: null } },
    ),
    LONG,
  ],
  [
    'a Chinese relay',
    R2C,
    400,
    error('输入内容过长，超过模型最大上下文长度 32768 tokens', { type: 'new_api_error' }),
    LONG,
  ],
  ['a German server', M2C, 400, error('Die Eingabe ist zu lang: 9000 Token, erlaubt sind 8192 Token.'), LONG],
  [
    'a Japanese server',
    R2C,
    400,
    { error: { message: '入力トークン数が最大コンテキスト長 8192 トークンを超えています' } },
    LONG,
  ],
  [
    'Azure',
    M2C,
    400,
    {
      error: {
        message:
          "The response was filtered due to the prompt triggering Azure OpenAI's content management policy. Please modify your prompt and retry.",
        type: null,
        param: 'prompt',
        code: 'content_filter',
        status: 400,
        innererror: {
          code: 'ResponsibleAIPolicyViolation',
          content_filter_result: { hate: { filtered: true, severity: 'high' } },
        },
      },
    },
    POLICY,
  ],
  [
    'OpenAI',
    C2R,
    400,
    openai(
      'Invalid prompt: your prompt was flagged as potentially violating our usage policy.',
      null,
      'invalid_prompt',
    ),
    POLICY,
  ],
  ['DeepSeek', M2C, 400, openai('Content Exists Risk'), POLICY],
  [
    'DashScope',
    R2C,
    400,
    {
      error: {
        message: 'Input data may contain inappropriate content. For details, see the help page',
        code: 'data_inspection_failed',
        type: 'data_inspection_failed',
      },
    },
    POLICY,
  ],
  [
    'Zhipu',
    M2C,
    400,
    {
      contentFilter: [{ level: 1, role: 'user' }],
      error: {
        code: '1301',
        message: '系统检测到输入或生成内容可能包含不安全或敏感内容，请您避免输入易产生敏感内容的提示语，感谢您的配合',
      },
    },
    POLICY,
  ],
  [
    'Vertex',
    C2M,
    400,
    { error: { type: 'invalid_request_error', message: 'Output blocked by content filtering policy' }, type: 'error' },
    POLICY,
  ],
  ['Bedrock', R2M, 400, { message: 'Guardrail acme-1 intervened: the content was blocked.' }, POLICY],
  [
    'OpenRouter',
    R2C,
    403,
    error('Input was flagged', {
      code: 403,
      metadata: { reasons: ['violence'], flagged_input: 'Which temperature', provider_name: 'Acme' },
    }),
    POLICY,
  ],
  [
    'a Spanish server',
    M2C,
    400,
    error('El contenido infringe nuestra política de contenido.', { code: 'content_policy_violation' }),
    POLICY,
  ],
  [
    'Moonshot',
    R2C,
    400,
    error('The request was rejected because it was considered high risk', { type: 'content_filter' }),
    POLICY,
  ],
  [
    'DeepSeek',
    M2C,
    402,
    error('Insufficient Balance', { type: 'unknown_error', code: 'invalid_request_error' }),
    FAILED,
  ],
  [
    'Anthropic',
    C2M,
    400,
    anthropic(
      'Your credit balance is too low to access the API. Please go to Plans & Billing to upgrade or purchase credits.',
    ),
    BUSY,
  ],
  [
    'OpenAI',
    R2C,
    429,
    openai('You exceeded your current quota, please check your plan and billing details.', null, 'insufficient_quota'),
    BUSY,
  ],
  [
    'new-api',
    M2C,
    403,
    error('用户额度不足, 剩余额度: ＄0.000000 (request id: 2)', {
      type: 'new_api_error',
      code: 'insufficient_user_quota',
    }),
    FAILED,
  ],
  ['one-api', R2C, 403, error('token quota is not enough', { type: 'one_api_error' }), FAILED],
  [
    'Fireworks',
    M2C,
    412,
    {
      error: {
        message: 'Account acme is suspended, possibly due to reaching the monthly spending limit',
        type: 'error',
      },
    },
    BUSY,
  ],
  [
    'OpenAI',
    M2C,
    401,
    openai('Incorrect API key provided: sk-***. You can find your API key at the website.', null, 'invalid_api_key'),
    FAILED,
  ],
  [
    'Gemini',
    R2C,
    400,
    [
      {
        error: {
          code: 400,
          message: 'API key not valid. Please pass a valid API key.',
          status: 'INVALID_ARGUMENT',
          details: [
            {
              '@type': 'type.googleapis.com/google.rpc.ErrorInfo',
              reason: 'API_KEY_INVALID',
              domain: 'googleapis.com',
            },
          ],
        },
      },
    ],
    FAILED,
  ],
  [
    'Gemini',
    M2C,
    400,
    [
      {
        error: { code: 400, message: 'User location is not supported for the API use.', status: 'FAILED_PRECONDITION' },
      },
    ],
    FAILED,
  ],
  ['one-api', R2C, 401, error('无效的令牌', { type: 'one_api_error' }), FAILED],
  [
    'Groq',
    M2C,
    404,
    openai('The model `vendorB-5.5` does not exist or you do not have access to it.', null, 'model_not_found'),
    FAILED,
  ],
  [
    'ollama',
    R2C,
    404,
    { error: { message: 'model "vendorB-5.5" not found, try pulling it first', type: 'api_error' } },
    FAILED,
  ],
  [
    'LiteLLM',
    M2C,
    400,
    error(
      '/chat/completions: Invalid model name passed in model=vendorB-5.5. Call `/v1/models` to view available models for your key.',
      { type: 'None', param: 'None', code: '400' },
    ),
    FAILED,
  ],
  [
    'new-api',
    R2C,
    503,
    error('分组 default 下模型 vendorB-5.5 无可用渠道 (request id: 2)', {
      type: 'new_api_error',
      code: 'model_not_found',
    }),
    FAILED,
  ],
  ['transformers', M2C, 400, { detail: "Server is pinned to 'acme/x'; requested 'vendorB-5.5'" }, FAILED],
  [
    'OpenAI',
    R2C,
    429,
    openai(
      'Rate limit reached for m in organization o on tokens per min (TPM): Limit 30000, Used 29000, Requested 4000. Please try again in 6s.',
      null,
      'rate_limit_exceeded',
    ),
    BUSY,
  ],
  ['vLLM', M2C, 503, { detail: 'The engine has no room for the user right now.' }, BUSY],
  ['Anthropic', C2M, 529, { type: 'error', error: { type: 'overloaded_error', message: 'Overloaded' } }, BUSY],
  [
    'Cerebras',
    R2C,
    429,
    {
      message: 'Requests per minute limit exceeded - too many requests sent.',
      type: 'too_many_requests_error',
      param: 'quota',
      code: 'request_quota_exceeded',
    },
    BUSY,
  ],
  ['a proxy', M2C, 502, page('nginx: bad gateway. Contact the user or the store.'), FAILED],
  [
    'a broken server',
    R2C,
    500,
    { error: { message: 'internal error while writing to the store', type: 'server_error' } },
    FAILED,
  ],
  [
    'a broken server',
    M2C,
    500,
    'Traceback (most recent call last):\n  File "server.py", line 7, in create\n    user = request["user"]\nRuntimeError: CUDA out of memory',
    FAILED,
  ],
]

/** The classes, in words that came after the rows above. */
export const CLASSES: readonly Final[] = [
  [
    'llama-cpp-python',
    M2C,
    400,
    {
      error: {
        message:
          "This model's maximum context length is 4096 tokens, however you requested 5020 tokens (4120 in your prompt; 900 for the completion). Please reduce your prompt; or completion length.",
        type: 'invalid_request_error',
        param: 'messages',
        code: 'context_length_exceeded',
      },
    },
    LONG,
  ],
  [
    'llama-cpp-python',
    R2C,
    400,
    {
      error: {
        message: 'Requested tokens (5020) exceed context window of 4096',
        type: 'internal_server_error',
        param: null,
        code: null,
      },
    },
    LONG,
  ],
  [
    'TensorRT-LLM',
    M2C,
    400,
    {
      object: 'error',
      message: 'Prompt length (5000) exceeds maximum input length (4096).',
      type: 'BadRequestError',
      code: 400,
    },
    LONG,
  ],
  ['Triton', R2C, 400, { error: 'Encountered error: promptLen (5000) exceeds maximum input length (4096)' }, LONG],
  [
    'Cohere',
    M2C,
    400,
    {
      message:
        'too many tokens: total number of tokens in the prompt cannot exceed 4081 - received 4500. Try using a shorter prompt.',
    },
    LONG,
  ],
  [
    'ollama',
    R2C,
    400,
    { error: { message: 'the input length exceeds the context length', type: 'invalid_request_error' } },
    LONG,
  ],
  [
    'TGI',
    M2C,
    422,
    {
      error: 'Input validation error: `inputs` must have less than 4096 tokens. Given: 5000',
      error_type: 'validation',
    },
    LONG,
  ],
  [
    'xAI',
    C2R,
    400,
    {
      code: 'Client specified an invalid argument',
      error: "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
    },
    LONG,
  ],
  [
    'Copilot',
    R2C,
    400,
    error('prompt token count of 140000 exceeds the limit of 128000', { code: 'model_max_prompt_tokens_exceeded' }),
    LONG,
  ],
  [
    'Cloudflare',
    M2C,
    400,
    {
      errors: [
        {
          message:
            'AiError: The estimated number of input and maximum output tokens (9000) exceeded this model context window limit (8192).',
          code: 5021,
        },
      ],
      success: false,
      result: {},
      messages: [],
    },
    LONG,
  ],
  ['DeepInfra', R2C, 400, { detail: { error: 'Requested input length 9000 exceeds maximum input length 8192' } }, LONG],
  [
    'Fireworks',
    M2C,
    400,
    error('The prompt is too long: 9000, model maximum context length: 8192', { code: 'invalid_request_error' }),
    LONG,
  ],
  [
    'OpenAI',
    M2R,
    400,
    openai(
      'Your input exceeds the context window of this model. Please adjust your input and try again.',
      'input',
      'context_length_exceeded',
    ),
    LONG,
  ],
  [
    'Bedrock',
    R2M,
    400,
    {
      message:
        'The model returned the following errors: input length and `max_tokens` exceed context limit: 199000 + 8000 > 204698, decrease input length or `max_tokens` and try again',
    },
    LONG,
  ],
  [
    'SambaNova',
    M2C,
    400,
    error(
      'The maximum context length of this model is 8192. However, answering your request will take 9010 tokens. Please reduce the length of the messages.',
    ),
    LONG,
  ],
  [
    'LiteLLM',
    R2C,
    400,
    error(
      'litellm.ContextWindowExceededError: litellm.BadRequestError: OpenAIException - prompt is too long: 9000 tokens > 8192 maximum',
      { code: '400' },
    ),
    LONG,
  ],
  ['a Korean server', M2C, 400, { error: { message: '입력이 최대 컨텍스트 길이 8192 토큰을 초과했습니다.' } }, LONG],
  [
    'a French server',
    R2C,
    400,
    { message: 'Fenêtre de contexte dépassée : 9000 tokens demandés, 8192 tokens maximum' },
    LONG,
  ],
  [
    'Gemini',
    M2C,
    400,
    [
      {
        error: {
          code: 400,
          message:
            "The prompt could not be submitted. This prompt contains sensitive words that violate Google's Responsible AI practices.",
          status: 'INVALID_ARGUMENT',
        },
      },
    ],
    POLICY,
  ],
  [
    'xAI',
    R2C,
    403,
    {
      code: 'The caller does not have permission to execute the specified operation',
      error: 'Content violates usage guidelines. Failed check: SAFETY_CHECK_TYPE_BIO',
    },
    POLICY,
  ],
  [
    'Volcengine',
    M2C,
    400,
    error('The request failed because the input text may contain sensitive information.', {
      code: 'InputTextSensitiveContentDetected',
      param: '',
      type: 'BadRequest',
    }),
    POLICY,
  ],
  [
    'Portkey',
    R2C,
    446,
    {
      error: {
        message:
          'The guardrail checks defined in the config failed. You can find more information in the hook_results object.',
        type: 'hooks_failed',
        param: null,
        code: null,
      },
      hook_results: {},
    },
    POLICY,
  ],
  [
    'OpenAI',
    R2C,
    400,
    openai(
      'Your request was rejected as a result of our safety system. Your prompt may contain text that is not allowed by our safety system.',
      null,
      'moderation_blocked',
    ),
    POLICY,
  ],
  ['Anthropic', C2M, 400, anthropic('Output blocked by content filtering policy'), POLICY],
  [
    'Mistral',
    M2C,
    403,
    { message: 'Your request was rejected by the moderation guardrail.', type: 'guardrail_violation' },
    POLICY,
  ],
  ['Hunyuan', R2C, 400, error('输入内容包含敏感信息，请修改后重试', { code: 'content_risk' }), POLICY],
  [
    'Groq',
    M2C,
    429,
    openai(
      'Rate limit reached for model `m` on tokens per day (TPD): Limit 100000, Used 99000, Requested 4000. Please try again in 12m3.5s.',
      null,
      'rate_limit_exceeded',
    ),
    BUSY,
  ],
  [
    'Gemini',
    R2C,
    429,
    [
      {
        error: { code: 429, message: 'Resource has been exhausted (e.g. check quota).', status: 'RESOURCE_EXHAUSTED' },
      },
    ],
    BUSY,
  ],
  ['Bedrock', C2M, 429, { message: 'Too many tokens, please wait before trying again.' }, BUSY],
  [
    'Azure',
    M2C,
    429,
    error(
      'Requests to the ChatCompletions_Create Operation have exceeded token rate limit of your current pricing tier. Please retry after 26 seconds.',
      { code: '429' },
    ),
    BUSY,
  ],
  ['vLLM', R2C, 503, { object: 'error', message: 'Server overloaded', type: 'ServiceUnavailable', code: 503 }, BUSY],
  [
    'SiliconFlow',
    M2C,
    403,
    { code: 30001, message: 'Sorry, your account balance is insufficient', data: null },
    FAILED,
  ],
  [
    'Moonshot',
    R2C,
    429,
    error('Your account is suspended due to insufficient balance, please recharge your account', {
      type: 'exceeded_current_quota_error',
    }),
    BUSY,
  ],
  [
    'OpenRouter',
    M2C,
    402,
    error(
      'This request requires more credits, or fewer max_tokens. You requested up to 900 tokens, but can only afford 120.',
      { code: 402 },
    ),
    FAILED,
  ],
  [
    'xAI',
    R2C,
    429,
    {
      code: 'resource-exhausted',
      error: 'Your team has either used all available credits or reached its monthly spending limit.',
    },
    BUSY,
  ],
  [
    'Azure',
    M2C,
    401,
    error('Access denied due to invalid subscription key or wrong API endpoint.', { code: '401' }),
    FAILED,
  ],
  ['Bedrock', R2M, 403, { message: 'The security token included in the request is invalid.' }, FAILED],
  [
    'Azure',
    R2C,
    404,
    error('The API deployment for this resource does not exist.', { code: 'DeploymentNotFound' }),
    FAILED,
  ],
  ['Fireworks', M2C, 404, error('Model not found, inaccessible, and/or not deployed', { code: 'NOT_FOUND' }), FAILED],
  ['Bedrock', C2M, 400, { message: 'The provided model identifier is invalid.' }, FAILED],
  [
    'vLLM',
    R2C,
    500,
    {
      object: 'error',
      message: 'EngineCore encountered an issue. See stack trace (above) for the root cause.',
      type: 'InternalServerError',
      code: 500,
    },
    FAILED,
  ],
]
