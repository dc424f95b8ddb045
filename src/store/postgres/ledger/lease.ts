// The lease of a node: while it lasts, the database grants it what it asks for, and nobody takes over what it has.

import { unavailable } from '../../../errors.ts'
import type { Lately } from './lately.ts'
import type { Terms } from './options.ts'

export type Lease = {
  /** Where it had ended, it begins anew. */
  beat(): Promise<void>
  /** It has ended, and nothing was granted; it begins anew. */
  renew(): Promise<void>
  isFenced(): boolean
  /** Whether it was given up. */
  isOver(): boolean
  giveUp(): Promise<void>
}

const BEAT = 'SELECT sluice_beat($1, $2), sluice_life() AS life'

export const createLease = (
  { client, node, timing, onFailure }: Terms,
  lately: Pick<Lately<unknown>, 'forget' | 'sayAgain'>,
): Lease => {
  let fenced = true
  let over = false
  /** The database's, as it was with the last beat: another after a crash. */
  let life: string | undefined
  const isOver = (): boolean => over
  /** Renewals under way. */
  const renewing = new Set<Promise<unknown>>()
  const renew = async (): Promise<void> => {
    const manner = { deadlineMs: timing.leaseMs, isRepeatable: true }
    const [row] = await client.query<{ life: string }>(BEAT, [node, timing.leaseMs], manner)
    fenced = false
    const was = life
    life = row?.life
    if (was === undefined || was === life) lately.forget()
    // Its lease does not wait for that.
    else void lately.sayAgain(isOver)
  }
  const beat = async (): Promise<void> => {
    if (over) throw unavailable('is busy', { cause: 'the ledger has ended' })
    const run = renew()
    renewing.add(run)
    await run.finally(() => renewing.delete(run))
  }
  return {
    beat,
    renew() {
      fenced = true
      return beat()
    },
    isFenced: () => fenced,
    isOver,
    async giveUp() {
      over = true
      // One that is carried out afterwards would take the lease anew, for others to wait for its end.
      await Promise.allSettled(renewing)
      await client.query('DELETE FROM nodes WHERE id = $1', [node]).catch(onFailure)
    },
  }
}
