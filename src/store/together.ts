// What nodes that share a store have together by it, beside what every store keeps.

import type { AttemptStore } from '../members/attempts.ts'
import type { SetupLinks } from '../members/setup-links.ts'

/** What one node does for all of them: a lease for each, which ends by itself when its holder does. */
export type Jobs = {
  /** Whether the node has the job, from now on for so long: its own again, or nobody's. By the database's clock. */
  take(name: string, node: string, leaseMs: number): Promise<boolean>
  /** The node has it no more, and another need not wait. */
  leave(name: string, node: string): Promise<void>
}

export type Together = {
  jobs: Jobs
  attempts: AttemptStore
  setupLinks: SetupLinks
  /** Milliseconds since the epoch, as the database has it: whatever decides anything goes by that. */
  clock(): number
  /** Reads what other nodes have changed, and how much of keys and budgets is used by now. */
  catchUp(): Promise<void>
  /** Whether the limits of keys are counted in the database although they have a store of their own; undefined: they have none. */
  limitsAway(): boolean | undefined
}
