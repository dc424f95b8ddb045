// What is found to be told of, by a whole gateway and its own doings.

import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import type { AlertType } from '../../src/alerts/alert.ts'
import type { Holding } from '../../src/alerts/alerts.ts'
import { createFailures } from '../../src/alerts/failures.ts'
import { budgetOf, GATEWAY } from '../../src/keys/budget.ts'
import { DEFAULT_LIMITS } from '../../src/members/member.ts'
import { targetName } from '../../src/relay/health.ts'
import { alertRules } from '../../src/server/alert-rules.ts'
import { storeError } from '../../src/store/store.ts'
import { SYSTEM, startGateway, type TestGateway } from '../support/gateway.ts'
import { type Hook, startHook, webhook } from './support.ts'

const MINUTE = 60_000
const DAY = 86_400_000
const START = Date.UTC(2026, 4, 5, 12)

let gateway: TestGateway
let hook: Hook
let now = START
const clock = (): number => now

const jwt = (claims: object): string =>
  ['{"alg":"none"}', JSON.stringify(claims), 'x'].map((part) => Buffer.from(part).toString('base64url')).join('.')

beforeEach(async () => {
  now = START
  hook = startHook()
  hook.behave(503)
  gateway = await startGateway({ vendorA: hook.url, keys: { vendorA: jwt({ exp: (START + 3 * DAY) / 1_000 }) }, clock })
  gateway.server.gateway.config.alerts.receivers = [webhook('one', hook.url)]
})
afterEach(async () => {
  await gateway.stop()
  await hook.stop()
})

/** A fresh look each time: what it remembers of the one before is another test's. */
const look = async (type: AlertType): Promise<Holding[] | undefined> => {
  const found = alertRules(gateway.server.gateway, gateway.server.gateway.trouble).find((rule) => rule.type === type)
  return found?.look()
}
const subjects = async (type: AlertType): Promise<string[]> => ((await look(type)) ?? []).map(({ subject }) => subject)

/** What a key has used, as settled exchanges would have it. */
const use = async (id: string, tokens: number): Promise<void> => {
  const { ledger, store } = gateway.server.gateway
  await ledger.flush()
  const key = store.keys.get(id)
  if (key !== undefined) key.tokensUsed = tokens
}

describe('a quota', () => {
  test('of the playground’s key is told of to nobody', async () => {
    const { id } = await gateway.issue({ tokensTotal: 1_000, purpose: 'playground' })
    await use(id, 1_000)
    expect(await subjects('quota')).toEqual([])
    expect(await subjects('expiring')).not.toContain(id)
  })

  test.each([
    [79, undefined],
    [80, 80],
    [99.9, 80],
    [100, 100],
    [250, 100],
  ])('of which %d % is used is told at the mark %p', async (used, mark) => {
    const { id } = await gateway.issue({ label: 'ci', tokensTotal: 1_000 })
    await use(id, used * 10)
    const [found] = (await look('quota')) ?? []
    expect(found?.facts.mark).toBe(mark)
    if (found !== undefined) expect(found.text).toContain(`"ci" (${id}) has used ${Math.floor(used)} %`)
  })

  test('is told at each mark once exactly so much of it is used, and in the same words', async () => {
    const { alerts } = gateway.server.gateway.config
    const { id } = await gateway.issue({ tokensTotal: 1_000 })
    for (let mark = 1; mark <= 100; mark++) {
      alerts.marks = [mark]
      await use(id, mark * 10 - 1)
      expect(await subjects('quota')).toEqual([])
      await use(id, mark * 10)
      expect((await look('quota'))?.[0]?.text).toContain(`has used ${mark} %`)
    }
  })

  test('is another one once it is renewed or topped up', async () => {
    const { id } = await gateway.issue({ tokensTotal: 100, renews: 'day' })
    const periods = new Set<string | undefined>()
    const { keys } = gateway.server.gateway.store
    const see = async (): Promise<void> => {
      await use(id, 90)
      periods.add((await look('quota'))?.[0]?.period)
    }
    await see()
    await see()
    expect(periods.size).toBe(1)
    await keys.update(id, { addTokens: 5 }, SYSTEM)
    await see()
    now += DAY
    await keys.renew(id)
    await see()
    expect(periods.size).toBe(3)
  })

  test('of a key that is revoked or expired is not told', async () => {
    const { keys } = gateway.server.gateway.store
    const [revoked, expired] = [
      await gateway.issue({ tokensTotal: 1 }),
      await gateway.issue({ tokensTotal: 1, expiresAt: now + 1 }),
    ]
    for (const { id } of [revoked, expired]) await use(id, 1)
    await keys.revoke(revoked.id, SYSTEM)
    now += 2
    expect(await look('quota')).toEqual([])
  })

  test('is looked at again only where requests ended, keys changed or a minute passed', async () => {
    const { gateway: whole } = gateway.server
    let passed = 0
    const [rule] = alertRules({ ...whole, stopwatch: () => passed }, whole.trouble)
    expect(await rule?.look()).toEqual([])
    expect(await rule?.look()).toBeUndefined()
    await gateway.issue()
    expect(await rule?.look()).toEqual([])
    expect(await rule?.look()).toBeUndefined()
    passed += MINUTE
    expect(await rule?.look()).toEqual([])
  })
})

describe('a budget', () => {
  test('is told in words of its very amount and share', async () => {
    const { budgets } = gateway.server.gateway.store
    const { id } = await gateway.issue({ label: 'ci' })
    for (const [microUsd, words] of [
      [100_000_000, '100.00 USD'],
      [250_000, '0.25 USD'],
      [1_200, '0.0012 USD'],
      [1, '0.000001 USD'],
    ] as const) {
      const terms = { unit: 'usd', amount: microUsd, renews: undefined, warnAt: [29, 57, 58] } as const
      const own = await budgets.set(budgetOf('key', id), terms, SYSTEM)
      for (const share of microUsd === 1 ? [100] : [29, 57, 58]) {
        if (own !== undefined) own.used.microUsd = (microUsd * share) / 100
        expect((await look('budget'))?.[0]?.text).toBe(
          `The budget of the key "ci" (${id}) is used to ${share} %: ${words}.`,
        )
      }
    }
  })

  test('is told at its own marks, with whose it is', async () => {
    const { budgets } = gateway.server.gateway.store
    const { id } = await gateway.issue({ label: 'ci' })
    const terms = { unit: 'usd', amount: 50_000_000, renews: 'month', warnAt: [50, 90] } as const
    const own = await budgets.set(budgetOf('key', id), terms, SYSTEM)
    const whole = await budgets.set(GATEWAY, { ...terms, unit: 'tokens', amount: 1_000, renews: undefined }, SYSTEM)
    const use = (microUsd: number, tokens: number): void => {
      if (own !== undefined) Object.assign(own.used, { microUsd })
      if (whole !== undefined) Object.assign(whole.used, { tokens })
    }
    use(24_999_999, 499)
    expect(await look('budget')).toEqual([])
    use(25_000_000, 990)
    expect(((await look('budget')) ?? []).map(({ text, facts }) => [text, facts.mark]).sort()).toEqual([
      ['The budget of the gateway is used to 99 %: 1000 tokens.', 90],
      [`The budget of the key "ci" (${id}) is used to 50 %: 50.00 USD, which renews every month.`, 50],
    ])
  })
})

describe('what is about to expire', () => {
  test('is told: keys, admin tokens and credentials that say when they end', async () => {
    const { store } = gateway.server.gateway
    const key = await gateway.issue({ label: 'old', expiresAt: now + 10 * DAY })
    const { id: createdBy } = await store.members.add({ name: 'Ada', role: 'admin', limits: DEFAULT_LIMITS }, SYSTEM)
    const token = await store.tokens.add({ label: 'script', hash: 'h', createdBy, expiresAt: now + 9 * DAY }, SYSTEM)
    expect(await subjects('expiring')).toEqual(['vendor_a/main'])
    now += 2.5 * DAY
    expect(await subjects('expiring')).toEqual([token.id, 'vendor_a/main'])
    now += 0.5 * DAY - 1
    expect(await subjects('expiring')).toEqual([token.id, 'vendor_a/main'])
    now += 1
    expect(await subjects('expiring')).toEqual([key.id, token.id])
    expect((await look('expiring'))?.[0]?.text).toBe(`The key "old" (${key.id}) expires on 2026-05-15 at 12:00 UTC.`)
    now += 7 * DAY
    expect(await subjects('expiring')).toEqual([])
  })

  test('is not told of what was made for a few days only', async () => {
    await gateway.issue({ expiresAt: now + 5 * DAY })
    expect(await subjects('expiring')).toEqual(['vendor_a/main'])
  })
})

describe('an account', () => {
  const target = targetName('vendor_a', 'main', 'vendorA-opus-4-8')
  const fail = (times: number): void => {
    const { health } = gateway.server.gateway
    for (let at = 0; at < times; at++) health.failed(target, health.begin(target))
  }

  test('that has not answered for ten minutes is told, with its models', async () => {
    fail(5)
    expect(await look('account-resting')).toEqual([])
    now += 10 * MINUTE - 1
    expect(await look('account-resting')).toEqual([])
    now += 1
    expect(await look('account-resting')).toMatchObject([
      {
        subject: 'vendor_a/main',
        text: 'The account vendor_a/main has not answered for 10 minutes (5 attempts): vendorA-opus-4-8.',
        facts: { account: 'vendor_a/main', failures: 5, since: '2026-05-05T12:00:00.000Z' },
      },
    ])
    now += MINUTE
    gateway.server.gateway.health.succeeded(target)
    expect(await look('account-resting')).toEqual([])
  })

  test('that failed once and was asked no more is not', async () => {
    fail(1)
    now += 60 * MINUTE
    expect(await look('account-resting')).toEqual([])
  })

  test('that is asked so seldom that its breaker never opens is told all the same', async () => {
    for (let at = 0; at < 5; at++) {
      fail(1)
      now += 3 * MINUTE
    }
    expect(await subjects('account-resting')).toEqual(['vendor_a/main'])
  })

  test('of which nothing is known after a restart may rest still', () => {
    const rule = alertRules(gateway.server.gateway, gateway.server.gateway.trouble).find(
      ({ type }) => type === 'account-resting',
    )
    expect(rule?.isUnknown?.('vendor_a/main')).toBe(true)
    expect(rule?.isUnknown?.('vendor_a/gone')).toBe(false)
    fail(1)
    expect(rule?.isUnknown?.('vendor_a/main')).toBe(false)
  })

  test('out of credit is told, until it answers', async () => {
    const { health } = gateway.server.gateway
    health.troubled(target, 'no-money', 'opus')
    expect(await look('out-of-credit')).toMatchObject([
      { subject: 'vendor_a/main', facts: { models: 'vendorA-opus-4-8' } },
    ])
    health.succeeded(target)
    expect(await look('out-of-credit')).toEqual([])
  })
})

describe('the share of failures', () => {
  test('of a model is told above its bound, of enough requests of late', () => {
    let passed = 0
    const failures = createFailures(
      () => passed,
      () => 10 * MINUTE,
    )
    const count = (failed: number, good: number): void => {
      for (let at = 0; at < failed; at++) failures.count('m', true)
      for (let at = 0; at < good; at++) failures.count('m', false)
    }
    count(10, 9)
    expect(failures.of(10 * MINUTE)).toEqual([{ model: 'm', requests: 19, failed: 10 }])
    passed = 5 * MINUTE
    count(0, 1)
    expect(failures.of(10 * MINUTE)).toEqual([{ model: 'm', requests: 20, failed: 10 }])
    passed = 10 * MINUTE
    count(1, 0)
    expect(failures.of(10 * MINUTE)).toEqual([{ model: 'm', requests: 2, failed: 1 }])
    passed = 60 * MINUTE
    expect(failures.of(10 * MINUTE)).toEqual([{ model: 'm', requests: 0, failed: 0 }])
  })

  test('is counted from what clients got', async () => {
    const ask = { model: 'vendorA-opus-4-8', max_tokens: 5, messages: [{ role: 'user', content: 'hi' }] }
    gateway.server.gateway.config.alerts.errorRate = { above: 0.5, requests: 3, withinMs: 10 * MINUTE }
    for (let at = 0; at < 3; at++) await (await gateway.post('/v1/messages', ask)).text()
    await gateway.idle()
    expect(await look('error-rate')).toMatchObject([
      { subject: 'vendorA-opus-4-8', facts: { requests: 3, failed: 3, minutes: 10 } },
    ])
  })
})

describe('storage', () => {
  test('is told of while the database takes no write', async () => {
    const { gateway: whole } = gateway.server
    expect(await look('storage')).toEqual([])
    const { probe } = whole.store
    whole.store.probe = () => {
      throw storeError('The disk is full.')
    }
    expect(await look('storage')).toMatchObject([
      { subject: 'database', text: expect.stringMatching(/^The database cannot be written: .*The disk is full\.$/) },
    ])
    whole.store.probe = probe
    expect(await look('storage')).toEqual([])
  })

  test('is told of where the ledger’s writes failed since the last look', async () => {
    const { gateway: whole } = gateway.server
    const rule = alertRules(whole, whole.trouble).find(({ type }) => type === 'storage')
    expect(await rule?.look()).toEqual([])
    whole.trouble.failedWrites++
    whole.trouble.cause = storeError('No room.')
    expect(await rule?.look()).toMatchObject([{ subject: 'database' }])
    expect(await rule?.look()).toEqual([])
  })
})

test('an admin who is new is told, those of before and the invited are not', async () => {
  const { gateway: whole } = gateway.server
  const { store, alerts } = whole
  const add = (name: string, more: object): void =>
    void store.members.add({ name, role: 'admin', limits: DEFAULT_LIMITS, ...more }, SYSTEM)
  add('Ada', { passwordHash: 'x' })
  const rules = alertRules(whole, whole.trouble).filter(({ type }) => type === 'new-admin')
  const told = async (): Promise<string[]> =>
    (await store.alerts.waiting()).flatMap(({ alert }) => alert.items.map(({ text }) => text))
  await alerts.look(rules)
  expect(await told()).toEqual([])
  add('Ida', {})
  add('Mia', { passwordHash: 'x', role: 'member' })
  await alerts.look(rules)
  expect(await told()).toEqual([])
  add('Eve', { passwordHash: 'x' })
  await alerts.look(rules)
  expect(await told()).toEqual(['Eve is an admin of the gateway now. If nobody meant that, see Members and the audit.'])
})

test('a version that has changed the database is told, once', async () => {
  const { gateway: whole } = gateway.server
  const { store, alerts } = whole
  const by = async (migrations: number): Promise<void> => {
    store.alerts.migrations = async () => migrations
    await alerts.look(alertRules(whole, whole.trouble).filter(({ type }) => type === 'upgraded'))
  }
  for (const migrations of [7, 7, 9, 9]) await by(migrations)
  expect((await store.alerts.waiting()).map(({ alert }) => [alert.type, alert.items[0]?.migrations])).toEqual([
    ['upgraded', 9],
  ])
})

test('nothing that is told holds a secret', async () => {
  const { health } = gateway.server.gateway
  const target = targetName('vendor_a', 'main', 'vendorA-opus-4-8')
  for (let at = 0; at < 9; at++) health.failed(target, health.begin(target))
  health.troubled(target, 'no-money', 'opus')
  const key = await gateway.issue({ tokensTotal: 1 })
  await use(key.id, 1)
  now += 11 * MINUTE
  const rules = alertRules(gateway.server.gateway, gateway.server.gateway.trouble)
  const all = (await Promise.all(rules.map((rule) => rule.look()))).flatMap((held) => held ?? [])
  expect(all.length).toBeGreaterThan(3)
  const text = JSON.stringify(all)
  const [account] = gateway.server.gateway.providers.get('vendor_a')?.accounts ?? []
  for (const secret of [key.secret, gateway.secret, account?.credential ?? '', 'shared']) {
    expect(secret).not.toBe('')
    expect(text).not.toContain(secret)
  }
})
