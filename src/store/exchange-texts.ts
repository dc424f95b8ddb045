// What of an exchange its row has as JSON text.

import type { ByPiece, Settlement } from '../ledger/ledger.ts'

/** JSON text, as a row has it; null: none. */
export const toolsOf = (calls: Settlement['serverTools'] = {}): string | null =>
  Object.keys(calls).length === 0 ? null : JSON.stringify(calls)

export const picturesText = (pictures: Settlement['pictures']): string | null =>
  pictures === undefined ? null : JSON.stringify(pictures)

/** What both texts say. */
export const byPieceOf = (pictures: string | null, serverTools: string | null): ByPiece => ({
  pictures: pictures === null ? undefined : JSON.parse(pictures),
  serverTools: serverTools === null ? undefined : JSON.parse(serverTools),
})

// A single attempt that answered is described by the other columns.
export const trailOf = (trail: Settlement['trail']): string | null =>
  trail === undefined || trail.length === 0 || (trail.length === 1 && trail[0]?.errorCode === undefined)
    ? null
    : JSON.stringify(trail)

export const droppedOf = (paths: Settlement['dropped'] = []): string | null =>
  paths.length === 0 ? null : JSON.stringify(paths)
