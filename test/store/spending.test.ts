// Who spent what: every sum against a plain reading of the exchanges, whatever it is told apart by, over restarts too.

import { afterEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { totalTokens } from '../../src/ir/usage.ts'
import type { Key } from '../../src/keys/key.ts'
import { createLedger } from '../../src/ledger/create.ts'
import type { OpenExchange, SettledExchange } from '../../src/ledger/journal.ts'
import { OTHER_TAGS } from '../../src/ledger/tags.ts'
import { DEFAULT_LIMITS } from '../../src/members/member.ts'
import { addFigures, type Figures, NO_FIGURES } from '../../src/store/figures.ts'
import { USAGE_BY, type UsageBy } from '../../src/store/usage.ts'
import { PRICE } from '../ledger/support.ts'
import { closeAll, type Place, STORES } from './stores.ts'
import { ACTOR, DAY, HOUR, NOW, newKey, newPath, open } from './support.ts'

afterEach(closeAll)

/** Micro-USD. */
const SEARCH = PRICE.perCall.web_search * 1e6
const MORNING = NOW - (NOW % DAY)

const some = fc.record({
  key: fc.nat(3),
  model: fc.constantFrom('a', 'b'),
  account: fc.constantFrom(undefined, 'p/one', 'p/two', 'q/one'),
  tag: fc.constantFrom(undefined, 'red', 'blue'),
  outcome: fc.constantFrom('done', 'failed', 'refused', 'aborted'),
  input: fc.nat(50),
  output: fc.nat(50),
  searches: fc.nat(3),
  hour: fc.nat(70),
})
type Made = typeof some extends fc.Arbitrary<infer T> ? T : never

/** Four keys: two of one member, who is in a team; one of another, who is in none; one of the gateway's own. */
const fill = async (place: Place, made: readonly Made[], restartAfter: number) => {
  const time = { now: NOW }
  const begin = () => place.serve({ clock: () => time.now, prices: () => PRICE })
  let { store, books, close } = await begin()
  const team = await store.teams.add({ name: 'crew' }, ACTOR)
  const member = (name: string, teamId: string | null) =>
    store.members.add({ name, role: 'member', limits: DEFAULT_LIMITS, passwordHash: 'x', teamId }, ACTOR)
  const [ann, bob] = [await member('Ann', team.id), await member('Bob', null)]
  const owners = [ann.id, ann.id, bob.id, undefined]
  const keys: Key[] = []
  for (const ownerId of owners)
    keys.push((await store.keys.issue(newKey({ ownerId, tokensTotal: 1e12, expiresAt: 9e12 }), ACTOR)).key)
  for (const [i, each] of [...made].sort((a, b) => a.hour - b.hour).entries()) {
    time.now = MORNING + each.hour * HOUR
    const key = keys[each.key]
    if (key === undefined) throw new Error('no such key')
    const reservation = await books.reserve({
      ...{ exchangeId: `x${i}`, key, model: each.model, wire: 'messages', stream: false },
      ...{ inputEstimate: 1, outputCap: 100, maxOutput: 100, tag: each.tag },
    })
    const [provider, account] = each.account?.split('/') ?? []
    books.settle(reservation, {
      ...{ outcome: each.outcome as 'done', usage: { input: each.input, output: each.output }, estimated: false },
      ...{ status: 200, attempts: 1, totalMs: 1, provider, account, serverTools: { web_search: each.searches } },
    })
    if (i !== restartAfter) continue
    await books.written()
    await close()
    ;({ store, books, close } = await begin())
  }
  await books.written()
  const groups: Record<UsageBy, (each: Made) => string> = {
    model: ({ model }) => model,
    key: ({ key }) => keys[key]?.id ?? '',
    member: ({ key }) => owners[key] ?? '',
    team: ({ key }) => (owners[key] === ann.id ? team.id : ''),
    account: ({ account = '' }) => account,
    provider: ({ account = '' }) => account.split('/')[0] ?? '',
    tag: ({ tag = '' }) => tag,
    day: ({ hour }) => new Date(MORNING + hour * HOUR).toISOString().slice(0, 10),
  }
  return { store, keys, groups }
}

const figuresOf = ({ outcome, input, output, searches }: Made): Figures => ({
  ...NO_FIGURES,
  ...{ requests: 1, errors: outcome === 'failed' || outcome === 'refused' ? 1 : 0, input, output },
  costMicroUsd: input * PRICE.input + output * PRICE.output + searches * SEARCH,
  feesMicroUsd: searches * SEARCH,
})

const plain = (made: readonly Made[], groupOf: (each: Made) => string): Record<string, Figures> => {
  const sums: Record<string, Figures> = {}
  for (const each of made) {
    const group = groupOf(each)
    sums[group] = addFigures(sums[group] ?? NO_FIGURES, figuresOf(each))
  }
  return sums
}
const told = (rows: readonly (Figures & { group: string })[]): Record<string, Figures> =>
  Object.fromEntries(
    rows
      .map(({ group, ...row }) => [group, addFigures(NO_FIGURES, row)] as const)
      .filter(([, sum]) => sum.requests > 0),
  )

describe.each(STORES)('in %s', (_, { newPlace, runs }) => {
  test(
    'tables and series are the sums of the exchanges, by whatever they are told apart',
    () =>
      fc.assert(
        fc.asyncProperty(
          fc.array(some, { maxLength: 25 }),
          fc.nat(25),
          fc.nat(2),
          fc.option(fc.uniqueArray(fc.nat(3), { minLength: 1 }), { nil: undefined }),
          async (made, restartAfter, sinceDay, asked) => {
            const { store, keys, groups } = await fill(await newPlace(), made, restartAfter)
            const since = MORNING + sinceDay * DAY
            const until = MORNING + 3 * DAY
            const inTime = made.filter(({ hour }) => hour >= sinceDay * 24)
            for (const by of USAGE_BY) {
              const ofAll = by === 'account' || by === 'provider'
              const keyIds = ofAll ? undefined : asked?.map((i) => keys[i]?.id ?? '')
              const mine = inTime.filter(({ key }) => keyIds === undefined || asked?.includes(key))
              const wanted = plain(mine, groups[by])
              expect([by, told((await store.usage({ by, sinceMs: since, keyIds })).rows)]).toEqual([by, wanted])
              if (by === 'key' && keyIds === undefined) continue
              const daily = (await store.usage({ by, sinceMs: since, keyIds, daily: true })).rows
              const days = by === 'day' ? groups.day : (each: Made) => `${groups.day(each)} ${groups[by](each)}`
              const dated = daily.map(({ day, group, ...row }) => ({ ...row, group: day ? `${day} ${group}` : group }))
              expect([by, told(dated)]).toEqual([by, plain(mine, days)])
              const order = dated.map(({ group }) => group)
              expect(order).toEqual(order.toSorted())
              if (by === 'day') continue
              for (const step of by === 'tag' ? (['day'] as const) : (['day', 'hour'] as const)) {
                const rows = await store.insight.series({ step, by, since, until, keyIds })
                const sums: Record<string, Figures> = {}
                for (const row of rows) sums[row.group] = addFigures(sums[row.group] ?? NO_FIGURES, row)
                expect([by, step, sums]).toEqual([by, step, wanted])
                for (const { at } of rows) expect(at % (step === 'day' ? DAY : HOUR)).toBe(0)
              }
            }
            await closeAll()
          },
        ),
        { numRuns: runs(40) },
      ),
    120_000,
  )

  test('what was spent before accounts were told apart is of none, and in the whole', async () => {
    const made = { key: 0, model: 'a', tag: undefined, outcome: 'done', output: 0, searches: 0, hour: 1 } as const
    const place = await newPlace()
    const { store } = await fill(place, [{ ...made, account: 'p/one', input: 10 }], 99)
    // What is read is summed.
    await store.usage({ by: 'account' })
    await place.run('UPDATE usage_accounts SET requests = 0, input = input - 4, cost_micro_usd = cost_micro_usd - 20')
    expect(told((await store.usage({ by: 'account' })).rows)).toMatchObject({
      '': { requests: 1, input: 4, costMicroUsd: 20 },
    })
    const whole = (await store.usage({ by: 'account' })).rows.reduce((sum, row) => sum + totalTokens(row), 0)
    expect(whole).toBe(10)
  })

  test('a key that makes up tags has a hundred a day, the rest together; the next day it has others', async () => {
    const made = (i: number, hour: number): Made => ({
      ...{ key: 0, model: 'a', account: undefined, outcome: 'done', input: 1, output: 0, searches: 0, hour },
      tag: `t${i}` as 'red',
    })
    const many = [
      ...Array.from({ length: 130 }, (_, i) => made(i, 1)),
      ...Array.from({ length: 20 }, (_, i) => made(200 + i, 25)),
    ]
    // A restart in between goes on with those it had.
    const { store } = await fill(await newPlace(), many, 60)
    const rows = (await store.usage({ by: 'tag' })).rows.filter(({ requests }) => requests > 0)
    expect(rows).toHaveLength(121)
    expect(rows.find(({ group }) => group === OTHER_TAGS)?.requests).toBe(30)
    expect(rows.reduce((sum, { requests }) => sum + requests, 0)).toBe(150)
  })
})

test('in a file, what a killed process had not added to the sums is added by the next start, by account and tag too', async () => {
  const path = newPath()
  const before = open(path)
  const { key } = await before.keys.issue(newKey(), ACTOR)
  const begun: OpenExchange = {
    ...{ row: 0, exchangeId: 'x', keyId: key.id, model: 'a', wire: 'messages', stream: false, startedAt: NOW },
    ...{ inputEstimate: 1, reserved: 1, reservedMicroUsd: 0, budgets: [], tag: 'red' },
  }
  const settled: SettledExchange = {
    open: begun,
    settlement: {
      ...{ outcome: 'done', usage: { input: 7 }, estimated: false, status: 200, attempts: 1, totalMs: 1 },
      ...{ provider: 'p', account: 'one' },
    },
    ...{ endedAt: NOW, costMicroUsd: 35, feesMicroUsd: 0, rawUsage: undefined, leftAfter: undefined },
  }
  before.journal.claim(() => undefined)
  before.journal.write({ opened: [begun], progressed: [], settled: [] })
  before.journal.write({ opened: [], progressed: [], ended: [settled], settled: [] })
  await before.close()
  const store = open(path)
  await createLedger({ store, clock: () => NOW, prices: () => () => PRICE }).flush()
  expect(told((await store.usage({ by: 'account' })).rows)).toMatchObject({ 'p/one': { requests: 1, input: 7 } })
  expect(told((await store.usage({ by: 'tag' })).rows)).toMatchObject({
    red: { requests: 1, input: 7, costMicroUsd: 35 },
  })
})
