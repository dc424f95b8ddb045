// Rate limits: exact windows, truthful waits, and nothing consumed by a refusal.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { GatewayError } from '../../src/errors.ts'
import type { Key, RateLimits } from '../../src/keys/key.ts'
import { duration } from '../../src/ledger/limit-headers.ts'
import { createLimits } from '../../src/ledger/limits.ts'
import { WINDOW_MS, Window } from '../../src/ledger/window.ts'
import { NOW } from '../store/support.ts'

const key = (more: Partial<Key> = {}): Key => ({
  ...{ id: 'key_1', label: 'k', createdAt: NOW, expiresAt: NOW * 2, revokedAt: undefined, models: ['*'] },
  ...{ tokensTotal: 1, tokensUsed: 0, rpm: undefined, tpm: undefined, concurrency: undefined },
  ...more,
})

/** A limit as a client of the responses wire is told it. */
const told = (what: 'requests' | 'tokens', limit: number, remaining: number, reset: string) => ({
  [`x-ratelimit-limit-${what}`]: String(limit),
  [`x-ratelimit-remaining-${what}`]: String(remaining),
  [`x-ratelimit-reset-${what}`]: reset,
})

const setUp = (defaults: Partial<RateLimits> = {}) => {
  /** `setBy`: how much the time of day is ahead. */
  const time = { now: NOW, setBy: 0 }
  const limits = createLimits({
    clock: () => time.now + time.setBy,
    stopwatch: () => time.now,
    defaults: { rpm: 0, tpm: 0, concurrency: 0, ...defaults },
  })
  /** The wait a refusal names; undefined when let in. */
  const refused = (one: Key): number | undefined => {
    try {
      limits.enter(one).release()
      return undefined
    } catch (error) {
      if (!(error instanceof GatewayError) || error.code !== 'rate_limit_exceeded') throw error
      return error.retryAfterMs
    }
  }
  return { time, limits, refused }
}

describe('requests per minute', () => {
  test('are exact at the boundary: one at 59.999 s is refused, at 60 s let in', () => {
    const { time, refused } = setUp()
    const limited = key({ rpm: 2 })
    expect(refused(limited)).toBeUndefined()
    time.now += 10_000
    expect(refused(limited)).toBeUndefined()
    expect(refused(limited)).toBe(50_000)
    time.now = NOW + 59_999
    expect(refused(limited)).toBe(1)
    time.now = NOW + 60_000
    expect(refused(limited)).toBeUndefined()
    expect(refused(limited)).toBe(10_000)
  })

  const gaps = fc.array(fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 40_000 })), { maxLength: 80, size: 'max' })

  test('admit exactly those with fewer than the limit in the minute before', () =>
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), gaps, (rpm, waits) => {
        const { time, refused } = setUp()
        const admitted: number[] = []
        for (const wait of waits) {
          time.now += wait
          const fits = admitted.filter((at) => at > time.now - 60_000).length < rpm
          const retryAfterMs = refused(key({ rpm }))
          expect(retryAfterMs === undefined).toBe(fits)
          if (fits) admitted.push(time.now)
          else expect(retryAfterMs).toBe((admitted.at(-rpm) ?? 0) + 60_000 - time.now)
        }
      }),
    ))

  test('give a retry time that is exact to the millisecond, also after the limit was lowered', () =>
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 8 }), fc.integer({ min: 1, max: 8 }), gaps, (rpm, later, waits) => {
        const { time, refused } = setUp()
        for (const wait of waits) {
          time.now += wait
          refused(key({ rpm }))
        }
        const lowered = key({ rpm: later })
        const wait = refused(lowered)
        if (wait === undefined) return
        expect(wait).toBeGreaterThan(0)
        time.now += wait - 1
        expect(refused(lowered)).toBe(1)
        time.now += 1
        expect(refused(lowered)).toBeUndefined()
      }),
    ))

  test('let in at once where the limit has been lifted', () => {
    const { refused } = setUp()
    for (const rpm of [1, 1, 0]) refused(key({ rpm, tpm: 5 }))
    expect(refused(key({ rpm: 0, tpm: 5 }))).toBeUndefined()
    expect(refused(key({ rpm: 2, tpm: 5 }))).toBeUndefined()
    expect(refused(key({ rpm: 2, tpm: 5 }))).toBe(60_000)
  })

  test('are given back by a refund, once', () => {
    const { time, limits, refused } = setUp()
    const limited = key({ rpm: 2 })
    limits.enter(limited)
    const ticket = limits.enter(limited)
    ticket.refund()
    ticket.refund()
    time.now += 1
    expect(refused(limited)).toBeUndefined()
    expect(refused(limited)).toBe(59_999)
  })

  test('a refund after its minute gives nothing back', () => {
    const { time, limits, refused } = setUp()
    const limited = key({ rpm: 1 })
    const ticket = limits.enter(limited)
    time.now += 60_000
    limits.enter(limited)
    ticket.refund()
    expect(refused(limited)).toBe(60_000)
  })

  test('are exact after many requests', () => {
    const { time, limits, refused } = setUp()
    const limited = key({ rpm: 10_000 })
    for (let count = 1; count <= 2_500; count++) {
      limits.enter(limited).release()
      const left = 10_000 - Math.min(count, 600)
      expect(limits.headers(limited, 'responses')).toEqual(told('requests', 10_000, left, '1m0s'))
      time.now += 100
    }
    expect(refused(key({ rpm: 599 }))).toBe(100)
  })

  // Written together, as vendor_b does: clients that read no header find how long to wait in the words (docs/clients.md).
  test('over the limit are told the seconds to wait, rounded up', () => {
    const { time, limits } = setUp({ rpm: 1 })
    limits.enter(key())
    time.now += 58_999
    expect(() => limits.enter(key())).toThrow('its limit of 1 request per minute. Try again in 2s.')
  })

  test('of one key do not count for another', () => {
    const { refused } = setUp({ rpm: 1 })
    expect(refused(key())).toBeUndefined()
    expect(refused(key())).toBe(60_000)
    expect(refused(key({ id: 'key_2' }))).toBeUndefined()
  })

  test.each([-3_600_000, 3_600_000])(
    'a clock that is set by %i ms neither admits more nor lengthens the wait',
    (ms) => {
      const { time, refused } = setUp()
      const limited = key({ rpm: 1 })
      refused(limited)
      time.setBy = ms
      expect(refused(limited)).toBe(60_000)
      time.now += 59_999
      expect(refused(limited)).toBe(1)
      time.now += 1
      expect(refused(limited)).toBeUndefined()
    },
  )
})

describe('tokens per minute', () => {
  test('count once settled; requests are admitted while the minute is below the limit', () => {
    const { time, limits, refused } = setUp()
    const limited = key({ tpm: 1_000 })
    const first = limits.enter(limited)
    first.addTokens(999)
    expect(refused(limited)).toBeUndefined()
    time.now += 5_000
    first.addTokens(1)
    expect(refused(limited)).toBe(55_000)
    time.now += 55_000
    expect(refused(limited)).toBeUndefined()
  })

  test('admit exactly while what has settled in the minute before is below the limit, and tell when that is', () => {
    const step = fc.oneof(fc.record({ settled: fc.integer({ min: 1, max: 5 }) }), fc.record({ wait: fc.nat(30_000) }))
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 6 }), fc.array(step, { maxLength: 60 }), (tpm, steps) => {
        const { time, limits, refused } = setUp()
        const ticket = limits.enter(key({ tpm }))
        const settled: { at: number; count: number }[] = []
        const sumAt = (at: number): number =>
          settled.filter((one) => one.at > at - WINDOW_MS).reduce((sum, { count }) => sum + count, 0)
        for (const one of steps) {
          if ('wait' in one) time.now += one.wait
          else {
            ticket.addTokens(one.settled)
            settled.push({ at: time.now, count: one.settled })
          }
          const admits = [time.now, ...settled.map(({ at }) => at + WINDOW_MS)].find(
            (at) => at >= time.now && sumAt(at) < tpm,
          )
          expect(refused(key({ tpm })) ?? 0).toBe((admits ?? Number.NaN) - time.now)
        }
      }),
    )
  })

  test('far over the limit give the time until enough of them have expired', () => {
    const { time, limits, refused } = setUp()
    const limited = key({ tpm: 100 })
    const ticket = limits.enter(limited)
    for (const count of [50, 90, 20]) {
      ticket.addTokens(count)
      time.now += 1_000
    }
    // 160 in all: 110 once the first is gone, 20 once the second is.
    expect(refused(limited)).toBe(58_000)
  })

  test('are remembered for their minute, even while the key has no request', () => {
    const { time, limits, refused } = setUp()
    const limited = key({ tpm: 100 })
    const ticket = limits.enter(limited)
    time.now += 50_000
    ticket.addTokens(100)
    ticket.release()
    // Another key's request, a minute after the first, forgets who has done nothing lately.
    time.now += 11_000
    refused(key({ id: 'key_2', rpm: 1 }))
    expect(refused(limited)).toBe(49_000)
  })

  test('count that are told long after their request has ended, as of an answer made in the background', () => {
    const { time, limits, refused } = setUp()
    const limited = key({ tpm: 100 })
    const ticket = limits.enter(limited)
    ticket.release()
    time.now += WINDOW_MS + 1
    // Another key's request forgets who has done nothing lately.
    refused(key({ id: 'key_2', rpm: 1 }))
    ticket.addTokens(100)
    expect(refused(limited)).toBe(WINDOW_MS)
  })

  test('and requests over their limits give the longer wait', () => {
    const { time, limits, refused } = setUp()
    const limited = key({ rpm: 1, tpm: 10 })
    const ticket = limits.enter(limited)
    time.now += 7_000
    ticket.addTokens(10)
    expect(refused(limited)).toBe(60_000)
  })
})

test('a window sums what was added within a minute and not taken back, in any order of calls', () => {
  const step = fc.oneof(
    fc.record({ add: fc.integer({ min: 1, max: 9 }) }),
    fc.record({ takeBack: fc.nat(20) }),
    fc.record({ wait: fc.oneof(fc.constant(1), fc.integer({ min: 1, max: 30_000 })) }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const window = new Window()
      let added: { at: number; amount: number }[] = []
      let now = NOW
      for (const one of steps) {
        if ('wait' in one) now += one.wait
        else if ('add' in one) {
          window.add(now, one.add)
          added.push({ at: now, amount: one.add })
        } else {
          const back = added[one.takeBack % Math.max(1, added.length)]
          if (back !== undefined) window.remove(back.at, back.amount)
          added = added.filter((each) => each !== back)
        }
        const within = (at: number) => added.filter((each) => each.at > at - WINDOW_MS)
        const sum = (at: number) => within(at).reduce((total, { amount }) => total + amount, 0)
        const ends = within(now).map(({ at }) => at + WINDOW_MS)
        for (const limit of [1, 5, 20]) {
          const below = [now, ...ends].find((at) => sum(at) < limit)
          expect(window.waitFor(now, limit)).toBe((below ?? Number.NaN) - now)
        }
        expect([window.sum(now), window.emptyIn(now)]).toEqual([sum(now), Math.max(now, ...ends) - now])
      }
    }),
    { numRuns: 300 },
  )
})

test('a window sums amounts of all sizes, however many have expired', () => {
  const window = new Window()
  const amounts = Array.from({ length: 3_000 }, (_, at) => (at % 7) + 1)
  const apart = WINDOW_MS / 750
  for (const [at, amount] of amounts.entries()) window.add(at * apart, amount)
  for (let gone = 2_251; gone <= 3_000; gone++) {
    const left = amounts.slice(gone).reduce((sum, amount) => sum + amount, 0)
    expect(window.sum((gone - 1) * apart + WINDOW_MS)).toBe(left)
  }
})

describe('requests at once', () => {
  test('are refused until one is released; a second release frees nothing', () => {
    const { limits, refused } = setUp()
    const limited = key({ concurrency: 2 })
    const first = limits.enter(limited)
    limits.enter(limited)
    expect(refused(limited)).toBe(1_000)
    first.release()
    first.release()
    first.refund()
    limits.enter(limited)
    expect(refused(limited)).toBe(1_000)
  })

  test('count for as long as they last', () => {
    const { time, limits, refused } = setUp()
    const limited = key({ concurrency: 1 })
    const ticket = limits.enter(limited)
    // Another key's request, minutes later, forgets who has done nothing lately.
    time.now += 180_000
    refused(key({ id: 'key_2', rpm: 1 }))
    expect(refused(limited)).toBe(1_000)
    ticket.release()
    expect(refused(limited)).toBeUndefined()
  })

  test('that are refused do not count in the minute', () => {
    const { limits } = setUp()
    const limited = key({ rpm: 3, concurrency: 1 })
    const ticket = limits.enter(limited)
    for (let i = 0; i < 10; i++) expect(() => limits.enter(limited)).toThrow()
    ticket.release()
    expect(limits.headers(limited, 'responses')).toEqual(told('requests', 3, 2, '1m0s'))
  })

  test('as many are active as have neither been released nor given back, in any order, by default too', () =>
    fc.assert(
      fc.property(fc.array(fc.nat(9), { maxLength: 60, size: 'max' }), fc.boolean(), (moves, byDefault) => {
        const { limits } = setUp(byDefault ? { concurrency: 4 } : {})
        const limited = key(byDefault ? {} : { concurrency: 4 })
        const inside = new Map<number, ReturnType<typeof limits.enter>>()
        for (const move of moves) {
          const ticket = inside.get(move)
          if (ticket !== undefined) {
            if (move % 2 === 0) ticket.release()
            else ticket.refund()
            inside.delete(move)
          } else if (inside.size < 4) inside.set(move, limits.enter(limited))
          else expect(() => limits.enter(limited)).toThrow()
        }
      }),
    ))
})

describe('the limits of a key', () => {
  test.each<[string, number | undefined, number, boolean]>([
    ['its own', 1, 0, true],
    ['the default', undefined, 1, true],
    ['none of its own, against the default', 0, 1, false],
    ['none at all', undefined, 0, false],
  ])('are %s', (_what, own, byDefault, limited) => {
    const { limits, refused } = setUp({ rpm: byDefault })
    refused(key({ rpm: own }))
    expect(refused(key({ rpm: own })) !== undefined).toBe(limited)
    const headers = limited ? told('requests', 1, 0, '1m0s') : {}
    expect(limits.headers(key({ rpm: own }), 'responses')).toEqual(headers)
  })

  test('are reported with their state, defaults like its own', () => {
    const all = { ...told('requests', 1, 1, '0s'), ...told('tokens', 1, 1, '0s') }
    const one = { rpm: 1, tpm: 1, concurrency: 1 }
    expect(setUp(one).limits.headers(key(), 'responses')).toEqual(all)
    expect(setUp().limits.headers(key(one), 'responses')).toEqual(all)
    expect(setUp({ tpm: 1 }).limits.headers(key(), 'responses')).toEqual(told('tokens', 1, 1, '0s'))
  })

  test('without any share one ticket without headers', () => {
    const { limits } = setUp()
    const ticket = limits.enter(key())
    expect(limits.enter(key({ id: 'key_2' }))).toBe(ticket)
    expect(ticket.headers('messages')).toEqual({})
  })
})

describe('headers', () => {
  test('exist for each limit that is set, on messages in both families', () => {
    const { time, limits } = setUp()
    const limited = key({ rpm: 10, tpm: 500 })
    const ticket = limits.enter(limited)
    time.now += 1_500
    ticket.addTokens(120)
    time.now += 1_000
    const common = {
      ...{ 'x-ratelimit-limit-requests': '10', 'x-ratelimit-remaining-requests': '9' },
      ...{ 'x-ratelimit-limit-tokens': '500', 'x-ratelimit-remaining-tokens': '380' },
      ...{ 'x-ratelimit-reset-requests': '57.5s', 'x-ratelimit-reset-tokens': '59s' },
    }
    expect(ticket.headers('responses')).toEqual(common)
    expect(limits.headers(limited, 'messages')).toEqual({
      ...common,
      ...{ 'anthropic-ratelimit-requests-limit': '10', 'anthropic-ratelimit-requests-remaining': '9' },
      ...{ 'anthropic-ratelimit-tokens-limit': '500', 'anthropic-ratelimit-tokens-remaining': '380' },
      'anthropic-ratelimit-requests-reset': '2026-09-01T12:01:00Z',
      'anthropic-ratelimit-tokens-reset': '2026-09-01T12:01:02Z',
    })
  })

  test('never report fewer than 0 remaining', () => {
    const { limits } = setUp()
    const limited = key({ tpm: 5 })
    limits.enter(limited).addTokens(50)
    expect(limits.headers(limited, 'chat-completions')).toMatchObject({ 'x-ratelimit-remaining-tokens': '0' })
    expect(limits.headers(limited, 'chat-completions')).not.toHaveProperty('x-ratelimit-limit-requests')
  })

  test.each([
    [0, '0s'],
    [1, '1ms'],
    [999.2, '1s'],
    [1_000, '1s'],
    [1_500, '1.5s'],
    [59_999, '59.999s'],
    [60_000, '1m0s'],
    [360_000, '6m0s'],
    [61_250, '1m1.25s'],
  ])('%d ms is written %s', (ms, text) => {
    expect(duration(ms)).toBe(text)
  })
})

test('keys that are idle for a minute take no memory', () => {
  const { time, limits } = setUp({ rpm: 5, tpm: 5 })
  const before = process.memoryUsage().heapUsed
  for (let minute = 0; minute < 20; minute++) {
    for (let i = 0; i < 5_000; i++) limits.enter(key({ id: `key_${minute}_${i}` })).release()
    time.now += 61_000
  }
  limits.enter(key()).release()
  Bun.gc(true)
  // A hundred thousand windows kept would be some forty megabytes.
  expect(process.memoryUsage().heapUsed - before).toBeLessThan(20_000_000)
})
