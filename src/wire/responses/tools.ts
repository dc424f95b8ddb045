// Decodes and encodes tools and the tool choice. Functions, custom tools and namespaces of both are decoded; all others are
// the provider's own and stay opaque.

import { invalidRequest } from '../../errors.ts'
import { asList, asObject, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { placed, placeOf } from '../../ir/place.ts'
import type {
  ChatRequest,
  ChosenTool,
  CustomTool,
  FunctionTool,
  OpaqueMember,
  Tool,
  ToolChoice,
} from '../../ir/request.ts'
import { given, optionalBoolean, optionalObject, optionalString, readName, readObject } from '../read.ts'
import { foreignTool, unknownTool } from '../refusal/refusals.ts'
import { isClosed, objectRoot } from '../schema/object.ts'
import { withReadablePatterns } from '../schema/pattern.ts'
import { choiceKey, choicesOf } from '../tools/choice.ts'
import { schemaMember } from '../tools/list.ts'
import { flatFormat } from '../tools/text-tool.ts'
import { isSearchType, SEARCH, searchFor } from '../tools/web-search.ts'
import { dropMark } from '../turns/breakpoint.ts'
import { CLIENT_MEMBERS, type ClientTools, clientTool, toFunction } from './client-tools.ts'
import { keepRest } from './opaque.ts'
import type { Outgoing } from './outgoing.ts'

const FUNCTION_MEMBERS = new Set(['type', 'name', 'description', 'parameters', 'strict'])
const CUSTOM_MEMBERS = new Set(['type', 'name', 'description', 'format'])
const GRAMMAR = new Set(['type', 'syntax', 'definition', 'grammar'])

export const decodeTools = (tools: readonly Json[], opaque: OpaqueMember[], own: ClientTools, list = 'tools'): Tool[] =>
  tools.flatMap((value, at): Tool[] => {
    const path = `${list}.${at}`
    const tool = readObject(value, path)
    const type = readName(tool.type, `${path}.type`)
    if (type === 'function' || type === 'custom') return [placed(decodeTool(tool, { type, path }, opaque, own), path)]
    if (type === 'namespace' && Array.isArray(tool.tools) && tool.tools.length > 0 && tool.tools.every(isReadable)) {
      const name = readName(tool.name, `${path}.name`)
      const about = optionalString(tool.description, `${path}.description`)
      const namespace: Namespace = { namespace: name, ...(about && about !== name ? { about } : {}) }
      return tool.tools.filter(isReadable).map((inner, number) => {
        const kind = inner.type === 'custom' ? 'custom' : 'function'
        const place = `${path}.tools.${number}`
        return placed(decodeTool(inner, { type: kind, path: place, namespace }, opaque, own), place)
      })
    }
    const kind = clientTool(tool)
    if (kind === undefined) {
      const missable = isEmptyNamespace(tool) ? { optional: true as const } : {}
      return [placed({ type: 'opaque', origin: 'responses', value: tool, ...missable }, path)]
    }
    keepRest(tool, CLIENT_MEMBERS[kind], path, opaque)
    const elsewhere = toFunction(kind, tool, own.nameOf(kind))
    return [placed({ type: 'opaque', origin: 'responses', value: tool, asFunction: elsewhere }, path)]
  })

/** Whether a built-in tool may be left out beside the client's own. */
export const isAbility = (tool: JsonObject): boolean =>
  typeof tool.type === 'string' &&
  /^(web_search|tool_search|image_generation|programmatic_tool_calling)/.test(tool.type) &&
  clientTool(tool) === undefined

const isReadable = (tool: Json): tool is JsonObject =>
  isObject(tool) && (tool.type === 'function' || tool.type === 'custom')

/** Agents send the namespaces of servers that offer nothing, too. */
const isEmptyNamespace = ({ type, tools }: JsonObject): boolean =>
  type === 'namespace' && Array.isArray(tools) && tools.length === 0

type Namespace = Pick<FunctionTool, 'namespace' | 'about'>

type Listed = { type: 'function' | 'custom'; path: string; namespace?: Namespace }

const decodeTool = (
  tool: JsonObject,
  { type, path, namespace }: Listed,
  opaque: OpaqueMember[],
  own: ClientTools,
): FunctionTool | CustomTool => {
  const known = type === 'function' ? FUNCTION_MEMBERS : CUSTOM_MEMBERS
  const { defer_loading: deferred, ...rest } = tool
  keepRest(rest, known, path, opaque)
  const waits = own.defers(tool)
  if (given(deferred)) {
    const met = waits ? { met: true as const } : {}
    opaque.push({ name: `${path}.defer_loading`, value: deferred, essential: false, ...met })
  }
  const description = optionalString(tool.description, `${path}.description`)
  const common = {
    name: readName(tool.name, `${path}.name`),
    ...namespace,
    ...(description === undefined ? {} : { description }),
    ...(waits ? { gone: true as const } : {}),
  }
  if (type === 'custom') {
    const format = optionalObject(tool.format, `${path}.format`)
    if (format !== undefined) keepRest(format, GRAMMAR, `${path}.format`, opaque)
    return { type, ...common, ...(format === undefined ? {} : { format: flatFormat(format) }) }
  }
  const schema = optionalObject(tool.parameters, `${path}.parameters`)
  const strict = optionalBoolean(tool.strict, `${path}.strict`)
  return { type, ...common, ...(schema === undefined ? {} : { schema }), ...(strict === undefined ? {} : { strict }) }
}

export const encodeTools = (tools: readonly Tool[], out: Outgoing): JsonObject[] => {
  const encoded: JsonObject[] = []
  let group: { name: string; tools: JsonObject[] } | undefined
  tools.forEach((tool, at) => {
    const path = placeOf(tool, `tools.${at}`)
    if (tool.type === 'opaque') {
      if (tool.origin === 'responses' && !(out.quirks.noCustomTools === true && tool.optional === true)) {
        group = undefined
        encoded.push(tool.value)
        return
      }
      const search = searchFor('responses', tool, out.quirks)
      if (search !== undefined) {
        group = undefined
        encoded.push(search.tool)
        for (const member of search.lost) out.drop(`${path}.${member}`)
        return
      }
      if (tool.optional !== true) throw foreignTool(path)
      out.drop(path)
      return
    }
    const { namespace, about = namespace } = tool
    if (namespace === undefined) {
      group = undefined
      encoded.push(encodeTool(tool, path, out))
      return
    }
    if (group?.name !== namespace) {
      group = { name: namespace, tools: [] }
      encoded.push({ type: 'namespace', name: namespace, description: about, tools: group.tools })
    }
    group.tools.push(encodeTool(tool, path, out))
  })
  return encoded
}

const encodeTool = (tool: FunctionTool | CustomTool, path: string, out: Outgoing): JsonObject => {
  const common = {
    name: out.names.sent(tool.name, tool.namespace),
    ...(tool.description === undefined ? {} : { description: tool.description }),
  }
  if (tool.type === 'custom') {
    return { type: 'custom', ...common, ...(tool.format === undefined ? {} : { format: tool.format }) }
  }
  dropMark(tool, path, out)
  const unenforceable = out.origin === 'messages' && tool.strict === true && !isClosed(tool.schema)
  if (unenforceable) out.drop(`${path}.strict`)
  return {
    type: 'function',
    ...common,
    parameters: encodeParameters(tool, path, out),
    // An absent `strict` means true on this wire and false on the others.
    strict: unenforceable ? false : (tool.strict ?? (out.own ? null : false)),
  }
}

const encodeParameters = ({ schema }: FunctionTool, path: string, out: Outgoing): JsonObject | null => {
  if (out.verbatim) return schema === undefined ? null : encodeSchema(schema)
  const root = objectRoot(schema, (member) => out.drop(`${path}.${schemaMember(out.origin)}.${member}`))
  return encodeSchema(withReadablePatterns(root))
}

/** Adds `type` and `properties`, without which the provider refuses the schema. */
export const encodeSchema = (schema: JsonObject): JsonObject => {
  if (schema.type === 'object' && isObject(schema.properties)) return schema
  if (given(schema.type) && schema.type !== 'object') return schema
  return { ...schema, type: 'object', properties: asObject(schema.properties) }
}

/** Undefined for a choice that only this wire's provider understands, which is kept as an essential member. */
export const decodeToolChoice = (
  value: Json | undefined,
  opaque: OpaqueMember[],
  own: ClientTools,
  tools: readonly Tool[] = [],
): ToolChoice | undefined => {
  if (!given(value)) return undefined
  if (value === 'auto' || value === 'none' || value === 'required') return { type: value }
  if (!isObject(value)) {
    throw invalidRequest("'tool_choice' must be auto, none, required or an object that names a tool.", 'tool_choice')
  }
  const type = readName(value.type, 'tool_choice.type')
  if (type === 'function' || type === 'custom') {
    return { type: 'tool', name: readName(value.name, 'tool_choice.name'), kind: type, ...spaceIn(value) }
  }
  const searches = isSearchType('responses', type)
  if (searches && tools.some((tool) => tool.type === 'opaque' && isSearchType('responses', tool.value.type)))
    return { type: 'tool', name: SEARCH, kind: 'function' }
  const chosen = chosenTool(value, own)
  if (chosen !== undefined) return { type: 'tool', ...chosen }
  const allowed = allowedTools(value, own)
  const isComplete = asList(value.tools).length === allowed?.tools.length
  if (!isComplete) opaque.push({ name: 'tool_choice', value, essential: allowed === undefined })
  return allowed
}

/** Lists the tools that a choice names, also where the client's search has not found them yet. */
export const listChosen = (choice: ToolChoice | undefined, tools: readonly Tool[]): void => {
  const chosen = choice?.type === 'tool' ? [choice] : choice?.type === 'allowed' ? choice.tools : []
  if (chosen.length === 0) return
  // Whatever the kind: of a choice that is of another the client is told.
  const keyed = tools.flatMap((tool) =>
    tool.type === 'opaque' ? [] : choicesOf({ ...tool, type: 'custom' }).map((key) => ({ key, tool })),
  )
  const byKey = Map.groupBy(keyed, ({ key }) => key)
  for (const key of new Set(chosen.map((one) => choiceKey({ ...one, kind: 'custom' })))) {
    const same = byKey.get(key) ?? []
    if (same.every(({ tool }) => tool.gone === true)) delete same.at(-1)?.tool.gone
  }
}

/** Tells other vendors' models what the client's search can find: in one tool, however often the search is listed. */
export const tellDeferred = (tools: readonly Tool[], own: ClientTools): void => {
  if (own.offered('tool_search') === undefined) return
  const search = tools.find(
    (tool) => tool.type === 'opaque' && tool.gone !== true && tool.value.type === 'tool_search' && tool.asFunction,
  )
  if (search?.type !== 'opaque' || search.asFunction === undefined) return
  search.asFunction.description = [search.asFunction.description, ...own.deferred()].join('\n\n')
}

/** The client's tool that a choice names: client-run tools are named by their type alone. */
const chosenTool = (choice: JsonObject, own: ClientTools): ChosenTool | undefined => {
  const { type, name } = choice
  if (type === 'function' || type === 'custom')
    return typeof name === 'string' ? { name, kind: type, ...spaceIn(choice) } : undefined
  const kind = own.offered(type)
  return kind === undefined ? undefined : { name: own.nameOf(kind), kind: 'function' }
}

/** The published types of a choice have no namespace. Where one is told, it is meant. */
const spaceIn = ({ namespace }: JsonObject): { namespace?: string } =>
  typeof namespace === 'string' && namespace !== '' ? { namespace } : {}

type Allowed = Extract<ToolChoice, { type: 'allowed' }>

/** A choice among some of the tools; undefined where one of them is neither the client's nor optional. */
const allowedTools = ({ type, mode, tools }: JsonObject, own: ClientTools): Allowed | undefined => {
  if (type !== 'allowed_tools' || !Array.isArray(tools)) return undefined
  const needed = tools.filter((tool) => !isObject(tool) || !isAbility(tool) || own.offered(tool.type) !== undefined)
  const named = needed.flatMap((tool) => (isObject(tool) ? (chosenTool(tool, own) ?? []) : []))
  return named.length === 0 || named.length < needed.length
    ? undefined
    : { type: 'allowed', required: mode === 'required', tools: named }
}

export const encodeToolChoice = (choice: ToolChoice, request: ChatRequest, out: Outgoing): Json => {
  const kinds = new Map<string, 'function' | 'custom'>()
  const standIns = new Map<string, Json | undefined>()
  let searches = false
  for (const tool of request.tools) {
    if (tool.type === 'opaque') {
      if (tool.asFunction !== undefined) standIns.set(tool.asFunction.name, tool.value.type)
      else if (out.own && isSearchType('responses', tool.value.type)) standIns.set(SEARCH, tool.value.type)
      else if (searchFor('responses', tool, out.quirks) !== undefined) searches = true
    } else if (!kinds.has(tool.name)) kinds.set(tool.name, tool.type)
  }
  const named = ({ name, kind, namespace }: ChosenTool): JsonObject => {
    const listed = kinds.get(name)
    const own = standIns.get(name)
    if (listed === undefined && own !== undefined) return { type: own }
    if (listed === undefined && !out.own) throw unknownTool(choice, name)
    const space = namespace === undefined ? {} : { namespace }
    return { type: listed ?? kind, name: out.names.sent(name, namespace), ...space }
  }
  switch (choice.type) {
    case 'tool':
      // The vendor's list of types for a choice lacks its own search: it is the one tool that may be called.
      if (searches && choice.name === SEARCH && !kinds.has(SEARCH))
        return request.tools.length === 1
          ? 'required'
          : { type: 'allowed_tools', mode: 'required', tools: [{ type: SEARCH }] }
      return named(choice)
    case 'allowed':
      return { type: 'allowed_tools', mode: choice.required ? 'required' : 'auto', tools: choice.tools.map(named) }
    default:
      return choice.type
  }
}
