// The windows of keys in Valkey or Redis against a model of them: whoever comes, leaves and is counted in whatever order.

import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createRedis } from '../../../src/store/redis/client.ts'
import { createWindows } from '../../../src/store/redis/windows.ts'
import { redisMissing, startRedis, type TestRedis } from '../../support/redis.ts'

let server: TestRedis
beforeAll(async () => {
  if (redisMissing === undefined) server = await startRedis()
})
afterAll(() => server?.stop())

/** Of a test that sets the time. */
const SET_TIME = "local now = tonumber(redis.call('GET', 'time'))"
const START = 1_800_000_000_000

type Step =
  | { do: 'enter'; count: number }
  | { do: 'leave'; which: number; refund: boolean }
  | { do: 'count'; tokens: number; again: boolean }
  | { do: 'wait'; ms: number }

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('enter' as const), count: fc.integer({ min: 1, max: 4 }) }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('leave' as const), which: fc.nat(9), refund: fc.boolean() }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('count' as const), tokens: fc.nat(40), again: fc.boolean() }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('wait' as const), ms: fc.nat(25_000) }) },
)
const limit = (max: number) => fc.oneof(fc.constant(0), fc.integer({ min: 1, max }))
const limits = fc.record({ rpm: limit(8), tpm: limit(90), concurrency: limit(5) })

describe.skipIf(redisMissing !== undefined)('windows', () => {
  test('let in whom the minute before has room for, in order, and nobody else', async () => {
    const redis = createRedis(server.url)
    const windows = createWindows(redis, SET_TIME)
    await fc.assert(
      fc.asyncProperty(limits, fc.array(step, { maxLength: 40 }), async (given, steps: Step[]) => {
        const keyId = crypto.randomUUID()
        let now = START
        let said = 0
        const counted: { second: number; requests: number; tokens: number }[] = []
        const inside: { id: string; second: number; entry: (typeof counted)[number] }[] = []
        const second = (): number => Math.floor(now / 1_000)
        const sum = (what: 'requests' | 'tokens'): number =>
          counted.filter((each) => each.second >= second() - 60).reduce((all, each) => all + each[what], 0)
        await server.client.set('time', String(now))
        for (const one of steps) {
          if (one.do === 'wait') {
            now += one.ms
            await server.client.set('time', String(now))
            // As its node does.
            await windows.stay(
              keyId,
              inside.map(({ id }) => id),
            )
          } else if (one.do === 'count') {
            const what = { requests: 0, tokens: one.tokens, node: 'n', number: ++said }
            for (let i = one.again ? 2 : 1; i > 0; i--) await windows.count(keyId, what)
            counted.push({ second: second(), requests: 0, tokens: one.tokens })
          } else if (one.do === 'leave') {
            const [left] = inside.splice(one.which % Math.max(1, inside.length), 1)
            if (left === undefined) continue
            const refunded = one.refund ? [{ id: left.id, second: left.second }] : []
            for (let i = 0; i < 2; i++) await windows.leave(keyId, one.refund ? [] : [left.id], refunded)
            if (one.refund) left.entry.requests--
          } else {
            const ids = Array.from({ length: one.count }, () => crypto.randomUUID())
            const [before, tokens, active] = [sum('requests'), sum('tokens'), inside.length]
            const wanted = ids.map((id) => {
              if (given.rpm > 0 && sum('requests') >= given.rpm) return 'limited'
              if (given.tpm > 0 && tokens >= given.tpm) return 'limited'
              if (given.concurrency > 0 && inside.length >= given.concurrency) return 'busy'
              const entry = { second: second(), requests: 1, tokens: 0 }
              counted.push(entry)
              inside.push({ id, second: second(), entry })
              return 'ok'
            })
            const window = await windows.enter(keyId, given, ids)
            expect(window.said).toEqual(wanted)
            expect(window.requests.reduce((all, each) => all + each, 0)).toBe(before)
            expect(window.tokens.reduce((all, each) => all + each, 0)).toBe(tokens)
            expect([window.active, window.now]).toEqual([active, now])
            const repeated = await windows.enter(
              keyId,
              given,
              ids.filter((_, i) => wanted[i] === 'ok'),
            )
            expect(new Set(repeated.said)).toEqual(new Set(wanted.includes('ok') ? ['in'] : []))
          }
        }
      }),
      { numRuns: 60 },
    )
    redis.close()
  })

  test('let in exactly as many of those who come at once from many nodes', async () => {
    const nodes = Array.from({ length: 4 }, () => createRedis(server.url))
    const given = { rpm: 25, tpm: 0, concurrency: 0 }
    const asked = Array.from({ length: 100 }, (_, i) => {
      const windows = createWindows(nodes[i % nodes.length] as (typeof nodes)[number])
      return windows.enter('raced', given, [`${i}a`, `${i}b`])
    })
    const said = (await Promise.all(asked)).flatMap((window) => window.said)
    expect(said.filter((word) => word === 'ok')).toHaveLength(25)
    expect(said.filter((word) => word === 'limited')).toHaveLength(175)
    for (const node of nodes) node.close()
  })

  test('count nobody in who has not said for long that they stay, and forget a key that is idle', async () => {
    const redis = createRedis(server.url)
    const windows = createWindows(redis, SET_TIME)
    const given = { rpm: 0, tpm: 0, concurrency: 2 }
    await server.client.set('time', String(START))
    expect((await windows.enter('idle', given, ['a', 'b', 'c'])).said).toEqual(['ok', 'ok', 'busy'])
    await server.client.set('time', String(START + 5_000))
    await windows.stay('idle', ['b'])
    await server.client.set('time', String(START + 10_000))
    expect((await windows.enter('idle', given, ['c', 'd'])).said).toEqual(['ok', 'busy'])
    for (const name of ['window', 'in']) expect(await server.client.ttl(`sluice:{idle}:${name}`)).toBeGreaterThan(0)
    redis.close()
  })

  test('go on where the clock was an hour ahead for a while', async () => {
    const redis = createRedis(server.url)
    const windows = createWindows(redis, SET_TIME)
    const given = { rpm: 1, tpm: 0, concurrency: 0 }
    await server.client.set('time', String(START + 3_600_000))
    expect((await windows.enter('ahead', given, ['a', 'b'])).said).toEqual(['ok', 'limited'])
    await server.client.set('time', String(START))
    expect((await windows.enter('ahead', given, ['c', 'd'])).said).toEqual(['ok', 'limited'])
    redis.close()
  })
})
