// The shared ledger in PostgreSQL, as one node has it. The database decides what is granted and writes what has ended, each group
// in one statement (drizzle/postgres/*_turns.sql); whether a request gets less, and the words of a refusal, are decided by
// the figures that it tells. The parts are in ledger/; here is what of a group waits for what.

import { unavailable } from '../../errors.ts'
import type { BudgetId, Spent } from '../../keys/budget.ts'
import type { Ask, AskOf, SharedNode, Verdict } from '../../ledger/shared.ts'
import { createEnding } from './ledger/end.ts'
import { createEntering } from './ledger/enter.ts'
import { createHolding } from './ledger/held.ts'
import { createLease } from './ledger/lease.ts'
import { createLeft } from './ledger/left.ts'
import { type BooksOptions, type Terms, termsOf } from './ledger/options.ts'
import { createProgress } from './ledger/progress.ts'
import { createReserving } from './ledger/reserve.ts'
import { createStanding } from './ledger/standing.ts'

export type Books = SharedNode & {
  /** Begins this node's lease, and its looking after what others have left. */
  start(): Promise<void>
  /** Whether its lease has ended, so that it is granted nothing. */
  isFenced(): boolean
  /** Takes over what nodes that are gone have left; returns how much that was. */
  sweep(): Promise<number>
  /** Gives back what this node was granted without hearing of it. */
  net(olderThanMs?: number): Promise<number>
  /** Of all nodes. */
  openCount(keyIds?: ReadonlySet<string>): Promise<number>
  heldBy(keyId: string): Promise<number>
  heldOf(budget: BudgetId): Promise<Spent>
  /** Ends the lease; what is still open is settled by others. */
  stop(): Promise<void>
}

const NOTHING_SAID: Promise<Verdict[]> = Promise.resolve([])

export const createBooks = (options: BooksOptions): Books => {
  const terms = termsOf(options)
  const { timing, onFailure } = terms
  const holding = createHolding()
  const ending = createEnding(terms, holding)
  const lease = createLease(terms, ending.lately)
  const standing = createStanding(terms)
  const enter = createEntering(terms, holding, lease)
  const { reserve, isCrowded } = createReserving(terms, { holding, lease, standing })
  const { narrow, progress } = createProgress(terms, holding)
  const { letGo, sweep, net } = createLeft(terms, { holding, ending, lease })
  const timers = new Set<Timer>()

  /** By one statement, unless something is in its way. */
  const endAndReserve = (leaving: readonly AskOf<'settle' | 'leave'>[], reserving: readonly AskOf<'reserve'>[]) => {
    if (leaving.length === 0) return { ended: NOTHING_SAID, reserved: reserve(reserving) }
    if (reserving.length === 0) return { ended: ending.end(leaving), reserved: NOTHING_SAID }
    const told = Promise.withResolvers<boolean>()
    const { written, alone, ...along } = ending.along(leaving)
    return {
      ended: told.promise.then((isWritten) => (isWritten ? written() : alone())),
      reserved: reserve(reserving, { ...along, tell: told.resolve }),
    }
  }

  const every = (ms: number, run: () => Promise<unknown>): void => {
    const timer = setTimeout(async () => {
      timers.delete(timer)
      try {
        await run()
      } catch (cause) {
        if (!lease.isOver()) onFailure(cause)
      }
      if (!lease.isOver()) every(ms, run)
    }, ms)
    timer.unref()
    timers.add(timer)
  }

  return {
    async carry(group) {
      if (lease.isOver()) throw unavailable('is busy', { cause: 'the ledger has ended' })
      const verdicts = new Array<Verdict>(group.length)
      const those = <D extends Ask['do']>(...what: readonly D[]) => {
        const isOne = (ask: Ask): ask is AskOf<D> => what.some((each) => each === ask.do)
        return { asks: group.filter(isOne), places: group.flatMap((ask, i) => (isOne(ask) ? [i] : [])) }
      }
      const hear = async (places: readonly number[], saying: Promise<Verdict[]>): Promise<void> => {
        try {
          const said = await saying
          for (const [i, place] of places.entries()) verdicts[place] = said[i] ?? { lost: true }
        } catch (cause) {
          onFailure(cause)
          for (const place of places) verdicts[place] = { lost: true }
        }
      }
      const carryAll = async <D extends Ask['do']>(
        what: D,
        carryOut: (asks: AskOf<D>[]) => Promise<Verdict[]>,
      ): Promise<void> => {
        const { asks, places } = those(what)
        if (places.length > 0) await hear(places, carryOut(asks))
      }
      const endAll = async (): Promise<void> => {
        const [leaving, reserving] = [those('settle', 'leave'), those('reserve')]
        const { ended, reserved } = endAndReserve(leaving.asks, reserving.asks)
        await Promise.all([
          hear(leaving.places, ended).then(() => carryAll('enter', enter)),
          hear(reserving.places, reserved),
        ])
      }
      // Each waits for rows of its own; what ends makes room for what begins.
      await Promise.all([
        carryAll('narrow', narrow).then(endAll),
        carryAll('progress', progress).then(() => carryAll('let-go', letGo)),
        carryAll('look', standing.look),
      ])
      return verdicts
    },
    async start() {
      await lease.beat()
      every(timing.beatMs, lease.beat)
      every(timing.sweepMs, sweep)
      every(timing.netMs, () => net())
    },
    isFenced: lease.isFenced,
    isCrowded,
    sweep,
    net,
    ...openOf(terms),
    async stop() {
      const given = lease.giveUp()
      for (const timer of timers) clearTimeout(timer)
      await given
    },
  }
}

/** What is open of all nodes. */
const openOf = ({ client }: Terms): Pick<Books, 'openCount' | 'heldBy' | 'heldOf'> => ({
  async openCount(keyIds) {
    const [row] = await client.query<{ n: number }>(
      'SELECT count(*) AS n FROM reservations WHERE $1::text[] IS NULL OR key_id = ANY ($1::text[])',
      [keyIds === undefined ? null : [...keyIds]],
      { isRepeatable: true },
    )
    return row?.n ?? 0
  },
  async heldBy(keyId) {
    const rows = await client.query<{ held: number }>('SELECT tokens_held AS held FROM keys WHERE id = $1', [keyId], {
      isRepeatable: true,
    })
    return rows[0]?.held ?? 0
  },
  async heldOf(budget) {
    const rows = await client.query<Spent>(
      'SELECT held_tokens AS tokens, held_micro_usd AS "microUsd" FROM budgets WHERE id = $1',
      [budget],
      { isRepeatable: true },
    )
    return rows[0] ?? { tokens: 0, microUsd: 0 }
  },
})
