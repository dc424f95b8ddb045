// Requests of this wire's clients: what they may send, how it is decoded, what is refused.

import { describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import type { Json, JsonObject } from '../../../src/ir/json.ts'
import type { Turn } from '../../../src/ir/request.ts'
import { chatCompletions } from '../../../src/wire/chat-completions/index.ts'
import { sealTag } from '../../../src/wire/seal.ts'
import { refusal } from '../../support/refusal.ts'

const hello = { model: 'auto', messages: [{ role: 'user', content: 'hi' }] }
const decode = (body: JsonObject) => chatCompletions.decodeRequest(body)
const turnsOf = (...messages: JsonObject[]) => decode({ model: 'auto', messages }).turns

describe('an invalid body is refused by the name of the member', () => {
  test.each<[string, JsonObject]>([
    ['model', { ...hello, model: '' }],
    ['model', { messages: hello.messages }],
    ['messages', { model: 'auto', messages: [] }],
    ['messages', { model: 'auto' }],
    ['messages.0.role', { model: 'auto', messages: [{ role: 'wizard', content: 'hi' }] }],
    ['messages.0.content', { model: 'auto', messages: [{ role: 'user', content: null }] }],
    ['messages.0.content', { model: 'auto', messages: [{ role: 'user', content: 5 }] }],
    ['messages.0.content.0.type', { model: 'auto', messages: [{ role: 'user', content: [{ text: 'hi' }] }] }],
    [
      'messages.0.content.0.text',
      { model: 'auto', messages: [{ role: 'user', content: [{ type: 'text', text: 5 }] }] },
    ],
    [
      'messages.0.content.0.image_url',
      { model: 'auto', messages: [{ role: 'user', content: [{ type: 'image_url' }] }] },
    ],
    ['messages.0.tool_call_id', { model: 'auto', messages: [{ role: 'tool', content: 'x' }] }],
    [
      'messages.0.tool_calls.0',
      { model: 'auto', messages: [{ role: 'assistant', tool_calls: [{ id: 'a', type: 'function' }] }] },
    ],
    [
      'messages.0.content.0.type',
      {
        model: 'auto',
        messages: [{ role: 'system', content: [{ type: 'image_url', image_url: { url: 'https://a.b/c' } }] }],
      },
    ],
    ['max_tokens', { ...hello, max_tokens: 0 }],
    ['max_completion_tokens', { ...hello, max_completion_tokens: 1.5 }],
    ['temperature', { ...hello, temperature: 'hot' }],
    ['n', { ...hello, n: 0 }],
    ['stream', { ...hello, stream: 'yes' }],
    ['stop.0', { ...hello, stop: [1] }],
    ['tools.0.function.name', { ...hello, tools: [{ type: 'function', function: {} }] }],
    ['tool_choice', { ...hello, tool_choice: 'sometimes' }],
    ['response_format.type', { ...hello, response_format: { type: 'yaml' } }],
    ['response_format.json_schema.name', { ...hello, response_format: { type: 'json_schema', json_schema: {} } }],
    ['reasoning_effort', { ...hello, reasoning_effort: 'heroic' }],
    ['top_logprobs', { ...hello, top_logprobs: 3 }],
    ['metadata.a', { ...hello, metadata: { a: 1 } }],
  ])('%s', (param, body) => {
    const error = refusal(() => decode(body))
    expect(error.code).toBe('invalid_request')
    expect(error.param).toBe(param)
    expect(error.message).toContain(param)
  })
})

test('null counts as absent', () => {
  const nulls = {
    temperature: null,
    tools: null,
    stop: null,
    stream: null,
    n: null,
    response_format: null,
    user: null,
    functions: null,
  }
  expect(decode({ ...hello, ...nulls })).toEqual(decode(hello))
})

test('the schema accepts what real clients send, including unknown members', () => {
  const body = {
    ...hello,
    store: false,
    x_new: { a: 1 },
    stream: true,
    stream_options: { include_usage: true },
    messages: [
      { role: 'developer', content: 'be brief' },
      { role: 'user', content: 'a', x: 1 },
      { role: 'user', content: [{ type: 'text', text: 'b', cache_control: { type: 'ephemeral' } }] },
      {
        role: 'assistant',
        content: '',
        tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'c', content: 'ok' },
      { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{}' } },
      { role: 'function', name: 'f', content: 'ok' },
    ],
  }
  expect([...Value.Errors(chatCompletions.requestSchema, body)]).toEqual([])
  expect([...Value.Errors(chatCompletions.requestSchema, { ...hello, model: '' })]).not.toEqual([])
  expect([...Value.Errors(chatCompletions.requestSchema, { ...hello, messages: [] })]).not.toEqual([])
})

describe('messages as turns', () => {
  test('system and developer turns keep their place and name', () => {
    expect(
      turnsOf(
        { role: 'user', content: 'a' },
        { role: 'system', content: 's' },
        { role: 'developer', content: [{ type: 'text', text: 'd' }] },
      ),
    ).toEqual([
      { role: 'user', parts: [{ type: 'text', text: 'a' }] },
      { role: 'system', parts: [{ type: 'text', text: 's' }] },
      { role: 'system', parts: [{ type: 'text', text: 'd' }], developer: true },
    ])
  })

  test.each<[string, JsonObject, unknown]>([
    [
      'an image by URL',
      { type: 'image_url', image_url: { url: 'https://a.b/c.png', detail: 'low' } },
      { type: 'image', source: { kind: 'url', url: 'https://a.b/c.png' }, detail: 'low' },
    ],
    [
      'an image as base64',
      { type: 'image_url', image_url: { url: 'data:image/jpeg;base64,AAAA' } },
      { type: 'image', source: { kind: 'base64', mediaType: 'image/jpeg', data: 'AAAA' } },
    ],
    [
      'an image whose URL stands bare',
      { type: 'image_url', image_url: 'https://a.b/c.png' },
      { type: 'image', source: { kind: 'url', url: 'https://a.b/c.png' } },
    ],
    [
      'a data URL without base64',
      { type: 'image_url', image_url: { url: 'data:image/svg+xml,%3Csvg%2F%3E' } },
      { type: 'image', source: { kind: 'base64', mediaType: 'image/svg+xml', data: btoa('<svg/>') } },
    ],
    [
      'a PDF',
      { type: 'file', file: { filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' } },
      { type: 'document', source: { kind: 'base64', mediaType: 'application/pdf', data: 'AAAA' }, name: 'a.pdf' },
    ],
    [
      'a stored file',
      { type: 'file', file: { file_id: 'file-1' } },
      { type: 'document', source: { kind: 'file', id: 'file-1', origin: 'chat-completions' } },
    ],
    [
      'a file whose id is an address',
      { type: 'file', file: { file_id: 'https://a.b/c.pdf', format: 'application/pdf' } },
      { type: 'document', source: { kind: 'url', url: 'https://a.b/c.pdf' } },
    ],
    [
      'a file by address',
      { type: 'file', file: { file_url: 'https://a.b/c.pdf', file_name: 'c.pdf' } },
      { type: 'document', source: { kind: 'url', url: 'https://a.b/c.pdf' }, name: 'c.pdf' },
    ],
    [
      'a file that says what it is',
      { type: 'file', file: { file_data: 'YSxi', mime_type: 'text/csv' } },
      { type: 'document', source: { kind: 'base64', mediaType: 'text/csv', data: 'YSxi' } },
    ],
    [
      'a file of the responses wire',
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' },
      { type: 'document', source: { kind: 'base64', mediaType: 'application/pdf', data: 'AAAA' }, name: 'a.pdf' },
    ],
    [
      'a document of the messages wire',
      { type: 'document', source: { type: 'base64', media_type: 'application/pdf', data: 'AAAA' }, title: 'A' },
      { type: 'document', source: { kind: 'base64', mediaType: 'application/pdf', data: 'AAAA' }, name: 'A' },
    ],
    [
      'a text document of the messages wire',
      { type: 'document', source: { type: 'text', media_type: 'text/plain', data: 'a' }, context: 'c' },
      { type: 'document', source: { kind: 'text', text: 'a' }, context: 'c' },
    ],
    [
      'a stored document of the messages wire',
      { type: 'document', source: { type: 'file', file_id: 'file_1' } },
      { type: 'document', source: { kind: 'file', id: 'file_1', origin: 'messages' } },
    ],
    [
      'audio',
      { type: 'input_audio', input_audio: { data: 'AA', format: 'mp3' } },
      {
        type: 'opaque',
        origin: 'chat-completions',
        value: { type: 'input_audio', input_audio: { data: 'AA', format: 'mp3' } },
      },
    ],
    [
      'a cache breakpoint',
      { type: 'text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } },
      { type: 'text', text: 'a', cache: {} },
    ],
    [
      'a marker of the messages wire',
      { type: 'text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } },
      { type: 'text', text: 'a', cache: { ttl: '1h' } },
    ],
  ])('%s', (_, part, expected) => {
    expect(turnsOf({ role: 'user', content: [part] })).toEqual([{ role: 'user', parts: [expected] } as Turn])
  })

  test('a file in any form that is read is neither refused nor listed', () => {
    const source = { type: 'base64', media_type: 'application/pdf', data: 'AAAA' }
    const content = [
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' },
      { type: 'document', source, title: 'A', context: 'c' },
      { type: 'file', file: { file_url: 'https://a.b/c.pdf', mime_type: 'application/pdf' } },
    ]
    expect(decode({ model: 'auto', messages: [{ role: 'user', content }] }).opaque).toEqual([])
    const pages = { type: 'document', source: { type: 'content', content: [] } }
    const { opaque } = decode({ model: 'auto', messages: [{ role: 'user', content: [pages] }] })
    expect(opaque).toEqual([{ name: 'messages.0.content.0', value: pages, essential: true }])
  })

  test('calls, their results and their kinds', () => {
    const turns = turnsOf(
      {
        role: 'assistant',
        content: '',
        tool_calls: [
          { id: 'a', type: 'function', function: { name: 'f', arguments: '' } },
          { id: 'b', type: 'custom', custom: { name: 'g', input: 'free' } },
          { id: 'c', function: { name: 'h', arguments: { x: 1 } } },
        ],
      },
      { role: 'tool', tool_call_id: 'b', content: [{ type: 'text', text: 'B' }] },
      { role: 'tool', tool_call_id: 'a', content: null },
    )
    expect(turns).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'tool-call', id: 'a', name: 'f', kind: 'function', input: '{}' },
          { type: 'tool-call', id: 'b', name: 'g', kind: 'custom', input: 'free' },
          { type: 'tool-call', id: 'c', name: 'h', kind: 'function', input: '{"x":1}' },
        ],
      },
      {
        role: 'user',
        parts: [{ type: 'tool-result', callId: 'b', kind: 'custom', parts: [{ type: 'text', text: 'B' }] }],
      },
      { role: 'user', parts: [{ type: 'tool-result', callId: 'a', kind: 'function', parts: [] }] },
    ])
  })

  test('the legacy functions pair by name', () => {
    const request = decode({
      model: 'auto',
      functions: [{ name: 'f', parameters: { type: 'object' } }],
      function_call: { name: 'f' },
      messages: [
        { role: 'user', content: 'hi' },
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":1}' } },
        { role: 'function', name: 'f', content: 'one' },
        { role: 'assistant', content: null, function_call: { name: 'f', arguments: '{"a":2}' } },
        { role: 'function', name: 'f', content: 'two' },
      ],
    })
    expect(request.tools).toEqual([{ type: 'function', name: 'f', schema: { type: 'object' } }])
    expect(request.toolChoice).toEqual({ type: 'tool', name: 'f', kind: 'function' })
    expect(request.parallelTools).toBe(false)
    const ids = request.turns.flatMap((turn) =>
      turn.parts.map((part) => ('id' in part ? part.id : 'callId' in part ? part.callId : '')),
    )
    expect(ids[1]).toBe(ids[2] ?? '')
    expect(ids[3]).toBe(ids[4] ?? '')
    expect(ids[1]).not.toBe(ids[3] ?? '')
  })

  test('a sealed thought is restored from its tag, a plain one from its text', () => {
    const sealed = {
      type: 'reasoning' as const,
      text: 'hm',
      seal: { origin: 'responses' as const, value: { id: 'rs_1', encrypted_content: 'e' } },
    }
    expect(
      turnsOf(
        {
          role: 'assistant',
          content: 'a',
          reasoning_content: 'shown',
          reasoning_details: [{ type: 'reasoning.encrypted', data: sealTag(sealed) }],
        },
        { role: 'assistant', content: 'b', reasoning: 'open' },
      ).map((turn) => turn.parts[0]),
    ).toEqual([sealed, { type: 'reasoning', text: 'open', full: true }])
  })
})

test.each<[JsonObject, number]>([
  [{ text: 2, calls: 0 }, 1],
  [{ text: 9, calls: 9 }, 1],
  [{ text: -1, calls: 0 }, 0],
  [{ text: 0.5, calls: 0 }, 0],
])('a thought whose tag places it behind %j is put back at index %d', (before, index) => {
  const thought = { text: 'hm', full: true, value: { signature: 's' }, before }
  const data = `sluice.messages.${Buffer.from(JSON.stringify(thought)).toString('base64url')}`
  const message = { role: 'assistant', content: 'hello', reasoning_details: [{ type: 'reasoning.encrypted', data }] }
  const [{ parts } = { parts: [] }] = turnsOf(message)
  expect(parts.findIndex(({ type }) => type === 'reasoning')).toBe(index)
  expect(parts.map((part) => (part.type === 'text' ? part.text : '')).join('')).toBe('hello')
})

test('a thought is never put back within a character, where the client has changed the text', () => {
  const thought = { text: 'hm', full: true, value: { signature: 's' }, before: { text: 2, calls: 0 } }
  const data = `sluice.messages.${Buffer.from(JSON.stringify(thought)).toString('base64url')}`
  const message = { role: 'assistant', content: 'a🙂b', reasoning_details: [{ type: 'reasoning.encrypted', data }] }
  const [{ parts } = { parts: [] }] = turnsOf(message)
  expect(parts.flatMap((part) => (part.type === 'text' ? [part.text] : []))).toEqual(['a🙂', 'b'])
})

test('unknown members of tools are kept by their path, in every form of tools', () => {
  const request = decode({
    ...hello,
    tools: [
      { type: 'function', function: { name: 'f', x: 1 }, y: 2 },
      { function: { name: 'g', x: 3 } },
      { type: 'custom', custom: { name: 'h', x: 4 } },
    ],
    functions: [{ name: 'i', x: 5 }],
  })
  expect(request.opaque.map(({ name, value }) => [name, value])).toEqual([
    ['tools.0.y', 2],
    ['tools.0.function.x', 1],
    ['tools.1.function.x', 3],
    ['tools.2.custom.x', 4],
    ['functions.0.x', 5],
  ])
})

describe('members that only this wire has', () => {
  test.each<[string, unknown, boolean]>([
    ['n', 2, true],
    ['audio', { format: 'mp3', voice: 'alloy' }, true],
    ['modalities', ['text', 'audio'], true],
    ['tool_choice', { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } }, true],
    ['prediction', { type: 'content', content: 'a' }, false],
    ['logit_bias', { '1': 2 }, false],
    ['store', true, false],
    ['safety_identifier', 'me', false],
    ['x_new', { deep: [1] }, false],
  ])('%s is kept whole, and is essential or not', (name, value, essential) => {
    const request = decode({ ...hello, [name]: value as JsonObject })
    expect(request.opaque).toEqual([{ name, value: value as JsonObject, essential }])
    expect(chatCompletions.encodeRequest(request, { model: 'up', maxOutput: 1, quirks: {} }).body[name]).toEqual(
      value as JsonObject,
    )
  })

  test('the wish to search is read as a tool, and sent on to its own wire as it came', () => {
    const request = decode({ ...hello, web_search_options: { search_context_size: 'low' } })
    expect(request.tools).toHaveLength(1)
    const { body } = chatCompletions.encodeRequest(request, { model: 'up', maxOutput: 1, quirks: {} })
    expect([body.web_search_options, body.tools]).toEqual([{ search_context_size: 'low' }, undefined])
  })

  test('the wish to read thoughts apart, and figures, is met at any provider', () => {
    const opaque = (body: JsonObject) => decode({ ...hello, ...body }).opaque.map(({ met = false }) => met)
    expect(opaque({ include_reasoning: true, reasoning_format: 'parsed' })).toEqual([true, true])
    expect(opaque({ include_reasoning: false, reasoning_format: 'raw' })).toEqual([false, false])
    expect([opaque({ usage: { include: true } }), opaque({ usage: {} })]).toEqual([[true], [false]])
  })

  test('members with their default value are not kept', () => {
    expect(decode({ ...hello, n: 1, modalities: ['text'], logit_bias: {} }).opaque).toEqual([])
  })
})

describe('forms of other wires', () => {
  const schema = { type: 'object', properties: {} }
  const own = { type: 'function', function: { name: 'f', description: 'd', parameters: schema } }
  const asTools = (tool: JsonObject) => decode({ ...hello, tools: [tool] })

  test.each<[string, JsonObject, JsonObject]>([
    ['a function of the responses wire', { type: 'function', name: 'f', description: 'd', parameters: schema }, own],
    ['a tool of the messages wire', { name: 'f', description: 'd', input_schema: schema }, own],
    ['one that names its kind', { type: 'custom', name: 'f', description: 'd', input_schema: schema }, own],
    [
      'a custom tool of the responses wire',
      { type: 'custom', name: 'f', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
      {
        type: 'custom',
        custom: { name: 'f', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'x' } } },
      },
    ],
    [
      'a tool of the messages wire in the words that its vendor alone takes',
      { name: 'f', input_schema: { type: 'object', properties: { a: { type: 'array' } } } },
      {
        type: 'function',
        function: { name: 'f', parameters: { type: 'object', properties: { a: { type: 'array', items: {} } } } },
      },
    ],
  ])('%s is read as a tool', (_, given, expected) => {
    const read = asTools(given)
    expect(read.tools).toEqual(asTools(expected).tools)
    expect(read.opaque).toEqual([])
    expect(chatCompletions.needsTranslation?.({ ...hello, tools: [own, given] })).toBe(true)
    expect(chatCompletions.needsTranslation?.({ ...hello, tools: [own] })).toBe(false)
  })

  test.each<[JsonObject, Json]>([
    [{ type: 'auto' }, 'auto'],
    [{ type: 'any' }, 'required'],
    [{ type: 'none' }, 'none'],
    [
      { type: 'tool', name: 'f' },
      { type: 'function', function: { name: 'f' } },
    ],
  ])('the choice %j is %j', (given, expected) => {
    const choice = (tool_choice: Json) => {
      const { toolChoice, opaque } = decode({ ...hello, tools: [own], tool_choice })
      return { toolChoice, opaque }
    }
    expect(choice(given)).toEqual(choice(expected))
  })

  test('a choice that forbids parallel calls forbids them', () => {
    const read = (more: JsonObject) => decode({ ...hello, tools: [own], ...more }).parallelTools
    const tool_choice = { type: 'auto', disable_parallel_tool_use: true }
    expect([read({ tool_choice }), read({ tool_choice: { type: 'auto' } })]).toEqual([false, undefined])
    expect(read({ tool_choice, parallel_tool_calls: true })).toBe(true)
  })

  test.each<[string, JsonObject, string]>([
    [
      'a block within a result',
      { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: [{ type: 'document' }] }] },
      'messages.0.content.0.content.0',
    ],
    [
      'a result that a tool does not give',
      { role: 'tool', tool_call_id: 'a', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'b' }] },
      'messages.0.content.0',
    ],
  ])('%s that only its own wire has is essential', (_, message, name) => {
    const { opaque } = decode({ model: 'auto', messages: [message] })
    expect(opaque.map(({ name, essential }) => [name, essential])).toEqual([[name, true]])
  })

  test('a choice without a name is refused by its own member', () => {
    expect(() => decode({ ...hello, tools: [own], tool_choice: { type: 'tool' } })).toThrow("'tool_choice.name'")
  })

  test('an invalid schema is refused by the client’s name for it', () => {
    expect(() => asTools({ type: 'function', name: 'f', input_schema: 5 })).toThrow('tools.0.input_schema')
    expect(() => asTools({ type: 'function', name: 'f', parameters: 5 })).toThrow('tools.0.parameters')
    expect(() => asTools({ type: 'function', function: { name: 'f', parameters: 5 } })).toThrow(
      'tools.0.function.parameters',
    )
  })

  test('texts and images in the words of the responses wire are read', () => {
    const image_url = 'https://x.test/i.png'
    const { turns, opaque } = decode({
      model: 'auto',
      messages: [
        {
          role: 'user',
          content: [
            { type: 'input_text', text: 'Look.' },
            { type: 'input_image', image_url, detail: 'low' },
          ],
        },
        { role: 'assistant', content: [{ type: 'output_text', text: 'Yes.', annotations: [] }] },
        { role: 'user', content: [{ type: 'input_image', image_url, file_id: null }] },
        { role: 'user', content: [{ type: 'input_image', image_url: { url: image_url, detail: 'high' } }] },
        { role: 'user', content: [{ type: 'image_url', image_url: { url: image_url }, detail: 'low' }] },
      ],
    })
    expect(turns).toEqual([
      {
        role: 'user',
        parts: [
          { type: 'text', text: 'Look.' },
          { type: 'image', source: { kind: 'url', url: image_url }, detail: 'low' },
        ],
      },
      { role: 'assistant', parts: [{ type: 'text', text: 'Yes.' }] },
      { role: 'user', parts: [{ type: 'image', source: { kind: 'url', url: image_url } }] },
      { role: 'user', parts: [{ type: 'image', source: { kind: 'url', url: image_url }, detail: 'high' }] },
      { role: 'user', parts: [{ type: 'image', source: { kind: 'url', url: image_url }, detail: 'low' }] },
    ])
    expect(opaque).toEqual([])
  })

  test('a stored image of the responses wire is essential', () => {
    const content = [{ type: 'input_image', file_id: 'file_1' }]
    const { opaque } = decode({ model: 'auto', messages: [{ role: 'user', content }] })
    expect(opaque).toEqual([{ name: 'messages.0.content.0', value: content[0] as JsonObject, essential: true }])
  })

  test('calls, results and images in the content are read', () => {
    const messages = [
      { role: 'user', content: [{ type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } }] },
      {
        role: 'assistant',
        content: [
          { type: 'text', text: 'So.' },
          { type: 'tool_use', id: 'a', name: 'f', input: { b: 1 } },
        ],
      },
      {
        role: 'user',
        content: [
          { type: 'tool_result', tool_use_id: 'a', content: 'no', is_error: true },
          { type: 'text', text: 'On.' },
        ],
      },
    ]
    const { turns, opaque } = decode({ model: 'auto', messages })
    expect(turns).toEqual([
      { role: 'user', parts: [{ type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AA==' } }] },
      {
        role: 'assistant',
        parts: [
          { type: 'text', text: 'So.' },
          { type: 'tool-call', id: 'a', name: 'f', kind: 'function', input: '{"b":1}' },
        ],
      },
      {
        role: 'user',
        parts: [
          { type: 'tool-result', callId: 'a', kind: 'function', parts: [{ type: 'text', text: 'no' }], isError: true },
          { type: 'text', text: 'On.' },
        ],
      },
    ])
    expect(opaque).toEqual([])
    expect(
      [messages, messages.slice(0, 1)].map((some) => chatCompletions.needsTranslation?.({ messages: some })),
    ).toEqual([true, false])
  })
})
