// Requests of other wires, encoded for a provider of this one: what it takes, what it lacks, what it refuses.

import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/ir/json.ts'
import type { ReasoningPart, ToolCallPart } from '../../../src/ir/part.ts'
import type { Quirks } from '../../../src/ir/quirks.ts'
import type { ChatRequest, Sampling, Turn } from '../../../src/ir/request.ts'
import { chatCompletions } from '../../../src/wire/chat-completions/index.ts'
import { taggedThought } from '../../../src/wire/seal.ts'
import { JSON_ONLY, jsonBySchema } from '../../../src/wire/settings/json-mode.ts'
import { changes } from '../../support/changes.ts'
import { SCHEMAS, violations } from '../../support/corpus.ts'
import { refusal } from '../../support/refusal.ts'

const foreign = (request: Partial<ChatRequest>): ChatRequest => ({
  model: 'auto',
  stream: false,
  turns: [{ role: 'user', parts: [{ type: 'text', text: 'hi' }] }],
  tools: [],
  sampling: {},
  origin: 'messages',
  opaque: [],
  ...request,
})

const encode = (request: ChatRequest, quirks: Quirks = {}) => {
  const encoded = chatCompletions.encodeRequest(request, { model: 'up', maxOutput: 10_000, quirks })
  expect(violations(SCHEMAS['chat-completions'].request, encoded.body)).toEqual([])
  return encoded
}

describe('a request of another wire', () => {
  const call = (id: string, name = 'f'): ToolCallPart => ({
    type: 'tool-call',
    id,
    name,
    kind: 'function',
    input: '{}',
  })
  const text = (words: string) => ({ type: 'text' as const, text: words })
  const result = (callId: string, ...parts: { type: 'text'; text: string }[]) => ({
    type: 'tool-result' as const,
    callId,
    kind: 'function' as const,
    parts,
  })
  const messages = (turns: Turn[], request: Partial<ChatRequest> = {}) =>
    encode(foreign({ turns, ...request })).body.messages as JsonObject[]
  const shape = (list: JsonObject[]) =>
    list.map(({ role, content, tool_call_id: id, tool_calls: calls }) => ({
      role,
      ...(id ? { id } : {}),
      ...(calls ? { calls: (calls as JsonObject[]).map((one) => one.id) } : {}),
      content,
    }))

  test('results directly follow their calls, missing ones are replaced, and those without a call become text', () => {
    const list = messages([
      { role: 'user', parts: [text('go')] },
      { role: 'assistant', parts: [call('a'), call('b'), call('c')] },
      { role: 'user', parts: [text('wait'), result('b', text('B'))] },
      { role: 'user', parts: [result('a', text('A')), result('zz', text('Z'))] },
    ])
    expect(shape(list)).toEqual([
      { role: 'user', content: 'go' },
      { role: 'assistant', calls: ['a', 'b', 'c'], content: null },
      { role: 'tool', id: 'b', content: 'B' },
      { role: 'tool', id: 'a', content: 'A' },
      { role: 'tool', id: 'c', content: 'No result was given for this call.' },
      { role: 'user', content: 'wait' },
      { role: 'user', content: 'Result of the tool call zz:\n\nZ' },
    ])
  })

  test.each([
    ['{"a":12345678901234567890}', '{"a":12345678901234567890}'],
    ['{"a": "cut', '{"input":"{\\"a\\": \\"cut"}'],
    ['[1]', '{"input":"[1]"}'],
    ['null', '{}'],
    [' ', '{}'],
  ])('arguments %j of a past call are an object', (input, expected) => {
    const turns: Turn[] = [{ role: 'assistant', parts: [{ ...call('a'), input }] }]
    const sent = (origin: ChatRequest['origin']) => messages(turns, { origin })[0]?.tool_calls
    const made = (text: string) => [{ id: 'a', type: 'function', function: { name: 'f', arguments: text } }]
    expect(sent('responses')).toEqual(made(expected))
    // Its own clients' words are theirs.
    expect(sent('chat-completions')).toEqual(made(input))
  })

  test.each(['system', 'user', 'assistant'] as const)('the name of who speaks as %s goes along', (role) => {
    expect(messages([{ role, parts: [text('hi')], name: 'ann' }])[0]).toMatchObject({ role, name: 'ann' })
  })

  test('an image in a result follows in a user message', () => {
    const image = { type: 'image' as const, source: { kind: 'base64' as const, mediaType: 'image/png', data: 'AA' } }
    const list = messages([
      { role: 'assistant', parts: [call('a')] },
      { role: 'user', parts: [{ ...result('a', text('seen')), parts: [text('seen'), image] }] },
    ])
    expect(shape(list).slice(1)).toEqual([
      { role: 'tool', id: 'a', content: 'seen' },
      {
        role: 'user',
        content: [
          text('Attached to the result of the tool call a:'),
          { type: 'image_url', image_url: { url: 'data:image/png;base64,AA' } },
        ],
      },
    ])
  })

  test.each([
    ['no such file', 'Error: no such file'],
    ['', 'Error'],
    ['2 validation errors', 'Error: 2 validation errors'],
    ['Error: no such file', 'Error: no such file'],
    ['TypeError: x is undefined', 'TypeError: x is undefined'],
    ['<tool_use_error>no such file</tool_use_error>', '<tool_use_error>no such file</tool_use_error>'],
  ])('a failed result begins with “Error”, where it does not say so itself: %p', (said, sent) => {
    const list = messages([
      { role: 'assistant', parts: [call('a')] },
      { role: 'user', parts: [{ ...result('a', text(said)), isError: true }] },
    ])
    expect(list[1]?.content).toBe(sent)
  })

  test('with no_developer_role, the developer’s messages become the system’s in encoded bodies, too', () => {
    const turns: Turn[] = [{ role: 'system', developer: true, parts: [text('a')] }]
    const own = { ...foreign({ turns }), origin: 'chat-completions' as const }
    const role = (quirks: Quirks) => (encode(own, quirks).body.messages as JsonObject[])[0]?.role
    expect([role({}), role({ noDeveloperRole: true })]).toEqual(['developer', 'system'])
  })

  test('with no_mid_system, later system messages become the user’s', () => {
    const said = (role: 'system' | 'user', words: string): Turn => ({ role, parts: [text(words)] })
    const turns = [said('system', 'a'), said('system', 'b'), said('user', 'c'), said('system', 'd')]
    const list = (quirks: Quirks, more: Partial<ChatRequest> = {}) =>
      (encode(foreign({ turns, ...more }), quirks).body.messages as JsonObject[]).map(({ role, content }) => [
        role,
        content,
      ])
    expect(list({})).toEqual([
      ['system', 'a\n\nb'],
      ['user', 'c'],
      ['system', 'd'],
    ])
    const later = [
      ['user', 'c'],
      ['user', 'd'],
    ]
    expect(list({ noMidSystem: true })).toEqual([['system', 'a\n\nb'], ...later])
    const byTool = { noMidSystem: true, structuredOutputByTool: true }
    expect(list(byTool, { output: { type: 'json-object' } })).toEqual([['system', `a\n\nb\n\n${JSON_ONLY}`], ...later])
  })

  test('the system messages that begin a conversation are one: many models’ templates refuse or drop a second', () => {
    const turns: Turn[] = [
      { role: 'system', parts: [text('a')] },
      { role: 'system', developer: true, parts: [text('b'), text('c')] },
      { role: 'system', parts: [] },
      { role: 'user', parts: [text('d')] },
    ]
    const begun = (request: ChatRequest, quirks: Quirks) =>
      (encode(request, quirks).body.messages as JsonObject[]).map(({ role, content }) => [role, content])
    const one = [
      ['system', 'a\n\nb\n\nc'],
      ['user', 'd'],
    ]
    expect(begun(foreign({ turns }), {})).toEqual(one)
    const own = { ...foreign({ turns }), origin: 'chat-completions' as const }
    expect(begun(own, {}).map(([role]) => role)).toEqual(['system', 'developer', 'system', 'user'])
    expect(begun(own, { noMidSystem: true })).toEqual([
      ['system', ['a', 'b', 'c'].map((words) => ({ type: 'text', text: words }))],
      ['user', 'd'],
    ])
  })

  test('an answer spread over several turns is joined into one message', () => {
    const list = messages([
      { role: 'assistant', parts: [text('let me see')] },
      { role: 'assistant', parts: [call('a')] },
      { role: 'assistant', parts: [call('b')] },
      { role: 'user', parts: [result('a')] },
      { role: 'user', parts: [result('b')] },
    ])
    expect(shape(list)).toEqual([
      { role: 'assistant', calls: ['a', 'b'], content: 'let me see' },
      { role: 'tool', id: 'a', content: '' },
      { role: 'tool', id: 'b', content: '' },
    ])
  })

  test('long ids and invalid names are replaced consistently, and restored in the answer', () => {
    const id = `toolu_${'x'.repeat(60)}`
    const { body, undo } = encode(
      foreign({
        tools: [
          { type: 'function', name: 'a.b' },
          { type: 'function', name: 'read', namespace: 'fs' },
          { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
        ],
        toolChoice: { type: 'tool', name: 'read', kind: 'function' },
        turns: [
          { role: 'assistant', parts: [call(id, 'a.b'), { ...call('b', 'read'), namespace: 'fs' }] },
          { role: 'user', parts: [result(id), result('b')] },
        ],
      }),
    )
    const [assistant, first] = body.messages as JsonObject[]
    const [one, two] = (assistant?.tool_calls ?? []) as { id: string; function: { name: string } }[]
    const [dotted, spaced, custom] = body.tools as JsonObject[]
    expect(one?.id).toHaveLength(40)
    expect(first?.tool_call_id).toBe(one?.id)
    expect(one?.function.name).toMatch(/^a_b_[a-z0-9]{11}$/)
    expect(two?.function.name).toBe('fs__read')
    expect(dotted).toMatchObject({ function: { name: one?.function.name } })
    expect(spaced).toMatchObject({ function: { name: 'fs__read' } })
    expect(custom).toEqual({
      type: 'custom',
      custom: { name: 'patch', format: { type: 'grammar', grammar: { syntax: 'lark', definition: 'start: "a"' } } },
    })
    expect(body.tool_choice).toEqual({ type: 'function', function: { name: 'fs__read' } })
    expect(undo).toEqual({
      tools: {
        [one?.function.name ?? '']: { name: 'a.b', kind: 'function' },
        fs__read: { name: 'read', namespace: 'fs', kind: 'function' },
        patch: { name: 'patch', kind: 'custom' },
      },
    })
  })

  test('tools stay apart where one has in its namespace what the other has in its name', () => {
    const tools = [
      { type: 'function', name: 'b c', namespace: 'a' },
      { type: 'function', name: 'c', namespace: 'a b' },
    ] as const
    const { body, undo } = encode(foreign({ tools: [...tools] }))
    const sent = (body.tools as { function: { name: string } }[]).map((tool) => tool.function.name)
    expect(new Set(sent).size).toBe(2)
    expect(sent.map((name) => undo.tools?.[name])).toEqual(
      tools.map(({ name, namespace, type: kind }) => ({ name, namespace, kind })),
    )
  })

  test('parameters without a type get the type object, and a tool without parameters gets that it takes none', () => {
    const { body } = encode(
      foreign({
        tools: [
          { type: 'function', name: 'f', schema: {} },
          { type: 'function', name: 'g' },
        ],
      }),
    )
    expect(body.tools).toEqual([
      { type: 'function', function: { name: 'f', parameters: { type: 'object', properties: {} } } },
      {
        type: 'function',
        function: { name: 'g', parameters: { type: 'object', properties: {}, additionalProperties: false } },
      },
    ])
  })

  test('foreign thoughts are left out, and listed where they are not sealed', () => {
    const { body, dropped } = encode(
      foreign({
        turns: [
          {
            role: 'assistant',
            parts: [
              { type: 'reasoning', text: 'a', seal: { origin: 'messages', value: { signature: 's' } } },
              text('x'),
            ],
          },
          { role: 'user', parts: [text('hi')] },
          { role: 'assistant', parts: [{ type: 'reasoning', text: 'open' }, text('y')] },
          { role: 'user', parts: [text('go on')] },
        ],
      }),
    )
    expect(JSON.stringify(body)).not.toContain('reasoning')
    expect(dropped).toEqual(['messages.2.content.0'])
  })

  test('thoughts that a server has sealed separately are sent back in one list', () => {
    const sealed = (data: string): ReasoningPart => ({
      type: 'reasoning',
      text: '',
      seal: { origin: 'chat-completions', value: { reasoning_details: [{ type: 'reasoning.encrypted', data }] } },
    })
    const turns: Turn[] = [
      { role: 'assistant', parts: [sealed('a'), call('A'), sealed('b'), call('B')] },
      { role: 'user', parts: [result('A'), result('B')] },
    ]
    // Such a server is not the vendor, whose schema has no word for it.
    const { body } = chatCompletions.encodeRequest(foreign({ turns }), { model: 'up', maxOutput: 10, quirks: {} })
    expect((body.messages as JsonObject[])[0]?.reasoning_details).toEqual([
      { type: 'reasoning.encrypted', data: 'a' },
      { type: 'reasoning.encrypted', data: 'b' },
    ])
  })

  test('a turn of a plain thought alone is left out and listed', () => {
    const { body, dropped } = encode(
      foreign({
        turns: [
          { role: 'user', parts: [text('hi')] },
          { role: 'assistant', parts: [taggedThought('sluice.open.', 'open') as ReasoningPart] },
          { role: 'user', parts: [text('go on')] },
        ],
      }),
    )
    expect(body.messages).toEqual([
      { role: 'user', content: 'hi' },
      { role: 'user', content: 'go on' },
    ])
    expect(dropped).toEqual(['messages.1'])
  })

  test.each<[string, Partial<ChatRequest>, JsonObject, string[]]>([
    [
      'an output cap is lowered to what the model can give',
      { maxOutput: 64_000 },
      { max_completion_tokens: 10_000 },
      [],
    ],
    [
      'how many stops its own wire may say is the provider’s affair, of others it takes four',
      { origin: 'chat-completions', stop: ['a', 'b', 'c', 'd', 'e'] },
      { stop: ['a', 'b', 'c', 'd', 'e'] },
      [],
    ],
    ['top_k has no counterpart', { sampling: { temperature: 0.5, topK: 3 } }, { temperature: 0.5 }, ['top_k']],
    ['a long user label is listed', { user: 'u'.repeat(65) }, {}, ['metadata.user_id']],
    [
      'a budget becomes an effort',
      { reasoning: { mode: 'budget', budgetTokens: 10_000 } },
      { reasoning_effort: 'medium' },
      [],
    ],
    ['no thinking is the effort none', { reasoning: { mode: 'off' } }, { reasoning_effort: 'none' }, []],
    [
      'an adaptive effort is kept',
      { reasoning: { mode: 'adaptive', effort: 'high', summary: 'omitted' } },
      { reasoning_effort: 'high' },
      [],
    ],
    [
      'a summary of thoughts cannot be asked for',
      { reasoning: { effort: 'low', summary: 'auto' } },
      { reasoning_effort: 'low' },
      ['thinking.display'],
    ],
    ['a tier the wire lacks is listed', { serviceTier: 'standard_only' }, {}, ['service_tier']],
    ['a choice without tools is nothing', { toolChoice: { type: 'auto' }, parallelTools: false }, {}, []],
    [
      'a schema without a name gets one',
      { output: { type: 'json-schema', schema: { type: 'object' } } },
      { response_format: { type: 'json_schema', json_schema: { name: 'response', schema: { type: 'object' } } } },
      [],
    ],
    ['metadata needs a stored answer', { metadata: { a: 'b' } }, {}, ['metadata']],
    [
      'the vendor’s newer wire shares some members',
      { origin: 'responses', metadata: { a: 'b' }, opaque: [{ name: 'store', value: true, essential: false }] },
      { store: true, metadata: { a: 'b' } },
      [],
    ],
    [
      'a way of caching that this wire has no word for is listed',
      { origin: 'responses', opaque: [{ name: 'prompt_cache_options', value: { ttl: '24h' }, essential: false }] },
      {},
      ['prompt_cache_options'],
    ],
  ])('%s', (_, request, members, dropped) => {
    const encoded = encode(foreign(request))
    const { model, messages: __, ...rest } = encoded.body
    expect(model).toBe('up')
    expect(rest).toEqual(members)
    expect(encoded.dropped).toEqual(dropped)
  })

  test('a stream always asks for its usage', () => {
    expect(encode(foreign({ stream: true })).body).toMatchObject({
      stream: true,
      stream_options: { include_usage: true },
    })
  })

  test.each<[string, Partial<ChatRequest>, string]>([
    [
      'a server tool',
      { tools: [{ type: 'opaque', origin: 'messages', value: { type: 'web_search_20250305' } }] },
      'tools.0',
    ],
    ['a forced tool without tools', { toolChoice: { type: 'required' } }, 'tool_choice'],
    [
      'a document by URL',
      { turns: [{ role: 'user', parts: [{ type: 'document', source: { kind: 'url', url: 'https://a.b/c.pdf' } }] }] },
      'messages.0.content.0',
    ],
    [
      'a file of another store',
      {
        turns: [{ role: 'user', parts: [{ type: 'document', source: { kind: 'file', id: 'f', origin: 'messages' } }] }],
      },
      'messages.0.content.0',
    ],
  ])('%s is refused by name', (_, request, param) => {
    const error = refusal(() => encode(foreign(request)))
    expect([error.code, error.param]).toEqual(['invalid_request', param])
  })

  test('text documents are sent as text', () => {
    const parts = [
      { type: 'document' as const, source: { kind: 'text' as const, text: 'abc' }, name: 'notes' },
      { type: 'document' as const, source: { kind: 'base64' as const, mediaType: 'text/plain', data: btoa('def') } },
    ]
    expect(messages([{ role: 'user', parts }])[0]?.content).toBe('notes\n\nabc\n\ndef')
  })
})

describe('members that only another wire has', () => {
  test('members that only other wires have are listed where they may be left out and refused where not', () => {
    const member = { name: 'thread', value: {}, essential: true, details: { error_code: 'thread_unsupported_request' } }
    const error = refusal(() => encode(foreign({ opaque: [member] })))
    expect([error.code, error.param, error.details]).toEqual(['invalid_request', 'thread', member.details])
    const { dropped } = encode(foreign({ opaque: [{ name: 'tools.2.defer_loading', value: true, essential: false }] }))
    expect(dropped).toEqual(['tools.2.defer_loading'])
  })
})

describe('quirks', () => {
  test('sampling that a model refuses is left out and listed', () => {
    const sampling = (given: Sampling) => {
      const { body, dropped } = encode(foreign({ sampling: given }), { noSampling: true })
      return [body.temperature, body.top_p, body.frequency_penalty, body.seed, dropped]
    }
    expect(sampling({ temperature: 0, topP: 0.5, seed: 3 })).toEqual([
      ...[undefined, undefined, undefined, 3],
      ['temperature', 'top_p'],
    ])
    expect(sampling({ temperature: 1, topP: 1, frequencyPenalty: 0, presencePenalty: 0 })).toEqual([
      ...[undefined, undefined, undefined, undefined],
      [],
    ])
  })

  test('the older name of the output cap', () => {
    expect(encode(foreign({ maxOutput: 5 }), { maxTokensField: 'max_tokens' }).body).toMatchObject({ max_tokens: 5 })
  })

  test('a model that does not reason', () => {
    const { body, dropped } = encode(foreign({ reasoning: { mode: 'budget', budgetTokens: 2_000 } }), {
      noReasoning: true,
    })
    expect(body.reasoning_effort).toBeUndefined()
    expect(dropped).toEqual(['thinking'])
  })

  test('a model that always thinks', () => {
    const { body, dropped } = encode(foreign({ reasoning: { mode: 'off' } }), { alwaysThinks: true })
    expect([body.reasoning_effort, dropped]).toEqual(['low', ['thinking']])
  })

  test('members that a server refuses are listed by the client’s name for them', () => {
    const { body, dropped } = encode(foreign({ user: 'u' }), { rejects: ['user'] })
    expect(body.user).toBeUndefined()
    expect(dropped).toEqual(['metadata.user_id'])
  })

  test('stop sequences that a server refuses are left to the gateway', () => {
    const { body, dropped, undo } = encode(foreign({ stop: ['x'] }), { rejects: ['stop'] })
    expect(body.stop).toBeUndefined()
    expect([undo.stop, dropped]).toEqual([['x'], []])
  })

  test('a refused member that only the gateway adds is not listed', () => {
    const { body, dropped } = encode(foreign({ stream: true }), { rejects: ['stream_options'] })
    expect([body.stream, body.stream_options, dropped]).toEqual([true, undefined, []])
  })

  test('a schema is asked for in words where no tool can be forced, and listed', () => {
    const schema = { type: 'object', properties: { a: { type: 'string' } } }
    const request = foreign({ output: { type: 'json-schema', schema } })
    const { body, dropped, undo } = encode(request, { structuredOutputByTool: true, noForcedTools: true })
    expect(body.messages).toEqual([
      { role: 'system', content: jsonBySchema(schema) },
      { role: 'user', content: 'hi' },
    ])
    expect([dropped, undo]).toEqual([['output_config.format'], {}])
    expect(encode(request, { noForcedTools: true }).body.response_format).toMatchObject({ type: 'json_schema' })
  })

  test('structured output by a forced tool', () => {
    const output = { type: 'json-schema' as const, schema: { type: 'object', properties: { a: {} } } }
    const { body, undo } = encode(foreign({ output }), { structuredOutputByTool: true })
    expect(undo).toEqual({ jsonTool: 'json' })
    expect(body.tool_choice).toEqual({ type: 'function', function: { name: 'json' } })
    const tools = [{ type: 'function' as const, name: 'json' }]
    const beside = encode(foreign({ output, tools }), { structuredOutputByTool: true })
    expect(changes(beside.undo)).toEqual({ jsonTool: 'json_output' })
    expect(beside.body.tool_choice).toBe('required')
  })

  test('structured output needs no tool where the answer has to be a call', () => {
    const output = { type: 'json-schema' as const, schema: { type: 'object', properties: { a: {} } } }
    const parameters = { type: 'object', properties: {} }
    const tools = [{ type: 'function' as const, name: 'f', schema: parameters }]
    const request = foreign({ output, tools, toolChoice: { type: 'required' } })
    const { body, undo } = encode(request, { structuredOutputByTool: true })
    expect([body.tools, body.tool_choice, changes(undo)]).toEqual([
      [{ type: 'function', function: { name: 'f', parameters } }],
      'required',
      {},
    ])
  })

  test('the tool for structured output is among those that may be called', () => {
    const output = { type: 'json-schema' as const, schema: { type: 'object', properties: { a: {} } } }
    const tools = ['f', 'g'].map((name) => ({ type: 'function' as const, name }))
    const toolChoice = { type: 'allowed' as const, required: false, tools: [{ name: 'f', kind: 'function' as const }] }
    const { body } = encode(foreign({ output, tools, toolChoice }), { structuredOutputByTool: true })
    const allowed = ['f', 'json'].map((name) => ({ type: 'function', function: { name } }))
    expect(body.tool_choice).toEqual({ type: 'allowed_tools', allowed_tools: { mode: 'required', tools: allowed } })
  })

  test('a forced tool resolves a reference at the root of the schema', () => {
    const schema = { $ref: '#/$defs/a', $defs: { a: { type: 'object', properties: { b: { type: 'string' } } } } }
    const { body } = encode(foreign({ output: { type: 'json-schema', schema } }), { structuredOutputByTool: true })
    expect(body.tools).toMatchObject([{ function: { parameters: { properties: { b: { type: 'string' } } } } }])
  })
})
