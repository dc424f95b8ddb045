// The ledger against a model of it: whatever happens in whatever order, the books are right.

import { expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { totalTokens, type Usage } from '../../src/ir/usage.ts'
import type { Outcome, Reservation } from '../../src/ledger/ledger.ts'
import { openStore } from '../../src/store/sqlite/index.ts'
import { ACTOR, NOW, newKey } from '../store/support.ts'
import { ask, bench, settlement } from './support.ts'

type Step =
  | { do: 'reserve'; key: number; input: number; cap: number | undefined; max: number; isResumed: boolean }
  | { do: 'settle'; which: number; usage: Usage; outcome: Outcome }
  | { do: 'progress'; which: number; usage: Usage }
  | { do: 'turn' }
  | { do: 'wait' | 'kill' | 'stop' }
  | { do: 'failing'; is: boolean }
  | { do: 'total'; key: number; tokens: number }
  | { do: 'reset'; key: number }

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
}

/** Plays the steps on a database of its own and checks the books after each, and all of them at the end. */
const play = async (steps: Step[], path: string): Promise<void> => {
  const cli = openStore(path, { clock: () => NOW })
  const ids = [0, 1].map(() => cli.keys.issue(newKey({ tokensTotal: 2_000 }), ACTOR).key.id)
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
  const charge = (keyId: string, by: number) => used.set(keyId, (used.get(keyId) ?? 0) + by)

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
      for (const each of unsummed) charge(each.known.keyId, totalTokens(each.usage))
      unsummed = []
    }
    if (withProgress) for (const each of open()) if (each.latest !== undefined) each.durable = each.latest
  }
  const restart = (all = false) => {
    // What was not written is lost; what was open in the file ends with its durable progress, unless it goes on.
    for (const each of asking) known.delete(each.id)
    for (const each of unwritten) each.known.ended = false
    for (const each of unsummed) charge(each.known.keyId, totalTokens(each.usage))
    for (const [id, each] of known) {
      if (each.ended || (each.isResumed && !all)) continue
      each.ended = true
      const { durable = {} } = each
      const usage = Object.keys(durable).length > 0 ? durable : { input: each.input, output: 0 }
      settledAs.set(id, usage)
      charge(each.keyId, totalTokens(usage))
    }
    asking = []
    unwritten = []
    unsummed = []
    failing = false
    store.close()
    store = openStore(path, { clock: () => NOW })
    at = bench(store, undefined, undefined, (id) => !all && known.get(id)?.isResumed === true)
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
      const request = ask(before, { inputEstimate: each.input, outputCap: each.cap, maxOutput: each.max })
      const count = at.ledger.openCount()
      const result = at.ledger.reserve(request).catch(() => undefined)
      if (at.ledger.openCount() > count) {
        const reserved = at.ledger.heldBy(id) - held
        const entry: Known = { keyId: id, reserved, input: each.input, isResumed: each.isResumed, ended: false }
        known.set(request.exchangeId, entry)
        asking.push({ id: request.exchangeId, known: entry, result })
        // Never overspent, but for the estimate of a request that is alone.
        const alone = tokensUsed + each.input + 1
        expect(tokensUsed + held + reserved).toBeLessThanOrEqual(held > 0 ? tokensTotal : Math.max(tokensTotal, alone))
        expect(tokensUsed).toBeLessThan(tokensTotal)
      } else {
        expect(tokensUsed >= tokensTotal || held > 0).toBe(true)
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
        at.ledger.flush()
      } catch {
        expect(failing).toBe(true)
      }
      if (at.attempts() > tried) await written(true)
    } else if (each.do === 'stop') {
      at.failing(false)
      failing = false
      const tried = at.attempts()
      at.ledger.flush()
      if (at.attempts() > tried) await written(true)
      restart()
    } else if (each.do === 'kill') {
      restart()
    } else if (each.do === 'failing') {
      at.failing(each.is)
      failing = each.is
    } else if (each.do === 'total' || each.do === 'reset') {
      const id = ids[each.key] ?? ''
      cli.keys.update(id, each.do === 'total' ? { tokensTotal: each.tokens } : { tokensUsed: 0 }, ACTOR)
      if (each.do === 'reset') used.set(id, 0)
      store.refresh()
    }
    for (const id of ids) {
      const waiting = [...unwritten, ...unsummed].filter((one) => one.known.keyId === id)
      const pending = waiting.reduce((sum, one) => sum + totalTokens(one.usage), 0)
      expect(store.keys.get(id)?.tokensUsed).toBe((used.get(id) ?? 0) + pending)
      const held = [...known.values()].filter((one) => one.keyId === id && !one.ended)
      expect(at.ledger.heldBy(id)).toBe(held.reduce((sum, one) => sum + one.reserved, 0))
    }
  }

  restart(true)
  const rows = store.exchanges({ limit: 10_000 })
  expect(rows.map((row) => row.id).sort()).toEqual([...known.keys()].sort())
  for (const row of rows) {
    const { input, output, cacheRead } = row
    const settled = settledAs.get(row.id) ?? {}
    expect({ input, output, cacheRead }).toEqual({ input: null, output: null, cacheRead: null, ...settled } as never)
    expect(row.outcome).not.toBeNull()
  }
  for (const by of ['day', 'model', 'key'] as const) {
    const sums = store.usage({ by }).rows
    expect(sums.reduce((sum, row) => sum + row.requests, 0)).toBe(rows.length)
    expect(sums.reduce((sum, row) => sum + row.input + row.cacheRead + row.cacheWrite + row.output, 0)).toBe(
      rows.reduce((sum, row) => sum + (row.input ?? 0) + (row.cacheRead ?? 0) + (row.output ?? 0), 0),
    )
    expect(sums.reduce((sum, row) => sum + row.costMicroUsd, 0)).toBe(
      rows.reduce((sum, row) => sum + row.costMicroUsd, 0),
    )
  }
  store.close()
  cli.close()
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
}, 60_000)
