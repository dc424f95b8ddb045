// Tools, the choice among them, and their names, both ways. This wire has no namespaces, and few characters in names.

import { invalidRequest } from '../../errors.ts'
import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { placed, placeOf } from '../../ir/place.ts'
import type { ChosenTool, CustomTool, FunctionTool, Tool, ToolChoice } from '../../ir/request.ts'
import { given, optionalBoolean, optionalString, readArray, readName, readObject, readString } from '../read.ts'
import { foreignTool, unknownTool } from '../refusal/refusals.ts'
import { withinGrammar } from '../schema/limits.ts'
import { isClosed, objectRoot } from '../schema/object.ts'
import { withReadablePatterns } from '../schema/pattern.ts'
import { choiceKey, choicesOf } from '../tools/choice.ts'
import { schemaMember, withOptionalTools } from '../tools/list.ts'
import { flatFormat, TEXT_SCHEMA, textDescription } from '../tools/text-tool.ts'
import { SEARCH_MEMBER } from '../tools/web-search.ts'
import { decodeBreakpoint } from '../turns/breakpoint.ts'
import type { Outgoing } from './outgoing.ts'

export const decodeTools = (body: JsonObject): Tool[] => {
  const tools = given(body.tools)
    ? readArray(body.tools, 'tools').map((tool, at) => decodeTool(tool, `tools.${at}`))
    : []
  const marked = withOptionalTools([...tools, ...searchMember(body)], isAbility)
  if (!given(body.functions)) return marked
  return [
    ...marked,
    ...readArray(body.functions, 'functions').map((tool, at) =>
      placed(decodeFunction(tool, `functions.${at}`), `functions.${at}`),
    ),
  ]
}

/** The member that asks for the vendor's search, as a tool that its own wire does not list. */
const searchMember = ({ [SEARCH_MEMBER]: options }: JsonObject): Tool[] =>
  isObject(options)
    ? [
        placed<Tool>(
          {
            type: 'opaque',
            origin: 'chat-completions',
            value: { ...options, type: SEARCH_MEMBER },
            within: true,
          },
          SEARCH_MEMBER,
        ),
      ]
    : []

/** Whether a built-in tool of some server may be left out beside the client's own. */
const isAbility = ({ type }: JsonObject): boolean =>
  /^(?:openrouter:)?(?:web_search|image_generation)/.test(String(type))

/** Placed where its members are. */
const decodeTool = (raw: Json, path: string): Tool => {
  const tool = readObject(raw, path)
  if (isFlat(tool)) return placed(decodeFlat(tool, path), path)
  const inner = `${path}.${tool.type === 'custom' ? 'custom' : 'function'}`
  if (tool.type === 'custom') return placed(decodeCustom(tool.custom, inner), inner)
  // Some clients leave the type out.
  if (tool.type === 'function' || (tool.type === undefined && isObject(tool.function))) {
    const cache = isObject(tool.function) ? decodeBreakpoint(tool.function, inner) : {}
    return placed({ ...decodeFunction(tool.function, inner), ...cache, ...decodeBreakpoint(tool, path) }, inner)
  }
  readString(tool.type, `${path}.type`)
  return placed<Tool>({ type: 'opaque', origin: 'chat-completions', value: tool }, path)
}

/** In the form of the responses or the messages wire. */
const decodeFlat = (tool: JsonObject, path: string): FunctionTool | CustomTool => {
  if (tool.type === 'custom' && !isObject(tool.input_schema)) return decodeCustom(tool, path)
  const cache = decodeBreakpoint(tool, path)
  if (given(tool.parameters)) return { ...decodeFunction(tool, path), ...cache }
  const { schema, ...made } = decodeFunction(tool, path, 'input_schema')
  // The messages wire's vendor takes schemas that this wire's does not.
  return { ...made, ...(schema === undefined ? {} : { schema: rooted(schema, () => {}) }), ...cache }
}

/** Whether a tool has the form of the responses or the messages wire, as some editors send it here. */
export const isFlat = (tool: JsonObject): boolean => {
  const { type, name, input_schema: schema } = tool
  if (typeof name !== 'string') return false
  if (type === 'function' || type === 'custom') return tool[type] === undefined
  return (type === undefined || type === null) && isObject(schema)
}

const decodeFunction = (raw: Json | undefined, path: string, schema = 'parameters'): FunctionTool => {
  const { name, description, [schema]: parameters, strict } = readObject(raw, path)
  const tool: FunctionTool = { type: 'function', name: readName(name, `${path}.name`) }
  const about = optionalString(description, `${path}.description`)
  if (about !== undefined) tool.description = about
  if (given(parameters)) tool.schema = readObject(parameters, `${path}.${schema}`)
  const isStrict = optionalBoolean(strict, `${path}.strict`)
  if (isStrict !== undefined) tool.strict = isStrict
  return tool
}

const decodeCustom = (raw: Json | undefined, path: string): CustomTool => {
  const { name, description, format } = readObject(raw, path)
  const tool: CustomTool = { type: 'custom', name: readName(name, `${path}.name`) }
  const about = optionalString(description, `${path}.description`)
  if (about !== undefined) tool.description = about
  if (isObject(format)) tool.format = flatFormat(format)
  return tool
}

/** On this wire a grammar's members are nested. */
const nestFormat = (format: JsonObject): JsonObject => {
  if (format.type !== 'grammar') return { type: 'text' }
  const { syntax, definition } = format
  return { type: 'grammar', grammar: { syntax: syntax ?? 'lark', definition: definition ?? '' } }
}

/** Undefined where there is no choice, or one that only this wire has: see `opaqueChoice`. */
export const decodeToolChoice = (body: JsonObject): ToolChoice | undefined => {
  const legacy = !given(body.tool_choice)
  const choice = legacy ? body.function_call : ownChoice(body.tool_choice)
  const path = legacy ? 'function_call' : 'tool_choice'
  if (!given(choice)) return undefined
  if (choice === 'auto' || choice === 'none' || choice === 'required') return { type: choice }
  if (choice === 'any') return { type: 'required' }
  if (!isObject(choice)) throw invalidRequest(`'${path}' must be 'auto', 'none', 'required' or name a tool.`, path)
  if (legacy)
    return placed<ToolChoice>({ type: 'tool', kind: 'function', name: readString(choice.name, `${path}.name`) }, path)
  if (isSpecial(choice)) return allowedTools(choice)
  const kind = choice.type === 'custom' ? 'custom' : 'function'
  const named = choice[kind]
  const name = isObject(named) ? named.name : choice.name
  return { type: 'tool', kind, name: readString(name, `${path}.${kind}.name`) }
}

/** A choice in the messages wire's form as this wire's. */
const ownChoice = (choice: Json | undefined): Json | undefined => {
  if (!isObject(choice) || choice.function !== undefined) return choice
  if (choice.type === 'tool') return { type: 'function', name: readString(choice.name, 'tool_choice.name') }
  return choice.type === 'auto' || choice.type === 'any' || choice.type === 'none' ? choice.type : choice
}

/** A choice among some of the tools; undefined unless all of them are the client's own. */
const allowedTools = (choice: JsonObject): ToolChoice | undefined => {
  const allowed = isObject(choice.allowed_tools) ? choice.allowed_tools : undefined
  if (choice.type !== 'allowed_tools' || !Array.isArray(allowed?.tools) || allowed.tools.length === 0) return undefined
  const tools = allowed.tools.flatMap((tool) => {
    const kind = isObject(tool) && tool.type === 'custom' ? 'custom' : 'function'
    const named = isObject(tool) ? tool[kind] : undefined
    return isObject(named) && typeof named.name === 'string' ? [{ name: named.name, kind } as const] : []
  })
  if (tools.length < allowed.tools.length) return undefined
  return { type: 'allowed', required: allowed.mode === 'required', tools }
}

/** Whether only this wire has the choice. */
export const opaqueChoice = (raw: Json | undefined): boolean => {
  const choice = ownChoice(raw)
  return isObject(choice) && isSpecial(choice) && allowedTools(choice) === undefined
}

const isSpecial = (choice: JsonObject): boolean =>
  choice.type !== 'function' && choice.type !== 'custom' && choice.function === undefined

export const encodeTools = (tools: Tool[], out: Outgoing): JsonObject[] =>
  tools.flatMap((tool, at): JsonObject[] => {
    const path = placeOf(tool, `tools.${at}`)
    if (tool.type === 'opaque') {
      if (tool.origin === 'chat-completions') return [tool.value]
      if (tool.optional === true) {
        out.drop(path)
        return []
      }
      throw foreignTool(path)
    }
    const name = out.names.of(tool.name, tool.namespace)
    if (tool.type === 'custom' && out.quirks.noCustomTools)
      return [{ type: 'function', function: { name, ...textDescription(tool), parameters: TEXT_SCHEMA } }]
    const head: JsonObject = { name }
    if (tool.description !== undefined) head.description = tool.description
    if (tool.type === 'custom') {
      if (tool.format !== undefined) head.format = nestFormat(tool.format)
      return [{ type: 'custom', custom: head }]
    }
    if (tool.cache !== undefined) out.drop(`${path}.cache_control`)
    const drop = (member: string): void => out.drop(`${path}.${schemaMember(out.origin)}.${member}`)
    // Some servers want the arguments of a tool that takes none, too.
    const schema = out.verbatim ? tool.schema : rooted(tool.schema, drop)
    if (schema !== undefined) head.parameters = withinGrammar(schema, out.quirks)
    const lax = out.origin === 'messages' && tool.strict === true && !isClosed(tool.schema)
    if (lax) out.drop(`${path}.strict`)
    else if (tool.strict !== undefined) head.strict = tool.strict
    return [{ type: 'function', function: head }]
  })

/** As `objectRoot`, with properties and with patterns that are read: the vendor refuses parameters otherwise. */
export const rooted = (schema: JsonObject | undefined, drop: (member: string) => void): JsonObject => {
  const root = withReadablePatterns(objectRoot(schema, drop))
  return isObject(root.properties) ? root : { ...root, properties: {} }
}

export const encodeToolChoice = (choice: ToolChoice, tools: Tool[], out: Outgoing): Json => {
  const sent = new Map<string, string>()
  for (const tool of tools) {
    if (tool.type === 'opaque') continue
    for (const key of choicesOf(tool)) if (!sent.has(key)) sent.set(key, out.names.of(tool.name, tool.namespace))
  }
  const named = (wanted: ChosenTool): JsonObject => {
    const name = sent.get(choiceKey(wanted))
    if (name === undefined) throw unknownTool(choice, wanted.name)
    const kind = out.quirks.noCustomTools ? 'function' : wanted.kind
    return { type: kind, [kind]: { name } }
  }
  switch (choice.type) {
    case 'tool':
      return named(choice)
    case 'allowed': {
      const mode = choice.required ? 'required' : 'auto'
      return { type: 'allowed_tools', allowed_tools: { mode, tools: choice.tools.map(named) } }
    }
    default:
      return choice.type
  }
}
