// What of a key's usage is an estimate of answers that broke off or were left, against a plain sum over all of them.

import { afterEach, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createLedger } from '../../src/ledger/create.ts'
import { ACTOR, cleanUp, DAY, HOUR, NOW, newKey, open } from './support.ts'

afterEach(cleanUp)

const made = fc.record({
  key: fc.nat({ max: 1 }),
  outcome: fc.constantFrom('done', 'refused', 'failed', 'aborted'),
  estimated: fc.boolean(),
  input: fc.nat({ max: 50 }),
  after: fc.nat({ max: 2 * HOUR }),
})

test('unfinished answers are counted whatever else there is', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(made, { maxLength: 30 }),
      fc.nat({ max: 20 }),
      fc.nat({ max: 40 }),
      async (rows, from, hours) => {
        const time = { now: NOW }
        const store = open(':memory:', () => time.now)
        const keys = await Promise.all(
          [0, 1].map(async () => (await store.keys.issue(newKey({ tokensTotal: 1e12 }), ACTOR)).key),
        )
        const ledger = createLedger({ store, clock: () => time.now, prices: () => () => undefined })
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
          const reserving = ledger.reserve({ ...ask, exchangeId: `x${i}`, key: owner })
          await ledger.flush()
          ledger.settle(await reserving, { outcome, usage: { input }, estimated, status: 200, attempts: 1, totalMs: 1 })
        }
        await ledger.flush()
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
        await store.close()
      },
    ),
    { numRuns: 40 },
  ))

test('of a key that was never used there is nothing', async () => {
  const store = open(':memory:', () => NOW)
  const { key } = await store.keys.issue(newKey(), ACTOR)
  expect(await store.insight.unfinished({ since: NOW - DAY, until: NOW, keyIds: [key.id] })).toEqual({
    ...{ requests: 0, tokens: 0, whole: true },
  })
})
