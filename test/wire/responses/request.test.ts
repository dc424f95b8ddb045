// Decoding requests of the wire’s clients, and encoding requests of other wires’ clients for its provider.

import { describe, expect, test } from 'bun:test'
import type { Json, JsonObject } from '../../../src/ir/json.ts'
import type { AssistantPart } from '../../../src/ir/part.ts'
import type { Quirks } from '../../../src/ir/quirks.ts'
import type { ChatRequest, Turn } from '../../../src/ir/request.ts'
import { responses } from '../../../src/wire/responses/index.ts'
import { JSON_ONLY } from '../../../src/wire/settings/json-mode.ts'
import { refusal } from '../../support/refusal.ts'
import { strictErrors } from './support.ts'

const decode = (body: JsonObject) => responses.decodeRequest({ model: 'm', input: 'hi', ...body })
const turnsOf = (...input: JsonObject[]): Turn[] => decode({ input }).turns

const text = (words: string) => ({ type: 'text' as const, text: words })

describe('reading', () => {
  test('a string is one user turn, after the instructions', () => {
    expect(decode({ instructions: 'be brief' }).turns).toEqual([
      { role: 'system', parts: [text('be brief')] },
      { role: 'user', parts: [text('hi')] },
    ])
  })

  test('messages need no type, and keep their order, roles and phases', () => {
    expect(
      turnsOf(
        { role: 'developer', content: 'base' },
        { role: 'user', content: [{ type: 'input_text', text: 'a' }] },
        { role: 'user', content: 'b' },
        { type: 'message', role: 'assistant', phase: 'commentary', content: [{ type: 'output_text', text: 'c' }] },
        { type: 'message', role: 'assistant', content: 'd', id: 'msg_1', status: 'completed' },
        { role: 'system', content: 'later' },
      ),
    ).toEqual([
      { role: 'system', developer: true, parts: [text('base')] },
      { role: 'user', parts: [text('a')] },
      { role: 'user', parts: [text('b')] },
      { role: 'assistant', phase: 'commentary', parts: [text('c')] },
      { role: 'assistant', parts: [text('d')] },
      { role: 'system', parts: [text('later')] },
    ])
  })

  test('what the model produced in one answer is one turn, and so are its results', () => {
    const call = (id: string) => ({ type: 'function_call', call_id: id, name: 'f', arguments: '{}', id: `fc_${id}` })
    const part = (id: string) => ({
      type: 'tool-call',
      id,
      name: 'f',
      kind: 'function',
      input: '{}',
      itemId: `fc_${id}`,
    })
    expect(
      turnsOf(
        { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'e' },
        { role: 'assistant', content: 'let me see' },
        call('a'),
        call('b'),
        { type: 'function_call_output', call_id: 'b', output: '2' },
        { type: 'function_call_output', call_id: 'a', output: '' },
        { role: 'user', content: 'and?' },
      ) as unknown[],
    ).toEqual([
      {
        role: 'assistant',
        parts: [
          { type: 'reasoning', text: '', seal: { origin: 'responses', value: { id: 'rs_1', encrypted_content: 'e' } } },
          text('let me see'),
          part('a'),
          part('b'),
        ],
      },
      {
        role: 'user',
        parts: [
          { type: 'tool-result', callId: 'b', kind: 'function', parts: [text('2')] },
          { type: 'tool-result', callId: 'a', kind: 'function', parts: [] },
        ],
      },
      { role: 'user', parts: [text('and?')] },
    ])
  })

  test.each<[string, JsonObject, unknown]>([
    [
      'an image by URL',
      { type: 'input_image', image_url: 'https://a/b.png', detail: 'auto' },
      { type: 'image', source: { kind: 'url', url: 'https://a/b.png' } },
    ],
    [
      'an image in place',
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA', detail: 'original' },
      { type: 'image', source: { kind: 'base64', mediaType: 'image/png', data: 'AAAA' }, detail: 'original' },
    ],
    [
      'a kept image',
      { type: 'input_image', file_id: 'file-1', image_url: null },
      { type: 'image', source: { kind: 'file', id: 'file-1', origin: 'responses' } },
    ],
    [
      'a PDF in place',
      { type: 'input_file', filename: 'a.pdf', file_data: 'data:application/pdf;base64,AAAA' },
      { type: 'document', name: 'a.pdf', source: { kind: 'base64', mediaType: 'application/pdf', data: 'AAAA' } },
    ],
    [
      'bare base64',
      { type: 'input_file', filename: 'a.pdf', file_data: 'AAAA' },
      { type: 'document', name: 'a.pdf', source: { kind: 'base64', mediaType: 'application/pdf', data: 'AAAA' } },
    ],
    [
      'a text file',
      { type: 'input_file', file_data: 'data:text/plain;base64,aMOp' },
      { type: 'document', source: { kind: 'text', text: 'hé' } },
    ],
    [
      'a file by URL',
      { type: 'input_file', file_url: 'https://a/b.pdf' },
      { type: 'document', source: { kind: 'url', url: 'https://a/b.pdf' } },
    ],
    [
      'a cache breakpoint',
      { type: 'input_text', text: 'x', prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } },
      { type: 'text', text: 'x', cache: { ttl: '1h' } },
    ],
  ])('%s', (_, part, expected) => {
    expect(turnsOf({ role: 'user', content: [part] })).toEqual([{ role: 'user', parts: [expected] } as Turn])
    const output = turnsOf({ type: 'function_call_output', call_id: 'c', output: [part] })[0]?.parts[0]
    expect(output).toEqual({ type: 'tool-result', callId: 'c', kind: 'function', parts: [expected] } as never)
  })

  test('functions, custom tools and namespaces are tools; their other members are kept by path', () => {
    const { tools, opaque } = decode({
      tools: [
        { type: 'function', name: 'f', parameters: null, strict: null, defer_loading: true },
        { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
        {
          type: 'namespace',
          name: 'mail',
          description: 'Mail.',
          tools: [{ type: 'function', name: 'send', parameters: { type: 'object' } }],
        },
      ],
    })
    expect(tools).toEqual([
      { type: 'function', name: 'f' },
      { type: 'custom', name: 'patch', format: { type: 'grammar', syntax: 'lark', definition: 'x' } },
      { type: 'function', name: 'send', namespace: 'mail', about: 'Mail.', schema: { type: 'object' } },
    ])
    expect(opaque).toEqual([{ name: 'tools.0.defer_loading', value: true, essential: false }])
  })

  test('other members of settings are kept by path, and put back', () => {
    const settings = {
      text: { verbosity: 'low', x_new: 1 },
      reasoning: { effort: 'low', summary: 'in rhyme', x_new: { a: 1 } },
    }
    const request = decode(settings)
    expect(request.opaque.map(({ name, essential }) => [name, essential])).toEqual([
      ['text.x_new', false],
      ['reasoning.summary', false],
      ['reasoning.x_new', false],
    ])
    expect(responses.encodeRequest(request, TARGET).body).toMatchObject(settings)
  })

  test('built-in tools are optional beside the client’s own tools, but not alone', () => {
    const search = { type: 'web_search' }
    const own = { type: 'function', name: 'f' }
    expect(decode({ tools: [search, own] }).tools[0]).toEqual({
      type: 'opaque',
      origin: 'responses',
      value: search,
      optional: true,
    })
    expect(decode({ tools: [search] }).tools[0]).toEqual({ type: 'opaque', origin: 'responses', value: search })
    expect(decode({ tools: [{ type: 'mcp', server_label: 'x' }, own] }).tools[0]).not.toHaveProperty('optional')
  })

  test.each<[JsonObject, Partial<ChatRequest>]>([
    [{ reasoning: { effort: 'none' } }, { reasoning: { mode: 'off' } }],
    [{ reasoning: { effort: 'high', summary: 'detailed' } }, { reasoning: { effort: 'high', summary: 'detailed' } }],
    [{ reasoning: { generate_summary: 'auto' } }, { reasoning: { summary: 'auto' } }],
    [
      { text: { format: { type: 'json_object' }, verbosity: 'low' } },
      { output: { type: 'json-object' }, verbosity: 'low' },
    ],
    [{ include: ['message.output_text.logprobs'], top_logprobs: 3 }, { logprobs: { top: 3 } }],
    [{ input: [{ role: 'user', content: ['hi'] }] }, { turns: [{ role: 'user', parts: [text('hi')] }] }],
    [{ top_logprobs: 0 }, { opaque: [] }],
    [{ top_logprobs: 3 }, { opaque: [{ name: 'top_logprobs', value: 3, essential: false }] }],
    [{ tool_choice: { type: 'custom', name: 'x' } }, { toolChoice: { type: 'tool', name: 'x', kind: 'custom' } }],
    [
      { prompt_cache_key: 'k', user: 'u', service_tier: 'flex' },
      { cacheKey: 'k', user: 'u', serviceTier: 'flex' },
    ],
    [{ background: false, truncation: 'disabled', store: null, previous_response_id: null }, { opaque: [] }],
  ])('%j', (body, expected) => {
    expect(decode(body)).toMatchObject(expected as object)
  })

  test.each<[JsonObject, string]>([
    [{ previous_response_id: 'resp_1' }, 'previous_response_id'],
    [{ conversation: 'conv_1' }, 'conversation'],
    [{ background: true }, 'background'],
    [{ prompt: { id: 'pmpt_1' } }, 'prompt'],
    [{ tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [] } }, 'tool_choice'],
    [{ input: [{ type: 'item_reference', id: 'msg_1' }] }, 'input.0'],
    [{ input: [{ id: 'rs_1' }] }, 'input.0'],
    [{ input: [{ type: 'compaction_trigger' }, { role: 'user', content: 'x' }] }, 'input.0'],
    [{ input: [{ type: 'compaction', id: 'cmp_1', encrypted_content: 'gAAAA' }] }, 'input.0'],
    [{ input: [{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }] }, 'input.0.content.0'],
  ])('%j stays essential, and goes back to its own provider unchanged', (body, name) => {
    const request = decode(body)
    expect(request.opaque.filter(({ essential }) => essential).map((member) => member.name)).toEqual([name])
    expect(responses.encodeRequest(request, TARGET).body).toMatchObject(
      body.input === undefined ? body : { input: (body.input as JsonObject[]).map((item) => (item.role ? {} : item)) },
    )
  })

  test.each<[JsonObject, string]>([
    [{ model: '' }, 'model'],
    [{ input: [] }, 'input'],
    [{ input: 3 }, 'input'],
    [{ input: [{ role: 'tool', content: 'x' }] }, 'input.0.role'],
    [{ input: [{ content: 'x' }] }, 'input.0.type'],
    [{ input: [{ role: 'user', content: [{ text: 'x' }] }] }, 'input.0.content.0.type'],
    [{ input: [{ role: 'user', content: null }] }, 'input.0.content'],
    [{ input: [{ type: 'function_call', call_id: 'c', arguments: '{}' }] }, 'input.0.name'],
    [{ input: [{ role: 'user', content: [{ type: 'input_image' }] }] }, 'input.0.content.0.image_url'],
    [{ max_output_tokens: 1.5 }, 'max_output_tokens'],
    [{ temperature: 'hot' }, 'temperature'],
    [{ tools: [{ type: 'function' }] }, 'tools.0.name'],
    [{ text: { format: { type: 'json_schema', name: 'x' } } }, 'text.format.schema'],
    [{ metadata: { a: 1 } }, 'metadata.a'],
  ])('%j is refused by the name of the member', (body, param) => {
    const error = refusal(() => decode(body))
    expect(error.code).toBe('invalid_request')
    expect(error.param).toBe(param)
    expect(error.message).toContain(param)
  })
})

const TARGET = { model: 'upstream', maxOutput: 128_000, quirks: {} }

const foreign = (more: Partial<ChatRequest>): ChatRequest => ({
  model: 'm',
  stream: false,
  turns: [{ role: 'user', parts: [text('hi')] }],
  tools: [],
  sampling: {},
  origin: 'messages',
  opaque: [],
  ...more,
})

const send = (more: Partial<ChatRequest>, quirks: Quirks = {}) => {
  const encoded = responses.encodeRequest(foreign(more), { ...TARGET, quirks })
  expect(strictErrors(encoded.body)).toEqual([])
  return encoded
}

describe('sending for clients of other wires', () => {
  test('nothing is stored at the provider, and thoughts are returned encrypted', () => {
    expect(send({}).body).toEqual({
      model: 'upstream',
      input: [{ type: 'message', role: 'user', content: 'hi' }],
      store: false,
      stream: false,
      include: ['reasoning.encrypted_content'],
    })
  })

  test('sampling that a model refuses is listed, unless it is the default', () => {
    const encoded = (sampling: ChatRequest['sampling']) => {
      const { body, dropped } = send({ sampling }, { noSampling: true })
      return [body.temperature, body.top_p, dropped]
    }
    expect(encoded({ temperature: 1, topP: 1 })).toEqual([undefined, undefined, []])
    expect(encoded({ temperature: 0, topP: 0.9 })).toEqual([undefined, undefined, ['temperature', 'top_p']])
  })

  test('thinking turned off for a model that does not think is not listed as dropped', () => {
    for (const reasoning of [{ mode: 'off' as const }, { effort: 'none' as const }]) {
      expect(send({ origin: 'chat-completions', reasoning }, { noReasoning: true }).dropped).toEqual([])
    }
  })

  test('a model that always thinks gets the lowest effort in place of none', () => {
    const { body, dropped } = send({ reasoning: { mode: 'off' } }, { alwaysThinks: true })
    expect([body.reasoning, dropped]).toEqual([{ effort: 'low' }, ['thinking']])
    const off = send({ reasoning: { mode: 'off', effort: 'high' } }, { alwaysThinks: true })
    expect([off.body.reasoning, off.dropped]).toEqual([{ effort: 'low' }, ['thinking', 'output_config.effort']])
    const least = send({ origin: 'chat-completions', reasoning: { effort: 'minimal' } }, { alwaysThinks: true })
    expect([least.body.reasoning, least.dropped]).toEqual([{ effort: 'low' }, []])
  })

  test('a model without structured output gets an instruction for JSON, before the conversation', () => {
    const { body, dropped } = send({ output: { type: 'json-object' } }, { structuredOutputByTool: true })
    expect(body.input).toEqual([
      { type: 'message', role: 'system', content: JSON_ONLY },
      { type: 'message', role: 'user', content: 'hi' },
    ])
    expect(dropped).toEqual(['output_config.format'])
  })

  test('a file by URL is sent without its title', () => {
    const source = { kind: 'url' as const, url: 'https://x.test/a' }
    const { body, dropped } = send({ turns: [{ role: 'user', parts: [{ type: 'document', source, name: 'A' }] }] })
    expect(body.input).toEqual([
      { type: 'message', role: 'user', content: [{ type: 'input_file', file_url: 'https://x.test/a' }] },
    ])
    expect(dropped).toEqual(['messages.0.content.0.title'])
  })

  test('empty texts are left out beside others', () => {
    const said = (...texts: string[]) => send({ turns: [{ role: 'user', parts: texts.map(text) }] }).body.input
    expect(said('', 'a', '')).toEqual([{ type: 'message', role: 'user', content: 'a' }])
    expect(said('', '')).toEqual([{ type: 'message', role: 'user', content: '' }])
  })

  test('a model that does not reason is asked for no thoughts', () => {
    const { body, dropped } = send({ reasoning: { mode: 'budget', budgetTokens: 2_000 } }, { noReasoning: true })
    expect(body).not.toHaveProperty('include')
    expect(body).not.toHaveProperty('reasoning')
    expect(dropped).toEqual(['thinking'])
  })

  test.each<[Partial<ChatRequest>, JsonObject, string[]]>([
    [
      {
        turns: [
          { role: 'system', parts: [text('s')] },
          { role: 'user', parts: [text('hi')] },
        ],
      },
      {
        input: [
          { type: 'message', role: 'system', content: 's' },
          { type: 'message', role: 'user', content: 'hi' },
        ],
      },
      [],
    ],
    [
      {
        turns: [
          { role: 'system', parts: [text('a'), text('b')] },
          { role: 'user', parts: [text('hi')] },
        ],
      },
      {
        input: [
          {
            type: 'message',
            role: 'system',
            content: [
              { type: 'input_text', text: 'a' },
              { type: 'input_text', text: 'b' },
            ],
          },
          { type: 'message', role: 'user', content: 'hi' },
        ],
      },
      [],
    ],
    [
      { turns: [{ role: 'system', parts: [text('s')] }] },
      { input: [{ type: 'message', role: 'system', content: 's' }] },
      [],
    ],
    [{ maxOutput: 1 }, { max_output_tokens: 16 }, ['max_tokens']],
    [{ maxOutput: 999_999 }, { max_output_tokens: 128_000 }, []],
    [{ stop: ['x'], sampling: { topK: 3, temperature: 0.2 } }, { temperature: 0.2 }, ['top_k']],
    [{ sampling: { frequencyPenalty: 0, presencePenalty: 0 } }, {}, []],
    [{ sampling: { frequencyPenalty: 0.5, presencePenalty: 0 } }, {}, ['frequency_penalty']],
    [{ stop: ['x'.repeat(300)] }, {}, ['stop_sequences']],
    [{ stop: Array.from({ length: 17 }, (_, at) => `${at}`) }, {}, ['stop_sequences']],
    [{ reasoning: { mode: 'off' } }, { reasoning: { effort: 'none' } }, []],
    [{ reasoning: { mode: 'adaptive', effort: 'max' } }, { reasoning: { effort: 'xhigh', summary: 'auto' } }, []],
    [
      { reasoning: { mode: 'budget', budgetTokens: 31_999, summary: 'omitted' } },
      { reasoning: { effort: 'high' } },
      [],
    ],
    [{ serviceTier: 'batch' }, {}, ['service_tier']],
    [{ opaque: [{ name: 'context_management', value: {}, essential: false }] }, {}, ['context_management']],
    [
      {
        tools: [{ type: 'function', name: 'f' }],
        toolChoice: { type: 'tool', name: 'f', kind: 'function' },
        parallelTools: false,
      },
      {
        tools: [{ type: 'function', name: 'f', parameters: { type: 'object', properties: {} }, strict: false }],
        tool_choice: { type: 'function', name: 'f' },
        parallel_tool_calls: false,
      },
      [],
    ],
    [
      { output: { type: 'json-schema', schema: { type: 'object' } } },
      { text: { format: { type: 'json_schema', name: 'response', schema: { type: 'object' } } } },
      [],
    ],
    [
      { logprobs: { top: 2 }, origin: 'chat-completions' },
      { include: ['reasoning.encrypted_content', 'message.output_text.logprobs'], top_logprobs: 2 },
      [],
    ],
    [{ logprobs: { top: 21 }, origin: 'chat-completions' }, { top_logprobs: 20 }, []],
    [
      { metadata: { ['n'.repeat(64)]: 'v'.repeat(512), ['n'.repeat(65)]: '', long: 'v'.repeat(513) } },
      { metadata: { ['n'.repeat(64)]: 'v'.repeat(512) } },
      [`metadata.${'n'.repeat(65)}`, 'metadata.long'],
    ],
    [
      { metadata: Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`m${at}`, ''])) },
      { metadata: Object.fromEntries(Array.from({ length: 16 }, (_, at) => [`m${at}`, ''])) },
      ['metadata.m16'],
    ],
    [{ turns: [{ role: 'user', parts: [{ ...text('hi'), cache: {} }] }] }, {}, ['messages.0.content.0.cache_control']],
    [{ tools: [{ type: 'opaque', origin: 'messages', value: { type: 'x' }, optional: true }] }, {}, ['tools.0']],
  ])('%j', (asked, sent, dropped) => {
    const encoded = send(asked)
    expect(encoded.body).toMatchObject(sent)
    expect(encoded.dropped).toEqual(dropped)
  })

  test.each<[Partial<ChatRequest>, string, Quirks?]>([
    [{ tools: [{ type: 'opaque', origin: 'messages', value: { type: 'advisor_20260301' } }] }, 'tools.0'],
    [{ toolChoice: { type: 'required' } }, 'tool_choice'],
    [
      { tools: [{ type: 'function', name: 'f' }], toolChoice: { type: 'tool', name: 'g', kind: 'function' } },
      'tool_choice',
    ],
    [
      { tools: [{ type: 'function', name: 'f' }], toolChoice: { type: 'tool', name: 'g', kind: 'function' } },
      'tool_choice',
      { noForcedTools: true },
    ],
    [
      {
        opaque: [{ name: 'thread', value: {}, essential: true, details: { error_code: 'thread_unsupported_request' } }],
      },
      'thread',
    ],
    [
      {
        turns: [
          { role: 'user', parts: [{ type: 'image', source: { kind: 'file', id: 'file_1', origin: 'messages' } }] },
        ],
      },
      'messages.0.content.0',
    ],
  ])('%j is refused by name', (asked, param, quirks = {}) => {
    const error = refusal(() => send(asked, quirks))
    expect(error.code).toBe('invalid_request')
    expect(error.param).toBe(param)
  })

  test('details of an essential member go with the refusal', () => {
    const details = { error_code: 'thread_unsupported_request', unsupported: ['thread'] }
    expect(refusal(() => send({ opaque: [{ name: 'thread', value: {}, essential: true, details }] })).details).toEqual(
      details,
    )
  })

  const call = (id: string, name = 'f') => ({
    type: 'tool-call' as const,
    id,
    name,
    kind: 'function' as const,
    input: '{}',
  })
  const result = (callId: string, words: string, isError = false) => ({
    type: 'tool-result' as const,
    callId,
    kind: 'function' as const,
    parts: [text(words)],
    ...(isError ? { isError } : {}),
  })

  test.each([
    ['{"a":12345678901234567890}', '{"a":12345678901234567890}'],
    ['{"a": "cut', '{"input":"{\\"a\\": \\"cut"}'],
    ['[1]', '{"input":"[1]"}'],
    ['null', '{}'],
  ])('arguments %j of a past call are an object', (input, expected) => {
    const sent = (origin: ChatRequest['origin']) =>
      send({ origin, turns: [{ role: 'assistant', parts: [{ ...call('a'), input }] }] }).body.input
    const made = (text: string) => ({ type: 'function_call', call_id: 'a', name: 'f', arguments: text })
    expect(sent('chat-completions')).toContainEqual(made(expected))
    // Its own clients' words are theirs; `null` is no arguments at all.
    expect(sent('responses')).toContainEqual(made(input === 'null' ? '{}' : input))
  })

  test('results follow their calls directly, whatever was between', () => {
    const { body } = send({
      turns: [
        { role: 'assistant', parts: [text('I look'), call('a'), call('b')] },
        { role: 'user', parts: [text('hurry'), result('b', '2'), result('a', 'nothing there', true)] },
        { role: 'assistant', parts: [call('c')] },
      ],
    })
    expect(body.input).toEqual([
      { type: 'message', role: 'assistant', content: 'I look' },
      { type: 'function_call', call_id: 'a', name: 'f', arguments: '{}' },
      { type: 'function_call', call_id: 'b', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'b', output: '2' },
      { type: 'function_call_output', call_id: 'a', output: 'Error: nothing there' },
      { type: 'message', role: 'user', content: 'hurry' },
      { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}' },
      { type: 'function_call_output', call_id: 'c', output: 'The call was not carried out.' },
    ])
  })

  test.each([
    ['2 validation errors', 'Error: 2 validation errors'],
    ['Found 0 errors, then crashed', 'Error: Found 0 errors, then crashed'],
    ['Error: no such file', 'Error: no such file'],
    ['TypeError: x is undefined', 'TypeError: x is undefined'],
    ['<tool_use_error>no such file</tool_use_error>', '<tool_use_error>no such file</tool_use_error>'],
  ])('a failed result begins with “Error”, where it does not say so itself: %p', (said, sent) => {
    const turns: Turn[] = [
      { role: 'assistant', parts: [call('a')] },
      { role: 'user', parts: [result('a', said, true)] },
    ]
    expect((send({ turns }).body.input as JsonObject[])[1]?.output).toBe(sent)
  })

  test('a result belongs to the latest call of its id where an earlier one has none', () => {
    const { body } = send({
      turns: [
        { role: 'assistant', parts: [call('a')] },
        { role: 'user', parts: [text('stop')] },
        { role: 'assistant', parts: [call('a')] },
        { role: 'user', parts: [result('a', 'of the second')] },
      ],
    })
    expect((body.input as JsonObject[]).flatMap(({ output }) => output ?? [])).toEqual([
      'The call was not carried out.',
      'of the second',
    ])
  })

  test.each([
    [false, 'Result of the tool call gone:'],
    [true, 'Error of the tool call gone:'],
  ])('a result without its call stays in the conversation as text, failed: %p', (failed, head) => {
    expect(send({ turns: [{ role: 'user', parts: [result('gone', 'sunny', failed)] }] }).body.input).toEqual([
      {
        type: 'message',
        role: 'user',
        content: [
          { type: 'input_text', text: head },
          { type: 'input_text', text: 'sunny' },
        ],
      },
    ])
  })

  test('ids of items that the wire does not take are left out', () => {
    const long = 'x'.repeat(413)
    const { body } = send({
      turns: [
        {
          role: 'assistant',
          parts: [
            { type: 'reasoning', text: '', seal: { origin: 'responses', value: { id: long, encrypted_content: 'e' } } },
            { type: 'tool-call', kind: 'function', id: 'call_1', itemId: `fc_${long}`, name: 'read', input: '{}' },
          ],
        },
        { role: 'user', parts: [{ type: 'tool-result', kind: 'function', callId: 'call_1', parts: [text('so')] }] },
      ],
    })
    expect(body.input).toEqual([
      { type: 'reasoning', summary: [], encrypted_content: 'e' },
      { type: 'function_call', call_id: 'call_1', name: 'read', arguments: '{}' },
      { type: 'function_call_output', call_id: 'call_1', output: 'so' },
    ])
  })

  test('the wire’s own thoughts are sent back verbatim; foreign ones are left out, unsealed ones listed', () => {
    const seal = { origin: 'responses' as const, value: { id: 'rs_1', encrypted_content: 'e' } }
    const { body, dropped } = send({
      turns: [
        {
          role: 'assistant',
          parts: [
            { type: 'reasoning', text: 'hm', seal },
            { type: 'reasoning', text: 'x', seal: { origin: 'messages', value: { signature: 's' } } },
            { type: 'reasoning', text: 'open' },
            text('so'),
            { type: 'reasoning', text: 'last', seal },
          ],
        },
        { role: 'user', parts: [text('go on')] },
      ],
    })
    expect(body.input).toEqual([
      { type: 'reasoning', id: 'rs_1', summary: [{ type: 'summary_text', text: 'hm' }], encrypted_content: 'e' },
      { type: 'message', role: 'assistant', content: 'so', phase: 'final_answer' },
      { type: 'message', role: 'user', content: 'go on' },
    ])
    expect(dropped).toEqual(['messages.0.content.2'])
  })

  test('a thought of the wire is sent back where it is encrypted or signed, but not as a reference', () => {
    const content = [{ type: 'reasoning_text', text: 'hm' }]
    const sent = (value: { [name: string]: Json }) => {
      const part: AssistantPart = { type: 'reasoning', text: 'hm', full: true, seal: { origin: 'responses', value } }
      return (send({ turns: [{ role: 'assistant', parts: [part, text('so')] }] }).body.input as JsonObject[])[0]
    }
    const signed = { id: 'rs_1', signature: 's', format: 'anthropic-claude-v1' }
    expect(sent(signed)).toEqual({ type: 'reasoning', summary: [], content, ...signed })
    expect(sent({ id: 'rs_1', encrypted_content: 'e' })).toMatchObject({ type: 'reasoning', encrypted_content: 'e' })
    expect(sent({ id: 'rs_1', status: 'completed' })).toMatchObject({ type: 'message', content: 'so' })
  })

  describe('messages get a phase where the history has thoughts of a model of the wire', () => {
    const thought = {
      type: 'reasoning' as const,
      text: 'hm',
      seal: { origin: 'responses' as const, value: { id: 'rs_1', encrypted_content: 'e' } },
    }
    const search: AssistantPart = {
      type: 'opaque',
      origin: 'responses',
      value: { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'q' } },
    }
    const user: Turn = { role: 'user', parts: [text('go on')] }
    const phases = (turns: Turn[], quirks: Quirks = {}) =>
      (send({ turns: [...turns, user] }, quirks).body.input as JsonObject[])
        .filter(({ role }) => role === 'assistant')
        .map(({ phase }) => phase)

    test.each<[string, Turn[], (string | undefined)[]]>([
      ['an answer', [{ role: 'assistant', parts: [thought, text('It is sunny.')] }], ['final_answer']],
      [
        'text before a call, in a turn without a thought',
        [
          { role: 'assistant', parts: [thought, text('I ask.'), call('a')] },
          { role: 'user', parts: [result('a', 'sunny')] },
          { role: 'assistant', parts: [text('I look.'), call('b')] },
          { role: 'user', parts: [result('b', 'sunny')] },
        ],
        ['commentary', 'commentary'],
      ],
      [
        'text before the first thought, which has been sent without a phase and is cached',
        [
          { role: 'assistant', parts: [text('I look.'), call('a')] },
          { role: 'user', parts: [result('a', 'sunny')] },
          { role: 'assistant', parts: [thought, text('It is sunny.')] },
        ],
        [undefined, 'final_answer'],
      ],
      [
        'text whose call is in a turn of its own',
        [
          { role: 'assistant', parts: [thought, text('I look.')] },
          { role: 'assistant', parts: [call('a')] },
          { role: 'user', parts: [result('a', 'sunny')] },
        ],
        ['commentary'],
      ],
      [
        'text before and after a search by the provider',
        [{ role: 'assistant', parts: [thought, text('I look.'), search, text('It is sunny.')] }],
        ['commentary', 'final_answer'],
      ],
      [
        'a message that has a phase already',
        [{ role: 'assistant', phase: 'commentary', parts: [thought, text('So.')] }],
        ['commentary'],
      ],
      [
        'none where the thoughts are another wire’s',
        [
          {
            role: 'assistant',
            parts: [{ ...thought, seal: { origin: 'messages', value: { signature: 's' } } }, text('So.')],
          },
        ],
        [undefined],
      ],
    ])('%s', (_, turns, told) => expect(phases(turns)).toEqual(told))

    test('none for a server that takes no thoughts', () => {
      expect(phases([{ role: 'assistant', parts: [thought, text('So.')] }], { noReasoning: true })).toEqual([undefined])
    })
  })

  test('names that the wire does not accept are replaced everywhere, and restored in the answer', () => {
    const name = 'mcp.files/read'
    const { body, undo } = send({
      turns: [
        { role: 'assistant', parts: [call('a', name)] },
        { role: 'user', parts: [result('a', 'x')] },
      ],
      tools: [{ type: 'function', name }],
      toolChoice: { type: 'tool', name, kind: 'function' },
    })
    const sent = 'mcp_files_read'
    expect(body).toMatchObject({ tools: [{ name: sent }], tool_choice: { name: sent }, input: [{ name: sent }, {}] })
    expect(undo).toEqual({ tools: { [sent]: { name, kind: 'function' } } })
    const item = { type: 'function_call', id: 'fc_1', call_id: 'c', name: sent, arguments: '{}' }
    expect(responses.decodeResponse({ id: 'resp_1', output: [item] }, undo).parts).toMatchObject([{ name }])
  })

  test('two names with the same replacement stay distinct, independently of earlier calls', () => {
    const tools = [
      { type: 'function' as const, name: 'a.b' },
      { type: 'function' as const, name: 'a/b' },
    ]
    const turns: Turn[] = [
      { role: 'assistant', parts: [call('c', 'a/b')] },
      { role: 'user', parts: [result('c', 'x')] },
    ]
    const named = ({ body }: ReturnType<typeof send>) => (body.tools as JsonObject[]).map(({ name }) => name)
    expect(named(send({ tools, turns }))).toEqual(named(send({ tools })))
    expect(send({ tools, turns }).undo).toEqual(send({ tools }).undo)
  })

  test.each<[string, Partial<ChatRequest>, unknown]>([
    ['some tool, where the client has tools', {}, 'required'],
    ['no other, where the client wants none', { toolChoice: { type: 'none' } }, { name: 'json_output' }],
    ['the one the client names', { toolChoice: { type: 'tool', name: 'f', kind: 'function' } }, { name: 'f' }],
  ])('the tool for structured output leaves the model %s', (_, asked, choice) => {
    const output = { type: 'json-schema' as const, schema: { type: 'object', properties: { a: {} } } }
    const { body } = send(
      { output, tools: [{ type: 'function', name: 'f' }], ...asked },
      { structuredOutputByTool: true },
    )
    expect(body).toMatchObject({ tool_choice: typeof choice === 'object' ? { type: 'function', ...choice } : choice })
  })

  test('the tool for structured output is among those that may be called', () => {
    const { body } = send(
      {
        output: { type: 'json-schema', schema: { type: 'object', properties: { a: {} } } },
        tools: ['f', 'g'].map((name) => ({ type: 'function', name })),
        toolChoice: { type: 'allowed', required: false, tools: [{ name: 'f', kind: 'function' }] },
      },
      { structuredOutputByTool: true },
    )
    const allowed = ['f', 'json_output'].map((name) => ({ type: 'function', name }))
    expect(body.tool_choice).toEqual({ type: 'allowed_tools', mode: 'required', tools: allowed })
  })

  test('structured output needs no tool where the answer has to be a call', () => {
    const output = { type: 'json-schema' as const, schema: { type: 'object', properties: { a: {} } } }
    const { body, undo } = send(
      { output, tools: [{ type: 'function', name: 'f' }], toolChoice: { type: 'required' } },
      { structuredOutputByTool: true },
    )
    expect([body.tools, body.tool_choice, undo]).toMatchObject([[{ name: 'f' }], 'required', {}])
    expect(body.tools).toHaveLength(1)
  })

  test('the tool for structured output has a name that no other tool is sent under', () => {
    const output = { type: 'json-schema' as const, schema: { type: 'object', properties: { a: {} } } }
    const { body } = send(
      { output, tools: [{ type: 'function', name: 'json.output' }] },
      { structuredOutputByTool: true },
    )
    expect(new Set((body.tools as JsonObject[]).map(({ name }) => name)).size).toBe(2)
  })

  test('the tool for structured output resolves a schema that is only a reference', () => {
    const schema = { $ref: '#/$defs/a', $defs: { a: { type: 'object', properties: { b: { type: 'string' } } } } }
    const { body } = send({ output: { type: 'json-schema', schema } }, { structuredOutputByTool: true })
    expect(body.tools).toMatchObject([{ parameters: { properties: { b: { type: 'string' } } } }])
  })

  test('structured output by a tool is decoded as text', () => {
    const { body, undo } = send(
      { output: { type: 'json-schema', schema: { type: 'object', properties: { a: { type: 'number' } } } } },
      { structuredOutputByTool: true },
    )
    expect(body).toMatchObject({
      tools: [{ name: 'json_output' }],
      tool_choice: { type: 'function', name: 'json_output' },
    })
    const item = { type: 'function_call', call_id: 'c', name: 'json_output', arguments: '{"a":1}' }
    const answer = responses.decodeResponse({ id: 'resp_1', output: [item] }, undo)
    expect(answer).toMatchObject({ finish: 'stop', parts: [text('{"a":1}')] })
  })

  test('text documents are text, PDFs are files with an extension, and results may hold both', () => {
    const pdf = {
      type: 'document' as const,
      source: { kind: 'base64' as const, mediaType: 'application/pdf', data: 'AAAA' },
      name: 'Report',
    }
    const note = { type: 'document' as const, source: { kind: 'text' as const, text: 'body' }, name: 'note' }
    const { body } = send({
      turns: [
        { role: 'assistant', parts: [call('a')] },
        { role: 'user', parts: [{ type: 'tool-result', callId: 'a', kind: 'function', parts: [pdf, note] }] },
      ],
    })
    expect((body.input as JsonObject[])[1]).toEqual({
      type: 'function_call_output',
      call_id: 'a',
      output: [
        { type: 'input_file', filename: 'Report.pdf', file_data: 'data:application/pdf;base64,AAAA' },
        { type: 'input_text', text: '<document title="note">\nbody\n</document>' },
      ],
    })
  })

  test('labels that are too long are hashed, the same every time', () => {
    const long = 'x'.repeat(200)
    const [first, again] = [send({ user: long, cacheKey: long }).body, send({ user: long }).body]
    expect(String(first.user).length).toBeLessThanOrEqual(64)
    expect(first.user).toBe(again.user as string)
    expect(first.prompt_cache_key).toBe(first.user as string)
  })

  test.each<[ChatRequest['origin'], string[]]>([
    ['messages', ['metadata.user_id', 'max_tokens', 'output_config.format', 'logprobs']],
    ['chat-completions', ['user', 'max_completion_tokens', 'response_format', 'logprobs']],
  ])(
    'members that a provider refuses are left out, and listed by the names that clients of %s use',
    (origin, names) => {
      const rejects = ['user', 'max_output_tokens', 'text', 'include']
      const asked = {
        origin,
        user: 'u',
        maxOutput: 100,
        output: { type: 'json-object' as const },
        logprobs: { top: 0 },
      }
      const { body, dropped } = send(asked, { rejects })
      for (const name of rejects) expect(body).not.toHaveProperty(name)
      expect(dropped).toEqual(names)
    },
  )

  test('what the gateway itself has added and a provider refuses is not listed', () => {
    const { body, dropped } = send({ origin: 'messages' }, { rejects: ['include', 'store'] })
    expect(body).not.toHaveProperty('include')
    expect(dropped).toEqual([])
  })
})
