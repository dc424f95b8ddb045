// Where the client wrote a turn of its conversation, for turns and parts that no decoder has placed.

import type { ChatRequest } from '../ir/request.ts'

/** The client's path of a turn, or of a part of it. Where the client's items are not our turns: their list. */
export type PathOf = (turn: number, part?: number) => string

export const pathsOf = ({ origin, turns }: ChatRequest): PathOf => {
  if (origin === 'responses') return () => 'input'
  const leading = origin === 'messages' && turns[0]?.role === 'system' ? 1 : 0
  return (turn, part) => {
    if (turn < leading) return part === undefined ? 'system' : `system.${part}`
    return `messages.${turn - leading}${part === undefined ? '' : `.content.${part}`}`
  }
}
