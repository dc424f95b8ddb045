// Statements of a node of which nothing is heard, each of those that the ledger says: not carried out, carried out all the same, or
// only later. Whatever becomes of it, nothing is granted, billed or let in twice, and nothing is held for good.

import { describe, expect, test } from 'bun:test'
import { createBackground } from '../../../src/store/postgres/background.ts'
import type { Client } from '../../../src/store/postgres/client.ts'
import { storeError } from '../../../src/store/store.ts'
import {
  addBudget,
  addKey,
  endLease,
  invariantsBroken,
  keyAt,
  ledgersOfTests,
  type PgLedger,
  type PgNode,
  STILL,
} from '../../ledger/shared/postgres.ts'
import { ask, settlement } from '../../ledger/support.ts'
import { postgresMissing } from '../../support/postgres.ts'

const newLedger = ledgersOfTests()

const WAYS = ['before', 'after', 'late'] as const
type Way = (typeof WAYS)[number]

/** A client that hears nothing of the next statement that matches, as often as it is said. */
const createDeaf = () => {
  let next: { match: RegExp; way: Way; times: number } | undefined
  const late: (() => Promise<unknown>)[] = []
  const lost = (): Error => Object.assign(storeError('nothing was heard'), { trouble: 'unknown', state: undefined })
  return {
    lose(match: RegExp, way: Way, times = 1): void {
      next = { match, way, times }
    },
    isOver: () => next === undefined,
    /** What was still on its way arrives. */
    arrive: () => Promise.allSettled(late.splice(0).map((run) => run())),
    over: (client: Client): Client => ({
      ...client,
      async query(text, params, manner) {
        if (next === undefined || !next.match.test(text)) return client.query(text, params, manner)
        const { way } = next
        next = next.times > 1 ? { ...next, times: next.times - 1 } : undefined
        if (way === 'late') late.push(() => client.query(text, params, manner))
        if (way === 'after') await client.query(text, params, manner)
        // As the client itself would.
        if (manner?.isRepeatable === true && next === undefined) return client.query(text, params, manner)
        throw lost()
      },
    }),
  }
}

const rowsOf = async ({ admin }: PgLedger, table: string): Promise<number> =>
  (await admin.query(`SELECT 1 FROM ${table}`)).length

describe.skipIf(postgresMissing !== undefined)('a statement of which nothing is heard', () => {
  const STATEMENTS: [string, RegExp][] = [
    ['comes in', /sluice_come/],
    ['reserves, and ends what was before', /sluice_carry/],
    ['gives some of it back', /sluice_narrow/],
    ['says how far it is', /sluice_progress/],
    ['renews the lease', /sluice_beat/],
    ['looks for what nobody knows of', /FROM reservations WHERE node/],
    ['looks for who is in', /FROM entered WHERE node/],
  ]
  const ROWS = STATEMENTS.flatMap(([name, match]) =>
    WAYS.flatMap((way) => [1, 2].map((times) => [name, way, times, match] as const)),
  )
  test.each(ROWS)('%s (%s, %i times) leaves the books right', async (_, way, times, match) => {
    const ledger = await newLedger()
    const id = await addKey(ledger.admin, { tokensTotal: 1_000, rpm: 50, concurrency: 3 })
    await addBudget(ledger.admin, { id: `key:${id}`, unit: 'tokens', amount: 5_000 })
    const deaf = createDeaf()
    const node = await ledger.node({ ...STILL, over: deaf.over })
    let told = 0
    /** One request, which its client gives up where it is refused. */
    const request = async (isLarge: boolean): Promise<void> => {
      const asked = ask(keyAt(node, id), { inputEstimate: 10, outputCap: 90 })
      const ticket = await node.limits.enter(keyAt(node, id), asked.exchangeId, !isLarge)
      try {
        const reservation = await node.ledger.reserve(asked)
        node.ledger.narrow(reservation, 60)
        await node.books.carry([{ do: 'progress', id: asked.exchangeId, usage: { input: 10, output: 3 } }])
        node.ledger.settle(reservation, settlement({ usage: { input: 10, output: 20 } }))
        told += 30
        ticket.release()
      } catch {
        ticket.refund()
      }
    }
    await request(false)
    await node.said()
    deaf.lose(match, way, times)
    for (let i = 0; i < 2; i++) {
      await Promise.allSettled([request(true), request(false)])
      await node.said()
      await Promise.allSettled([node.books.net(-5_000)])
    }
    await deaf.arrive()
    expect(deaf.isOver()).toBe(true)
    await node.books.net(-5_000)
    expect(await invariantsBroken(ledger.admin)).toEqual([])
    expect([await rowsOf(ledger, 'reservations'), await rowsOf(ledger, 'entered')]).toEqual([0, 0])
    expect(await ledger.admin.query('SELECT tokens_used AS used, in_flight AS "inFlight" FROM keys')).toEqual([
      { used: told, inFlight: 0 },
    ])
  })

  describe('as it takes over from another', () => {
    const left = async (takes: boolean) => {
      const ledger = await newLedger()
      const id = await addKey(ledger.admin)
      const deaf = createDeaf()
      const gone = await ledger.node(STILL)
      const taken: string[] = []
      const other: PgNode = await ledger.node({
        ...STILL,
        over: deaf.over,
        takeOver({ reservation }) {
          taken.push(reservation.exchangeId)
          return takes
        },
      })
      const reservation = await gone.ledger.reserve(ask(keyAt(gone, id), { inputEstimate: 10, outputCap: 90 }))
      await endLease(ledger, gone)
      return { ledger, deaf, gone, other, reservation, taken }
    }

    test.each(WAYS)(
      'is said to be so all the same, and by its own figures where its node says them (%s)',
      async (way) => {
        const { ledger, deaf, gone, other, reservation } = await left(false)
        deaf.lose(/sluice_sweep/, way)
        await expect(other.books.sweep()).rejects.toThrow('nothing was heard')
        await deaf.arrive()
        await other.books.sweep()
        await other.books.net(-5_000)
        expect(await ledger.admin.query('SELECT outcome, input, estimated, alone FROM exchanges')).toEqual([
          { outcome: 'failed', input: 10, estimated: true, alone: true },
        ])
        await gone.ledger.settle(reservation, settlement({ usage: { input: 10, output: 20 } })).written
        expect(await ledger.admin.query('SELECT outcome, output FROM exchanges')).toEqual([
          { outcome: 'done', output: 20 },
        ])
        expect(await invariantsBroken(ledger.admin)).toEqual([])
      },
    )

    test.each(WAYS)('has what goes on go on with it (%s)', async (way) => {
      const { ledger, deaf, other, reservation, taken } = await left(true)
      deaf.lose(/sluice_sweep/, way)
      await expect(other.books.sweep()).rejects.toThrow('nothing was heard')
      await deaf.arrive()
      await other.books.sweep()
      await other.books.net(-5_000)
      expect(taken).toEqual([reservation.exchangeId])
      expect(await rowsOf(ledger, 'reservations')).toBe(1)
    })

    test('and cannot write how it ended, writes it the next time', async () => {
      const { ledger, deaf, other } = await left(false)
      deaf.lose(/sluice_carry/, 'before', 2)
      await other.books.sweep()
      expect(await rowsOf(ledger, 'exchanges')).toBe(0)
      await other.books.net(-5_000)
      expect(await ledger.admin.query('SELECT outcome, input, alone FROM exchanges')).toEqual([
        { outcome: 'failed', input: 10, alone: true },
      ])
    })
  })

  test.each(WAYS)('that keeps where an answer in the background is, has it found again (%s)', async (way) => {
    const ledger = await newLedger()
    const deaf = createDeaf()
    const background = createBackground(deaf.over(ledger.admin))
    const answer = {
      ...{ id: 'resp_1', exchangeId: 'req_1', keyId: 'key_1', provider: 'vendor_b', account: 'main', model: 'm' },
      createdAt: 1,
    }
    deaf.lose(/insert into/, way)
    await background.keep(answer)
    await deaf.arrive()
    expect(await background.find('key_1', 'resp_1')).toEqual(answer)
    deaf.lose(/delete from/, way)
    await background.forget(answer)
    await deaf.arrive()
    expect(await background.of('req_1')).toBeUndefined()
  })
})
