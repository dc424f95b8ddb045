// The context of encoding one request: its origin, what was dropped, and the names that are sent.

import type { Quirks } from '../../ir/quirks.ts'
import type { ChatRequest } from '../../ir/request.ts'
import type { ChatWire } from '../../ir/wire.ts'
import type { Target } from '../codec.ts'
import { memberName } from '../refusal/member-names.ts'
import { type PathOf, pathsOf } from '../turns/client-path.ts'
import { type ToolNames, toolNames } from './names.ts'

export type Outgoing = {
  origin: ChatWire
  /** The client speaks this wire: members it left out are left to the provider's defaults. */
  own: boolean
  /** Besides, what it has written of the conversation and its tools was not refused for its form. */
  verbatim: boolean
  quirks: Quirks
  names: ToolNames
  dropped: Set<string>
  /** Lists the client's member as dropped. */
  drop(path: string): void
  pathOf: PathOf
  /** The client's name for a member of this wire. */
  nameOf(member: string): string
}

export const outgoing = (request: ChatRequest, { quirks, anew }: Pick<Target, 'quirks' | 'anew'>): Outgoing => {
  const dropped = new Set<string>()
  const { origin } = request
  return {
    origin,
    own: origin === 'responses',
    verbatim: origin === 'responses' && anew !== true,
    quirks,
    names: toolNames(request),
    dropped,
    drop: (path) => dropped.add(path),
    pathOf: pathsOf(request),
    nameOf: (member) => memberName(request.origin, 'responses', member),
  }
}
