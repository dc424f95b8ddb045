// The exchanges that one node knows of: those it was granted, those it asks for, and those of which it heard nothing.

import type { Per } from '../../../ledger/bounds.ts'
import type { Prices } from '../../../ledger/cost.ts'
import type { OpenExchange, SoFar } from '../../../ledger/journal.ts'
import { createRecent, type Recent } from '../../../lib/recent.ts'

/** An exchange of this node. `prices`: those it began with. */
export type Held = { open: OpenExchange; per: Per | undefined; prices: Prices; soFar: SoFar }

export type Holding = {
  running: Map<string, Held>
  /** Ids that are being asked for. */
  asking: Set<string>
  /** Asked for, without a word of whether they were granted. */
  doubtful: Recent<string, Held>
  /** Ids that were asked for by an attempt of which nothing was heard, whatever came of a later one: it may still be granted. */
  unheard: Recent<string, true>
  /** Requests that are in. */
  entered: Set<string>
}

const MOST_DOUBTFUL = 10_000

export const createHolding = (): Holding => ({
  running: new Map(),
  asking: new Set(),
  doubtful: createRecent(MOST_DOUBTFUL),
  unheard: createRecent(MOST_DOUBTFUL),
  entered: new Set(),
})
