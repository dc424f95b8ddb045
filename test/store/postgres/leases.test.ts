// Who takes over from whom: nodes that are gone are replaced soon, and an outage of the database ends nobody's streams.

import { afterEach, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Client, createClient } from '../../../src/store/postgres/client.ts'
import { createLease } from '../../../src/store/postgres/ledger/lease.ts'
import { postgresMissing } from '../../support/postgres.ts'
import { dropAll, ownDatabase } from './support.ts'

afterEach(dropAll)

const START = Date.UTC(2026, 8, 1, 12)
const LEASE_MS = 2_000
const BEAT_MS = 200
/** A node is settled by another so soon after it was killed, or after the database is back if that is later. */
const SOON_MS = 5_000
const STEP_MS = 100
/** In steps: who lived through an outage of so many is heard of so late after it at most. */
const lateAfter = (awayMs: number): number => (awayMs > LEASE_MS / 2 ? 15 : awayMs > LEASE_MS / 4 ? 7 : 3)
/** Between two outages: those that follow each other faster leave nobody the time to come back. */
const BETWEEN_MS = 400

/** The database's clock, which goes as the test says, and nodes that each hold one exchange. */
const openWorld = async (names: readonly string[]) => {
  const client: Client = createClient(await ownDatabase())
  await client.query('CREATE TABLE test_clock AS SELECT $1::bigint AS ms', [START])
  await client.query(
    'CREATE OR REPLACE FUNCTION sluice_now() RETURNS bigint LANGUAGE sql VOLATILE AS $$ SELECT ms FROM test_clock $$',
  )
  const world = {
    client,
    setClock: (ms: number) => client.query('UPDATE test_clock SET ms = $1', [START + ms]),
    beat: (name: string) => client.query('SELECT sluice_beat($1, $2)', [name, LEASE_MS]),
    /** Whose exchanges were taken over. */
    async sweep(name: string): Promise<string[]> {
      const rows = await client.query<{ id: string }>('SELECT id FROM sluice_sweep($1, 500)', [name])
      for (const { id } of rows) await client.query('DELETE FROM reservations WHERE id = $1', [id])
      return rows.map(({ id }) => id)
    },
    async begin(): Promise<void> {
      await client.query('DELETE FROM nodes')
      await client.query('DELETE FROM reservations')
      await world.setClock(0)
      for (const name of names) {
        await world.beat(name)
        await client.query(
          `INSERT INTO reservations (id, key_id, model, wire, stream, started_at, input_estimate, reserved, node)
           VALUES ($1, 'key_a', 'm', 'messages', true, 1, 1, 1, $1)`,
          [name],
        )
      }
    },
  }
  return world
}

type Outage = { after: number; ms: number }

type Story = {
  /** Of the database: how long after the one before, and how long. */
  outages: Outage[]
  killed: (number | undefined)[]
  /** Nodes that are always as late as they may be. */
  slow: boolean[]
  /** How late the others are with what they do, of each beat and after an outage. */
  late: number[]
}

const outage = (after: [number, number], ms: [number, number]): fc.Arbitrary<Outage> =>
  fc.record({ after: fc.integer({ min: after[0], max: after[1] }), ms: fc.integer({ min: ms[0], max: ms[1] }) })
/** Of a server that comes and goes: each too short for a lease to end by it. */
const several = fc.array(outage([BETWEEN_MS, 900], [100, LEASE_MS / 2]), { minLength: 2, maxLength: 8, size: 'max' })

const story: fc.Arbitrary<Story> = fc.record({
  outages: fc
    .array(
      fc.oneof(
        outage([3_000, 9_000], [100, 6_000]).map((one) => [one]),
        several,
      ),
      { maxLength: 3 },
    )
    .map((all) => all.flat()),
  killed: fc.tuple(
    fc.constant(undefined),
    fc.option(fc.nat(15_000), { nil: undefined }),
    fc.option(fc.nat(15_000), { nil: undefined }),
  ),
  slow: fc.tuple(fc.boolean(), fc.boolean(), fc.boolean()),
  late: fc.array(fc.nat(1_000), { minLength: 7, maxLength: 7 }),
})

describe.skipIf(postgresMissing !== undefined)('leases of nodes', () => {
  test('no living node is taken over from, whatever outages there are, and a killed one soon is', async () => {
    const names = ['a', 'b', 'c']
    const world = await openWorld(names)
    await fc.assert(
      fc.asyncProperty(story, async ({ outages, killed, slow, late }) => {
        await world.begin()
        let at = 0
        const away = outages.map(({ after, ms: forMs }) => {
          at += after
          const from = at
          at += forMs
          return { from, until: at }
        })
        const isAway = (ms: number): boolean => away.some(({ from, until }) => ms >= from && ms < until)
        let turn = 0
        const lateBy = (steps: number, i: number): number =>
          (slow[i] ? steps : (late[turn++ % late.length] ?? 0) % (steps + 1)) * STEP_MS
        const dueAt = names.map((_, i) => lateBy(4, i))
        let backAt = 0
        let awayMs = 0
        const open = new Set(names)
        for (let ms = 0; ms <= 40_000 && open.size > 1; ms += STEP_MS) {
          if (isAway(ms)) {
            awayMs += STEP_MS
            continue
          }
          if (awayMs > 0) {
            backAt = ms
            for (const i of names.keys()) dueAt[i] = ms + lateBy(lateAfter(awayMs), i)
            awayMs = 0
          }
          await world.setClock(ms)
          for (const [i, name] of names.entries()) {
            const isGone = ms >= (killed[i] ?? Number.POSITIVE_INFINITY)
            if (isGone || ms < (dueAt[i] ?? 0)) continue
            // A little late each time, as processes that have other things to do are.
            dueAt[i] = ms + BEAT_MS + lateBy(2, i)
            await world.beat(name)
            for (const taken of await world.sweep(name)) {
              open.delete(taken)
              expect(killed[names.indexOf(taken)]).toBeLessThanOrEqual(ms)
            }
          }
          for (const name of open) {
            const since = Math.max(killed[names.indexOf(name)] ?? Number.POSITIVE_INFINITY, backAt)
            expect({ name, late: ms - since > SOON_MS }).toEqual({ name, late: false })
          }
        }
      }),
      { numRuns: 20 },
    )
    await world.client.close()
  })

  test('one whose own lease has ended, or has just begun, takes over nothing', async () => {
    const world = await openWorld(['a', 'b'])
    await world.begin()
    await world.setClock(60_000)
    expect(await world.sweep('b')).toEqual([])
    await world.beat('b')
    expect(await world.sweep('b')).toEqual([])
    for (const ms of [60_500, 61_000, 61_500, 62_000, 62_500, 62_900]) {
      await world.setClock(ms)
      await world.beat('b')
      expect(await world.sweep('b')).toEqual([])
    }
    await world.setClock(63_000)
    expect(await world.sweep('b')).toEqual(['a'])
    await world.client.close()
  })

  test("a database's clock that is set forward ends nobody's streams, and one that is set back keeps nobody's", async () => {
    const world = await openWorld(['a', 'b'])
    await world.begin()
    const play = async (from: number, forMs: number, names: string[]): Promise<string[]> => {
      const taken: string[] = []
      for (let ms = from; ms <= from + forMs; ms += BEAT_MS) {
        await world.setClock(ms)
        for (const name of names) await world.beat(name)
        for (const name of names) taken.push(...(await world.sweep(name)))
      }
      return taken
    }
    expect(await play(0, 6_000, ['b', 'a'])).toEqual([])
    expect(await play(3_600_000, 6_000, ['b', 'a'])).toEqual([])
    expect(await play(0, SOON_MS, ['b'])).toEqual(['a'])
    await world.client.close()
  })
})

describe('a lease that is given up', () => {
  /** Statements end when the test says. */
  const leased = () => {
    const asked: { text: string; end: (rows: object[] | Error) => void }[] = []
    const query = (text: string) =>
      new Promise((resolve, reject) =>
        asked.push({ text, end: (rows) => (rows instanceof Error ? reject(rows) : resolve(rows)) }),
      )
    const terms = { client: { query }, node: 'a', timing: { leaseMs: LEASE_MS }, onFailure: () => undefined }
    const lately = { forget: () => undefined, sayAgain: async () => undefined }
    return { asked, lease: createLease(terms as never, lately) }
  }

  test.each(['carried out', 'lost'])('is taken back no more by a renewal on its way that is %s', async (how) => {
    const { asked, lease } = leased()
    const renewed = lease.beat().catch(() => undefined)
    const given = lease.giveUp()
    expect(asked).toHaveLength(1)
    asked[0]?.end(how === 'lost' ? new Error('lost') : [{ life: 'one' }])
    await renewed
    await Promise.resolve()
    expect(asked.map(({ text }) => text.trim().slice(0, 6))).toEqual(['SELECT', 'DELETE'])
    asked[1]?.end([])
    await given
  })

  test('is not renewed any more', async () => {
    const { asked, lease } = leased()
    const given = lease.giveUp()
    await Promise.resolve()
    asked[0]?.end([])
    await given
    await expect(lease.renew()).rejects.toThrow('unavailable')
    await expect(lease.beat()).rejects.toThrow('unavailable')
    expect(asked).toHaveLength(1)
  })
})
