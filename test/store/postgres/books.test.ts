// The shared ledger in PostgreSQL: exact over several nodes, whatever fails.

import { describe, expect, test } from 'bun:test'
import type { GatewayError } from '../../../src/errors.ts'
import type { ReserveAsk } from '../../../src/ledger/ledger.ts'
import type { Queries } from '../../../src/store/postgres/client.ts'
import { LOCK as SUMS_LOCK } from '../../../src/store/postgres/sums.ts'
import {
  addBudget,
  addKey,
  endLease,
  invariantsBroken,
  keyAt,
  ledgersOfTests,
  openLedger,
  type PgLedger,
  type PgNode,
  STILL,
} from '../../ledger/shared/postgres.ts'
import { ask, settlement } from '../../ledger/support.ts'
import { postgresMissing, startPostgres } from '../../support/postgres.ts'
import { createProxy } from '../../support/proxy.ts'
import { until } from '../../support/until.ts'

const newLedger = ledgersOfTests()

const reserve = (node: PgNode, keyId: string, more: Partial<ReserveAsk> = {}) =>
  node.ledger.reserve(ask(keyAt(node, keyId), more))
const codeOf = (promise: Promise<unknown>): Promise<string | undefined> =>
  promise.then(
    () => undefined,
    (error: GatewayError) => error.code,
  )
const count = async (ledger: PgLedger, table: string): Promise<number> => {
  const [row] = await ledger.admin.query<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)
  return row?.n ?? 0
}

/** Clients that ask one after the other, each of a key by chance; returns how often they were refused. */
const load = async (nodes: PgNode[], keyIds: string[], clients: number, each: number): Promise<number> => {
  let refused = 0
  const client = async (at: number): Promise<void> => {
    for (let i = 0; i < each; i++) {
      const node = nodes[(at + i) % nodes.length] as PgNode
      const id = keyIds[(at * 7 + i * 13) % keyIds.length] as string
      try {
        const reservation = await reserve(node, id, { inputEstimate: 10, outputCap: 40 })
        const usage = { input: 10, output: Math.min(5, reservation.outputCap ?? 5) }
        await node.ledger.settle(reservation, settlement({ usage })).written
      } catch {
        refused++
      }
    }
  }
  await Promise.all(Array.from({ length: clients }, (_, at) => client(at)))
  for (const node of nodes) await node.said()
  return refused
}

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
      await addBudget(ledger.admin, { id: `key:${id}`, unit: 'usd', amount: 1_000_000 })
      await addBudget(ledger.admin, { id: 'member:mem_a', unit: 'tokens', amount: 1_000 })
      await addBudget(ledger.admin, { id: 'gateway', unit: 'usd', amount: 10_000, warnAt: [10, 50] })
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
      await addBudget(ledger.admin, { id: `key:${id}`, unit: 'usd', amount: 1_000_000 })
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
        (async () => (nodes[at] as PgNode).limits.enter(keyAt(nodes[at] as PgNode, id), request))()
      const codes = await Promise.all(Array.from({ length: 30 }, (_, i) => codeOf(enter(i % 2, `req_${i}`))))
      expect(codes.filter((code) => code === undefined)).toHaveLength(7)
      await expect(enter(0, 'req_more')).rejects.toMatchObject({
        code: 'rate_limit_exceeded',
        retryAfterMs: expect.any(Number),
      })
      expect((nodes[0] as PgNode).limits.headers(keyAt(nodes[0] as PgNode, id), 'messages')).toMatchObject({
        'x-ratelimit-limit-requests': '7',
        'x-ratelimit-remaining-requests': '0',
      })
      expect(await invariantsBroken(ledger.admin)).toEqual([])
    })

    test('of requests at once: one that leaves makes room at another node, and a refund counts against nothing', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin, { concurrency: 1, rpm: 2 })
      const [a, b] = [await ledger.node(), await ledger.node()]
      const first = await a.limits.enter(keyAt(a, id), 'req_1')
      expect(await codeOf((async () => b.limits.enter(keyAt(b, id), 'req_2'))())).toBe('rate_limit_exceeded')
      first.release()
      first.refund()
      await a.said()
      const second = await b.limits.enter(keyAt(b, id), 'req_3')
      second.release()
      await b.said()
      await a.limits.enter(keyAt(a, id), 'req_4')
      expect(await invariantsBroken(ledger.admin)).toEqual([])
    })

    test('of requests at once: one that gives up as it comes in is either in or not', async () => {
      const ledger = await newLedger()
      const [here, there] = [await addKey(ledger.admin, { rpm: 9 }), await addKey(ledger.admin, { rpm: 9 })]
      const node = await ledger.node({ ...STILL })
      await node.books.carry([{ do: 'enter', id: 'req_1', keyId: there }])
      const waiting = async (): Promise<number> => {
        const [row] = await ledger.admin.query<{ n: number }>(
          `SELECT count(*) AS n FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`,
        )
        return row?.n ?? 0
      }
      let coming: Promise<unknown> | undefined
      const leaving = await ledger.admin.begin(async (tx) => {
        await tx.query('SELECT 1 FROM keys WHERE id = $1 FOR UPDATE', [there])
        const run = node.books.carry([
          { do: 'leave', id: 'req_1', keyId: there, refund: false },
          { do: 'leave', id: 'req_2', keyId: here, refund: true },
        ])
        await until(async () => (await waiting()) === 1)
        // What was on its way comes when nothing of it was seen.
        coming = node.books.carry([{ do: 'enter', id: 'req_2', keyId: here }])
        await until(async () => (await waiting()) === 2 || (await count(ledger, 'entered')) === 2)
        return { run }
      })
      await Promise.all([leaving.run, coming])
      expect(await invariantsBroken(ledger.admin)).toEqual([])
    })

    test('of requests at once: one that came in when nobody waited for it any more is let go of', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin, { concurrency: 2 })
      const node = await ledger.node({ ...STILL })
      await node.limits.enter(keyAt(node, id), 'req_1')
      await ledger.admin.query('SELECT sluice_come($1, $2, $3, 0, 0, 0)', [node.name, ['req_2'], [id]])
      await node.books.net(-1_000)
      expect(await ledger.admin.query('SELECT id FROM entered')).toEqual([{ id: 'req_1' }])
      expect(await invariantsBroken(ledger.admin)).toEqual([])
    })

    test('settled tokens count for the minute at every node', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin, { tpm: 100 })
      const [a, b] = [await ledger.node(), await ledger.node()]
      const reservation = await reserve(a, id, { inputEstimate: 10, outputCap: 100 })
      await a.ledger.settle(reservation, settlement({ usage: { input: 10, output: 90 } })).written
      await expect((async () => b.limits.enter(keyAt(b, id), 'req_1'))()).rejects.toThrow('100 tokens per minute')
    })
  })

  describe('a node that is gone', () => {
    test('is settled by another, by its last progress, and its requests leave', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin, { concurrency: 1 })
      const [a, b] = [await ledger.node(STILL), await ledger.node(STILL)]
      await a.limits.enter(keyAt(a, id), 'req_in')
      const told = await reserve(a, id, { inputEstimate: 100 })
      const silent = await reserve(a, id, { inputEstimate: 123 })
      a.ledger.progress(told, { input: 90, output: 37 })
      await until(async () => (await count(ledger, 'reservations WHERE output = 37')) === 1)
      await a.kill()
      expect(await b.books.sweep()).toBe(0)
      await endLease(ledger, a)
      expect(await b.books.sweep()).toBe(2)
      const rows = await ledger.admin.query(
        'SELECT id, input, output, outcome, estimated, alone FROM exchanges ORDER BY row',
      )
      const alone = { outcome: 'failed', estimated: true, alone: true }
      expect(rows).toEqual([
        { id: told.exchangeId, input: 90, output: 37, ...alone },
        { id: silent.exchangeId, input: 123, output: 0, ...alone },
      ])
      expect(await codeOf((async () => b.limits.enter(keyAt(b, id), 'req_next'))())).toBeUndefined()
      expect(await invariantsBroken(ledger.admin)).toEqual([])
    })

    test('is billed the pictures that it asked for, and the calls that were told', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin)
      const [a, b] = [await ledger.node(STILL), await ledger.node(STILL)]
      await reserve(a, id, { pictures: { count: 3, size: '1024x1024' } })
      a.ledger.progress(await reserve(a, id), { input: 9, output: 3 }, { web_search: 4 })
      await until(async () => (await count(ledger, 'reservations WHERE server_tools IS NOT NULL')) === 1)
      await a.kill()
      await endLease(ledger, a)
      expect(await b.books.sweep()).toBe(2)
      expect(await ledger.admin.query('SELECT fees_micro_usd, server_tools FROM exchanges ORDER BY row')).toEqual([
        { fees_micro_usd: 3 * 40_000, server_tools: null },
        { fees_micro_usd: 4 * 10_000, server_tools: '{"web_search":4}' },
      ])
      expect(await invariantsBroken(ledger.admin)).toEqual([])
    })

    test('is granted nothing any more, and begins anew', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin)
      const [a, b] = [await ledger.node(STILL), await ledger.node(STILL)]
      await endLease(ledger, a)
      const fenced = await ledger.admin.query(
        `SELECT said FROM sluice_reserve($1, '{x}', $2::text[], '{}', '[{"at":1,"id":"x","reserved":1}]')`,
        [a.name, [id]],
      )
      expect(fenced).toEqual([{ said: 'fenced' }])
      expect(await count(ledger, 'reservations')).toBe(0)
      await b.books.sweep()
      expect(await count(ledger, 'nodes')).toBe(1)
      await reserve(a, id)
      expect(await count(ledger, 'nodes')).toBe(2)
    })

    test('but says how it ended after all: its own figures replace the estimate, once', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin)
      await addBudget(ledger.admin, { id: 'gateway', unit: 'tokens', amount: 1_000_000 })
      const [a, b] = [await ledger.node(STILL), await ledger.node(STILL)]
      const [one, other] = [await reserve(a, id, { inputEstimate: 100 }), await reserve(a, id, { inputEstimate: 100 })]
      await endLease(ledger, a)
      expect(await b.books.sweep()).toBe(2)
      expect(await keyRow(ledger, id)).toMatchObject({ tokens_used: 200, tokens_held: 0 })
      // One of them is in the sums by now.
      const hour = one.startedAt - (one.startedAt % 3_600_000)
      await ledger.admin.query('UPDATE exchanges SET summed = true WHERE id = $1', [one.exchangeId])
      await ledger.admin.query('UPDATE exchanges SET fees_micro_usd = 30 WHERE id = $1', [one.exchangeId])
      await ledger.admin.query(`INSERT INTO usage_hours VALUES ($1, $2, $3, 2, 1, 150, 0, 0, 7, 0, 800, 70)`, [
        ...[hour, id, 'vendorA-opus-4-8'],
      ])
      await a.ledger.settle(one, settlement({ usage: { input: 80, output: 20 } })).written
      await a.ledger.settle(other, settlement({ usage: { input: 1, output: 1 }, estimated: true })).written
      expect(await keyRow(ledger, id)).toMatchObject({ tokens_used: 200 })
      const rows = await ledger.admin.query(
        'SELECT id, input, output, outcome, alone, summed FROM exchanges ORDER BY row',
      )
      expect(rows).toEqual([
        { id: one.exchangeId, input: 80, output: 20, outcome: 'done', alone: false, summed: false },
        { id: other.exchangeId, input: 100, output: 0, outcome: 'failed', alone: true, summed: false },
      ])
      const sums = await ledger.admin.query(
        'SELECT requests, errors, input, output, cost_micro_usd, fees_micro_usd FROM usage_hours',
      )
      expect(sums).toEqual([{ requests: 1, errors: 0, input: 50, output: 7, cost_micro_usd: 300, fees_micro_usd: 40 }])
      const [budget] = await ledger.admin.query('SELECT used_tokens, held_tokens FROM budgets')
      expect(budget).toEqual({ used_tokens: 200, held_tokens: 0 })
      expect(await invariantsBroken(ledger.admin)).toEqual([])
    })

    test('and is heard while it is being settled by another, too', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin)
      await addBudget(ledger.admin, { id: 'gateway', unit: 'tokens', amount: 1_000_000 })
      const [a, b] = [await ledger.node(STILL), await ledger.node(STILL)]
      const [one, other] = [await reserve(a, id, { inputEstimate: 100 }), await reserve(a, id, { inputEstimate: 100 })]
      await endLease(ledger, a)
      const waiting = async (most: number) =>
        (await count(ledger, `pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)) >=
        most
      // Both wait for the key's row, the other node first: what it writes is not to be seen yet where its own begins.
      const both = await ledger.admin.begin(async (tx) => {
        await tx.query('SELECT 1 FROM keys WHERE id = $1 FOR UPDATE', [id])
        const swept = b.books.sweep()
        await until(() => waiting(2))
        const said = [one, other].map(
          (each) => a.ledger.settle(each, settlement({ usage: { input: 80, output: 21 } })).written,
        )
        await until(() => waiting(3))
        return { ended: Promise.all([swept, ...said]) }
      })
      await both.ended
      expect(await ledger.admin.query('SELECT input, output, outcome, alone FROM exchanges')).toEqual(
        Array(2).fill({ input: 80, output: 21, outcome: 'done', alone: false }),
      )
      expect(await keyRow(ledger, id)).toMatchObject({ tokens_used: 202, tokens_held: 0 })
      expect(await ledger.admin.query('SELECT used_tokens, held_tokens FROM budgets')).toEqual([
        { used_tokens: 202, held_tokens: 0 },
      ])
      expect(await invariantsBroken(ledger.admin)).toEqual([])
    })

    test('and holds nobody up while it cannot be heard yet, as sums are being written', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin)
      const [a, b] = [await ledger.node(STILL), await ledger.node(STILL)]
      const one = await reserve(a, id, { inputEstimate: 100 })
      await endLease(ledger, a)
      expect(await b.books.sweep()).toBe(1)
      const sums = async (tx: Queries) => {
        await tx.query('SELECT pg_advisory_xact_lock($1)', [SUMS_LOCK])
        // It is undone in place of waiting, with all that it has locked.
        await expect(ledger.admin.query("SELECT sluice_correct('{}', '[]')")).rejects.toThrow('busy')
        const written = a.ledger.settle(one, settlement({ usage: { input: 80, output: 20 } })).written
        // On the same key.
        await reserve(b, id)
        await reserve(a, id)
        return { written }
      }
      const said = await ledger.admin.begin(sums, { stuckMs: 0 })
      await said.written
      expect(await ledger.admin.query('SELECT input, output, alone FROM exchanges')).toEqual([
        { input: 80, output: 20, alone: false },
      ])
      expect(await invariantsBroken(ledger.admin)).toEqual([])
    })

    test('hands on what goes on without it, to whoever takes it over', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin)
      const a = await ledger.node(STILL)
      const taken: string[] = []
      const b: PgNode = await ledger.node({
        ...STILL,
        takeOver(left) {
          taken.push(left.reservation.exchangeId)
          b.adopt(left)
          return true
        },
      })
      const reservation = await reserve(a, id)
      await a.kill()
      await endLease(ledger, a)
      await b.books.sweep()
      expect(taken).toEqual([reservation.exchangeId])
      expect(await count(ledger, 'reservations')).toBe(1)
      await b.ledger.settle(reservation, settlement({ usage: { input: 3, output: 4 } })).written
      expect(await keyRow(ledger, id)).toMatchObject({ tokens_used: 7, tokens_held: 0 })
    })

    test('is asked again of one whose taking over could not be decided, and settles the others meanwhile', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin)
      const a = await ledger.node(STILL)
      let isAway = true
      let undecided = ''
      const b: PgNode = await ledger.node({
        ...STILL,
        takeOver({ reservation }) {
          if (reservation.exchangeId === undecided && isAway) throw new Error('the records are away')
          return false
        },
      })
      const [one, other] = [await reserve(a, id), await reserve(a, id)]
      undecided = one.exchangeId
      await a.kill()
      await endLease(ledger, a)
      await expect(b.books.sweep()).rejects.toThrow('the records are away')
      expect(await ledger.admin.query('SELECT id FROM exchanges')).toEqual([{ id: other.exchangeId }])
      isAway = false
      await b.books.sweep()
      expect(await count(ledger, 'exchanges')).toBe(2)
      expect(await count(ledger, 'reservations')).toBe(0)
      expect(await invariantsBroken(ledger.admin)).toEqual([])
    })
  })

  describe('a network that fails', () => {
    const behindProxy = async (ledger: PgLedger, timing = {}) => {
      const warm = await addKey(ledger.admin)
      const proxy = await createProxy(Number(new URL(ledger.url).port))
      const near = new URL(`${ledger.url}?connections=1&prepare=true`)
      near.port = `${proxy.port}`
      const node = await ledger.node({ url: near.href, timing: { ...STILL.timing, ...timing } })
      // Its statements are prepared by then: one that is sent is carried out.
      const warmUp = () => load([node], [warm], 1, 1)
      await warmUp()
      return { proxy, node, warmUp }
    }

    test('after COMMIT, before the answer: the request is granted all the same, once', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin, { tokensTotal: 110 })
      const { proxy, node, warmUp } = await behindProxy(ledger)
      proxy.isMute = true
      const reserving = reserve(node, id, { inputEstimate: 10, outputCap: 100 })
      await until(async () => (await count(ledger, 'reservations')) === 1)
      proxy.isMute = false
      proxy.cut()
      expect((await reserving).reserved).toBe(110)
      expect(await keyRow(ledger, id)).toMatchObject({ tokens_held: 110 })
      await warmUp()
      proxy.isMute = true
      const { written } = node.ledger.settle(await reserving, settlement({ usage: { input: 10, output: 5 } }))
      await until(async () => (await count(ledger, 'exchanges')) === 3)
      proxy.isMute = false
      proxy.cut()
      await written
      expect(await keyRow(ledger, id)).toMatchObject({ tokens_held: 0, tokens_used: 15 })
      proxy.close()
    })

    test('in silence: the request is refused after a while, and what it was granted is given back', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin)
      const { proxy, node } = await behindProxy(ledger, { reserveMs: 2_000, sayMs: 500 })
      proxy.isMute = true
      const reserving = codeOf(reserve(node, id))
      await until(async () => (await count(ledger, 'reservations')) === 1)
      proxy.isDeaf = true
      expect(await reserving).toBe('service_unavailable')
      proxy.isDeaf = proxy.isMute = false
      await node.said()
      expect(await keyRow(ledger, id)).toMatchObject({ tokens_held: 0, tokens_used: 0 })
      expect(await count(ledger, 'reservations')).toBe(0)
      proxy.close()
    })
  })

  describe('rows that the database refuses', () => {
    test('fail nothing but themselves', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin)
      const node = await ledger.node()
      await ledger.admin.query(`ALTER TABLE reservations ADD CHECK (address <> 'poison')`)
      const asked = Array.from({ length: 9 }, (_, i) =>
        codeOf(reserve(node, id, { inputEstimate: 10, outputCap: 10, address: i === 4 ? 'poison' : 'fine' })),
      )
      const codes = await Promise.all(asked)
      expect(codes.map((code) => code ?? 'ok')).toEqual(codes.map((_, i) => (i === 4 ? 'internal_error' : 'ok')))
      expect(await count(ledger, 'reservations')).toBe(8)
      expect(await invariantsBroken(ledger.admin)).toEqual([])
    })

    test('are settled by what was set aside for them', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin)
      const node = await ledger.node()
      await ledger.admin.query(`ALTER TABLE exchanges ADD CHECK (upstream_model <> 'poison')`)
      const all = await Promise.all(
        Array.from({ length: 9 }, () => reserve(node, id, { inputEstimate: 10, outputCap: 10 })),
      )
      await Promise.all(
        all.map((each, i) => {
          const upstreamModel = i === 4 ? 'poison' : 'fine'
          return node.ledger.settle(each, settlement({ usage: { input: 10, output: 1_000 }, upstreamModel })).written
        }),
      )
      await node.said()
      expect(node.refused).toEqual([all[4]?.exchangeId ?? ''])
      const rows = await ledger.admin.query('SELECT input, output, upstream_model FROM exchanges WHERE estimated')
      expect(rows).toEqual([{ input: 10, output: 10, upstream_model: null }])
      expect(await keyRow(ledger, id)).toMatchObject({ tokens_used: 8 * 1_010 + 20, tokens_held: 0 })
    })
  })

  describe('under load', () => {
    test('nodes never wait for each other in a circle', async () => {
      const ledger = await newLedger()
      const ids = await Promise.all(
        Array.from({ length: 50 }, (_, i) => addKey(ledger.admin, { ownerId: `mem_${i % 3}` })),
      )
      for (const member of [0, 1, 2])
        await addBudget(ledger.admin, { id: `member:mem_${member}`, unit: 'usd', amount: 1e9 })
      await addBudget(ledger.admin, { id: 'gateway', unit: 'tokens', amount: 1e9 })
      const nodes = await Promise.all([ledger.node(), ledger.node(), ledger.node()])
      expect(await load(nodes, ids, 60, 12)).toBe(0)
      const [row] = await ledger.admin.query(
        'SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()',
      )
      expect(row).toEqual({ deadlocks: 0 })
      expect(await count(ledger, 'exchanges')).toBe(720)
      expect(await invariantsBroken(ledger.admin)).toEqual([])
    })

    test('keys are drained to the last token and never over it, sampled while it runs', async () => {
      const ledger = await newLedger()
      const ids = await Promise.all(Array.from({ length: 5 }, () => addKey(ledger.admin, { tokensTotal: 1_000 })))
      const nodes = await Promise.all(Array.from({ length: 4 }, () => ledger.node()))
      const samples: string[][] = []
      let isOver = false
      const sampling = (async () => {
        while (!isOver) samples.push(await invariantsBroken(ledger.admin))
      })()
      expect(await load(nodes, ids, 40, 12)).toBeGreaterThan(0)
      isOver = true
      await sampling
      expect(samples.flat()).toEqual([])
    })

    for (const [name, set] of [
      ['a pool of one connection', ''],
      ['transactions that must be in order', 'default_transaction_isolation = serializable'],
    ] as const)
      test(`${name} changes nothing`, async () => {
        const ledger = await newLedger()
        const ids = [await addKey(ledger.admin, { tokensTotal: 2_000 }), await addKey(ledger.admin)]
        if (set !== '') await ledger.admin.query(`ALTER DATABASE ${new URL(ledger.url).pathname.slice(1)} SET ${set}`)
        const url = set === '' ? `${ledger.url}?connections=1` : ledger.url
        const nodes = await Promise.all([ledger.node({ url }), ledger.node({ url })])
        await load(nodes, ids, 20, 8)
        expect(await invariantsBroken(ledger.admin)).toEqual([])
        expect(nodes.flatMap((node) => node.refused)).toEqual([])
        expect(await count(ledger, 'reservations')).toBe(0)
      })

    test('clocks that are an hour off change nothing but the time that is told', async () => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin, { rpm: 1 })
      const [a, b] = [
        await ledger.node({ clock: () => Date.now() - 3_600_000 }),
        await ledger.node({ clock: () => Date.now() + 3_600_000 }),
      ]
      await a.limits.enter(keyAt(a, id), 'req_1')
      expect(await codeOf((async () => b.limits.enter(keyAt(b, id), 'req_2'))())).toBe('rate_limit_exceeded')
      expect(await load([a, b], [id], 10, 5)).toBe(0)
      expect(await b.books.net()).toBe(0)
      expect(await invariantsBroken(ledger.admin)).toEqual([])
    })

    test('what a crash of the server took along of the last moments is said again, with the figures it had', async () => {
      // It writes what nobody waits for once in ten seconds: all of it is lost.
      const server = await startPostgres(['wal_writer_delay=10s'])
      try {
        const ledger = await openLedger(server)
        const id = await addKey(ledger.admin, { concurrency: 2 })
        const node = await ledger.node()
        const enter = async (request: string) => node.limits.enter(keyAt(node, id), request)
        const [first, second] = [await enter('req_1'), await enter('req_2')]
        const one = await reserve(node, id, { inputEstimate: 100 })
        // What is waited for takes along what was said before.
        const other = await reserve(node, id, { inputEstimate: 100 })
        await node.ledger.settle(one, settlement({ usage: { input: 90, output: 37 } })).written
        first.release()
        await node.said()
        second.release()
        await node.said()
        await server.restart('immediate')
        await until(async () => (await keyRow(ledger, id)).in_flight === 0 && (await count(ledger, 'exchanges')) === 1)
        expect(await ledger.admin.query('SELECT id, input, output, outcome, estimated, alone FROM exchanges')).toEqual([
          { id: one.exchangeId, input: 90, output: 37, outcome: 'done', estimated: false, alone: false },
        ])
        expect(await keyRow(ledger, id)).toMatchObject({ tokens_used: 127, tokens_held: other.reserved })
        expect(await invariantsBroken(ledger.admin)).toEqual([])
        await node.kill()
        await ledger.admin.close()
      } finally {
        await server.stop()
      }
    })

    for (const how of ['fast', 'immediate'] as const)
      test(`a server that is restarted (${how}) loses nothing that was said to be written`, async () => {
        const server = await startPostgres()
        try {
          const ledger = await openLedger(server)
          const ids = await Promise.all([addKey(ledger.admin), addKey(ledger.admin)])
          const nodes = await Promise.all([ledger.node(), ledger.node()])
          const held = await reserve(nodes[0] as PgNode, ids[0] as string, { inputEstimate: 10, outputCap: 10 })
          const loading = load(nodes, ids, 20, 30)
          await until(async () => (await count(ledger, 'exchanges')) > 100)
          await server.restart(how)
          await loading
          for (const node of nodes) await node.said()
          await (nodes[0] as PgNode).ledger.settle(held, settlement()).written
          for (const node of nodes) await node.books.net(0)
          // What a crash took along is said again once the lease is renewed.
          await until(async () => (await count(ledger, 'reservations')) === 0)
          expect(await invariantsBroken(ledger.admin)).toEqual([])
          expect(await load(nodes, ids, 4, 2)).toBe(0)
          for (const node of nodes) await node.kill()
          await ledger.admin.close()
        } finally {
          await server.stop()
        }
      })
  })
})
