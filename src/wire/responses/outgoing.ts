// What encoding one request keeps at hand: where it came from, what it had to leave out, and the names it sends.

import type { Quirks } from '../../ir/quirks.ts'
import type { ChatRequest } from '../../ir/request.ts'
import type { ChatWire } from '../../ir/wire.ts'
import { type ToolNames, toolNames } from './names.ts'

export type Outgoing = {
  origin: ChatWire
  /** The client speaks this wire itself: what it left unsaid is left to the provider's defaults. */
  own: boolean
  /** Explicit cache breakpoints are this vendor's; markers of the messages wire would be refused by most models. */
  cacheMarks: boolean
  quirks: Quirks
  names: ToolNames
  dropped: Set<string>
  /** Lists the client's member as left out. */
  drop(path: string): void
  /** The client's path of a turn, or of a part of it. Where the client's items are not our turns: their list. */
  pathOf(turn: number, part?: number): string
}

export const outgoing = (request: ChatRequest, quirks: Quirks): Outgoing => {
  const dropped = new Set<string>()
  const { origin, turns } = request
  const leading = origin === 'messages' && turns[0]?.role === 'system' ? 1 : 0
  return {
    origin,
    own: origin === 'responses',
    cacheMarks: origin !== 'messages',
    quirks,
    names: toolNames(request),
    dropped,
    drop: (path) => dropped.add(path),
    pathOf: (turn, part) => {
      if (origin === 'responses') return 'input'
      if (turn < leading) return part === undefined ? 'system' : `system.${part}`
      return `messages.${turn - leading}${part === undefined ? '' : `.content.${part}`}`
    },
  }
}
