// What encoding a request had to leave out, by the client's paths.

import { placeOf } from '../../ir/place.ts'
import type { ChatRequest } from '../../ir/request.ts'
import { pathsOf } from '../client-path.ts'

/** The client's name for members of the IR, by its wire. */
const MEMBERS = {
  'chat-completions': {
    reasoning: 'reasoning_effort',
    effort: 'reasoning_effort',
    verbosity: 'verbosity',
    output: 'response_format',
    tools: 'tools',
  },
  responses: {
    reasoning: 'reasoning',
    effort: 'reasoning.effort',
    verbosity: 'text.verbosity',
    output: 'text.format',
    tools: 'tools',
  },
  messages: {
    reasoning: 'thinking',
    effort: 'output_config.effort',
    verbosity: 'verbosity',
    output: 'output_config.format',
    tools: 'tools',
  },
} as const

export type Dropped = {
  paths: Set<string>
  /** Lists the client's path. */
  path(path: string): void
  /** Lists a member of the request under the client's name for it. */
  member(name: keyof (typeof MEMBERS)['messages']): void
  nameOf(name: keyof (typeof MEMBERS)['messages']): string
  /** The client's path of the turn at this index. */
  turnPath(index: number): string
}

export const droppedOf = (request: ChatRequest): Dropped => {
  const paths = new Set<string>()
  const names = MEMBERS[request.origin]
  const pathOf = pathsOf(request)
  return {
    paths,
    path: (path) => void paths.add(path),
    member: (name) => void paths.add(names[name]),
    nameOf: (name) => names[name],
    turnPath: (index) => {
      const turn = request.turns[index]
      return turn === undefined ? pathOf(index) : placeOf(turn, pathOf(index))
    },
  }
}
