// Tools in requests of one wire for a provider of another: their schemas, choices among them, calls, names, and those that
// are added or found within the conversation.

import { describe, expect, test } from 'bun:test'
import type { Json, JsonObject } from '../../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../../src/ir/wire.ts'
import { type Crossing, chat, chatTool, closed, cross, definition, plainTool, said, translates } from './support.ts'

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

describe('tools are translated', () => {
  translates([
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
    ...([chat, 'responses'] as const).map(
      (to): Crossing => [
        'a tool with a schema, whose type is none that is known',
        'messages',
        to,
        { tools: [{ type: 'tool', name: 'a', input_schema: closed }], tool_choice: { type: 'tool', name: 'a' } },
        to === chat
          ? { tools: [chatTool('a', closed)], tool_choice: { type: 'function', function: { name: 'a' } } }
          : {
              tools: [{ type: 'function', name: 'a', parameters: closed }],
              tool_choice: { type: 'function', name: 'a' },
            },
        [],
      ],
    ),
    ...([chat, 'messages'] as const).map(
      (to): Crossing => [
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
      ],
    ),
    ...([chat, 'messages'] as const).flatMap((to): Crossing[] => {
      const space = (name: string): JsonObject => ({
        type: 'namespace',
        name,
        description: '',
        tools: [plainTool('run')],
      })
      const chosen = { type: 'function', name: 'run', namespace: 'far' }
      const asked = { tools: [space('near'), space('far')] }
      const sent = (choice: JsonObject): JsonObject => ({ tools: [{}, {}], tool_choice: choice })
      const among = { type: 'allowed_tools', mode: 'required', tools: [chosen] }
      return [
        [
          'a choice of a tool that another namespace has too',
          'responses',
          to,
          { ...asked, tool_choice: chosen },
          sent(to === chat ? { function: { name: 'far__run' } } : { name: 'far__run' }),
          [],
        ],
        [
          'a choice among such tools',
          'responses',
          to,
          { ...asked, tool_choice: among },
          to === chat
            ? sent({ allowed_tools: { tools: [{ function: { name: 'far__run' } }] } })
            : { tools: [{ name: 'far__run' }], tool_choice: { type: 'any' } },
          [],
        ],
      ]
    }),
    ...([chat, 'responses'] as const).map(
      (to): Crossing => ['no server at all', 'messages', to, { mcp_servers: [] }, {}, []],
    ),
    [
      'a schema with references to its own definitions',
      chat,
      'messages',
      { tools: [chatTool('f', { $ref: '#/$defs/P', $defs: { P: closed } })] },
      { tools: [{ name: 'f', input_schema: closed }] },
      [],
    ],
    ...CHAT_WIRES.filter((to) => to !== 'responses').map((to): Crossing => {
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
    }),
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
      (to): Crossing => [
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
    ...['[]', ' null '].map(
      (written): Crossing => [
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
      ],
    ),
    ...CHAT_WIRES.filter((to) => to !== 'messages').map(
      (to): Crossing => [
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
    ...CHAT_WIRES.flatMap((to) =>
      [{ type: 'array' }, { type: 'array', items: [{ type: 'string' }], additionalItems: false }].map(
        (list): Crossing => {
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
    ].map(
      (schema): Crossing => [
        'a strict tool that the other vendor would refuse as strict',
        'messages',
        chat,
        { tools: [{ name: 'f', input_schema: schema, strict: true }] },
        { tools: [{ function: { name: 'f' } }] },
        ['tools.0.strict'],
      ],
    ),
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
        (type): Crossing => [
          'tools beside one that only a server runs, which agents can do without',
          chat,
          to,
          { tools: [{ type, web_search: { enable: true } }, chatTool('a')] },
          { tools: [{ name: 'a' }] },
          ['tools.0'],
        ],
      ),
    ),
    ...(['messages', chat] as const).map(
      (to): Crossing => [
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
      ],
    ),
    ...(['messages', chat] as const).map(
      (to): Crossing => [
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
      ],
    ),
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
    ...([chat, 'messages'] as const).map(
      (to): Crossing => [
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
      ],
    ),
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
      ).map(([tool, members, dropped]): Crossing => {
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
    ).map(
      ([name, schema]): Crossing => [
        `an answer with ${name}`,
        chat,
        'messages',
        { response_format: { type: 'json_schema', json_schema: { name: 'n', schema, strict: true } } },
        { tools: [{ name: 'json', input_schema: schema }], tool_choice: { name: 'json' } },
        [],
      ],
    ),
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
  ])
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
