// Calls of tools that ran at the vendor are counted on every wire, as JSON and as a stream, and stand with the exchange and in
// the usage.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import type { ServerToolCalls } from '../../src/ir/server-tools.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { json, type Script, type Scripted, sse, startScripted } from '../support/provider/scripted.ts'

let answer: Script
let provider: Scripted
let gateway: TestGateway
beforeAll(async () => {
  provider = await startScripted(() => answer)
})
beforeEach(async () => {
  gateway = await startGateway({ config: onlyProvider(`${provider.origin}/v1`, {}) })
})
afterEach(() => gateway.stop())
afterAll(() => provider.stop())

const frames = (...events: JsonObject[]): Script =>
  sse(events.map((data) => `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`).join(''))

const MESSAGE = { id: 'msg_1', type: 'message', role: 'assistant', model: 'up', stop_sequence: null }
const BLOCKS: JsonObject[] = [
  { type: 'server_tool_use', id: 'a', name: 'web_search', input: { query: 'x' } },
  { type: 'server_tool_use', id: 'b', name: 'bash_code_execution', input: {} },
  { type: 'mcp_tool_use', id: 'c', name: 'find', server_name: 's', input: {} },
  { type: 'server_tool_use', id: 'd', name: 'tool_search_tool_bm25', input: {} },
  { type: 'tool_use', id: 'e', name: 'mine', input: {} },
  { type: 'text', text: 'Hi.' },
]
const MESSAGE_USAGE = {
  ...{ input_tokens: 3, output_tokens: 2 },
  server_tool_use: { web_search_requests: 2, web_fetch_requests: 0, constructor_requests: 9 },
  iterations: [{ type: 'advisor_message', input_tokens: 1, output_tokens: 1 }],
}
/** Three searches, of which two found nothing out: no usage tells of them. */
const FAILED: JsonObject[] = ['x', 'y', 'z'].flatMap((id, at) => [
  { type: 'server_tool_use', id, name: 'web_search', input: { query: id } },
  {
    ...{ type: 'web_search_tool_result', tool_use_id: id },
    content: at === 1 ? [] : { type: 'web_search_tool_result_error', error_code: 'max_uses_exceeded' },
  },
])
const MESSAGE_CALLS = { web_search: 2, code_execution: 1, mcp: 1, advisor: 1 }

const ITEMS: JsonObject[] = [
  { type: 'web_search_call', id: 'ws_1', status: 'completed', action: { type: 'search', query: 'x' } },
  { type: 'web_search_call', id: 'ws_2', status: 'completed', action: { type: 'search', query: 'y' } },
  { type: 'web_search_call', id: 'ws_3', status: 'completed', action: { type: 'open_page', url: 'https://a.test' } },
  { type: 'web_search_call', id: 'ws_4', status: 'completed', action: { type: 'find_in_page', pattern: 'z' } },
  { type: 'code_interpreter_call', id: 'ci_1', status: 'completed', code: '1', container_id: 'c', outputs: [] },
  { type: 'mcp_call', id: 'mcp_1', name: 'find', server_label: 's', arguments: '{}', output: 'x' },
  { type: 'mcp_list_tools', id: 'mcpl_1', server_label: 's', tools: [] },
  { type: 'file_search_call', id: 'fs_1', status: 'completed', queries: ['x'], results: null },
  { type: 'image_generation_call', id: 'ig_1', status: 'completed', result: 'AA==' },
  { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'mine', arguments: '{}', status: 'completed' },
]
const ITEM_CALLS = { web_search: 2, code_execution: 1, mcp: 1, file_search: 1, image_generation: 1 }
const RESPONSE = {
  ...{ id: 'resp_1', object: 'response', created_at: 1, model: 'up' },
  usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
}
const CHAT_USAGE = {
  ...{ prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  server_tool_use: { web_search_requests: 4 },
}
const CHAT = { id: 'c', object: 'chat.completion', created: 1, model: 'up' }
const CHUNK = { ...CHAT, object: 'chat.completion.chunk' }

type Row = [name: string, path: string, answer: Script, calls: ServerToolCalls]
const ROWS: Row[] = [
  [
    'messages, JSON',
    '/v1/messages',
    json({ ...MESSAGE, content: BLOCKS, stop_reason: 'end_turn', usage: MESSAGE_USAGE }),
    MESSAGE_CALLS,
  ],
  [
    'messages, stream',
    '/v1/messages',
    frames(
      { type: 'message_start', message: { ...MESSAGE, content: [], stop_reason: null, usage: { input_tokens: 3 } } },
      ...BLOCKS.flatMap((content_block, index) => [
        { type: 'content_block_start', index, content_block },
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: MESSAGE_USAGE },
      { type: 'message_stop' },
    ),
    MESSAGE_CALLS,
  ],
  ['responses, JSON', '/v1/responses', json({ ...RESPONSE, status: 'completed', output: ITEMS }), ITEM_CALLS],
  ...[ITEMS, []].map(
    (output): Row => [
      `responses, stream, ${output.length} items at its end`,
      '/v1/responses',
      frames(
        {
          type: 'response.created',
          sequence_number: 0,
          response: { ...RESPONSE, status: 'in_progress', output: [], usage: null },
        },
        ...ITEMS.flatMap((item, at) =>
          ['added', 'done'].map((what, second) => ({
            ...{ type: `response.output_item.${what}`, sequence_number: 1 + 2 * at + second, output_index: at, item },
          })),
        ),
        { type: 'response.completed', sequence_number: 99, response: { ...RESPONSE, status: 'completed', output } },
      ),
      ITEM_CALLS,
    ],
  ),
  [
    'chat-completions, JSON',
    '/v1/chat/completions',
    json({
      ...CHAT,
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
      usage: CHAT_USAGE,
    }),
    { web_search: 4 },
  ],
  [
    'chat-completions, stream',
    '/v1/chat/completions',
    sse(
      `${[
        { ...CHUNK, choices: [{ index: 0, delta: { content: 'Hi.' }, finish_reason: 'stop' }] },
        { ...CHUNK, choices: [], usage: CHAT_USAGE },
      ]
        .map((data) => `data: ${JSON.stringify(data)}\n\n`)
        .join('')}data: [DONE]\n\n`,
    ),
    { web_search: 4 },
  ],
  [
    'messages, JSON, searches that failed',
    '/v1/messages',
    json({ ...MESSAGE, content: FAILED, stop_reason: 'end_turn', usage: { input_tokens: 3, output_tokens: 2 } }),
    { web_search: 1 },
  ],
  [
    'messages, stream, searches that failed',
    '/v1/messages',
    frames(
      { type: 'message_start', message: { ...MESSAGE, content: [], stop_reason: null, usage: { input_tokens: 3 } } },
      ...FAILED.flatMap((content_block, index) => [
        { type: 'content_block_start', index, content_block },
        { type: 'content_block_stop', index },
      ]),
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
      { type: 'message_stop' },
    ),
    { web_search: 1 },
  ],
]

const PROMPT = { model: 'vendorB-5.5', max_tokens: 99, messages: [{ role: 'user', content: 'x' }] }
const bodyFor = (path: string, stream: boolean): JsonObject =>
  path === '/v1/responses' ? { model: 'vendorB-5.5', input: 'x', stream } : { ...PROMPT, stream }

describe.each(ROWS)('%s', (name, path, script, calls) => {
  test('calls stand with the exchange and in the usage, added up', async () => {
    answer = script
    for (let turn = 1; turn <= 2; turn++) {
      const response = await gateway.post(path, bodyFor(path, name.includes('stream')))
      expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
      await gateway.idle()
    }
    const { store } = gateway.server.gateway
    expect((await store.exchanges({ limit: 2 })).map(({ serverTools }) => serverTools)).toEqual([calls, calls])
    const twice = Object.fromEntries(Object.entries(calls).map(([tool, count]) => [tool, 2 * count]))
    for (const by of ['model', 'key', 'day'] as const)
      expect((await store.usage({ by })).rows.map(({ serverTools }) => serverTools)).toEqual([twice])
  })
})

test('an answer without such calls has none, and names that nobody would believe are not kept', async () => {
  const names = Array.from({ length: 50 }, (_, at) => `tool_${'x'.repeat(at)}_requests`)
  const told = { ...Object.fromEntries(names.map((name) => [name, 1])), 'a b_requests': 1, web_search_requests: -1 }
  for (const [use, most] of [
    [undefined, 0],
    [told, 20],
  ] as const) {
    answer = json({
      ...MESSAGE,
      content: [{ type: 'text', text: 'Hi.' }],
      stop_reason: 'end_turn',
      usage: { input_tokens: 3, output_tokens: 2, ...(use === undefined ? {} : { server_tool_use: use }) },
    })
    expect((await gateway.post('/v1/messages', PROMPT)).status).toBe(200)
    await gateway.idle()
    const [row] = await gateway.server.gateway.store.exchanges({ limit: 1 })
    expect(Object.keys(row?.serverTools ?? {}).length).toBe(most)
    if (most === 0) expect(row?.serverTools).toBe(null)
  }
})

test.each([
  ['messages', 0, MESSAGE_CALLS],
  ['responses', 2, ITEM_CALLS],
  ['chat-completions', 5, { web_search: 4 }],
] as const)('a translated answer of %s has them too, as JSON and as a stream', async (wire, first, calls) => {
  await gateway.stop()
  gateway = await startGateway({ config: onlyProvider(`${provider.origin}/v1`, { wires: [wire] }) })
  const path = wire === 'messages' ? '/v1/chat/completions' : '/v1/messages'
  for (const [at, stream] of [false, true].entries()) {
    answer = ROWS[first + at]?.[2] ?? answer
    const response = await gateway.post(path, { ...PROMPT, stream })
    expect([response.status, await response.text()]).toEqual([200, expect.any(String)])
    await gateway.idle()
    expect((await gateway.server.gateway.store.exchanges({ limit: 1 }))[0]?.serverTools).toEqual(calls)
  }
})
