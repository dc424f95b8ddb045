// vendor_a: the messages wire, its credential header and its version header.

import { asList, asObject, asText, isObject, type JsonObject } from '../../ir/json.ts'
import { createRecent } from '../../lib/recent.ts'
import { writeFrame } from '../../lib/sse.ts'
import { answer } from '../answer.ts'
import { readDirectives } from '../directive.ts'
import { createPrefixes } from '../prefixes.ts'
import { promptTokens } from '../prompt.ts'
import { type DemoWire, MARKER, type Vendor, VendorError } from '../vendor.ts'
import { errorBody, failure, invalid, unauthorised } from './error.ts'
import { composeMessage, playMessage } from './message.ts'
import { readRequest, said } from './request.ts'

/** The date of `vendorA-version`, `anthropic-version` or a branded header of the same form. */
const versionOf = (headers: Headers): string => {
  for (const [name, value] of headers) {
    if (/^[a-z]+-version$/.test(name) && /^\d{4}-\d{2}-\d{2}$/.test(value)) return value
  }
  throw invalid('anthropic-version: header is required')
}

export const createVendorA = (): Vendor => {
  const prefixes = createPrefixes()
  const threads = createRecent<string, JsonObject[]>(200)
  const messages: DemoWire = {
    wire: 'messages',
    said,
    accept: ({ headers, body: asked }) => {
      const version = versionOf(headers)
      const thread = asObject(asked.thread)
      const before = thread.type === 'continue' ? threads.get(asText(thread.previous_message_id)) : []
      if (before === undefined) {
        throw new VendorError(400, {
          type: 'invalid_request_error',
          message: 'thread: previous message not found',
          details: { error_code: 'thread_not_found' },
        })
      }
      const body: JsonObject = { ...asked, messages: [...before, ...asList(asked.messages)] }
      const prompt = readRequest(body, version)
      const directives = readDirectives(prompt.said).map((directive) => directive.name)
      const message = composeMessage(
        answer(prompt, prefixes.use(prompt, ''), true),
        prompt.model,
        { omitted: asObject(body.thinking).display === 'omitted', redacted: directives.includes('redacted') },
        !directives.includes('no-usage'),
      )
      if (isObject(asked.thread)) {
        const turns = [...asList(body.messages).map(asObject), { role: 'assistant', content: message.content }]
        threads.set(asText(message.id), turns)
      }
      return {
        stream: body.stream === true,
        body: message,
        play: () => playMessage(message),
        broken: (error) => writeFrame({ event: 'error', data: JSON.stringify(errorBody(error, `req_${MARKER}`)) }),
      }
    },
  }
  const countTokens: DemoWire = {
    wire: 'count-tokens',
    said,
    accept: ({ headers, body }) => {
      const prompt = readRequest({ max_tokens: 1, ...body, thinking: undefined }, versionOf(headers))
      return { stream: false, body: { input_tokens: promptTokens(prompt) } }
    },
  }
  return {
    name: 'vendor_a',
    wires: { '/v1/messages': messages, '/v1/messages/count_tokens': countTokens },
    authorise: (headers, apiKey) => {
      const bearer = headers.get('authorization')?.replace(/^Bearer\s+/i, '')
      const shown = headers.get('x-api-key') ?? bearer
      if (shown === undefined) throw unauthorised('x-api-key header is required')
      if (shown !== apiKey) throw unauthorised()
    },
    failure,
    invalidJson: () => invalid('The request body is not valid JSON: Expecting value: line 1 column 1 (char 0)'),
    notFound: () => new VendorError(404, { type: 'not_found_error', message: 'Not Found' }),
    errorBody,
    headers: (requestId) => ({
      'request-id': requestId,
      'anthropic-organization-id': `org-${MARKER}`,
      'anthropic-ratelimit-requests-limit': '4000',
      'anthropic-ratelimit-requests-remaining': '3999',
      'anthropic-ratelimit-requests-reset': '2026-11-21T00:00:00Z',
    }),
  }
}
