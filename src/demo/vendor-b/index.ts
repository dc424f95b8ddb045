// vendor_b: the chat-completions and responses wires, and those of images, embeddings, moderation and audio; a bearer key.

import { asObject, asText, type JsonObject } from '../../ir/json.ts'
import { writeFrame } from '../../lib/sse.ts'
import { answer } from '../answer.ts'
import { readDirectives } from '../directive.ts'
import { createPrefixes } from '../prefixes.ts'
import { promptTokens } from '../prompt.ts'
import { asNumber, type DemoWire, MARKER, type Vendor, type VendorError } from '../vendor.ts'
import { composeSpeech, composeTranscript } from './audio.ts'
import { createBackground } from './background.ts'
import { composeCompletion, playCompletion } from './chat.ts'
import { chatSaid, readChat } from './chat-request.ts'
import { compacted, composeCompaction, isTriggered, untriggered } from './compaction.ts'
import { composeEmbeddings } from './embeddings.ts'
import { errorBody, failure, invalid, unauthorised } from './error.ts'
import { composeEdits, composeImages, composeVariations } from './images.ts'
import { composeModeration, inputsOf } from './moderations.ts'
import { composeResponse } from './responses.ts'
import { createResponsesMemory } from './responses-memory.ts'
import { inputItems, itemsSaid, readResponses } from './responses-request.ts'
import { failResponse, playResponse } from './responses-stream.ts'

const withUsage = (said: string): boolean => !readDirectives(said).some((directive) => directive.name === 'no-usage')

const saltOf = (body: JsonObject): string => asText(body.prompt_cache_key)

const broken = (error: VendorError): string => writeFrame({ data: JSON.stringify(errorBody(error)) })

const brokenImages = (error: VendorError): string =>
  writeFrame({ event: 'error', data: JSON.stringify({ type: 'error', ...errorBody(error) }) })

export const createVendorB = (): Vendor => {
  const prefixes = createPrefixes()
  const memory = createResponsesMemory()
  const background = createBackground()
  const chat: DemoWire = {
    wire: 'chat-completions',
    said: chatSaid,
    accept: ({ body: asked, now }) => {
      const count = asNumber(asked.n) ?? 1
      if (count < 1 || count > 8) throw invalid("Invalid 'n': integer outside 1..8.", 'n', 'integer_above_max_value')
      const prompt = readChat(asked)
      const given = answer(prompt, prefixes.use(prompt, saltOf(asked)), false)
      const body = composeCompletion(given, asked, now, withUsage(prompt.said))
      return {
        stream: asked.stream === true,
        body,
        play: () => playCompletion(body, asked),
        broken,
      }
    },
  }
  const responses: DemoWire = {
    wire: 'responses',
    said: (body) => itemsSaid(inputItems(body.input)),
    accept: ({ body: asked, now }) => {
      const all = memory.resolve(asked)
      const items = untriggered(all)
      const prompt = readResponses(asked, items)
      const given = answer(prompt, prefixes.use(prompt, saltOf(asked)), false)
      const made = composeResponse(given, asked, now, withUsage(prompt.said))
      const whole = isTriggered(all) ? compacted(made) : made
      memory.keep(asked, items, whole)
      const body = asked.background === true ? background.begin(whole, items, asked.stream === true) : whole
      const obfuscated = asObject(asked.stream_options).include_obfuscation !== false
      return {
        stream: asked.stream === true,
        body,
        play: () => playResponse(body, obfuscated),
        broken: (error, sent) => failResponse(body, error, sent),
      }
    },
  }
  const compact: DemoWire = {
    wire: 'responses',
    said: responses.said,
    accept: ({ body: asked, now }) => {
      const items = memory.resolve(asked)
      const prompt = readResponses(asked, items)
      const given = answer(prompt, prefixes.use(prompt, saltOf(asked)), false)
      const made = composeResponse(given, asked, now, withUsage(prompt.said))
      return { stream: false, body: composeCompaction({ ...asked, input: items }, made) }
    },
  }
  const inputTokens: DemoWire = {
    wire: 'count-tokens',
    said: responses.said,
    accept: ({ body }) => {
      const prompt = readResponses(body, memory.resolve(body))
      return { stream: false, body: { object: 'response.input_tokens', input_tokens: promptTokens(prompt) } }
    },
  }
  const images: DemoWire = {
    wire: 'images',
    said: (body) => asText(body.prompt),
    accept: (request) => {
      const { body, play } = composeImages(request, withUsage(images.said(request.body)))
      return { stream: request.body.stream === true, body, play, broken: brokenImages }
    },
  }
  const edits: DemoWire = {
    ...images,
    accept: (request) => {
      const { body, play } = composeEdits(request, withUsage(images.said(request.body)))
      return { stream: request.body.stream === 'true', body, play, broken: brokenImages }
    },
  }
  const variations: DemoWire = {
    wire: 'images',
    said: () => '',
    accept: (request) => ({ stream: false, body: composeVariations(request) }),
  }
  const embeddings: DemoWire = {
    wire: 'embeddings',
    said: (body) => inputsOf(body.input).join('\n'),
    accept: ({ body }) => ({
      stream: false,
      body: composeEmbeddings(body, withUsage(embeddings.said(body))),
    }),
  }
  const moderations: DemoWire = {
    wire: 'moderations',
    said: embeddings.said,
    accept: ({ body }) => ({ stream: false, body: composeModeration(body) }),
  }
  const heard = (into: string): DemoWire => ({
    wire: 'audio',
    said: (body) => asText(body.prompt),
    accept: ({ body }) => composeTranscript(body, into, withUsage(asText(body.prompt))),
  })
  const speech: DemoWire = {
    wire: 'audio',
    said: (body) => asText(body.input),
    accept: ({ body: asked }) => {
      const { bytes, stream, play } = composeSpeech(asked)
      return { stream, body: bytes, play, broken }
    },
  }
  return {
    name: 'vendor_b',
    wires: {
      '/v1/chat/completions': chat,
      '/v1/responses': responses,
      '/v1/responses/input_tokens': inputTokens,
      '/v1/responses/compact': compact,
      '/v1/images/generations': images,
      '/v1/images/edits': edits,
      '/v1/images/variations': variations,
      '/v1/embeddings': embeddings,
      '/v1/moderations': moderations,
      '/v1/audio/speech': speech,
      '/v1/audio/transcriptions': heard('A transcript'),
      '/v1/audio/translations': heard('A translation'),
    },
    kept: background.serve,
    authorise: (headers, apiKey) => {
      const key = headers.get('authorization')?.replace(/^Bearer\s+/i, '') || undefined
      if (key !== apiKey) throw unauthorised(key)
    },
    failure,
    invalidJson: () => invalid('We could not parse the JSON body of your request.', null),
    notFound: (path) => invalid(`Invalid URL (POST ${path})`, null, null, 404),
    errorBody,
    headers: (requestId) => ({
      'x-request-id': requestId,
      'openai-organization': `org-${MARKER}`,
      'openai-processing-ms': '12',
      'openai-version': '2020-10-01',
      'x-ratelimit-limit-requests': '5000',
      'x-ratelimit-remaining-requests': '4999',
      'x-ratelimit-reset-requests': '12ms',
    }),
  }
}
