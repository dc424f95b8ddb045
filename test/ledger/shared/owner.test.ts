// What the owner of the books does of what it is asked directly: by asks that come together, late or again.

import { afterEach, describe, expect, test } from 'bun:test'
import { createOwner, type OwnedSettlement } from '../../../src/ledger/owner.ts'
import type { Ask } from '../../../src/ledger/shared.ts'
import { cleanUp, newPath } from '../../store/support.ts'
import { settlement } from '../support.ts'
import { createWorld, type World } from './world.ts'

const worlds: World[] = []
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.close()
  await cleanUp()
})

/** A second owner over one world's books, with room for so many exchanges over all nodes. */
const setUp = async (key: Parameters<typeof createWorld>[1][number], mostOpen = Number.POSITIVE_INFINITY) => {
  const world = await createWorld(newPath(), [key], 0)
  worlds.push(world)
  const { ledger, limits, store } = world.owner()
  /** How long after the key was made it is. */
  const clock = { ms: 0 }
  /** What came of the nodes' exchanges, in order. */
  const told: OwnedSettlement[] = []
  const progress: unknown[] = []
  const owner = createOwner({
    ...{ limits, keys: store.keys, refresh: () => undefined },
    ledger: {
      ...ledger,
      progress(reservation, ...soFar) {
        progress.push([reservation.exchangeId, ...soFar])
        ledger.progress(reservation, ...soFar)
      },
    },
    clock: () => (store.keys.list()[0]?.createdAt ?? 0) + clock.ms,
    hasRoom: (open) => open() < mostOpen,
    onSettled: (settled) => void told.push(settled),
  })
  const [keyId = ''] = world.keyIds
  const reserve = (id: string, enters?: true): Ask => ({
    ...{ do: 'reserve', id },
    ask: {
      ...{ keyId, keysSeen: store.keys.versionOf(keyId), model: 'vendorA-opus-4-8', wire: 'messages', stream: true },
      ...{ inputEstimate: 10, outputCap: 90, maxOutput: 90, ...(enters && { enters }) },
    },
  })
  return { owner, keyId, ledger, reserve, clock, told, progress }
}

describe('the owner of the books', () => {
  test('has no more exchanges open than there is room for, over all nodes, and room again when one has ended', async () => {
    const { owner, reserve } = await setUp({ tokensTotal: 1_000_000 }, 3)
    const nodes = ['a', 'b'].map((name) => owner.join(name, []))
    const codes: unknown[] = []
    for (const [at, id] of ['1', '2', '3', '4', '5'].entries())
      for (const { error } of (await nodes[at % 2]?.carry([reserve(id)])) ?? []) codes.push(error?.code)
    expect(codes).toEqual([undefined, undefined, undefined, 'service_unavailable', 'service_unavailable'])
    await nodes[0]?.carry([{ do: 'settle', id: '1', settlement: settlement() }])
    expect((await nodes[1]?.carry([reserve('6')]))?.[0]?.error).toBeUndefined()
    owner.gone('b')
    expect((await nodes[0]?.carry([reserve('7'), reserve('8')]))?.map(({ error }) => error?.code)).toEqual([
      undefined,
      undefined,
    ])
  })

  test('knows no key that was never issued', async () => {
    const { owner, ledger } = await setUp({})
    const [entered, looked] = await owner.join('a', []).carry([
      { do: 'enter', id: '1', keyId: 'key_none' },
      { do: 'look', id: '2', keyId: 'key_none' },
    ])
    expect([entered?.error?.code, looked?.error?.code]).toEqual(['invalid_api_key', 'invalid_api_key'])
    expect(ledger.openCount()).toBe(0)
  })

  test('gives back what is reserved for a request that has been given up meanwhile', async () => {
    const { owner, keyId, ledger, reserve } = await setUp({ tokensTotal: 1_000 })
    const node = owner.join('a', [])
    const nothing = settlement({ usage: {}, outcome: 'failed' })
    await node.carry([reserve('1'), { do: 'settle', id: '1', settlement: nothing }])
    expect([ledger.openCount(), ledger.heldBy(keyId)]).toEqual([0, 0])
  })

  test('reserves once for a request that is asked for again while it is decided', async () => {
    const { owner, keyId, ledger, reserve } = await setUp({ tokensTotal: 1_000 })
    const [first, again] = await owner.join('a', []).carry([reserve('1'), reserve('1')])
    expect(again).toEqual(first as object)
    expect([ledger.openCount(), ledger.heldBy(keyId)]).toEqual([1, 100])
  })

  test('settles what is reserved for a node that has gone meanwhile', async () => {
    const { owner, keyId, ledger, reserve } = await setUp({ tokensTotal: 1_000 })
    const carried = owner.join('a', []).carry([reserve('1')])
    owner.gone('a')
    await carried
    expect([ledger.openCount(), ledger.heldBy(keyId)]).toEqual([0, 0])
  })

  test('tells of each end once: of one that was said, of one whose node is gone, by its last figures', async () => {
    const { owner, reserve, clock, told, progress } = await setUp({ tokensTotal: 1_000_000 })
    const node = owner.join('a', [])
    await node.carry([reserve('1'), reserve('2'), reserve('3')])
    const soFar = { usage: { input: 10, output: 7 }, serverTools: { web_search: 1 } }
    await node.carry([
      { do: 'progress', id: '2', ...soFar },
      { do: 'progress', id: 'unknown', ...soFar },
    ])
    // What is told meanwhile is kept for a start anew, too.
    expect(progress).toEqual([['2', soFar.usage, soFar.serverTools]])
    const said = settlement()
    const settled: Ask = { do: 'settle', id: '1', settlement: said }
    await node.carry([settled, settled, { do: 'let-go', id: 'unknown' }, { do: 'narrow', id: 'unknown', tokens: 1 }])
    clock.ms = told[0] === undefined ? 0 : 5_000
    owner.gone('a')
    expect(told.map(({ reservation }) => reservation.exchangeId)).toEqual(['1', '2', '3'])
    const [whole, cut, silent] = told.map(({ settlement: end }) => end)
    expect(whole).toEqual(said)
    expect(cut).toMatchObject({ ...soFar, estimated: true, status: 500 })
    expect(silent).toMatchObject({ usage: { input: 10 }, estimated: true })
    for (const { reservation, settlement: end, facts, costMicroUsd } of told) {
      if (end !== said) expect(reservation.startedAt + end.totalMs).toBeGreaterThanOrEqual(reservation.startedAt)
      expect([facts.model, facts.stream, costMicroUsd > 0]).toEqual(['vendorA-opus-4-8', true, true])
    }
    expect((cut?.totalMs ?? 0) - (silent?.totalMs ?? 0)).toBe(0)
  })

  test('lets a request in once, and counts it anew when it comes back after it has left', async () => {
    const { owner, keyId } = await setUp({ concurrency: 1 })
    const node = owner.join('a', [])
    const enter: Ask = { do: 'enter', id: '1', keyId }
    const leave: Ask = { do: 'leave', id: '1', keyId, refund: false }
    const verdicts = await node.carry([enter, enter, leave, enter, { ...enter, id: '2' }])
    expect(verdicts.map(({ error }) => error?.code)).toEqual([
      ...[undefined, undefined, undefined, undefined],
      'rate_limit_exceeded',
    ])
  })
})
