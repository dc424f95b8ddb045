// What an exchange was charged by is told after its model has another price, whatever store has it.

import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { BUILTIN_MODELS } from '../../src/catalogue/builtin.ts'
import type { Price } from '../../src/catalogue/model.ts'
import { takeOver } from '../../src/gateway.ts'
import { billAt } from '../../src/http/admin/bill.ts'
import { closeAll, STORES } from '../store/stores.ts'
import { MODEL_OF, type Money, startMoney } from './support.ts'

afterEach(closeAll)

describe.each(STORES)('prices in %s', (_, { newPlace }) => {
  test('are kept once each, by whichever process, and told last first', async () => {
    const place = await newPlace()
    let now = 1_000
    const stores = [await place.open(() => now++), await place.open(() => now++)]
    const kept = async (prices: Record<string, string>): Promise<void> => {
      const all = Object.entries(prices).map(([model, price]) => ({ model, price }))
      await Promise.all(stores.map((store) => store.prices.keep(all)))
    }
    await kept({ a: '{"input":1}', b: '{"input":1}' })
    await kept({ a: '{"input":2}', b: '{"input":1}' })
    await kept({ a: '{"input":1}', b: '{"input":1}' })
    for (const { prices } of stores) {
      expect(await prices.of('a')).toEqual(['{"input":2}', '{"input":1}'])
      expect(await prices.of('b')).toEqual(['{"input":1}'])
      expect(await prices.of('c')).toEqual([])
    }
    expect(await place.count('prices')).toBe(3)
  })
})

describe('a bill', () => {
  const first: Price = { input: 2, output: 10, cacheRead: 2, cacheWrite: 2, asOf: '2026-09-01' }
  const second: Price = { input: 3, output: 15, cacheRead: 3, cacheWrite: 3, asOf: '2026-10-01' }
  const modelsAt = (price: Price) => BUILTIN_MODELS.map((model) => ({ ...model, price }))
  let money: Money
  beforeAll(async () => {
    money = await startMoney({ config: { models: modelsAt(first) } })
  })
  afterAll(() => money.stop())

  test('is by the price that was charged, and says so, after prices have changed and changed back', async () => {
    const { gateway } = money.server
    const ask = () => money.exchange('messages', 'messages')
    const reprice = (price: Price): void => takeOver(gateway, { ...gateway.config, models: modelsAt(price) })
    const before = await ask()
    reprice(second)
    const after = await ask()
    const told = async (row: typeof before) => {
      const bill = await billAt(gateway, row)
      return [bill?.former, bill?.as_of, bill?.lines.map(({ usd }) => usd)]
    }
    expect(await told(before)).toEqual([true, '2026-09-01', [2, 10]])
    expect(await told(after)).toEqual([false, '2026-10-01', [3, 15]])
    reprice(first)
    expect(await told(before)).toEqual([false, '2026-09-01', [2, 10]])
    expect(await told(after)).toEqual([true, '2026-10-01', [3, 15]])
    expect((await gateway.store.prices.of(MODEL_OF.messages)).length).toBe(2)
  })
})
