// Tools, calls and results of other wires: encoded as this provider takes them, and decoded from its answer.

import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/ir/json.ts'
import type { Quirks } from '../../../src/ir/quirks.ts'
import type { ChatRequest } from '../../../src/ir/request.ts'
import { chatCompletions } from '../../../src/wire/chat-completions/index.ts'
import { messages } from '../../../src/wire/messages/index.ts'
import { refusal } from '../../support/refusal.ts'
import { asked, encode } from './asking.ts'

describe('calls and results', () => {
  const call = (id: string, name = 'f') => ({
    type: 'tool-call' as const,
    id,
    name,
    kind: 'function' as const,
    input: '{"a":1}',
  })
  const result = (callId: string, text: string) => ({
    type: 'tool-result' as const,
    callId,
    kind: 'function' as const,
    parts: text === '' ? [] : [{ type: 'text' as const, text }],
  })
  const hi = { role: 'user' as const, parts: [{ type: 'text' as const, text: 'Hi' }] }
  const contents = (body: JsonObject) => (body.messages as JsonObject[]).map(({ content }) => content)

  test('parallel calls and results of single turns become one message each', () => {
    const { body } = encode({
      turns: [
        hi,
        { role: 'assistant', parts: [call('c1')] },
        { role: 'assistant', parts: [call('c2')] },
        { role: 'user', parts: [result('c2', 'two')] },
        { role: 'user', parts: [result('c1', '')] },
        { role: 'user', parts: [{ type: 'text', text: 'Go on' }] },
      ],
    })
    expect(contents(body).slice(1)).toEqual([
      [
        { type: 'tool_use', id: 'c1', name: 'f', input: { a: 1 } },
        { type: 'tool_use', id: 'c2', name: 'f', input: { a: 1 } },
      ],
      [
        { type: 'tool_result', tool_use_id: 'c2', content: 'two' },
        { type: 'tool_result', tool_use_id: 'c1' },
        { type: 'text', text: 'Go on' },
      ],
    ])
  })

  test('a result that has lost its call is not taken for that of a later one of the same id', () => {
    const { body } = encode({
      turns: [
        { role: 'user', parts: [result('call_0', 'of a call that was cut off'), ...hi.parts] },
        { role: 'assistant', parts: [call('call_0')] },
        { role: 'user', parts: [result('call_0', 'its own')] },
      ],
    })
    expect(contents(body)[2]).toEqual([{ type: 'tool_result', tool_use_id: 'call_0', content: 'its own' }])
    expect(JSON.stringify(contents(body)[0])).toContain('of a call that was cut off')
  })

  test('a missing result is replaced by an error, and a result without a call becomes the user’s text', () => {
    const { body } = encode({
      turns: [hi, { role: 'assistant', parts: [call('c1')] }, { role: 'user', parts: [result('lost', 'x')] }],
    })
    expect(contents(body)[2]).toEqual([
      { type: 'tool_result', tool_use_id: 'c1', content: 'The tool call was not answered.', is_error: true },
      { type: 'text', text: 'Result of the tool call lost:' },
      { type: 'text', text: 'x' },
    ])
  })

  test('a repeated id is made unique', () => {
    const { body } = encode({
      turns: [
        hi,
        { role: 'assistant', parts: [call('call_0')] },
        { role: 'user', parts: [result('call_0', 'one')] },
        { role: 'assistant', parts: [call('call_0')] },
        { role: 'user', parts: [result('call_0', 'two')] },
      ],
    })
    expect(contents(body)[4]).toEqual([{ type: 'tool_result', tool_use_id: 'call_0_2', content: 'two' }])
  })

  test('a repeated id of the greatest length stays within it', () => {
    const id = 'x'.repeat(128)
    const turns: ChatRequest['turns'] = [hi, { role: 'assistant', parts: [call(id), call(id)] }]
    const calls = contents(encode({ turns }).body)[1] as JsonObject[]
    expect(calls.map((block) => block.id)).toEqual([id, `${'x'.repeat(120)}_2`])
  })

  test('many calls with one id or without results take linear time', () => {
    const many = Array.from({ length: 20_000 })
    const request = asked({
      turns: [
        hi,
        { role: 'assistant', parts: many.map(() => call('c')) },
        ...many.map((_, at) => ({ role: 'assistant' as const, parts: [call(`d${at}`)] })),
      ],
    })
    const { body } = messages.encodeRequest(request, { model: 'up', maxOutput: 9, quirks: {} })
    expect(new Set((contents(body)[1] as JsonObject[]).map(({ id }) => id)).size).toBe(40_000)
  })

  test('results come first, whatever text or system turn precedes them, and a failure with an image is not marked as one', () => {
    const { body, dropped } = encode({
      turns: [
        hi,
        { role: 'assistant', parts: [call('c1')] },
        { role: 'system', parts: [{ type: 'text', text: 'Mind' }] },
        {
          role: 'user',
          parts: [
            { type: 'text', text: 'Here' },
            {
              type: 'tool-result',
              callId: 'c1',
              kind: 'function',
              isError: true,
              parts: [{ type: 'image', source: { kind: 'url', url: 'https://a.b/c.png' } }],
            },
          ],
        },
      ],
    })
    expect((body.messages as JsonObject[]).map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'system'])
    expect(contents(body)[2]).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'c1',
        content: [{ type: 'image', source: { type: 'url', url: 'https://a.b/c.png' } }],
      },
      { type: 'text', text: 'Here' },
    ])
    expect(dropped).toEqual(['messages.3.content.1.is_error'])
  })

  test('tools that were called but are no longer offered are listed and not callable', () => {
    const { body } = encode({
      turns: [hi, { role: 'assistant', parts: [call('c1')] }, { role: 'user', parts: [result('c1', 'x')] }],
    })
    expect(body.tools).toEqual([{ name: 'f', input_schema: { type: 'object' } }])
    expect(body.tool_choice).toEqual({ type: 'none' })
  })

  test.each([
    ['', {}],
    ['{"a":{"b":[1]}}', { a: { b: [1] } }],
    ['[]', {}],
    ['null', {}],
    ['[1]', { input: '[1]' }],
    ['{"cut', { input: '{"cut' }],
  ])('arguments %p are sent as an object', (input, sent) => {
    const { body } = encode({
      turns: [
        hi,
        { role: 'assistant', parts: [{ ...call('c1'), input }] },
        { role: 'user', parts: [result('c1', 'x')] },
      ],
    })
    expect(contents(body)[1]).toEqual([{ type: 'tool_use', id: 'c1', name: 'f', input: sent }])
  })
})

describe('tools', () => {
  test('of free text, with a namespace or with invalid names are restored in the answer', () => {
    const { body, undo } = encode({
      tools: [
        {
          type: 'custom',
          name: 'apply_patch',
          description: 'Patch',
          format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' },
        },
        { type: 'function', name: 'search', namespace: 'mcp', schema: { type: 'object', properties: {} } },
        { type: 'function', name: 'a.b' },
        { type: 'function', name: 'plain' },
      ],
      turns: [
        { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
        {
          role: 'assistant',
          parts: [{ type: 'tool-call', id: 'c', name: 'apply_patch', kind: 'custom', input: '*** "x"' }],
        },
        { role: 'user', parts: [{ type: 'tool-result', callId: 'c', kind: 'custom', parts: [] }] },
      ],
    })
    const tools = body.tools as JsonObject[]
    expect(tools.map(({ name }) => name)).toEqual([
      'apply_patch',
      'mcp__search',
      expect.stringMatching(/^a_b_[0-9a-z]{11}$/),
      'plain',
    ])
    expect(tools[0]?.description).toBe('Patch\n\nThe input is text of this grammar (lark):\nstart: "a"')
    expect((body.messages as JsonObject[])[1]?.content).toEqual([
      { type: 'tool_use', id: 'c', name: 'apply_patch', input: { input: '*** "x"' } },
    ])
    const answer = messages.decodeResponse(
      {
        content: tools.map(({ name }, at) => ({
          type: 'tool_use',
          id: `t${at}`,
          name,
          input: { input: 'free "text"' },
        })),
        stop_reason: 'tool_use',
      },
      undo,
    )
    expect(answer.parts).toEqual([
      { type: 'tool-call', id: 't0', name: 'apply_patch', kind: 'custom', input: 'free "text"' },
      {
        type: 'tool-call',
        id: 't1',
        name: 'search',
        namespace: 'mcp',
        kind: 'function',
        input: '{"input":"free \\"text\\""}',
      },
      { type: 'tool-call', id: 't2', name: 'a.b', kind: 'function', input: '{"input":"free \\"text\\""}' },
      { type: 'tool-call', id: 't3', name: 'plain', kind: 'function', input: '{"input":"free \\"text\\""}' },
    ])
  })

  test('of another provider are refused, or dropped where they are optional', () => {
    const tool = { type: 'opaque' as const, origin: 'responses' as const, value: { type: 'image_generation' } }
    expect(refusal(() => encode({ tools: [tool] })).param).toBe('tools.0')
    const { body, dropped } = encode({ tools: [{ ...tool, optional: true }] })
    expect([body.tools, dropped]).toEqual([undefined, ['tools.0']])
  })

  test('with alternatives at the root get the properties of all of them', () => {
    const branch = (name: string) => ({
      type: 'object',
      properties: { [name]: {}, both: {} },
      required: [name, 'both'],
    })
    const { body, dropped } = encode({
      tools: [{ type: 'function', name: 'f', schema: { anyOf: [branch('a'), branch('b')] } }],
    })
    expect((body.tools as JsonObject[])[0]?.input_schema).toEqual({
      type: 'object',
      properties: { a: {}, both: {}, b: {} },
      required: ['both'],
    })
    expect(dropped).toEqual(['tools.0.parameters.anyOf'])
  })

  test.each<[string, JsonObject]>([
    ['anyOf', { anyOf: [{ const: 'see' }, { const: 'list' }] }],
    ['oneOf', { anyOf: [{ const: 'see' }, { const: 'list' }] }],
    ['allOf', { allOf: [{ const: 'see' }, { const: 'list' }] }],
  ])('with %s at the root keep every schema of a shared property', (combinator, act) => {
    const branch = (name: string) => ({ properties: { act: { const: name }, at: { type: 'string' } } })
    const schema = { [combinator]: [branch('see'), branch('list'), branch('see')] }
    const { body } = encode({ tools: [{ type: 'function', name: 'f', schema }] })
    expect((body.tools as JsonObject[])[0]?.input_schema).toEqual({
      type: 'object',
      properties: { act, at: { type: 'string' } },
    })
  })

  test('that refer to one large definition from many alternatives are encoded in linear time', () => {
    const list = Array.from({ length: 5_000 }, (_, at) => `p${at}`)
    const large = { properties: Object.fromEntries(list.map((name) => [name, {}])), required: list }
    const schema = { $defs: { large }, anyOf: list.map(() => ({ $ref: '#/$defs/large' })) }
    const request = asked({ tools: [{ type: 'function', name: 'f', schema }] })
    const { body } = messages.encodeRequest(request, { model: 'up', maxOutput: 9, quirks: {} })
    expect((body.tools as JsonObject[])[0]?.input_schema).toMatchObject(large)
  })

  test('a choice among many tools takes linear time', () => {
    const list = Array.from({ length: 50_000 }, (_, at) => ({ name: `f${at}`, kind: 'function' as const }))
    const request = asked({
      tools: list.map(({ name }) => ({ type: 'function', name })),
      toolChoice: { type: 'allowed', required: false, tools: list },
    })
    const { body } = messages.encodeRequest(request, { model: 'up', maxOutput: 9, quirks: {} })
    expect(body.tools).toHaveLength(50_000)
  })

  test.each<[string, Partial<ChatRequest>, JsonObject | undefined]>([
    ['required', { toolChoice: { type: 'required' } }, { type: 'any' }],
    [
      'one tool alone',
      { toolChoice: { type: 'tool', name: 'f', kind: 'function' }, parallelTools: false },
      { type: 'tool', name: 'f', disable_parallel_tool_use: true },
    ],
    ['no parallel calls', { parallelTools: false }, { type: 'auto', disable_parallel_tool_use: true }],
    ['parallel calls as ever', { parallelTools: true }, undefined],
    ['none', { toolChoice: { type: 'none' } }, { type: 'none' }],
  ])('choice: %s', (_, request, choice) => {
    expect(encode({ tools: [{ type: 'function', name: 'f' }], ...request }).body.tool_choice).toEqual(choice)
  })

  test.each<[string, Partial<ChatRequest>, JsonObject, string[]]>([
    ['required', { toolChoice: { type: 'required' } }, { type: 'auto' }, ['tool_choice']],
    [
      'one tool alone',
      { toolChoice: { type: 'tool', name: 'f', kind: 'function' }, parallelTools: false },
      { type: 'auto', disable_parallel_tool_use: true },
      ['tool_choice'],
    ],
    [
      'one of some tools',
      { toolChoice: { type: 'allowed', required: true, tools: [{ name: 'f', kind: 'function' }] } },
      { type: 'auto' },
      ['tool_choice'],
    ],
    ['none', { toolChoice: { type: 'none' } }, { type: 'none' }, []],
  ])('choice at a model that cannot be forced: %s', (_, request, choice, dropped) => {
    const encoded = encode({ tools: [{ type: 'function', name: 'f' }], ...request }, { noForcedTools: true })
    expect(encoded.body.tool_choice).toEqual(choice)
    expect(encoded.dropped).toEqual(dropped)
  })

  test('choice at a model that cannot be forced is listed as its client wrote it', () => {
    const body = { model: 'm', messages: [{ role: 'user', content: 'Hi' }], functions: [{ name: 'f' }] }
    const request = chatCompletions.decodeRequest({ ...body, function_call: { name: 'f' } })
    const quirks = { noForcedTools: true }
    expect(messages.encodeRequest(request, { model: 'up', maxOutput: 99, quirks }).dropped).toEqual(['function_call'])
  })

  test.each<Quirks>([{}, { noForcedTools: true }])('the choice of an unknown tool is refused, %p', (quirks) => {
    const choice = { type: 'tool' as const, name: 'g', kind: 'function' as const }
    const request = { tools: [{ type: 'function' as const, name: 'f' }], toolChoice: choice }
    expect(refusal(() => encode(request, quirks)).param).toBe('tool_choice')
  })
})
