// What a request of one wire loses on its way to a provider of another, or is refused for, by the client's own path.

import { describe, expect, test } from 'bun:test'
import { GatewayError } from '../../../src/errors.ts'
import type { Json, JsonObject } from '../../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../../src/ir/wire.ts'
import { CHAT_CODECS } from '../../../src/wire/index.ts'
import { asWritten } from '../../../src/wire/refusal/member-names.ts'
import { chat, chatTool, closed, cross, HI, said, user } from './support.ts'

const webSearch = { type: 'web_search_20250305', name: 'web_search', max_uses: null }
const advisor = { type: 'advisor_20260301', name: 'advisor', model: 'large' }

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
    [
      'responses',
      chat,
      said(
        { type: 'message', role: 'user', name: 'ann', content: [{ type: 'input_text', text: 'a', mood: 'x' }] },
        { role: 'assistant', content: 'a', tool_calls: [], internal_notes: { turn: 1 } },
        { type: 'function_call', call_id: 'c', name: 'f', arguments: '{}', why: 'x' },
        { type: 'function_call_output', call_id: 'c', name: 'f', output: 'done', is_error: true },
        { type: 'function_call_output', call_id: 'c', name: 'g', output: 'done' },
      ),
      ['input.0.content.0.mood', 'input.0.name', 'input.2.why', 'input.3.is_error', 'input.4.name'],
    ],
    [
      'responses',
      chat,
      said({
        role: 'user',
        content: [{ type: 'input_file', filename: 'a.png', file_data: 'data:image/png;base64,iVBORw0KGgo=' }],
      }),
      ['input.0.content.0.filename'],
    ],
    [
      chat,
      'messages',
      user({ type: 'file', file: { filename: 'a.png', file_data: 'data:image/png;base64,iVBORw0KGgo=', tag: 'x' } }),
      ['messages.0.content.0.file.filename', 'messages.0.content.0.file.tag'],
    ],
    [
      chat,
      'responses',
      user(
        { type: 'input_file', file_url: 'https://x.test/a.pdf', filename: 'a.pdf' },
        { type: 'document_url', document_url: 'https://x.test/a.pdf', document_name: 'a' },
        { type: 'document', source: { type: 'url', url: 'https://x.test/a.pdf' }, title: 'a' },
      ),
      ['messages.0.content.0.filename', 'messages.0.content.1.document_name', 'messages.0.content.2.title'],
    ],
    [
      chat,
      'messages',
      history({
        content: null,
        tool_calls: [{ id: 'c', type: 'function', note: 'x', function: { name: 'f', arguments: '{}', note: 'x' } }],
        function_call: { name: 'g', arguments: '{}' },
      }),
      ['messages.1.function_call', 'messages.1.tool_calls.0.function.note', 'messages.1.tool_calls.0.note'],
    ],
    ...['f', 'g'].map((name): [ChatWire, ChatWire, JsonObject, string[]] => [
      chat,
      'messages',
      {
        messages: [
          { role: 'user', content: 'hi' },
          { role: 'assistant', tool_calls: [{ id: 'c', type: 'function', function: { name: 'f', arguments: '{}' } }] },
          { role: 'tool', tool_call_id: 'c', name, content: 'done' },
        ],
      },
      name === 'f' ? [] : ['messages.2.name'],
    ]),
    [chat, 'responses', { stream: true, stream_options: { include_usage: true, pace: 'x' } }, ['stream_options.pace']],
    [
      'messages',
      'responses',
      user({
        type: 'document',
        source: {
          type: 'content',
          lang: 'x',
          content: [{ type: 'text', text: 'a', citations: [{ cited_text: 'c' }] }],
        },
      }),
      ['messages.0.content.0.source.content.0.citations', 'messages.0.content.0.source.lang'],
    ],
    [
      'messages',
      chat,
      user(
        { type: 'image', source: { type: 'url', url: 'https://x.test/i.png', alt: 'x' } },
        { type: 'compaction', content: 'a', tail: 'x' },
      ),
      ['messages.0.content.0.source.alt', 'messages.0.content.1.tail'],
    ],
    [
      'messages',
      chat,
      { output_config: { format: { type: 'json_schema', schema: closed, form: 'x' } } },
      ['output_config.format.form'],
    ],
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
      ['messages', to, { tools: [advisor, { name: 'a', input_schema: closed }] }, ['tools.0']],
      ['messages', to, { tools: [{ type: 'bash_20250124', name: 'bash' }, advisor] }, ['tools.1']],
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
      [],
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

test.each<[JsonObject, JsonObject]>([
  [
    { type: 'input_text', text: 'a' },
    { role: 'user', content: 'a' },
  ],
  [
    { type: 'output_text', text: 'a' },
    { role: 'assistant', content: 'a' },
  ],
  [
    { type: 'input_image', image_url: 'https://x.test/i.png' },
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://x.test/i.png' } }] },
  ],
])('a part outside a message is a message of its own: %j', (part, message) => {
  const { body, dropped } = cross('responses', chat, said(part))
  expect([(body.messages as Json[])[0], dropped]).toEqual([message, []])
})

test('what stands unread is listed on the own wire, too, where the request is written anew', () => {
  const { responses } = CHAT_CODECS
  const item = { role: 'assistant', content: 'a', name: 'ann', tool_calls: [{ id: 'c' }] }
  const request = responses.decodeRequest({ ...HI.responses, ...said(item) })
  const { dropped } = responses.encodeRequest(request, { model: 'up', maxOutput: 9, quirks: { noCustomTools: true } })
  expect(dropped).toEqual(['input.0.name', 'input.0.tool_calls'])
})

test('a file is what it holds, whatever id it has beside', () => {
  const file = { file_id: 'f', filename: 'a.pdf', file_data: 'data:application/pdf;base64,JVBERi0x' }
  expect(JSON.stringify(cross(chat, 'messages', user({ type: 'file', file })).body)).toContain('JVBERi0x')
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
    ...(['tool_calls', 'function_call'] as const).map((member): [ChatWire, ChatWire, JsonObject, string] => [
      'responses',
      'messages',
      said({ role: 'assistant', content: null, [member]: [{ id: 'c', function: { name: 'f' } }] }),
      `input.0.${member}`,
    ]),
    [
      'messages',
      'responses',
      user({
        type: 'document',
        source: { type: 'content', content: [{ type: 'video', source: { type: 'url', url: 'https://x.test/i.mp4' } }] },
      }),
      'messages.0.content.0.source.content.0',
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
