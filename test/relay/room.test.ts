// Room is taken in steps: no answer holds a step more than it has taken, or less, and none is left behind.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { holdIn, STEP_BYTES } from '../../src/relay/room.ts'

const bytes = fc.oneof(
  fc.nat(6 * STEP_BYTES),
  fc.nat(6).map((steps) => steps * STEP_BYTES),
)
const steps = fc.array(fc.oneof({ weight: 9, arbitrary: bytes }, { weight: 1, arbitrary: fc.constant('end' as const) }))

test('what is held has its room within a step, asked for in steps, while there is any', () => {
  fc.assert(
    fc.property(steps, fc.nat(8), (all, most) => {
      let used = 0
      const room = {
        take(had: number, more: number): boolean {
          expect([had, more >= STEP_BYTES]).toEqual([used, true])
          if (used + more > most * STEP_BYTES) return false
          used += more
          return true
        },
        give(less: number): void {
          expect(less === 0 || less >= STEP_BYTES).toBe(true)
          used -= less
        },
      }
      const abort = new AbortController()
      const hold = holdIn(room, abort)
      let isOver = false
      for (const held of all) {
        if (held === 'end') {
          hold.end()
          isOver = true
          expect(used).toBe(0)
          continue
        }
        const due = isOver || held < STEP_BYTES ? 0 : held
        const before = used
        const fits = due - before < STEP_BYTES || due <= most * STEP_BYTES
        if (fits) {
          hold.bytes(held)
          expect(Math.abs(used - due)).toBeLessThan(STEP_BYTES)
        } else {
          expect(() => hold.bytes(held)).toThrow('no room for an answer of this size')
          expect([used, abort.signal.aborted]).toEqual([before, true])
        }
      }
      hold.end()
      expect(used).toBe(0)
    }),
    { numRuns: 1_000 },
  )
})
