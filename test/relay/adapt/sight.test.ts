// A picture is seen wherever it stands, though a body without any is never read for one.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { BUILTIN_MODELS } from '../../../src/catalogue/builtin.ts'
import { GatewayError } from '../../../src/errors.ts'
import type { JsonObject } from '../../../src/ir/json.ts'
import type { ChatRequest } from '../../../src/ir/request.ts'
import { CHAT_WIRES, type ChatWire } from '../../../src/ir/wire.ts'
import { requireSight } from '../../../src/relay/adapt/sight.ts'
import { openText } from '../../../src/relay/client-body.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'
import { chatCompletionsRequest } from '../../support/arbitrary/chat-completions.ts'
import { messagesRequest } from '../../support/arbitrary/messages.ts'
import { responsesRequest } from '../../support/arbitrary/responses.ts'
import { recordings } from '../../support/corpus.ts'
import { openAtOnce } from '../../support/open-at-once.ts'

const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg=='
const URL = `data:image/png;base64,${PNG}`
const PROSE = 'Read the file "a.ts" and say what it does. '.repeat(2_000)

const [blind] = BUILTIN_MODELS.filter(
  ({ kind, inputModalities }) => kind === 'text' && !inputModalities.includes('image'),
)
if (blind === undefined) throw new Error('every built-in model sees')

const showsPicture = ({ turns }: ChatRequest): boolean =>
  turns.some(({ parts }) =>
    parts.some((part) => (part.type === 'tool-result' ? part.parts : [part]).some(({ type }) => type === 'image')),
  )

/** Where the picture was named; undefined where the body is let through. */
const named = async (wire: ChatWire, body: JsonObject, size: 'small' | 'large'): Promise<string | undefined> => {
  const text = JSON.stringify(body)
  const padded = `{"metadata":{"note":${JSON.stringify(PROSE)}},${text.slice(1)}`
  try {
    requireSight(wire, size === 'small' ? openText(text) : await openAtOnce(new TextEncoder().encode(padded)), blind)
    return undefined
  } catch (error) {
    if (error instanceof GatewayError) return error.param
    throw error
  }
}

const user = (...content: JsonObject[]) => ({ messages: [{ role: 'user', content }] })
const input = (...content: JsonObject[]) => ({ input: [{ role: 'user', content }] })
const source = { type: 'base64', media_type: 'image/png', data: PNG }

const SHOWN: [ChatWire, string, JsonObject][] = [
  ['messages', 'messages.0.content.0', user({ type: 'image', source })],
  ['messages', 'messages.0.content.0', user({ type: 'image', source: { type: 'url', url: 'https://a.example/b' } })],
  [
    'messages',
    'messages.0.content.0.content.0',
    user({ type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'image', source }] }),
  ],
  ['chat-completions', 'messages.0.content.0', user({ type: 'image_url', image_url: { url: URL } })],
  ['chat-completions', 'messages.0.content.0', user({ type: 'image_url', image_url: URL })],
  ['chat-completions', 'messages.0.content.0', user({ type: 'input_image', image_url: URL })],
  ['chat-completions', 'messages.0.content.0', user({ type: 'image', source })],
  ['chat-completions', 'messages.0.content.0', user({ type: 'file', file: { filename: 'a', file_data: URL } })],
  ['chat-completions', 'messages.0.content.0', user({ type: 'input_file', filename: 'a.png', file_data: PNG })],
  ['responses', 'input.0.content.0', input({ type: 'input_image', image_url: URL })],
  ['responses', 'input.0.content.0', input({ type: 'input_image', file_id: 'file-1' })],
  ['responses', 'input.0.content.0', input({ type: 'input_file', filename: 'a.png', file_data: PNG })],
  [
    'responses',
    'input.1.output.0',
    {
      input: [
        { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: [{ type: 'input_image', image_url: URL }] },
      ],
    },
  ],
]

describe.each(['small', 'large'] as const)('in a %s body', (size) => {
  test.each(SHOWN)('%s: a picture at %s is refused, however it is sent', async (wire, place, body) => {
    expect(await named(wire, { model: 'blind', max_tokens: 8, ...body }, size)).toBe(place)
  })
})

const REQUESTS: Record<ChatWire, fc.Arbitrary<ChatRequest>> = {
  'chat-completions': chatCompletionsRequest,
  messages: messagesRequest,
  responses: responsesRequest,
}

test.each(CHAT_WIRES)('%s: exactly what decodes as a picture is one', async (wire) => {
  const codec = CHAT_CODECS[wire]
  await fc.assert(
    fc.asyncProperty(REQUESTS[wire], async (request) => {
      const { body } = codec.encodeRequest(request, { model: 'blind', maxOutput: 1_000, quirks: {} })
      const sent = JSON.parse(JSON.stringify(body)) as JsonObject
      const shows = showsPicture(codec.decodeRequest(sent))
      for (const size of ['small', 'large'] as const) expect((await named(wire, sent, size)) !== undefined).toBe(shows)
    }),
    { numRuns: 200 },
  )
})

test.each(CHAT_WIRES)('%s: recorded requests are seen as they decode', async (wire) => {
  for (const { name, request } of recordings(wire)) {
    if (request === undefined) continue
    const body = JSON.parse(request) as JsonObject
    let shows = false
    try {
      shows = showsPicture(CHAT_CODECS[wire].decodeRequest(body))
    } catch {
      continue
    }
    expect([name, (await named(wire, body, 'small')) !== undefined]).toEqual([name, shows])
  }
})
