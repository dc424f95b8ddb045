// What encoding one request keeps at hand: where it came from, what it had to leave out, and the tools' names.

import type { Quirks } from '../../ir/quirks.ts'
import type { ChatRequest } from '../../ir/request.ts'
import type { ChatWire } from '../../ir/wire.ts'
import { type PathOf, pathsOf } from '../client-path.ts'
import type { OpenName } from '../seal.ts'
import { sentCallId } from './call-ids.ts'
import { type ToolNames, toolNames } from './tools.ts'

export type Outgoing = {
  origin: ChatWire
  names: ToolNames
  /** Tools of free text go out as functions of one string. */
  customAsFunction: boolean
  /** A developer speaks as the system. */
  noDeveloperRole: boolean
  /** What the system says within the conversation goes out as the user's. */
  noMidSystem: boolean
  /** Servers that tell their thoughts in the open want them back, where they led to calls at least. */
  openThoughts(name: OpenName): boolean
  /** A call's id as it is sent. */
  callId(id: string): string
  /** Lists the client's member as left out. */
  drop(path: string): void
  dropped: Set<string>
  pathOf: PathOf
}

export const outgoing = (request: ChatRequest, quirks: Quirks): Outgoing => {
  const dropped = new Set<string>()
  return {
    origin: request.origin,
    names: toolNames(request, quirks.noCustomTools === true),
    customAsFunction: quirks.noCustomTools === true,
    noDeveloperRole: quirks.noDeveloperRole === true,
    noMidSystem: quirks.noMidSystem === true,
    openThoughts: (name) => quirks.noReasoning !== true && quirks.rejects?.includes(name) !== true,
    callId: (id) => sentCallId(id, quirks),
    dropped,
    drop: (path) => dropped.add(path),
    pathOf: pathsOf(request),
  }
}
