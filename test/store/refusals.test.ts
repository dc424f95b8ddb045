// Refusals in the store: the latest of each key, all of them counted, and gone with their time.

import { afterEach, expect, test } from 'bun:test'
import fc from 'fast-check'
import { createLedger } from '../../src/ledger/create.ts'
import { KEPT_OF_KEY, type RefusedCount } from '../../src/store/refusals.ts'
import { ACTOR, cleanUp, DAY, HOUR, NOW, newKey, newPath, open, refusalOf } from './support.ts'

afterEach(cleanUp)

/** As a server has it: it alone gives rows their numbers. */
const served = (path?: string) => {
  const store = open(path)
  store.journal.claim(() => undefined)
  return store
}
const count = (keyId: string, code: string, times: number, hour = NOW): RefusedCount => ({
  ...{ keyId, code, count: times },
  hour: hour - (hour % HOUR),
})

test('the latest thousand of each key are kept, whatever others are refused', async () => {
  const store = served()
  const many = Array.from({ length: KEPT_OF_KEY + 250 }, (_, i) => refusalOf({ id: `many${i}`, at: NOW + i }))
  await store.refusals.write({ refusals: [refusalOf({ id: 'one', keyId: 'key_b' })], counts: [] })
  for (let at = 0; at < many.length; at += 125)
    await store.refusals.write({ refusals: many.slice(at, at + 125), counts: [] })
  const pages = async (keyId: string): Promise<string[]> => {
    const ids: string[] = []
    for (let before: number | undefined; ; ) {
      const { rows, next } = await store.insight.exchangePage({ limit: 200, before, keyIds: [keyId] })
      ids.push(...rows.map(({ id }) => id))
      if (next === undefined) return ids
      before = next
    }
  }
  expect(await pages('key_a')).toEqual(
    many
      .slice(250)
      .map(({ id }) => id)
      .reverse(),
  )
  expect(await pages('key_b')).toEqual(['one'])
  expect(await store.exchanges({ limit: 1, id: 'many249' })).toEqual([])
  expect(await store.exchanges({ limit: 1, id: 'many250' })).toMatchObject([
    { outcome: 'refused', status: 429, refusal: { failed: 'rate limit', told: 'Too many.', path: '/v1/messages' } },
  ])
})

test('the counts of keys and of all are the sums of what was written, by code and hour', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(
        fc.record({
          keyId: fc.constantFrom('a', 'b', 'c'),
          code: fc.constantFrom('x', 'y'),
          count: fc.integer({ min: 1, max: 9 }),
          ago: fc.nat(5),
        }),
        { maxLength: 30 },
      ),
      fc.nat(5),
      fc.option(fc.uniqueArray(fc.constantFrom('a', 'b', 'c')), { nil: undefined }),
      async (made, ago, keyIds) => {
        const store = served()
        for (const { keyId, code, count: times, ago: hours } of made)
          await store.refusals.write({ refusals: [], counts: [count(keyId, code, times, NOW - hours * HOUR)] })
        const told = await store.insight.refused({ since: NOW - ago * HOUR, until: NOW + HOUR, keyIds })
        const wanted = (code: string) =>
          made
            .filter((each) => each.code === code && each.ago <= ago && (keyIds?.includes(each.keyId) ?? true))
            .reduce((sum, each) => sum + each.count, 0)
        expect(Object.fromEntries(told.map((each) => [each.code, each.count]))).toEqual(
          Object.fromEntries(['x', 'y'].map((code) => [code, wanted(code)]).filter(([, sum]) => sum !== 0)),
        )
      },
    ),
    { numRuns: 50 },
  ))

test('a restart goes on in the series of rows, so that what comes later stands above', async () => {
  const path = newPath()
  const before = served(path)
  await before.refusals.write({ refusals: [refusalOf({ id: 'early' })], counts: [] })
  await before.close()
  const store = open(path)
  const { key } = await store.keys.issue(newKey(), ACTOR)
  const ledger = createLedger({ store, clock: () => NOW, prices: () => () => undefined })
  const ask = { wire: 'messages', stream: false, inputEstimate: 1, outputCap: 1, maxOutput: 1 } as const
  const reserving = ledger.reserve({ ...ask, exchangeId: 'late', key, model: 'm' })
  await ledger.flush()
  await reserving
  expect((await store.insight.exchangePage({ limit: 5 })).rows.map(({ id }) => id)).toEqual(['late', 'early'])
})

test('they go with the exchanges of their time; the counts of all keys together stay', async () => {
  const store = served()
  const old = NOW - 10 * DAY
  await store.refusals.write({
    refusals: [refusalOf({ id: 'old', at: old }), refusalOf({ id: 'new' })],
    counts: [count('key_a', 'x', 3, old), count('key_a', 'x', 4)],
  })
  while ((await store.prune(NOW - DAY, 20)) === 20);
  expect((await store.insight.exchangePage({ limit: 5 })).rows.map(({ id }) => id)).toEqual(['new'])
  const all = { since: 0, until: NOW + DAY }
  expect(await store.insight.refused({ ...all, keyIds: ['key_a'] })).toEqual([{ code: 'x', count: 4 }])
  expect(await store.insight.refused(all)).toEqual([{ code: 'x', count: 7 }])
})
