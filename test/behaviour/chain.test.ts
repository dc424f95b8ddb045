// One gateway behind another: what the rear one made of a foreign thought comes back to it, whatever the client speaks.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import type { Quirks } from '../../src/ir/quirks.ts'
import { type DemoGateway, onlyProvider, startDemoGateway, startGateway, type TestGateway } from '../support/gateway.ts'

let rear: DemoGateway
beforeAll(async () => {
  rear = await startDemoGateway()
})
afterAll(() => rear.stop())

const before = (quirks: Quirks): Promise<TestGateway> =>
  startGateway({ config: onlyProvider(`${rear.url}/v1`, { credential: rear.secret, quirks }) })

const schema = { type: 'object', properties: { city: { type: 'string' } } }
const question = { role: 'user', content: 'weather in Lima?' }

/** A step of an agent on each wire, and the request that goes on from it. */
const STEPS: { path: string; first: JsonObject; next(answer: JsonObject): JsonObject }[] = [
  {
    path: '/v1/messages',
    first: {
      max_tokens: 4_000,
      thinking: { type: 'enabled', budget_tokens: 2_000 },
      tools: [{ name: 'get_weather', input_schema: schema }],
      messages: [question],
    },
    next: ({ content }) => {
      const call = (content as JsonObject[]).find(({ type }) => type === 'tool_use')
      const result = { type: 'tool_result', tool_use_id: call?.id ?? '', content: 'fog' }
      return {
        messages: [question, { role: 'assistant', content: content ?? [] }, { role: 'user', content: [result] }],
      }
    },
  },
  {
    path: '/v1/responses',
    first: {
      store: false,
      include: ['reasoning.encrypted_content'],
      reasoning: { effort: 'high', summary: 'auto' },
      tools: [{ type: 'function', name: 'get_weather', parameters: schema }],
      input: [question],
    },
    next: ({ output }) => {
      const items = output as JsonObject[]
      const call = items.find(({ type }) => type === 'function_call')
      const result = { type: 'function_call_output', call_id: call?.call_id ?? '', output: 'fog' }
      return { input: [question, ...items, result] }
    },
  },
  {
    path: '/v1/chat/completions',
    first: {
      reasoning_effort: 'high',
      tools: [{ type: 'function', function: { name: 'get_weather', parameters: schema } }],
      messages: [question],
    },
    next: ({ choices }) => {
      const message = (choices as { message: JsonObject }[])[0]?.message ?? {}
      const [call] = (message.tool_calls ?? []) as JsonObject[]
      return { messages: [question, message, { role: 'tool', tool_call_id: call?.id ?? '', content: 'fog' }] }
    },
  },
]

const sealed = /"signature":"[^"]{20,}"|"encrypted_content":"[^"]{20,}"/

describe.each(STEPS)('a client of $path', ({ path, first, next }) => {
  // The model whose vendor speaks another wire than the client does.
  const model = path === '/v1/messages' ? 'vendorB-5.5' : 'vendorA-opus-4-8'

  test.each([true, false])('whose second gateway reads tags: %p', async (readsTags) => {
    const front = await before(readsTags ? { readsTags } : {})
    const step = async (body: JsonObject): Promise<JsonObject> => {
      const response = await front.post(path, { ...first, ...body, model })
      const text = await response.text()
      if (response.status !== 200) throw new Error(text)
      return JSON.parse(text) as JsonObject
    }
    try {
      await step(next(await step({})))
      const last = rear.demo.requests.at(-1)?.body ?? ''
      expect(last).toContain('fog')
      expect(sealed.test(last)).toBe(readsTags)
      expect(last).not.toContain('sluice.')
    } finally {
      await front.stop()
    }
  })
})
