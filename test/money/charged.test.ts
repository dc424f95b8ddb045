// A model without a price costs what its provider says that it charged, where that one is known to say so.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { BUILTIN_MODELS } from '../../src/catalogue/builtin.ts'
import type { JsonObject } from '../../src/ir/json.ts'
import type { Operation } from '../../src/ir/wire.ts'
import { budgetOf, termsOf } from '../../src/keys/budget.ts'
import { CODECS } from '../../src/wire/index.ts'
import { SYSTEM } from '../support/gateway.ts'
import { type Script, sse } from '../support/provider/scripted.ts'
import { CROSSINGS, type Money, spoken, startMoney } from './support.ts'

const none = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 }
const PRICED = 'vendorB-4o'

let money: Money
beforeAll(async () => {
  const price = { ...none, asTold: true as const }
  const models = BUILTIN_MODELS.map((model) =>
    model.id === PRICED ? { ...model, price: { ...none, input: 1 } } : { ...model, price },
  )
  money = await startMoney({ config: { models } })
})
afterAll(() => money.stop())

/** An answer whose figures have these members as well. */
const saying = (script: Script, told: JsonObject): Script => ({
  ...script,
  steps: [...(script.steps as Iterable<string>)].map((step) =>
    step.replaceAll(/\{.*\}/g, (text) => {
      const body = JSON.parse(text)
      const holder = body.message ?? body.response ?? body
      if (holder.usage) Object.assign(holder.usage, told)
      return JSON.stringify(body)
    }),
  ),
})

const rows: [what: string, told: JsonObject, cost: number][] = [
  ['what it charged', { cost: 0.0012345 }, 1_235],
  ['nothing, where it charged nothing', { cost: 0 }, 0],
  [
    'what it charged once, though it tells what it paid itself',
    { cost: 0.5, cost_details: { upstream_inference_cost: 0.5 } },
    500_000,
  ],
  [
    'what the customer’s own account is charged besides',
    { cost: 0.01, is_byok: true, cost_details: { upstream_inference_cost: 0.2 } },
    210_000,
  ],
  [
    'a half of a millionth as one',
    { cost: 0.0000475, is_byok: true, cost_details: { upstream_inference_cost: 0.00095 } },
    998,
  ],
  ['the total of a table', { cost: { currency: 'USD', input_cost: 0.001, total_cost: 0.0111 } }, 11_100],
  ['what it charged in ticks', { cost_in_usd_ticks: 292_331_500 }, 29_233],
  ['nothing, where it does not say', { cost: null }, 0],
  ['nothing, where a table has no total', { cost: { input_cost: 0.001 } }, 0],
  ['nothing, where ticks are more than any answer costs', { cost_in_usd_ticks: 1e18 }, 0],
  ['nothing, where it says what nothing can cost', { cost: -1 }, 0],
  ['nothing, where it says more than any answer costs', { cost: 1e9 }, 0],
]

const asked = CROSSINGS.flatMap(([client, provider]) =>
  rows.flatMap(([what, told, cost]) =>
    [false, true].map((stream) => [what, client, provider, stream, told, cost] as const),
  ),
)

test.each(asked)('costs %s: %s from %s, as a stream: %p', async (_, client, provider, stream, told, cost) => {
  money.answers((wire, streamed) => saying(spoken(wire, streamed), told))
  const row = await money.exchange(client, provider, { stream })
  expect(row).toMatchObject({ outcome: 'done', estimated: false, costMicroUsd: cost, feesMicroUsd: null })
})

test('a price counts before what its provider says', async () => {
  money.answers((wire, streamed) => saying(spoken(wire, streamed, { billed: { input: 7, output: 5 } }), { cost: 3 }))
  const row = await money.exchange('responses', 'responses', { body: { model: PRICED } })
  expect(row).toMatchObject({ outcome: 'done', costMicroUsd: 7 })
})

test('what it had charged before it broke off is not what it costs', async () => {
  const usage = { prompt_tokens: 7, completion_tokens: 1, total_tokens: 8, cost: 0.0012345 }
  const piece = { id: 'c', choices: [{ index: 0, delta: { role: 'assistant', content: 'Hi' } }], usage }
  money.answers(() => sse(`data: ${JSON.stringify(piece)}\n\n`))
  const row = await money.exchange('chat-completions', 'chat-completions', { stream: true })
  expect(row).toMatchObject({ estimated: true, costMicroUsd: 0 })
})

test('what was charged counts in budgets', async () => {
  money.answers((wire, streamed) => saying(spoken(wire, streamed), { cost: 0.03 }))
  const { id, secret } = await money.issue({})
  await money.server.gateway.store.budgets.set(budgetOf('key', id), termsOf({ usd: 0.05 }), SYSTEM)
  const answered = []
  for (let at = 0; at < 3; at++) answered.push((await money.ask('messages', 'chat-completions', { secret })).status)
  expect(answered).toEqual([200, 200, 402])
})

test.each<[Operation, JsonObject, number]>([
  ['embeddings', { usage: { prompt_tokens: 8, total_tokens: 8, cost: 0.000_16 } }, 160],
  ['images', { usage: { cost_in_usd_ticks: 200_000_000 } }, 20_000],
  ['images', { usage: { input_tokens: 8, output_tokens: 9, total_tokens: 17, cost: 0.02 } }, 20_000],
  ['audio', { text: 'a', usage: { seconds: 9.2, cost: 0.000_508 } }, 508],
  ['audio', { text: 'a', usage: { input_tokens: 8, output_tokens: 9, total_tokens: 17, cost: 0.000_508 } }, 508],
  ['audio/speech', { usage: { input_tokens: 8, output_tokens: 9, total_tokens: 17, cost: 0.002 } }, 2_000],
  ['moderations', { usage: { prompt_tokens: 8, total_tokens: 8, cost: 0.000_001 } }, 1],
])('%s that tell a charge: %o', (operation, body, charged) => {
  expect(CODECS[operation].readUsage(body)?.usage.charged).toBe(charged)
})
