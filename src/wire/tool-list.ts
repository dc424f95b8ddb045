// Which of a request's tools a provider's list holds: some come along, or go, in the conversation itself.

import type { ChatRequest } from '../ir/request.ts'
import type { ChatWire } from '../ir/wire.ts'

/**
 * The request with the tools that go into the list of the wire's provider. Its own wire says in the conversation what
 * comes and goes there; any other has the list alone, as it stands at the end.
 */
export const withToolsFor = (request: ChatRequest, wire: ChatWire): ChatRequest => {
  const own = request.origin === wire
  const tools = request.tools.filter(({ within, gone }) => (own ? within !== true : gone !== true))
  return tools.length === request.tools.length ? request : { ...request, tools }
}
