// A model without a price costs what its provider says that it charged, where that one is known to say so.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { BUILTIN_MODELS } from '../../src/catalogue/builtin.ts'
import type { JsonObject } from '../../src/ir/json.ts'
import { budgetOf, termsOf } from '../../src/keys/budget.ts'
import { SYSTEM } from '../support/gateway.ts'
import type { Script } from '../support/provider/scripted.ts'
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
  ['nothing, where it does not say', { cost: null }, 0],
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

test('what was charged counts in budgets', async () => {
  money.answers((wire, streamed) => saying(spoken(wire, streamed), { cost: 0.03 }))
  const { id, secret } = await money.issue({})
  await money.server.gateway.store.budgets.set(budgetOf('key', id), termsOf({ usd: 0.05 }), SYSTEM)
  const answered = []
  for (let at = 0; at < 3; at++) answered.push((await money.ask('messages', 'chat-completions', { secret })).status)
  expect(answered).toEqual([200, 200, 402])
})
