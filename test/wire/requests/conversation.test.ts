// Turns of requests of one wire for a provider of another: instructions, pictures, documents, and who says what.

import { describe, expect } from 'bun:test'
import type { Json, JsonObject } from '../../../src/ir/json.ts'
import { CHAT_WIRES } from '../../../src/ir/wire.ts'
import { CONTINUE } from '../../../src/wire/turns/prefill.ts'
import { type Crossing, chat, definition, plainTool, said, translates, user } from './support.ts'

const cited = {
  type: 'char_location',
  cited_text: 'c',
  document_index: 0,
  document_title: null,
  start_char_index: 0,
  end_char_index: 1,
}
const begun = {
  messages: [
    { role: 'user', content: 'hi' },
    { role: 'assistant', content: '{' },
  ],
}

describe('a conversation is translated', () => {
  translates([
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
    ...CHAT_WIRES.filter((to) => to !== chat).map(
      (to): Crossing => [
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
      (to): Crossing => [
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
    ...(['messages', chat] as const).map(
      (from): Crossing => [
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
      ],
    ),
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
    ...([chat, 'responses'] as const).map(
      (to): Crossing => [
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
      ],
    ),
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
    ...([chat, 'responses'] as const).map(
      (from): Crossing => [
        'a conversation that ends with an assistant turn',
        from,
        'messages',
        { [from === chat ? 'messages' : 'input']: begun.messages },
        { messages: [{ role: 'user' }, { role: 'assistant', content: '{' }, { role: 'user', content: '(continue)' }] },
        [],
      ],
    ),
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
    [
      'JSON shown as an image',
      chat,
      'messages',
      user({ type: 'image_url', image_url: { url: 'data:application/json;base64,WzFd' } }),
      { messages: [{ content: [{ type: 'document', source: { type: 'text', data: '[1]' } }] }] },
      [],
    ],
    ...([chat, 'messages'] as const).flatMap((to): Crossing[] => {
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
    ...(['messages', 'responses'] as const).flatMap((to): Crossing[] => {
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
    }),
  ])
})
