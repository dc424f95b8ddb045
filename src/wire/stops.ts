// Stop sequences that a wire cannot express: the gateway applies them to the answer itself (ir/stop-at.ts).

import type { Undo } from './codec.ts'

/** Bounds on the search, which is made in every delta: how many stop sequences, and of how many characters. */
const MAX_STOPS = 16
const MAX_CHARS = 256

/** Records the stop sequences for decoding the answer. False where some are left out because of the bounds. */
export const stopInGateway = (texts: readonly string[], undo: Undo): boolean => {
  const sought = texts.filter((text) => text !== '' && text.length <= MAX_CHARS).slice(0, MAX_STOPS)
  if (sought.length > 0) undo.stop = sought
  return sought.length === texts.length
}
