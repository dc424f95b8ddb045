// A result belongs to the first waiting call of the latest turn that has one, however often ids are reused.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { waitingCalls } from '../../../src/wire/tools/waiting-calls.ts'

type Call = { id: string; turn: number; number: number }

/** The rule as it is said, at the cost of looking at every call. */
const looking = () => {
  const calls: Call[] = []
  return {
    add: (call: Call) => calls.push(call),
    take: (id: string): Call | undefined => {
      const latest = calls.findLast((call) => call.id === id)?.turn
      const at = calls.findIndex((call) => call.id === id && call.turn === latest)
      return at === -1 ? undefined : calls.splice(at, 1)[0]
    },
  }
}

test('calls are taken in the order of a simple model', () => {
  const id = fc.constantFrom('a', 'b', '')
  const step = fc.oneof(
    fc.record({ do: fc.constant('call' as const), id }),
    fc.record({ do: fc.constant('result' as const), id }),
    fc.record({ do: fc.constant('turn' as const), id }),
  )
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const waiting = waitingCalls<Call>()
      const model = looking()
      let turn = 0
      steps.forEach(({ do: what, id }, number) => {
        if (what === 'turn') turn++
        else if (what === 'result') expect(waiting.take(id)).toEqual(model.take(id))
        else {
          const call = { id, turn, number }
          waiting.add(id, turn, call)
          model.add(call)
        }
      })
    }),
  )
})
