// What vendors' figures come to in dollars, worked out by hand from their documentation: whole and streamed, for clients of every
// wire, and the bill that says so.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { BUILTIN_MODELS } from '../../src/catalogue/builtin.ts'
import type { Price } from '../../src/catalogue/model.ts'
import { billOf } from '../../src/http/admin/bill.ts'
import { isObject, type JsonObject } from '../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import type { Script } from '../support/provider/scripted.ts'
import { MODEL_OF, type Money, spoken, startMoney } from './support.ts'

const PRICE: Price = {
  ...{ input: 2, cacheRead: 0.2, cacheWrite: 2.5, cacheWrite1h: 4, output: 10 },
  long: { above: 100_000, input: 4, cacheRead: 0.4, cacheWrite: 5, cacheWrite1h: 8, output: 15 },
  serviceTiers: { flex: 0.5, fast: 6, us: 1.1 },
  perCall: { web_search: 0.005, x_posts: 0.005 },
}
/** Of a model that gives advice or stands in. */
const OTHER = 'vendorA-sonnet-5'
const OTHERS: Price = { input: 5, cacheRead: 0.5, cacheWrite: 6.25, output: 25, serviceTiers: { us: 1.1 } }

let money: Money
beforeAll(async () => {
  const models = BUILTIN_MODELS.map((model) => ({ ...model, price: model.id === OTHER ? OTHERS : PRICE }))
  money = await startMoney({ config: { models } })
})
afterAll(() => money.stop())

/** The same with these figures in the place of its own, wherever it has any, and other members and items beside them. */
const telling = (script: Script, usage: JsonObject, change: (holder: JsonObject) => void): Script => ({
  ...script,
  steps: [...(script.steps as Iterable<string>)].map((step) =>
    step.replaceAll(/\{.*\}/g, (text) => {
      const body = JSON.parse(text)
      const holder = body.message ?? body.response ?? body
      if (isObject(holder.usage)) Object.assign(holder, { usage })
      change(body)
      return JSON.stringify(body)
    }),
  ),
})

type Row = [what: string, wire: ChatWire, usage: JsonObject, cost: number]

const round = (type: string, input: number, output: number, more: JsonObject = {}): JsonObject => ({
  ...{ type, input_tokens: input, output_tokens: output },
  ...more,
})

const ROWS: Row[] = [
  [
    'a prompt of which a part was read from the cache, and a part written there',
    'chat-completions',
    {
      ...{ prompt_tokens: 5_000, completion_tokens: 10, total_tokens: 5_010 },
      prompt_tokens_details: { cached_tokens: 1_000, cache_write_tokens: 3_000 },
    },
    1_000 * 2 + 1_000 * 0.2 + 3_000 * 2.5 + 100,
  ],
  [
    'what a relay says was written for an hour',
    'chat-completions',
    {
      ...{ prompt_tokens: 1_000, completion_tokens: 10, total_tokens: 1_010 },
      prompt_tokens_details: { cache_write_tokens: 900 },
      cache_creation: { ephemeral_5m_input_tokens: 400, ephemeral_1h_input_tokens: 500 },
    },
    100 * 2 + 400 * 2.5 + 500 * 4 + 100,
  ],
  [
    'the same within the details',
    'chat-completions',
    {
      ...{ prompt_tokens: 1_000, completion_tokens: 10, total_tokens: 1_010 },
      prompt_tokens_details: { cache_write_tokens: 900, cache_creation: { ephemeral_1h_input_tokens: 500 } },
    },
    100 * 2 + 400 * 2.5 + 500 * 4 + 100,
  ],
  [
    'thoughts that only the total holds',
    'chat-completions',
    { prompt_tokens: 20, completion_tokens: 198, total_tokens: 623 },
    20 * 2 + 603 * 10,
  ],
  [
    'a prompt past the bound by what was cached',
    'responses',
    {
      ...{ input_tokens: 100_001, output_tokens: 10, total_tokens: 100_011 },
      input_tokens_details: { cached_tokens: 100_000 },
    },
    4 + 100_000 * 0.4 + 150,
  ],
  [
    'searches that the figures name as they are called',
    'responses',
    {
      ...{ input_tokens: 100, output_tokens: 10, total_tokens: 110 },
      tool_calls_details: { web_search: { invocation: 2 } },
    },
    200 + 100 + 10_000,
  ],
  [
    'posts that were fetched',
    'responses',
    {
      ...{ input_tokens: 100, output_tokens: 10, total_tokens: 110 },
      server_side_tool_usage_details: { x_posts_fetched: 3, web_search_calls: 0 },
    },
    200 + 100 + 15_000,
  ],
  [
    'another model’s advice at its own price',
    'messages',
    {
      ...{ input_tokens: 412, output_tokens: 531 },
      iterations: [
        round('message', 412, 89),
        round('advisor_message', 823, 1_612, { model: OTHER }),
        round('message', 1_348, 442),
      ],
    },
    (412 + 1_348) * 2 + 531 * 10 + 823 * 5 + 1_612 * 25,
  ],
  [
    'the same kept to a region',
    'messages',
    {
      ...{ input_tokens: 412, output_tokens: 89, inference_geo: 'us' },
      iterations: [round('message', 412, 89), round('advisor_message', 823, 1_612, { model: OTHER })],
    },
    Math.round((412 * 2 + 89 * 10 + 823 * 5 + 1_612 * 25) * 1.1),
  ],
  [
    'the advice of a model that nobody knows as the answer’s own',
    'messages',
    {
      ...{ input_tokens: 412, output_tokens: 89 },
      iterations: [round('message', 412, 89), round('advisor_message', 823, 1_612, { model: 'elsewhere' })],
    },
    (412 + 823) * 2 + (89 + 1_612) * 10,
  ],
  [
    'a summary and the answer, each by the length of its own prompt',
    'messages',
    {
      ...{ input_tokens: 23_000, output_tokens: 1_000 },
      iterations: [round('compaction', 90_000, 3_500), round('message', 23_000, 1_000)],
    },
    113_000 * 2 + 4_500 * 10,
  ],
  [
    'a summary of a long conversation at the price of long prompts',
    'messages',
    {
      ...{ input_tokens: 23_000, output_tokens: 1_000 },
      iterations: [round('compaction', 190_000, 3_500), round('message', 23_000, 1_000)],
    },
    190_000 * 4 + 3_500 * 15 + 23_000 * 2 + 10_000,
  ],
  [
    'the model that stood in at its own price, and nothing of one that had declined at once',
    'messages',
    {
      ...{ input_tokens: 420, output_tokens: 200 },
      iterations: [
        round('message', 400, 0, { model: MODEL_OF.messages }),
        round('fallback_message', 420, 200, { model: OTHER }),
      ],
    },
    420 * 5 + 200 * 25,
  ],
  [
    'both where the first had written something',
    'messages',
    {
      ...{ input_tokens: 420, output_tokens: 200 },
      iterations: [
        round('message', 400, 30, { model: MODEL_OF.messages }),
        round('fallback_message', 420, 200, { model: OTHER }),
      ],
    },
    400 * 2 + 300 + 420 * 5 + 200 * 25,
  ],
]

const asked = ROWS.flatMap((row) => CHAT_WIRES.map((client) => [...row, client] as const))

test.each(asked)('%s, told by %s', async (_what, wire, usage, cost, client) => {
  for (const stream of [false, true]) {
    money.answers((reached, streamed) => telling(spoken(reached, streamed), usage, () => undefined))
    const row = await money.exchange(client, wire, { stream })
    expect(row).toMatchObject({ outcome: 'done', estimated: false, costMicroUsd: cost })
    const lines = billOf(money.server.gateway, row)?.lines ?? []
    const sum = lines.reduce((all, { micro_usd }) => all + micro_usd, 0)
    expect(Math.abs(sum - cost)).toBeLessThanOrEqual(1)
  }
})

test('the bill names the other model', async () => {
  const [, , usage] = ROWS.find(([what]) => what.startsWith('another model’s advice')) ?? ROWS[0] ?? []
  money.answers((wire, streamed) => telling(spoken(wire, streamed), usage ?? {}, () => undefined))
  const row = await money.exchange('messages', 'messages')
  expect(billOf(money.server.gateway, row)?.lines).toMatchObject([
    { what: 'input', model: null, count: 1_760, usd: 2 },
    { what: 'output', model: null, count: 531, usd: 10 },
    { what: 'input', model: OTHER, count: 823, usd: 5 },
    { what: 'output', model: OTHER, count: 1_612, usd: 25 },
  ])
})

describe('a call counts as the figures say', () => {
  const usage = { input_tokens: 100, output_tokens: 10, total_tokens: 110 }
  const search = (id: string, status: string): JsonObject => ({
    ...{ type: 'web_search_call', id, status },
    action: { type: 'search', query: 'a' },
  })
  const items = [search('ws_1', 'completed'), search('ws_2', 'failed'), search('ws_3', 'completed')]
  const tools = { web_search_calls: 1, x_search_calls: 0 }
  test.each<[string, JsonObject, number]>([
    ['where they tell it', { ...usage, server_side_tool_usage_details: tools }, 1],
    [
      'once, where two members tell it',
      { ...usage, server_side_tool_usage_details: tools, tool_calls_details: { web_search: { invocation: 1 } } },
      1,
    ],
    [
      'and as the answer shows where they tell none',
      { ...usage, server_side_tool_usage_details: { web_search_calls: 0 } },
      2,
    ],
    ['and by those that did not fail where they say nothing', usage, 2],
  ])('%s', async (_, told, calls) => {
    for (const client of CHAT_WIRES) {
      money.answers((wire, streamed) =>
        telling(spoken(wire, streamed), told, (body) => {
          if (Array.isArray(body.output)) body.output.unshift(...items)
        }),
      )
      const row = await money.exchange(client, 'responses')
      expect([row.serverTools, row.costMicroUsd]).toEqual([{ web_search: calls }, 300 + calls * 5_000])
    }
  })
})
