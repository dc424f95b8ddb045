// What a node is told by the ledger that it shares, and what becomes of what it held.

import { afterEach, describe, expect, test } from 'bun:test'
import type { GatewayError } from '../../../src/errors.ts'
import type { NewKey } from '../../../src/keys/key.ts'
import type { Ticket } from '../../../src/ledger/limits.ts'
import { createNodeLedger } from '../../../src/ledger/node.ts'
import type { Ask, Verdict } from '../../../src/ledger/shared.ts'
import { ACTOR, cleanUp, newPath } from '../../store/support.ts'
import { ask, settlement } from '../support.ts'
import { createWorld, mortal, type TestNode, type World } from './world.ts'

const worlds: World[] = []
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close()
  await cleanUp()
})

const worldOf = async (keys: Partial<NewKey>[], nodes = 3, more: { silentMs?: number } = {}): Promise<World> => {
  const world = await createWorld(newPath(), keys, nodes, more)
  worlds.push(world)
  return world
}
const nodeAt = (world: World, at: number): TestNode => {
  const node = world.nodes[at]
  if (node === undefined) throw new Error('no such node')
  return node
}
const codeOf = (promise: Promise<unknown>): Promise<string | undefined> =>
  promise.then(
    () => undefined,
    (error: GatewayError) => error.code,
  )

describe('admission', () => {
  test('of 200 requests at once over three nodes exactly those are let in that fit', async () => {
    const world = await worldOf([{ tokensTotal: 20 * 110 }])
    const more = { inputEstimate: 10, outputCap: 100, fixed: true }
    const asked = Array.from({ length: 200 }, (_, i) => nodeAt(world, i % 3).begin(world.key(0), more))
    const codes = await Promise.all(asked.map(({ reserving }) => codeOf(reserving)))
    expect(codes.filter((code) => code === undefined)).toHaveLength(20)
    expect(new Set(codes)).toEqual(new Set([undefined, 'rate_limit_exceeded']))
    expect(world.owner().ledger.heldBy(world.keyIds[0] ?? '')).toBe(20 * 110)
  })

  test('a cap is lowered to what is left, whichever node asks', async () => {
    const world = await worldOf([{ tokensTotal: 300 }])
    const first = await nodeAt(world, 0).begin(world.key(0), { inputEstimate: 100, outputCap: 50 }).reserving
    const second = await nodeAt(world, 1).begin(world.key(0), { inputEstimate: 100, outputCap: 400 }).reserving
    expect(first.outputCap).toBeUndefined()
    expect(second.outputCap).toBe(50)
  })

  test('the least that a prompt takes is worked out only where it does not fit, and then refuses it', async () => {
    const world = await worldOf([{ tokensTotal: 100 }])
    let workedOut = 0
    const leastInput = () => {
      workedOut++
      return 150
    }
    const fits = nodeAt(world, 0).begin(world.key(0), { inputEstimate: 20, outputCap: 10, leastInput })
    await fits.reserving
    expect(workedOut).toBe(0)
    const refused = nodeAt(world, 0).begin(world.key(0), { inputEstimate: 200, outputCap: 10, leastInput })
    expect(await codeOf(refused.reserving)).toBe('quota_exhausted')
    expect(workedOut).toBe(1)
  })
})

describe('keys', () => {
  test('a key that is revoked is refused at once, by nodes too that have not heard of it', async () => {
    const world = await worldOf([{}])
    const key = { ...world.key(0) }
    await world.owner().store.keys.revoke(key.id, ACTOR)
    expect(key.revokedAt).toBeUndefined()
    for (const node of world.nodes) expect(await codeOf(node.begin(key).reserving)).toBe('invalid_api_key')
  })

  test('a key that has changed is looked at again before anything is reserved', async () => {
    const world = await worldOf([{}])
    await world.owner().store.keys.rotate(world.keyIds[0] ?? '', 0, ACTOR)
    let looked = 0
    const { reserving } = nodeAt(world, 0).begin(world.key(0), {
      recheck: () => {
        looked++
        throw new Error('another secret by now')
      },
    })
    await expect(reserving).rejects.toThrow('another secret')
    expect(looked).toBe(1)
    expect(world.owner().ledger.openCount()).toBe(0)
  })

  test('a key that the command line has issued a moment ago is known', async () => {
    const world = await worldOf([{}])
    const { key } = await world.outside.keys.issue({ ...world.key(0), label: 'new' }, ACTOR)
    expect((await nodeAt(world, 1).begin(key).reserving).keyId).toBe(key.id)
  })
})

describe('limits', () => {
  test('requests a minute hold over all nodes, to the request', async () => {
    const world = await worldOf([{ rpm: 7 }])
    const asked = Array.from({ length: 30 }, (_, i) => nodeAt(world, i % 3).begin(world.key(0)))
    const codes = await Promise.all(asked.map(({ ticket }) => codeOf(ticket)))
    expect(codes.filter((code) => code === undefined)).toHaveLength(7)
    await world.wait(60_000)
    expect(await codeOf(nodeAt(world, 2).begin(world.key(0)).ticket)).toBeUndefined()
  })

  test('requests at once hold over all nodes, and one that leaves makes room at another', async () => {
    const world = await worldOf([{ concurrency: 2 }])
    const [a, b] = [nodeAt(world, 0).begin(world.key(0)), nodeAt(world, 1).begin(world.key(0))]
    await Promise.all([a.ticket, b.ticket])
    expect(await codeOf(nodeAt(world, 2).begin(world.key(0)).ticket)).toBe('rate_limit_exceeded')
    ;(await a.ticket).release()
    await world.turns()
    expect(await codeOf(nodeAt(world, 2).begin(world.key(0)).ticket)).toBeUndefined()
  })

  test('settled tokens count for the minute at every node, and headers tell so', async () => {
    const world = await worldOf([{ tpm: 100 }])
    const { ticket, reserving } = nodeAt(world, 0).begin(world.key(0), { inputEstimate: 10, outputCap: 100 })
    nodeAt(world, 0).ledger.settle(await reserving, settlement({ usage: { input: 10, output: 90 } }))
    ;(await ticket).release()
    await nodeAt(world, 0).said()
    expect(await codeOf(nodeAt(world, 1).begin(world.key(0)).ticket)).toBe('rate_limit_exceeded')
    expect(nodeAt(world, 1).limits.headers(world.key(0), 'messages')).toMatchObject({
      'x-ratelimit-limit-tokens': '100',
      'x-ratelimit-remaining-tokens': '0',
      'x-ratelimit-reset-tokens': '1m0s',
    })
  })

  test('a key without limits asks nobody at the door', async () => {
    const world = await worldOf([{}])
    expect(nodeAt(world, 0).limits.enter(world.key(0), 'req_1')).not.toBeInstanceOf(Promise)
  })

  test('a request that is about to reserve comes in with that, in one message, and leaves as any other', async () => {
    const world = await worldOf([{ rpm: 2, concurrency: 1 }])
    const node = nodeAt(world, 0)
    const carried: string[][] = []
    const { to } = node.line
    node.line.to = {
      carry(group) {
        carried.push(group.map((one) => one.do))
        return to?.carry(group) ?? Promise.reject(new Error('cut'))
      },
    }
    const late = (id: string) => node.limits.enter(world.key(0), id, true) as Ticket
    const first = late('req_1')
    const reservation = await node.ledger.reserve(ask(world.key(0), { exchangeId: 'req_1' }))
    const second = late('req_2')
    expect(await codeOf(node.ledger.reserve(ask(world.key(0), { exchangeId: 'req_2' })))).toBe('rate_limit_exceeded')
    // It never came in.
    second.refund()
    node.ledger.settle(reservation, settlement())
    first.release()
    await node.said()
    expect(carried.slice(0, 2)).toEqual([['reserve'], ['reserve']])
    expect(node.limits.headers(world.key(0), 'messages')).toMatchObject({ 'x-ratelimit-remaining-requests': '1' })
    const third = late('req_3')
    await node.ledger.reserve(ask(world.key(0), { exchangeId: 'req_3' }))
    expect(third.headers('messages')).toMatchObject({ 'x-ratelimit-remaining-requests': '0' })
  })

  test('a request that comes to no reservation is held to the limits all the same, and asks nobody where it is let go', async () => {
    const world = await worldOf([{ rpm: 1 }])
    const { limits, said } = nodeAt(world, 0)
    const late = (id: string) => limits.enter(world.key(0), id, true) as Ticket
    late('req_1').refund()
    const first = late('req_2')
    await first.enterAlone?.()
    await first.enterAlone?.()
    expect(await codeOf(late('req_3').enterAlone?.() ?? Promise.resolve())).toBe('rate_limit_exceeded')
    first.refund()
    await said()
    expect(await codeOf(late('req_4').enterAlone?.() ?? Promise.resolve())).toBeUndefined()
  })

  test('a refunded request counts against nothing', async () => {
    const world = await worldOf([{ rpm: 1 }])
    const ticket = await nodeAt(world, 0).begin(world.key(0)).ticket
    ticket.release()
    ticket.refund()
    await world.turns()
    expect(await codeOf(nodeAt(world, 1).begin(world.key(0)).ticket)).toBeUndefined()
  })
})

describe('what a node leaves behind', () => {
  test('is settled at once by its last progress, and its requests leave', async () => {
    const world = await worldOf([{ tokensTotal: 1_000, concurrency: 1 }])
    const { id, reserving } = nodeAt(world, 0).begin(world.key(0), { inputEstimate: 100, outputCap: 400 })
    nodeAt(world, 0).ledger.progress(await reserving, { input: 90, output: 37 })
    await world.wait(300)
    world.killNode(0)
    const { ledger, store } = world.owner()
    expect(ledger.heldBy(world.keyIds[0] ?? '')).toBe(0)
    expect((await store.exchanges({ limit: 1, id }))[0]).toMatchObject({
      outcome: 'failed',
      input: 90,
      output: 37,
      estimated: true,
    })
    expect(await codeOf(nodeAt(world, 1).begin(world.key(0)).ticket)).toBeUndefined()
  })

  test('is billed the pictures that it asked for, and the calls that were told', async () => {
    const world = await worldOf([{}])
    const drawing = nodeAt(world, 0).begin(world.key(0), { pictures: { count: 2 } })
    const searching = nodeAt(world, 0).begin(world.key(0))
    await drawing.reserving
    nodeAt(world, 0).ledger.progress(await searching.reserving, { input: 9, output: 3 }, { web_search: 4 })
    await world.wait(300)
    world.killNode(0)
    const { store } = world.owner()
    expect((await store.exchanges({ limit: 1, id: drawing.id }))[0]).toMatchObject({ feesMicroUsd: 2 * 40_000 })
    expect((await store.exchanges({ limit: 1, id: searching.id }))[0]).toMatchObject({
      ...{ feesMicroUsd: 4 * 10_000, serverTools: { web_search: 4 }, output: 3 },
    })
  })

  test('without any progress is billed its prompt', async () => {
    const world = await worldOf([{}])
    const { id, reserving } = nodeAt(world, 0).begin(world.key(0), { inputEstimate: 123 })
    await reserving
    world.killNode(0)
    expect((await world.owner().store.exchanges({ limit: 1, id }))[0]).toMatchObject({ input: 123, output: 0 })
  })

  test('goes on over a new start of the ledger, where the node itself goes on', async () => {
    const world = await worldOf([{ tokensTotal: 1_000 }])
    const { id, reserving } = nodeAt(world, 0).begin(world.key(0), { inputEstimate: 100, outputCap: 400 })
    const lost = nodeAt(world, 1).begin(world.key(0), { inputEstimate: 50, outputCap: 10 })
    const reservation = await reserving
    await lost.reserving
    const gone = nodeAt(world, 1)
    gone.alive = false
    await world.killOwner()
    world.restartOwner()
    const { ledger, store } = world.owner()
    expect(ledger.heldBy(world.keyIds[0] ?? '')).toBe(reservation.reserved)
    expect((await store.exchanges({ limit: 1, id: lost.id }))[0]).toMatchObject({ outcome: 'failed', input: 50 })
    const { written } = nodeAt(world, 0).ledger.settle(reservation, settlement({ usage: { input: 100, output: 321 } }))
    await written
    expect((await store.exchanges({ limit: 1, id }))[0]).toMatchObject({ outcome: 'done', output: 321 })
  })
})

describe('a ledger that does not answer', () => {
  test('refuses requests after five seconds, and what it reserved for them is given back', async () => {
    const world = await worldOf([{ tokensTotal: 1_000 }], 1)
    const node = nodeAt(world, 0)
    node.line.fault = 'silent-after'
    const { id, reserving } = node.begin(world.key(0))
    await world.turns()
    expect(world.owner().ledger.openCount()).toBe(1)
    for (let look = 0; look <= 10; look++) await world.wait(500)
    expect(await codeOf(reserving)).toBe('service_unavailable')
    await world.finish()
    expect(world.owner().ledger.openCount()).toBe(0)
    expect((await world.owner().store.exchanges({ limit: 1, id }))[0]).toMatchObject({ outcome: 'failed', input: null })
  })

  test('lets nobody stay in who came in with a reservation that was made too late', async () => {
    const world = await worldOf([{ rpm: 5 }], 1)
    const key = world.key(0)
    const made = Promise.withResolvers<Verdict>()
    const carried: string[] = []
    const life = mortal()
    const { ledger, limits, said } = createNodeLedger({
      node: {
        async carry(group) {
          const verdict = group[0]?.do === 'reserve' ? await made.promise : {}
          carried.push(...group.map((one) => one.do))
          return group.map(() => verdict)
        },
      },
      ...{ keys: { versionOf: () => 1 }, refresh: () => undefined, clock: () => 0, prices: () => () => undefined },
      ...{ defaults: { rpm: 0, tpm: 0, concurrency: 0 }, entersLate: true, groups: 2 },
      timers: life.timers,
    })
    const ticket = limits.enter(key, 'req_1', true) as Ticket
    const refused = codeOf(ledger.reserve(ask(key, { exchangeId: 'req_1' })))
    await Bun.sleep(0)
    for (let look = 0; look <= 10; look++) life.wait()
    expect(await refused).toBe('service_unavailable')
    ticket.refund()
    await ledger.requireLeft(key)
    expect(carried).toEqual(['leave', 'look'])
    const reservation = { exchangeId: 'req_1', keyId: key.id, startedAt: 0, reserved: 1, outputCap: 1, tag: undefined }
    made.resolve({ reservation })
    await made.promise
    await said()
    expect(carried).toEqual(['leave', 'look', 'reserve', 'settle', 'leave'])
  })

  test('takes no turn of the event loop but for what there is to ask', async () => {
    const key = (await worldOf([{}], 1)).key(0)
    let turns = 0
    const soon = (run: () => void): void => {
      turns++
      queueMicrotask(run)
    }
    const reservation = { exchangeId: 'req_1', keyId: key.id, startedAt: 0, reserved: 1, outputCap: 1, tag: undefined }
    const { ledger, said } = createNodeLedger({
      node: { carry: async (group) => group.map((one) => (one.do === 'reserve' ? { reservation } : {})) },
      ...{ keys: { versionOf: () => 1 }, refresh: () => undefined, clock: () => 0, prices: () => () => undefined },
      ...{ defaults: { rpm: 0, tpm: 0, concurrency: 0 }, timers: { ...mortal().timers, soon } },
    })
    const reserved = await ledger.reserve(ask(key, { exchangeId: 'req_1' }))
    await ledger.settle(reserved, settlement()).written
    await said()
    expect(turns).toBe(2)
  })

  test('holds no answer for longer than two seconds, and hears of its end later', async () => {
    const world = await worldOf([{}], 1)
    const node = nodeAt(world, 0)
    const { id, reserving } = node.begin(world.key(0))
    const reservation = await reserving
    node.line.fault = 'silent-before'
    const { written } = node.ledger.settle(reservation, settlement({ usage: { input: 1, output: 2 } }))
    for (let look = 0; look <= 4; look++) await world.wait(500)
    await written
    expect(world.owner().ledger.openCount()).toBe(1)
    await world.finish()
    expect((await world.owner().store.exchanges({ limit: 1, id }))[0]).toMatchObject({ outcome: 'done', output: 2 })
  })

  test.each([
    ['says nothing', 'silent-before', 10_000],
    ['cannot be reached', 'cut-before', 2_000],
  ] as const)(
    'that may stand still and %s (%s) is waited for %d ms with the end of an answer',
    async (_, fault, ms) => {
      const world = await worldOf([{}], 1, { silentMs: 10_000 })
      const node = nodeAt(world, 0)
      const reservation = await node.begin(world.key(0)).reserving
      node.line.fault = fault
      let isWritten = false
      const { written } = node.ledger.settle(reservation, settlement({ usage: { input: 1, output: 2 } }))
      void written.then(() => {
        isWritten = true
      })
      let waited = 0
      await world.turns()
      for (; !isWritten; waited += 500) await world.wait(500)
      expect(waited).toBe(ms + 500)
      await world.finish()
    },
  )

  test('has not ended what it is told again before that is durable', async () => {
    const world = await worldOf([{}], 1)
    const { name, begin } = nodeAt(world, 0)
    const { id, reserving } = begin(world.key(0))
    await reserving
    const told: Ask[] = [{ do: 'settle', id, settlement: settlement({ usage: { input: 1, output: 2 } }) }]
    const { shared } = world.owner()
    const first = shared.join(name, [id]).carry(told)
    await shared.join(name, [id]).carry(told)
    expect((await world.outside.exchanges({ limit: 1, id }))[0]).toMatchObject({ outcome: 'done', output: 2 })
    await first
  })

  test('lets no answer go before its end is written because its process has stood still', async () => {
    const world = await worldOf([{}], 1)
    const node = nodeAt(world, 0)
    const reservation = await node.begin(world.key(0)).reserving
    node.line.fault = 'silent-before'
    let isWritten = false
    const { written } = node.ledger.settle(reservation, settlement({ usage: { input: 1, output: 2 } }))
    void written.then(() => {
      isWritten = true
    })
    await world.wait(10_000)
    expect(isWritten).toBe(false)
    await world.finish()
    expect(isWritten).toBe(true)
  })

  test('that is gone refuses at once', async () => {
    const world = await worldOf([{}], 1)
    nodeAt(world, 0).line.end()
    expect(await codeOf(nodeAt(world, 0).ledger.reserve(ask(world.key(0))))).toBe('service_unavailable')
  })
})
