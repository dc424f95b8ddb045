// Requests: from this wire to the IR, and from the IR to one that the provider accepts.

import { invalidRequest } from '../../errors.ts'
import { asList, asObject, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { AssistantPart, SystemPart, UserPart } from '../../ir/part.ts'
import { placed } from '../../ir/place.ts'
import type { ChatRequest, OutputFormat, Reasoning, Sampling, Turn } from '../../ir/request.ts'
import { atOnce, flatInSteps, type Steps } from '../../lib/steps.ts'
import type { EncodedRequest, Target, Undo } from '../codec.ts'
import {
  optionalArray,
  optionalBoolean,
  optionalNumber,
  optionalObject,
  optionalString,
  readArray,
  readCount,
  readName,
  readObject,
  readString,
} from '../read.ts'
import { leaveOut, removeRefused } from '../refusal/opaque-member.ts'
import { pairEmptyIds } from '../tools/empty-ids.ts'
import { withFoundNames, withOptionalTools, withToolsFor } from '../tools/list.ts'
import { MOST_CALLS, searchFor } from '../tools/web-search.ts'
import { withSaid } from '../turns/said.ts'
import { undoOf } from './argument-names.ts'
import { encodeTurns } from './conversation.ts'
import { assistantPart, decodeContent, systemPart, userPart } from './decode-parts.ts'
import { type Dropped, droppedOf } from './dropped.ts'
import { mark, shortened } from './encode-parts.ts'
import { type Collected, collect, extrasOf } from './extras.ts'
import { decodeInstructions, type Instructions, isInstructions, turnsOf } from './instructions.ts'
import { longFirst, wantsCache, withEarlierEnds, withinMarks } from './marks.ts'
import { toolNames } from './names.ts'
import { encodeOutput } from './output.ts'
import { strictRoom } from './output-schema.ts'
import { callsUnthought, decodeThinking, encodeReasoning, isEffort, lacksThought, NO_THOUGHT } from './reasoning.ts'
import { cap, encodeRest, encodeSampling, SAFETY, userMember, userOf } from './settings.ts'
import { changedTools } from './tool-changes.ts'
import { canGo, decodeToolChoice, decodeTools, encodeToolUse, forces, withAllowedTools } from './tools.ts'

const MEMBERS = new Set([
  'model',
  'max_tokens',
  'messages',
  'system',
  'stream',
  'temperature',
  'top_p',
  'top_k',
  'stop_sequences',
  'tools',
  'tool_choice',
  'thinking',
  'output_config',
  'output_format',
  'metadata',
  'service_tier',
])

/** Members without which the request would mean something else at another provider. */
const ESSENTIAL = new Set(['container', 'mcp_servers', 'inference_geo', 'compaction'])

/** Throws `invalid_request` naming the member at fault. */
export const decodeRequest = (body: JsonObject): ChatRequest => atOnce(decodeInSteps(body))

export function* decodeInSteps(body: JsonObject): Steps<ChatRequest> {
  const extras = collect()
  const messages = readArray(body.messages, 'messages')
  const continues = isObject(body.thread) && body.thread.type === 'continue'
  if (messages.length === 0 && !continues)
    throw invalidRequest("'messages' must hold at least one message.", 'messages')
  const turns = yield* flatInSteps(messages, (message, at) => decodeTurns(message, `messages.${at}`, extras))
  yield
  if (body.system !== undefined && body.system !== null) {
    const parts = decodeContent(body.system, 'system', systemPart(extras))
    if (parts.length > 0) turns.unshift(placed({ role: 'system', parts }, 'system'))
  }
  pairEmptyIds(turns)
  const request: ChatRequest = {
    model: readName(body.model, 'model'),
    stream: optionalBoolean(body.stream, 'stream') ?? false,
    turns,
    tools: withOptionalTools(
      changedTools(decodeTools(optionalArray(body.tools, 'tools') ?? [], extras), messages, extras),
      canGo(body.tool_choice),
    ),
    ...decodeToolChoice(body.tool_choice),
    maxOutput: readCount(body.max_tokens, 'max_tokens', 1),
    sampling: decodeSampling(body),
    ...decodeConfig(body, extras),
    ...decodeUser(body, extras),
    origin: 'messages',
    opaque: extras.members,
  }
  const stop = optionalArray(body.stop_sequences, 'stop_sequences')
  if (stop !== undefined && stop.length > 0)
    request.stop = stop.map((text, at) => readString(text, `stop_sequences.${at}`))
  const tier = optionalString(body.service_tier, 'service_tier')
  if (tier !== undefined) request.serviceTier = tier === 'standard_only' ? 'default' : tier
  for (const name in body) {
    const value = body[name]
    if (!MEMBERS.has(name) && value !== undefined && value !== null) decodeMember(name, value, extras)
  }
  return request
}

const MESSAGE = new Set(['role', 'content'])
const SYSTEM = new Set([...MESSAGE, 'output_config'])

/** A message, and the instructions among its blocks as turns of their own. */
const decodeTurns = (raw: Json, path: string, extras: Collected): Turn[] => {
  const message = readObject(raw, path)
  const { role, content } = message
  extras.rest(message, role === 'system' ? SYSTEM : MESSAGE, path)
  if (role === 'system') decodeDirective(message.output_config, `${path}.output_config`, extras)
  const read = <P extends object>(decode: (block: JsonObject, type: string, path: string) => P) =>
    decodeContent<P | Instructions>(
      role === 'system' ? (content ?? '') : content,
      `${path}.content`,
      (block, type, at) => (isInstructions(block) ? decodeInstructions(block, at, extras) : decode(block, type, at)),
    )
  switch (role) {
    case 'user':
      return turnsOf<UserPart>(read(userPart(extras)), path, (parts) => ({ role, parts }))
    case 'assistant':
      return turnsOf<AssistantPart>(read(assistantPart(extras)), path, (parts) => ({ role, parts }))
    case 'system':
      return turnsOf<SystemPart>(read(systemPart(extras)), path, (parts) => ({ role, parts }))
    default:
      throw invalidRequest(`'${path}.role' must be user, assistant or system.`, `${path}.role`)
  }
}

/** What a system message sets from there on: of this, other wires have the effort alone. */
const decodeDirective = (value: Json | undefined, path: string, extras: Collected): void => {
  if (value === undefined || value === null) return
  const rest = isObject(value) ? Object.keys(value).filter((name) => name !== 'effort') : [path]
  extras.add(path, value, isEffort(effortIn(value)) && rest.length === 0 ? { met: true } : {})
}

const FORMAT = new Set(['type', 'schema'])

const effortIn = (config: Json | undefined): Json | undefined => (isObject(config) ? config.effort : undefined)

/** The effort that the last of the conversation's system messages to set one has set. */
const directedEffort = (messages: Json | undefined): Json | undefined =>
  asList(messages)
    .map((message) => (isObject(message) && message.role === 'system' ? effortIn(message.output_config) : undefined))
    .findLast(isEffort)

/** Some frameworks send -1 for a limit that is not set, and the provider accepts it. */
const decodeSampling = (body: JsonObject): Sampling => {
  const sampling: Sampling = {}
  const temperature = optionalNumber(body.temperature, 'temperature')
  if (temperature !== undefined) sampling.temperature = temperature
  const topP = optionalNumber(body.top_p, 'top_p')
  if (topP !== undefined && topP !== -1) sampling.topP = topP
  const topK = optionalNumber(body.top_k, 'top_k')
  if (topK !== undefined && topK !== -1) sampling.topK = topK
  return sampling
}

const decodeConfig = (body: JsonObject, extras: Collected): { reasoning?: Reasoning; output?: OutputFormat } => {
  const config = optionalObject(body.output_config, 'output_config') ?? {}
  const { effort: first, format, ...others } = config
  const effort = directedEffort(body.messages) ?? first
  extras.rest(others, new Set(), 'output_config')
  const reasoning = decodeThinking(body.thinking, extras)
  if (isEffort(effort)) reasoning.effort = effort
  else if (effort !== undefined && effort !== null) extras.add('output_config.effort', effort)
  // Earlier betas had it beside `output_config`.
  const wanted = format ?? body.output_format ?? undefined
  const schema = isObject(wanted) && wanted.type === 'json_schema' ? wanted.schema : undefined
  if (wanted !== undefined && schema === undefined) extras.add('output_config.format', wanted, { essential: true })
  else if (isObject(format)) extras.rest(format, FORMAT, 'output_config.format')
  return {
    ...(Object.keys(reasoning).length === 0 ? {} : { reasoning }),
    ...(schema === undefined
      ? {}
      : { output: { type: 'json-schema', schema: readObject(schema, 'output_config.format.schema') } }),
  }
}

const decodeUser = (body: JsonObject, extras: Collected): { user?: string } => {
  const metadata = optionalObject(body.metadata, 'metadata') ?? {}
  extras.rest(metadata, new Set(['user_id']), 'metadata')
  const user = optionalString(metadata.user_id, 'metadata.user_id')
  return user === undefined ? {} : { user }
}

const decodeMember = (name: string, value: Json, extras: Collected): void => {
  if (name !== 'thread') {
    // An empty list, such as of MCP servers, asks for nothing.
    const isEmpty = Array.isArray(value) && value.length === 0
    extras.add(name, value, isEmpty ? { met: true } : { essential: ESSENTIAL.has(name) })
    return
  }
  // On these codes, clients that keep their conversation at the provider send all of it.
  const continues = isObject(value) && value.type === 'continue'
  const details = continues
    ? { error_code: 'thread_not_found' }
    : { error_code: 'thread_unsupported_request', unsupported: ['thread'] }
  extras.add(name, value, { essential: true, details })
}

/** Throws `invalid_request` where leaving something out would change the request's meaning. */
export const encodeRequest = (original: ChatRequest, target: Target): EncodedRequest =>
  atOnce(encodeInSteps(original, target))

export function* encodeInSteps(original: ChatRequest, target: Target): Steps<EncodedRequest> {
  const request = withAllowedTools(withSaid(withToolsFor(original, 'messages'), 'messages', target.blind))
  yield
  const { quirks } = target
  const own = request.origin === 'messages'
  const dropped = droppedOf(request)
  const extras = extrasOf(request)
  if (request.logprobs !== undefined) {
    const name = dropped.nameOf('logprobs')
    throw invalidRequest(`'${name}' cannot be used with this model. It gives no log probabilities.`, name)
  }
  if (!own)
    refuseForeign(
      request,
      dropped,
      request.tools.some((tool) => searchFor('messages', tool, quirks) !== undefined),
    )
  const names = toolNames(request.tools)
  const room = strictRoom()
  const output = encodeOutput(request, quirks, { names, room, dropped })
  const { tools, choice } = encodeToolUse(request, names, output.jsonTool, { extras, room, dropped, quirks })
  const context = { extras, dropped, names, noReasoning: quirks.noReasoning === true, own }
  const turns = withFoundNames(request.turns, names.of)
  const { system, messages: encoded } = yield* encodeTurns({ ...request, turns }, context, quirks.noMidSystem === true)
  const messages = quirks.needsReasoning
    ? encoded.map((one) => (callsUnthought(one) ? { ...one, content: [NO_THOUGHT, ...one.content] } : one))
    : encoded
  yield
  if (output.instruction !== undefined) system.push({ type: 'text', text: output.instruction })
  const maxTokens = cap(request.maxOutput, target.maxOutput)
  const { thinking, effort } = encodeReasoning(
    request,
    target,
    { maxTokens, cannotThink: (budget) => forces(choice) || (budget && lacksThought(messages)) },
    dropped,
  )
  const lists = [tools, system, ...messages.map(({ content }) => content)]
  const [markedTools = [], markedSystem = [], ...marked] = own ? withinMarks(lists) : longFirst(withinMarks(lists))
  yield
  const caches = wantsCache(request, lists) && !quirks.rejects?.includes('cache_control')
  const contents = caches ? withEarlierEnds(marked, messages) : marked
  const body: JsonObject = { model: target.model, max_tokens: maxTokens }
  if (system.length > 0) body.system = shortened(markedSystem)
  body.messages = messages.map(({ role }, at) => ({ role, content: shortened(contents[at] ?? []) }))
  if (tools.length > 0) body.tools = markedTools
  if (choice !== undefined) body.tool_choice = choice
  if (thinking !== undefined) body.thinking = thinking
  const config: JsonObject = {}
  if (effort !== undefined) config.effort = effort
  if (output.format !== undefined) config.format = output.format
  if (Object.keys(config).length > 0) body.output_config = config
  Object.assign(body, encodeSampling(request, quirks.noSampling === true, thinking, dropped))
  const undo: Undo = {}
  encodeRest(request, body, target.quirks, { dropped, undo })
  const restore = restoring(body)
  for (const { name, value } of extras.top) restore(name, value)
  if (request.stream) body.stream = true
  if (caches) Object.assign(body, mark({}))
  removeRefused(body, quirks, (name) => {
    const isUser = name === 'metadata' || name === 'metadata.user_id'
    dropped.path(isUser && !own ? userMember(request) : dropped.nameOf(name))
  })
  if (output.jsonTool !== undefined) undo.jsonTool = output.jsonTool.name
  if (Object.keys(names.undo).length > 0) undo.tools = names.undo
  if (names.replacedArguments.size > 0) undo.arguments = undoOf(names.replacedArguments)
  return { body, dropped: [...dropped.paths], undo }
}

/** `searches`: another vendor's search is sent, and the most calls with it. */
const refuseForeign = (request: ChatRequest, dropped: Dropped, searches: boolean): void => {
  for (const member of request.opaque) {
    if (member.name === MOST_CALLS && searches) continue
    if (member.name !== SAFETY || member.value !== userOf(request)) leaveOut(member, dropped.path)
  }
}

/** Puts members back at their paths. Each object on the way is copied once: a client may have any number of them. */
const restoring = (body: JsonObject): ((name: string, value: Json) => void) => {
  const own = new Set([body])
  const holderIn = (object: JsonObject, name: string): JsonObject => {
    const held = asObject(object[name])
    if (own.has(held)) return held
    const copy = { ...held }
    own.add(copy)
    object[name] = copy
    return copy
  }
  return (name, value) => {
    const path = name.split('.')
    const last = path.pop() ?? ''
    path.reduce(holderIn, body)[last] = value
  }
}
