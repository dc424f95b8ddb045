// Requests of one wire translated for a provider of another, in cases the recordings do not cover. Each row is what a client
// sends, what the provider must get of it, and what is listed as dropped or refused, by the client's own path.

import { describe, expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { GatewayError } from '../../src/errors.ts'
import type { Json, JsonObject } from '../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import { withExact } from '../../src/lib/json-exact.ts'
import type { EncodedRequest } from '../../src/wire/codec.ts'
import { CHAT_CODECS } from '../../src/wire/index.ts'
import { JSON_ONLY } from '../../src/wire/json-mode.ts'
import { asWritten } from '../../src/wire/member-names.ts'
import { CONTINUE } from '../../src/wire/prefill.ts'
import { hasCorpus, SCHEMAS, schema, violations } from '../support/corpus.ts'
import { schemaWalk } from '../support/schema-walk.ts'

const HI: Record<ChatWire, JsonObject> = {
  'chat-completions': { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
  responses: { model: 'm', input: 'hi' },
  messages: { model: 'm', max_tokens: 900, messages: [{ role: 'user', content: 'hi' }] },
}

const cross = (from: ChatWire, to: ChatWire, asked: JsonObject): EncodedRequest => {
  const request = CHAT_CODECS[from].decodeRequest({ ...HI[from], ...asked })
  const sent = CHAT_CODECS[to].encodeRequest(request, { model: 'up', maxOutput: 64_000, quirks: {} })
  expect(violations(SCHEMAS[to].request, sent.body)).toEqual([])
  return sent
}

const chat = 'chat-completions'
const user = (...content: JsonObject[]): JsonObject => ({ messages: [{ role: 'user', content }] })
const said = (...input: JsonObject[]): JsonObject => ({ input: [...input, { role: 'user', content: 'go on' }] })
const chatTool = (name: string, parameters?: JsonObject): JsonObject => ({
  type: 'function',
  function: { name, parameters },
})
const plainTool = (name: string): JsonObject => ({ type: 'function', name, parameters: null, strict: null })
const closed = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'], additionalProperties: false }
const call = (name: string): JsonObject => ({ type: 'function', function: { name, arguments: '{}' } })
/** A closed object with that many properties. */
const many = (count: number, property: JsonObject, required: boolean): JsonObject => {
  const properties = Object.fromEntries(Array.from({ length: count }, (_, at) => [`p${at}`, property]))
  return { ...closed, properties, required: required ? Object.keys(properties) : [] }
}
const defined = (a: JsonObject): JsonObject => ({ ...closed, properties: { a }, $defs: { d: { type: 'string' } } })
const TODAYS = {
  type: 'object',
  properties: {
    list: { type: 'array', items: {} },
    either: { type: ['array', 'null'], default: null, items: {} },
    pair: { type: 'array', prefixItems: [{ type: 'string' }, {}], items: false },
    many: { type: 'array', items: { properties: { n: { exclusiveMinimum: 0 } } } },
    most: { anyOf: [{ maximum: 9 }, { type: 'string' }] },
    required: { type: 'string' },
  },
  required: ['list'],
}
const cited = {
  type: 'char_location',
  cited_text: 'c',
  document_index: 0,
  document_title: null,
  start_char_index: 0,
  end_char_index: 1,
}
const definition = { name: 'late', input_schema: closed }
const begun = {
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: '{' },
  ],
}
const webSearch = { type: 'web_search_20250305', name: 'web_search', max_uses: null }
const advisor = { type: 'advisor_20260301', name: 'advisor', model: 'large' }

describe('is translated', () => {
  test.each<[string, ChatWire, ChatWire, JsonObject, JsonObject, string[]]>([
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
      'a choice among some of the tools, by name',
      chat,
      'responses',
      {
        tools: [chatTool('a.b'), chatTool('c')],
        tool_choice: {
          type: 'allowed_tools',
          allowed_tools: { mode: 'required', tools: [{ type: 'function', function: { name: 'a.b' } }] },
        },
      },
      { tool_choice: { type: 'allowed_tools', mode: 'required', tools: [{ type: 'function', name: 'a_b' }] } },
      [],
    ],
    [
      'a choice among some of the tools, by leaving out the others',
      'responses',
      'messages',
      {
        tools: [plainTool('a'), plainTool('b')],
        tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'b' }] },
      },
      { tools: [{ name: 'b', input_schema: { type: 'object', properties: {} } }], tool_choice: { type: 'auto' } },
      [],
    ],
    ...([chat, 'messages'] as const).map((to): [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]] => [
      'a choice among the client’s own tools and optional built-in ones',
      'responses',
      to,
      {
        tools: [plainTool('a'), plainTool('b'), { type: 'web_search' }],
        tool_choice: {
          type: 'allowed_tools',
          mode: 'required',
          tools: [{ type: 'function', name: 'b' }, { type: 'web_search' }],
        },
      },
      to === chat
        ? { tool_choice: { allowed_tools: { mode: 'required', tools: [{ function: { name: 'b' } }] } } }
        : { tools: [{ name: 'b' }], tool_choice: { type: 'any' } },
      ['tool_choice', ...(to === chat ? ['tools.2'] : [])],
    ]),
    ...([chat, 'responses'] as const).map((to): [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]] => [
      'no server at all',
      'messages',
      to,
      { mcp_servers: [] },
      {},
      [],
    ]),
    [
      'a schema with references to its own definitions',
      chat,
      'messages',
      { tools: [chatTool('f', { $ref: '#/$defs/P', $defs: { P: closed } })] },
      { tools: [{ name: 'f', input_schema: closed }] },
      [],
    ],
    ...CHAT_WIRES.filter((to) => to !== 'responses').map(
      (to): [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]] => {
        const parameters = {
          type: 'object',
          properties: {
            pair: { type: 'array', items: [closed, { $ref: '#/properties/pair/items/0' }], additionalItems: false },
            tree: { type: 'array', items: { $ref: '#/properties/tree' } },
          },
          $defs: { properties_tree: {} },
        }
        const sent = {
          properties: {
            pair: { type: 'array', prefixItems: [closed, { $ref: '#/$defs/properties_pair_items_0' }], items: false },
            tree: { type: 'array', items: { $ref: '#/$defs/properties_tree_2' } },
          },
          $defs: {
            properties_tree: {},
            properties_pair_items_0: closed,
            properties_tree_2: { type: 'array', items: { $ref: '#/$defs/properties_tree_2' } },
          },
        }
        return [
          'a schema that refers to places within it, to definitions',
          'responses',
          to,
          { tools: [{ type: 'function', name: 'f', strict: false, parameters }] },
          { tools: [to === 'messages' ? { input_schema: sent } : { function: { parameters: sent } }] },
          [],
        ]
      },
    ),
    [
      'a schema that refers to one of its alternatives',
      'messages',
      'responses',
      {
        tools: [
          {
            name: 'f',
            input_schema: {
              anyOf: [{ properties: { a: closed, b: { $ref: '#/anyOf/0/properties/a' } } }, { properties: {} }],
            },
          },
        ],
      },
      {
        tools: [
          {
            parameters: {
              properties: { a: closed, b: { $ref: '#/$defs/anyOf_0_properties_a' } },
              $defs: { anyOf_0_properties_a: closed },
            },
          },
        ],
      },
      ['tools.0.input_schema.anyOf'],
    ],
    [
      'a schema of alternatives within alternatives, merged',
      chat,
      'messages',
      {
        tools: [
          chatTool('f', {
            allOf: [
              { anyOf: [closed, { $ref: '#/$defs/B' }] },
              { type: 'object', properties: { c: {} }, required: ['c'] },
            ],
            $defs: {
              B: { oneOf: [{ properties: { a: { type: 'string' }, b: {} }, required: ['a'] }, { $ref: '#/$defs/B' }] },
            },
          }),
        ],
      },
      {
        tools: [
          { input_schema: { type: 'object', properties: { a: { type: 'string' }, b: {}, c: {} }, required: ['c'] } },
        ],
      },
      ['tools.0.function.parameters.allOf'],
    ],
    [
      'a schema that refers to an argument under another name',
      chat,
      'messages',
      { tools: [chatTool('f', { type: 'object', properties: { $top: closed, b: { $ref: '#/properties/$top' } } })] },
      {
        tools: [
          {
            input_schema: {
              properties: { _top: closed, b: { $ref: '#/$defs/properties_top' } },
              $defs: { properties_top: closed },
            },
          },
        ],
      },
      [],
    ],
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
      'a strict tool whose argument holds more of itself, which the other vendor does not enforce',
      chat,
      'messages',
      {
        tools: [
          {
            type: 'function',
            function: {
              name: 'f',
              strict: true,
              parameters: {
                ...closed,
                properties: {
                  a: { ...closed, properties: { a: { type: 'array', items: { $ref: '#/properties/a' } } } },
                },
              },
            },
          },
        ],
      },
      { tools: [{ name: 'f' }] },
      ['tools.0.function.strict'],
    ],
    [
      'a schema of alternatives, merged',
      'messages',
      'responses',
      {
        tools: [
          {
            name: 'f',
            input_schema: {
              type: 'object',
              not: { required: ['c'] },
              oneOf: [closed, { type: 'object', properties: { b: {} }, required: ['b'] }],
            },
          },
        ],
      },
      { tools: [{ parameters: { type: 'object', properties: { a: { type: 'string' }, b: {} } }, strict: false }] },
      ['tools.0.input_schema.not', 'tools.0.input_schema.oneOf'],
    ],
    ...CHAT_WIRES.filter((to) => to !== 'responses').map(
      (to): [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]] => [
        'a schema of an older dialect, in draft 2020-12',
        'responses',
        to,
        {
          tools: [
            {
              type: 'function',
              name: 'f',
              strict: false,
              parameters: {
                type: 'object',
                description: null,
                properties: {
                  list: { type: 'array' },
                  either: { type: ['array', 'null'], default: null },
                  pair: { type: 'array', items: [{ type: 'string' }, { type: 'any' }], additionalItems: false },
                  many: { type: 'array', items: { properties: { n: { minimum: 0, exclusiveMinimum: true } } } },
                  most: {
                    anyOf: [
                      { maximum: 9, exclusiveMaximum: false },
                      { type: 'string', required: true },
                    ],
                  },
                  required: { type: 'string', examples: 'a' },
                },
                required: ['list', 'list'],
              },
            },
          ],
        },
        { tools: [to === 'messages' ? { input_schema: TODAYS } : { function: { parameters: TODAYS } }] },
        [],
      ],
    ),
    [
      'an image with a wrong media type',
      chat,
      'messages',
      user(
        ...['/9j/4AAQSkZJ', 'iVBORw0KGgoA', 'R0lGODlhAQAB', 'UklGRhoAAABXRUJQ', 'AAAA'].map((data) => ({
          type: 'image_url',
          image_url: { url: `data:image/png;base64,${data}` },
        })),
        { type: 'image_url', image_url: { url: 'data:application/octet-stream;base64,/9j/4AAQSkZJ' } },
      ),
      {
        messages: [
          {
            content: ['jpeg', 'png', 'gif', 'webp', 'png', 'jpeg'].map((kind) => ({
              type: 'image',
              source: { media_type: `image/${kind}` },
            })),
          },
        ],
      },
      [],
    ],
    ...['[]', ' null '].map((written): [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]] => [
      'a call without arguments, as some languages write it',
      chat,
      'responses',
      {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', tool_calls: [{ id: 'c', function: { name: 'f', arguments: written } }] },
          { role: 'tool', tool_call_id: 'c', content: 'done' },
        ],
      },
      { input: [{ role: 'user' }, { type: 'function_call', arguments: '{}' }, { output: 'done' }] },
      [],
    ]),
    ...CHAT_WIRES.filter((to) => to !== 'messages').map(
      (to): [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]] => [
        'a call without arguments, as some languages write it',
        'messages',
        to,
        {
          messages: [
            { role: 'user', content: 'hi' },
            { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'f', input: [] }] },
            { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: 'done' }] },
          ],
        },
        to === chat
          ? { messages: [{ role: 'user' }, { tool_calls: [{ function: { arguments: '{}' } }] }, { content: 'done' }] }
          : { input: [{ role: 'user' }, { type: 'function_call', arguments: '{}' }, { output: 'done' }] },
        [],
      ],
    ),
    ...CHAT_WIRES.filter((to) => to !== chat).map(
      (to): [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]] => [
        'a picture that the model has drawn, as a user’s',
        chat,
        to,
        {
          messages: [
            { role: 'user', content: 'Draw a cat.' },
            {
              role: 'assistant',
              content: [
                { type: 'text', text: 'Here it is.' },
                { type: 'image_url', image_url: { url: 'https://a.test/cat.png' } },
              ],
            },
            { role: 'user', content: 'Describe it.' },
          ],
        },
        to === 'responses'
          ? {
              input: [
                { role: 'user', content: 'Draw a cat.' },
                { role: 'assistant', content: 'Here it is.' },
                {
                  role: 'user',
                  content: [
                    { type: 'input_text', text: 'Pictures and files of the assistant’s last message:' },
                    { type: 'input_image', image_url: 'https://a.test/cat.png' },
                  ],
                },
                { role: 'user', content: 'Describe it.' },
              ],
            }
          : {
              messages: [
                { role: 'user' },
                { role: 'assistant', content: 'Here it is.' },
                {
                  role: 'user',
                  content: [
                    { type: 'text', text: 'Pictures and files of the assistant’s last message:' },
                    { type: 'image', source: { type: 'url', url: 'https://a.test/cat.png' } },
                    { type: 'text', text: 'Describe it.' },
                  ],
                },
              ],
            },
        [],
      ],
    ),
    [
      'a picture that the model has drawn, as a user’s',
      'responses',
      chat,
      said({
        type: 'message',
        role: 'assistant',
        content: [
          { type: 'input_image', image_url: 'https://a.test/cat.png', detail: 'auto' },
          { type: 'output_text', text: 'Here it is.' },
        ],
      }),
      {
        messages: [
          { role: 'assistant', content: 'Here it is.' },
          {
            role: 'user',
            content: [
              { type: 'text', text: 'Pictures and files of the assistant’s last message:' },
              { type: 'image_url', image_url: { url: 'https://a.test/cat.png' } },
            ],
          },
          { role: 'user', content: 'go on' },
        ],
      },
      [],
    ],
    [
      'a developer message, to servers without that role',
      'responses',
      chat,
      {
        input: [
          { role: 'developer', content: 'Be brief' },
          { role: 'user', content: 'hi' },
        ],
      },
      { messages: [{ role: 'system', content: 'Be brief' }, { content: 'hi' }] },
      [],
    ],
    [
      'several text parts as one string, for servers that read nothing else',
      'messages',
      chat,
      {
        system: [
          { type: 'text', text: 'Be brief' },
          { type: 'text', text: 'Be kind' },
        ],
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'a' },
              { type: 'text', text: 'b' },
            ],
          },
          {
            role: 'assistant',
            content: [
              { type: 'text', text: 'As the book ', citations: [cited] },
              { type: 'text', text: 'says.' },
              { type: 'tool_use', id: 'c1', name: 'f', input: {} },
              { type: 'text', text: 'I look.' },
              { type: 'tool_use', id: 'c2', name: 'f', input: {} },
            ],
          },
          {
            role: 'user',
            content: [
              {
                type: 'tool_result',
                tool_use_id: 'c1',
                content: [
                  { type: 'text', text: 'one' },
                  { type: 'text', text: 'two' },
                ],
              },
              { type: 'tool_result', tool_use_id: 'c2', content: 'boom', is_error: true },
            ],
          },
        ],
      },
      {
        messages: [
          { role: 'system', content: 'Be brief\n\nBe kind' },
          { role: 'user', content: 'a\n\nb' },
          { role: 'assistant', content: 'As the book says.\n\nI look.' },
          { role: 'tool', content: 'one\n\ntwo' },
          { role: 'tool', content: 'Error: boom' },
        ],
      },
      ['messages.1.content.0.citations'],
    ],
    ...CHAT_WIRES.filter((to) => to !== 'messages').map(
      (to): [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]] => [
        'a billing line for the client’s vendor only: it differs with every request, and prevents caching of all after it',
        'messages',
        to,
        {
          system: [
            { type: 'text', text: 'x-vendor-billing-header: version=1; hash=1a2b;' },
            { type: 'text', text: 'Be brief', cache_control: { type: 'ephemeral' } },
          ],
        },
        { [to === chat ? 'messages' : 'input']: [{ role: 'system', content: 'Be brief' }, { content: 'hi' }] },
        ['system.0', 'system.1.cache_control'],
      ],
    ),
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
      (said): [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]] => [
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
    ...(['messages', chat] as const).map((from): [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]] => [
      'the system message before the conversation, where it is cached and read first',
      from,
      'responses',
      from === 'messages'
        ? { system: 's' }
        : {
            messages: [
              { role: 'system', content: 's' },
              { role: 'user', content: 'hi' },
            ],
          },
      { input: [{ type: 'message', role: 'system', content: 's' }, { role: 'user' }] },
      [],
    ]),
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
    ...CHAT_WIRES.flatMap((to) =>
      [{ type: 'array' }, { type: 'array', items: [{ type: 'string' }], additionalItems: false }].map(
        (list): [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]] => {
          const parameters = { ...closed, properties: { a: list } }
          const from = to === 'messages' ? 'responses' : 'messages'
          const tool = from === 'messages' ? { input_schema: parameters } : { type: 'function', parameters }
          const sent = to === chat ? { function: { name: 'f' } } : { name: 'f' }
          const silent = to === 'messages' && !('items' in list)
          return [
            'a strict tool with an array that the other vendor cannot enforce',
            from,
            to,
            { tools: [{ ...tool, name: 'f', strict: true }] },
            { tools: [to === 'responses' ? { ...sent, strict: false } : sent] },
            silent ? [] : ['tools.0.strict'],
          ]
        },
      ),
    ),
    ...[
      { type: 'object', properties: { a: { type: 'string' } } },
      ...['oneOf', 'allOf'].map((ways) => ({ ...closed, properties: { a: { [ways]: [{ type: 'string' }] } } })),
    ].map((schema): [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]] => [
      'a strict tool that the other vendor would refuse as strict',
      'messages',
      chat,
      { tools: [{ name: 'f', input_schema: schema, strict: true }] },
      { tools: [{ function: { name: 'f' } }] },
      ['tools.0.strict'],
    ]),
    [
      'a strict tool without parameters',
      chat,
      'responses',
      { tools: [{ type: 'function', function: { name: 'f', strict: true } }] },
      { tools: [{ parameters: { type: 'object', properties: {}, additionalProperties: false }, strict: true }] },
      [],
    ],
    [
      'a tool that is added in the conversation',
      'messages',
      'responses',
      {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'system', content: [{ type: 'tool_addition', tool: { type: 'tool_definition', definition } }] },
        ],
      },
      { tools: [{ name: 'late', parameters: closed }] },
      [],
    ],
    [
      'tools found by the client’s tool search',
      'responses',
      'messages',
      {
        tools: [plainTool('a')],
        input: [
          { role: 'user', content: 'hi' },
          { type: 'additional_tools', role: 'developer', tools: [plainTool('late')] },
        ],
      },
      { tools: [{ name: 'a' }, { name: 'late' }] },
      [],
    ],
    [
      'instructions after tools that are added first',
      'responses',
      'messages',
      {
        input: [
          {
            type: 'additional_tools',
            role: 'developer',
            tools: [{ type: 'namespace', name: 'functions', description: '', tools: [plainTool('late')] }],
          },
          { role: 'developer', content: 'You are a coder.' },
          { role: 'user', content: 'hi' },
        ],
      },
      {
        system: 'You are a coder.',
        messages: [{ role: 'user', content: 'hi' }],
        tools: [{ name: 'functions__late' }],
      },
      [],
    ],
    [
      'a tool that is redefined in the conversation, with its last definition',
      'responses',
      'messages',
      {
        tools: [plainTool('a'), plainTool('b')],
        input: [
          {
            type: 'additional_tools',
            role: 'developer',
            tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'custom', name: 'run', description: 'old' }] }],
          },
          { role: 'user', content: 'hi' },
          { type: 'additional_tools', role: 'developer', tools: [{ ...plainTool('a'), description: 'new' }] },
          {
            type: 'additional_tools',
            role: 'developer',
            tools: [{ type: 'namespace', name: 'n', tools: [{ type: 'custom', name: 'run', description: 'new' }] }],
          },
        ],
      },
      {
        tools: [{ name: 'b' }, { name: 'a', description: 'new' }, { name: 'n__run', description: 'new' }],
      },
      [],
    ],
    ...(['messages', 'responses'] as const).flatMap((to) =>
      ['openrouter:web_search', 'web_search'].map(
        (type): [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]] => [
          'tools beside one that only a server runs, which agents can do without',
          chat,
          to,
          { tools: [{ type, web_search: { enable: true } }, chatTool('a')] },
          { tools: [{ name: 'a' }] },
          ['tools.0'],
        ],
      ),
    ),
    ...(['messages', chat] as const).map((to): [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]] => [
      'a namespace without tools, by leaving it out',
      'responses',
      to,
      {
        tools: [{ type: 'namespace', name: 'collaboration', tools: [] }],
        input: [
          {
            type: 'additional_tools',
            role: 'developer',
            tools: [
              { type: 'namespace', name: 'collaboration', description: 'Other agents.', tools: [] },
              { type: 'namespace', name: 'functions', description: '', tools: [plainTool('run')] },
            ],
          },
          { role: 'user', content: 'hi' },
        ],
      },
      { tools: [to === chat ? { function: { name: 'functions__run' } } : { name: 'functions__run' }] },
      ['input.0.tools.0', 'tools.0'],
    ]),
    ...(['messages', chat] as const).map((to): [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]] => [
      'the description of a namespace, once and after the instructions',
      'responses',
      to,
      {
        instructions: 'You are a coder.',
        tools: [
          {
            type: 'namespace',
            name: 'mail',
            description: 'Mail of the team.',
            tools: [plainTool('a'), plainTool('b')],
          },
          { type: 'namespace', name: 'bare', description: '', tools: [plainTool('c')] },
          { type: 'namespace', name: 'my.files', description: 'Files.', tools: [plainTool('d')] },
        ],
      },
      to === chat
        ? {
            messages: [
              {
                role: 'system',
                content:
                  'You are a coder.\n\nAbout the tools whose names begin with mail__: Mail of the team.\n\nAbout the tools whose names begin with my_files__: Files.',
              },
              { role: 'user', content: 'hi' },
            ],
          }
        : {
            system: [
              { type: 'text', text: 'You are a coder.' },
              { type: 'text', text: 'About the tools whose names begin with mail__: Mail of the team.' },
              { type: 'text', text: 'About the tools whose names begin with my_files__: Files.' },
            ],
          },
      [],
    ]),
    [
      'instructions in the middle, after the user’s message and before the answer to it',
      chat,
      'messages',
      {
        messages: [
          { role: 'user', content: 'a' },
          { role: 'system', content: 's' },
          { role: 'user', content: 'b' },
          { role: 'assistant', content: 'c' },
          { role: 'user', content: 'd' },
        ],
      },
      {
        messages: [
          { role: 'user', content: [{ text: 'a' }, { text: 'b' }] },
          { role: 'system', content: [{ text: 's' }] },
          { role: 'assistant', content: 'c' },
          { role: 'user', content: 'd' },
        ],
      },
      [],
    ],
    [
      'a search result, with its title and source at the top',
      'messages',
      chat,
      user({ type: 'search_result', title: 'T', source: 'https://s.test', content: [{ type: 'text', text: 'x' }] }),
      { messages: [{ role: 'user', content: 'T\n\nhttps://s.test\n\nx' }] },
      ['messages.0.content.0'],
    ],
    [
      'a valid name, though another one with the same replacement comes first',
      'responses',
      chat,
      { tools: [{ type: 'namespace', name: 'x', description: '', tools: [plainTool('b')] }, plainTool('x__b')] },
      { tools: [{}, { function: { name: 'x__b' } }] },
      [],
    ],
    [
      'the description of a namespace, in a conversation without instructions',
      'responses',
      chat,
      { tools: [{ type: 'namespace', name: 'n', description: 'Notes.', tools: [plainTool('a')] }] },
      {
        messages: [
          { role: 'system', content: 'About the tools whose names begin with n__: Notes.' },
          { role: 'user', content: 'hi' },
        ],
      },
      [],
    ],
    [
      'a built-in tool beside tools that are added in the conversation',
      'responses',
      chat,
      {
        tools: [{ type: 'web_search' }],
        input: [
          { type: 'additional_tools', role: 'developer', tools: [plainTool('late')] },
          { type: 'additional_tools', role: 'developer', tools: [{ type: 'tool_search' }] },
          { role: 'user', content: 'hi' },
        ],
      },
      { tools: [{ function: { name: 'late' } }] },
      ['input.1.tools.0', 'tools.0'],
    ],
    [
      'a built-in tool beside a tool that is added in the conversation',
      'messages',
      chat,
      {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'system', content: [{ type: 'tool_addition', tool: { type: 'tool_definition', definition } }] },
        ],
        tools: [{ type: 'web_search_20250305', name: 'web_search' }],
      },
      { tools: [{ function: { name: 'late' } }] },
      ['tools.0'],
    ],
    [
      'a summary of the conversation before it',
      'messages',
      'responses',
      {
        messages: [
          { role: 'assistant', content: [{ type: 'compaction', content: 'We built a boat.' }] },
          { role: 'user', content: 'go on' },
        ],
      },
      { input: [{ role: 'assistant', content: expect.stringContaining('We built a boat.') }, { content: 'go on' }] },
      [],
    ],
    ...([chat, 'responses'] as const).map((to): [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]] => [
      'instructions in a block of a message, beside what it adds and marks',
      'messages',
      to,
      {
        system: 's',
        messages: [
          {
            role: 'user',
            content: [
              { type: 'text', text: 'hi' },
              {
                type: 'mid_conv_system',
                content: [
                  { type: 'text', text: 'Be brief.' },
                  { type: 'tool_addition', tool: { type: 'tool_definition', definition } },
                ],
                cache_control: { type: 'ephemeral' },
              },
            ],
          },
          { role: 'assistant', content: 'hello' },
          { role: 'user', content: [{ type: 'mid_conv_system', content: [{ type: 'text', text: 'Be kind.' }] }] },
        ],
      },
      {
        tools: [to === chat ? { function: { name: 'late' } } : { name: 'late' }],
        [to === chat ? 'messages' : 'input']: [
          { role: 'system', content: 's' },
          { role: 'user', content: 'hi' },
          { role: 'system', content: 'Be brief.' },
          { role: 'assistant', content: 'hello' },
          { role: 'system', content: 'Be kind.' },
        ],
      },
      ['messages.0.content.1.cache_control'],
    ]),
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
      'the name of a file with its extension',
      chat,
      'responses',
      user({ type: 'file', file: { filename: 'b.csv', file_data: 'data:text/csv;base64,YSxi' } }),
      { input: [{ content: [{ type: 'input_file', filename: 'b.csv' }] }] },
      [],
    ],
    [
      'the context of a document',
      'messages',
      'responses',
      user({ type: 'document', source: { type: 'url', url: 'https://x.test/a.pdf' }, context: 'From 1999' }),
      { input: [{ content: [{ type: 'input_text', text: 'From 1999' }, { type: 'input_file' }] }] },
      [],
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
      'a message from another agent',
      'responses',
      'messages',
      said({
        type: 'agent_message',
        author: '/root/scout',
        recipient: '/root',
        content: [{ type: 'input_text', text: 'All is well.' }],
      }),
      {
        messages: [
          {
            role: 'user',
            content: [{ text: 'Message from /root/scout to /root:' }, { text: 'All is well.' }, { text: 'go on' }],
          },
        ],
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
    ).map(([to, sent]): [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]] => [
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
    ]),
    [
      'a message from another agent that is marked as encrypted and is not',
      'responses',
      'messages',
      said(
        {
          type: 'agent_message',
          author: '/root',
          recipient: '/root/scout',
          content: [{ type: 'encrypted_content', encrypted_content: 'Look around.' }],
        },
        { type: 'agent_message', author: '/root', recipient: '/root/scout', content: null },
      ),
      {
        messages: [
          {
            role: 'user',
            content: [
              ...[{ text: 'Message from /root to /root/scout:' }, { text: 'Look around.' }],
              ...[{ text: 'Message from /root to /root/scout:' }, { text: 'go on' }],
            ],
          },
        ],
      },
      [],
    ],
    [
      'the output of a tool that was not called',
      'responses',
      'messages',
      said(
        {
          type: 'function_call_output',
          call_id: null,
          name: 'progress',
          namespace: 'build',
          output: [{ type: 'input_text', text: 'Half done.' }],
        },
        { type: 'function_call_output', output: 'All done.' },
      ),
      {
        messages: [
          {
            role: 'user',
            content: [
              { text: 'Output of the tool build.progress:' },
              { text: 'Half done.' },
              { text: 'Output of a tool:' },
              { text: 'All done.' },
              { text: 'go on' },
            ],
          },
        ],
      },
      [],
    ],
    ...([chat, 'messages'] as const).map((to): [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]] => [
      'a tool that a search found, listed once and called by one name',
      'responses',
      to,
      {
        tools: [{ ...plainTool('late'), defer_loading: true }, plainTool('a')],
        ...said(
          { type: 'tool_search_call', call_id: null, execution: 'server', arguments: { paths: ['late'] } },
          { type: 'tool_search_output', call_id: null, execution: 'server', tools: [plainTool('late')] },
          { type: 'function_call', call_id: 'c', name: 'late', namespace: 'late', arguments: '{}' },
          { type: 'function_call_output', call_id: 'c', output: 'done' },
        ),
      },
      to === chat
        ? {
            messages: [{ tool_calls: [{ function: { name: 'late' } }] }, { role: 'tool' }, { role: 'user' }],
            tools: [{ function: { name: 'late' } }, { function: { name: 'a' } }],
          }
        : {
            messages: [{ role: 'user' }, { content: [{ type: 'tool_use', name: 'late' }] }, { role: 'user' }],
            tools: [{ name: 'late' }, { name: 'a' }],
          },
      ['input.0', 'tools.0.defer_loading'],
    ]),
    [
      'an image from a tool, without text',
      'responses',
      chat,
      said(
        { type: 'function_call', call_id: 'c', name: 'look', arguments: '{}' },
        {
          type: 'function_call_output',
          call_id: 'c',
          output: [
            { type: 'input_text', text: '' },
            { type: 'input_image', image_url: 'https://x.test/i.png' },
          ],
        },
      ),
      { messages: [{ role: 'assistant' }, { role: 'tool', content: expect.stringContaining('follows') }, {}, {}] },
      [],
    ],
    ['who it is that asks', chat, 'messages', { safety_identifier: 's' }, { metadata: { user_id: 's' } }, []],
    [
      'a prefilled answer',
      'messages',
      chat,
      begun,
      { messages: [{ role: 'user' }, { role: 'assistant', content: '{' }, { role: 'user', content: CONTINUE }] },
      ['messages.1'],
    ],
    [
      'a prefilled answer',
      'messages',
      'responses',
      begun,
      { input: [{ role: 'user' }, { role: 'assistant', content: '{' }, { role: 'user', content: CONTINUE }] },
      ['messages.1'],
    ],
    ...([chat, 'responses'] as const).map((from): [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]] => [
      'a conversation that ends with an assistant turn',
      from,
      'messages',
      { [from === chat ? 'messages' : 'input']: begun.messages },
      { messages: [{ role: 'user' }, { role: 'assistant', content: '{' }, { role: 'user', content: '(continue)' }] },
      [],
    ]),
    ...([chat, 'responses'] as const).flatMap((to) =>
      (
        [
          [{ type: 'bash_20250124', name: 'bash' }, ['command', 'restart'], []],
          [
            { type: 'text_editor_20250728', name: 'str_replace_based_edit_tool', max_characters: 9 },
            ['command', 'path', 'new_str', 'insert_text'],
            ['tools.0.max_characters'],
          ],
          [
            { type: 'text_editor_20250124', name: 'str_replace_editor', cache_control: { type: 'ephemeral' } },
            ['command', 'path', 'old_str'],
            ['tools.0.cache_control'],
          ],
          [{ type: 'memory_20250818', name: 'memory' }, ['command', 'old_path', 'new_path'], []],
        ] as const
      ).map(([tool, members, dropped]): [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]] => {
        const parameters = { properties: Object.fromEntries(members.map((name) => [name, {}])) }
        const sent = {
          type: 'function',
          ...(to === chat ? { function: { name: tool.name, parameters } } : { parameters }),
        }
        const choice = to === chat ? { function: { name: tool.name } } : { name: tool.name }
        return [
          `what the client carries out, as ${tool.type}`,
          'messages',
          to,
          { tools: [tool], tool_choice: { type: 'tool', name: tool.name } },
          { tools: [sent], tool_choice: choice },
          [...dropped],
        ]
      }),
    ),
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
      'a document sent as an image',
      chat,
      'messages',
      user({ type: 'image_url', image_url: { url: 'data:application/pdf;base64,JVBERi0=', detail: 'auto' } }),
      { messages: [{ content: [{ type: 'document', source: { media_type: 'application/pdf', data: 'JVBERi0=' } }] }] },
      [],
    ],
    [
      'a text shown as an image',
      chat,
      'messages',
      user({ type: 'image_url', image_url: { url: 'data:text/csv;base64,YSxi' } }),
      { messages: [{ content: [{ type: 'document', source: { type: 'text', data: 'a,b' } }] }] },
      [],
    ],
    ...([chat, 'messages'] as const).flatMap((to): [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]][] => {
      const shown = (url: string) => said({ role: 'user', content: [{ type: 'input_image', image_url: url }] })
      const pdf =
        to === chat
          ? { type: 'file', file: { file_data: 'data:application/pdf;base64,JVBERi0=' } }
          : { type: 'document', source: { media_type: 'application/pdf', data: 'JVBERi0=' } }
      const text = to === chat ? 'a,b' : [{ type: 'document', source: { type: 'text', data: 'a,b' } }, {}]
      const sent = (content: Json) => ({ messages: to === chat ? [{ content }, {}] : [{ content }] })
      return [
        [
          'a document sent as an image',
          'responses',
          to,
          shown('data:application/pdf;base64,JVBERi0='),
          sent(to === chat ? [pdf] : [pdf, {}]),
          [],
        ],
        ['a text shown as an image', 'responses', to, shown('data:text/csv;base64,YSxi'), sent(text), []],
      ]
    }),
    [
      'a document sent as an image',
      chat,
      'responses',
      user({ type: 'image_url', image_url: { url: 'data:application/pdf;base64,JVBERi0=' } }),
      { input: [{ content: [{ type: 'input_file', file_data: 'data:application/pdf;base64,JVBERi0=' }] }] },
      [],
    ],
    ...(['messages', 'responses'] as const).flatMap(
      (to): [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]][] => {
        const shown = (url: string, more: JsonObject = {}) => user({ type: 'document_url', document_url: url, ...more })
        const [file, link] =
          to === 'messages'
            ? [
                { type: 'document', source: { media_type: 'application/pdf', data: 'JVBERi0=' }, title: 'a.pdf' },
                { type: 'document', source: { type: 'url', url: 'https://x.test/a' } },
              ]
            : [
                { type: 'input_file', file_data: 'data:application/pdf;base64,JVBERi0=', filename: 'a.pdf' },
                { type: 'input_file', file_url: 'https://x.test/a' },
              ]
        const sent = (part: JsonObject) =>
          to === 'messages' ? { messages: [{ content: [part] }] } : { input: [{ content: [part] }] }
        const pdf = 'data:application/pdf;base64,JVBERi0='
        return [
          ['a document in the form of other servers', chat, to, shown(pdf, { document_name: 'a.pdf' }), sent(file), []],
          ['the address of one', chat, to, shown('https://x.test/a'), sent(link), []],
        ]
      },
    ),
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
    ).map(([asked, thinking, effort]): [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]] => [
      `a wish for thought in other words: ${JSON.stringify(asked)}`,
      chat,
      'messages',
      asked,
      { thinking, ...(effort === undefined ? {} : { output_config: { effort } }) },
      [],
    ]),
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
    ...(
      [
        ['more union types than the vendor accepts', many(17, { anyOf: [{ type: 'string' }, { type: 'null' }] }, true)],
        ['more types than the vendor takes', many(17, { type: ['string', 'null'] }, true)],
        ['properties that may be absent beyond what it takes', many(25, { type: 'string' }, false)],
        ['names by their pattern', { ...closed, patternProperties: { '^x': { type: 'string' } } }],
        ['an open object among types', { ...closed, properties: { a: { type: ['object', 'null'] } } }],
        ['a definition and more', defined({ allOf: [{ $ref: '#/$defs/d' }, { type: 'string' }] })],
        ['alternatives of two kinds', { ...closed, properties: { a: { anyOf: [{}], oneOf: [{}] } } }],
      ] satisfies [string, JsonObject][]
    ).map(([name, schema]): [string, ChatWire, ChatWire, JsonObject, JsonObject, string[]] => [
      `an answer with ${name}`,
      chat,
      'messages',
      { response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } } },
      { tools: [{ name: 'json', input_schema: schema }], tool_choice: { name: 'json' } },
      [],
    ]),
    [
      'strict tools up to the vendor’s limit of union types',
      chat,
      'messages',
      {
        tools: [10, 7, 6].map((count) => ({
          type: 'function',
          function: { name: `f${count}`, parameters: many(count, { type: ['string', 'null'] }, true), strict: true },
        })),
      },
      { tools: [{ name: 'f10', strict: true }, { name: 'f7' }, { name: 'f6', strict: true }] },
      ['tools.1.function.strict'],
    ],
    [
      'a reference to a definition with a description beside it',
      chat,
      'messages',
      {
        response_format: {
          type: 'json_schema',
          json_schema: { name: 'n', schema: defined({ allOf: [{ $ref: '#/$defs/d' }], description: 'of all' }) },
        },
      },
      { output_config: { format: { schema: { properties: { a: { $ref: '#/$defs/d', description: 'of all' } } } } } },
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
  ])('%s (%s → %s)', (_, from, to, asked, sent, dropped) => {
    const encoded = cross(from, to, asked)
    expect(encoded.body).toMatchObject(sent)
    expect(encoded.dropped.toSorted()).toEqual(dropped)
  })
})

describe('a schema is enforced at the other vendor only with the keywords that its strict schemas allow', () => {
  const held = (to: ChatWire, schema: JsonObject): unknown[] => {
    const asked = { tools: [{ name: 'f', input_schema: schema, strict: true }] }
    const { body, dropped } = cross('messages', to, asked)
    const [tool] = body.tools as [JsonObject]
    const { strict = false } = to === chat ? (tool.function as JsonObject) : tool
    return [strict, dropped.includes('tools.0.strict')]
  }
  const property = (a: Json): JsonObject => ({ ...closed, properties: { a } as JsonObject })

  test.each<[string, JsonObject]>([
    ['limits, formats and defaults', property({ type: 'string', format: 'uuid', maxLength: 9, default: 'x' })],
    ['nothing or a value of a list', property({ type: ['string', 'null'], enum: ['x', null] })],
    ['definitions', defined({ $ref: '#/$defs/d' })],
    [
      'another property’s schema',
      { ...closed, properties: { a: { type: 'string' }, b: { $ref: '#/properties/a' } }, required: ['a', 'b'] },
    ],
    ['itself', property({ anyOf: [{ $ref: '#' }, { type: 'null' }] })],
    [
      'properties with the names of keywords',
      property({ ...closed, properties: { not: { type: 'string' } }, required: ['not'] }),
    ],
  ])('%s', (_, schema) => {
    expect(held('responses', schema)).toEqual([true, false])
    expect(held(chat, schema)).toEqual([true, false])
  })

  test.each<[string, JsonObject]>([
    ['words beside a reference', defined({ $ref: '#/$defs/d', description: 'of all' })],
    ['a reference to nothing', property({ $ref: '#/properties/b' })],
    ['no type', property({ description: 'anything' })],
    ['anything', property(true)],
    ['a format it does not know', property({ type: 'string', format: 'uri' })],
    ['a condition', { ...closed, if: { required: ['a'] }, else: {} }],
    ['items that differ', property({ type: 'array', items: { type: 'string' }, uniqueItems: true })],
    ['an open object among types', property({ type: ['object', 'null'] })],
    ['a list of anything among types', property({ type: ['array', 'null'] })],
    ['an object of no properties that is open', { type: 'object' }],
  ])('not: %s', (_, schema) => {
    expect(held('responses', schema)).toEqual([false, true])
    expect(held(chat, schema)).toEqual([false, true])
  })
})

test.each<[string, JsonObject, string]>([
  ['max_completion_tokens', { max_tokens: 9 }, 'max_tokens'],
  ['max_completion_tokens', { max_tokens: 9, max_completion_tokens: 8 }, 'max_completion_tokens'],
  ['reasoning_effort', { reasoning: { effort: 'low' } }, 'reasoning'],
  ['reasoning_effort', { reasoning_effort: null, thinking: { type: 'enabled' } }, 'thinking'],
  ['reasoning.summary', { reasoning: { generate_summary: 'auto' } }, 'reasoning.generate_summary'],
  ['thinking', { output_config: { effort: 'low' } }, 'output_config.effort'],
  ['output_config.format', { output_format: {} }, 'output_format'],
  ['parallel_tool_calls', {}, 'parallel_tool_calls'],
])('a setting of several names is listed by the one that was written: %s in %j', (path, body, written) => {
  expect(asWritten(path, body)).toBe(written)
})

describe('is listed as dropped by the client’s own path', () => {
  const history = (message: JsonObject): JsonObject => ({
    messages: [
      { role: 'user', content: 'hi' },
      { role: 'assistant', ...message },
      { role: 'user', content: 'go on' },
    ],
  })
  test.each<[ChatWire, ChatWire, JsonObject, string[]]>([
    [
      chat,
      'responses',
      user({ type: 'text', text: 'a', cache_control: { type: 'ephemeral' } }),
      ['messages.0.content.0.cache_control'],
    ],
    [chat, 'messages', { reasoning_effort: 'low', thinking: { type: 'enabled' } }, ['thinking']],
    // The vendor refuses sampling for a model that thinks. Its defaults are left out without being listed.
    ['messages', 'responses', { thinking: { type: 'adaptive' }, top_p: 0.9 }, ['top_p']],
    [
      'messages',
      'responses',
      { thinking: { type: 'adaptive' }, output_config: { effort: 'low' }, top_p: 0.9 },
      ['top_p'],
    ],
    ['messages', 'responses', { thinking: { type: 'enabled', budget_tokens: 2_000 }, temperature: 1, top_p: 1 }, []],
    [chat, 'responses', { reasoning_effort: 'high', temperature: 0.2, top_p: 1 }, ['temperature']],
    [chat, 'responses', { reasoning_effort: 'none', temperature: 0.2 }, []],
    // Some frameworks send -1 for settings that are not set.
    ['messages', 'responses', { temperature: 0.5, top_p: -1, top_k: -1 }, []],
    [
      chat,
      'messages',
      { messages: [{ role: 'system', content: 's', name: 'n' }, ...(HI[chat].messages as [])] },
      ['messages.0.name'],
    ],
    [
      chat,
      'messages',
      history({ content: 'a', annotations: [{ type: 'url_citation' }], parsed: { a: 1 } }),
      ['messages.1.annotations', 'messages.1.parsed'],
    ],
    [
      chat,
      'responses',
      history({ content: 'a', reasoning_content: 'thought', annotations: [], refusal: null }),
      ['messages.1.reasoning_content'],
    ],
    [chat, 'messages', history({ content: 'a', reasoning: 'thought' }), ['messages.1.reasoning']],
    [chat, 'responses', { max_completion_tokens: 5 }, ['max_completion_tokens']],
    [
      chat,
      'responses',
      user({ type: 'image_url', image_url: { url: 'https://x.test/i.png', detail: 'vast' } }),
      ['messages.0.content.0.image_url.detail'],
    ],
    ['messages', 'responses', user({ type: 'document', source: { type: 'url', url: 'https://x.test/a' } }), []],
    [chat, 'responses', { messages: [{ role: 'user', name: 'ann', content: 'hi' }] }, ['messages.0.name']],
    ...CHAT_WIRES.flatMap((from) =>
      CHAT_WIRES.filter((to) => to !== from).map((to): [ChatWire, ChatWire, JsonObject, string[]] => [
        from,
        to,
        { x_new: null },
        [],
      ]),
    ),
    [chat, 'messages', { tools: [{ ...chatTool('f'), defer: true }] }, ['tools.0.defer']],
    [
      chat,
      'messages',
      { tools: [chatTool('f', { type: 'object', anyOf: [closed, closed] })] },
      ['tools.0.function.parameters.anyOf'],
    ],
    [
      'messages',
      chat,
      { thinking: { type: 'adaptive', display: 'updates', block_binding: { a: 1 } } },
      ['thinking.block_binding', 'thinking.display'],
    ],
    ...([chat, 'responses'] as const).flatMap((to): [ChatWire, ChatWire, JsonObject, string[]][] => [
      ['messages', to, { thinking: { block_binding: { a: 1 } } }, ['thinking.block_binding']],
      ['messages', to, { tools: [webSearch, { name: 'a', input_schema: closed }] }, ['tools.0']],
      ['messages', to, { tools: [{ type: 'bash_20250124', name: 'bash' }, webSearch] }, ['tools.1']],
      ['messages', to, { tools: [{ type: 'bash_20250124', name: 'bash' }, advisor] }, ['tools.1']],
    ]),
    [
      'messages',
      chat,
      history({ content: [{ type: 'text', text: 'a', citations: [{ type: 'char_location', cited_text: 'c' }] }] }),
      ['messages.1.content.0.citations'],
    ],
    [
      'responses',
      chat,
      said({
        type: 'message',
        role: 'assistant',
        phase: 'commentary',
        content: [{ type: 'output_text', text: 'a', annotations: [{ type: 'file_citation', file_id: 'f' }] }],
      }),
      ['input.0.content.0.annotations', 'input.0.phase'],
    ],
    [
      'responses',
      'messages',
      {
        instructions: 'i',
        ...said({
          role: 'user',
          content: [
            { type: 'input_text', text: 'a' },
            { type: 'input_image', image_url: 'https://x.test/i.png', detail: 'low' },
          ],
        }),
      },
      ['input.0.content.1.detail'],
    ],
    ['responses', chat, said({ type: 'web_search_call', id: 'ws_1', status: 'completed' }), ['input.0']],
    [chat, 'messages', { user: 'u', safety_identifier: 's' }, ['safety_identifier']],
    [chat, 'messages', { user: '24h', prompt_cache_retention: '24h' }, ['prompt_cache_retention']],
    [
      'messages',
      'responses',
      user({ type: 'document', source: { type: 'url', url: 'https://x.test/a' }, title: 'A' }),
      ['messages.0.content.0.title'],
    ],
    [
      chat,
      'responses',
      user({ type: 'file', file: { file_data: 'https://x.test/a', filename: 'a.pdf' } }),
      ['messages.0.content.0.file.filename'],
    ],
    [
      chat,
      'messages',
      user({ type: 'image_url', image_url: { url: 'https://x.test/i.png', detail: 'low' } }),
      ['messages.0.content.0.image_url.detail'],
    ],
    ...(['prompt_cache_breakpoint', 'cache_control'] as const).map(
      (mark): [ChatWire, ChatWire, JsonObject, string[]] => [
        chat,
        'responses',
        history({ content: [{ type: 'text', text: 'a', [mark]: {} }] }),
        [`messages.1.content.0.${mark}`],
      ],
    ),
    ...([chat, 'messages'] as const).map((to): [ChatWire, ChatWire, JsonObject, string[]] => [
      'responses',
      to,
      said(
        ...['function', 'custom_tool'].flatMap((kind, at) => [
          {
            type: `${kind}_call`,
            call_id: `c${at}`,
            name: 'f',
            input: '',
            caller: { type: 'program', caller_id: 'p' },
          },
          { type: `${kind}_call_output`, call_id: `c${at}`, output: 'done' },
        ]),
      ),
      ['input.0', 'input.1', 'input.2', 'input.3'],
    ]),
    ...([chat, 'messages'] as const).map((to): [ChatWire, ChatWire, JsonObject, string[]] => [
      'responses',
      to,
      said(
        { type: 'reasoning', summary: [] },
        { type: 'message', role: 'assistant', phase: 'commentary', content: 'a' },
        { type: 'message', role: 'assistant', phase: 'final_answer', content: 'b' },
      ),
      ['input.1.phase', 'input.2.phase'],
    ]),
  ])('%s → %s: %j', (from, to, asked, dropped) => {
    expect(cross(from, to, asked).dropped.toSorted()).toEqual(dropped)
  })
})

describe('is refused by the client’s own path', () => {
  test.each<[ChatWire, ChatWire, JsonObject, string]>([
    [chat, 'messages', { logprobs: true }, 'logprobs'],
    ['responses', 'messages', { include: ['message.output_text.logprobs'] }, 'include'],
    [
      chat,
      'messages',
      user({ type: 'text', text: 'a' }, { type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }),
      'messages.0.content.1',
    ],
    [chat, 'responses', user({ type: 'video_url', video_url: { url: 'https://x.test/v' } }), 'messages.0.content.0'],
    ['messages', 'responses', user({ type: 'container_upload', file_id: 'f' }), 'messages.0.content.0'],
    ['messages', chat, user({ type: 'compaction', encrypted_content: 'sealed' }), 'messages.0.content.0'],
    ['messages', chat, { compaction: { type: 'summarize' } }, 'compaction'],
    ['messages', chat, { tools: [webSearch] }, 'tools.0'],
    ['messages', chat, { tools: [{ type: 'computer_20250124', name: 'computer', display_width_px: 8 }] }, 'tools.0'],
    [
      'messages',
      chat,
      { tools: [{ name: 'a', input_schema: closed }, webSearch], tool_choice: { type: 'tool', name: 'web_search' } },
      'tools.1',
    ],
    ['messages', 'responses', { compaction: { type: 'summarize' } }, 'compaction'],
    [
      'responses',
      chat,
      said({ role: 'user', content: [{ type: 'input_file', file_url: 'https://x.test/a.pdf' }] }),
      'input.0.content.0',
    ],
    [
      'responses',
      chat,
      { instructions: 'i', ...said({ role: 'user', content: [{ type: 'input_image', file_id: 'f' }] }) },
      'input.0.content.0',
    ],
    [chat, 'messages', { tool_choice: 'required' }, 'tool_choice'],
    ...(['messages', 'responses', chat] as const).flatMap((to): [ChatWire, ChatWire, JsonObject, string][] => [
      [chat, to, { functions: [{ name: 'f' }], function_call: { name: 'g' } }, 'function_call'],
      [chat, to, { tools: [chatTool('f')], tool_choice: { type: 'function', function: { name: 'g' } } }, 'tool_choice'],
    ]),
    ['responses', 'messages', { moderation: { model: 'x' } }, 'moderation'],
    [
      'messages',
      'responses',
      user({
        type: 'document',
        source: { type: 'content', content: [{ type: 'image', source: { type: 'url', url: 'https://x.test/i.png' } }] },
      }),
      'messages.0.content.0.source',
    ],
    [
      'responses',
      chat,
      said({ type: 'agent_message', author: 'a', recipient: 'b', content: [{ type: 'encrypted_content', data: 'x' }] }),
      'input.0.content.0',
    ],
    [
      'responses',
      chat,
      said({
        type: 'agent_message',
        author: 'a',
        recipient: 'b',
        content: [{ type: 'encrypted_content', encrypted_content: `gAAAAAB${'k-_'.repeat(40)}==` }],
      }),
      'input.0.content.0',
    ],
  ])('%s → %s: %j', (from, to, asked, param) => {
    try {
      cross(from, to, asked)
    } catch (error) {
      expect(error).toBeInstanceOf(GatewayError)
      expect(error).toMatchObject({ code: 'invalid_request', param })
      return
    }
    throw new Error('nothing was refused')
  })
})

describe('integers larger than a number', () => {
  const input = '{"id":12345678901234567890,"deep":[{"n":-9007199254740993}]}'
  const texts: Record<ChatWire, string> = {
    messages: `{"model":"m","max_tokens":9,"messages":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":${input}}]}],"tools":[{"name":"f","input_schema":{"type":"object","default":${input}}}]}`,
    'chat-completions': `{"model":"m","messages":[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"t","type":"function","function":{"name":"f","arguments":${JSON.stringify(input)}}}]}],"tools":[{"type":"function","function":{"name":"f","parameters":{"type":"object","default":${input}}}}]}`,
    responses: `{"model":"m","input":[{"role":"user","content":"q"},{"type":"function_call","call_id":"t","name":"f","arguments":${JSON.stringify(input)}}],"tools":[{"type":"function","name":"f","parameters":{"type":"object","default":${input}}}]}`,
  }
  const crossings = (Object.keys(texts) as ChatWire[]).flatMap((from) =>
    (Object.keys(texts) as ChatWire[]).filter((to) => to !== from).map((to): [ChatWire, ChatWire] => [from, to]),
  )
  test.each(crossings)('stay as they were written: %s → %s', (from, to) => {
    const body = JSON.stringify(cross(from, to, withExact(texts[from], JSON.parse(texts[from]))).body)
    for (const digits of ['12345678901234567890', '-9007199254740993']) expect(body.split(digits)).toHaveLength(3)
  })
})

// The same holds for a body that passes.
describe('a member may be null, and is refused with a wrong type', () => {
  const WRONG = {
    text: [5],
    flag: ['x'],
    number: ['x'],
    count: [0, 1.5, 'x'],
    list: ['x', {}],
    object: ['x', []],
    choice: [5],
  }
  const KINDS: Record<ChatWire, Partial<Record<keyof typeof WRONG, string>>> = {
    'chat-completions': {
      text: 'reasoning_effort verbosity user prompt_cache_key service_tier',
      flag: 'stream parallel_tool_calls logprobs',
      number: 'temperature top_p top_k frequency_penalty presence_penalty seed top_logprobs',
      count: 'max_tokens max_completion_tokens n',
      list: 'tools functions',
      object: 'stream_options response_format metadata',
      choice: 'stop tool_choice function_call',
    },
    responses: {
      text: 'instructions previous_response_id user prompt_cache_key service_tier',
      flag: 'stream parallel_tool_calls store background',
      number: 'temperature top_p top_logprobs',
      count: 'max_output_tokens',
      list: 'tools include',
      object: 'text reasoning metadata',
      choice: 'tool_choice',
    },
    messages: {
      text: 'service_tier',
      flag: 'stream',
      number: 'temperature top_p top_k',
      list: 'stop_sequences tools',
      object: 'tool_choice thinking output_config metadata',
      choice: 'system',
    },
  }
  test.each(CHAT_WIRES)('%s', (wire) => {
    const taken = (name: string, value: unknown): boolean =>
      Value.Check(CHAT_CODECS[wire].requestSchema, { ...HI[wire], [name]: value })
    for (const [kind, names] of Object.entries(KINDS[wire]))
      for (const name of names.split(' ')) {
        const wrong = WRONG[kind as keyof typeof WRONG].filter((value) => taken(name, value))
        expect([name, taken(name, null), wrong]).toEqual([name, true, []])
      }
  })
})

// Whatever the published types allow is either translated to a request that the other vendor accepts, or refused.
describe.skipIf(!hasCorpus)('every branch of the published types', () => {
  test.each(
    CHAT_WIRES.flatMap((from) => CHAT_WIRES.filter((to) => to !== from).map((to): [ChatWire, ChatWire] => [from, to])),
  )(
    '%s → %s',
    (from, to) => {
      const walk = schemaWalk(schema(SCHEMAS[from].request))
      const wrong: unknown[] = []
      let carried = 0
      for (const [member, type] of walk.members()) {
        if (member === 'model' || member === 'stream') continue
        for (const value of walk.variants(type, member)) {
          try {
            const request = CHAT_CODECS[from].decodeRequest({ ...HI[from], [member]: value })
            const { body } = CHAT_CODECS[to].encodeRequest(request, { model: 'up', maxOutput: 64_000, quirks: {} })
            if (violations(SCHEMAS[to].request, body).length > 0) wrong.push({ member, value, body })
            carried++
          } catch (error) {
            if (!(error instanceof GatewayError) || error.code !== 'invalid_request' || error.param === undefined)
              wrong.push({ member, value, error })
          }
        }
      }
      expect(wrong.slice(0, 3)).toEqual([])
      expect(carried).toBeGreaterThan(100)
    },
    60_000,
  )
})
