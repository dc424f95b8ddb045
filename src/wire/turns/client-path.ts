// The path of a turn in the client's body, for turns and parts without a recorded path (see ir/place.ts).

import type { ChatRequest } from '../../ir/request.ts'

/** The client's path of a turn, or of a part of it; on the responses wire, whose items are not turns, of the whole list. */
export type PathOf = (turn: number, part?: number) => string

export const pathsOf = ({ origin, turns }: ChatRequest): PathOf => {
  if (origin === 'responses') return () => 'input'
  const leading = origin === 'messages' && turns[0]?.role === 'system' ? 1 : 0
  return (turn, part) => {
    if (turn < leading) return part === undefined ? 'system' : `system.${part}`
    return `messages.${turn - leading}${part === undefined ? '' : `.content.${part}`}`
  }
}
