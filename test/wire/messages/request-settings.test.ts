// Thinking, structured output and other settings of requests, and what this wire has no member for.

import { describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../../src/ir/json.ts'
import type { Quirks } from '../../../src/ir/quirks.ts'
import type { ChatRequest, ToolChoice } from '../../../src/ir/request.ts'
import { messages } from '../../../src/wire/messages/index.ts'
import { sealTag } from '../../../src/wire/seal.ts'
import { JSON_ONLY } from '../../../src/wire/settings/json-mode.ts'
import { changes } from '../../support/changes.ts'
import { refusal } from '../../support/refusal.ts'
import { base, encode, hello } from './asking.ts'

describe('reasoning', () => {
  test.each<[string, Partial<ChatRequest>, Quirks, JsonObject, string[]]>([
    [
      'an effort of another wire thinks',
      { origin: 'responses', reasoning: { effort: 'high' } },
      {},
      { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
      [],
    ],
    [
      'an effort of a wire that cannot ask to read the thought shows it',
      { reasoning: { effort: 'high' } },
      {},
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' } },
      [],
    ],
    [
      'but not where the client wants none of it',
      { reasoning: { effort: 'high', summary: 'omitted' } },
      {},
      { thinking: { type: 'adaptive', display: 'omitted' }, output_config: { effort: 'high' } },
      [],
    ],
    [
      'minimal is low',
      { reasoning: { effort: 'minimal' } },
      {},
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } },
      [],
    ],
    ['none does not think', { reasoning: { effort: 'none' } }, {}, { thinking: { type: 'disabled' } }, []],
    [
      'a summary is shown',
      { reasoning: { summary: 'detailed' } },
      {},
      { thinking: { type: 'adaptive', display: 'summarized' } },
      [],
    ],
    [
      'an effort of this wire is an effort',
      { origin: 'messages', reasoning: { effort: 'low' } },
      {},
      { output_config: { effort: 'low' } },
      [],
    ],
    [
      'an effort by budget',
      { reasoning: { effort: 'low' } },
      { noAdaptiveThinking: true },
      { thinking: { type: 'enabled', budget_tokens: 2048 } },
      [],
    ],
    [
      'at most half of the cap',
      { reasoning: { effort: 'max' }, maxOutput: 4000 },
      { noAdaptiveThinking: true },
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
      [],
    ],
    [
      'an effort that the model does not know',
      { reasoning: { effort: 'xhigh' } },
      { noXhighEffort: true },
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' } },
      [],
    ],
    [
      'no thought, of a model that always thinks',
      { reasoning: { effort: 'none' } },
      { alwaysThinks: true },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } },
      ['reasoning_effort'],
    ],
    [
      'no room for a budget',
      { reasoning: { effort: 'max' }, maxOutput: 1000 },
      { noAdaptiveThinking: true },
      {},
      ['reasoning_effort'],
    ],
    [
      'a budget below the cap',
      { reasoning: { mode: 'budget', budgetTokens: 9000 }, maxOutput: 4000 },
      {},
      { thinking: { type: 'enabled', budget_tokens: 3999 } },
      [],
    ],
    ['a model that does not', { reasoning: { effort: 'high' } }, { noReasoning: true }, {}, ['reasoning_effort']],
    [
      'a forced tool does not go with thought',
      {
        origin: 'responses',
        reasoning: { effort: 'high' },
        tools: [{ type: 'function', name: 'f' }],
        toolChoice: { type: 'required' },
      },
      {},
      { output_config: { effort: 'high' } },
      ['reasoning'],
    ],
    [
      'a model that cannot be forced to use a tool thinks all the same',
      {
        origin: 'responses',
        reasoning: { effort: 'high' },
        tools: [{ type: 'function', name: 'f' }],
        toolChoice: { type: 'required' },
      },
      { noForcedTools: true, alwaysThinks: true },
      { thinking: { type: 'adaptive' }, output_config: { effort: 'high' } },
      ['tool_choice'],
    ],
  ])('%s', (_, request, quirks, expected, dropped) => {
    const encoded = encode(request, quirks)
    const { thinking, output_config } = encoded.body
    expect(JSON.parse(JSON.stringify({ thinking, output_config }))).toEqual(expected)
    expect(encoded.dropped).toEqual(dropped)
  })

  // By budget, the provider wants a round of calls to begin with a thought, and each of them where it thinks between.
  test.each<[string, boolean[], boolean]>([
    ['with thoughts', [true, true], true],
    ['whose first thought is gone', [false, true], false],
    ['whose last thought is gone', [true, false], false],
  ])('by budget, a round of calls %s', (_, thoughts, thinks) => {
    const seal = { origin: 'messages' as const, value: { signature: 'c2ln' } }
    const round = thoughts.flatMap((thought, at): ChatRequest['turns'] => {
      const call = { type: 'tool-call' as const, id: `c${at}`, name: 'f', kind: 'function' as const, input: '{}' }
      const result = { type: 'tool-result' as const, callId: `c${at}`, kind: 'function' as const, parts: [] }
      const said = thought ? [{ type: 'reasoning' as const, text: 'hm', seal }, call] : [call]
      return [
        { role: 'assistant', parts: said },
        { role: 'user', parts: [result] },
      ]
    })
    const turns: ChatRequest['turns'] = [{ role: 'user', parts: [{ type: 'text', text: 'Hi' }] }, ...round]
    const { body } = encode({ turns, reasoning: { effort: 'low' } }, { noAdaptiveThinking: true })
    expect(body.thinking !== undefined).toBe(thinks)
  })

  test('a thought of another wire is restored from its tag, and sent to its own provider only', () => {
    const thought = {
      type: 'reasoning' as const,
      text: 'Hm — „so“',
      full: true,
      seal: { origin: 'responses' as const, value: { id: 'rs_1', encrypted_content: 'x' } },
    }
    for (const block of [
      { type: 'thinking', thinking: 'whatever the client kept', signature: sealTag(thought) },
      { type: 'redacted_thinking', data: sealTag(thought) },
    ]) {
      const request = messages.decodeRequest({
        ...base,
        messages: [hello, { role: 'assistant', content: [block, { type: 'text', text: 'Yes' }] }, hello],
      })
      expect(request.turns[1]?.parts[0]).toEqual(thought)
      const { body } = messages.encodeRequest(request, { model: 'm', maxOutput: 100, quirks: {} })
      expect((body.messages as JsonObject[])[1]).toEqual({ role: 'assistant', content: 'Yes' })
    }
  })

  test('a thought without a signature is left out and listed', () => {
    const { body, dropped } = encode({
      turns: [
        { role: 'user', parts: [{ type: 'text', text: 'Hi' }] },
        {
          role: 'assistant',
          parts: [
            { type: 'reasoning', text: 'hm' },
            { type: 'text', text: 'Yes' },
          ],
        },
        { role: 'user', parts: [{ type: 'text', text: 'So?' }] },
      ],
    })
    expect((body.messages as JsonObject[])[1]).toEqual({ role: 'assistant', content: 'Yes' })
    expect(dropped).toEqual(['messages.1.content.0'])
  })
})

describe('structured output', () => {
  const schema = {
    type: 'object',
    properties: { n: { type: 'integer', minimum: 3, description: 'How many' } },
    required: ['n'],
  }

  test('is sent in the provider’s subset of JSON Schema', () => {
    const { body, undo } = encode({ output: { type: 'json-schema', name: 'count', schema } })
    expect(body.output_config).toEqual({
      format: {
        type: 'json_schema',
        schema: {
          type: 'object',
          properties: { n: { type: 'integer', description: 'How many\n\n{minimum: 3}' } },
          required: ['n'],
          additionalProperties: false,
        },
      },
    })
    expect(undo).toEqual({})
  })

  test('follows references between definitions, but not recursive ones', () => {
    const chain = (length: number, last: JsonObject) => ({
      ...schema,
      properties: { n: { $ref: '#/$defs/d0' } },
      $defs: Object.fromEntries(
        Array.from({ length }, (_, at) => [`d${at}`, at + 1 < length ? { $ref: `#/$defs/d${at + 1}` } : last]),
      ),
    })
    const asTool = (output: JsonObject) => encode({ output: { type: 'json-schema', schema: output } }).undo.jsonTool
    expect(asTool(chain(2_000, { type: 'string' }))).toBeUndefined()
    expect(asTool(chain(3, { $ref: '#/$defs/d1' }))).toBe('json')
  })

  test.each<[string, boolean]>([
    ['^[a-z]{2,4}(-\\d+)?$', true],
    ['^(?!x)[a-z]+$', false],
    ['(?<=a)b', false],
    ['\\bword', false],
    ['^(.)\\1$', false],
  ])('holds the model to the pattern %s: %p', (pattern, held) => {
    const properties = { s: { type: 'string', pattern } }
    const { body } = encode({ output: { type: 'json-schema', schema: { ...schema, properties, required: ['s'] } } })
    expect(body.output_config).toMatchObject({
      format: {
        schema: {
          properties: {
            s: held ? properties.s : { type: 'string', description: `{pattern: ${JSON.stringify(pattern)}}` },
          },
        },
      },
    })
    if (!held) expect(JSON.stringify(body)).not.toContain('"pattern":')
  })

  test.each<[string, Partial<ChatRequest>, Quirks]>([
    ['a model without it', { output: { type: 'json-schema', schema } }, { structuredOutputByTool: true }],
    [
      'open objects',
      { output: { type: 'json-schema', schema: { type: 'object', additionalProperties: { type: 'string' } } } },
      {},
    ],
  ])('is a forced tool for %s, undone in the answer', (_, request, quirks) => {
    const { body, undo } = encode(request, quirks)
    expect(undo.jsonTool).toBe('json')
    expect(body.output_config).toBeUndefined()
    expect(body.tool_choice).toEqual({ type: 'tool', name: 'json', disable_parallel_tool_use: true })
    const answer = { content: [{ type: 'tool_use', id: 't', name: 'json', input: { n: 4 } }], stop_reason: 'tool_use' }
    const decoded = messages.decodeResponse(answer, undo)
    expect(decoded).toMatchObject({ parts: [{ type: 'text', text: '{"n":4}' }], finish: 'stop' })
    expect(messages.decodeResponse({ ...answer, stop_reason: 'max_tokens' }, undo).finish).toBe('length')
  })

  test.each<[string, Partial<ChatRequest>]>([
    ['of any form', { output: { type: 'json-object' } }],
    ['of a form that says nothing', { output: { type: 'json-schema', schema: { type: 'object', properties: {} } } }],
    [
      'of a form with members every object has',
      { output: { type: 'json-schema', schema: JSON.parse('{"__proto__":{},"toString":1}') } },
    ],
  ])('%s becomes an instruction, and is listed', (_, request) => {
    const { body, dropped, undo } = encode({ ...request, tools: [{ type: 'function', name: 'f' }] })
    expect(body.system).toBe(JSON_ONLY)
    expect(body.tool_choice).toBeUndefined()
    expect(changes(undo)).toEqual({})
    expect(dropped).toEqual(['response_format'])
  })

  test.each<[string, JsonObject, Quirks]>([
    ['of open objects', { ...schema, additionalProperties: { type: 'string' } }, { noForcedTools: true }],
    ['at a model without it', schema, { noForcedTools: true, structuredOutputByTool: true }],
  ])('%s is asked for in words where no tool can be forced, and is listed', (_, wanted, quirks) => {
    const { body, dropped, undo } = encode({ output: { type: 'json-schema', schema: wanted } }, quirks)
    expect(body.system).toBe(`${JSON_ONLY} It must be valid by this JSON schema:\n${JSON.stringify(wanted)}`)
    expect([body.tools, body.tool_choice, body.output_config]).toEqual([undefined, undefined, undefined])
    expect(changes(undo)).toEqual({})
    expect(dropped).toEqual(['response_format'])
  })

  test('is the provider’s own where no tool can be forced', () => {
    const { body, dropped } = encode({ output: { type: 'json-schema', schema } }, { noForcedTools: true })
    expect(body.output_config).toMatchObject({ format: { type: 'json_schema' } })
    expect(dropped).toEqual([])
  })

  test('beside other tools leaves the model the choice among them', () => {
    const { body, undo } = encode(
      { output: { type: 'json-schema', schema }, tools: [{ type: 'function', name: 'json' }] },
      { structuredOutputByTool: true },
    )
    expect(undo.jsonTool).toBe('json_2')
    expect(body.tool_choice).toEqual({ type: 'any', disable_parallel_tool_use: true })
  })

  test.each<[ToolChoice, JsonObject]>([
    [{ type: 'required' }, { type: 'any' }],
    [
      { type: 'tool', name: 'f', kind: 'function' },
      { type: 'tool', name: 'f' },
    ],
  ])('needs no tool where the answer has to be a call: %j', (toolChoice, choice) => {
    const { body, undo } = encode(
      { output: { type: 'json-schema', schema }, tools: [{ type: 'function', name: 'f' }], toolChoice },
      { structuredOutputByTool: true },
    )
    expect([body.tools, body.tool_choice, changes(undo)]).toMatchObject([[{ name: 'f' }], choice, {}])
    expect(body.tools).toHaveLength(1)
  })
})

describe('what this wire has no member for', () => {
  test.each<[string, Partial<ChatRequest>, Quirks, string[]]>([
    [
      'sampling it has no word for',
      { sampling: { seed: 1, frequencyPenalty: 1, presencePenalty: 1 } },
      {},
      ['frequency_penalty', 'presence_penalty', 'seed'],
    ],
    ['penalties of zero are none', { sampling: { frequencyPenalty: 0, presencePenalty: 0 } }, {}, []],
    ['a temperature beyond its range', { sampling: { temperature: 1.5 } }, {}, ['temperature']],
    ['two ways of sampling', { sampling: { temperature: 0.5, topP: 0.5 } }, {}, ['top_p']],
    [
      'any sampling, at newer models',
      { sampling: { temperature: 0.5, topK: 3 } },
      { noSampling: true },
      ['temperature', 'top_k'],
    ],
    ['default sampling, at newer models', { sampling: { temperature: 1, topP: 1 } }, { noSampling: true }, []],
    ['the least top_k, which is no default', { sampling: { topK: 1 } }, { noSampling: true }, ['top_k']],
    ['sampling with thought', { sampling: { temperature: 0.5 }, reasoning: { effort: 'low' } }, {}, ['temperature']],
    ['blank stops too long to be looked for', { stop: ['\n'.repeat(300), 'x'] }, {}, ['stop']],
    [
      'cache keys, metadata, tiers',
      { cacheKey: 'k', metadata: { a: 'b' }, serviceTier: 'flex' },
      {},
      ['metadata', 'service_tier', 'prompt_cache_key'],
    ],
    ['a tier called like a member every object has', { serviceTier: 'constructor' }, {}, ['service_tier']],
    ['verbosity', { origin: 'responses', verbosity: 'low' }, {}, ['text.verbosity']],
    ['opaque members', { opaque: [{ name: 'store', value: true, essential: false }] }, {}, ['store']],
    [
      'a detail of an image',
      {
        turns: [
          { role: 'user', parts: [{ type: 'image', source: { kind: 'url', url: 'https://a/b' }, detail: 'high' }] },
        ],
      },
      {},
      ['messages.0.content.0.detail'],
    ],
    [
      'the name of a speaker',
      { turns: [{ role: 'user', name: 'Bo', parts: [{ type: 'text', text: 'x' }] }] },
      {},
      ['messages.0.name'],
    ],
    ['members the provider refuses', { user: 'u' }, { rejects: ['metadata'] }, ['user']],
    [
      'stop sequences that it refuses, of which the gateway meets none',
      { stop: ['x'.repeat(300)] },
      { rejects: ['stop_sequences'] },
      ['stop'],
    ],
  ])('is listed: %s', (_, request, quirks, dropped) => {
    expect(encode(request, quirks).dropped.toSorted()).toEqual(dropped.toSorted())
  })

  test.each<[string, Partial<ChatRequest>, string]>([
    ['log probabilities', { logprobs: { top: 2 } }, 'logprobs'],
    ['essential members', { opaque: [{ name: 'n', value: 3, essential: true }] }, 'n'],
    [
      'files of another provider',
      {
        turns: [
          { role: 'user', parts: [{ type: 'document', source: { kind: 'file', id: 'f', origin: 'responses' } }] },
        ],
      },
      'messages.0.content.0',
    ],
    [
      'images of unknown kinds',
      {
        turns: [
          {
            role: 'user',
            parts: [{ type: 'image', source: { kind: 'base64', mediaType: 'image/tiff', data: 'AAAA' } }],
          },
        ],
      },
      'messages.0.content.0',
    ],
    [
      'images of a kind called like a member every object has',
      {
        turns: [
          {
            role: 'user',
            parts: [{ type: 'image', source: { kind: 'base64', mediaType: 'constructor', data: 'AAAA' } }],
          },
        ],
      },
      'messages.0.content.0',
    ],
  ])('is refused where the request depends on it: %s', (_, request, param) => {
    const error = refusal(() => encode(request))
    expect([error.code, error.param]).toEqual(['invalid_request', param])
  })

  test('a thread is refused with the code that its client recovers from', () => {
    const thread = (value: JsonObject) => messages.decodeRequest({ ...base, thread: value }).opaque[0]
    expect(thread({ type: 'create' })).toMatchObject({
      essential: true,
      details: { error_code: 'thread_unsupported_request' },
    })
    expect(thread({ type: 'continue', previous_message_id: 'x' })).toMatchObject({
      details: { error_code: 'thread_not_found' },
    })
  })
})

describe('a cache mark is added for clients of other wires', () => {
  const more: ChatRequest['turns'] = [
    { role: 'user', parts: [{ type: 'text', text: 'hello' }] },
    { role: 'assistant', parts: [{ type: 'text', text: 'hi' }] },
    { role: 'user', parts: [{ type: 'text', text: 'and now?' }] },
  ]
  const marked: ChatRequest['turns'] = [
    { role: 'system', parts: [{ type: 'text', text: 'be kind', cache: { ttl: '1h' } }] },
    ...more,
  ]
  test.each<[string, Partial<ChatRequest>, Quirks, JsonObject | undefined]>([
    ['a conversation that goes on', { turns: more }, {}, { type: 'ephemeral' }],
    ['a conversation named for the cache', { cacheKey: 'k' }, {}, { type: 'ephemeral' }],
    ['not a lone question', {}, {}, undefined],
    ['not where the client says itself what is cached', { turns: marked, cacheKey: 'k' }, {}, undefined],
    ['not for a client of this wire', { origin: 'messages', turns: more }, {}, undefined],
    ['not at a provider that refuses it', { turns: more }, { rejects: ['cache_control'] }, undefined],
  ])('%s', (_, request, quirks, expected) => {
    const { body, dropped } = encode(request, quirks)
    expect(body.cache_control).toEqual(expected as JsonObject)
    expect(dropped).not.toContain('cache_control')
  })
})

test('limits of −1, as some frameworks send for none, are left out', () => {
  const asked = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'Hi' }], top_p: -1, top_k: -1 }
  expect(messages.decodeRequest({ ...asked, temperature: 0.5 }).sampling).toEqual({ temperature: 0.5 })
})
