// The ledger against a model of it: whatever happens in whatever order, the books are right.

import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { totalTokens, type Usage } from '../../src/ir/usage.ts'
import { type BudgetId, budgetOf, GATEWAY, type Spent, UNITS, type Unit, usedOf } from '../../src/keys/budget.ts'
import { costMicroUsd } from '../../src/ledger/cost.ts'
import type { Outcome, Reservation } from '../../src/ledger/ledger.ts'
import { DEFAULT_LIMITS } from '../../src/members/member.ts'
import { openStore } from '../../src/store/sqlite/index.ts'
import { ACTOR, NOW, newKey } from '../store/support.ts'
import { ask, bench, PRICE, settlement } from './support.ts'

type Step =
  | { do: 'reserve'; key: number; input: number; cap: number | undefined; max: number; isResumed: boolean }
  | { do: 'settle'; which: number; usage: Usage; outcome: Outcome }
  | { do: 'progress'; which: number; usage: Usage }
  | { do: 'turn' }
  | { do: 'wait' | 'kill' | 'stop' }
  | { do: 'failing'; is: boolean }
  | { do: 'total'; key: number; tokens: number }
  | { do: 'reset'; key: number }
  | { do: 'budget'; which: number; amount: number; unit: Unit }
  | { do: 'renew'; which: number }

const tokens = fc.integer({ min: 0, max: 400 })
const key = fc.integer({ min: 0, max: 1 })
const which = fc.nat(20)
const usage = fc.record({ input: tokens, output: tokens, cacheRead: tokens }, { requiredKeys: [] })
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      ...{ do: fc.constant('reserve' as const), key, input: tokens, max: tokens },
      cap: fc.option(tokens, { nil: undefined }),
      isResumed: fc.boolean(),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      ...{ do: fc.constant('settle' as const), which, usage },
      outcome: fc.constantFrom<Outcome>('done', 'refused', 'failed', 'aborted'),
    }),
  },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('progress' as const), which, usage }) },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('turn' as const) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constantFrom('wait' as const, 'kill' as const, 'stop' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('failing' as const), is: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('total' as const), key, tokens: fc.integer({ min: 0, max: 4_000 }) }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('reset' as const), key }) },
  {
    weight: 2,
    arbitrary: fc.record({
      ...{ do: fc.constant('budget' as const), which: fc.nat(3), amount: fc.integer({ min: 0, max: 20_000 }) },
      unit: fc.constantFrom(...UNITS),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('renew' as const), which: fc.nat(3) }) },
)

/** What the model knows of an exchange: `durable` is what a restart would find. */
type Known = {
  keyId: string
  reservation?: Reservation
  reserved: number
  input: number
  latest?: Usage
  durable?: Usage
  /** A restart leaves it open. */
  isResumed: boolean
  ended: boolean
  /** Those it counts against, and what is held of them. */
  budgets: readonly BudgetId[]
  held: Spent
}

const spentIn = (usage: Usage): Spent => ({ tokens: totalTokens(usage), microUsd: costMicroUsd(usage, PRICE) })
const minus = (a: Spent, b: Spent): Spent => ({ tokens: a.tokens - b.tokens, microUsd: a.microUsd - b.microUsd })
const NOTHING: Spent = { tokens: 0, microUsd: 0 }

/** Plays the steps on a database of its own and checks the books after each, and all of them at the end. */
const play = async (steps: Step[], path: string): Promise<void> => {
  const cli = openStore(path, { clock: () => NOW })
  const team = await cli.teams.add({ name: 'Blue' }, ACTOR)
  const limits = DEFAULT_LIMITS
  const owner = await cli.members.add({ name: 'Dara', role: 'member', limits, teamId: team.id }, ACTOR)
  const ids = await Promise.all(
    [0, 1].map(async (i) => {
      const ownerId = i === 0 ? owner.id : undefined
      return (await cli.keys.issue(newKey({ tokensTotal: 2_000, ownerId }), ACTOR)).key.id
    }),
  )
  const owned = [budgetOf('key', ids[0] ?? ''), budgetOf('member', owner.id), budgetOf('team', team.id), GATEWAY]
  const countedBy = (id: string): BudgetId[] => (id === ids[0] ? owned : [GATEWAY])
  /** What the file must say each budget has used; those that are there. */
  const spent = new Map<BudgetId, Spent>()
  let store = openStore(path, { clock: () => NOW })
  let at = bench(store)
  const known = new Map<string, Known>()
  /** Of each key: what the file must say it has used, and what is settled but not written. */
  const used = new Map(ids.map((id) => [id, 0]))
  let unwritten: { known: Known; usage: Usage }[] = []
  /** What is written, and not in the sums. */
  let unsummed: typeof unwritten = []
  const settledAs = new Map<string, Usage>()
  let asking: { id: string; known: Known; result: Promise<Reservation | undefined> }[] = []
  let failing = false

  const open = () => [...known.values()].filter((each) => !each.ended && each.reservation !== undefined)
  const charge = ({ keyId, budgets }: Known, usage: Usage) => {
    used.set(keyId, (used.get(keyId) ?? 0) + totalTokens(usage))
    for (const id of budgets) {
      const before = spent.get(id)
      if (before !== undefined) spent.set(id, minus(before, minus(NOTHING, spentIn(usage))))
    }
  }

  /** The model's side of a write that was due; the sums of less than a group wait for their time. */
  const written = async (withProgress: boolean) => {
    for (const each of asking) {
      const reservation = await each.result
      expect(reservation !== undefined).toBe(!failing)
      if (reservation === undefined) known.delete(each.id)
      else each.known.reservation = reservation
    }
    asking = []
    if (failing) return
    expect((at.last().ended ?? []).length + at.last().settled.length).toBeGreaterThanOrEqual(unwritten.length)
    unsummed.push(...unwritten)
    unwritten = []
    if (at.last().settled.length > 0) {
      expect(at.last().settled).toHaveLength(unsummed.length)
      for (const each of unsummed) charge(each.known, each.usage)
      unsummed = []
    }
    if (withProgress) for (const each of open()) if (each.latest !== undefined) each.durable = each.latest
  }
  const restart = async (all = false) => {
    // What was not written is lost; what was open in the file ends with its durable progress, unless it goes on.
    for (const each of asking) known.delete(each.id)
    for (const each of unwritten) each.known.ended = false
    for (const each of unsummed) charge(each.known, each.usage)
    for (const [id, each] of known) {
      if (each.ended || (each.isResumed && !all)) continue
      each.ended = true
      const { durable = {} } = each
      const usage = Object.keys(durable).length > 0 ? durable : { input: each.input, output: 0 }
      settledAs.set(id, usage)
      charge(each, usage)
    }
    asking = []
    unwritten = []
    unsummed = []
    failing = false
    await store.close()
    store = openStore(path, { clock: () => NOW })
    at = bench(store, { isResumed: (id) => !all && known.get(id)?.isResumed === true })
    expect(at.ledger.resumed.map(({ reservation }) => reservation.exchangeId).toSorted()).toEqual(
      [...known].flatMap(([id, { ended }]) => (ended ? [] : [id])).toSorted(),
    )
    for (const { reservation, usage } of at.ledger.resumed) {
      const one = known.get(reservation.exchangeId)
      if (one === undefined) throw new Error('an exchange nobody began')
      one.reservation = reservation
      one.latest = one.durable ?? {}
      expect(usage).toEqual(one.latest)
    }
  }

  for (const each of steps) {
    if (each.do === 'reserve') {
      const id = ids[each.key] ?? ''
      const held = at.ledger.heldBy(id)
      const before = store.keys.get(id)
      if (before === undefined) throw new Error('the key is gone')
      const { tokensUsed, tokensTotal } = before
      const counted = store.budgets.of(before)
      expect(counted.map((budget) => budget.id)).toEqual(countedBy(id).filter((budget) => spent.has(budget)))
      const held0 = new Map(counted.map((budget) => [budget.id, at.ledger.heldOf(budget.id)]))
      const request = ask(before, { inputEstimate: each.input, outputCap: each.cap, maxOutput: each.max })
      const count = at.ledger.openCount()
      const result = at.ledger.reserve(request).catch(() => undefined)
      if (at.ledger.openCount() > count) {
        const reserved = at.ledger.heldBy(id) - held
        const taken = counted.map((budget) => minus(at.ledger.heldOf(budget.id), held0.get(budget.id) ?? NOTHING))
        const entry: Known = {
          ...{ keyId: id, reserved, input: each.input, isResumed: each.isResumed, ended: false },
          ...{ budgets: counted.map((budget) => budget.id), held: taken[0] ?? NOTHING },
        }
        // What it can cost at most: the prompt at the dearest class, and the whole output.
        if (counted.length > 0) {
          const most = each.input * PRICE.cacheWrite + (reserved - each.input) * PRICE.output
          expect(taken).toEqual(counted.map(() => ({ tokens: reserved, microUsd: Math.ceil(most) })))
        }
        known.set(request.exchangeId, entry)
        asking.push({ id: request.exchangeId, known: entry, result })
        // Never overspent, but for the estimate of a request that is alone.
        const alone = tokensUsed + each.input + 1
        expect(tokensUsed + held + reserved).toBeLessThanOrEqual(held > 0 ? tokensTotal : Math.max(tokensTotal, alone))
        expect(tokensUsed).toBeLessThan(tokensTotal)
        for (const budget of counted) {
          const of = (one: Spent): number => (budget.unit === 'usd' ? one.microUsd : one.tokens)
          const held = of(held0.get(budget.id) ?? NOTHING)
          expect(usedOf(budget)).toBeLessThan(budget.amount)
          if (held > 0) expect(usedOf(budget) + held + of(entry.held)).toBeLessThanOrEqual(budget.amount)
        }
      } else {
        const isUp = counted.some((budget) => usedOf(budget) >= budget.amount || at.ledger.heldOf(budget.id).tokens > 0)
        expect(tokensUsed >= tokensTotal || held > 0 || isUp).toBe(true)
      }
    } else if (each.do === 'settle' || each.do === 'progress') {
      const candidates = open()
      const one = candidates[each.which % Math.max(1, candidates.length)]
      if (one?.reservation === undefined) continue
      if (each.do === 'progress') {
        at.ledger.progress(one.reservation, each.usage)
        one.latest = each.usage
        continue
      }
      at.ledger.settle(one.reservation, settlement({ usage: each.usage, outcome: each.outcome }))
      one.ended = true
      settledAs.set(one.reservation.exchangeId, each.usage)
      unwritten.push({ known: one, usage: each.usage })
      const again = one.reservation
      expect(() => at.ledger.settle(again, settlement())).toThrow()
    } else if (each.do === 'turn') {
      // After a failure what is settled waits for its time, or for the next thing to write.
      const tried = at.attempts()
      at.turn()
      if (at.attempts() > tried) await written(false)
    } else if (each.do === 'wait') {
      // The timers write all of it, but only when one is running: flushing says it for certain.
      const tried = at.attempts()
      try {
        await at.ledger.flush()
      } catch {
        expect(failing).toBe(true)
      }
      if (at.attempts() > tried) await written(true)
    } else if (each.do === 'stop') {
      at.failing(false)
      failing = false
      const tried = at.attempts()
      await at.ledger.flush()
      if (at.attempts() > tried) await written(true)
      await restart()
    } else if (each.do === 'kill') {
      await restart()
    } else if (each.do === 'failing') {
      at.failing(each.is)
      failing = each.is
    } else if (each.do === 'total' || each.do === 'reset') {
      const id = ids[each.key] ?? ''
      await cli.keys.update(id, each.do === 'total' ? { tokensTotal: each.tokens } : { tokensUsed: 0 }, ACTOR)
      if (each.do === 'reset') used.set(id, 0)
      await store.refresh()
    } else if (each.do === 'budget') {
      const id = owned[each.which] ?? GATEWAY
      const terms = { unit: each.unit, amount: each.amount, renews: undefined, warnAt: [50, 100] }
      const none = each.amount % 5 === 0
      await cli.budgets.set(id, none ? null : terms, ACTOR)
      if (none) spent.delete(id)
      // One that is set anew begins with what was settled and not written.
      else if (!spent.has(id)) spent.set(id, NOTHING)
      await store.refresh()
    } else if (each.do === 'renew') {
      const id = owned[each.which] ?? GATEWAY
      await cli.budgets.renew(id, ACTOR)
      if (spent.has(id)) spent.set(id, NOTHING)
      await store.refresh()
    }
    for (const id of owned) {
      const waiting = [...unwritten, ...unsummed].filter((one) => one.known.budgets.includes(id))
      const budget = store.budgets.get(id)
      const before = spent.get(id)
      expect(budget === undefined).toBe(before === undefined)
      if (budget !== undefined && before !== undefined) {
        const pending = waiting.reduce((sum, one) => minus(sum, spentIn(one.usage)), NOTHING)
        expect(budget.used).toEqual(minus(before, pending))
      }
      const held = [...known.values()].filter((one) => one.budgets.includes(id) && !one.ended)
      const sum = (name: keyof Spent) => held.reduce((all, one) => all + one.held[name], 0)
      expect(at.ledger.heldOf(id)).toEqual({ tokens: sum('tokens'), microUsd: sum('microUsd') })
    }
    for (const id of ids) {
      const waiting = [...unwritten, ...unsummed].filter((one) => one.known.keyId === id)
      const pending = waiting.reduce((sum, one) => sum + totalTokens(one.usage), 0)
      expect(store.keys.get(id)?.tokensUsed).toBe((used.get(id) ?? 0) + pending)
      const held = [...known.values()].filter((one) => one.keyId === id && !one.ended)
      expect(at.ledger.heldBy(id)).toBe(held.reduce((sum, one) => sum + one.reserved, 0))
    }
  }

  await restart(true)
  for (const [id, used] of spent) expect([id, store.budgets.get(id)?.used]).toEqual([id, used])
  // Each mark once in a period, and none that was not reached.
  const marks = await store.budgets.marks(0, 10_000)
  expect(new Set(marks.map(({ budget, since, mark }) => `${budget} ${since} ${mark}`)).size).toBe(marks.length)
  for (const { mark, amount, used } of marks) expect(used * 100).toBeGreaterThanOrEqual(amount * mark)
  const rows = await store.exchanges({ limit: 10_000 })
  expect(rows.map((row) => row.id).sort()).toEqual([...known.keys()].sort())
  for (const row of rows) {
    const { input, output, cacheRead } = row
    const settled = settledAs.get(row.id) ?? {}
    expect({ input, output, cacheRead }).toEqual({ input: null, output: null, cacheRead: null, ...settled } as never)
    expect(row.outcome).not.toBeNull()
  }
  for (const by of ['day', 'model', 'key'] as const) {
    const sums = (await store.usage({ by })).rows
    expect(sums.reduce((sum, row) => sum + row.requests, 0)).toBe(rows.length)
    expect(sums.reduce((sum, row) => sum + row.input + row.cacheRead + row.cacheWrite + row.output, 0)).toBe(
      rows.reduce((sum, row) => sum + (row.input ?? 0) + (row.cacheRead ?? 0) + (row.output ?? 0), 0),
    )
    expect(sums.reduce((sum, row) => sum + row.costMicroUsd, 0)).toBe(
      rows.reduce((sum, row) => sum + row.costMicroUsd, 0),
    )
  }
  await store.close()
  await cli.close()
}

test('the books are right after any sequence of reservations, settlements, kills, failed writes, key changes and restarts', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-ledger-'))
  let runs = 0
  try {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 20, maxLength: 80, size: 'max' }), (steps) =>
        play(steps, join(folder, `${runs++}.db`)),
      ),
      { numRuns: 60 },
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
