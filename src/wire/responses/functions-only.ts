// A request for servers that speak this wire and know functions alone: their vendor's other kinds of tools, and the
// namespaces that they stand in, become functions, in the conversation too. Nothing tells of it where such a server leaves
// out what it does not know.

import { asList, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { AssistantPart, UserPart } from '../../ir/part.ts'
import { placed, placeOf } from '../../ir/place.ts'
import type { ChatRequest, Tool, Turn } from '../../ir/request.ts'
import type { Undo } from '../codec.ts'
import { fullName } from '../tools/full-name.ts'
import { withFoundNames, withToolsFor } from '../tools/list.ts'
import { TEXT_SCHEMA, textDescription } from '../tools/text-tool.ts'
import { toolNames } from './names.ts'

/** Whether a body holds tools, or calls of them, that are no functions. */
export const holdsOtherTools = ({ tools, input }: JsonObject): boolean =>
  [...asList(tools), ...asList(input)].some((one) => isObject(one) && OTHERS.has(one.type))

const OTHERS = new Set<Json | undefined>([
  ...['custom', 'namespace', 'additional_tools', 'tool_search', 'local_shell', 'shell', 'apply_patch'],
  ...['custom_tool_call', 'tool_search_call', 'local_shell_call', 'shell_call', 'apply_patch_call'],
])

const at = <T extends object>(to: T, from: object): T => {
  const path = placeOf(from, '')
  return path === '' ? to : placed(to, path)
}

export const withFunctionsOnly = (original: ChatRequest): ChatRequest => {
  const request = withToolsFor(original, 'responses', true)
  const { toolChoice: choice } = request
  const named = <T extends { name: string; namespace?: string }>({ namespace, ...chosen }: T) => ({
    ...chosen,
    kind: 'function' as const,
    name: fullName(chosen.name, namespace),
  })
  return {
    ...request,
    tools: request.tools.map((tool) => at(functionOf(tool), tool)),
    turns: withFoundNames(request.turns, fullName).map((turn) => at(turnOf(turn), turn)),
    ...(choice?.type === 'tool' && { toolChoice: at(named(choice), choice) }),
    ...(choice?.type === 'allowed' && { toolChoice: { ...choice, tools: choice.tools.map(named) } }),
  }
}

/** What the functions' names stand for. */
export const undoOf = ({ tools }: ChatRequest, functions: ChatRequest): NonNullable<Undo['tools']> => {
  const { sent } = toolNames(functions)
  const own = tools.map((tool) => (tool.type === 'opaque' ? tool.asFunction : tool))
  return Object.fromEntries(
    own.flatMap((tool) => {
      if (tool === undefined) return []
      const { name, namespace, type: kind } = tool
      return [
        [sent(fullName(name, namespace), undefined), { name, kind, ...(namespace !== undefined && { namespace }) }],
      ]
    }),
  )
}

const functionOf = (tool: Tool): Tool => {
  if (tool.type === 'opaque') return { ...tool }
  const { namespace, about: _, ...rest } = tool
  const name = fullName(tool.name, namespace)
  if (rest.type === 'function') return { ...rest, name }
  const { format: __, ...known } = rest
  return { ...known, ...textDescription(rest), type: 'function', name, schema: TEXT_SCHEMA }
}

const turnOf = (turn: Turn): Turn => {
  if (turn.role === 'system') return { ...turn }
  return turn.role === 'user'
    ? { ...turn, parts: turn.parts.filter(isUnsaid).map(resultOf) }
    : { ...turn, parts: turn.parts.filter(isUnsaid).map(callOf) }
}

/** Items that add tools are said by the list. */
const isUnsaid = (part: AssistantPart | UserPart): boolean => part.type !== 'opaque' || part.met !== true

const callOf = (part: AssistantPart): AssistantPart => {
  if (part.type !== 'tool-call') return part
  const { namespace, native: _, itemId: __, ...call } = part
  const input = part.kind === 'custom' ? JSON.stringify({ input: part.input }) : part.input
  return at({ ...call, kind: 'function', name: fullName(part.name, namespace), input }, part)
}

const resultOf = (part: UserPart): UserPart => {
  if (part.type !== 'tool-result') return part
  const { native: _, ...result } = part
  return at({ ...result, kind: 'function' }, part)
}
