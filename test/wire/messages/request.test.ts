// Requests: decoding what clients send, and encoding turns of other wires as this provider takes them.

import { describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import type { JsonObject } from '../../../src/ir/json.ts'
import type { ChatRequest } from '../../../src/ir/request.ts'
import { messages } from '../../../src/wire/messages/index.ts'
import { refusal } from '../../support/refusal.ts'
import { base, encode, hello } from './asking.ts'

describe('an invalid body is refused by the name of the member', () => {
  test.each<[string, JsonObject]>([
    ['model', { ...base, model: '' }],
    ['max_tokens', { model: 'm', messages: [hello] }],
    ['max_tokens', { ...base, max_tokens: 0 }],
    ['max_tokens', { ...base, max_tokens: 1.5 }],
    ['messages', { ...base, messages: [] }],
    ['messages', { ...base, messages: 'Hello' }],
    ['messages.0', { ...base, messages: ['Hello'] }],
    ['messages.0.role', { ...base, messages: [{ role: 'tool', content: 'x' }] }],
    ['messages.0.content', { ...base, messages: [{ role: 'user', content: 7 }] }],
    ['messages.0.content', { ...base, messages: [{ role: 'user' }] }],
    ['messages.1.content.0.type', { ...base, messages: [hello, { role: 'user', content: [{ text: 'x' }] }] }],
    ['messages.0.content.0.text', { ...base, messages: [{ role: 'user', content: [{ type: 'text' }] }] }],
    ['messages.0.content.0.source', { ...base, messages: [{ role: 'user', content: [{ type: 'image' }] }] }],
    ['messages.0.content.0.tool_use_id', { ...base, messages: [{ role: 'user', content: [{ type: 'tool_result' }] }] }],
    [
      'messages.0.content.0.id',
      { ...base, messages: [{ role: 'assistant', content: [{ type: 'tool_use', name: 'f' }] }] },
    ],
    ['system', { ...base, system: 7 }],
    ['stream', { ...base, stream: 'yes' }],
    ['temperature', { ...base, temperature: 'hot' }],
    ['tools', { ...base, tools: {} }],
    ['tools.0.name', { ...base, tools: [{ input_schema: { type: 'object' } }] }],
    ['tool_choice.type', { ...base, tool_choice: { type: 'some' } }],
    ['thinking.budget_tokens', { ...base, thinking: { type: 'enabled' } }],
    ['stop_sequences.0', { ...base, stop_sequences: [1] }],
  ])('%s', (param, body) => {
    const error = refusal(() => messages.decodeRequest(body))
    expect([error.code, error.param]).toEqual(['invalid_request', param])
    expect(error.message).toStartWith(`'${param}'`)
  })
})

test('a coding agent’s request is decoded and encoded without loss, with members that are not known', () => {
  const body = {
    model: 'm',
    max_tokens: 64_000,
    stream: true,
    system: [
      { type: 'text', text: 'x-billing: 1' },
      { type: 'text', text: 'You help.', cache_control: { type: 'ephemeral' } },
    ],
    messages: [
      { role: 'user', content: [{ type: 'text', text: 'Look', cache_control: { type: 'ephemeral', ttl: '1h' } }] },
      { role: 'system', content: 'Be brief.' },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: '', signature: 'sig' },
          { type: 'tool_use', id: 'toolu_1', name: 'ToolSearch', input: { query: 'web' }, caller: { type: 'direct' } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'toolu_1', content: [{ type: 'tool_reference', tool_name: 'WebFetch' }] },
        ],
      },
    ],
    tools: [
      { name: 'ToolSearch', input_schema: { type: 'object' }, eager_input_streaming: true },
      { name: 'WebFetch', input_schema: { type: 'object' }, defer_loading: true, description: 'x' },
    ],
    thinking: { type: 'adaptive', display: 'omitted' },
    output_config: { effort: 'high', task_budget: { type: 'tokens', total: 9 } },
    context_management: { edits: [{ type: 'clear_thinking_20251015', keep: 'all' }] },
    metadata: { user_id: '{"device_id":"d"}' },
    unheard_of: null,
  }
  const request = messages.decodeRequest(body)
  expect(request.turns.map(({ role }) => role)).toEqual(['system', 'user', 'system', 'assistant', 'user'])
  expect(request.reasoning).toEqual({ mode: 'adaptive', summary: 'omitted', effort: 'high' })
  expect(request.opaque.filter(({ essential }) => essential)).toEqual([])
  expect(request.turns[4]?.parts[0]).toMatchObject({ parts: [{ type: 'text', text: 'Tool found: WebFetch' }] })
  const { body: again, dropped } = messages.encodeRequest(request, { model: 'm', maxOutput: 99_999, quirks: {} })
  expect(dropped).toEqual([])
  // Its own provider gets every member back; only the spelling of single texts is ours.
  expect(messages.decodeRequest(again)).toEqual(request)
  expect(again.tools).toEqual(body.tools)
  expect(again.context_management).toEqual(body.context_management)
  expect(again.output_config).toEqual(body.output_config)
  expect((again.messages as JsonObject[])[3]).toEqual(body.messages[3] as JsonObject)
})

test('members of thinking may be set without turning it on', () => {
  const body = { ...base, thinking: { block_binding: { prefix_mismatch_behavior: 'drop_block' } } }
  expect([...Value.Errors(messages.requestSchema, body)]).toEqual([])
  const request = messages.decodeRequest(body)
  expect(request.reasoning).toBeUndefined()
  const again = messages.encodeRequest(request, { model: 'm', maxOutput: 99_999, quirks: {} })
  expect([again.body.thinking, again.dropped]).toEqual([body.thinking, []])
})

describe('system turns', () => {
  const say = (text: string) => [{ type: 'text' as const, text }]
  const turns: ChatRequest['turns'] = [
    { role: 'system', parts: say('one') },
    { role: 'system', parts: say('two'), developer: true },
    { role: 'user', parts: say('a') },
    { role: 'assistant', parts: say('b') },
    { role: 'system', parts: say('three') },
    { role: 'user', parts: say('c') },
  ]

  test('become `system` at the beginning, and later ones stand between the user’s and the model’s', () => {
    const { body } = encode({ turns }, { rejects: ['cache_control'] })
    expect(body.system).toEqual([
      { type: 'text', text: 'one' },
      { type: 'text', text: 'two' },
    ])
    expect(body.messages).toEqual([
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
      { role: 'user', content: 'c' },
      { role: 'system', content: 'three' },
    ])
  })

  test('become the user’s text in place where the model takes none within the conversation', () => {
    const { body } = encode({ turns }, { noMidSystem: true, rejects: ['cache_control'] })
    expect(body.messages).toEqual([
      { role: 'user', content: 'a' },
      { role: 'assistant', content: 'b' },
      {
        role: 'user',
        content: [
          { type: 'text', text: '<system>\nthree\n</system>' },
          { type: 'text', text: 'c' },
        ],
      },
    ])
  })

  test('without any other turn become the user’s message', () => {
    const { body } = encode({ turns: turns.slice(0, 1) })
    expect(body.system).toBeUndefined()
    expect(body.messages).toEqual([{ role: 'user', content: 'one' }])
  })
})

describe('documents and images', () => {
  test.each<[string, ChatRequest['turns'][number]['parts'][number], JsonObject]>([
    [
      'a data URL',
      { type: 'image', source: { kind: 'url', url: 'data:image/png;base64,AAAA' } },
      { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AAAA' } },
    ],
    [
      'a sloppy type',
      { type: 'image', source: { kind: 'base64', mediaType: 'image/jpg', data: 'AAAA' } },
      { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: 'AAAA' } },
    ],
    [
      'a PDF with a name',
      { type: 'document', name: 'a.pdf', source: { kind: 'base64', mediaType: 'application/pdf', data: 'AAAA' } },
      { type: 'document', title: 'a.pdf', source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' } },
    ],
    [
      'a text file',
      {
        type: 'document',
        source: { kind: 'base64', mediaType: 'text/csv;charset=utf-8', data: Buffer.from('a,b').toString('base64') },
      },
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a,b' } },
    ],
  ])('%s', (_, part, block) => {
    const { body } = encode({ turns: [{ role: 'user', parts: [part] } as ChatRequest['turns'][number]] })
    expect((body.messages as JsonObject[])[0]?.content).toEqual([block])
  })
})

test('only the latest cache marks are sent, as many as the provider takes', () => {
  const cached = (text: string) => ({ type: 'text' as const, text, cache: {} })
  const { body } = encode({ turns: [{ role: 'user', parts: ['a', 'b', 'c', 'd', 'e', 'f'].map(cached) }] })
  const [{ content } = {}] = body.messages as JsonObject[]
  const marked = (content as JsonObject[]).filter((block) => 'cache_control' in block)
  expect(marked.map(({ text }) => text)).toEqual(['c', 'd', 'e', 'f'])
})
