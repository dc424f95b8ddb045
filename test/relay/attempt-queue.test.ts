// Whose turn it is: in order, within the attempts, and each model's once where there are as many.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { attemptQueue } from '../../src/relay/attempt-queue.ts'
import type { Target } from '../../src/relay/target.ts'

/** Targets of models in order, some accounts of each. */
const targets = fc
  .array(fc.integer({ min: 1, max: 4 }), { maxLength: 5 })
  .map((accounts) =>
    accounts.flatMap((count, model) =>
      Array.from(
        { length: count },
        (_, account) => ({ name: `${model}/${account}`, model: { id: `m${model}` } }) as Target,
      ),
    ),
  )

const modelsOf = (all: readonly Target[]): Set<string> => new Set(all.map(({ model }) => model.id))

test('targets come in order, each once, as many as may be, and every model where the attempts allow', () => {
  fc.assert(
    fc.property(targets, fc.nat(12), (all, most) => {
      const queue = attemptQueue(all, most)
      const tried: Target[] = []
      for (let target = queue.next(); target !== undefined; target = queue.next()) {
        tried.push(target)
        queue.spend()
      }
      expect(tried).toHaveLength(Math.min(most, all.length))
      expect(tried).toEqual(all.filter((one) => tried.includes(one)))
      expect(modelsOf(tried).size).toBe(Math.min(most, modelsOf(all).size))
      // Of one model no later account is tried in place of an earlier one.
      for (const one of tried)
        for (const before of all.slice(0, all.indexOf(one)))
          if (before.model.id === one.model.id) expect(tried).toContain(before)
    }),
  )
})

test('a target in another form comes next, once, and costs nothing; later it comes behind its own model’s others', () => {
  fc.assert(
    fc.property(targets, fc.integer({ min: 1, max: 12 }), fc.boolean(), (all, most, later) => {
      const queue = attemptQueue(all, most)
      const first = queue.next()
      if (first === undefined) return
      const again = { ...first, name: 'again' }
      if (later) queue.retryLater(again)
      else queue.retry(again)
      const rest: Target[] = []
      for (let target = queue.next(); target !== undefined; target = queue.next()) {
        rest.push(target)
        queue.spend()
      }
      if (!later) {
        expect(rest[0]).toBe(again)
        expect(rest.slice(1)).not.toContain(again)
        return
      }
      const ofModel = all.filter(({ model }) => model.id === first.model.id)
      const due = [...ofModel.slice(1), again, ...all.slice(ofModel.length)]
      expect(rest).toEqual(due.filter((one) => rest.includes(one)))
      if (most >= due.length) expect(rest).toEqual(due)
    }),
  )
})
