// References of the responses wire to answers that were made from another wire's: they go on, for their own key, until
// they are forgotten.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import { type DemoGateway, onlyProvider, startDemoGateway, startGateway } from '../support/gateway.ts'
import { type Scripted, startScripted } from '../support/provider/scripted.ts'

let gateway: DemoGateway
beforeAll(async () => {
  gateway = await startDemoGateway()
})
afterAll(() => gateway.stop())

type Answer = JsonObject & { id: string; output: (JsonObject & { id: string })[] }

const MODEL = 'vendorA-opus-4-8'
const tools = [
  { type: 'function', name: 'get_weather', parameters: { type: 'object', properties: { city: { type: 'string' } } } },
]

const post = (body: JsonObject, secret = gateway.secret): Promise<Response> =>
  gateway.post('/v1/responses', { model: MODEL, ...body }, { authorization: `Bearer ${secret}` })

const ask = async (body: JsonObject): Promise<Answer> => {
  const response = await post(body)
  const text = await response.text()
  if (response.status !== 200) throw new Error(text)
  if (body.stream !== true) return JSON.parse(text) as Answer
  const last = JSON.parse(text.slice(text.lastIndexOf('\ndata: ') + 7)) as { response: Answer }
  return last.response
}

const refusal = async (body: JsonObject, secret?: string): Promise<unknown> => {
  const response = await post(body, secret)
  const { error } = (await response.json()) as { error: JsonObject }
  return [response.status, error.code, error.param]
}

const sent = (): { messages: JsonObject[]; input: JsonObject[] } =>
  JSON.parse(gateway.demo.requests.at(-1)?.body ?? '{}')

describe.each([{ stream: false }, { stream: true }])('%j', ({ stream }) => {
  const settings = { stream, tools, reasoning: { effort: 'high', summary: 'auto' } }

  test('references to the items of a step are resolved, reasoning with its signature', async () => {
    const user = { role: 'user', content: 'weather in Lima?' }
    const first = await ask({ ...settings, input: [user] })
    const call = first.output.find(({ type }) => type === 'function_call')
    const references = first.output.map(({ id }) => ({ type: 'item_reference', id }))
    const result = { type: 'function_call_output', call_id: call?.call_id ?? '', output: 'fog' }
    const second = await ask({ ...settings, input: [user, ...references, result] })
    expect(JSON.stringify(second.output)).toContain('fog')
    const [, turn, results] = sent().messages
    const blocks = (turn?.content ?? []) as JsonObject[]
    expect(blocks.map(({ type }) => type)).toEqual(['thinking', 'text', 'tool_use'])
    expect(blocks[0]?.signature).toBeString()
    expect(JSON.stringify(results)).toContain('fog')
  })

  test('a conversation continues from an answer, and the response names it', async () => {
    const first = await ask({ ...settings, input: 'one' })
    const second = await ask({ ...settings, input: 'two', previous_response_id: first.id })
    const third = await ask({ ...settings, input: 'three', previous_response_id: second.id })
    expect(third.previous_response_id).toBe(second.id)
    expect(sent().messages.map(({ role }) => role)).toEqual(['user', 'assistant', 'user', 'assistant', 'user'])
    expect(JSON.stringify(sent().messages)).toMatch(/one.*two.*three/)
  })

  test('a conversation continues from an answer whose request referred to an item of another', async () => {
    const other = await ask({ ...settings, input: 'zero' })
    const reference = { type: 'item_reference', id: other.output.at(-1)?.id ?? '' }
    const first = await ask({ ...settings, input: 'one' })
    const input = [reference, { role: 'user', content: 'two' }]
    const second = await ask({ ...settings, input, previous_response_id: first.id })
    await ask({ ...settings, input: 'three', previous_response_id: second.id })
    expect(JSON.stringify(sent().messages)).toMatch(/one.*zero.*two.*three/)
  })
})

test('another provider gets the items themselves', async () => {
  const first = await ask({ input: 'one' })
  const references = first.output.map(({ id }) => ({ type: 'item_reference', id }))
  await ask({ model: 'vendorB-5.5', input: [...references, { role: 'user', content: 'two' }] })
  expect(sent().input[0]).toMatchObject({ type: 'message', role: 'assistant' })
})

test('an image of the conversation so far is refused where the model takes text only', async () => {
  const image = { type: 'input_image', image_url: 'data:image/png;base64,iVBORw0KGgo=' }
  const first = await ask({ input: [{ role: 'user', content: [{ type: 'input_text', text: 'one' }, image] }] })
  const body = { model: 'vendorB-4', input: 'two', previous_response_id: first.id }
  expect(await refusal(body)).toEqual([400, 'invalid_request', 'input.0.content.1'])
})

test('answers with store: false, and those of another key, cannot be referred to', async () => {
  const unkept = await ask({ input: 'one', store: false })
  const kept = await ask({ input: 'one' })
  const stranger = (await gateway.issue()).secret
  const byItem = (answer: Answer) => ({ input: [{ type: 'item_reference', id: answer.output[0]?.id ?? '' }] })
  expect(await refusal({ input: 'two', previous_response_id: unkept.id })).toEqual([
    400,
    'invalid_request',
    'previous_response_id',
  ])
  expect(await refusal(byItem(unkept))).toEqual([400, 'invalid_request', 'input.0'])
  expect(await refusal(byItem(kept), stranger)).toEqual([400, 'invalid_request', 'input.0'])
  expect(await refusal({ input: 'two', previous_response_id: kept.id }, stranger)).toEqual([
    400,
    'invalid_request',
    'previous_response_id',
  ])
})

describe('what a provider keeps', () => {
  const REFERENCES: [string, JsonObject, number, JsonObject][] = [
    [
      'previous_response_id',
      { input: 'two', previous_response_id: 'resp_9' },
      400,
      { code: 'previous_response_not_found', param: 'previous_response_id' },
    ],
    [
      'input',
      { input: [{ type: 'item_reference', id: 'msg_9' }] },
      404,
      { code: null, param: 'input', message: "Item with id 'msg_9' not found." },
    ],
  ]
  const answer = JSON.stringify({
    ...{ id: 'resp_1', object: 'response', created_at: 5, model: 'up', status: 'completed' },
    output: [{ type: 'message', id: 'm', role: 'assistant', content: [{ type: 'output_text', text: 'Hi.' }] }],
    usage: { input_tokens: 3, output_tokens: 2, total_tokens: 5 },
  })
  const accountsAt = ({ origin }: Scripted, weights: [string, number][]) => ({
    wires: ['responses' as const],
    accounts: weights.map(([name, weight]) => ({ name, baseUrl: `${origin}/v1`, credential: name, weight })),
  })

  test.each(REFERENCES)('with one of its accounts is looked for at the others (%s)', async (_, body, status, error) => {
    const provider = await startScripted(({ headers }) =>
      headers.authorization === 'Bearer keeper'
        ? { steps: [answer] }
        : { status, steps: [JSON.stringify({ error: { message: '', type: 'invalid_request_error', ...error } })] },
    )
    const weights: [string, number][] = [
      ['other', 1_000_000],
      ['keeper', 1],
    ]
    const config = onlyProvider(provider.origin, accountsAt(provider, weights))
    const restarted = await startGateway({ config })
    try {
      const response = await restarted.post('/v1/responses', { model: 'vendorB-5.5', ...body })
      expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('Hi.')])
      expect(provider.requests.map(({ headers }) => headers.authorization)).toEqual(['Bearer other', 'Bearer keeper'])
      await restarted.idle()
      expect(restarted.server.gateway.health.states().map(({ state }) => state)).toEqual(['closed', 'closed'])
    } finally {
      await restarted.stop()
      await provider.stop()
    }
  })

  test.each(REFERENCES)('with none of them is the client’s to send (%s)', async (param, body, status, error) => {
    const provider = await startScripted(() => ({
      ...{ status, steps: [JSON.stringify({ error: { message: '', type: 'invalid_request_error', ...error } })] },
    }))
    const alone = await startGateway({ config: onlyProvider(provider.origin, accountsAt(provider, [['main', 1]])) })
    try {
      const response = await alone.post('/v1/responses', { model: 'vendorB-5.5', ...body })
      expect([response.status, response.headers.get('x-should-retry')]).toEqual([400, 'false'])
      expect(await response.json()).toMatchObject({
        error: {
          code: 'invalid_request',
          param,
          message: expect.stringContaining('not known here, or no longer: send'),
        },
      })
    } finally {
      await alone.stop()
      await provider.stop()
    }
  })
})
