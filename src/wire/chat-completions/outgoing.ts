// The state of encoding one request: its origin, what had to be left out, and the names of its tools.

import type { Quirks } from '../../ir/quirks.ts'
import type { ChatRequest } from '../../ir/request.ts'
import type { ChatWire } from '../../ir/wire.ts'
import type { Target } from '../codec.ts'
import { memberName } from '../refusal/member-names.ts'
import type { ThoughtMember } from '../seal.ts'
import { type PathOf, pathsOf } from '../turns/client-path.ts'
import { sentCallId } from './call-ids.ts'
import { type ToolNames, toolNames } from './names.ts'

export type Outgoing = {
  origin: ChatWire
  /** The client speaks this wire, and what it has written was not refused for its form. */
  verbatim: boolean
  quirks: Quirks
  names: ToolNames
  /** Whether instructions that begin the conversation become one message: many models' templates refuse a second, or drop it. */
  oneSystem: boolean
  /** Whether a plain thought is sent back in this member: servers that give them want them back, at least with calls. */
  takesThoughts(name: ThoughtMember): boolean
  /** Whether a message of the model's without a thought gets a blank one. */
  needsReasoning: boolean
  /** A call's id as it is sent. */
  callId(id: string): string
  /** Lists the client's member as left out. */
  drop(path: string): void
  dropped: Set<string>
  pathOf: PathOf
  /** The client's name for a member of this wire. */
  nameOf(member: string): string
}

export const outgoing = (request: ChatRequest, { quirks, anew }: Pick<Target, 'quirks' | 'anew'>): Outgoing => {
  const verbatim = request.origin === 'chat-completions' && anew !== true
  const dropped = new Set<string>()
  const takesThoughts = (name: ThoughtMember): boolean =>
    quirks.noReasoning !== true && quirks.rejects?.includes(name) !== true
  return {
    origin: request.origin,
    verbatim,
    quirks,
    names: toolNames(request),
    oneSystem: !verbatim || quirks.noMidSystem === true,
    takesThoughts,
    needsReasoning: quirks.needsReasoning === true && takesThoughts('reasoning_content'),
    callId: (id) => sentCallId(id, quirks),
    dropped,
    drop: (path) => dropped.add(path),
    pathOf: pathsOf(request),
    nameOf: (member) => memberName(request.origin, 'chat-completions', member),
  }
}
