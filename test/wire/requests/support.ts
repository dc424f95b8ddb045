// A request of one wire sent to a provider of another, in cases the recordings do not cover, and what clients say there.

import { expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/ir/json.ts'
import type { ChatWire } from '../../../src/ir/wire.ts'
import type { EncodedRequest } from '../../../src/wire/codec.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'
import { SCHEMAS, violations } from '../../support/corpus.ts'

export const HI: Record<ChatWire, JsonObject> = {
  'chat-completions': { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
  responses: { model: 'm', input: 'hi' },
  messages: { model: 'm', max_tokens: 900, messages: [{ role: 'user', content: 'hi' }] },
}

export const cross = (from: ChatWire, to: ChatWire, asked: JsonObject): EncodedRequest => {
  const request = CHAT_CODECS[from].decodeRequest({ ...HI[from], ...asked })
  const sent = CHAT_CODECS[to].encodeRequest(request, { model: 'up', maxOutput: 64_000, quirks: {} })
  expect(violations(SCHEMAS[to].request, sent.body)).toEqual([])
  return sent
}

export const chat = 'chat-completions'

export const user = (...content: JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content }] })

export const said = (...input: JsonObject[]): JsonObject => ({ input: [...input, { role: 'user', content: 'go on' }] })

export const chatTool = (name: string, parameters?: JsonObject): JsonObject => ({
  type: 'function',
  function: { name, parameters },
})

export const plainTool = (name: string): JsonObject => ({ type: 'function', name, parameters: null, strict: null })

export const closed = {
  type: 'object',
  properties: { a: { type: 'string' } },
  required: ['a'],
  additionalProperties: false,
}

export const definition = { name: 'late', input_schema: closed }

/** What a client sends, what the provider must get of it, and what is listed as dropped by the client's own path. */
export type Crossing = [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]]

export const translates = (crossings: Crossing[]): void =>
  // biome-ignore lint/complexity/useMaxParams: a row of the table
  test.each(crossings)('%s (%s → %s)', (_, from, to, asked, sent, dropped) => {
    const encoded = cross(from, to, asked)
    expect(encoded.body).toMatchObject(sent)
    expect(encoded.dropped.toSorted()).toEqual(dropped)
  })
