// Texts that end an answer, where a wire cannot say them: the gateway ends the answer there itself (ir/stop-at.ts).

import type { Undo } from './codec.ts'

/** So many texts of so many characters are looked for in every piece of an answer. */
const MOST = 16
const LONGEST = 256

/** Has the answer end at these texts, which its provider is not told. False where they cannot all be looked for. */
export const endThere = (texts: readonly string[], undo: Undo): boolean => {
  const sought = texts.filter((text) => text !== '' && text.length <= LONGEST).slice(0, MOST)
  if (sought.length > 0) undo.stop = sought
  return sought.length === texts.length
}
