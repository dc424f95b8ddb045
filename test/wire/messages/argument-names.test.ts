// Names of a tool's arguments that this provider refuses: replaced in requests, and restored in answers.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { fold } from '../../../src/ir/fold.ts'
import type { JsonObject } from '../../../src/ir/json.ts'
import { translateStream } from '../../../src/relay/translate.ts'
import { chatCompletions } from '../../../src/wire/chat-completions/index.ts'
import type { SentArguments } from '../../../src/wire/codec.ts'
import { restoredNames } from '../../../src/wire/messages/argument-names.ts'
import { messages } from '../../../src/wire/messages/index.ts'
import { changes } from '../../support/changes.ts'
import { framesOf } from '../../support/frames.ts'
import { typed } from '../matrix/vendor/frames.ts'

const long = 'a'.repeat(65)
const text = { type: 'string' }
const schema = {
  type: 'object',
  properties: { $top: text, _top: text, 'filter[id]': text, [long]: text, ort: text, 'groß.x': { type: 'integer' } },
  required: ['$top', 'ort'],
}
const sentTo = (asked: JsonObject, quirks = {}) =>
  messages.encodeRequest(chatCompletions.decodeRequest({ model: 'm', ...asked }), { model: 'up', maxOutput: 9, quirks })
const tools = [{ type: 'function', function: { name: 'list', parameters: schema } }]
const hi = { role: 'user', content: 'hi' }
const written = '{"$top":"5","ort":"x","n":12345678901234567890}'
const called = { id: 'c', type: 'function', function: { name: 'list', arguments: written } }
const turns = [hi, { role: 'assistant', tool_calls: [called] }, { role: 'tool', tool_call_id: 'c', content: 'r' }]
const sent = sentTo({ tools, messages: turns })
const answer = (input: JsonObject): JsonObject => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'tool_use', id: 'toolu_1', name: 'list', input }],
  stop_reason: 'tool_use',
  usage: { input_tokens: 1, output_tokens: 1 },
})
/** The arguments as the client reads them. */
const read = (parts: object[]): unknown[] => parts.map((part) => ('input' in part ? part.input : part))

test('the schema is sent with unique names in accepted characters', () => {
  const [tool] = sent.body.tools as { input_schema: JsonObject }[]
  const names = Object.keys((tool?.input_schema.properties ?? {}) as JsonObject)
  expect(names).toEqual(['_top_2', '_top', 'filter_id_', 'a'.repeat(64), 'ort', 'gro_.x'])
  expect(tool?.input_schema.required).toEqual(['_top_2', 'ort'])
  expect(sent.dropped).toEqual([])
})

test('a name may be replaced by one that every object inherits, such as __proto__', () => {
  const parameters = { type: 'object', properties: { $_proto__: text }, required: ['$_proto__'] }
  const { body, undo } = sentTo({
    tools: [{ type: 'function', function: { name: 'list', parameters } }],
    messages: [hi],
  })
  expect(JSON.stringify(body.tools)).toContain('"required":["__proto__"]')
  const { parts } = messages.decodeResponse(answer(JSON.parse('{"__proto__":"a"}')), undo)
  expect(read(parts)).toEqual(['{"$_proto__":"a"}'])
})

test('replacing many names takes linear time', () => {
  const list = Array.from({ length: 50_000 }, (_, at) => `$p${at}`)
  const parameters = {
    type: 'object',
    properties: Object.fromEntries(list.map((name) => [name, text])),
    required: list,
  }
  const { body } = sentTo({ tools: [{ type: 'function', function: { name: 'list', parameters } }], messages: [hi] })
  const [tool] = body.tools as { input_schema: JsonObject }[]
  expect(tool?.input_schema.required).toHaveLength(50_000)
})

test('arguments of past calls are renamed alike, and large integers keep their digits', () => {
  const [, { content }] = sent.body.messages as [JsonObject, { content: { input: JsonObject }[] }]
  expect(JSON.stringify(content[0]?.input)).toBe('{"_top_2":"5","ort":"x","n":12345678901234567890}')
})

test('a whole answer has the client’s names', () => {
  const { parts } = messages.decodeResponse(answer({ _top_2: '5', _top: '6', other: 1 }), sent.undo)
  expect(read(parts)).toEqual(['{"$top":"5","_top":"6","other":1}'])
})

test.each([
  ['in pieces', ['{"_to', 'p_2":"5","gro_.x":1234', '5678901234567890}'], '{"$top":"5","groß.x":12345678901234567890}'],
  ['cut off', ['{"_top_2":"5'], '{"$top":"5'],
  ['cut off in a name', ['{"_top_2":"5","gro_'], '{"$top":"5","gro_'],
  ['of none', [], '{}'],
])('a stream has the client’s names: %s', (_, pieces, due) => {
  const { content: _content, ...start } = answer({})
  const block = { type: 'tool_use', id: 'toolu_1', name: 'list', input: {} }
  const stream = [
    { type: 'message_start', message: { ...start, content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: block },
    ...pieces.map((piece) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: piece },
    })),
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 1 } },
    { type: 'message_stop' },
  ]
  const decoder = messages.decodeEvents(sent.undo)
  expect(read(fold(framesOf(stream.map(typed).join('')).flatMap((frame) => decoder.push(frame))).parts)).toEqual([due])
})

test('a call is given as it is written, and counted where the client leaves', () => {
  const { content: _content, ...start } = answer({})
  const block = { type: 'tool_use', id: 'toolu_1', name: 'list', input: {} }
  const stream = [
    { type: 'message_start', message: { ...start, content: [], stop_reason: null } },
    { type: 'content_block_start', index: 0, content_block: block },
    ...['{"_top_2":', '"five', ' and six'].map((piece) => ({
      type: 'content_block_delta',
      index: 0,
      delta: { type: 'input_json_delta', partial_json: piece },
    })),
  ]
  const ask = { model: 'm', body: {}, inputEstimate: 1, now: 1 }
  const tap = translateStream({ client: chatCompletions, provider: messages, ask, undo: sent.undo })
  const text = framesOf(stream.map(typed).join('')).map(tap.see).join('')
  expect(text).toContain(' and six')
  expect(tap.output.text).toBe('{"$top":"five and six')
})

describe('arguments in pieces', () => {
  const names: SentArguments = { a: 'ä', '_top"': '$top', '\\': '\\\\', ['__proto__']: 'own' }
  const name = fc.oneof(fc.constantFrom(...Object.keys(names)), fc.string({ maxLength: 3 }))
  const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.dictionary(name, fc.constantFrom(...Object.keys(names))))
  const inPieces = (text: string, cuts: number[]): string => {
    const restored = restoredNames(names)
    const ends = [...new Set(cuts.map((cut) => cut % (text.length + 1)))].sort((a, b) => a - b)
    const pieces = [...ends, text.length].map((end, at) => restored.push(text.slice(ends[at - 1] ?? 0, end)))
    return pieces.join('') + restored.end()
  }

  test('get the client’s names for their own members, wherever they are cut', () => {
    fc.assert(
      fc.property(fc.dictionary(name, value), fc.array(fc.nat()), fc.constantFrom(0, 1), (input, cuts, indent) => {
        const due = Object.entries(input).map(([key, held]) => [Object.hasOwn(names, key) ? names[key] : key, held])
        const text = JSON.stringify(input, null, indent)
        const members = due.map(([key, held]) => `${JSON.stringify(key)}:${JSON.stringify(held)}`)
        expect(JSON.stringify(JSON.parse(inPieces(text, cuts)))).toBe(JSON.stringify(JSON.parse(`{${members.join()}}`)))
      }),
    )
  })

  test('stay as they are where they are no object, or nothing is to be restored', () => {
    fc.assert(
      fc.property(fc.oneof(fc.json(), fc.string(), fc.constant('["a","a"]')), fc.array(fc.nat()), (text, cuts) => {
        if (!text.trim().startsWith('{')) expect(inPieces(text, cuts)).toBe(text)
        const none = restoredNames({})
        expect(none.push(text) + none.end()).toBe(text)
      }),
    )
  })
})

test('structured output by tool has the client’s names, too', () => {
  const form = { type: 'json_schema', json_schema: { name: 'form', schema } }
  const { body, undo } = sentTo({ messages: [hi], response_format: form }, { structuredOutputByTool: true })
  const [tool] = body.tools as { name: string; input_schema: JsonObject }[]
  expect(tool?.input_schema.required).toEqual(['_top_2', 'ort'])
  const whole = answer({ _top_2: '5', ort: 'x' })
  const content = [{ type: 'tool_use', id: 'toolu_1', name: tool?.name ?? '', input: { _top_2: '5', ort: 'x' } }]
  expect(messages.decodeResponse({ ...whole, content }, undo).parts).toEqual([
    { type: 'text', text: '{"$top":"5","ort":"x"}' },
  ])
})

test('names of this wire’s own clients stay as they are', () => {
  const own = { model: 'm', max_tokens: 9, messages: [hi], tools: [{ name: 'list', input_schema: schema }] }
  const { body, undo } = messages.encodeRequest(messages.decodeRequest(own), { model: 'up', maxOutput: 9, quirks: {} })
  expect(body.tools).toEqual(own.tools)
  expect(changes(undo)).toEqual({})
})
