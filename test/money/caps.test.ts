// A quota that does not cover the whole answer lowers the output cap the provider is sent, on every wire and crossing.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { JsonObject } from '../../src/ir/json.ts'
import type { ChatWire } from '../../src/ir/wire.ts'
import { CROSSINGS, capOf, MODEL_OF, type Money, requestOn, spoken, startMoney } from './support.ts'

let money: Money
beforeAll(async () => {
  money = await startMoney()
})
afterAll(() => money.stopAll())

/** What the provider was sent for a request on a key with so many tokens left, and what was set aside for it. */
const sent = async (
  client: ChatWire,
  provider: ChatWire,
  left: number,
  asked: { cap?: number; stream?: boolean; body?: object } = {},
): Promise<{ body: JsonObject; cap: number | undefined; input: number; reserved: number }> => {
  money.answers((wire, stream) => spoken(wire as ChatWire, stream))
  const { secret } = money.issue({ tokensTotal: left })
  const from = money.provider.requests.length
  const response = await money.ask(client, provider, { secret, ...asked })
  const text = await response.text()
  await money.idle()
  expect([response.status, text.slice(0, response.status === 200 ? 0 : 500)]).toEqual([200, ''])
  const request = money.provider.requests[from]?.text ?? '{}'
  const row = money.row(response)
  return { body: JSON.parse(request), cap: capOf(request), input: row.inputEstimate, reserved: row.reserved }
}

describe.each(CROSSINGS)('%s → %s', (client, provider) => {
  test.each([false, true])('a cap beyond what is left is lowered to that (stream: %s)', async (stream) => {
    const { cap, input, reserved } = await sent(client, provider, 200, { cap: 900, stream })
    expect(cap).toBe(200 - input)
    expect(reserved).toBe(200)
  })

  test('a request without a cap gets one where the quota does not cover the model’s maximum', async () => {
    const { cap, input } = await sent(client, provider, 300)
    expect(cap).toBe(300 - input)
  })

  test('a cap that fits is not changed', async () => {
    const { cap, input, reserved } = await sent(client, provider, 10_000, { cap: 77 })
    expect(cap).toBe(77)
    expect(reserved).toBe(input + 77)
  })

  test('no cap is sent below the wire’s minimum', async () => {
    const { cap, input } = await sent(client, provider, 8, { cap: 900 })
    expect(cap).toBe(provider === 'responses' ? 16 : Math.max(1, 8 - input))
  })
})

describe('a thinking budget', () => {
  const thinking = { type: 'enabled', budget_tokens: 4_000 }

  test.each([
    [3_000, true],
    [1_500, true],
    [1_000, false],
    [20, false],
  ])('stays below a cap lowered to %i, or thinking is turned off (thinks: %s)', async (left, thinks) => {
    const { body, cap } = await sent('messages', 'messages', left, { cap: 9_000, body: { thinking } })
    expect(cap).toBeLessThanOrEqual(left)
    if (!thinks) expect(body.thinking).toEqual({ type: 'disabled' })
    else {
      const { budget_tokens } = body.thinking as { budget_tokens: number }
      expect(budget_tokens).toBeLessThan(cap ?? 0)
      expect(budget_tokens).toBeGreaterThanOrEqual(1_024)
    }
  })

  test.each(['chat-completions', 'responses'] as const)(
    'asked for by effort on %s stays below a lowered cap',
    async (client) => {
      const effort = client === 'responses' ? { reasoning: { effort: 'high' } } : { reasoning_effort: 'high' }
      for (const left of [20, 1_000, 1_100, 2_000, 30_000]) {
        const { body, cap } = await sent(client, 'messages', left, { body: effort })
        expect(cap).toBeLessThanOrEqual(left)
        const budget = (body.thinking as { budget_tokens?: number } | undefined)?.budget_tokens
        if (budget !== undefined) expect(budget).toBeLessThan(cap ?? 0)
      }
    },
  )
})

test('several answers to one request are reserved and capped together', async () => {
  const wire = 'chat-completions'
  const { cap, input, reserved } = await sent(wire, wire, 1_000, { cap: 900, body: { n: 3 } })
  expect(cap).toBe(Math.floor((1_000 - input) / 3))
  expect(reserved).toBeLessThanOrEqual(1_000)
  expect(reserved).toBeGreaterThan(900)
  const fits = await sent(wire, wire, 1_000, { cap: 100, body: { n: 3 } })
  expect([fits.cap, fits.reserved]).toEqual([100, fits.input + 300])
})

describe('a fallback model', () => {
  test('never outputs more than was reserved for the model asked for', async () => {
    const { catalogue, fallbacks } = money.server.gateway
    const [asked, other] = [MODEL_OF.messages, MODEL_OF.responses]
    const smaller = catalogue.resolve(asked)
    const larger = catalogue.resolve(other)
    if (smaller === undefined || larger === undefined) throw new Error('no such model')
    const before = [smaller.maxOutput, larger.maxOutput] as const
    money.server.gateway.fallbacks = { ...fallbacks, [asked]: [other] }
    ;[smaller.maxOutput, larger.maxOutput] = [1_000, 5_000]
    try {
      money.answers((wire, stream) => (wire === 'messages' ? { status: 500 } : spoken(wire as ChatWire, stream)))
      const { secret } = money.issue({ tokensTotal: 100_000 })
      const from = money.provider.requests.length
      const response = await money.post('/v1/chat/completions', requestOn('chat-completions', asked, false), {
        authorization: `Bearer ${secret}`,
      })
      await response.text()
      await money.idle()
      const row = money.row(response)
      const last = money.provider.requests.at(-1)
      expect(money.provider.requests.length - from).toBe(2)
      expect(last?.path).toBe('/v1/responses')
      expect(capOf(last?.text ?? '{}') ?? 5_000).toBeLessThanOrEqual(row.reserved - row.inputEstimate)
    } finally {
      ;[smaller.maxOutput, larger.maxOutput] = before
      money.server.gateway.fallbacks = fallbacks
    }
  })
})
