// The lease of a node: while it lasts, the database grants it what it asks for, and nobody takes over what it has.

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

export const createLease = ({ client, node, timing, onFailure }: Terms): Lease => {
  let fenced = true
  let over = false
  const beat = async (): Promise<void> => {
    await client.query('SELECT sluice_beat($1, $2)', [node, timing.leaseMs], { deadlineMs: timing.leaseMs })
    fenced = false
  }
  return {
    beat,
    renew() {
      fenced = true
      return beat()
    },
    isFenced: () => fenced,
    isOver: () => over,
    async giveUp() {
      over = true
      await client.query('DELETE FROM nodes WHERE id = $1', [node]).catch(onFailure)
    },
  }
}
