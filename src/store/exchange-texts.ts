// What of an exchange its row has as JSON text.

import type { Settlement } from '../ledger/ledger.ts'

/** JSON text, as a row has it; null: none. */
export const toolsOf = (calls: Settlement['serverTools'] = {}): string | null =>
  Object.keys(calls).length === 0 ? null : JSON.stringify(calls)

// A single attempt that answered is described by the other columns.
export const trailOf = (trail: Settlement['trail']): string | null =>
  trail === undefined || trail.length === 0 || (trail.length === 1 && trail[0]?.errorCode === undefined)
    ? null
    : JSON.stringify(trail)

export const droppedOf = (paths: Settlement['dropped'] = []): string | null =>
  paths.length === 0 ? null : JSON.stringify(paths)
