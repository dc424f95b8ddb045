// Whose turn it is among accounts: exact shares by weight, and the idle one first between equals; and when one is left
// alone.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createHealth } from '../../src/relay/health.ts'

const target = (name: string, weight = 1) => ({ name, account: { weight } })

describe('the round robin', () => {
  test('gives each target its share, whatever the weights and whatever is in flight', () => {
    const weights = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(weights, fc.infiniteStream(fc.boolean()), (given, stays) => {
        const health = createHealth(() => 0)
        const targets = given.map((weight, at) => target(String(at), weight))
        const had = new Map<string, number>()
        const round = given.reduce((sum, weight) => sum + weight, 0)
        for (let at = 0; at < 2 * round; at++) {
          const [first, ...rest] = health.roundRobin(targets)
          if (first === undefined) throw new Error('nobody')
          expect(new Set([first, ...rest])).toEqual(new Set(targets))
          had.set(first.name, (had.get(first.name) ?? 0) + 1)
          health.begin(first.name)
          if (!stays.next().value) health.succeeded(first.name)
        }
        expect(given.map((_, at) => had.get(String(at)))).toEqual(given.map((weight) => 2 * weight))
      }),
    )
  })

  test('prefers the one with fewest in flight between equals', () => {
    for (let again = 0; again < 20; again++) {
      const health = createHealth(() => 0)
      const targets = ['a', 'b', 'c'].map((name) => target(name))
      for (const busy of ['a', 'a', 'c']) health.begin(busy)
      expect(health.roundRobin(targets).map(({ name }) => name)).toEqual(['b', 'c', 'a'])
    }
  })

  test('is not changed by turns of targets that are not there', () => {
    const health = createHealth(() => 0)
    const [a, b] = [target('a'), target('b')]
    for (let at = 0; at < 100; at++) health.roundRobin([a])
    const first = Array.from({ length: 10 }, () => health.roundRobin([a, b])[0])
    expect(first.filter((each) => each === b)).toHaveLength(5)
  })
})

describe('a report', () => {
  const watched = () => {
    const told: [string, boolean][] = []
    const time = { at: 0 }
    const health = createHealth(
      () => time.at,
      (name, answers) => told.push([name, answers]),
    )
    const attempt = (well: boolean, coolMs?: number): void => {
      const begun = health.begin('a')
      if (well) health.succeeded('a', begun)
      else health.failed('a', begun, coolMs)
    }
    return { told, time, attempt }
  }

  test('is made once when a target fails, and once when it answers again', () => {
    const { told, time, attempt } = watched()
    for (let again = 0; again < 2; again++) {
      for (let at = 0; at < 20; at++) attempt(false)
      for (let probe = 0; probe < 5; probe++) {
        time.at += 11_000
        attempt(false)
      }
      expect(told.splice(0)).toEqual([['a', false]])
      time.at += 11_000
      attempt(true)
      attempt(true)
      expect(told.splice(0)).toEqual([['a', true]])
    }
  })

  test('is not made of a target that only sends Retry-After or fails now and then', () => {
    const { told, time, attempt } = watched()
    for (let at = 0; at < 50; at++) {
      attempt(true)
      attempt(at % 3 > 0)
      if (at % 10 === 0) attempt(false, 1_000)
      time.at += 2_000
    }
    expect(told).toEqual([])
  })
})

describe('a breaker', () => {
  const WINDOW = 15_000
  const PAUSE = 10_000
  const watched = () => {
    const time = { at: 1 }
    const health = createHealth(
      () => time.at,
      undefined,
      () => time.at,
    )
    const attempts = (good: number, bad: number): void => {
      for (let at = 0; at < good; at++) health.succeeded('a', health.begin('a'))
      for (let at = 0; at < bad; at++) health.failed('a', health.begin('a'))
    }
    const state = () => health.states()[0]?.state
    return { time, health, attempts, state }
  }

  test.each([
    [0, 4, 'closed'],
    [0, 5, 'open'],
    [5, 5, 'open'],
    [6, 5, 'closed'],
    [6, 6, 'open'],
  ] as const)('after %d good and %d bad is %s', (good, bad, state) => {
    const { attempts, state: is, health } = watched()
    attempts(good, bad)
    expect([is(), health.allows('a')]).toEqual([state, state === 'closed'])
  })

  test.each([
    [WINDOW - 1, 'open'],
    [2 * WINDOW - 1, 'open'],
    [2 * WINDOW, 'closed'],
  ] as const)('counts failures together that are %d ms apart: %s', (apart, state) => {
    const { time, attempts, state: is } = watched()
    attempts(0, 3)
    time.at += apart
    attempts(0, 2)
    expect(is()).toBe(state)
  })

  test.each<[string, [good: number, bad: number][], string]>([
    [
      'what was good two windows ago',
      [
        [100, 0],
        [0, 4],
        [0, 1],
      ],
      'open',
    ],
    [
      'nothing good of the window before',
      [
        [6, 0],
        [0, 5],
      ],
      'closed',
    ],
    [
      'nothing good after a pause',
      [
        [0, 1],
        [0, 0],
        [0, 0],
        [6, 0],
        [0, 5],
      ],
      'closed',
    ],
    [
      'what was bad two windows ago',
      [
        [0, 4],
        [0, 0],
        [0, 4],
      ],
      'closed',
    ],
  ])('forgets %s', (_, windows, is) => {
    const { time, attempts, state } = watched()
    for (const [good, bad] of windows) {
      time.at += WINDOW
      attempts(good, bad)
    }
    expect(String(state())).toBe(is)
  })

  test.each([
    [5, 5, 'open'],
    [9, 4, 'closed'],
    [10, 5, 'open'],
    [11, 5, 'closed'],
  ] as const)('after %d streams of which %d were broken off is %s', (begun, broken, state) => {
    for (const apart of [0, WINDOW]) {
      const { time, health, attempts, state: is } = watched()
      attempts(begun, 0)
      time.at += apart
      for (let at = 0; at < broken; at++) health.brokeOff('a')
      expect(is()).toBe(state)
    }
  })

  test('is not prolonged by streams that break off while it is open, nor held against a probe', () => {
    const { time, health, attempts, state } = watched()
    attempts(6, 0)
    attempts(0, 6)
    time.at += PAUSE
    const begun = health.begin('a')
    time.at += 1
    health.brokeOff('a')
    health.succeeded('a', begun)
    expect(state()).toBe('closed')
  })

  test('is prolonged by what a provider asks for, whenever the attempt began', () => {
    const { time, health, attempts, state } = watched()
    const before = health.begin('a')
    time.at += 1
    attempts(0, 5)
    health.failed('a', before, 3 * PAUSE)
    time.at += 2 * PAUSE
    expect(state()).toBe('open')
  })

  test('is not prolonged by attempts from before it opened that fail, nor do they count as its probe', () => {
    const { time, health, attempts, state } = watched()
    const before = Array.from({ length: 6 }, () => health.begin('a'))
    time.at += 1
    attempts(0, 5)
    time.at += PAUSE - 1
    health.failed('a', before.pop() ?? 0)
    time.at += 1
    const probe = health.begin('a')
    time.at += 1
    for (const begun of before) health.failed('a', begun)
    expect([state(), health.allows('a')]).toEqual(['half-open', false])
    health.succeeded('a', probe)
    expect(health.states()).toEqual([{ target: 'a', state: 'closed', inFlight: 0 }])
  })

  test('lets one probe through, and closes or stays open by its outcome', () => {
    const { time, health, attempts, state } = watched()
    const before = health.begin('a')
    attempts(0, 5)
    time.at += PAUSE - 1
    expect([state(), health.allows('a')]).toEqual(['open', false])
    time.at += 1
    expect([state(), health.allows('a')]).toEqual(['half-open', true])
    const probe = health.begin('a')
    expect(health.allows('a')).toBe(false)
    health.ended('a', before)
    expect(health.allows('a')).toBe(false)
    // One that ends without a word leaves its place to another.
    health.ended('a', probe)
    expect(health.allows('a')).toBe(true)
    // Whatever was long ago, one failure is enough then.
    time.at += 3 * WINDOW
    attempts(0, 1)
    expect([state(), health.allows('a')]).toEqual(['open', false])
    time.at += PAUSE
    expect([state(), health.allows('a')]).toEqual(['half-open', true])
    attempts(1, 0)
    expect([state(), health.allows('a')]).toEqual(['closed', true])
    // What was before the outage counts no more.
    attempts(0, 4)
    expect(state()).toBe('closed')
  })

  test('says how many attempts failed in a row and for how long, until a newer attempt succeeds', () => {
    const { time, health, attempts } = watched()
    const begun = time.at
    const failing = () => health.states()[0]?.failing
    attempts(3, 0)
    expect(failing()).toBeUndefined()
    const before = health.begin('a')
    time.at += 1
    attempts(0, 5)
    time.at += 40
    attempts(0, 1)
    health.succeeded('a', before)
    time.at += 2
    expect(failing()).toEqual({ times: 6, since: begun + 1 })
    attempts(1, 0)
    expect(failing()).toBeUndefined()
  })

  test('is not closed by the success of an attempt from before it opened', () => {
    const { time, health, attempts, state } = watched()
    const before = health.begin('a')
    time.at += 1
    attempts(0, 5)
    health.succeeded('a', before)
    expect(state()).toBe('open')
  })

  test('is open for five minutes at most, whatever Retry-After says: accounts are topped up before it ends', () => {
    const { time, health, state } = watched()
    health.failed('a', health.begin('a'), 5 * 86_400_000)
    time.at += 299_999
    expect(state()).toBe('open')
    time.at += 1
    expect(state()).toBe('half-open')
  })

  test('is open for as long as Retry-After says, whatever older attempts answer', () => {
    const { time, health, state } = watched()
    const before = health.begin('a')
    time.at += 1
    health.failed('a', health.begin('a'), 30_000)
    health.succeeded('a', before)
    expect(state()).toBe('open')
    time.at += 29_999
    expect(state()).toBe('open')
    health.failed('a', health.begin('a'), 5)
    time.at += 1
    expect(state()).toBe('open')
    time.at += 4
    expect(state()).toBe('half-open')
    const now = health.begin('a')
    health.succeeded('a', now)
    expect(health.states()).toEqual([{ target: 'a', state: 'closed', inFlight: 0 }])
  })
})

test('what only the owner can mend is reported once, until the target answers', () => {
  const reported: string[][] = []
  const health = createHealth(undefined, undefined, undefined, (...what) => reported.push(what))
  const trouble = () => health.standingOf('a')?.trouble
  for (const _ of [1, 2]) health.troubled('a', 'no-money', 'm')
  health.troubled('b', 'unknown-model', 'm')
  expect([trouble(), reported.length]).toEqual(['no-money', 2])
  health.succeeded('a', health.begin('a'))
  expect(trouble()).toBeUndefined()
  health.troubled('a', 'no-money', 'm')
  expect(reported).toEqual([
    ['a', 'no-money', 'm'],
    ['b', 'unknown-model', 'm'],
    ['a', 'no-money', 'm'],
  ])
})
