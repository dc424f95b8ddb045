// What encoding one request keeps at hand: where it came from, what it had to leave out, and the tools' names.

import type { Quirks } from '../../ir/quirks.ts'
import type { ChatRequest } from '../../ir/request.ts'
import type { ChatWire } from '../../ir/wire.ts'
import { type ToolNames, toolNames } from './tools.ts'

export type Outgoing = {
  origin: ChatWire
  /** Explicit cache breakpoints are this vendor's; markers of the messages wire would be refused by most models. */
  cacheMarks: boolean
  names: ToolNames
  /** Tools of free text go out as functions of one string. */
  customAsFunction: boolean
  /** Servers that tell their thoughts in the open want them back, where they led to calls at least. */
  openThoughts: boolean
  /** Lists the client's member as left out. */
  drop(path: string): void
  dropped: Set<string>
  /** The client's path of a turn, and of a part of it. Where the client's items are not our turns: their list. */
  pathOf(turn: number, part?: number): string
}

export const outgoing = (request: ChatRequest, quirks: Quirks): Outgoing => {
  const dropped = new Set<string>()
  const { origin, turns } = request
  const leading = origin === 'messages' && turns[0]?.role === 'system' ? 1 : 0
  return {
    origin,
    cacheMarks: origin !== 'messages',
    names: toolNames(request, quirks.noCustomTools === true),
    customAsFunction: quirks.noCustomTools === true,
    openThoughts: quirks.noReasoning !== true && quirks.rejects?.includes('reasoning_content') !== true,
    dropped,
    drop: (path) => dropped.add(path),
    pathOf: (turn, part) => {
      if (origin === 'responses') return 'input'
      const at = part === undefined ? '' : `.content.${part}`
      if (turn < leading) return part === undefined ? 'system' : `system.${part}`
      return `messages.${turn - leading}${at}`
    },
  }
}
