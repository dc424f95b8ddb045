// Settings of requests of one wire for a provider of another: thinking, sampling, the answer's form, caches, and what only
// some servers know.

import { describe, expect, test } from 'bun:test'
import { isObject, type JsonObject } from '../../../src/ir/json.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'
import { JSON_ONLY } from '../../../src/wire/settings/json-mode.ts'
import { type Crossing, chat, chatTool, closed, HI, said, translates } from './support.ts'

const call = (name: string): JsonObject => ({ type: 'function', function: { name, arguments: '{}' } })

describe('settings are translated', () => {
  translates([
    [
      'members that both wires of one vendor have',
      chat,
      'responses',
      {
        store: true,
        safety_identifier: 's',
        moderation: { model: 'x' },
        prompt_cache_retention: '24h',
        prompt_cache_options: { mode: 'explicit', ttl: '30m' },
        stream: true,
        stream_options: { include_usage: true, include_obfuscation: false },
      },
      {
        store: true,
        safety_identifier: 's',
        moderation: { model: 'x' },
        prompt_cache_retention: '24h',
        prompt_cache_options: { mode: 'explicit', ttl: '30m' },
        stream_options: { include_obfuscation: false },
      },
      [],
    ],
    [
      'the members of the newer wire that the older one has',
      'responses',
      chat,
      { prompt_cache_options: { mode: 'implicit', prewarm: true }, moderation: { model: 'x' } },
      { prompt_cache_options: { mode: 'implicit' }, moderation: { model: 'x' } },
      ['prompt_cache_options'],
    ],
    [
      'what every provider does anyway',
      'responses',
      'messages',
      { store: false, include: ['reasoning.encrypted_content'] },
      {},
      [],
    ],
    ['what every provider does anyway', chat, 'messages', { store: false, modalities: ['text'] }, {}, []],
    [
      'an answer’s schema that is described twice',
      chat,
      'messages',
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'n', description: 'What it is for.', schema: { ...closed, description: 'What it is.' } },
        },
      },
      { output_config: { format: { schema: { description: 'What it is for.\n\nWhat it is.' } } } },
      [],
    ],
    [
      'an answer’s schema that refers to alternatives within it',
      chat,
      'messages',
      {
        response_format: {
          type: 'json_schema',
          json_schema: {
            name: 'n',
            schema: {
              ...closed,
              properties: { a: { oneOf: [closed, { type: 'null' }] }, b: { $ref: '#/properties/a/oneOf/0' } },
            },
          },
        },
      },
      {
        output_config: {
          format: {
            schema: {
              properties: { a: { anyOf: [closed, { type: 'null' }] }, b: { $ref: '#/$defs/properties_a_oneOf_0' } },
              $defs: { properties_a_oneOf_0: closed },
            },
          },
        },
      },
      [],
    ],
    [
      'an answer’s schema with references to its own definitions',
      chat,
      'messages',
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'n', description: 'd', schema: { $ref: '#/$defs/P', $defs: { P: closed } } },
        },
      },
      { output_config: { format: { type: 'json_schema', schema: { ...closed, description: 'd' } } } },
      [],
    ],
    [
      'json_object with a schema beside it, as some servers accept it',
      chat,
      'messages',
      { response_format: { type: 'json_object', schema: closed } },
      { output_config: { format: { type: 'json_schema', schema: closed } } },
      [],
    ],
    ...[{ json_schema: { schema: closed } }, { schema: closed }].map(
      (said): Crossing => [
        'a schema without a name, as some servers accept it, with the name that a schema needs',
        chat,
        'responses',
        { response_format: { type: 'json_schema', ...said } },
        { text: { format: { type: 'json_schema', name: 'response', schema: closed } } },
        [],
      ],
    ),
    [
      'json_object with a schema beside it, with the name that a schema needs',
      chat,
      'responses',
      { response_format: { type: 'json_object', schema: closed } },
      { text: { format: { type: 'json_schema', name: 'response', schema: closed } } },
      [],
    ],
    [
      'an answer’s schema that stays enforced',
      'messages',
      chat,
      { output_config: { format: { type: 'json_schema', schema: closed } } },
      { response_format: { json_schema: { schema: closed, strict: true } } },
      [],
    ],
    [
      'JSON without a schema, as an instruction',
      'responses',
      'messages',
      { instructions: 'Be brief', text: { format: { type: 'json_object' } } },
      {
        system: [
          { type: 'text', text: 'Be brief' },
          { type: 'text', text: JSON_ONLY },
        ],
      },
      ['text.format'],
    ],
    [
      'settings in the middle of a conversation',
      'messages',
      chat,
      {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'system', clear_at: 'never', output_config: { effort: 'low' } },
        ],
      },
      { messages: [{ role: 'user', content: 'hi' }] },
      ['messages.1.clear_at'],
    ],
    [
      'a cache marker on a message and on a tool',
      chat,
      'messages',
      {
        messages: [{ role: 'user', content: 'hi', cache_control: { type: 'ephemeral' } }],
        tools: [{ ...chatTool('f'), cache_control: { type: 'ephemeral', ttl: '1h' } }],
      },
      {
        messages: [{ content: [{ text: 'hi', cache_control: { type: 'ephemeral' } }] }],
        tools: [{ cache_control: { type: 'ephemeral', ttl: '1h' } }],
      },
      [],
    ],
    [
      'an effort that a message within the conversation sets',
      'messages',
      'responses',
      {
        max_tokens: 99,
        output_config: { effort: 'high' },
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'system', content: [], output_config: { effort: 'medium' } },
          { role: 'assistant', content: 'hello' },
          { role: 'user', content: 'go on' },
          { role: 'system', content: 'Now.', output_config: { effort: 'low' } },
          { role: 'system', content: [], output_config: { task_budget: 5 } },
        ],
      },
      {
        reasoning: { effort: 'low' },
        input: [{ content: 'hi' }, { content: 'hello' }, { content: 'go on' }, { role: 'system', content: 'Now.' }],
      },
      ['messages.5.output_config'],
    ],
    ...(
      [
        ['messages', { thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }],
        [chat, { reasoning_effort: 'low' }],
      ] as const
    ).map(
      ([to, sent]): Crossing => [
        'an effort that an item within the conversation sets',
        'responses',
        to,
        {
          reasoning: { effort: 'high' },
          input: [
            { role: 'user', content: 'hi' },
            { type: 'configuration_update', reasoning: { effort: 'medium' } },
            { role: 'assistant', content: 'hello' },
            { type: 'configuration_update', reasoning: { effort: 'low' } },
            { role: 'user', content: 'go on' },
            { type: 'configuration_update', reasoning: { effort: null } },
          ],
        },
        sent,
        ['input.5'],
      ],
    ),
    ['who it is that asks', chat, 'messages', { safety_identifier: 's' }, { metadata: { user_id: 's' } }, []],
    [
      'thinking turned off, whatever the effort',
      'messages',
      chat,
      { thinking: { type: 'disabled' }, output_config: { effort: 'high' } },
      { reasoning_effort: 'none' },
      ['output_config.effort'],
    ],
    [
      'thinking turned off, whatever the effort',
      'messages',
      'responses',
      { thinking: { type: 'disabled' }, output_config: { effort: 'high' } },
      { reasoning: { effort: 'none' } },
      ['output_config.effort'],
    ],
    [
      'a session id within the user id, as the cache key',
      'messages',
      'responses',
      { metadata: { user_id: JSON.stringify({ device_id: 'd'.repeat(64), session_id: 'c-1' }) } },
      { prompt_cache_key: expect.stringMatching(/^s_\w+$/) },
      [],
    ],
    ...(
      [
        [{ reasoning: { effort: 'high', exclude: true } }, { type: 'adaptive', display: 'omitted' }, 'high'],
        [{ reasoning: { max_tokens: 2_000, summary: 'auto' } }, { type: 'adaptive', display: 'summarized' }, 'low'],
        [{ reasoning: { enabled: false } }, { type: 'disabled' }, undefined],
        [{ thinking: { type: 'enabled', budget_tokens: 30_000 } }, { type: 'adaptive' }, 'high'],
        [{ thinking: { type: 'adaptive' }, reasoning: null }, { type: 'adaptive' }, undefined],
        [{ thinking: { type: 'disabled' } }, { type: 'disabled' }, undefined],
      ] satisfies [JsonObject, JsonObject, string | undefined][]
    ).map(
      ([asked, thinking, effort]): Crossing => [
        `a wish for thought in other words: ${JSON.stringify(asked)}`,
        chat,
        'messages',
        asked,
        { thinking, ...(effort === undefined ? {} : { output_config: { effort } }) },
        [],
      ],
    ),
    [
      'a long cache marker after short ones, all as long: the vendor accepts no other order',
      'responses',
      'messages',
      {
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'a', prompt_cache_breakpoint: { mode: 'explicit' } },
              { type: 'input_text', text: 'b', prompt_cache_breakpoint: { mode: 'explicit', ttl: '12h' } },
              { type: 'input_text', text: 'c', prompt_cache_breakpoint: { mode: 'explicit' } },
            ],
          },
        ],
      },
      {
        messages: [
          {
            content: [
              { text: 'a', cache_control: { ttl: '1h' } },
              { text: 'b', cache_control: { ttl: '1h' } },
              { text: 'c', cache_control: { type: 'ephemeral' } },
            ],
          },
        ],
      },
      [],
    ],
    [
      'a system message that asks for JSON, where the vendor looks for the word',
      chat,
      'responses',
      {
        messages: [
          { role: 'system', content: 'Answer in JSON.' },
          { role: 'user', content: 'hi' },
        ],
        response_format: { type: 'json_object' },
      },
      { input: [{ role: 'system', content: 'Answer in JSON.' }, { content: 'hi' }] },
      [],
    ],
    [
      'cache markers within a function and on a call',
      chat,
      'messages',
      {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', tool_calls: [{ id: 'c', ...call('f'), cache_control: { type: 'ephemeral' } }] },
          { role: 'tool', tool_call_id: 'c', content: 'done' },
        ],
        tools: [{ type: 'function', function: { name: 'f', cache_control: { type: 'ephemeral', ttl: '1h' } } }],
      },
      {
        tools: [{ name: 'f', cache_control: { type: 'ephemeral', ttl: '1h' } }],
        messages: [{}, { content: [{ type: 'tool_use', cache_control: { type: 'ephemeral' } }] }, {}],
      },
      [],
    ],
    [
      'a cache marker in the style of the provider’s wire',
      'responses',
      'messages',
      said({
        role: 'user',
        content: [{ type: 'input_text', text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } }],
      }),
      { messages: [{ content: [{ text: 'a', cache_control: { type: 'ephemeral', ttl: '1h' } }, { text: 'go on' }] }] },
      [],
    ],
    [
      'sampling, where the model is not asked to think',
      'messages',
      'responses',
      { thinking: { type: 'disabled' }, temperature: 0.2, top_p: 1 },
      { reasoning: { effort: 'none' }, temperature: 0.2, top_p: 1 },
      [],
    ],
    [
      'an answer’s schema whose root is a reference',
      'messages',
      'responses',
      { output_config: { format: { type: 'json_schema', schema: { $ref: '#/$defs/d', $defs: { d: closed } } } } },
      { text: { format: { strict: true, schema: closed } } },
      [],
    ],
    [
      'an answer’s schema of alternatives',
      'messages',
      chat,
      { output_config: { format: { type: 'json_schema', schema: { anyOf: [closed, closed] } } } },
      { response_format: { json_schema: { schema: { type: 'object', properties: closed.properties } } } },
      ['output_config.format.schema.anyOf'],
    ],
  ])
})

// Such a model answers without a thought where it is asked for no effort.
test.each([chat, 'responses'] as const)(
  'thinking left to a model of %s that thinks only when asked is asked for',
  (to) => {
    const effortFor = (body: JsonObject, thinksUnasked?: boolean) => {
      const request = CHAT_CODECS.messages.decodeRequest({ ...HI.messages, model: 'm', ...body })
      const quirks = thinksUnasked === undefined ? {} : { thinksUnasked }
      const sent = CHAT_CODECS[to].encodeRequest(request, { model: 'up', maxOutput: 99, quirks })
      const { reasoning_effort: flat, reasoning } = sent.body
      return flat ?? (isObject(reasoning) ? reasoning.effort : undefined)
    }
    expect(effortFor({ thinking: { type: 'adaptive' } }, false)).toBe('medium')
    expect(effortFor({ thinking: { type: 'adaptive' }, output_config: { effort: 'low' } }, false)).toBe('low')
    expect(effortFor({ thinking: { type: 'disabled' } }, false)).toBe('none')
    for (const body of [{}, { thinking: { type: 'adaptive' } }]) expect(effortFor(body)).toBeUndefined()
    expect(effortFor({}, false)).toBeUndefined()
  },
)
