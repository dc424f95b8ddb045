// A key's models hold wherever a body names one: in a tool, in a list that a relay chooses from, however it is written.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { BUILTIN_MODELS } from '../../src/catalogue/builtin.ts'
import type { Config } from '../../src/config.ts'
import { asList, type JsonObject } from '../../src/ir/json.ts'
import { blankProvider } from '../../src/provider/builtin.ts'
import { startGateway, type TestGateway } from '../support/gateway.ts'
import { MESSAGE } from '../support/provider/message.ts'
import { json, type Scripted, startScripted } from '../support/provider/scripted.ts'

const ANSWERS: Record<string, JsonObject> = {
  '/v1/messages': {
    ...MESSAGE,
    content: [{ type: 'text', text: 'Hi.' }],
    usage: { input_tokens: 3, output_tokens: 2 },
  },
  '/v1/messages/count_tokens': { input_tokens: 3 },
  '/v1/responses': {
    ...{ id: 'resp_1', object: 'response', status: 'completed', model: 'up', created_at: 1 },
    output: [
      {
        ...{ type: 'message', id: 'msg_1', role: 'assistant', status: 'completed' },
        content: [{ type: 'output_text', text: 'Hi.', annotations: [] }],
      },
    ],
    usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
  },
  '/v1/chat/completions': {
    ...{ id: 'c', object: 'chat.completion', created: 1, model: 'up' },
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
  },
}

let provider: Scripted
beforeAll(async () => {
  provider = await startScripted(({ path }) => json(ANSWERS[path] ?? {}))
})
afterAll(() => provider.stop())

const [row] = BUILTIN_MODELS
if (row === undefined) throw new Error('there are no models')
const model = (id: string, by = 'relay') => ({ ...row, id, provider: by, upstream: `maker/${id}`, quirks: {} })
const account = () => ({ name: 'main', baseUrl: `${provider.origin}/v1`, credential: 'c', weight: 1 })
const open = (more: Partial<Config> = {}) =>
  startGateway({
    config: {
      providers: ['relay', 'other'].map((id) => ({
        ...blankProvider(id),
        wires: ['messages', 'responses', 'chat-completions'],
        accounts: [account()],
      })),
      models: [model('cheap'), model('dear'), model('helper'), model('far', 'other')],
      aliases: { auto: 'cheap', adviser: 'helper' },
      ...more,
    },
  })

let gateway: TestGateway
beforeEach(async () => {
  provider.requests.length = 0
  gateway = await open()
})
afterEach(() => gateway.stop())

const PROMPTS: Record<string, JsonObject> = {
  '/v1/messages': { max_tokens: 9, messages: [{ role: 'user', content: 'x' }] },
  '/v1/messages/count_tokens': { messages: [{ role: 'user', content: 'x' }] },
  '/v1/responses': { input: 'x' },
  '/v1/chat/completions': { messages: [{ role: 'user', content: 'x' }] },
}
/** So long that its body is outlined, and not parsed. */
const LONG = { function: { name: 'f', description: 'long '.repeat(10_000), parameters: {} }, type: 'function' }

type Case = { path: string; name: string; with: (model: string) => JsonObject }
const CASES: Case[] = [
  { path: '/v1/messages', name: 'an adviser', with: (model) => ({ tools: [{ type: 'advisor_20260301', model }] }) },
  { path: '/v1/messages', name: 'a fallback', with: (model) => ({ fallbacks: [{ model, max_tokens: 5 }] }) },
  {
    path: '/v1/messages',
    name: 'a tool that the conversation adds',
    with: (model) => ({
      messages: [
        { role: 'user', content: 'x' },
        {
          role: 'system',
          content: [
            {
              type: 'tool_addition',
              tool: { type: 'tool_definition', definition: { type: 'advisor_20260301', model } },
            },
          ],
        },
      ],
    }),
  },
  {
    path: '/v1/messages/count_tokens',
    name: 'an adviser',
    with: (model) => ({ tools: [{ type: 'advisor_1', model }] }),
  },
  { path: '/v1/responses', name: 'a painter', with: (model) => ({ tools: [{ type: 'image_generation', model }] }) },
  {
    path: '/v1/responses',
    name: 'a painter that an item brings',
    with: (model) => ({
      input: [
        { type: 'additional_tools', tools: [{ type: 'image_generation', model }] },
        { role: 'user', content: 'x' },
      ],
    }),
  },
  {
    path: '/v1/responses',
    name: 'an answer in the background',
    with: (model) => ({ background: true, tools: [{ type: 'agents', settings: { sub: [{ writer_model: model }] } }] }),
  },
  { path: '/v1/chat/completions', name: 'a list', with: (model) => ({ models: ['cheap', model] }) },
  { path: '/v1/chat/completions', name: 'another case', with: (model) => ({ Models: [model] }) },
  { path: '/v1/chat/completions', name: 'a map', with: (model) => ({ fallbacks: [{ cheap: [model] }] }) },
  { path: '/v1/chat/completions', name: 'a text', with: (model) => ({ fallback_model: model }) },
  { path: '/v1/chat/completions', name: 'depth', with: (model) => ({ extra_body: { deep: [{ modelName: model }] } }) },
  {
    path: '/v1/chat/completions',
    name: 'a relay’s tool',
    with: (model) => ({ tools: [{ type: 'relay:painter', parameters: { model } }] }),
  },
]

/** Every character as an escape: as its reader sees it, it is the same. */
const escaped = (json: string, name: string): string =>
  json.replaceAll(
    JSON.stringify(name),
    `"${Array.from(name, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`,
  )

const ask = async (path: string, body: JsonObject | string, models: string[], in_ = gateway) =>
  in_.post(path, body, { authorization: `Bearer ${(await in_.issue({ models })).secret}` })
const bodyOf = ({ path, with: within }: Case, name: string): JsonObject => ({
  model: 'cheap',
  ...PROMPTS[path],
  ...within(name),
})
const code = async (response: Response): Promise<unknown[]> => [
  response.status,
  response.headers.get('x-gateway-error-code'),
  (await response.text()).includes('maker/'),
]

describe.each(CASES)('$path, $name', (one) => {
  const large = (name: string): JsonObject => {
    const body = bodyOf(one, name)
    const list = Array.isArray(body.tools) ? body.tools : []
    // On the chat wire's form, which the provider's others pass on as they are.
    return { ...body, tools: [...list, one.path.includes('chat') ? LONG : { ...LONG.function, type: 'function' }] }
  }

  test.each(['dear', 'maker/dear', 'nobody’s'])('a model that the key may not use is refused: %s', async (name) => {
    for (const body of [JSON.stringify(bodyOf(one, name)), JSON.stringify(large(name))])
      for (const text of [body, escaped(body, name)])
        expect(await code(await ask(one.path, text, ['cheap', 'helper']))).toEqual([403, 'permission_denied', false])
    expect(provider.requests).toEqual([])
  })

  test.each(['helper', 'adviser', 'maker/helper'])('one that it may use is sent as its own id: %s', async (name) => {
    for (const body of [JSON.stringify(bodyOf(one, name)), JSON.stringify(large(name))]) {
      const answer = await ask(one.path, escaped(body, name), ['cheap', 'helper'])
      expect([answer.status, await answer.text()]).toEqual([200, expect.any(String)])
      const sent: JsonObject = JSON.parse(provider.requests.at(-1)?.text ?? '')
      expect(JSON.stringify(sent)).toContain('maker/helper')
      if (name !== 'maker/helper') expect(JSON.stringify(sent)).not.toContain(`"${name}"`)
      expect(sent.model).toBe('maker/cheap')
    }
  })

  test('where forbidden models are hidden, it is like one that is not there', async () => {
    const hidden = await open({ hideForbiddenModels: true })
    try {
      const answers = await Promise.all(
        ['dear', 'none'].map((name) => ask(one.path, bodyOf(one, name), ['cheap'], hidden)),
      )
      expect(await Promise.all(answers.map(code))).toEqual(answers.map(() => [404, 'invalid_model', false]))
    } finally {
      await hidden.stop()
    }
  })

  test('one that another provider serves cannot be asked for there', async () => {
    const answer = await ask(one.path, bodyOf(one, 'far'), ['*'])
    expect((await code(answer)).slice(0, 2)).toEqual([400, 'invalid_request'])
  })
})

test('a key for every model has tools call those that nobody knows, and is answered by none', async () => {
  const tool = bodyOf(CASES[0] as Case, 'brand-new')
  expect((await ask('/v1/messages', tool, ['*'])).status).toBe(200)
  expect(provider.requests.at(-1)?.text).toContain('"brand-new"')
  const answer = await ask('/v1/chat/completions', bodyOf(CASES.at(7) as Case, 'brand-new'), ['*'])
  expect((await code(answer)).slice(0, 2)).toEqual([404, 'invalid_model'])
})

test('a member that is written twice is sent as it was read', async () => {
  const twice =
    '{"models":["maker/dear"],"model":"cheap","messages":[{"role":"user","content":"x"}],"models":["helper"]}'
  expect((await ask('/v1/chat/completions', twice, ['cheap', 'helper'])).status).toBe(200)
  expect(provider.requests.at(-1)?.text).not.toContain('dear')
  // Of whatever name, it may hold one; what is neither passes as it came.
  const within =
    '{"x":1,"more":{"model":"maker/dear"},"model":"cheap","messages":[{"role":"user","content":"x"}],"more":1,"x":2}'
  expect((await ask('/v1/chat/completions', within, ['cheap'])).status).toBe(200)
  expect(provider.requests.at(-1)?.text).not.toContain('dear')
  expect(provider.requests.at(-1)?.text.match(/"x":./g)).toEqual(['"x":1', '"x":2'])
})

test('what lets a relay choose another model is left out and listed; who serves the model is the client’s wish', async () => {
  const body = {
    ...{ model: 'cheap', ...PROMPTS['/v1/chat/completions'], route: 'fallback' },
    provider: { order: ['a'], data_collection: 'deny', sort: 'price' },
    plugins: [{ id: 'panel' }, { id: 'web' }, { id: 'router' }],
  }
  const answer = await ask('/v1/chat/completions', body, ['cheap'])
  expect([answer.status, answer.headers.get('x-gateway-dropped')]).toEqual([200, 'route, plugins.0, plugins.2'])
  const { route, provider: kept, plugins } = JSON.parse(provider.requests.at(-1)?.text ?? '')
  expect([route, kept, plugins]).toEqual([undefined, body.provider, [{ id: 'web' }]])
})

describe.each(['/v1/chat/completions', '/v1/messages', '/v1/responses'])('%s', (path) => {
  const elsewhere = 'http://elsewhere.example'
  test.each<[string, JsonObject, string]>([
    ['another address', { api_base: elsewhere }, 'api_base'],
    ['another address, in another case', { baseURL: elsewhere }, 'baseURL'],
    ['another credential', { api_key: 'sk-planted' }, 'api_key'],
    [
      'a list of deployments',
      { user_config: { model_list: [{ litellm_params: { api_base: elsewhere } }] } },
      'user_config',
    ],
    ['models of another address', { relay: { model: 'dear', base_url: elsewhere } }, 'relay'],
    [
      'a part of a server of several',
      { kv_transfer_params: { remote_host: 'elsewhere', remote_port: 1 } },
      'kv_transfer_params',
    ],
    [
      'an address of a tool',
      { tools: [{ type: 'advisor_1', model: 'helper', api_base: elsewhere }] },
      'tools.0.api_base',
    ],
  ])('does not pass on where else a relay is to ask, or as whom: %s', async (_, more, dropped) => {
    const body = JSON.stringify({ model: 'cheap', ...PROMPTS[path], ...more })
    for (const text of [body, body.replace('{', `{"metadata":{"note":"${'x'.repeat(40_000)}"},`)]) {
      const answer = await ask(path, text, ['cheap', 'helper'])
      expect([answer.status, answer.headers.get('x-gateway-dropped')]).toEqual([200, dropped])
      expect(provider.requests.at(-1)?.text).not.toMatch(/elsewhere|planted|dear/)
    }
  })
})

test('what a vendor is to read, or a tool to call, may stand at the client’s own address', async () => {
  const body = {
    ...{ model: 'cheap', ...PROMPTS['/v1/chat/completions'], prompt_cache_key: 'k', logit_bias: {}, host: null },
    data_sources: [{ type: 'search', parameters: { endpoint: 'https://own.example', key: 'k' } }],
    tools: [{ type: 'function', function: { name: 'f', parameters: { properties: { host: {}, api_key: {} } } } }],
  }
  const answer = await ask('/v1/chat/completions', body, ['cheap'])
  expect([answer.status, answer.headers.get('x-gateway-dropped')]).toEqual([200, null])
  expect(JSON.parse(provider.requests.at(-1)?.text ?? '')).toEqual({ ...body, model: 'maker/cheap' })
})

test('a body that is read and written anew on its own wire holds to it too', async () => {
  // Flat tools, as some editors send them to this wire.
  const flat = { name: 'f', input_schema: { type: 'object' } }
  const body: JsonObject = { ...bodyOf(CASES.at(-1) as Case, 'adviser'), route: 'fallback' }
  const answer = await ask('/v1/chat/completions', { ...body, tools: [...asList(body.tools), flat] }, [
    'cheap',
    'helper',
  ])
  expect([answer.status, answer.headers.get('x-gateway-dropped')]).toEqual([200, 'route'])
  expect(provider.requests.at(-1)?.text).toContain('{"model":"maker/helper"}')
})

test('a kept configuration of a relay is refused, whatever the key', async () => {
  const answer = await ask('/v1/chat/completions', { ...bodyOf(CASES.at(7) as Case, 'helper'), preset: 'mine' }, ['*'])
  expect((await code(answer)).slice(0, 2)).toEqual([403, 'permission_denied'])
})

test('a stand-in of another provider is not sent a tool that names a model of the first', async () => {
  const standing = await open({ fallbacks: { cheap: ['far'] } })
  try {
    const body = bodyOf(CASES[0] as Case, 'helper')
    provider.requests.length = 0
    expect((await ask('/v1/messages', body, ['*'], standing)).status).toBe(200)
    expect(provider.requests.map(({ text }) => JSON.parse(text).model)).toEqual(['maker/cheap'])
  } finally {
    await standing.stop()
  }
})

test('what a client says, and the schemas of its own tools, name no models', async () => {
  const body = {
    ...{ model: 'cheap', messages: [{ role: 'user', content: 'x', name: 'dear' }], metadata: { model: 'dear' } },
    response_format: { type: 'json_schema', json_schema: { name: 's', schema: { const: { model: 'dear' } } } },
    tools: [{ type: 'function', function: { name: 'f', parameters: { default: { model: 'dear' } } } }],
  }
  expect((await ask('/v1/chat/completions', body, ['cheap'])).status).toBe(200)
})
