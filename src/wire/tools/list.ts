// Which of a request's tools are sent in the provider's list: the conversation itself may add and remove tools, and some
// may be left out.

import type { JsonObject } from '../../ir/json.ts'
import type { UserPart } from '../../ir/part.ts'
import { placed, placeOf } from '../../ir/place.ts'
import type { ChatRequest, Tool, Turn } from '../../ir/request.ts'
import type { ChatWire } from '../../ir/wire.ts'

/**
 * The tools, built-in ones marked `optional` where the client has tools of its own: agents add those to every request, and
 * the conversation works without them. Alone they are the purpose of the request. `canGo`: which built-in ones, by the
 * client's own form.
 */
export const withOptionalTools = (tools: readonly Tool[], canGo: (tool: JsonObject) => boolean): Tool[] => {
  const hasOwn = tools.some((tool) => tool.type !== 'opaque' || tool.asFunction !== undefined)
  return tools.map((tool, at) =>
    hasOwn && tool.type === 'opaque' && canGo(tool.value)
      ? placed({ ...tool, optional: true }, placeOf(tool, `tools.${at}`))
      : tool,
  )
}

/** The wire's member for the schema of a tool's arguments. */
export const schemaMember = (origin: ChatWire): string => (origin === 'messages' ? 'input_schema' : 'parameters')

/**
 * The request with the tools for the list of a provider of `wire`. On the client's own wire the conversation keeps adding
 * and removing tools. On any other the list is as it stands at the end of the conversation, client-run tools become
 * functions, and descriptions of namespaces become system messages. `functionsOnly`: so it is on the own wire, too.
 */
export const withToolsFor = (request: ChatRequest, wire: ChatWire, functionsOnly = false): ChatRequest => {
  if (request.origin === wire && !functionsOnly) {
    const tools = request.tools.filter(({ within }) => within !== true)
    return tools.length === request.tools.length ? request : { ...request, tools }
  }
  const tools = request.tools.flatMap((tool, at): Tool[] => {
    if (tool.gone === true) return []
    return [
      tool.type === 'opaque' && tool.asFunction !== undefined
        ? placed(tool.asFunction, placeOf(tool, `tools.${at}`))
        : tool,
    ]
  })
  return { ...request, tools, turns: withNotes(request.turns, tools) }
}

/** Adds the descriptions of namespaces after the system turns that open the conversation. */
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

/** The namespace as it appears in the names of the tools that are sent. */
const inNames = (namespace: string): string => namespace.replace(/[^a-zA-Z0-9_-]/g, '_')

/** The turns with the tools that the client's searches found in words. `sentName`: the name that a tool is sent under. */
export const withFoundNames = (
  turns: Turn[],
  sentName: (name: string, namespace: string | undefined) => string,
): Turn[] => {
  const told = (part: UserPart): UserPart => {
    if (part.type !== 'tool-result' || part.found === undefined) return part
    const names = part.found.map(({ name, namespace }) => sentName(name, namespace))
    const text =
      names.length === 0 ? NOTHING_FOUND : `Tools found, which can be called from now on: ${names.join(', ')}`
    return placed({ ...part, parts: [{ type: 'text', text }] }, placeOf(part, 'input'))
  }
  return turns.map((turn, at) =>
    turn.role === 'user' && turn.parts.some((part) => part.type === 'tool-result' && part.found !== undefined)
      ? placed({ ...turn, parts: turn.parts.map(told) }, placeOf(turn, `input.${at}`))
      : turn,
  )
}

const NOTHING_FOUND = 'No tool was found.'
