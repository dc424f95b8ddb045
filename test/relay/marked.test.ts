// A translation that what has been said goes through unread makes the request that reading all of it makes.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../src/errors.ts'
import type { Json, JsonObject } from '../../src/ir/json.ts'
import type { ChatRequest } from '../../src/ir/request.ts'
import type { ChatWire } from '../../src/ir/wire.ts'
import { textOf } from '../../src/lib/pieces.ts'
import { chatCodec } from '../../src/wire/index.ts'
import { chatCompletionsRequest } from '../support/arbitrary/chat-completions.ts'
import { messagesRequest } from '../support/arbitrary/messages.ts'
import { responsesRequest } from '../support/arbitrary/responses.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { openAtOnce } from '../support/open-at-once.ts'
import { MESSAGE } from '../support/provider/message.ts'

const utf8 = new TextEncoder()

/** On both sides of what is marked, and with what makes texts hard to pass over. */
const text = fc
  .tuple(
    fc.constantFrom('', ' ', '\n', 'Error: ', '1\t', '“', 'ខ្មែរ', 'sluice.', 'data:image/png;base64,'),
    fc.constantFrom('read “rows”\n', 'const a = "C:\\\\tmp\\t😀"\n', 'plain words. ', ' ', '\\', '"', 'AAAA', '\u0001'),
    fc.constantFrom(0, 1, 40, 200),
  )
  .map(([begins, piece, times]) => begins + piece.repeat(times))

/** Base64 in the forms in which it comes: in either alphabet, with breaks. */
const data = fc
  .tuple(
    fc.constantFrom('iVBORw0KGgo', '/9j/4AAQSkZJRg', 'UklGRiIAAABXRUJQVlA4', 'JVBERi0xLjQK', 'cGxhaW4gd29yZHMs'),
    fc.constantFrom('AAAA', 'a+b/', 'a-b_', 'AAAA\n', '%2Bab'),
    fc.constantFrom(1, 200, 400),
    fc.constantFrom('', 'AA=='),
  )
  .map(([begins, piece, times, ends]) => begins + piece.repeat(times) + ends)
const mediaType = fc.constantFrom('image/png', 'image/jpeg', 'image/svg+xml', 'text/plain', 'application/pdf')

const RED_DOT =
  'iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4//8/w38GIAXDIBKE0DHxgljNBAAO9TXL0Y4OHwAAAABJRU5ErkJggg=='
const PICTURE = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: RED_DOT } }

/** What a round says, calls, is given and is told. */
const round = fc.record({
  says: text,
  calls: fc.array(
    fc.record({
      input: text,
      failed: fc.constantFrom(undefined, false, true),
      result: fc.array(text, { maxLength: 3 }),
    }),
    { maxLength: 3 },
  ),
  asString: fc.boolean(),
  picture: fc.boolean(),
  told: fc.option(text, { nil: undefined }),
  shown: fc.option(fc.record({ data, mediaType }), { nil: undefined }),
})
const conversation = fc.record({
  system: text,
  rounds: fc.array(round, { minLength: 1, maxLength: 5 }),
  // Of more than is worth sharing, where there are two.
  tools: fc.array(fc.record({ description: text.map((end) => 'reads files. '.repeat(200) + end), about: text }), {
    maxLength: 4,
  }),
})
type Conversation = typeof conversation extends fc.Arbitrary<infer Each> ? Each : never

const blockOf = (text: string): JsonObject => ({ type: 'text', text })
const schemaOf = (about: string): JsonObject => ({
  type: 'object',
  properties: {
    path: { type: 'string', description: about },
    list: { type: ['array', 'null'], items: [{ type: 'string' }] },
  },
  anyOf: [{ required: ['path'] }, { required: ['list'] }],
})

const dataUrl = ({ data, mediaType }: { data: string; mediaType: string }): string => `data:${mediaType};base64,${data}`

const BODIES: Record<ChatWire, (of: Conversation) => JsonObject> = {
  messages: ({ system, rounds, tools }) => ({
    max_tokens: 100,
    system: [blockOf(`You help. ${system}`)],
    messages: [
      { role: 'user', content: 'Go.' },
      ...rounds.flatMap(({ says, calls, asString, picture, told, shown }, at) => [
        {
          role: 'assistant',
          content: [
            blockOf(`So: ${says}`),
            ...calls.map(({ input }, nth) => ({
              type: 'tool_use',
              id: `t${at}_${nth}`,
              name: 'tool0',
              input: { input },
            })),
          ],
        },
        {
          role: 'user',
          content: [
            ...calls.map(({ result, failed }, nth) => ({
              type: 'tool_result',
              tool_use_id: `t${at}_${nth}`,
              content: asString
                ? result.join('\n')
                : [...result.map(blockOf), ...(picture && failed !== true ? [PICTURE] : [])],
              ...(failed === undefined ? {} : { is_error: failed }),
            })),
            blockOf(`Then: ${told ?? ''}`),
            ...(shown === undefined
              ? []
              : [{ type: 'image', source: { type: 'base64', media_type: shown.mediaType, data: shown.data } }]),
          ],
        },
      ]),
    ],
    tools: tools.map(({ description, about }, at) => ({
      name: `tool${at}`,
      description,
      input_schema: schemaOf(about),
    })),
  }),
  'chat-completions': ({ system, rounds, tools }) => ({
    messages: [
      { role: 'system', content: system },
      { role: 'user', content: 'Go.' },
      ...rounds.flatMap(({ says, calls, asString, told, shown }, at): JsonObject[] => [
        {
          role: 'assistant',
          content: `So: ${says}`,
          ...(calls.length > 0 && {
            tool_calls: calls.map(({ input }, nth) => ({
              ...{ id: `t${at}_${nth}`, type: 'function' },
              function: { name: 'tool0', arguments: JSON.stringify({ input }) },
            })),
          }),
        },
        ...calls.map(({ result }, nth) => ({
          role: 'tool',
          tool_call_id: `t${at}_${nth}`,
          content: asString ? result.join('\n') : result.map(blockOf),
        })),
        ...(told === undefined ? [] : [{ role: 'user', content: [blockOf(`Then: ${told}`)] }]),
        ...(shown === undefined
          ? []
          : [{ role: 'user', content: [{ type: 'image_url', image_url: { url: dataUrl(shown) } }] }]),
      ]),
    ],
    tools: tools.map(({ description, about }, at) => ({
      type: 'function',
      function: { name: `tool${at}`, description, parameters: schemaOf(about) },
    })),
  }),
  responses: ({ system, rounds, tools }) => ({
    instructions: `You help. ${system}`,
    input: [
      { role: 'user', content: 'Go.' },
      ...rounds.flatMap(({ says, calls, asString, told, shown }, at): JsonObject[] => [
        {
          type: 'message',
          role: 'assistant',
          content: [{ type: 'output_text', text: `So: ${says}`, annotations: [] }],
        },
        ...calls.flatMap(({ input, result }, nth): JsonObject[] => [
          { type: 'function_call', call_id: `t${at}_${nth}`, name: 'tool0', arguments: JSON.stringify({ input }) },
          {
            ...{ type: 'function_call_output', call_id: `t${at}_${nth}` },
            output: asString ? result.join('\n') : result.map((text) => ({ type: 'input_text', text })),
          },
        ]),
        ...(told === undefined ? [] : [{ role: 'user', content: [{ type: 'input_text', text: `Then: ${told}` }] }]),
        ...(shown === undefined
          ? []
          : [{ role: 'user', content: [{ type: 'input_image', image_url: dataUrl(shown) }] }]),
      ]),
    ],
    tools: tools.map(({ description, about }, at) => ({
      ...{ type: 'function', name: `tool${at}` },
      ...{ description, parameters: schemaOf(about) },
    })),
    store: false,
  }),
}

const verdict = (make: () => unknown): unknown => {
  try {
    return JSON.parse(JSON.stringify(make()))
  } catch (error) {
    return error instanceof GatewayError ? [error.code, error.message] : error
  }
}

const SAID = new Set(['text', 'content', 'system', 'instructions', 'input', 'output', 'thinking'])

/** Texts of a conversation made long. */
const lengthened = (value: Json | undefined, name = ''): Json | undefined => {
  if (typeof value === 'string') return SAID.has(name) ? value + 'and so on. '.repeat(60) : value
  if (Array.isArray(value)) return value.map((each) => lengthened(each, name) ?? null)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, lengthened(each, name)]))
}

const REQUESTS: [ChatWire, fc.Arbitrary<ChatRequest>][] = [
  ['messages', messagesRequest],
  ['chat-completions', chatCompletionsRequest],
  ['responses', responsesRequest],
]
const WIRES: ChatWire[] = ['chat-completions', 'responses', 'messages']

describe.each(REQUESTS)('a large body of the %s wire', (wire, request) => {
  const codec = chatCodec(wire)
  const opened = (body: JsonObject) =>
    openAtOnce(utf8.encode(JSON.stringify({ model: 'elsewhere', ...body, user: 'x'.repeat(33_000) })), () => true)

  describe.each(WIRES.filter((other) => other !== wire))(
    'is asked of the %s wire as if it had been read whole',
    (other) => {
      const options = { model: 'm', maxOutput: 32_000, quirks: {} }
      const made = (read: JsonObject): JsonObject =>
        chatCodec(other).encodeRequest(codec.decodeRequest(read), options).body
      /** Whether any of it was passed over, and whether its tools were known. */
      const compare = async (body: JsonObject): Promise<{ passed: boolean; shared: boolean }> => {
        const first = await opened(body)
        await opened(body)
        const { marked, whole, inputEstimate, leastInput, outline } = await opened(body)
        const asRead = ({ outline }: { outline: JsonObject }) =>
          JSON.stringify(outline).replaceAll(/\u007f[^\u007f]*\u007f/g, '')
        expect([inputEstimate, leastInput, asRead({ outline })]).toEqual([
          ...[first.inputEstimate, first.leastInput],
          asRead(first),
        ])
        const found = verdict(() => {
          if (marked === undefined) return made(whole().body)
          const sent = marked.written(utf8.encode(JSON.stringify(made(marked.body))))
          if (sent === undefined) throw new Error('A mark was lost.')
          return JSON.parse(textOf(sent))
        })
        expect(found).toEqual(verdict(() => made(whole().body)))
        return { passed: marked !== undefined && !Array.isArray(found), shared: Object.isFrozen(outline.tools) }
      }

      test('with what tools say', async () => {
        const seen = { passed: 0, shared: 0 }
        await fc.assert(
          fc.asyncProperty(conversation, async (of) => {
            const { passed, shared } = await compare(BODIES[wire](of))
            if (passed) seen.passed++
            if (passed && shared) seen.shared++
          }),
          { numRuns: 50 },
        )
        expect([seen.passed > 10, seen.shared > 0]).toEqual([true, true])
      })

      test('with whatever its wire has', async () => {
        await fc.assert(
          fc.asyncProperty(request, async (asked) => {
            const { body } = codec.encodeRequest(asked, { model: 'elsewhere', maxOutput: 32_000, quirks: {} })
            const { messages, input, system, instructions, ...rest } = body
            const said = { messages, input, system, instructions }
            await compare({ ...rest, ...(lengthened(said) as JsonObject) })
          }),
          { numRuns: 40 },
        )
      })
    },
  )
})

test('the last words of the model are read, whatever stands behind them', async () => {
  const messages = [
    { role: 'user', content: 'words '.repeat(10_000) },
    { role: 'assistant', content: 'what the model has said  '.repeat(100) },
    { role: 'user', content: '' },
  ]
  const { marked, whole } = await openAtOnce(utf8.encode(JSON.stringify({ model: 'elsewhere', messages })), () => true)
  const made = (read: JsonObject): JsonObject => {
    const request = chatCodec('chat-completions').decodeRequest(read)
    return chatCodec('messages').encodeRequest(request, { model: 'm', maxOutput: 32_000, quirks: {} }).body
  }
  const sent = marked?.written(utf8.encode(JSON.stringify(made(marked.body))))
  expect(sent && JSON.parse(textOf(sent))).toEqual(made(whole().body))
})

describe('a request of which a mark does not come through', () => {
  const sent: string[] = []
  const vendor = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    fetch: async (request) => {
      sent.push(await request.text())
      return Response.json({ error: { message: 'no' } }, { status: 400 })
    },
  })
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway({ vendorB: `http://127.0.0.1:${vendor.port}/v1` })
  })
  afterAll(async () => {
    await gateway.stop()
    await vendor.stop(true)
  })

  test.each([
    ['all of it is read', 'A \u007f may stand in any text.'],
    ['nothing is lost where all come through', 'Plain.'],
  ])('is translated again: %s', async (_, system) => {
    sent.length = 0
    const said = 'what a tool has said, “quoted”\n'.repeat(2_000)
    const body = {
      ...{ model: 'vendorB-5.5', max_tokens: 100, system },
      messages: [
        { role: 'user', content: 'Go.' },
        { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'read', input: {} }] },
        { role: 'user', content: [{ type: 'tool_result', tool_use_id: 't1', content: said }] },
      ],
      tools: [{ name: 'read', input_schema: { type: 'object' } }],
    }
    const answer = await fetch(`${gateway.server.url}/v1/messages`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': gateway.secret },
      body: JSON.stringify(body).replaceAll('\u007f', '\\u007f'),
    })
    await answer.text()
    const asked = JSON.parse(sent[0] ?? '')
    const strings = JSON.stringify(asked)
    expect([
      JSON.stringify(asked.input ?? asked.messages).includes(JSON.stringify(said)),
      strings.includes(system),
    ]).toEqual([true, true])
    expect(strings.match(/\u007f/g)?.length ?? 0).toBe(system.includes('\u007f') ? 1 : 0)
  })
})

describe('an answer that says again what was asked', () => {
  const message = {
    ...MESSAGE,
    id: 'msg_1',
    content: [{ type: 'text', text: 'Done.' }],
    usage: { input_tokens: 5, output_tokens: 2 },
  }
  const vendor = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => Response.json(message) })
  let gateway: TestGateway
  beforeAll(async () => {
    gateway = await startGateway({ vendorA: `http://127.0.0.1:${vendor.port}` })
  })
  afterAll(async () => {
    await gateway.stop()
    await vendor.stop(true)
  })

  const LONG = 'what is asked, “quoted”\n'.repeat(2_000)
  test.each([
    ['the instructions of an answer', '/v1/responses', ({ instructions }: JsonObject) => instructions, {}],
    ['the instructions of a stream', '/v1/responses', ({ instructions }: JsonObject) => instructions, { stream: true }],
    [
      'what the user said in a compacted conversation',
      '/v1/responses/compact',
      ({ output }: JsonObject) => (output as { content: { text: string }[] }[])[0]?.content[0]?.text,
      {},
    ],
  ])('holds all of it: %s', async (_, path, again, more) => {
    const body = {
      ...{ model: 'vendorA-opus-4-8', instructions: LONG, ...more },
      input: [
        { role: 'user', content: LONG },
        { role: 'assistant', content: [{ type: 'output_text', text: LONG, annotations: [] }] },
        { role: 'user', content: [{ type: 'input_text', text: 'Go on.' }] },
      ],
    }
    const text = await (await gateway.post(path, body)).text()
    expect(text).not.toContain('\u007f')
    const events = text.split('\n').flatMap((line) => (/^(?:data: )?{/.test(line) ? [line.replace('data: ', '')] : []))
    const whole = events
      .map((event) => JSON.parse(event))
      .flatMap((one) => one.response ?? ('stream' in more ? [] : one))
    const told = whole.map(again)
    expect(new Set(told)).toEqual(new Set([LONG]))
  })
})
