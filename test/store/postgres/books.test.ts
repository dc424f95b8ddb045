// The shared ledger in PostgreSQL: exact over several nodes, whatever fails.

import { afterEach, describe, expect, test } from 'bun:test'
import type { GatewayError } from '../../../src/errors.ts'
import type { ReserveAsk } from '../../../src/ledger/ledger.ts'
import {
  addBudget,
  addKey,
  invariantsBroken,
  openLedger,
  type PgLedger,
  type PgNode,
} from '../../ledger/shared/postgres.ts'
import { ask, settlement } from '../../ledger/support.ts'
import { postgresMissing } from '../../support/postgres.ts'

const opened: PgLedger[] = []
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close()
})
const newLedger = async (): Promise<PgLedger> => {
  const ledger = await openLedger()
  opened.push(ledger)
  return ledger
}

const keyOf = (node: PgNode, id: string) => {
  const key = node.cache.keys.get(id)
  if (key === undefined) throw new Error('no such key')
  return key
}
const reserve = (node: PgNode, keyId: string, more: Partial<ReserveAsk> = {}) =>
  node.ledger.reserve(ask(keyOf(node, keyId), more))
const codeOf = (promise: Promise<unknown>): Promise<string | undefined> =>
  promise.then(
    () => undefined,
    (error: GatewayError) => error.code,
  )
const keyRow = async (ledger: PgLedger, id: string) => {
  const [row] = await ledger.admin.query<Record<string, number>>('SELECT * FROM keys WHERE id = $1', [id])
  return row ?? {}
}

describe.skipIf(postgresMissing !== undefined)('the shared ledger in PostgreSQL', () => {
  describe('admission', () => {
    for (const count of [1, 2, 4])
      test(`of 200 requests at once over ${count} nodes exactly those are let in that fit`, async () => {
        const ledger = await newLedger()
        const id = await addKey(ledger.admin, { tokensTotal: 20 * 110 })
        const nodes = await Promise.all(Array.from({ length: count }, () => ledger.node()))
        const more = { inputEstimate: 10, outputCap: 100, fixed: true }
        const codes = await Promise.all(
          Array.from({ length: 200 }, (_, i) => codeOf(reserve(nodes[i % count] as PgNode, id, more))),
        )
        expect(codes.filter((code) => code === undefined)).toHaveLength(20)
        expect(new Set(codes)).toEqual(new Set([undefined, 'rate_limit_exceeded']))
        expect(await keyRow(ledger, id)).toMatchObject({ tokens_held: 20 * 110, tokens_used: 0 })
        expect(await invariantsBroken(ledger.admin)).toEqual([])
      })

    test('what is settled is written once, and frees what it held', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin, { tokensTotal: 10_000 })
      const node = await ledger.node()
      const reservation = await reserve(node, id, { tag: 'a\0b' })
      const { written, costMicroUsd } = node.ledger.settle(
        reservation,
        settlement({ usage: { input: 100, output: 50, cacheRead: 7 }, rawUsage: { a: '\0\ud800' } }),
      )
      await written
      expect(await keyRow(ledger, id)).toMatchObject({ tokens_held: 0, tokens_used: 157 })
      const rows = await ledger.admin.query('SELECT * FROM exchanges')
      expect(rows).toMatchObject([
        { id: reservation.exchangeId, key_id: id, input: 100, output: 50, cache_read: 7, outcome: 'done', status: 200 },
      ])
      expect(rows[0]).toMatchObject({
        cost_micro_usd: costMicroUsd,
        left_after: 10_000 - 157,
        summed: false,
        alone: false,
      })
      expect(await invariantsBroken(ledger.admin)).toEqual([])
    })

    test('a cap is lowered to what is left, whichever node asks, and refused where nothing is', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin, { tokensTotal: 300 })
      const [a, b] = [await ledger.node(), await ledger.node()]
      const first = await reserve(a, id, { inputEstimate: 100, outputCap: 50 })
      const second = await reserve(b, id, { inputEstimate: 100, outputCap: 400 })
      expect([first.outputCap, second.outputCap]).toEqual([undefined, 50])
      await expect(reserve(a, id)).rejects.toThrow('is held by its requests in flight')
      await a.ledger.settle(first, settlement({ usage: { input: 100, output: 50 } })).written
      await b.ledger.settle(second, settlement({ usage: { input: 100, output: 50 } })).written
      await expect(reserve(a, id)).rejects.toThrow('The token quota of this API key is used up.')
    })

    test('a last request may ask for more than is left, where nothing else is in flight', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin, { tokensTotal: 50 })
      const node = await ledger.node()
      const last = await reserve(node, id, { inputEstimate: 100, outputCap: 50 })
      expect(last).toMatchObject({ reserved: 101, outputCap: 1 })
      expect(await codeOf(reserve(node, id, { inputEstimate: 100, outputCap: 50 }))).toBe('rate_limit_exceeded')
    })

    test('the least that a prompt takes is worked out only where it does not fit, and then refuses it', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin, { tokensTotal: 100 })
      const node = await ledger.node()
      let workedOut = 0
      const leastInput = () => {
        workedOut++
        return 150
      }
      await reserve(node, id, { inputEstimate: 20, outputCap: 10, leastInput })
      expect(workedOut).toBe(0)
      expect(await codeOf(reserve(node, id, { inputEstimate: 200, outputCap: 10, leastInput }))).toBe('quota_exhausted')
      expect(workedOut).toBe(1)
    })

    test('budgets of every level bound it, in tokens and in money, and their marks are passed once', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin, { ownerId: 'mem_a' })
      const other = await addKey(ledger.admin, { ownerId: 'mem_b' })
      await addBudget(ledger.admin, `key:${id}`, 'usd', 1_000_000)
      await addBudget(ledger.admin, 'member:mem_a', 'tokens', 1_000)
      await addBudget(ledger.admin, 'gateway', 'usd', 10_000, [10, 50])
      const [a, b] = [await ledger.node(), await ledger.node()]
      const first = await reserve(a, id, { inputEstimate: 100, outputCap: 300 })
      // Of 10,000 µUSD the first takes 100 of a prompt at 6.25 and 300 at 25; of 1,875 the second's prompt leaves 1,250.
      const second = await reserve(b, other, { inputEstimate: 100, outputCap: 400 })
      expect([first.outputCap, second.outputCap]).toEqual([undefined, 50])
      expect(await a.books.heldOf('gateway')).toEqual({ tokens: 550, microUsd: 10_000 })
      await expect(reserve(a, id, { inputEstimate: 10, outputCap: 900 })).rejects.toThrow('budget of the whole gateway')
      await a.ledger.settle(first, settlement({ usage: { input: 100, output: 300 } })).written
      await b.ledger.settle(second, settlement({ usage: { input: 100, output: 0 } })).written
      expect(await a.books.heldOf('gateway')).toEqual({ tokens: 0, microUsd: 0 })
      const marks = await ledger.admin.query('SELECT budget, mark, used FROM budget_marks ORDER BY row')
      expect(marks).toEqual([
        { budget: 'gateway', mark: 10, used: 8_000 },
        { budget: 'gateway', mark: 50, used: 8_000 },
      ])
      const third = await reserve(a, id, { inputEstimate: 10, outputCap: 900 })
      expect(third.reserved).toBeLessThan(910)
      expect(await invariantsBroken(ledger.admin)).toEqual([])
    })

    test('a key that is revoked is refused at once, by nodes too that have not heard of it', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin)
      const node = await ledger.node()
      await ledger.admin.query('UPDATE keys SET revoked_at = 1, version = 2 WHERE id = $1', [id])
      expect(await codeOf(reserve(node, id))).toBe('invalid_api_key')
    })

    test('a key that has changed is looked at again before anything is reserved', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin)
      const node = await ledger.node()
      await ledger.admin.query('UPDATE keys SET version = 2 WHERE id = $1', [id])
      let looked = 0
      await reserve(node, id, { recheck: () => void looked++ })
      expect(looked).toBeGreaterThan(0)
    })

    test('less is held once less will do', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin)
      await addBudget(ledger.admin, `key:${id}`, 'usd', 1_000_000)
      const node = await ledger.node()
      const reservation = await reserve(node, id, { inputEstimate: 100, outputCap: 900 })
      node.ledger.narrow(reservation, 300)
      await node.said()
      expect(await keyRow(ledger, id)).toMatchObject({ tokens_held: 300 })
      expect(await node.books.heldOf(`key:${id}`)).toEqual({ tokens: 300, microUsd: 625 + 5_000 })
      expect(await invariantsBroken(ledger.admin)).toEqual([])
      await node.ledger.settle(reservation, settlement()).written
      expect(await node.books.heldBy(id)).toBe(0)
    })
  })

  describe('limits', () => {
    test('hold over all nodes, and are told of', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin, { rpm: 7 })
      const nodes = [await ledger.node(), await ledger.node()]
      const enter = (at: number, request: string) =>
        (async () => (nodes[at] as PgNode).limits.enter(keyOf(nodes[at] as PgNode, id), request))()
      const codes = await Promise.all(Array.from({ length: 30 }, (_, i) => codeOf(enter(i % 2, `req_${i}`))))
      expect(codes.filter((code) => code === undefined)).toHaveLength(7)
      await expect(enter(0, 'req_more')).rejects.toMatchObject({
        code: 'rate_limit_exceeded',
        retryAfterMs: expect.any(Number),
      })
      expect((nodes[0] as PgNode).limits.headers(keyOf(nodes[0] as PgNode, id), 'messages')).toMatchObject({
        'x-ratelimit-limit-requests': '7',
        'x-ratelimit-remaining-requests': '0',
      })
      expect(await invariantsBroken(ledger.admin)).toEqual([])
    })

    test('of requests at once: one that leaves makes room at another node, and a refund counts against nothing', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin, { concurrency: 1, rpm: 2 })
      const [a, b] = [await ledger.node(), await ledger.node()]
      const first = await a.limits.enter(keyOf(a, id), 'req_1')
      expect(await codeOf((async () => b.limits.enter(keyOf(b, id), 'req_2'))())).toBe('rate_limit_exceeded')
      first.release()
      first.refund()
      await a.said()
      const second = await b.limits.enter(keyOf(b, id), 'req_3')
      second.release()
      await b.said()
      await a.limits.enter(keyOf(a, id), 'req_4')
      expect(await invariantsBroken(ledger.admin)).toEqual([])
    })

    test('settled tokens count for the minute at every node', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin, { tpm: 100 })
      const [a, b] = [await ledger.node(), await ledger.node()]
      const reservation = await reserve(a, id, { inputEstimate: 10, outputCap: 100 })
      await a.ledger.settle(reservation, settlement({ usage: { input: 10, output: 90 } })).written
      await expect((async () => b.limits.enter(keyOf(b, id), 'req_1'))()).rejects.toThrow('100 tokens per minute')
    })
  })
})
