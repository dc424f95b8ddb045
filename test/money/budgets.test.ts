// Budgets in money: no more than they hold is spent, whoever asks at once, and what they have used is what an invoice says that is
// made apart, of raw usage and prices.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { BUILTIN_MODELS } from '../../src/catalogue/builtin.ts'
import { budgetOf, GATEWAY, termsOf, type WrittenBudget } from '../../src/keys/budget.ts'
import { DEFAULT_LIMITS } from '../../src/members/member.ts'
import { SYSTEM } from '../support/gateway.ts'
import { type Gate, gate } from '../support/provider/scripted.ts'
import { CROSSINGS, capOf, exchangesOf, type Money, spoken, startMoney } from './support.ts'

/** Round figures: a token of a prompt costs 2 micro-USD at most, one of an answer 10. */
const PRICE = { input: 2, output: 10, cacheRead: 1, cacheWrite: 2 }
const models = BUILTIN_MODELS.map((model) => ({ ...model, price: PRICE }))

let money: Money
beforeAll(async () => {
  money = await startMoney({ config: { models } })
})
afterAll(() => money.stop())

let late: Gate
beforeEach(() => {
  late = gate()
})
const store = () => money.server.gateway.store
afterEach(async () => {
  for (const { id } of store().budgets.list()) await store().budgets.set(id, null, SYSTEM)
})

let people = 0
/** A team with a member in it. */
const newTeam = async () => {
  const team = await store().teams.add({ name: `Team ${++people}` }, SYSTEM)
  const limits = DEFAULT_LIMITS
  const member = await store().members.add(
    { name: `Member ${people}`, role: 'member', limits, teamId: team.id },
    SYSTEM,
  )
  return { team, member }
}
const give = (id: string, terms: WrittenBudget) => store().budgets.set(id, termsOf(terms), SYSTEM)
const codeOf = (response: Response) => [response.status, response.headers.get('x-gateway-error-code')]
const wordsOf = async (response: Response): Promise<string> =>
  ((await response.json()) as { error: { message: string } }).error.message

const CLIENTS = 200
const CALLS = 20
const CAP = 50

describe('200 clients at once on keys whose', () => {
  test.each([
    ['own budget', 'key', true],
    ['member', 'member', false],
    ["member's team", 'team', true],
    ['gateway', 'gateway', false],
  ] as const)('%s has money for 20 calls spend that and not a micro-USD more', async (_whose, kind, stream) => {
    let input = 0
    money.answers(async (wire, streamed, request) => {
      const billed = { input, output: capOf(request.text) ?? Number.NaN }
      if (streamed) return spoken(wire, true, { billed, steps: ['hello', late] })
      await late.opened
      return spoken(wire, false, { billed })
    })
    const { team, member } = await newTeam()
    const keys = await Promise.all(
      Array.from({ length: kind === 'key' ? 1 : 4 }, () => money.issue({ ownerId: member.id })),
    )
    const [first] = keys
    if (first === undefined) throw new Error('no key')
    const id = kind === 'gateway' ? GATEWAY : budgetOf(kind, { key: first.id, member: member.id, team: team.id }[kind])
    await give(id, { usd: 1000 })
    const probe = money.ask('messages', 'messages', { secret: first.secret, cap: CAP })
    await money.provider.arrived(money.provider.requests.length)
    input = money.server.gateway.ledger.heldBy(first.id) - CAP
    const each = input * PRICE.cacheWrite + CAP * PRICE.output
    expect(money.server.gateway.ledger.heldOf(id)).toEqual({ tokens: input + CAP, microUsd: each })
    late.open()
    await (await probe).text()
    await money.idle()
    late = gate()

    await store().budgets.set(id, null, SYSTEM)
    await give(id, { usd: (CALLS * each) / 1e6 })
    const from = money.provider.requests.length
    const asking = Array.from({ length: CLIENTS }, (_, at) =>
      money.ask('messages', 'messages', { secret: keys[at % keys.length]?.secret ?? '', stream, cap: CAP }),
    )
    await Promise.all(Array.from({ length: CALLS }, (_, at) => money.provider.arrived(from + at)))
    expect(money.server.gateway.ledger.heldOf(id).microUsd).toBe(CALLS * each)
    late.open()
    const all = await Promise.all(asking)
    await Promise.all(all.map((response) => response.text()))
    await money.idle()
    const let_in = all.filter(({ status }) => status === 200).length
    expect(let_in).toBeGreaterThanOrEqual(CALLS)
    for (const response of all.filter(({ status }) => status !== 200)) expect([402, 429]).toContain(response.status)
    const budget = store().budgets.get(id)
    const rows = (await exchangesOf(store())).slice(0, let_in)
    expect(budget?.used.microUsd).toBe(rows.reduce((sum, row) => sum + row.costMicroUsd, 0))
    expect(budget?.used.microUsd).toBeLessThanOrEqual(CALLS * each)
    expect(money.server.gateway.ledger.heldOf(id)).toEqual({ tokens: 0, microUsd: 0 })
  })
})

describe('a budget that does not cover a whole answer', () => {
  test.each(CROSSINGS)('lowers the cap to what is left, %s → %s', async (client, provider) => {
    let cap: number | undefined
    money.answers((wire, stream, request) => {
      cap = capOf(request.text)
      return spoken(wire, stream, { billed: { input: 3, output: cap ?? 0 } })
    })
    const { id, secret } = await money.issue({ budget: termsOf({ usd: 0.01 }) })
    await money.exchange(client, provider, { secret, cap: 5_000 })
    expect(cap).toBeGreaterThan(900)
    expect(cap).toBeLessThan(1_000)
    expect(store().budgets.get(budgetOf('key', id))?.used.microUsd).toBeLessThanOrEqual(10_000)
  })

  test('counts the dearest model that may answer', async () => {
    const { gateway } = money.server
    const { id, secret } = await money.issue({ budget: termsOf({ usd: 1 }) })
    const dear = models.find((model) => model.id === 'vendorB-5.5')
    if (dear === undefined) throw new Error('no model')
    const before = dear.price
    const { fallbacks } = gateway
    Object.assign(gateway, { fallbacks: { 'vendorA-opus-4-8': ['vendorB-5.5'] } })
    try {
      Object.assign(dear, { price: { ...PRICE, output: 100 } })
      money.answers(async (wire, stream) => {
        await late.opened
        return spoken(wire, stream, { billed: { input: 1, output: 1 } })
      })
      const asking = money.ask('messages', 'messages', { secret, cap: 10 })
      await money.provider.arrived(money.provider.requests.length)
      expect(gateway.ledger.heldOf(budgetOf('key', id)).microUsd).toBeGreaterThanOrEqual(1000)
      late.open()
      await (await asking).text()
    } finally {
      Object.assign(gateway, { fallbacks })
      Object.assign(dear, { price: before })
    }
  })
})

describe('a refusal', () => {
  const spend = async (secret: string): Promise<Response> => {
    money.answers((wire, stream) => spoken(wire, stream, { billed: { input: 500, output: 400 } }))
    await money.exchange('messages', 'messages', { secret, cap: 400 })
    return money.ask('messages', 'messages', { secret, cap: 400 })
  }

  test('says which budget is used up, of how much, and when it renews', async () => {
    const { team, member } = await newTeam()
    const { secret } = await money.issue({ ownerId: member.id })
    await give(budgetOf('member', member.id), { usd: 100 })
    await give(budgetOf('team', team.id), { usd: 0.0045, renews: 'month' })
    const refused = await spend(secret)
    expect(codeOf(refused)).toEqual([402, 'quota_exhausted'])
    expect(await wordsOf(refused)).toBe(
      `The budget of the team ${team.name} (0.0045 USD a month) is used up. It renews on the first of every month, at 00:00 UTC. Ask those who run the gateway for more.`,
    )
  })

  test.each([
    ['of the key', 'this API key', 'key'],
    ['of the gateway', 'the whole gateway', 'gateway'],
  ] as const)('says that it is the one %s', async (_what, words, kind) => {
    const { id, secret } = await money.issue()
    await give(kind === 'key' ? budgetOf('key', id) : GATEWAY, { tokens: 500 })
    const refused = await spend(secret)
    expect(codeOf(refused)).toEqual([402, 'quota_exhausted'])
    expect(await wordsOf(refused)).toContain(`The budget of ${words} (500 tokens in all) is used up.`)
  })

  test('says what is left where the prompt surely costs more', async () => {
    const { secret } = await money.issue({ budget: termsOf({ usd: 0.0001 }) })
    const text = 'a word and another '.repeat(2_000)
    const body = { messages: [{ role: 'user', content: text }] }
    const refused = await money.ask('messages', 'messages', { secret, cap: 10, body })
    expect(codeOf(refused)).toEqual([402, 'quota_exhausted'])
    expect(await wordsOf(refused)).toMatch(
      /^The prompt takes at least 0\.00\d+ USD, and the budget of this API key \(0\.0001 USD in all\) has 0\.0001 USD left\. Shorten it, or ask /,
    )
  })

  test('of a count of tokens is the same', async () => {
    const { secret } = await money.issue({ budget: termsOf({ usd: 0 }) })
    const headers = { authorization: `Bearer ${secret}` }
    const body = { model: 'vendorA-opus-4-8', messages: [{ role: 'user', content: 'hi' }] }
    expect(codeOf(await money.post('/v1/messages/count_tokens', body, headers))).toEqual([402, 'quota_exhausted'])
  })

  test('leaves GET /v1/usage as it is, and the history tells the budgets', async () => {
    const { secret } = await money.issue({ budget: termsOf({ usd: 5, renews: 'week' }) })
    const headers = { authorization: `Bearer ${secret}` }
    const usage = (await (await money.get('/v1/usage', headers)).json()) as object
    expect(Object.keys(usage)).toEqual([
      ...['label', 'tokens_total', 'tokens_used', 'tokens_remaining', 'expires_at', 'status', 'rate'],
    ])
    const history = (await (await money.get('/v1/usage/history', headers)).json()) as { key: object }
    expect(history.key).toMatchObject({
      budgets: [{ of: 'key', usd: 5, renews: 'week', used: 0, remaining: 5_000_000 }],
      ...{ allowed_models: ['*'], limits: { rpm: null } },
    })
  })
})

describe('what was used', () => {
  test('is what an invoice says that is made of raw usage and prices, in rows, sums and budgets alike', async () => {
    const { team, member } = await newTeam()
    const { id, secret } = await money.issue({ ownerId: member.id })
    const owned = [budgetOf('key', id), budgetOf('member', member.id), budgetOf('team', team.id), GATEWAY]
    for (const each of owned) await give(each, { usd: 1000 })
    const told: { input: number; cached: number; output: number }[] = []
    let seed = 7
    const dice = (most: number): number => {
      seed = (seed * 48_271) % 2_147_483_647
      return seed % most
    }
    money.answers((wire, stream) => {
      const billed = { input: dice(3_000) + 1, cached: dice(9_000), output: dice(200) + 1 }
      told.push(billed)
      return spoken(wire, stream, { billed })
    })
    for (const [client, provider] of CROSSINGS)
      for (const stream of [false, true]) await money.exchange(client, provider, { secret, stream, cap: 400 })
    const invoice = told.reduce(
      (sum, { input, cached, output }) => sum + input * PRICE.input + cached * PRICE.cacheRead + output * PRICE.output,
      0,
    )
    const tokens = told.reduce((sum, { input, cached, output }) => sum + input + cached + output, 0)
    const rows = (await exchangesOf(store())).filter((row) => row.keyId === id)
    expect(rows.reduce((sum, row) => sum + row.costMicroUsd, 0)).toBe(invoice)
    for (const by of ['key', 'day', 'model'] as const) {
      const sums = (await store().usage({ by, keyIds: [id] })).rows
      expect(sums.reduce((sum, row) => sum + row.costMicroUsd, 0)).toBe(invoice)
    }
    expect(owned.map((each) => store().budgets.get(each)?.used)).toEqual(
      owned.map(() => ({ tokens, microUsd: invoice })),
    )
  })

  test('passes each mark once in a period, and says so once it is written', async () => {
    const { id, secret } = await money.issue({ budget: termsOf({ tokens: 1000, warn_at: [50, 80, 100] }) })
    const budget = budgetOf('key', id)
    const before = (await store().budgets.marks(0, 1000)).at(-1)?.row ?? 0
    let heard = 0
    const deaf = store().budgets.onMarks(() => heard++)
    const marks = async () =>
      (await store().budgets.marks(before, 100))
        .filter((each) => each.budget === budget)
        .map(({ mark, used, amount, unit }) => [mark, used, amount, unit])
    const use = async (output: number) => {
      money.answers((wire, stream) => spoken(wire, stream, { billed: { input: 10, output } }))
      await money.exchange('messages', 'messages', { secret, cap: 500 })
    }
    await use(390)
    expect([await marks(), heard]).toEqual([[], 0])
    await use(90)
    expect([await marks(), heard]).toEqual([[[50, 500, 1000, 'tokens']], 1])
    await use(100)
    expect(await marks()).toHaveLength(1)
    await use(390)
    expect((await marks()).slice(1)).toEqual([
      [80, 1010, 1000, 'tokens'],
      [100, 1010, 1000, 'tokens'],
    ])
    expect(heard).toBe(2)
    await store().budgets.renew(budget)
    await use(490)
    expect((await marks()).at(-1)).toEqual([50, 500, 1000, 'tokens'])
    deaf()
  })
})
