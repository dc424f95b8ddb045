// A provider that speaks two wires and takes some requests on the newer one only: clients of the older one are answered
// all the same, and its next refusal is not waited for.

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import type { Wire } from '../../src/ir/wire.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { type Script, type Scripted, startScripted } from '../support/provider/scripted.ts'

const refusal = (status: number, message: string, param: string): Script => ({
  status,
  steps: [JSON.stringify({ error: { message, type: 'invalid_request_error', param, code: null } })],
})
const withTools = refusal(
  400,
  "Function tools with reasoning_effort are not supported for up in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.",
  'reasoning_effort',
)
const oldCap: Script = {
  status: 400,
  steps: [
    JSON.stringify({
      error: {
        code: 'unsupported_parameter',
        message:
          "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        param: 'max_tokens',
        type: 'invalid_request_error',
      },
    }),
  ],
}
const unknown = (param: string): Script => {
  const error = {
    code: 'unknown_parameter',
    message: `Unknown parameter: '${param}'.`,
    param,
    type: 'invalid_request_error',
  }
  return { status: 400, steps: [JSON.stringify({ error })] }
}
const always = refusal(404, 'This model is only supported in v1/responses and not in v1/chat/completions.', 'model')

const usage = { input_tokens: 3, output_tokens: 2, total_tokens: 5 }
const item = { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] }
const response = { id: 'resp_1', object: 'response', created_at: 5, model: 'up', output: [item], usage }
const told = (stream: unknown): Script => {
  const whole = { ...response, status: 'completed' }
  if (stream !== true) return { steps: [JSON.stringify(whole)] }
  const rows = [
    { type: 'response.created', response: { ...response, status: 'in_progress', output: [] } },
    { type: 'response.output_text.delta', output_index: 0, content_index: 0, item_id: 'msg_1', delta: 'Hi.' },
    { type: 'response.completed', response: whole },
  ]
  return {
    headers: { 'content-type': 'text/event-stream' },
    steps: rows.map((row) => `data: ${JSON.stringify(row)}\n\n`),
  }
}
const chat = {
  id: 'chatcmpl-1',
  choices: [{ index: 0, message: { content: 'Hi.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 },
}

/** Of a server that knows functions only, in its words. */
let wordsForTools: { status: number; error: JsonObject | string } | undefined
const refusedTool = (tools: JsonObject[] = []): Script | undefined =>
  wordsForTools !== undefined && tools.some(({ type }) => type !== 'function')
    ? { status: wordsForTools.status, steps: [JSON.stringify({ error: wordsForTools.error })] }
    : undefined

let provider: Scripted
beforeAll(async () => {
  provider = await startScripted(({ path, text }) => {
    const body = JSON.parse(text)
    const { model, tools, reasoning_effort: effort, stream, seed, max_tokens: cap, user } = body
    if (path.endsWith('/responses')) return refusedTool(tools) ?? told(stream)
    const foreign = ['reasoning', 'thinking', 'include_reasoning', 'reasoning_format', 'usage'].find(
      (name) => name in body,
    )
    if (foreign !== undefined) return unknown(foreign)
    if (user === 'refused') return oldCap
    if (model === 'vendorB-5.4-mini') return cap === undefined ? { steps: [JSON.stringify(chat)] } : oldCap
    if (model === 'vendorB-5.4' || seed !== undefined) return always
    return tools !== undefined && effort !== 'none' ? withTools : { steps: [JSON.stringify(chat)] }
  })
})
afterAll(() => provider.stop())

let gateway: TestGateway
const behind = async (wires: Wire[]): Promise<void> => {
  gateway = await startGateway({ config: onlyProvider(`${provider.origin}/v1`, { wires }) })
}
beforeEach(() => {
  wordsForTools = undefined
  provider.requests.length = 0
})

const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }]
const ask = (more: JsonObject, model = 'vendorB-5.5') =>
  gateway.post('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hi' }], ...more })
const paths = (): string[] => provider.requests.map(({ path }) => path)

test.each([false, true])(
  'a request that a provider accepts on another wire only is translated to it, streaming %p',
  async (stream) => {
    await behind(['responses', 'chat-completions'])
    const answer = await ask({ tools, stream })
    expect([answer.status, (await answer.text()).includes('Hi.')]).toEqual([200, true])
    expect(paths()).toEqual(['/v1/chat/completions', '/v1/responses'])
    // Its likes go there at once, others as ever.
    expect((await ask({ tools, stream })).status).toBe(200)
    expect(paths().slice(2)).toEqual(['/v1/responses'])
    expect((await ask({ tools, reasoning_effort: 'none' })).status).toBe(200)
    expect((await ask({})).status).toBe(200)
    expect(paths().slice(3)).toEqual(['/v1/chat/completions', '/v1/chat/completions'])
    await gateway.idle()
    expect(gateway.server.gateway.health.states().map(({ state }) => state)).toEqual(['closed'])
    await gateway.stop()
  },
)

test.each<[JsonObject, JsonObject, string | null]>([
  [{ reasoning: { effort: 'high' } }, { effort: 'high' }, null],
  [{ thinking: { type: 'disabled' } }, { effort: 'none' }, null],
  [{ reasoning_effort: 'low', include_reasoning: true }, { effort: 'low' }, null],
  [{ reasoning_effort: 'low', thinking: { type: 'enabled' } }, { effort: 'low' }, 'thinking'],
  [{ reasoning_effort: 'low', usage: { include: true } }, { effort: 'low' }, null],
])('a wish in the words of other servers, %j, is told in the vendor’s', async (wish, reasoning, dropped) => {
  await behind(['responses', 'chat-completions'])
  const answer = await ask(wish)
  expect([answer.status, answer.headers.get('x-gateway-dropped')]).toEqual([200, dropped])
  expect(paths()).toEqual(['/v1/chat/completions', '/v1/responses'])
  expect(JSON.parse(provider.requests[1]?.text ?? '').reasoning).toEqual(reasoning)
  // Its likes go there at once, those without such a wish pass as ever.
  expect((await ask(wish)).status).toBe(200)
  expect((await ask({})).status).toBe(200)
  expect(paths().slice(2)).toEqual(['/v1/responses', '/v1/chat/completions'])
  await gateway.stop()
})

test('a model that exists on another wire only answers there', async () => {
  await behind(['chat-completions', 'responses'])
  const answer = await ask({}, 'vendorB-5.4')
  expect([answer.status, ((await answer.json()) as JsonObject).model]).toEqual([200, 'vendorB-5.4'])
  expect(paths()).toEqual(['/v1/chat/completions', '/v1/responses'])
  await gateway.stop()
})

test('a request that cannot be translated to the other wire is sent on the client’s, and refused once', async () => {
  await behind(['chat-completions', 'responses'])
  // Refused for what it does not share with its likes.
  expect((await ask({ seed: 1 })).status).toBe(200)
  expect((await ask({ n: 2 })).status).toBe(200)
  expect(paths()).toEqual(['/v1/chat/completions', '/v1/responses', '/v1/chat/completions'])
  const refused = await ask({ n: 2, seed: 1 })
  expect([refused.status, ((await refused.json()) as { error: JsonObject }).error.param]).toEqual([400, 'n'])
  expect(paths().slice(3)).toEqual(['/v1/chat/completions'])
  await gateway.stop()
})

test('a client of a third wire is answered on the wire that accepted similar requests', async () => {
  await behind(['chat-completions', 'responses'])
  const messages = [{ role: 'user', content: 'Hi' }]
  const more = { max_tokens: 9, messages, tools: [{ name: 'look', input_schema: { type: 'object', properties: {} } }] }
  for (const _ of [1, 2])
    expect((await gateway.post('/v1/messages', { model: 'vendorB-5.5', ...more })).status).toBe(200)
  expect(paths()).toEqual(['/v1/chat/completions', '/v1/responses', '/v1/responses'])
  await gateway.stop()
})

test('the refusal stands where the provider is not configured for the other wire', async () => {
  await behind(['chat-completions'])
  const answer = await ask({ tools })
  expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([400, 'false'])
  expect(paths()).toEqual(['/v1/chat/completions'])
  await gateway.stop()
})

test('a request without the refused name is not sent again', async () => {
  await behind(['chat-completions'])
  const answer = await ask({ max_completion_tokens: 90, user: 'refused' }, 'vendorB-5.4-mini')
  expect([answer.status, provider.requests.length]).toEqual([400, 1])
  await gateway.stop()
})

test('a model that knows the output cap by its newer name only gets it under that', async () => {
  await behind(['chat-completions'])
  const caps = (): JsonObject[] =>
    provider.requests.map(({ text }) => {
      const { max_tokens, max_completion_tokens } = JSON.parse(text)
      return { max_tokens, max_completion_tokens }
    })
  const answer = await ask({ max_tokens: 90, seed: 1 }, 'vendorB-5.4-mini')
  expect([answer.status, answer.headers.get('x-gateway-dropped')]).toEqual([200, null])
  expect(caps()).toEqual([{ max_tokens: 90 }, { max_completion_tokens: 90 }])
  expect(JSON.parse(provider.requests[1]?.text ?? '').seed).toBe(1)
  // The next refusal is not waited for. Other models keep the client's name.
  expect((await ask({ max_tokens: 80 }, 'vendorB-5.4-mini')).status).toBe(200)
  expect((await ask({ max_tokens: 70 })).status).toBe(200)
  expect(caps().slice(2)).toEqual([{ max_completion_tokens: 80 }, { max_tokens: 70 }])
  await gateway.stop()
})

const invalid = 'invalid_request_error'
test.each<[number, JsonObject | string]>([
  [400, { message: 'Invalid', type: invalid, param: 'tools.1.type', code: 'invalid_string' }],
  [400, { message: "Invalid value: 'namespace'.", type: invalid, param: 'tools[1].type', code: 'invalid_value' }],
  [400, { message: "Invalid value: 'custom'", type: invalid, param: 'tools', code: 'unknown_parameter' }],
  [400, { message: "'type' of tool must be 'function'", type: invalid, code: 400 }],
  [400, { message: 'Invalid Responses API request', code: 'invalid_prompt' }],
  [400, { message: "Input should be 'function', field: 'tools[1].type', value: 'custom'", type: invalid }],
  [400, { message: 'tool type namespace not supported', type: 'BadRequestError', code: 400 }],
  [
    422,
    'Failed to deserialize the JSON body into the target type: tools[1]: unknown variant `custom`, expected `function`',
  ],
  [500, { message: 'Failed to parse tools: Unsupported tool type: {"type":"namespace"}', type: 'api_error' }],
])('an agent whose tools a server takes on the other wire only is answered there: %d %j', async (status, error) => {
  wordsForTools = { status, error }
  await behind(['responses', 'chat-completions'])
  const patch = { type: 'custom', name: 'patch', format: { type: 'text' } }
  const mine = {
    type: 'namespace',
    name: 'mcp',
    description: 'Mine.',
    tools: [{ type: 'function', name: 'look', parameters: {} }],
  }
  const run = { type: 'function', name: 'run', parameters: {} }
  const asked = { model: 'vendorB-4o', input: 'Hi', reasoning: { effort: 'none' }, tools: [run, patch, mine] }
  for (const _ of [1, 2]) expect((await gateway.post('/v1/responses', asked)).status).toBe(200)
  expect(paths()).toEqual(['/v1/responses', '/v1/chat/completions', '/v1/chat/completions'])
  await gateway.stop()
})

test('a request that neither wire takes is refused once by each', async () => {
  wordsForTools = { status: 400, error: { message: 'Unsupported tool type', type: invalid } }
  await behind(['responses', 'chat-completions'])
  const asked = { model: 'vendorB-5.4', input: 'Hi', tools: [{ type: 'custom', name: 'patch' }] }
  expect((await gateway.post('/v1/responses', asked)).status).toBe(400)
  expect(paths()).toEqual(['/v1/responses', '/v1/chat/completions'])
  await gateway.stop()
})

test('a server of one wire is told to be at fault for a tool that it does not know', async () => {
  wordsForTools = { status: 400, error: { message: 'Invalid Responses API request', code: 'invalid_prompt' } }
  await behind(['responses'])
  const asked = { model: 'vendorB-4o', input: 'Hi', tools: [{ type: 'custom', name: 'patch' }] }
  expect((await gateway.post('/v1/responses', asked)).status).toBe(502)
  expect(paths()).toEqual(['/v1/responses'])
  await gateway.stop()
})
