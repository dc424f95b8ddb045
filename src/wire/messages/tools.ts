// Tools and the choice among them, in both directions.

import { invalidRequest } from '../../errors.ts'
import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { placed, placeOf } from '../../ir/place.ts'
import type { Quirks } from '../../ir/quirks.ts'
import type { ChatRequest, FunctionTool, Tool, ToolChoice } from '../../ir/request.ts'
import { optionalBoolean, optionalObject, optionalString, readName, readObject } from '../read.ts'
import { foreignTool, noTools, unknownTool } from '../refusal/refusals.ts'
import { objectRoot } from '../schema/object.ts'
import { choiceKey, choicesOf } from '../tools/choice.ts'
import { schemaMember } from '../tools/list.ts'
import { TEXT_SCHEMA, textDescription } from '../tools/text-tool.ts'
import { mostCalls, SEARCH, searchFor } from '../tools/web-search.ts'
import { withAcceptedNames } from './argument-names.ts'
import { definitionOf } from './client-tools.ts'
import { cacheOf } from './decode-content.ts'
import type { Dropped } from './dropped.ts'
import { mark } from './encode-parts.ts'
import type { Collected, Extras } from './extras.ts'
import type { Names } from './names.ts'
import { type StrictRoom, strictSchema } from './output-schema.ts'

const CLIENT_TOOL = new Set(['type', 'name', 'cache_control'])
const FUNCTION = new Set(['type', 'name', 'description', 'input_schema', 'strict', 'cache_control'])

export const decodeTool = (raw: Json | undefined, path: string, extras: Collected): Tool => {
  const tool = readObject(raw, path)
  const type = optionalString(tool.type, `${path}.type`)
  if (type !== undefined && type !== 'custom') {
    const definition = definitionOf(type)
    if (definition !== undefined) {
      extras.rest(tool, CLIENT_TOOL, path)
      const name = readName(tool.name, `${path}.name`)
      return {
        type: 'opaque',
        origin: 'messages',
        value: tool,
        asFunction: { type: 'function', name, ...definition, ...cacheOf(tool, path) },
      }
    }
    // Tool search only keeps the list short: other wires get all tools at once.
    const isOptional = type.startsWith('tool_search_tool_')
    // One with a schema is the client's own, whatever its library calls it.
    if (!isObject(tool.input_schema))
      return { type: 'opaque', origin: 'messages', value: tool, ...(isOptional ? { optional: true } : {}) }
  }
  extras.rest(tool, FUNCTION, path)
  const description = optionalString(tool.description, `${path}.description`)
  const schema = optionalObject(tool.input_schema, `${path}.input_schema`)
  const strict = optionalBoolean(tool.strict, `${path}.strict`)
  return {
    type: 'function',
    name: readName(tool.name, `${path}.name`),
    ...(description === undefined ? {} : { description }),
    ...(schema === undefined ? {} : { schema }),
    ...(strict === undefined ? {} : { strict }),
    ...cacheOf(tool, path),
  }
}

export const decodeTools = (list: Json[], extras: Collected): Tool[] =>
  list.map((raw, at) => placed(decodeTool(raw, `tools.${at}`, extras), `tools.${at}`))

/** Whether a built-in tool may be left out beside the client's own. `choice`: the body's `tool_choice`. */
export const canGo =
  (choice: Json | undefined) =>
  ({ type, name }: JsonObject): boolean =>
    /^(?:web_search|advisor)_/.test(String(type)) && name !== (isObject(choice) ? choice.name : undefined)

export const decodeToolChoice = (raw: Json | undefined): { toolChoice?: ToolChoice; parallelTools?: boolean } => {
  const choice = optionalObject(raw, 'tool_choice')
  if (choice === undefined) return {}
  const disabled = optionalBoolean(choice.disable_parallel_tool_use, 'tool_choice.disable_parallel_tool_use')
  const parallel = disabled === undefined ? {} : { parallelTools: !disabled }
  switch (choice.type) {
    case 'auto':
      return { toolChoice: { type: 'auto' }, ...parallel }
    case 'any':
      return { toolChoice: { type: 'required' }, ...parallel }
    case 'none':
      return { toolChoice: { type: 'none' } }
    case 'tool':
      return {
        toolChoice: { type: 'tool', name: readName(choice.name, 'tool_choice.name'), kind: 'function' },
        ...parallel,
      }
    default:
      throw invalidRequest("'tool_choice.type' must be auto, any, tool or none.", 'tool_choice.type')
  }
}

/**
 * The tools a request is sent with, and the choice among them. `jsonTool`: the tool used for structured output. Throws
 * `invalid_request` for a tool that only its own provider has, and for the choice of one that is not there.
 */
export const encodeToolUse = (
  request: ChatRequest,
  names: Names,
  jsonTool: { name: string; tool: JsonObject } | undefined,
  context: Context,
): { tools: JsonObject[]; choice: JsonObject | undefined } => {
  const tools = encodeTools(request, names, context)
  if (jsonTool !== undefined) tools.push(jsonTool.tool)
  const historic = tools.length === 0 && request.origin !== 'messages' ? historicTools(request, names) : []
  return historic.length > 0
    ? { tools: historic, choice: { type: 'none' } }
    : { tools, choice: unforced(encodeToolChoice(request, names, tools, jsonTool?.name), request, context) }
}

/** The choice, left to the model where it cannot be forced. */
const unforced = (
  choice: JsonObject | undefined,
  { toolChoice }: ChatRequest,
  { quirks, dropped }: Context,
): JsonObject | undefined => {
  if (!quirks.noForcedTools || !forces(choice)) return choice
  dropped.path(placeOf(toolChoice ?? {}, 'tool_choice'))
  const { name: _, ...rest } = choice ?? {}
  return { ...rest, type: 'auto' }
}

/** The provider's limit on strict tools in one request. */
const MAX_STRICT = 20

type Context = { extras: Extras; room: StrictRoom; dropped: Dropped; quirks: Quirks }

const encodeTools = (request: ChatRequest, names: Names, { extras, room, dropped, quirks }: Context): JsonObject[] => {
  const own = request.origin === 'messages'
  const takesStrict = quirks.rejectsOfBetas?.includes('tools.strict') !== true
  let strict = 0
  // Names are unique: a function of the client's has it before the search.
  let isNamed = request.tools.some((_, at) => names.at(at) === SEARCH)
  return request.tools.flatMap((tool, at): JsonObject[] => {
    const path = placeOf(tool, `tools.${at}`)
    if (tool.type === 'opaque') {
      if (tool.origin === 'messages') return [tool.value]
      const search = isNamed ? undefined : searchFor('messages', tool, quirks)
      if (search !== undefined) {
        isNamed = true
        for (const member of search.lost) dropped.path(`${path}.${member}`)
        const most = search.most ?? mostCalls(request)
        return [most === undefined ? search.tool : { ...search.tool, max_uses: most }]
      }
      if (tool.optional !== true) throw foreignTool(path)
      dropped.path(path)
      return []
    }
    const name = names.at(at)
    if (name === undefined) {
      dropped.path(path)
      return []
    }
    if (tool.type === 'custom') return [{ name, ...textDescription(tool), input_schema: TEXT_SCHEMA }]
    const drop = (member: string): void => dropped.path(`${path}.${member}`)
    if (own) return [extras.restore(path, encodeOwnFunction(tool, name, drop))]
    const isStrict = tool.strict === true && takesStrict && strict++ < MAX_STRICT
    if (tool.strict === true && !isStrict) drop('strict')
    const root = objectRoot(tool.schema, (member) => drop(`parameters.${member}`))
    const schema = withAcceptedNames(root, name, names.replacedArguments)
    const narrowed = isStrict ? strictSchema(schema, room) : undefined
    if (isStrict && narrowed === undefined) drop('strict')
    return [encodeFunction(tool, name, schema, narrowed)]
  })
}

/** A function of a client of this wire. */
const encodeOwnFunction = (tool: FunctionTool, name: string, drop: (member: string) => void): JsonObject => ({
  name,
  ...(tool.description === undefined ? {} : { description: tool.description }),
  input_schema: objectRoot(tool.schema, (member) => drop(`${schemaMember('messages')}.${member}`)),
  ...(tool.strict === undefined ? {} : { strict: tool.strict }),
  ...mark(tool.cache),
})

/** A function of another wire's client. `narrowed`: its strict schema, where it has one. */
const encodeFunction = (
  tool: FunctionTool,
  name: string,
  schema: JsonObject,
  narrowed: JsonObject | undefined,
): JsonObject => ({
  name,
  ...(tool.description === undefined || tool.description === '' ? {} : { description: tool.description }),
  input_schema: narrowed ?? schema,
  ...(narrowed === undefined ? {} : { strict: true }),
  ...mark(tool.cache),
})

/** Whether the choice forces a call: the provider refuses to think then. */
export const forces = (choice: JsonObject | undefined): boolean => choice?.type === 'any' || choice?.type === 'tool'

/** This provider has no choice among some of the tools: the others are left out. */
export const withAllowedTools = (request: ChatRequest): ChatRequest => {
  const choice = request.toolChoice
  if (choice?.type !== 'allowed') return request
  const allowed = new Set(choice.tools.map(choiceKey))
  const readable = request.tools.filter((tool) => tool.type !== 'opaque')
  const tools = readable.filter((tool) => choicesOf(tool).some((key) => allowed.has(key)))
  const there = new Set(tools.map(({ name }) => name))
  const lost = choice.tools.find(({ name }) => !there.has(name))
  if (lost !== undefined) throw unknownTool(choice, lost.name)
  return { ...request, tools, toolChoice: { type: choice.required ? 'required' : 'auto' } }
}

/** `jsonTool`: the name of the tool used for structured output. */
const encodeToolChoice = (
  request: ChatRequest,
  names: Names,
  tools: JsonObject[],
  jsonTool: string | undefined,
): JsonObject | undefined => {
  const parallel = request.parallelTools === undefined ? {} : { disable_parallel_tool_use: !request.parallelTools }
  const { cachedChoice: { choice } = { choice: request.toolChoice } } = request
  if (jsonTool !== undefined) {
    const alone = tools.length === 1 || choice?.type === 'none'
    // An answer and a call at once would be neither.
    return { ...(alone ? { type: 'tool', name: jsonTool } : { type: 'any' }), disable_parallel_tool_use: true }
  }
  if (choice === undefined) {
    return request.parallelTools === false && tools.length > 0 ? { type: 'auto', ...parallel } : undefined
  }
  if (choice.type === 'tool') return { type: 'tool', name: chosen(request, choice, names), ...parallel }
  if (tools.length === 0) {
    if (choice.type !== 'required') return undefined
    throw noTools(choice)
  }
  switch (choice.type) {
    case 'none':
      return { type: 'none' }
    case 'auto':
      return { type: 'auto', ...parallel }
    case 'required':
    case 'allowed':
      return { type: 'any', ...parallel }
  }
}

const chosen = (request: ChatRequest, choice: Extract<ToolChoice, { type: 'tool' }>, names: Names): string => {
  const wanted = choiceKey(choice)
  const at = request.tools.findIndex((tool) => tool.type !== 'opaque' && choicesOf(tool).includes(wanted))
  const sent = at === -1 ? names.of(choice.name, choice.namespace) : names.at(at)
  const known = request.tools.some((tool, index) =>
    tool.type === 'opaque'
      ? tool.value.name === choice.name || (choice.name === SEARCH && searchFor('messages', tool, {}) !== undefined)
      : names.at(index) === sent,
  )
  if (sent === undefined || !known) throw unknownTool(choice, choice.name)
  return sent
}

/** Tools that the conversation has called and the request no longer offers: the provider requires them, with any schema. */
const historicTools = (request: ChatRequest, names: Names): JsonObject[] => {
  const called = new Set<string>()
  for (const turn of request.turns) {
    if (turn.role !== 'assistant') continue
    for (const part of turn.parts) if (part.type === 'tool-call') called.add(names.of(part.name, part.namespace))
  }
  return [...called].map((name) => ({ name, input_schema: { type: 'object' } }))
}
