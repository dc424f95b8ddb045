// Load shedding by memory: what is let in keeps the limit, and leaves room for what is small.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createArriving, createMemory, limitFor } from '../../src/observe/memory.ts'

const KB = 1024
const MB = 1024 * KB
/** What is held of a body at most, as a multiple of it. */
const HELD = 4

const bodies = fc.array(
  fc.record({
    key: fc.constantFrom('a', 'b'),
    bytes: fc.integer({ min: 64 * KB + 1, max: 25 * MB }),
    /** How much of it comes before it waits. */
    share: fc.double({ min: 0, max: 1, noNaN: true }),
  }),
  { minLength: 20, maxLength: 80 },
)

test('however many large bodies of two keys wait, and however much of them has come, a small one is let in, and none past the limit', () => {
  fc.assert(
    fc.property(
      bodies,
      fc.integer({ min: 128, max: 1024 }),
      fc.double({ min: 0.1, max: 0.8, noNaN: true }),
      (sent, mb, used) => {
        const limit = mb * MB
        let resident = limit * used
        let now = 0
        const memory = createMemory(
          () => resident,
          () => undefined,
          () => (now += 100),
        )
        const arriving = createArriving()
        const isRefused = (key: string, bytes: number): boolean =>
          memory.past(limitFor(bytes, limit), 1, arriving.with(key, bytes))
        let toCome = 0
        for (const { key, bytes, share } of sent) {
          if (isRefused(key, bytes)) continue
          arriving.add(key, bytes)
          const held = Math.floor(bytes * share)
          arriving.hold(held)
          resident += held
          toCome += HELD * bytes - held
          expect(resident + toCome).toBeLessThanOrEqual(limit)
        }
        expect(isRefused('c', 64 * KB)).toBe(false)
      },
    ),
  )
})

test('what is taken back of all that was on its way leaves nothing', () => {
  const arriving = createArriving()
  arriving.add('a', 10)
  arriving.grow('a', 5)
  arriving.hold(12)
  arriving.remove('a', 15, 12)
  expect([arriving.count, arriving.keys, arriving.bytes, arriving.with('a', 0)]).toEqual([0, 0, 0, 0])
})
