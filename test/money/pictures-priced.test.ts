// Pictures that are billed by the picture: in the cost, apart as a fee, and set aside before they are asked for.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { BUILTIN_MODELS } from '../../src/catalogue/builtin.ts'
import { budgetOf, termsOf } from '../../src/keys/budget.ts'
import { SYSTEM } from '../support/gateway.ts'
import { gate } from '../support/provider/scripted.ts'
import { type Money, startMoney } from './support.ts'

const perImage = { 'hd/1024x1024': 0.08, '1024x1024': 0.04, default: 0.12 }
const models = BUILTIN_MODELS.map((model) =>
  model.id === 'vendorB-image-1'
    ? { ...model, price: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, perImage } }
    : model,
)

let money: Money
beforeAll(async () => {
  money = await startMoney({ config: { models } })
})
afterAll(() => money.stop())

const whole = (count: number, more: object = {}) => ({
  steps: [
    JSON.stringify({ created: 1, data: Array.from({ length: count }, () => ({ b64_json: 'iVBORw0KGgo=' })), ...more }),
  ],
})
const draw = (secret: string, body: object): Promise<Response> =>
  money.post(
    '/v1/images/generations',
    { model: 'vendorB-image-1', prompt: 'a lock', ...body },
    { authorization: `Bearer ${secret}` },
  )

test.each<[string, object, object, number]>([
  ['by the size asked for', { size: '1024x1024', n: 2 }, whole(2), 80_000],
  ['by the quality asked for', { size: '1024x1024', quality: 'hd' }, whole(1), 80_000],
  ["by the answer's word of what was left open", { n: 3 }, whole(3, { size: '1024x1024', quality: 'hd' }), 240_000],
  ['as the dearest where nobody says', { size: 'auto' }, whole(1), 120_000],
  ['as many as were made', { size: '1024x1024', n: 4 }, whole(3), 120_000],
])('pictures cost %s', async (_what, body, script, cost) => {
  money.answers(() => script)
  const { secret } = await money.issue({})
  const response = await draw(secret, body)
  await response.text()
  await money.idle()
  expect(await money.row(response)).toMatchObject({ costMicroUsd: cost, feesMicroUsd: cost, outcome: 'done' })
})

test('a budget lets in at once only what it can pay for', async () => {
  const late = gate()
  money.answers(async () => {
    await late.opened
    return whole(1)
  })
  const { id, secret } = await money.issue({})
  await money.server.gateway.store.budgets.set(budgetOf('key', id), termsOf({ usd: 0.1 }), SYSTEM)
  const body = { size: '1024x1024', quality: 'standard' }
  const all = [1, 2, 3, 4].map(() => draw(secret, body))
  const first = [await Promise.race(all), late.open()]
  expect(first).toMatchObject([{ status: 429 }, undefined])
  expect((await Promise.all(all)).map(({ status }) => status).toSorted()).toEqual([200, 200, 429, 429])
  await money.idle()
  const dear = await draw(secret, { size: '1024x1024', quality: 'hd' })
  expect([dear.status, dear.headers.get('x-gateway-error-code')]).toEqual([402, 'quota_exhausted'])
  expect(money.server.gateway.store.budgets.get(budgetOf('key', id))?.used.microUsd).toBe(80_000)
})
