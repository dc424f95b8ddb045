// What encoding a request had to leave out, by the client's paths.

import { placeOf } from '../../ir/place.ts'
import type { ChatRequest } from '../../ir/request.ts'
import { memberName } from '../refusal/member-names.ts'
import { pathsOf } from '../turns/client-path.ts'

export type Dropped = {
  paths: Set<string>
  /** Lists the client's path. */
  path(path: string): void
  /** Lists the client's member for one of this wire. */
  member(name: string): void
  nameOf(name: string): string
  /** The client's path of the turn at this index. */
  turnPath(index: number): string
}

export const droppedOf = (request: ChatRequest): Dropped => {
  const paths = new Set<string>()
  const nameOf = (member: string): string => memberName(request.origin, 'messages', member)
  const pathOf = pathsOf(request)
  return {
    paths,
    path: (path) => void paths.add(path),
    member: (name) => void paths.add(nameOf(name)),
    nameOf,
    turnPath: (index) => {
      const turn = request.turns[index]
      return turn === undefined ? pathOf(index) : placeOf(turn, pathOf(index))
    },
  }
}
