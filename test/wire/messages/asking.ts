// Requests as other wires' decoders give them, and their encoding.

import { expect } from 'bun:test'
import type { Quirks } from '../../../src/ir/quirks.ts'
import type { ChatRequest } from '../../../src/ir/request.ts'
import { messages } from '../../../src/wire/messages/index.ts'
import { SCHEMAS, violations } from '../../support/corpus.ts'
import { refusals } from './request-rules.ts'

export const hello = { role: 'user', content: 'Hello' }
export const base = { model: 'm', max_tokens: 100, messages: [hello] }

/** The request with defaults for the required members. */
export const asked = (request: Partial<ChatRequest>): ChatRequest => ({
  model: 'm',
  stream: false,
  turns: [{ role: 'user', parts: [{ type: 'text', text: 'Hello' }] }],
  tools: [],
  sampling: {},
  origin: 'chat-completions',
  opaque: [],
  ...request,
})

/** Encodes the request, and checks it by the vendor's schema and rules. */
export const encode = (request: Partial<ChatRequest>, quirks: Quirks = {}, maxOutput = 32_000) => {
  const encoded = messages.encodeRequest(asked(request), { model: 'up', maxOutput, quirks })
  expect(violations(SCHEMAS.messages.request, encoded.body)).toEqual([])
  if (request.origin !== 'messages') expect(refusals(encoded.body, 'foreign')).toEqual([])
  return encoded
}
