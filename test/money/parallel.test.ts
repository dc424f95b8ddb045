// Many clients on one key whose provider tells its figures late: no token of output more than was bought.

import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { type Gate, gate } from '../support/provider/scripted.ts'
import { booksOf, CROSSINGS, capOf, exchangesOf, type Money, spoken, startMoney, totalOf } from './support.ts'

let money: Money
beforeAll(async () => {
  money = await startMoney()
})
afterAll(() => money.stop())

let late: Gate
beforeEach(() => {
  late = gate()
})

const CLIENTS = 200
const CALLS = 20
const CAP = 50

describe.each(CROSSINGS)('%s → %s: 200 clients at once on a key with room for 20 calls', (client, provider) => {
  test.each([false, true])('never get more output than was bought (stream: %s)', async (stream) => {
    let input = 0
    // Each answer takes all it may, and says so at the very end.
    money.answers(async (wire, streamed, request) => {
      const billed = { input, output: capOf(request.text) ?? Number.NaN }
      if (!streamed) {
        await late.opened
        return spoken(wire, false, { billed })
      }
      return spoken(wire, true, { billed, steps: ['hello', late] })
    })
    const first = await money.issue({ tokensTotal: 1_000_000 })
    const opened = money.server.gateway.ledger.openCount()
    expect(opened).toBe(0)
    // What the gateway takes the prompt for: then the estimate is exact, and only output could overspend.
    const probe = money.ask(client, provider, { secret: first.secret, cap: CAP })
    await money.provider.arrived(money.provider.requests.length)
    input = money.server.gateway.ledger.heldBy(first.id) - CAP
    late.open()
    await (await probe).text()
    late = gate()

    const { id, secret } = await money.issue({ tokensTotal: CALLS * (input + CAP) })
    const from = money.provider.requests.length
    const asking = Array.from({ length: CLIENTS }, () => money.ask(client, provider, { secret, stream, cap: CAP }))
    // The provider holds 20 open, and all others have their answer before it says a word of its figures.
    await Promise.all(Array.from({ length: CALLS }, (_, at) => money.provider.arrived(from + at)))
    const refused = await firstOf(asking, CLIENTS - CALLS)
    expect(money.server.gateway.ledger.heldBy(id)).toBe(CALLS * (input + CAP))
    for (const response of refused) {
      expect(response.status).toBe(429)
      expect(response.headers.get('x-gateway-error-code')).toBe('rate_limit_exceeded')
      expect(Number(response.headers.get('retry-after'))).toBeGreaterThan(0)
    }
    late.open()
    const all = await Promise.all(asking)
    await Promise.all(all.map((response) => response.text()))
    await money.idle()
    expect(money.provider.requests.length - from).toBe(CALLS)
    expect(all.filter(({ status }) => status === 200)).toHaveLength(CALLS)
    expect(money.key(id)).toMatchObject({ tokensUsed: CALLS * (input + CAP), tokensTotal: CALLS * (input + CAP) })
    const total = CALLS * (input + CAP)
    expect(await booksOf(money, id)).toMatchObject({
      rows: CALLS,
      total,
      used: total,
      held: 0,
      sums: [total, total, total],
    })

    const after = await money.ask(client, provider, { secret, stream, cap: CAP })
    expect([after.status, after.headers.get('x-gateway-error-code')]).toEqual([402, 'quota_exhausted'])
    expect((await booksOf(money, id)).rows).toBe(CALLS)
  })
})

describe.each(['chat-completions', 'messages'] as const)('%s → responses: a cap below the wire’s least', (client) => {
  test('sets the least aside: many at once never get more than was bought', async () => {
    money.answers((wire, stream) => spoken(wire, stream))
    const probe = await money.ask(client, 'responses', { cap: 1 })
    await money.idle()
    const input = (await money.row(probe)).inputEstimate
    money.answers(async (wire, stream, request) => {
      await late.opened
      return spoken(wire, stream, { billed: { input, output: capOf(request.text) ?? Number.NaN } })
    })
    const { id, secret } = await money.issue({ tokensTotal: 1_000 })
    const asking = Array.from({ length: CLIENTS }, () => money.ask(client, 'responses', { secret, cap: 1 }))
    await firstOf(asking, 100)
    late.open()
    const all = await Promise.all(asking)
    await Promise.all(all.map((response) => response.text()))
    await money.idle()
    expect(money.key(id).tokensUsed).toBeGreaterThan(500)
    expect(money.key(id).tokensUsed).toBeLessThanOrEqual(1_000)
  })
})

/** The first answers to come, so many of them. */
const firstOf = async (asking: Promise<Response>[], count: number): Promise<Response[]> => {
  const come: Response[] = []
  const { promise, resolve, reject } = Promise.withResolvers<Response[]>()
  for (const each of asking) {
    each.then((response) => {
      if (response.status !== 200 && come.push(response) === count) resolve(come)
    }, reject)
  }
  return promise
}

describe('a prompt that was longer than it looked', () => {
  test('is the only way a key is overspent, and only by its last requests', async () => {
    const cap = 10
    money.answers((wire, stream, request) =>
      spoken(wire, stream, { billed: { input: 500, output: capOf(request.text) ?? Number.NaN } }),
    )
    const { id, secret } = await money.issue({ tokensTotal: 5_000 })
    const rounds: number[] = []
    for (let status = 200; status === 200 && rounds.length < 100; ) {
      const response = await money.ask('chat-completions', 'messages', { secret, cap })
      await response.text()
      await money.idle()
      status = response.status
      rounds.push(status)
    }
    expect(rounds.at(-1)).toBe(402)
    const rows = (await exchangesOf(money.server.gateway.store)).filter(({ keyId }) => keyId === id)
    const overspent = money.key(id).tokensUsed - 5_000
    const estimates = rows.map((row) => totalOf(row) - (row.inputEstimate + (row.output ?? 0)))
    expect(overspent).toBeLessThanOrEqual(Math.max(...estimates))
    expect(rows.every((row) => (row.output ?? 0) <= cap)).toBe(true)
  })
})
