// A request that continues an answer by its id brings a whole conversation to its provider, and little of it to the gateway.

import { afterAll, beforeAll, expect, test } from 'bun:test'
import { gate } from '../support/provider/scripted.ts'
import { booksOf, type Money, spoken, startMoney } from './support.ts'

let money: Money
beforeAll(async () => {
  money = await startMoney()
})
afterAll(() => money.stop())

const FIRST = { input: 4_000, cached: 1_000, output: 500 }
const wire = 'responses'
const going = { body: { previous_response_id: 'resp_1' } }

/** A key that has asked for an answer, `resp_1`. */
const answered = async (
  { stream = false, body = {} } = {},
  tokensTotal = 1_000_000,
): Promise<{ id: string; secret: string }> => {
  money.answers((reached, streamed) => spoken(reached, streamed, { billed: FIRST }))
  const key = await money.issue({ tokensTotal })
  const response = await money.ask(wire, wire, { secret: key.secret, stream, body })
  await response.text()
  await money.idle()
  return key
}

/** What a request of the key is taken for. */
const estimateOf = async (secret: string, body: object): Promise<number> => {
  return (await money.exchange(wire, wire, { secret, body })).inputEstimate
}

test.each([false, true])('is taken for what the answer and its prompt came to (stream: %s)', async (stream) => {
  const { secret } = await answered({ stream })
  const alone = await estimateOf(secret, { previous_response_id: 'resp_0' })
  expect(alone).toBeLessThan(100)
  expect(await estimateOf(secret, going.body)).toBe(alone + 5_500)
})

test('is not, for another key or of an answer that is not kept', async () => {
  await answered()
  expect(await estimateOf((await money.issue()).secret, going.body)).toBeLessThan(100)
  const { secret } = await answered({ body: { store: false } })
  expect(await estimateOf(secret, going.body)).toBeLessThan(100)
})

test('is billed for it when its client disconnects before the figures', async () => {
  const { id, secret } = await answered()
  const rest = gate()
  money.answers((reached) => spoken(reached, true, { steps: ['one', rest] }))
  const leaving = new AbortController()
  const response = await money.ask(wire, wire, { secret, stream: true, signal: leaving.signal, ...going })
  await response.body?.getReader().read()
  leaving.abort()
  await money.idle()
  rest.open()
  const row = await money.row(response)
  expect(row).toMatchObject({ outcome: 'aborted', estimated: true, input: row.inputEstimate })
  expect(row.inputEstimate).toBeGreaterThan(5_500)
  expect(await booksOf(money, id)).toMatchObject({ rows: 2, held: 0 })
})

test('does not overspend the key with many others', async () => {
  const { id, secret } = await answered({}, 50_000)
  const late = gate()
  money.answers(async (reached, stream) => {
    await late.opened
    return spoken(reached, stream, { billed: { input: 5_500, output: 5 } })
  })
  const asking = Array.from({ length: 50 }, () => money.ask(wire, wire, { secret, cap: 20, ...going }))
  const refused = Promise.withResolvers<void>()
  let count = 0
  for (const each of asking) void each.then(({ status }) => status === 429 && ++count === 42 && refused.resolve())
  await refused.promise
  late.open()
  for (const response of await Promise.all(asking)) await response.text()
  await money.idle()
  expect(money.key(id).tokensUsed).toBe(5_500 + 8 * 5_505)
})
