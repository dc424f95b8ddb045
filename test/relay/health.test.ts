// Whose turn it is among accounts: exact shares by weight, and the idle one first between equals.

import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createHealth } from '../../src/relay/health.ts'

const target = (name: string, weight = 1) => ({ name, account: { weight } })

describe('turns', () => {
  test('give each its share, whatever the weights and whatever is in flight', () => {
    const weights = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 })
    fc.assert(
      fc.property(weights, fc.infiniteStream(fc.boolean()), (given, stays) => {
        const health = createHealth({ now: () => 0 })
        const targets = given.map((weight, at) => target(String(at), weight))
        const had = new Map<string, number>()
        const round = given.reduce((sum, weight) => sum + weight, 0)
        for (let at = 0; at < 2 * round; at++) {
          const [first, ...rest] = health.turns(targets)
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

  test('go to the one with least in flight between equals', () => {
    for (let again = 0; again < 20; again++) {
      const health = createHealth({ now: () => 0 })
      const targets = ['a', 'b', 'c'].map((name) => target(name))
      for (const busy of ['a', 'a', 'c']) health.begin(busy)
      expect(health.turns(targets).map(({ name }) => name)).toEqual(['b', 'c', 'a'])
    }
  })

  test('leave those out of the reckoning who are not there', () => {
    const health = createHealth({ now: () => 0 })
    const [a, b] = [target('a'), target('b')]
    for (let at = 0; at < 100; at++) health.turns([a])
    const first = Array.from({ length: 10 }, () => health.turns([a, b])[0])
    expect(first.filter((each) => each === b)).toHaveLength(5)
  })
})

describe('what is told', () => {
  const watched = () => {
    const told: [string, boolean][] = []
    const time = { at: 0 }
    const health = createHealth({ now: () => time.at }, (name, answers) => told.push([name, answers]))
    const attempt = (well: boolean, coolMs?: number): void => {
      const begun = health.begin('a')
      if (well) health.succeeded('a', begun)
      else health.failed('a', coolMs)
    }
    return { told, time, attempt }
  }

  test('is that a target fails, once for however long, and that it answers again', () => {
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

  test('is nothing of one that asks to be left alone, or fails now and then', () => {
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
