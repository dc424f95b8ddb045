// Work in turns, on a clock and a loop that the test turns.

import { expect, test } from 'bun:test'
import { createTurns } from '../../src/lib/turns.ts'

const loop = () => {
  let now = 0
  let next: (() => void)[] = []
  const done: string[] = []
  const turns = createTurns(
    () => now,
    (run) => next.push(run),
  )
  return {
    done,
    large: <T>(work: () => T) => turns(1024 * 1024, work),
    small: <T>(work: () => T) => turns(1024, work),
    /** Work that takes so many milliseconds. */
    work: (name: string, ms: number) => () => {
      now += ms
      done.push(name)
      return name
    },
    turn: () => {
      const due = next
      next = []
      for (const run of due) run()
      done.push('|')
    },
  }
}

test('work that fits into a turn is done at once, also where several pieces come together', () => {
  const { large, work, done } = loop()
  expect([large(work('a', 1)), large(work('b', 1))]).toEqual(['a', 'b'])
  expect(done).toEqual(['a', 'b'])
})

test('what comes when a turn has had enough waits for the next ones, in order', async () => {
  const { large, work, done, turn } = loop()
  const all = [work('a', 9), work('b', 1), work('c', 9), work('d', 1), work('e', 1)].map(large)
  turn()
  turn()
  turn()
  expect(done.join('')).toBe('abc|de||')
  expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd', 'e'])
})

test('work does not overtake what waits', () => {
  const { large, work, done, turn } = loop()
  large(work('a', 9))
  large(work('b', 9))
  large(work('c', 1))
  turn()
  large(work('d', 1))
  turn()
  expect(done.join('')).toBe('ab|cd|')
})

test('what is small does not wait', () => {
  const { large, small, work, done, turn } = loop()
  large(work('a', 9))
  large(work('b', 9))
  small(work('c', 1))
  turn()
  expect(done.join('')).toBe('acb|')
})

test('a turn without work forgets what the last one took', () => {
  const { large, work, done, turn } = loop()
  large(work('a', 9))
  turn()
  expect(large(work('b', 9))).toBe('b')
  expect(done.join('')).toBe('a|b')
})

test('what work throws is thrown to the one who asked, and those behind it still have their turn', async () => {
  const { large, work, done, turn } = loop()
  const failing = (): never => {
    throw new Error('cannot')
  }
  large(work('a', 9))
  const failed = large(failing) as Promise<never>
  const next = large(work('b', 1))
  turn()
  await expect(failed).rejects.toThrow('cannot')
  expect(await next).toBe('b')
  expect(done.join('')).toBe('ab|')
  expect(() => large(failing)).toThrow('cannot')
})
