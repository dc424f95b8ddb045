// What is billed by the piece: rows, sums of every kind and the table for spreadsheets tell the same, and what prices make of the
// providers' own figures.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { BUILTIN_MODELS } from '../../src/catalogue/builtin.ts'
import { usageCsv } from '../../src/lib/usage-csv.ts'
import { shownSums } from '../../src/observe/shown.ts'
import { addFigures, NO_FIGURES } from '../../src/store/figures.ts'
import { USAGE_BY } from '../../src/store/usage.ts'
import { MESSAGE } from '../support/provider/message.ts'
import { type Money, requestOn, startMoney } from './support.ts'

/** Micro-USD. */
const FEES = { web_search: 12_500, code_execution: 300, picture: 41_000 }
const perCall = { web_search: FEES.web_search / 1e6, code_execution: FEES.code_execution / 1e6 }
const models = BUILTIN_MODELS.map((model) => {
  if (model.id === 'vendorA-opus-4-8') return { ...model, price: { ...model.price, perCall } }
  if (model.id !== 'vendorB-image-1') return model
  return { ...model, price: { ...model.price, perImage: { default: FEES.picture / 1e6 } } }
})

let money: Money
beforeAll(async () => {
  money = await startMoney({ config: { models } })
})
afterAll(() => money.stop())

const asked = fc.oneof(
  fc.record({ what: fc.constant('search' as const), web_search: fc.nat(4), code_execution: fc.nat(4) }),
  fc.record({ what: fc.constant('draw' as const), pictures: fc.integer({ min: 1, max: 4 }) }),
)
type Asked = typeof asked extends fc.Arbitrary<infer T> ? T : never

const ask = async (secret: string, one: Asked): Promise<void> => {
  const answer =
    one.what === 'draw'
      ? { created: 1, data: Array.from({ length: one.pictures }, () => ({ b64_json: 'iVBORw0KGgo=' })) }
      : {
          ...MESSAGE,
          content: [{ type: 'text', text: 'hello' }],
          usage: {
            ...{ input_tokens: 3, output_tokens: 5 },
            server_tool_use: { web_search_requests: one.web_search, code_execution_requests: one.code_execution },
          },
        }
  money.answers(() => ({ steps: [JSON.stringify(answer)] }))
  const authorization = { authorization: `Bearer ${secret}`, 'x-gateway-tag': one.what }
  const response =
    one.what === 'draw'
      ? await money.post(
          '/v1/images/generations',
          { model: 'vendorB-image-1', prompt: 'a', n: one.pictures },
          authorization,
        )
      : await money.post('/v1/messages', requestOn('messages', 'vendorA-opus-4-8', false), authorization)
  expect(response.status).toBe(200)
  await response.text()
  await money.idle()
}

const feeOf = (one: Asked): number =>
  one.what === 'draw'
    ? one.pictures * FEES.picture
    : one.web_search * FEES.web_search + one.code_execution * FEES.code_execution

test(
  'fees are the same in rows, in every sum and in the table for spreadsheets',
  () =>
    fc.assert(
      fc.asyncProperty(fc.array(asked, { minLength: 1, maxLength: 6 }), async (all) => {
        const { store, config } = money.server.gateway
        const before = new Map<string, number>()
        const totals = async (by: (typeof USAGE_BY)[number]) => (await store.usage({ by })).rows
        const total = (rows: Awaited<ReturnType<typeof totals>>) => rows.reduce(addFigures, NO_FIGURES)
        for (const by of USAGE_BY) before.set(by, total(await totals(by)).feesMicroUsd)
        const { id, secret } = await money.issue({})
        for (const one of all) await ask(secret, one)
        const fees = all.reduce((sum, one) => sum + feeOf(one), 0)
        const rows = (await store.exchanges({ limit: 1_000 })).filter(({ keyId }) => keyId === id)
        expect(rows.map(({ feesMicroUsd }) => feesMicroUsd ?? 0)).toEqual(all.map(feeOf).toReversed())
        for (const by of USAGE_BY) {
          const told = await totals(by)
          const sum = total(told)
          expect([by, sum.feesMicroUsd]).toEqual([by, (before.get(by) ?? 0) + fees])
          const titled = told.map((row) => ({ group: row.group, label: row.group, sums: shownSums(row) }))
          const lines = usageCsv({ by }, titled, shownSums(sum), config.khrPerUsd).trim().split('\r\n')
          const inColumn = lines.slice(1).map((line) => Math.round(Number(line.split(',').at(-1)) * 1e6))
          expect([lines[0]?.endsWith(',fees_usd'), inColumn]).toEqual([
            true,
            [...told.map(({ feesMicroUsd }) => feesMicroUsd), sum.feesMicroUsd],
          ])
        }
        const [mine] = (await store.usage({ by: 'key', keyIds: [id] })).rows
        expect(mine).toMatchObject({
          feesMicroUsd: fees,
          costMicroUsd: rows.reduce((sum, row) => sum + row.costMicroUsd, 0),
        })
      }),
      { numRuns: 8 },
    ),
  120_000,
)
