// Stop sequences: the gateway holds every translated answer to them itself (ir/stop-at.ts), as some servers leave the word in
// the text, or lose it on the way.

import type { JsonObject } from '../../ir/json.ts'
import type { Quirks } from '../../ir/quirks.ts'
import type { Undo } from '../codec.ts'
import { given } from '../read.ts'

/** Bounds on the search, which is made in every delta: how many stop sequences, and of how many characters. */
const MAX_STOPS = 16
const MAX_CHARS = 256

/**
 * Records the stop sequences for decoding the answer. False where one that is not among the `sent` is left out because of the
 * bounds.
 */
export const stopInGateway = (texts: readonly string[], undo: Undo, sent: ReadonlySet<string> = new Set()): boolean => {
  const unsent = texts.filter((text) => !sent.has(text))
  const sought = [...unsent, ...sent].filter((text) => text !== '' && text.length <= MAX_CHARS).slice(0, MAX_STOPS)
  if (sought.length > 0) undo.stop = sought
  return unsent.every((text) => sought.includes(text))
}

/** Whether a body has stop sequences, in its wire's member for them, that its server is not to be sent. */
export const needsStopping = (body: JsonObject, quirks: Quirks): boolean =>
  ['stop', 'stop_sequences'].some((member) => given(body[member]) && stopsInGateway(quirks, member))

/** Whether the server is to be sent none: it refuses them, or goes on behind them. */
export const stopsInGateway = ({ stopsItself, rejects }: Quirks, member: string): boolean =>
  stopsItself === false || rejects?.includes(member) === true
