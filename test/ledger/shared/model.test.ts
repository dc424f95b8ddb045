// The shared ledger against a model of it: whatever nodes ask in whatever order, whoever is killed and whichever line fails,
// the books are right and no key is overspent.

import { describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { GatewayError } from '../../../src/errors.ts'
import { totalTokens, type Usage } from '../../../src/ir/usage.ts'
import type { Reservation } from '../../../src/ledger/ledger.ts'
import type { Ticket } from '../../../src/ledger/limits.ts'
import { postgresMissing } from '../../support/postgres.ts'
import { redisMissing, startRedis } from '../../support/redis.ts'
import { settlement } from '../support.ts'
import type { Fault } from './faults.ts'
import { createPgWorld } from './postgres-world.ts'
import { createWorld, type PlayedNode as TestNode, type Playable as World } from './world.ts'

const RPM = 12
const AT_ONCE = 3
/** The second key has limits, the first a quota alone. */
const KEYS = [{ tokensTotal: 3_000 }, { tokensTotal: 3_000, rpm: RPM, concurrency: AT_ONCE }]

type Known = {
  id: string
  node: TestNode
  keyAt: number
  beganAt: number
  ticket?: Ticket
  reservation?: Reservation
  /** By its node's own word. */
  settled?: Usage
  /** Nobody may have it any more. */
  refused?: GatewayError
  progress: Usage[]
  /** Its key was revoked before it asked. */
  late: boolean
}

type Model = { known: Known[]; revoked: Set<number>; faulty: boolean; resets: number; killed: Set<TestNode> }
type Step = fc.AsyncCommand<Model, World>

const openOf = (model: Model): Known[] =>
  model.known.filter((one) => one.reservation !== undefined && one.settled === undefined && one.node.alive)

/** Looked at after every step. */
const sample = async (model: Model, world: World): Promise<void> => {
  for (const id of world.keyIds) {
    const key = await world.standing(id)
    // What is left is never given twice; a last request alone may ask for one token more than its prompt.
    expect(key.used + key.held).toBeLessThanOrEqual(key.total + 1)
    const inMinute = model.known.filter(
      (one) => world.keyIds[one.keyAt] === id && one.ticket !== undefined && world.clock.ms - one.beganAt < 60_000,
    )
    if (key.rpm !== undefined && model.resets === 0) expect(inMinute.length).toBeLessThanOrEqual(RPM)
  }
}

const step = (name: string, carryOut: (model: Model, world: World) => void | Promise<void>): Step => ({
  check: () => true,
  async run(model, world) {
    await carryOut(model, world)
    await world.turns()
    await sample(model, world)
  },
  toString: () => name,
})

const begin = ([nodeAt, keyAt, input, cap, isFixed]: [number, number, number, number, boolean]): Step =>
  step(`begin ${nodeAt} ${keyAt} ${input}+${cap}${isFixed ? '!' : ''}`, (model, world) => {
    const node = world.nodes[nodeAt]
    if (node === undefined) return
    const asked = { inputEstimate: input, outputCap: cap, leastInput: () => input, fixed: isFixed }
    const { id, ticket, reserving } = node.begin(world.key(keyAt), asked)
    const late = model.revoked.has(keyAt)
    const one: Known = { id, node, keyAt, beganAt: world.clock.ms, progress: [], late }
    model.known.push(one)
    ticket.then(
      (given) => {
        one.ticket = given
      },
      () => undefined,
    )
    reserving.then(
      (reservation) => {
        one.reservation = reservation
      },
      (error: GatewayError) => {
        one.refused = error
        delete one.ticket
      },
    )
  })

const part = (reserved: number, share: number): Usage => {
  const tokens = Math.floor(reserved * share)
  return { input: Math.ceil(tokens / 2), output: Math.floor(tokens / 2) }
}

const onOpen = (name: string, which: number, act: (one: Known, reservation: Reservation) => void): Step =>
  step(name, (model) => {
    const open = openOf(model)
    const one = open[which % Math.max(1, open.length)]
    if (one?.reservation !== undefined) act(one, one.reservation)
  })

const progress = (which: number, share: number): Step =>
  onOpen(`progress ${which} ${share}`, which, (one, reservation) => {
    const usage = part(reservation.reserved, share)
    one.node.ledger.progress(reservation, usage)
    one.progress.push(usage)
  })

const settle = (which: number, share: number): Step =>
  onOpen(`settle ${which} ${share}`, which, (one, reservation) => {
    const usage = part(reservation.reserved, share)
    one.node.ledger.settle(reservation, settlement({ usage }))
    one.settled = usage
    one.ticket?.release()
    expect(() => one.node.ledger.settle(reservation, settlement())).toThrow()
  })

const FAULTS: Fault[] = ['slow', 'cut-before', 'cut-after', 'silent-before', 'silent-after']

const steps = [
  fc
    .tuple(fc.nat(2), fc.nat(1), fc.integer({ min: 1, max: 300 }), fc.integer({ min: 1, max: 400 }), fc.boolean())
    .map(begin),
  fc.tuple(fc.nat(20), fc.double({ min: 0, max: 1, noNaN: true })).map((args) => settle(...args)),
  fc.tuple(fc.nat(20), fc.double({ min: 0, max: 1, noNaN: true })).map((args) => progress(...args)),
  fc.integer({ min: 1, max: 20_000 }).map((ms) => step(`wait ${ms}`, (_, world) => world.wait(ms))),
  fc.tuple(fc.nat(2), fc.constantFrom(...FAULTS)).map(([at, fault]) =>
    step(`${fault} at ${at}`, (model, world) => {
      const line = world.nodes[at]?.line
      if (line !== undefined) line.fault = fault
      model.faulty = true
    }),
  ),
  fc.nat(2).map((at) => step(`heal ${at}`, (_, world) => world.nodes[at]?.line.heal())),
  fc.nat(2).map((at) =>
    step(`kill node ${at}`, async (model, world) => {
      const node = world.nodes[at]
      if (node !== undefined) model.killed.add(node)
      await world.killNode(at)
    }),
  ),
  fc.constant(
    step('kill owner', async (model, world) => {
      model.faulty = true
      // The windows may begin anew, as with any start.
      model.resets++
      await world.restart()
    }),
  ),
  fc.nat(1).map((at) =>
    step(`revoke ${at}`, async (model, world) => {
      await world.revoke(at)
      model.revoked.add(at)
    }),
  ),
]
const WEIGHTS = [12, 7, 3, 3, 2, 2, 1, 1, 1]
const arbitrary = fc.commands(
  steps.flatMap((one, at) => Array.from({ length: WEIGHTS[at] ?? 1 }, () => one)),
  { size: '+1', maxCommands: 80 },
)

const checkBooks = async (model: Model, world: World): Promise<void> => {
  await world.finish()
  for (const one of openOf(model)) {
    const usage = { input: 1, output: 1 }
    if (one.reservation === undefined) continue
    one.node.ledger.settle(one.reservation, settlement({ usage }))
    one.settled = usage
    one.ticket?.release()
  }
  await world.finish()
  expect(await world.openCount()).toBe(0)
  const rows = await world.exchanges()
  expect(rows.filter((row) => row.outcome === null)).toEqual([])
  const byId = new Map(rows.map((row) => [row.id, row]))
  expect(byId.size).toBe(rows.length)
  for (const one of model.known) {
    const row = byId.get(one.id)
    const billed = totalTokens({ input: row?.input ?? 0, output: row?.output ?? 0 })
    if (one.late) expect(one.reservation).toBeUndefined()
    if (one.refused !== undefined && !model.killed.has(one.node)) expect(billed).toBe(0)
    if (one.refused?.code === 'service_unavailable') expect(model.faulty).toBe(true)
    if (one.settled === undefined) continue
    if (!model.killed.has(one.node))
      expect({ id: one.id, billed }).toEqual({ id: one.id, billed: totalTokens(one.settled) })
    // Its node may have been killed before it was heard.
    else if (billed !== totalTokens(one.settled))
      expect([...one.progress.map(totalTokens), row?.inputEstimate ?? 0]).toContain(billed)
  }
  for (const [at, id] of world.keyIds.entries()) {
    const mine = rows.filter((row) => row.keyId === id)
    const sum = mine.reduce((all, row) => all + (row.input ?? 0) + (row.output ?? 0), 0)
    const { used, held } = await world.standing(id)
    expect({ used, held }).toEqual({ used: sum, held: 0 })
    if (KEYS[at]?.concurrency === undefined || model.revoked.has(at)) continue
    // Nobody is in any more: as many fit as ever.
    await world.wait(61_000)
    for (let i = 0; i < AT_ONCE; i++) await world.enter(at)
    await expect((async () => world.enter(at))()).rejects.toThrow(GatewayError)
  }
}

const play = async (newWorld: (run: number) => World | Promise<World>, numRuns: number): Promise<void> => {
  let runs = 0
  await fc.assert(
    fc.asyncProperty(arbitrary, async (commands) => {
      const world = await newWorld(runs++)
      const model: Model = { known: [], revoked: new Set(), faulty: false, resets: 0, killed: new Set() }
      try {
        await fc.asyncModelRun(() => ({ model, real: world }), commands)
        await checkBooks(model, world)
      } finally {
        await world.close()
      }
    }),
    { numRuns },
  )
}

const RUNS = process.env.SLUICE_GROWTH_RUNS
/** The long form takes as long as it takes. */
const MOST_MS = RUNS === undefined ? 600_000 : 3_600_000

describe('the books of nodes that share a ledger are right after any sequence of requests, faults and kills', () => {
  test(
    'over an owner with SQLite',
    async () => {
      const folder = mkdtempSync(join(tmpdir(), 'sluice-shared-'))
      try {
        await play((run) => createWorld(join(folder, `${run}.db`), KEYS, 3), Number(RUNS ?? 60))
      } finally {
        rmSync(folder, { recursive: true, force: true })
      }
    },
    MOST_MS,
  )

  test.skipIf(postgresMissing !== undefined)(
    'over PostgreSQL',
    async () => {
      await play(() => createPgWorld(KEYS, 3), Number(RUNS ?? 50) / 10)
    },
    MOST_MS,
  )

  test.skipIf(postgresMissing !== undefined || redisMissing !== undefined)(
    'over PostgreSQL, with the limits in Valkey or Redis',
    async () => {
      const server = await startRedis()
      try {
        await play(() => createPgWorld(KEYS, 3, server), Number(RUNS ?? 50) / 10)
      } finally {
        await server.stop()
      }
    },
    MOST_MS,
  )
})
