// What vendors' figures come to in dollars, worked out by hand from their documentation: whole and streamed, for clients of every
// wire, and the bill that says so.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { BUILTIN_MODELS } from '../../src/catalogue/builtin.ts'
import type { Price } from '../../src/catalogue/model.ts'
import { billOf } from '../../src/http/admin/bill.ts'
import { isObject, type JsonObject } from '../../src/ir/json.ts'
import { CHAT_WIRES, type ChatWire } from '../../src/ir/wire.ts'
import type { Script } from '../support/provider/scripted.ts'
import { type Money, spoken, startMoney } from './support.ts'

const PRICE: Price = {
  ...{ input: 2, cacheRead: 0.2, cacheWrite: 2.5, cacheWrite1h: 4, output: 10 },
  long: { above: 100_000, input: 4, cacheRead: 0.4, cacheWrite: 5, cacheWrite1h: 8, output: 15 },
  serviceTiers: { flex: 0.5, fast: 6, us: 1.1 },
  perCall: { web_search: 0.005, x_posts: 0.005 },
}

let money: Money
beforeAll(async () => {
  const models = BUILTIN_MODELS.map((model) => ({ ...model, price: PRICE }))
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
