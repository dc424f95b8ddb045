// The client API as an OpenAPI document, made from the data the server itself uses: the list of endpoints, the schemas of
// requests, and the table of errors.

import type { TSchema } from '@sinclair/typebox'
import { ERRORS, type ErrorCode } from '../errors.ts'
import type { ChatWire, Operation } from '../ir/wire.ts'
import { VERSION } from '../version.ts'
import { CHAT_CODECS, CODECS } from '../wire/index.ts'
import { ENDPOINTS, type ListedEndpoint } from './endpoints.ts'
import { withDescriptions } from './member-descriptions.ts'
import {
  Discovery,
  ErrorEnvelope,
  MessagesCount,
  ModelEntry,
  ModelList,
  ResponsesCount,
  UsageHistory,
  UsageRecord,
} from './openapi-schemas.ts'

type OperationText = { id: string; summary: string; description?: string; output?: TSchema; example?: object }

const hello = [{ role: 'user', content: 'Say hello' }]

const COUNTING =
  'By the provider’s own count, which bills nothing; where it has none, by a tokenizer, and `x-gateway-estimated` says so.'

const WIRES: Record<Operation, OperationText & { answer: string }> = {
  'chat-completions': {
    id: 'createChatCompletion',
    summary: 'Chat completions',
    answer: 'A chat completion, or its chunks when streamed.',
    example: { model: 'auto', messages: hello, max_tokens: 100, stream: true },
  },
  responses: {
    id: 'createResponse',
    summary: 'Responses',
    description:
      'Also by WebSocket, `GET` at the same path: `response.create` events with such a body in, the events of its stream out.',
    answer: 'A response, or its events when streamed.',
    example: { model: 'auto', input: 'Say hello', stream: true },
  },
  'responses/compact': {
    id: 'compactResponse',
    summary: 'Compact a conversation',
    description:
      'By the provider itself where it does that; otherwise the model is asked for a summary, which models of any vendor go on from.',
    answer: 'What the user said, and one item for the rest: the input of the next request.',
    example: { model: 'auto', input: 'Say hello' },
  },
  messages: {
    id: 'createMessage',
    summary: 'Messages',
    description: 'Clients of this style take the address without `/v1`: they add `/v1/messages` themselves.',
    answer: 'A message, or its events when streamed.',
    example: { model: 'auto', max_tokens: 100, messages: hello, stream: true },
  },
  images: {
    id: 'createImage',
    summary: 'Image generation',
    answer: 'The images, base64 or by URL.',
    example: { model: 'vendorB-image-1', prompt: 'A lock on a canal', size: '1024x1024' },
  },
  'images/edits': {
    id: 'createImageEdit',
    summary: 'Image edits',
    description: 'A form with the pictures to change, or JSON where the provider takes it.',
    answer: 'The images, base64 or by URL.',
  },
  'images/variations': {
    id: 'createImageVariation',
    summary: 'Image variations',
    description: 'A form with the picture to vary.',
    answer: 'The images, base64 or by URL.',
  },
  embeddings: {
    id: 'createEmbedding',
    summary: 'Embeddings',
    description: 'With a model of the kind `embedding`.',
    answer: 'The vectors, as numbers or in base64.',
    example: { model: 'text-embedding-3-small', input: 'A lock on a canal' },
  },
  moderations: {
    id: 'createModeration',
    summary: 'Moderation',
    description: 'With a model of the kind `moderation`: the first one here where none is named.',
    answer: 'What was found in the text.',
    example: { input: 'A lock on a canal' },
  },
  audio: {
    id: 'createTranscription',
    summary: 'Transcription',
    description: 'A form with the sound, and a model of the kind `transcription`.',
    answer: 'The transcript, in the format that was asked for, or its events when streamed.',
  },
  'audio/translations': {
    id: 'createTranslation',
    summary: 'Translation of speech',
    description: 'Into English: a form with the sound, and a model of the kind `transcription`.',
    answer: 'The translation, in the format that was asked for.',
  },
  'audio/speech': {
    id: 'createSpeech',
    summary: 'Speech',
    description: 'With a model of the kind `speech`.',
    answer: 'The sound, as it is made; its events with `stream_format: sse`.',
    example: { model: 'tts-1', input: 'A lock on a canal', voice: 'alloy' },
  },
}

/** The endpoints that count tokens, by path. */
const COUNTS: Record<string, OperationText & { wire: ChatWire }> = {
  '/v1/messages/count_tokens': {
    wire: 'messages',
    id: 'countMessageTokens',
    summary: 'Tokens of a prompt, messages',
    description: COUNTING,
    output: MessagesCount,
    example: { model: 'auto', messages: hello },
  },
  '/v1/responses/input_tokens': {
    wire: 'responses',
    id: 'countResponseTokens',
    summary: 'Tokens of a prompt, responses',
    description: COUNTING,
    output: ResponsesCount,
    example: { model: 'auto', input: 'Say hello' },
  },
}

/** The endpoints of background answers, by method and path. */
const BACKGROUND: Record<string, OperationText> = {
  'GET /v1/responses/{id}': {
    id: 'getResponse',
    summary: 'An answer made in the background, or kept by the gateway',
    description:
      'As it stands, or with `stream=true` its events from `starting_after` on. The gateway keeps translated answers to requests without `store: false`, for a while.',
  },
  'DELETE /v1/responses/{id}': {
    id: 'deleteResponse',
    summary: 'Remove such an answer',
    description: 'One in the background that is not over is cancelled first.',
  },
  'POST /v1/responses/{id}/cancel': { id: 'cancelResponse', summary: 'End an answer in the background early' },
  'GET /v1/responses/{id}/input_items': { id: 'listInputItems', summary: 'What such an answer was asked with' },
}

const READS: Record<string, OperationText> = {
  '/v1': { id: 'getGateway', summary: 'Health check and discovery', description: 'Needs no key.', output: Discovery },
  '/v1/models': { id: 'listModels', summary: 'The models this key may use', output: ModelList },
  '/v1/models/{id}': { id: 'getModel', summary: 'One model, by id or alias', output: ModelEntry },
  '/v1/usage/history': {
    id: 'getUsageHistory',
    summary: 'What the calling key used, by day and by model',
    output: UsageHistory,
  },
  '/v1/usage': { id: 'getUsage', summary: 'What is left on the calling key', output: UsageRecord },
}

const ERROR_TEXTS: Partial<Record<ErrorCode, string>> = {
  missing_api_key: 'no key in the headers',
  invalid_api_key: 'the key is invalid, expired or revoked',
  permission_denied: 'the key may not use this model, or a tool that runs at the vendor',
  quota_exhausted: 'the key has no tokens left',
  rate_limit_exceeded: 'too many requests; see Retry-After',
  context_length_exceeded: 'the context is longer than the model takes',
  content_policy_violation: 'the content violates a policy',
  invalid_model: 'there is no such model here, or not for this key',
  not_found: 'there is no such answer for this key',
  payload_too_large: 'the body is too large',
  invalid_json: 'the body is not valid JSON',
  invalid_request: 'the body is JSON but not a valid request; the message names the member',
  service_unavailable: 'busy; try again after Retry-After',
  gateway_timeout: 'the provider did not answer in time',
  upstream_error: 'the provider failed',
  internal_error: 'the gateway failed unexpectedly',
}

const BACKGROUND_ERRORS: ErrorCode[] = [
  'not_found',
  'invalid_request',
  'service_unavailable',
  'gateway_timeout',
  'upstream_error',
]
const KEY_ERRORS: ErrorCode[] = ['missing_api_key', 'invalid_api_key', 'internal_error']
const REQUEST_ERRORS = (Object.keys(ERROR_TEXTS) as ErrorCode[]).filter(
  (code) => ![...KEY_ERRORS, 'not_found'].includes(code),
)

const json = (schema: object, example?: object) => ({
  'application/json': { schema, ...(example === undefined ? {} : { example }) },
})

/** One response for each status, naming the codes that come with it. */
const failures = (codes: readonly ErrorCode[]) => {
  const byStatus = Map.groupBy(codes, (code) => ERRORS[code].status)
  return Object.fromEntries(
    [...byStatus].map(([status, each]) => [
      String(status),
      {
        description: each.map((code) => `\`${code}\`: ${ERROR_TEXTS[code] ?? code}`).join('; '),
        headers: { 'x-gateway-error-code': { schema: { type: 'string', enum: each } } },
        content: json({ $ref: '#/components/schemas/Error' }),
      },
    ]),
  )
}

const QUERIES: Record<string, object[]> = {
  '/v1/models': [
    { name: 'limit', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 1000 } },
    { name: 'after_id', in: 'query', schema: { type: 'string' } },
    { name: 'before_id', in: 'query', schema: { type: 'string' } },
  ],
  '/v1/usage/history': [{ name: 'days', in: 'query', schema: { type: 'integer', minimum: 1, maximum: 366 } }],
}

const MORE_ERRORS: Record<string, ErrorCode[]> = {
  '/v1/models': ['invalid_request'],
  '/v1/models/{id}': ['invalid_model'],
  '/v1/usage/history': ['invalid_request'],
}

const ID = { name: 'id', in: 'path', required: true, schema: { type: 'string' } }

const named = ({ id, summary, description }: OperationText, tag: keyof typeof TAGS) => ({
  operationId: id,
  summary,
  ...(description === undefined ? {} : { description }),
  tags: [TAGS[tag]],
})

const background = (text: OperationText) => ({
  ...named(text, 'background'),
  parameters: [ID],
  responses: {
    '200': { description: 'As its provider has it, or the gateway.', content: json({ type: 'object' }) },
    ...failures([...KEY_ERRORS, ...BACKGROUND_ERRORS]),
  },
})

const read = ({ path }: ListedEndpoint) => {
  const text = READS[path] ?? { id: `get${path.replace(/\W+/g, '_')}`, summary: path }
  const open = path === '/v1'
  const parameters = path.endsWith('{id}') ? [ID] : (QUERIES[path] ?? [])
  return {
    ...named(text, 'read'),
    ...(open ? { security: [] } : {}),
    ...(parameters.length > 0 ? { parameters } : {}),
    responses: {
      '200': { description: 'OK', content: json(text.output ?? { type: 'object' }) },
      ...(open ? {} : failures([...KEY_ERRORS, ...(MORE_ERRORS[path] ?? [])])),
    },
  }
}

const DROPPED = {
  description: 'Members of the request that the model’s own wire cannot say, where there are any.',
  schema: { type: 'string' },
}
const ESTIMATED = { description: '`true` where no provider has counted.', schema: { type: 'string' } }

const post = (
  text: OperationText,
  schema: TSchema,
  answer: { description: string; headers?: object; content: object },
  takesForms = false,
) => ({
  ...named(text, 'post'),
  requestBody: {
    required: true,
    content: {
      ...(takesForms ? { 'multipart/form-data': { schema: withDescriptions(schema) } } : {}),
      // Of a form that some providers take as JSON there is no one example.
      ...(takesForms && text.example === undefined ? {} : json(withDescriptions(schema), text.example)),
    },
  },
  responses: {
    '200': {
      ...answer,
      headers: { 'x-request-id': { schema: { type: 'string' } }, 'x-gateway-dropped': DROPPED, ...answer.headers },
    },
    ...failures([...KEY_ERRORS, ...REQUEST_ERRORS]),
  },
})

const infer = (asked: Operation) => {
  const { requestSchema, isStream, isRaw, isText, takesForms } = CODECS[asked]
  const event = { 'text/event-stream': { schema: { type: 'string', description: 'Frames of the wire.' } } }
  const streams = isStream?.({ stream: true }) !== false
  const sound = { 'audio/*': { schema: { type: 'string', format: 'binary' } } }
  const text = { 'text/plain': { schema: { type: 'string' } } }
  const content = {
    ...(isRaw === undefined ? json({ type: 'object' }) : sound),
    ...(isText === undefined ? {} : text),
    ...(streams ? event : {}),
  }
  return post(WIRES[asked], requestSchema, { description: WIRES[asked].answer, content }, takesForms)
}

const count = ({ wire, ...text }: OperationText & { wire: ChatWire }) =>
  post(text, CHAT_CODECS[wire].counting?.requestSchema ?? CODECS[wire].requestSchema, {
    description: 'The tokens of the prompt.',
    headers: { 'x-gateway-estimated': ESTIMATED },
    content: json(text.output ?? { type: 'object' }),
  })

const operation = (endpoint: ListedEndpoint): object => {
  const counted = COUNTS[endpoint.path]
  if (counted !== undefined) return count(counted)
  const text = BACKGROUND[`${endpoint.method} ${endpoint.path}`]
  if (text !== undefined) return background(text)
  return endpoint.wire === null ? read(endpoint) : infer(endpoint.asked ?? endpoint.wire)
}

/** What operations are listed under, in this order. */
const TAGS = { post: 'Models answer', background: 'Answers that are kept', read: 'Key and models' }

/** OpenAPI 3.1: JSON Schema as TypeBox writes it. */
export const openApi = () => {
  const paths: Record<string, Record<string, object>> = {}
  for (const endpoint of ENDPOINTS) {
    paths[endpoint.path] = {
      ...paths[endpoint.path],
      [endpoint.method.toLowerCase()]: operation(endpoint),
    }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: 'sluice',
      version: VERSION,
      description:
        'One API in front of many models: three text wires, any wire with any model; images, audio, embeddings and moderation beside them.',
    },
    servers: [{ url: '/' }],
    security: [{ bearer: [] }, { apiKey: [] }],
    tags: Object.values(TAGS).map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'Counts when both headers are sent.' },
        apiKey: { type: 'apiKey', in: 'header', name: 'x-api-key' },
      },
      schemas: { Error: ErrorEnvelope },
    },
  }
}
