// What nobody else will settle: exchanges of nodes that are gone, reservations that were granted without being heard of, and
// answers that go on without their node.

import type { Reservation, Resumed, Settlement } from '../../../ledger/ledger.ts'
import { endOf, lastKnown } from '../../../ledger/settled.ts'
import type { AskOf, Verdict } from '../../../ledger/shared.ts'
import { createInOrder } from '../../../lib/in-order.ts'
import type { createEnding, Ended } from './end.ts'
import type { Held, Holding } from './held.ts'
import type { Lease } from './lease.ts'
import type { Terms } from './options.ts'
import { leftOpenOf, type ReservationRow } from './rows.ts'

/** Of what a node has left, at once. */
const SWEPT = 500

const STILL_THERE = 'SELECT id FROM reservations WHERE node = $1 AND id = ANY ($2::text[])'

type Parts = { holding: Holding; ending: ReturnType<typeof createEnding>; lease: Pick<Lease, 'beat'> }

export const createLeft = (terms: Terms, { holding, ending, lease }: Parts) => {
  const { running, asking, unheard, entered } = holding
  const { client, node, clock, prices, timing, takeOver, onSettled } = terms
  const { write, leave, lately } = ending
  /** What is being taken over is this node's, and known to nobody for a moment. */
  const inOrder = createInOrder()
  /** What the database has given to this node, until it is settled or goes on here. */
  const swept = new Map<string, Held>()

  const settleLeft = async (id: string, { open, soFar, prices: by }: Held): Promise<void> => {
    const { exchangeId, keyId, startedAt, reserved, model, wire, stream, inputEstimate, pictures } = open
    const reservation: Reservation = { exchangeId, keyId, startedAt, reserved, outputCap: undefined, tag: open.tag }
    const held: Held = { open, soFar, prices: by, per: undefined }
    running.set(id, held)
    const left: Resumed = { reservation, model, wire, stream, inputEstimate, ...soFar, pictures }
    if (await takeOver(left)) return
    const settlement: Settlement = {
      ...lastKnown(left),
      ...{ status: 500, totalMs: Math.max(0, clock() - startedAt) },
    }
    const end = endOf(open, settlement, by, clock())
    const written = await write([{ id, held, end }], { alone: true })
    // What could not be written is left to whoever sweeps next, or to the net.
    running.delete(id)
    if (written.has(id)) onSettled({ open, settlement, costMicroUsd: end.costMicroUsd })
  }

  const settleSwept = async (rows: readonly ReservationRow[]): Promise<void> => {
    for (const row of rows) {
      const { usage, serverTools, ...open } = leftOpenOf(row)
      swept.set(open.exchangeId, { open, soFar: { usage, serverTools }, per: undefined, prices: prices() })
    }
    const settling = [...swept].map(async ([id, held]) => {
      await settleLeft(id, held)
      swept.delete(id)
    })
    // Nobody else sees those of which it could not be decided: they are taken up with the next.
    const failed = (await Promise.allSettled(settling)).find(({ status }) => status === 'rejected')
    if (failed?.status === 'rejected') throw failed.reason
  }

  const sweep = async (): Promise<number> => {
    const rows = await client.query<ReservationRow>('SELECT * FROM sluice_sweep($1, $2)', [node, SWEPT])
    await settleSwept(rows)
    return rows.length
  }

  /** What the database has given to this node without its hearing of it, or what of that could not be written. */
  const givenOf = async (rows: readonly ReservationRow[]): Promise<ReservationRow[]> => {
    const strange = rows.filter(({ id }) => unheard.get(id) === undefined)
    if (strange.length === 0) return []
    // What this node had ended while it was looked for is there no more.
    const still = await client.query<{ id: string }>(STILL_THERE, [node, strange.map(({ id }) => id)])
    return strange.filter(({ id }) => still.some((row) => row.id === id))
  }

  const net = async (olderThanMs: number): Promise<number> => {
    // After a crash there is much that is known here all the same.
    await lease.beat()
    if (lately.isSayingAgain()) return 0
    const rows = await client.query<ReservationRow>('SELECT * FROM reservations WHERE node = $1 AND started_at < $2', [
      node,
      clock() - olderThanMs,
    ])
    const unknown = rows.filter(({ id }) => !running.has(id) && !asking.has(id) && !swept.has(id))
    const given = await givenOf(unknown)
    const ended = unknown
      .filter((row) => !given.includes(row))
      .map((row): Ended => {
        const { usage, ...open } = leftOpenOf(row)
        const settlement: Settlement = {
          ...{ outcome: 'failed', usage, estimated: false, status: 503, errorCode: 'service_unavailable' },
          ...{ attempts: 0, totalMs: 0 },
        }
        return { id: row.id, held: undefined, end: endOf(open, settlement, prices(), clock()) }
      })
    // Who came in with it, or too late for whoever had asked, leaves.
    const inside = await client.query<{ id: string; key_id: string }>(
      'SELECT id, key_id FROM entered WHERE node = $1 AND second < $2',
      [node, Math.floor((clock() - olderThanMs) / 1_000)],
    )
    const strangers = inside.filter(({ id }) => !entered.has(id) && !asking.has(id))
    const refunded = [...new Set([...ended, ...strangers].map(({ id }) => id))]
    const keyIds = new Set(strangers.map(({ key_id: keyId }) => keyId))
    if (ended.length > 0) await write(ended, { leaving: { left: [], refunded, keyIds } })
    else if (refunded.length > 0) await leave({ left: [], refunded, keyIds })
    if (given.length > 0) await settleSwept(given)
    return ended.length
  }

  return {
    async letGo(asks: readonly AskOf<'let-go'>[]): Promise<Verdict[]> {
      for (const { id } of asks) {
        const held = running.get(id)
        if (held !== undefined) await settleLeft(id, held)
      }
      return asks.map(() => ({}))
    },

    /** Of nodes that are gone; returns how much that was. */
    sweep: (): Promise<number> => inOrder(sweep),

    /** What this node was granted without hearing of it is given back. */
    net: (olderThanMs = timing.netMs + timing.reserveMs): Promise<number> => inOrder(() => net(olderThanMs)),
  }
}
