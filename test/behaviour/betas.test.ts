// Agents ask for all the betas that their own vendor has, and send the members that come with them. Its models at other
// clouds refuse a request for one that they do not know: it is sent again without, and so is the next.

import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import { onlyProvider, startGateway, type TestGateway } from '../support/gateway.ts'
import { json, type Script, type Scripted, startScripted } from '../support/provider/scripted.ts'

const refusal = (message: string): Script =>
  json({ type: 'error', error: { type: 'invalid_request_error', message }, request_id: 'req_1' }, 400)
const ANSWER: Script = {
  steps: [
    JSON.stringify({
      ...{ id: 'msg_1', type: 'message', role: 'assistant', model: 'up', stop_reason: 'end_turn' },
      content: [{ type: 'text', text: 'Hi.' }],
      usage: { input_tokens: 3, output_tokens: 2 },
      // A count's.
      input_tokens: 3,
    }),
  ],
}

let refuse: (betas: string[], body: JsonObject) => string | undefined
let provider: Scripted
let gateway: TestGateway
beforeAll(async () => {
  provider = await startScripted(({ headers, text }) => {
    const message = refuse(headers['anthropic-beta']?.split(',') ?? [], JSON.parse(text))
    return message === undefined ? ANSWER : refusal(message)
  })
})
beforeEach(async () => {
  provider.requests.length = 0
  const versionHeader = { name: 'anthropic-version', value: '2023-06-01' }
  gateway = await startGateway({ config: onlyProvider(provider.origin, { wires: ['messages'], versionHeader }) })
})
afterEach(() => gateway.stop())
afterAll(() => provider.stop())

const body = { model: 'vendorA-opus-4-8', max_tokens: 90, messages: [{ role: 'user', content: 'Hi' }] }
const ask = (beta: string, path = '/v1/messages', key = gateway.secret) =>
  gateway.post(path, body, { 'anthropic-beta': beta, authorization: `Bearer ${key}` })
const sent = () => provider.requests.map(({ headers }) => headers['anthropic-beta'])

const knows =
  (...known: string[]) =>
  (betas: string[]) => {
    const unknown = betas.filter((beta) => !known.includes(beta)).map((beta) => `\`${beta}\``)
    if (unknown.length === 0) return undefined
    return `Unexpected value(s) ${unknown.join(', ')} for the \`anthropic-beta\` header. Please consult our documentation.`
  }

test('a request is sent again without the betas that its provider does not know, and so is the next', async () => {
  refuse = knows('a-2026-01-01')
  const first = await ask('a-2026-01-01,b-2026-01-01')
  expect([first.status, first.headers.get('x-gateway-dropped')]).toEqual([200, 'anthropic-beta.b-2026-01-01'])
  expect((await ask('b-2026-01-01, a-2026-01-01')).status).toBe(200)
  expect(sent()).toEqual(['a-2026-01-01,b-2026-01-01', 'a-2026-01-01', 'a-2026-01-01'])
  // Others are found out in their turn, and each is remembered.
  expect((await ask('c-2026-01-01')).status).toBe(200)
  expect((await ask('b-2026-01-01,c-2026-01-01')).status).toBe(200)
  expect(sent().slice(3)).toEqual(['c-2026-01-01', undefined, undefined])
  // What one key's requests have brought to light changes no other's.
  const other = await gateway.issue()
  expect((await ask('b-2026-01-01', '/v1/messages', other.secret)).headers.get('x-gateway-dropped')).toBe(
    'anthropic-beta.b-2026-01-01',
  )
  expect(sent().at(-2)).toBe('b-2026-01-01')
  await gateway.idle()
  expect(gateway.server.gateway.health.states().map(({ state }) => state)).toEqual(['closed'])
})

test('a request is sent again without any where its provider does not say which', async () => {
  refuse = (betas) => (betas.length === 0 ? undefined : 'invalid beta flag')
  for (const _ of [1, 2]) expect((await ask('a-2026-01-01,b-2026-01-01')).status).toBe(200)
  expect(sent()).toEqual(['a-2026-01-01,b-2026-01-01', undefined, undefined])
})

test('counts are asked for in the same way', async () => {
  refuse = knows()
  for (const _ of [1, 2]) {
    const { headers } = await ask('a-2026-01-01', '/v1/messages/count_tokens')
    expect(headers.get('x-gateway-dropped')).toBe('anthropic-beta.a-2026-01-01')
  }
  expect(sent()).toEqual(['a-2026-01-01', undefined, undefined])
})

test('a refusal of betas that the client has not asked for stands', async () => {
  refuse = () => 'Unexpected value(s) `z` for the `anthropic-beta` header.'
  const answer = await ask('a-2026-01-01')
  expect([answer.status, answer.headers.get('x-should-retry'), sent().length]).toEqual([502, 'false', 1])
})

const KNOWN = new Set(['name', 'description', 'input_schema', 'cache_control'])
const refusesMembers = (_: string[], { safeguards, tools }: JsonObject): string | undefined => {
  if (safeguards !== undefined) return 'safeguards: Extra inputs are not permitted'
  const faults = ((tools ?? []) as JsonObject[]).flatMap((tool, at) =>
    Object.keys(tool)
      .filter((name) => !KNOWN.has(name))
      .map((name) => `tools.${at}.custom.${name}: Extra inputs are not permitted`),
  )
  return faults[0]
}
const schema = { type: 'object', properties: {}, additionalProperties: false }

test('members that the provider does not know are left out, one by one, and from the next request at once', async () => {
  refuse = refusesMembers
  const tools = [
    { name: 'a', input_schema: schema, eager_input_streaming: true },
    { name: 'b', input_schema: schema, defer_loading: true, eager_input_streaming: true },
  ]
  const asked = { ...body, safeguards: [{ type: 'dangerous_tool_use' }], tools }
  const left = 'safeguards, tools.0.eager_input_streaming, tools.1.eager_input_streaming, tools.1.defer_loading'
  for (const _ of [1, 2]) {
    const answer = await gateway.post('/v1/messages', asked)
    expect([answer.status, answer.headers.get('x-gateway-dropped')]).toEqual([200, left])
  }
  const known = { ...body, tools: tools.map(({ name, input_schema }) => ({ name, input_schema })) }
  expect(provider.requests.slice(3).map(({ text }) => JSON.parse(text))).toEqual([known, known])
})

test('a server that names the member behind its fault is understood', async () => {
  const faults = (tools: JsonObject[]) =>
    tools.flatMap(({ eager_input_streaming: eager }, at) =>
      eager === undefined
        ? []
        : `Extra inputs are not permitted, field: 'tools[${at}].eager_input_streaming', value: True`,
    )
  refuse = (_, { tools }) => {
    const all = faults(tools as JsonObject[])
    return all.length === 0 ? undefined : `${all.length} request validation errors: ${all.join('; ')}`
  }
  const tools = ['a', 'b'].map((name) => ({ name, input_schema: schema, eager_input_streaming: true }))
  expect((await gateway.post('/v1/messages', { ...body, tools })).status).toBe(200)
  expect(provider.requests.length).toBe(2)
})

test('settings within the conversation that the provider does not know are left out', async () => {
  refuse = (_, { messages }) => {
    const at = (messages as JsonObject[]).findIndex(({ output_config: config }) => config !== undefined)
    return at === -1 ? undefined : `messages.${at}.output_config: Extra inputs are not permitted`
  }
  const config = { output_config: { effort: 'low' } }
  const [user] = body.messages
  const said = { role: 'assistant', content: 'Ho.' }
  const messages = [
    user,
    { role: 'system', ...config },
    said,
    user,
    { role: 'system', content: 'Be brief.', ...config },
  ]
  for (const _ of [1, 2]) {
    const { status, headers } = await gateway.post('/v1/messages', { ...body, messages })
    expect([status, headers.get('x-gateway-dropped')]).toEqual([200, 'messages.1, messages.4.output_config'])
  }
  const known = { ...body, messages: [user, said, user, { role: 'system', content: 'Be brief.' }] }
  expect(provider.requests.slice(1).map(({ text }) => JSON.parse(text))).toEqual([known, known])
})

test('a client of another wire gets its strict tool without that', async () => {
  refuse = refusesMembers
  const tools = [{ type: 'function', name: 'a', parameters: schema, strict: true }]
  const answer = await gateway.post('/v1/responses', { model: body.model, input: 'Hi', tools })
  expect([answer.status, answer.headers.get('x-gateway-dropped')]).toEqual([200, 'tools.0.strict'])
  expect(provider.requests.length).toBe(2)
})

test('a refusal of what the request cannot do without stands', async () => {
  refuse = () => 'stop_sequences: Extra inputs are not permitted'
  expect((await gateway.post('/v1/messages', { ...body, stop_sequences: ['x'] })).status).toBe(400)
  expect(provider.requests.length).toBe(1)
})
