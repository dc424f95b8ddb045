// What could not be said on this wire, by the paths its client knows.

import { placeOf } from '../../ir/place.ts'
import type { ChatRequest } from '../../ir/request.ts'
import { pathsOf } from '../client-path.ts'

/** Members of the IR under the names each wire's clients gave them. */
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
  /** Lists a path as it is. */
  path(path: string): void
  /** Lists a member of the request under its client's name for it. */
  member(name: keyof (typeof MEMBERS)['messages']): void
  nameOf(name: keyof (typeof MEMBERS)['messages']): string
  /** The path of the turn at this place of the list. */
  turn(index: number): string
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
    turn: (index) => {
      const turn = request.turns[index]
      return turn === undefined ? pathOf(index) : placeOf(turn, pathOf(index))
    },
  }
}
