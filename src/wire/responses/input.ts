// Decodes the client's input, a flat list of items, to turns. Messages are turns of their own; what a model produced in one
// answer (thoughts, calls, a message) is one assistant turn, and results sent together are one user turn.

import { invalidRequest } from '../../errors.ts'
import { asList, asText, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { AssistantPart, ContentPart, FoundTool, OpaquePart, ToolCallPart, ToolResultPart } from '../../ir/part.ts'
import { placed, placeOf } from '../../ir/place.ts'
import type { OpaqueMember, Tool, Turn } from '../../ir/request.ts'
import { isStepOver, type Steps } from '../../lib/steps.ts'
import { given, optionalArray, optionalString, readName, readObject, readString } from '../read.ts'
import { UNKNOWN_ITEM } from '../refusal/unknown-reference.ts'
import { toolKey } from '../tools/full-name.ts'
import { shownTurn } from '../turns/shown-turn.ts'
import { SEALED_ADVICE } from '../turns/summary.ts'
import { calledTool, clientResult, decodeClientCall, isClientSearch, searchResult, shellText } from './client-calls.ts'
import type { ClientTools } from './client-tools.ts'
import { instruction, summaryIn } from './compaction.ts'
import { decodeContent, decodePart } from './content.ts'
import { plainText } from './encrypted.ts'
import { argumentsText, decodeText } from './output.ts'
import { openReasoning } from './reasoning.ts'
import { updatedEffort } from './settings.ts'
import { decodeTools } from './tools.ts'
import { ITEMS, listUnread, SAID } from './unread.ts'

type Assistant = Extract<Turn, { role: 'assistant' }>
type User = Extract<Turn, { role: 'user' }>

/** Items that refer to what this wire's provider stores: the request would mean something else without them. */
const ESSENTIAL = new Set(['item_reference', 'mcp_approval_response'])

const ADVICE: { [type: string]: string } = {
  item_reference: UNKNOWN_ITEM,
  compaction: SEALED_ADVICE,
}

/** Types of items that a client writes: they stay in the current turn. All others are the model's. */
const FROM_CLIENT = /(_output|_response|_trigger|_update|_reference|additional_tools)$/

/** `tools`: the request's list, to which items of the conversation may add. `own`: the client-run tools among them. */
export function* decodeInput(
  input: Json | undefined,
  opaque: OpaqueMember[],
  tools: Tool[],
  own: ClientTools,
): Steps<Turn[]> {
  if (!given(input)) return []
  if (typeof input === 'string')
    return [placed({ role: 'user', parts: [placed({ type: 'text', text: input }, 'input')] }, 'input')]
  if (!Array.isArray(input)) throw invalidRequest("'input' must be a string or an array.", 'input')
  const turns: Turn[] = []
  /** The index in `tools` of each tool by its name. */
  const listed = new Map(tools.map((tool, at) => [keyOf(tool), at]))
  /** The call ids of client-run tools by item id: outputs of the oldest type may refer to either. */
  const callIds = new Map<Json | undefined, string>()
  const called = new Map<Json | undefined, JsonObject>()
  /** Ids of calls that the provider made or ran, whose outputs stay opaque, too. */
  const elsewhere = new Set<Json | undefined>()
  /** The user turn that collects consecutive results. */
  let results: User | undefined

  const open = (turn: Turn): Turn => {
    results = undefined
    turns.push(turn)
    return turn
  }
  const assistant = (): Assistant => {
    const last = turns.at(-1)
    if (last?.role === 'assistant') return last
    const turn: Assistant = { role: 'assistant', parts: [] }
    open(turn)
    return turn
  }
  const result = (part: ToolResultPart): void => {
    if (results === undefined) {
      const turn: User = { role: 'user', parts: [] }
      open(turn)
      results = turn
    }
    results.parts.push(part)
  }
  /** The last item that is kept whole. */
  let whole: JsonObject | undefined
  const keep = (item: JsonObject, type: string, path: string, met = false): void => {
    if (!met) whole = item
    const part: OpaquePart = placed({ type: 'opaque', origin: 'responses', value: item, ...(met ? { met } : {}) }, path)
    if (FROM_CLIENT.test(type)) (turns.at(-1) ?? open({ role: 'user', parts: [] })).parts.push(part)
    else assistant().parts.push(part)
  }

  const keepEssential = (item: JsonObject, type: string, path: string): void => {
    const advice = ADVICE[type]
    opaque.push({ name: path, value: item, essential: true, ...(advice === undefined ? {} : { advice }) })
    keep(item, type, path)
  }

  const read = (value: Json, at: number): void => {
    const path = `input.${at}`
    const item = readObject(value, path)
    const type = itemType(item, path)
    switch (type) {
      case 'message': {
        const turn = placed(decodeMessage(item, path, opaque), path)
        if (turn.role !== 'assistant') {
          open(turn)
          break
        }
        const last = turns.at(-1)
        if (turn.parts.length > 0 && last?.role === 'assistant' && !last.parts.some(isSaid)) {
          last.parts.push(...turn.parts)
          if (turn.phase !== undefined) Object.assign(placed(last, path), { phase: turn.phase })
        } else if (turn.parts.length > 0) {
          open(turn)
        }
        const shown = decodeShown(item.content, `${path}.content`, opaque)
        if (shown.length > 0) open(placed(shownTurn(shown), path))
        break
      }
      case 'agent_message':
        open(placed(decodeAgentMessage(item, path, opaque), path))
        break
      case 'reasoning':
        assistant().parts.push(placed(openReasoning(item), path))
        break
      case 'function_call':
      case 'custom_tool_call':
        // The results of calls made by the provider's program go to that program: other providers cannot use them.
        if (fromProgram(item)) {
          elsewhere.add(item.call_id)
          keep(item, type, path)
          break
        }
        called.set(item.call_id, item)
        assistant().parts.push(placed(decodeCall(item, type, path), path))
        break
      case 'function_call_output':
      case 'custom_tool_call_output':
        if (fromProgram(item) || (given(item.call_id) && elsewhere.has(item.call_id))) keep(item, type, path)
        else if (!given(item.call_id)) open(placed(decodeReport(item, path, opaque), path))
        else result(placed(decodeResult(item, type, path, opaque), path))
        break
      case 'local_shell_call':
      case 'shell_call':
      case 'apply_patch_call':
      case 'tool_search_call': {
        const kind = fromProgram(item) ? undefined : calledTool(item)
        if (kind === undefined) {
          if (given(item.call_id)) elsewhere.add(item.call_id)
          keep(item, type, path)
          break
        }
        const call = decodeClientCall(item, kind, own, path)
        if (given(item.id)) callIds.set(item.id, call.id)
        assistant().parts.push(placed(call, path))
        break
      }
      case 'local_shell_call_output':
      case 'shell_call_output':
      case 'apply_patch_call_output':
        if (fromProgram(item) || elsewhere.has(item.call_id)) keep(item, type, path)
        else {
          const callId = given(item.call_id) ? undefined : callIds.get(item.id)
          const output = type === 'shell_call_output' ? shellText(item, path) : item.output
          result(placed(clientResult(item, callId, decodeOutput(output, `${path}.output`, opaque), path), path))
        }
        break
      case 'compaction_trigger':
        if (at === input.length - 1) open({ role: 'user', parts: [instruction()] })
        else keepEssential(item, type, path)
        break
      case 'compaction': {
        const summary = summaryIn(item)
        if (summary === undefined) keepEssential(item, type, path)
        else open({ role: 'user', parts: [{ type: 'text', text: summary }] })
        break
      }
      case 'additional_tools':
      case 'tool_search_output': {
        const more = optionalArray(item.tools, `${path}.tools`) ?? []
        const list = type === 'tool_search_output' ? more.map(loaded) : more
        const brought = decodeTools(list, opaque, own, `${path}.tools`)
        for (const tool of brought) {
          // A search may find a tool that is listed already. A later definition replaces an earlier one.
          const key = keyOf(tool)
          const before = key === undefined ? undefined : listed.get(key)
          const known = before === undefined ? undefined : tools[before]
          if (known !== undefined && isSame(known, tool)) continue
          if (known !== undefined) known.gone = true
          listed.set(key, tools.push(placed({ ...tool, within: true }, placeOf(tool, path))) - 1)
        }
        if (type === 'tool_search_output' && isClientSearch(item))
          result(placed(searchResult(item, brought.flatMap(foundTool), path), path))
        else keep(item, type, path, true)
        break
      }
      case 'configuration_update':
        if (given(item.text)) keepEssential(item, type, path)
        else keep(item, type, path, updatedEffort([item]) !== undefined)
        break
      case 'input_text':
      case 'input_image':
      case 'input_file':
        open(placed({ role: 'user', parts: [placed(decodePart(item, path, opaque), path)] }, path))
        break
      case 'output_text':
      case 'refusal':
        assistant().parts.push(placed(decodeSaidPart(item, path, opaque), path))
        break
      default:
        if (ESSENTIAL.has(type)) keepEssential(item, type, path)
        else keep(item, type, path)
    }
    if (whole !== item) listUnread(unnamed(item, called.get(item.call_id)), ITEMS[type], path, opaque)
  }
  for (const [at, value] of input.entries()) {
    read(value, at)
    if (isStepOver(at)) yield
  }
  return turns
}

/** The tool without its mark as one that waits to be found. */
const loaded = (tool: Json): Json => {
  if (!isObject(tool)) return tool
  const { defer_loading: _, ...rest } = tool
  return Array.isArray(rest.tools) ? { ...rest, tools: rest.tools.map(loaded) } : rest
}

/** The tool as other wires have it; undefined for the provider's own. */
const asNamed = (tool: Tool): FoundTool | undefined => (tool.type === 'opaque' ? tool.asFunction : tool)

const keyOf = (tool: Tool): string | undefined => {
  const named = asNamed(tool)
  return named === undefined ? undefined : toolKey(named.name, named.namespace)
}

const foundTool = (tool: Tool): FoundTool[] => {
  const named = asNamed(tool)
  if (named === undefined) return []
  const { name, namespace } = named
  return [namespace === undefined ? { name } : { name, namespace }]
}

const isSame = ({ within: _, ...known }: Tool, tool: Tool): boolean => JSON.stringify(known) === JSON.stringify(tool)

const isSaid = (part: AssistantPart): boolean => part.type === 'text' || part.type === 'refusal'

const itemType = (item: JsonObject, path: string): string => {
  if (given(item.type)) return readString(item.type, `${path}.type`)
  if (given(item.role)) return 'message'
  if (given(item.id)) return 'item_reference'
  throw invalidRequest(`'${path}.type' is missing, and so is a role.`, `${path}.type`)
}

const decodeMessage = (item: JsonObject, path: string, opaque: OpaqueMember[]): Turn => {
  const role = readString(item.role, `${path}.role`)
  switch (role) {
    case 'user':
      return { role, parts: decodeContent(item.content, `${path}.content`, opaque) }
    case 'system':
    case 'developer': {
      const parts = decodeContent(item.content, `${path}.content`, opaque).map((part, at): SystemContent => {
        if (part.type === 'text' || part.type === 'opaque') return part
        throw invalidRequest(`'${path}.content.${at}' must be text in a ${role} message.`, `${path}.content.${at}.type`)
      })
      return { role: 'system', parts, ...(role === 'developer' ? { developer: true } : {}) }
    }
    case 'assistant': {
      const phase = optionalString(item.phase, `${path}.phase`)
      return {
        role,
        parts: decodeSaid(item.content, `${path}.content`, opaque),
        ...(phase === undefined ? {} : { phase }),
      }
    }
    default:
      throw invalidRequest(
        `'${path}.role' must be one of user, assistant, system, developer; found '${role}'.`,
        `${path}.role`,
      )
  }
}

type SystemContent = Extract<ContentPart, { type: 'text' | 'opaque' }>

/** A message from another agent becomes a user message; what is encrypted of it stays opaque. */
const decodeAgentMessage = (item: JsonObject, path: string, opaque: OpaqueMember[]): User => {
  const author = optionalString(item.author, `${path}.author`) ?? 'another agent'
  const recipient = optionalString(item.recipient, `${path}.recipient`)
  const text = `Message from ${author}${recipient === undefined ? '' : ` to ${recipient}`}:`
  const { content = null } = item
  const said = Array.isArray(content) ? content.map((part) => plainText(part) ?? part) : (content ?? [])
  return { role: 'user', parts: [{ type: 'text', text }, ...decodeContent(said, `${path}.content`, opaque)] }
}

/** The output of a tool that was not called becomes a user message. */
const decodeReport = (item: JsonObject, path: string, opaque: OpaqueMember[]): User => {
  const name = [optionalString(item.namespace, `${path}.namespace`), optionalString(item.name, `${path}.name`)]
  const tool = name.filter((part) => part !== undefined).join('.')
  const text = `Output of ${tool === '' ? 'a tool' : `the tool ${tool}`}:`
  return { role: 'user', parts: [{ type: 'text', text }, ...decodeOutput(item.output, `${path}.output`, opaque)] }
}

const decodeSaid = (content: Json | undefined, path: string, opaque: OpaqueMember[]): AssistantPart[] => {
  if (typeof content === 'string') return [placed({ type: 'text', text: content }, path)]
  if (!given(content)) return []
  if (!Array.isArray(content)) throw invalidRequest(`'${path}' must be a string or an array.`, path)
  return content.flatMap((value, at): AssistantPart[] =>
    isShown(value) ? [] : [placed(decodeSaidPart(value, `${path}.${at}`, opaque), `${path}.${at}`)],
  )
}

/** The pictures and files of an assistant message. */
const decodeShown = (content: Json | undefined, path: string, opaque: OpaqueMember[]): ContentPart[] =>
  asList(content).flatMap((value, at) =>
    isShown(value) ? [placed(decodePart(value, `${path}.${at}`, opaque), `${path}.${at}`)] : [],
  )

const isShown = (part: Json): boolean => isObject(part) && (part.type === 'input_image' || part.type === 'input_file')

const decodeSaidPart = (value: Json, path: string, opaque: OpaqueMember[]): AssistantPart => {
  if (typeof value === 'string') return { type: 'text', text: value }
  const part = readObject(value, path)
  const type = readString(part.type, `${path}.type`)
  listUnread(part, SAID[type], path, opaque)
  switch (type) {
    case 'output_text':
    case 'input_text':
    case 'text':
      return decodeText(part)
    case 'refusal':
      return { type: 'refusal', text: asText(part.refusal) }
    default:
      return { type: 'opaque', origin: 'responses', value: part }
  }
}

const decodeCall = (item: JsonObject, type: 'function_call' | 'custom_tool_call', path: string): ToolCallPart => {
  const custom = type === 'custom_tool_call'
  const itemId = optionalString(item.id, `${path}.id`)
  const namespace = optionalString(item.namespace, `${path}.namespace`)
  return {
    type: 'tool-call',
    id: readString(given(item.call_id) ? item.call_id : item.id, `${path}.call_id`),
    name: readName(item.name, `${path}.name`),
    kind: custom ? 'custom' : 'function',
    ...(namespace === undefined ? {} : { namespace }),
    input: custom ? readString(item.input, `${path}.input`) : argumentsText(item.arguments),
    ...(itemId === undefined ? {} : { itemId }),
  }
}

const decodeResult = (
  item: JsonObject,
  type: 'function_call_output' | 'custom_tool_call_output',
  path: string,
  opaque: OpaqueMember[],
): ToolResultPart => ({
  type: 'tool-result',
  callId: readString(item.call_id, `${path}.call_id`),
  kind: type === 'custom_tool_call_output' ? 'custom' : 'function',
  parts: decodeOutput(item.output, `${path}.output`, opaque),
})

const decodeOutput = (output: Json | undefined, path: string, opaque: OpaqueMember[]): ContentPart[] => {
  if (!given(output) || output === '') return []
  return decodeContent(isObject(output) ? JSON.stringify(output) : output, path, opaque)
}

/** A result without the name of its tool, where its call, or what is made of one without, tells that. */
const unnamed = (item: JsonObject, call: JsonObject = {}): JsonObject => {
  const { type, call_id: id, name, namespace, ...rest } = item
  if (type !== 'function_call_output' && type !== 'custom_tool_call_output') return item
  const isTold = !given(id) || (name === call.name && namespace === call.namespace)
  return isTold ? { type, ...rest } : item
}

const fromProgram = (item: JsonObject): boolean => isObject(item.caller) && item.caller.type === 'program'
