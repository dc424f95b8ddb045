// Which of a request's tools a provider's list holds: some come along, or go, in the conversation itself.

import { placed, placeOf } from '../ir/place.ts'
import type { ChatRequest, Tool, Turn } from '../ir/request.ts'
import type { ChatWire } from '../ir/wire.ts'

/** What a client of that wire calls the schema of a tool's arguments. */
export const schemaMember = (origin: ChatWire): string => (origin === 'messages' ? 'input_schema' : 'parameters')

/**
 * The request with the tools that go into the list of the wire's provider. Its own wire says in the conversation what
 * comes and goes there; any other has the list alone, as it stands at the end, with stand-ins for tools that have one,
 * and in words what is said of its namespaces.
 */
export const withToolsFor = (request: ChatRequest, wire: ChatWire): ChatRequest => {
  if (request.origin === wire) {
    const tools = request.tools.filter(({ within }) => within !== true)
    return tools.length === request.tools.length ? request : { ...request, tools }
  }
  const tools = request.tools.flatMap((tool, at): Tool[] => {
    if (tool.gone === true) return []
    return [
      tool.type === 'opaque' && tool.standIn !== undefined ? placed(tool.standIn, placeOf(tool, `tools.${at}`)) : tool,
    ]
  })
  return { ...request, tools, turns: withNotes(request.turns, tools) }
}

/** What is said of a namespace's tools stands behind the instructions that open the conversation, where there are none. */
const withNotes = (turns: Turn[], tools: readonly Tool[]): Turn[] => {
  const notes = new Map<string, string>()
  for (const tool of tools) {
    if (tool.type !== 'opaque' && tool.namespace !== undefined && tool.about !== undefined)
      notes.set(tool.namespace, `About the tools whose names begin with ${inNames(tool.namespace)}__: ${tool.about}`)
  }
  if (notes.size === 0) return turns
  const first = turns.findIndex(({ role }) => role !== 'system')
  const at = first === -1 ? turns.length : first
  const note: Turn = { role: 'system', parts: Array.from(notes.values(), (text) => ({ type: 'text', text })) }
  return [...turns.slice(0, at), note, ...turns.slice(at)]
}

/** As it stands in the names that tools are sent under. */
const inNames = (namespace: string): string => namespace.replace(/[^a-zA-Z0-9_-]/g, '_')
