// An exchange costs what it would have cost as it began, whatever the configuration has become by its end.

import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { BUILTIN_MODELS } from '../../src/catalogue/builtin.ts'
import type { Model } from '../../src/catalogue/model.ts'
import { fromConfig } from '../../src/gateway.ts'
import { type Gate, gate } from '../support/provider/scripted.ts'
import { MODEL_OF, type Money, spoken, startMoney } from './support.ts'

const price = { input: 7, output: 11, cacheRead: 1, cacheWrite: 1 }
const MODELS: Model[] = BUILTIN_MODELS.map((model) => ({ ...model, price }))
const billed = { input: 1_000, output: 100 }
const COST = 8_100

let money: Money
let amid: Gate
beforeAll(async () => {
  money = await startMoney({ config: { models: MODELS, fallbacks: { [MODEL_OF.messages]: [MODEL_OF.responses] } } })
})
afterAll(() => money.stop())
beforeEach(() => {
  amid = gate()
})

/** As the file is read again: the providers stay, which this test has arranged for itself. */
const reread = (models: Model[]): void => {
  const { catalogue } = fromConfig({ ...money.config, models })
  money.server.gateway.catalogue = catalogue
}

test.each([
  ['dearer', MODELS.map((model) => ({ ...model, price: { ...price, input: 700 } }))],
  ['free', MODELS.map((model) => ({ ...model, price: { ...price, input: 0, output: 0 } }))],
  ['no model any more', MODELS.filter(({ id }) => id !== MODEL_OF.messages && id !== MODEL_OF.responses)],
])(
  'an exchange is billed at the prices it began with: its model is %s by its end, with and without a fallback',
  async (_, models) => {
    for (const refused of [false, true]) {
      reread(MODELS)
      amid = gate()
      money.answers((wire, stream) =>
        refused && wire === 'messages'
          ? { status: 500 }
          : spoken(wire === 'responses' ? 'responses' : 'messages', stream, { billed, steps: ['hello', amid] }),
      )
      const asking = money.ask('messages', 'messages', { stream: true })
      const response = await asking
      reread(models)
      amid.open()
      await response.text()
      await money.idle()
      expect(await money.row(response)).toMatchObject({
        outcome: 'done',
        input: 1_000,
        output: 100,
        costMicroUsd: COST,
      })
      expect((await money.row(response)).provider).toBe(refused ? 'vendor_b' : 'vendor_a')
    }
  },
)
