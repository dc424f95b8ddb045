// What of a key's usage is an estimate of answers that broke off or were left, against a plain sum over all of them.

import { afterEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { Key } from '../../src/keys/key.ts'
import { closeAll, STORES } from './stores.ts'
import { ACTOR, DAY, HOUR, NOW, newKey } from './support.ts'

afterEach(closeAll)

const made = fc.record({
  key: fc.nat({ max: 1 }),
  outcome: fc.constantFrom('done', 'refused', 'failed', 'aborted'),
  estimated: fc.boolean(),
  input: fc.nat({ max: 50 }),
  after: fc.nat({ max: 2 * HOUR }),
})

describe.each(STORES)('in %s', (_, { newPlace, runs }) => {
  test('unfinished answers are counted whatever else there is', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(made, { maxLength: 30 }),
        fc.nat({ max: 20 }),
        fc.nat({ max: 40 }),
        async (rows, from, hours) => {
          const time = { now: NOW }
          const { store, books } = await (await newPlace('once')).serve({
            clock: () => time.now,
            prices: () => undefined,
          })
          const keys: Key[] = []
          for (const label of ['a', 'b'])
            keys.push((await store.keys.issue(newKey({ label, tokensTotal: 1e12, expiresAt: 9e12 }), ACTOR)).key)
          const at: number[] = []
          for (const [i, { key, outcome, estimated, input, after }] of rows.entries()) {
            time.now += after
            at.push(time.now)
            const owner = keys[key]
            if (owner === undefined) throw new Error('no such key')
            const ask = {
              wire: 'messages',
              stream: true,
              inputEstimate: 1,
              outputCap: 1,
              maxOutput: 1,
              model: 'a',
            } as const
            const reservation = await books.reserve({ ...ask, exchangeId: `x${i}`, key: owner })
            books.settle(reservation, { outcome, usage: { input }, estimated, status: 200, attempts: 1, totalMs: 1 })
          }
          await books.written()
          const [first] = keys
          if (first === undefined) throw new Error('no such key')
          const [since, until] = [NOW + from * HOUR, NOW + (from + hours) * HOUR]
          const due = rows.filter(
            ({ key, outcome, estimated, input }, i) =>
              key === 0 &&
              estimated &&
              input > 0 &&
              (outcome === 'failed' || outcome === 'aborted') &&
              (at[i] ?? 0) >= since &&
              (at[i] ?? 0) < until,
          )
          const told = await store.insight.unfinished({ since, until, keyIds: [first.id] })
          expect(told).toEqual({
            requests: due.length,
            tokens: due.reduce((sum, { input }) => sum + input, 0),
            whole: true,
          })
          await closeAll()
        },
      ),
      { numRuns: runs(40) },
    ))

  test('of a key that was never used there is nothing', async () => {
    const store = await (await newPlace('once')).open()
    const { key } = await store.keys.issue(newKey(), ACTOR)
    expect(await store.insight.unfinished({ since: NOW - DAY, until: NOW, keyIds: [key.id] })).toEqual({
      ...{ requests: 0, tokens: 0, whole: true },
    })
  })
})
