// Which tools that run at a vendor a key may send: what its configuration, its member and itself allow together.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { Config } from '../../src/config.ts'
import type { JsonObject } from '../../src/ir/json.ts'
import type { ServerTools } from '../../src/keys/server-tools.ts'
import { DEFAULT_LIMITS } from '../../src/members/member.ts'
import { onlyProvider, SYSTEM, startGateway, type TestGateway } from '../support/gateway.ts'
import { json, type Scripted, startScripted } from '../support/provider/scripted.ts'

let provider: Scripted
let gateway: TestGateway
beforeAll(async () => {
  provider = await startScripted(() => json({ error: { message: 'no' } }, 503))
})
afterAll(() => provider.stop())
const open = async (config: Partial<Config> = {}): Promise<void> => {
  gateway = await startGateway({ config: { ...onlyProvider(provider.origin, {}), maxTries: 1, ...config } })
}
beforeEach(() => {
  provider.requests.length = 0
})
afterEach(() => gateway.stop())

const MESSAGES = { model: 'auto', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] }
const CHAT = { model: 'auto', messages: [{ role: 'user', content: 'x' }] }
const RESPONSES = { model: 'auto', input: 'x' }
const ask = async (path: string, body: JsonObject, key: { serverTools?: ServerTools; ownerId?: string }) =>
  gateway.post(path, body, { authorization: `Bearer ${(await gateway.issue(key)).secret}` })

/** Undefined: let through to the provider, which is out of order. */
const refusal = async (answer: Response): Promise<string | undefined> => {
  const body = (await answer.json()) as { error: { message: string } }
  if (answer.status === 503) return undefined
  expect([answer.status, answer.headers.get('x-gateway-error-code')]).toEqual([403, 'permission_denied'])
  return body.error.message
}

type Row = [tool: string, at: string, path: string, body: JsonObject]
const HOSTED: Row[] = [
  ['web_search', 'tools.0', '/v1/messages', { ...MESSAGES, tools: [{ type: 'web_search_20250305', name: 's' }] }],
  ['web_fetch', 'tools.0', '/v1/messages', { ...MESSAGES, tools: [{ type: 'web_fetch_20250910', name: 'f' }] }],
  ['code_execution', 'tools.0', '/v1/messages', { ...MESSAGES, tools: [{ type: 'code_execution_20250825' }] }],
  ['code_execution', 'container', '/v1/messages', { ...MESSAGES, container: { skills: [{ skill_id: 'x' }] } }],
  ['advisor', 'tools.0', '/v1/messages', { ...MESSAGES, tools: [{ type: 'advisor_20260301', model: 'auto' }] }],
  ['mcp', 'mcp_servers', '/v1/messages', { ...MESSAGES, mcp_servers: [{ type: 'url', url: 'https://a.test' }] }],
  ['mcp', 'tools.0', '/v1/messages', { ...MESSAGES, tools: [{ type: 'mcp_toolset', mcp_server_name: 'a' }] }],
  [
    'web_search',
    'messages.0.content.0.tool.definition',
    '/v1/messages',
    {
      ...MESSAGES,
      messages: [
        {
          role: 'user',
          content: [
            {
              type: 'tool_addition',
              tool: { type: 'tool_definition', definition: { type: 'web_search_20250305', name: 's' } },
            },
          ],
        },
      ],
    },
  ],
  ['web_search', 'tools.0', '/v1/messages/count_tokens', { ...MESSAGES, tools: [{ type: 'web_search_20250305' }] }],
  ['mcp', 'tools.0', '/v1/responses', { ...RESPONSES, tools: [{ type: 'mcp', server_url: 'https://a.test' }] }],
  ['image_generation', 'tools.0', '/v1/responses', { ...RESPONSES, tools: [{ type: 'image_generation' }] }],
  ['file_search', 'tools.0', '/v1/responses', { ...RESPONSES, tools: [{ type: 'file_search' }], background: true }],
  ['code_execution', 'tools.0', '/v1/responses', { ...RESPONSES, tools: [{ type: 'code_interpreter' }] }],
  [
    'code_execution',
    'tools.0',
    '/v1/responses',
    { ...RESPONSES, tools: [{ type: 'shell', environment: { type: 'container_auto' } }] },
  ],
  [
    'web_search',
    'input.0.tools.0',
    '/v1/responses',
    { ...RESPONSES, input: [{ type: 'additional_tools', tools: [{ type: 'web_search' }] }] },
  ],
  ['stored_prompt', 'prompt', '/v1/responses', { ...RESPONSES, prompt: { id: 'pmpt_1' } }],
  ['web_search', 'web_search_options', '/v1/chat/completions', { ...CHAT, web_search_options: {} }],
  ['web_search', 'plugins.0', '/v1/chat/completions', { ...CHAT, plugins: [{ id: 'web' }] }],
  ['web_search', 'tools.0', '/v1/chat/completions', { ...CHAT, tools: [{ type: 'relay:web_search' }] }],
  ['some_new_thing', 'tools.0', '/v1/chat/completions', { ...CHAT, tools: [{ type: 'some_new_thing' }] }],
]

describe.each(HOSTED)('%s by %s at %s', (tool, at, path, body) => {
  test('is refused by name where the key may use others or none, and passes where it may use it', async () => {
    await open()
    const none = await refusal(await ask(path, body, { serverTools: 'none' }))
    expect(none).toStartWith(`'${at}' is ${tool}, which runs at the provider: this key may use none of those.`)
    const others = await refusal(await ask(path, body, { serverTools: ['another', 'x_search'] }))
    expect(others).toContain(
      `'${at}' is ${tool}, which runs at the provider: this key may use of those only another, x_search.`,
    )
    expect(provider.requests).toEqual([])
    for (const serverTools of ['all', [tool]] as const)
      expect(
        await refusal(await ask(path, body, { serverTools: serverTools === 'all' ? 'all' : [...serverTools] })),
      ).toBe(undefined)
  })

  test('is found in a body so long that it is outlined, however it is written', async () => {
    await open()
    const long = { ...body, metadata: { note: 'long '.repeat(10_000) } }
    const text = JSON.stringify(long).replace('_search', '\\u005fsearch').replace('mcp', '\\u006dcp')
    const { secret } = await gateway.issue({ serverTools: 'none' })
    const answer = await gateway.post(path, text, { authorization: `Bearer ${secret}` })
    expect(await refusal(answer)).toContain(`is ${tool}`)
  })
})

const CLIENTS: Row[] = [
  ['functions', '', '/v1/chat/completions', { ...CHAT, tools: [{ type: 'function', function: { name: 'f' } }] }],
  [
    'an editor',
    '',
    '/v1/messages',
    {
      ...MESSAGES,
      tools: [
        { type: 'text_editor_20250728', name: 'e' },
        { name: 'f', input_schema: {} },
      ],
    },
  ],
  [
    'a shell',
    '',
    '/v1/responses',
    { ...RESPONSES, tools: [{ type: 'shell', environment: { type: 'local' } }, { type: 'apply_patch' }] },
  ],
  [
    'a search for tools',
    '',
    '/v1/messages',
    { ...MESSAGES, tools: [{ type: 'tool_search_tool_bm25_20251119', name: 't' }] },
  ],
  ['nothing that is asked', '', '/v1/messages', { ...MESSAGES, mcp_servers: [], container: 'c_1' }],
  [
    'what a server had before',
    '',
    '/v1/responses',
    { ...RESPONSES, input: [{ type: 'mcp_list_tools', tools: [{ name: 'a', input_schema: {} }] }] },
  ],
]

test.each(CLIENTS)('%s need no leave', async (_, __, path, body) => {
  await open()
  expect(await refusal(await ask(path, body, { serverTools: 'none' }))).toBe(undefined)
})

describe('configuration, member and key', () => {
  const search = HOSTED[0] as Row
  const mcp = HOSTED[5] as Row
  const member = async (serverTools: ServerTools, role: 'admin' | 'member' = 'member'): Promise<string> =>
    (
      await gateway.server.gateway.store.members.add(
        { name: `m${Math.random()}`, role, limits: { ...DEFAULT_LIMITS, serverTools } },
        SYSTEM,
      )
    ).id
  const allows = async ([, , path, body]: Row, key: { serverTools?: ServerTools; ownerId?: string }) =>
    (await refusal(await ask(path, body, key))) === undefined

  test('narrow each other, as they are when the request comes', async () => {
    await open({ serverTools: ['web_search', 'mcp'] })
    const ownerId = await member(['web_search', 'file_search'])
    expect(await allows(search, { ownerId })).toBe(true)
    expect(await allows(mcp, { ownerId })).toBe(false)
    expect(await allows(mcp, {})).toBe(true)
    expect(await allows(search, { ownerId, serverTools: ['mcp'] })).toBe(false)
    await gateway.server.gateway.store.members.update(
      ownerId,
      { limits: { ...DEFAULT_LIMITS, serverTools: 'none' } },
      SYSTEM,
    )
    expect(await allows(search, { ownerId })).toBe(false)
    // An admin has no limits of their own.
    expect(await allows(mcp, { ownerId: await member('none', 'admin') })).toBe(true)
  })

  test('a key that is changed is held to it at once', async () => {
    await open()
    const { id, secret } = await gateway.issue()
    const [, , path, body] = search
    const again = async () => refusal(await gateway.post(path, body, { authorization: `Bearer ${secret}` }))
    expect(await again()).toBe(undefined)
    await gateway.server.gateway.store.keys.update(id, { serverTools: 'none' }, SYSTEM)
    expect(await again()).toContain('none of those')
    await gateway.server.gateway.store.keys.update(id, { serverTools: 'all' }, SYSTEM)
    expect(await again()).toBe(undefined)
  })
})
