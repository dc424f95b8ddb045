// Compaction with providers that do not have it: the trigger becomes a request for a summary, the summary the only item of
// the answer, and that item a user message in later requests, to any provider.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../../src/errors.ts'
import type { ChatEvent } from '../../../src/ir/event.ts'
import { unfold } from '../../../src/ir/fold.ts'
import { isObject, type JsonObject } from '../../../src/ir/json.ts'
import { splice } from '../../../src/lib/json-splice.ts'
import { chatCompletions } from '../../../src/wire/chat-completions/index.ts'
import { messages } from '../../../src/wire/messages/index.ts'
import { responses } from '../../../src/wire/responses/index.ts'
import { chatResponse } from '../../support/arbitrary/answer.ts'
import { encodeAll, framesOf } from '../../support/frames.ts'
import { expectPrefixes, promptOf } from '../../support/prompt.ts'

const tools = [{ type: 'function', name: 'shell', parameters: { type: 'object', properties: {} } }]
const said = { type: 'message', role: 'user', content: 'Rename the file.' }
const asking: JsonObject = { model: 'm', tools, tool_choice: 'auto', input: [said, { type: 'compaction_trigger' }] }
const TARGET = { model: 'upstream', maxOutput: 1_000, quirks: {} }
const ask = (body: JsonObject) => ({ model: 'm', body, inputEstimate: 1, now: 1 })

const frames = (text: string): JsonObject[] => framesOf(text).map(({ data }) => JSON.parse(data) as JsonObject)

const streamed = (events: readonly ChatEvent[], body = asking): JsonObject[] =>
  frames(encodeAll(responses.encodeEvents(ask(body)), events))

const itemsDone = (stream: JsonObject[]): JsonObject[] =>
  stream.flatMap(({ type, item }) => (type === 'response.output_item.done' && isObject(item) ? [item] : []))

describe('the request', () => {
  test.each([
    ['messages', messages],
    ['chat-completions', chatCompletions],
  ])('asks a provider of %s for a summary, with the tools listed', (_, wire) => {
    const { body } = wire.encodeRequest(responses.decodeRequest(asking), TARGET)
    const last = (body.messages as JsonObject[]).at(-1)
    expect(last?.role).toBe('user')
    expect(JSON.stringify(last)).toContain('Write that summary now')
    expect(JSON.stringify(last)).toContain('Call no tools')
    expect(body.tools).toHaveLength(1)
  })

  test('allows none of them on chat-completions', () => {
    expect(chatCompletions.encodeRequest(responses.decodeRequest(asking), TARGET).body.tool_choice).toBe('none')
  })

  test.each([undefined, 'auto'])(
    'begins with the request before it on messages, whose cache goes by the choice, too (tool_choice: %p)',
    (tool_choice) => {
      const prompts = [[said], [said, ...(asking.input as JsonObject[]).slice(1)]].map((input) =>
        promptOf(messages.encodeRequest(responses.decodeRequest({ ...asking, tool_choice, input }), TARGET).body),
      )
      expectPrefixes(prompts)
    },
  )

  test.each(['required', { type: 'function', name: 'shell' }])(
    'forces no call on messages (tool_choice: %j)',
    (choice) => {
      const { body } = messages.encodeRequest(responses.decodeRequest({ ...asking, tool_choice: choice }), TARGET)
      expect(body.tool_choice).toEqual({ type: 'none' })
    },
  )

  test('has no tool choice in a conversation without tools', () => {
    expect(responses.decodeRequest({ model: 'm', input: [said, { type: 'compaction_trigger' }] }).toolChoice).toBe(
      undefined,
    )
  })
})

describe('the answer', () => {
  const events: ChatEvent[] = [
    { type: 'start', id: 'msg_7' },
    { type: 'reasoning-start', part: 0 },
    { type: 'reasoning-delta', part: 0, text: 'hm' },
    { type: 'reasoning-end', part: 0 },
    { type: 'text-start', part: 1 },
    { type: 'text-delta', part: 1, text: 'Rename a ' },
    { type: 'text-delta', part: 1, text: 'to b. ✓' },
    { type: 'text-end', part: 1 },
    { type: 'finish', reason: 'stop', usage: { input: 3, output: 4 } },
  ]

  test('is one compaction item and nothing else, streamed and whole', () => {
    const stream = streamed(events)
    const items = itemsDone(stream)
    expect(items.map(({ type }) => type)).toEqual(['compaction'])
    const last = stream.at(-1)
    expect(last?.type).toBe('response.completed')
    expect(isObject(last?.response) ? last.response.output : undefined).toEqual(items)
    expect(isObject(last?.response) ? last.response.usage : undefined).toMatchObject({ total_tokens: 7 })
    const whole = responses.encodeResponse(
      { id: 'msg_7', parts: [{ type: 'text', text: 'Rename a to b. ✓' }], finish: 'stop', usage: {} },
      ask(asking),
    )
    expect(whole.output).toEqual(items)
  })

  test('is sent back as plain text, to providers of other wires and of this one', () => {
    const [item] = itemsDone(streamed(events))
    const next: JsonObject = { model: 'm', input: [item ?? null, { type: 'message', role: 'user', content: 'Go on.' }] }
    const { body } = messages.encodeRequest(responses.decodeRequest(next), TARGET)
    expect(JSON.stringify(body.messages)).toContain('Rename a to b. ✓')
    const edits = responses.passEdits(next, { model: 'm', outputCap: undefined, quirks: {} })
    const passed = JSON.parse(splice(JSON.stringify(next), edits)) as { input: JsonObject[] }
    expect(passed.input).toHaveLength(2)
    expect(passed.input[0]).toMatchObject({ type: 'message', role: 'user' })
    expect(passed.input[0]?.content).toContain('Rename a to b. ✓')
  })

  test('ends once, and is the item where the model wrote text, else the whole answer', () => {
    fc.assert(
      fc.property(chatResponse, (response) => {
        const stream = streamed(unfold(response))
        const ends = stream.filter(({ type }) => /^response\.(completed|incomplete|failed)$/.test(String(type)))
        expect(ends).toHaveLength(1)
        const spoke = response.parts.some((part) => part.type === 'text' && part.text !== '')
        const whole = responses.encodeResponse(response, ask(asking)).output as JsonObject[]
        const types = itemsDone(stream).map(({ type }) => type)
        expect(types).toEqual(spoke ? ['compaction'] : whole.map(({ type }) => type))
      }),
    )
  })

  test('is a failure without an item where the stream breaks off', () => {
    const error = new GatewayError('upstream_error', 'The connection broke off.')
    const stream = streamed([...events.slice(0, 6), { type: 'error', error }])
    expect(itemsDone(stream)).toEqual([])
    expect(stream.map(({ type }) => type)).toContain('response.failed')
  })
})
