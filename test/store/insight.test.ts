// Pages of exchanges against a plain filter over all of them, whatever is asked for and however they lie.

import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { createLedger } from '../../src/ledger/create.ts'
import type { Outcome } from '../../src/ledger/ledger.ts'
import type { PageQuery } from '../../src/store/insight.ts'
import { ACTOR, NOW, newKey, open } from './support.ts'

const MODELS = ['a', 'b']
const OUTCOMES = ['done', 'refused', 'failed', 'aborted'] as const
type Made = { key: number; model: string; outcome: Outcome | 'open'; after: number }

const fill = async (made: readonly Made[]) => {
  const time = { now: NOW }
  const store = open(':memory:', () => time.now)
  const keys = [0, 1, 2].map(() => store.keys.issue(newKey({ tokensTotal: 1e12 }), ACTOR).key)
  const ledger = createLedger({ store, clock: () => time.now, prices: () => undefined })
  for (const [i, { key, model, outcome, after }] of made.entries()) {
    time.now += after
    const ask = { wire: 'messages', stream: false, inputEstimate: 1, outputCap: 1, maxOutput: 1 } as const
    const owner = keys[key]
    if (owner === undefined) throw new Error('no such key')
    const reserving = ledger.reserve({ ...ask, exchangeId: `x${i}`, key: owner, model })
    ledger.flush()
    const reservation = await reserving
    if (outcome === 'open') continue
    ledger.settle(reservation, { outcome, usage: { input: 1 }, estimated: false, status: 200, attempts: 1, totalMs: 1 })
  }
  ledger.flush()
  return { store, keys }
}

const everyPage = (store: ReturnType<typeof open>, query: PageQuery): string[] => {
  const ids: string[] = []
  for (let before = query.before; ; ) {
    const { rows, next } = store.exchangePage({ ...query, before })
    expect(rows.length).toBeLessThanOrEqual(query.limit)
    ids.push(...rows.map((row) => row.id))
    if (next === undefined) return ids
    before = next
  }
}

const some = fc.record({
  key: fc.nat(2),
  model: fc.constantFrom(...MODELS),
  outcome: fc.constantFrom(...OUTCOMES, 'open' as const),
  after: fc.nat(3),
})

test('every filter, page by page, gives what a plain filter gives, newest first', () =>
  fc.assert(
    fc.asyncProperty(
      fc.array(some, { maxLength: 40 }),
      fc.record({
        limit: fc.integer({ min: 1, max: 7 }),
        keys: fc.option(fc.uniqueArray(fc.nat(2)), { nil: undefined }),
        model: fc.option(fc.constantFrom(...MODELS), { nil: undefined }),
        outcome: fc.option(fc.constantFrom(...OUTCOMES, 'open' as const), { nil: undefined }),
        since: fc.option(fc.nat(60), { nil: undefined }),
        until: fc.option(fc.nat(60), { nil: undefined }),
      }),
      async (made, { limit, keys: asked, model, outcome, since, until }) => {
        const { store, keys } = await fill(made)
        const keyIds = asked?.map((i) => keys[i]?.id ?? '')
        const from = since === undefined ? undefined : NOW + since
        const to = until === undefined ? undefined : NOW + until
        const wanted = made
          .map((each, i) => ({ ...each, i, at: NOW + made.slice(0, i + 1).reduce((sum, { after }) => sum + after, 0) }))
          .filter((each) => asked === undefined || asked.includes(each.key))
          .filter((each) => model === undefined || each.model === model)
          .filter((each) => outcome === undefined || each.outcome === outcome)
          .filter(({ at }) => (from === undefined || at >= from) && (to === undefined || at < to))
          .map(({ i }) => `x${i}`)
          .reverse()
        expect(everyPage(store, { limit, keyIds, model, outcome, since: from, until: to })).toEqual(wanted)
      },
    ),
    { numRuns: 150 },
  ))

test('a rare one far back is found over pages that may be empty, none of them long', async () => {
  const rare = (i: number) => i % 4_000 === 0
  const made = Array.from({ length: 12_001 }, (_, i): Made => {
    return { key: i % 2, model: rare(i) ? 'b' : 'a', outcome: 'done', after: 0 }
  })
  const { store, keys } = await fill(made)
  const wanted = ['x12000', 'x8000', 'x4000', 'x0']
  expect(everyPage(store, { limit: 2, model: 'b', outcome: 'done' })).toEqual(wanted)
  const keyIds = keys.map(({ id }) => id)
  expect(everyPage(store, { limit: 2, keyIds, model: 'b' })).toEqual(wanted)
  expect(everyPage(store, { limit: 2, keyIds: keyIds.slice(1, 2), model: 'b' })).toEqual([])
  expect(store.exchangePage({ limit: 2, keyIds: keyIds.slice(1, 2), model: 'b' })).toMatchObject({
    rows: [],
    next: 2_002,
  })
}, 30_000)
