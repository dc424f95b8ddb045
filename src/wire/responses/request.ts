// Decodes and encodes a responses request.

import { invalidRequest } from '../../errors.ts'
import { asList, asObject, type Json, type JsonObject, parseObject } from '../../ir/json.ts'
import { placed, placeOf } from '../../ir/place.ts'
import type { ChatRequest, OpaqueMember, Sampling } from '../../ir/request.ts'
import { digest } from '../../lib/digest.ts'
import { atOnce, type Steps } from '../../lib/steps.ts'
import type { EncodedRequest, Target, Undo } from '../codec.ts'
import {
  given,
  optionalArray,
  optionalBoolean,
  optionalCount,
  optionalNumber,
  optionalObject,
  optionalString,
  readName,
} from '../read.ts'
import { removeRefused } from '../refusal/opaque-member.ts'
import { noTools, nothingToRead } from '../refusal/refusals.ts'
import { UNKNOWN_ANSWER } from '../refusal/unknown-reference.ts'
import { isFormless, JSON_ONLY } from '../settings/json-mode.ts'
import { withoutDefaults } from '../settings/sampling.ts'
import { stopInGateway } from '../settings/stops.ts'
import { forcesCall, sentChoice } from '../tools/choice.ts'
import { pairEmptyIds } from '../tools/empty-ids.ts'
import { withOptionalTools, withToolsFor } from '../tools/list.ts'
import { type Search, searchFor } from '../tools/web-search.ts'
import { CONTINUE, prefilledTurn } from '../turns/prefill.ts'
import { withSaid } from '../turns/said.ts'
import { clientTools } from './client-tools.ts'
import { asksCompaction } from './compaction.ts'
import { undoOf, withFunctionsOnly } from './functions-only.ts'
import { encodeTurns } from './history.ts'
import { decodeInput } from './input.ts'
import { label } from './names.ts'
import { encodeOpaque } from './opaque.ts'
import { type Outgoing, outgoing } from './outgoing.ts'
import { LEAST_OUTPUT } from './pass.ts'
import {
  decodeMetadata,
  decodeText,
  decodeThinking,
  encodeFormat,
  encodeMetadata,
  encodeThinking,
  isTier,
  jsonTool,
  updatedEffort,
} from './settings.ts'
import {
  decodeToolChoice,
  decodeTools,
  encodeToolChoice,
  encodeTools,
  isAbility,
  listChosen,
  tellDeferred,
} from './tools.ts'

const READ = new Set([
  'model',
  'input',
  'instructions',
  'stream',
  'tools',
  'tool_choice',
  'parallel_tool_calls',
  'max_output_tokens',
  'temperature',
  'top_p',
  'text',
  'reasoning',
  'metadata',
  'user',
  'prompt_cache_key',
  'service_tier',
  'include',
  'top_logprobs',
])

/** Members whose effect only this wire's provider has: what it stores, answers in the background, moderation. */
const ESSENTIAL = new Set(['previous_response_id', 'conversation', 'background', 'prompt', 'moderation'])
/** With one of these the provider has an input, so that the body needs none. */
const INPUTS = ['previous_response_id', 'conversation', 'prompt']

const LOGPROBS = 'message.output_text.logprobs'
const ENCRYPTED = 'reasoning.encrypted_content'
const SOURCES = 'web_search_call.action.sources'

export const decodeRequest = (body: JsonObject): ChatRequest => atOnce(decodeInSteps(body))

export function* decodeInSteps(body: JsonObject): Steps<ChatRequest> {
  const opaque: OpaqueMember[] = []
  const model = readName(body.model, 'model')
  const stream = optionalBoolean(body.stream, 'stream') ?? false
  const own = clientTools(body)
  const tools = decodeTools(optionalArray(body.tools, 'tools') ?? [], opaque, own)
  const turns = yield* decodeInput(body.input, opaque, tools, own)
  pairEmptyIds(turns)
  if (turns.length === 0 && !INPUTS.some((name) => given(body[name]))) {
    throw invalidRequest("'input' must be given and not empty.", 'input')
  }
  const instructions = optionalString(body.instructions, 'instructions')
  if (instructions !== undefined && instructions !== '') {
    turns.unshift(
      placed({ role: 'system', parts: [placed({ type: 'text', text: instructions }, 'instructions')] }, 'instructions'),
    )
  }
  tellDeferred(tools, own)
  const request: ChatRequest = {
    model,
    stream,
    turns,
    tools: withOptionalTools(tools, isAbility),
    sampling: decodeSampling(body),
    origin: 'responses',
    opaque,
  }
  const set = <Name extends keyof ChatRequest>(name: Name, value: ChatRequest[Name] | undefined): void => {
    if (value !== undefined) request[name] = value
  }
  const choice = decodeToolChoice(body.tool_choice, opaque, own, tools)
  listChosen(choice, tools)
  if (asksCompaction(body) && request.tools.length > 0) {
    request.toolChoice = { type: 'none' }
    if (choice === undefined) request.cachedChoice = {}
    else if (choice.type === 'auto') request.cachedChoice = { choice }
  } else set('toolChoice', choice)
  set('parallelTools', optionalBoolean(body.parallel_tool_calls, 'parallel_tool_calls'))
  set('maxOutput', optionalCount(body.max_output_tokens, 'max_output_tokens', 1))
  Object.assign(request, decodeText(optionalObject(body.text, 'text') ?? {}, opaque))
  const effort = updatedEffort(body.input)
  const thinking = optionalObject(body.reasoning, 'reasoning') ?? {}
  set('reasoning', decodeThinking(effort === undefined ? thinking : { ...thinking, effort }, opaque))
  set('metadata', decodeMetadata(optionalObject(body.metadata, 'metadata') ?? {}))
  set('user', optionalString(body.user, 'user'))
  set('cacheKey', optionalString(body.prompt_cache_key, 'prompt_cache_key'))
  set('serviceTier', optionalString(body.service_tier, 'service_tier'))
  set('logprobs', decodeInclude(body, opaque))
  for (const [name, value] of Object.entries(body)) {
    if (READ.has(name) || !given(value) || value === DEFAULTS[name]) continue
    const advice = name === 'previous_response_id' ? { advice: UNKNOWN_ANSWER } : {}
    // Translated requests are never stored.
    const met = name === 'store' && value === false ? { met: true as const } : {}
    opaque.push({ name, value, essential: ESSENTIAL.has(name), ...advice, ...met })
  }
  return request
}

/** Values that mean the same as leaving the member out. */
const DEFAULTS: JsonObject = { background: false, truncation: 'disabled' }

const decodeSampling = (body: JsonObject): Sampling => {
  const temperature = optionalNumber(body.temperature, 'temperature')
  const topP = optionalNumber(body.top_p, 'top_p')
  return { ...(temperature === undefined ? {} : { temperature }), ...(topP === undefined ? {} : { topP }) }
}

/** One value of `include` asks for log probabilities; the others are this wire's own. */
const decodeInclude = (body: JsonObject, opaque: OpaqueMember[]): { top: number } | undefined => {
  const include = optionalArray(body.include, 'include') ?? []
  const top = optionalCount(body.top_logprobs, 'top_logprobs', 0)
  const others = include.filter((name) => name !== LOGPROBS)
  // Every translated answer includes its sealed thoughts, and the pages that a search has found.
  const met = others.every((name) => name === ENCRYPTED || name === SOURCES) ? { met: true as const } : {}
  if (others.length > 0) opaque.push({ name: 'include', value: others, essential: false, ...met })
  if (others.length < include.length) return { top: top ?? 0 }
  if (top !== undefined && top > 0) opaque.push({ name: 'top_logprobs', value: top, essential: false })
  return undefined
}

export const encodeRequest = (original: ChatRequest, target: Target): EncodedRequest =>
  atOnce(encodeInSteps(original, target))

export function* encodeInSteps(original: ChatRequest, target: Target): Steps<EncodedRequest> {
  const { noCustomTools = false } = target.quirks
  const listed = noCustomTools ? withFunctionsOnly(original) : withToolsFor(original, 'responses')
  const request = withSaid(listed, 'responses', target.blind)
  yield
  const out = outgoing(request, target)
  const { instructions, input } = yield* encodeTurns(request, out)
  const inWords =
    out.quirks.structuredOutputByTool === true && request.output !== undefined && isFormless(request.output)
  if (inWords) {
    out.drop(out.nameOf('text.format'))
    input.unshift({ type: 'message', role: 'system', content: JSON_ONLY })
  }
  const begun = prefilledTurn(request)
  if (begun !== undefined) {
    input.push({ type: 'message', role: 'user', content: CONTINUE })
    out.drop(placeOf(begun, 'messages'))
  }
  const undo: Undo = {}
  const reasoning = request.reasoning === undefined ? undefined : encodeThinking(request.reasoning, out)
  const body: JsonObject = {
    model: target.model,
    ...(instructions === undefined ? {} : { instructions }),
    input,
    ...encodeToolUse(request, out, undo),
    ...encodeLimits(request, target, out, undo),
    ...encodeSampling(request, reasoning, out),
    ...encodeLabels(request, out),
    ...(out.own ? {} : { store: false }),
    stream: request.stream,
  }
  if (reasoning !== undefined) body.reasoning = reasoning
  if (!out.own && out.quirks.noReasoning !== true) body.include = [ENCRYPTED]
  const search = searchIn(request, out)
  if (search !== undefined) {
    body.include = [...asList(body.include), SOURCES]
    if (search.most !== undefined) body.max_tool_calls = search.most
  }
  const text = encodeText(request, out)
  if (text !== undefined) body.text = text
  encodeOpaque(request, body, out)
  // Checked last, so that a member which is refused, and leaves the input empty, is named instead.
  if (input.length === 0 && !out.own) throw nothingToRead(out.nameOf('input'))
  if (request.logprobs !== undefined) {
    body.include = [...asList(body.include), LOGPROBS]
    if (request.logprobs.top > 0) body.top_logprobs = Math.min(20, request.logprobs.top)
  }
  removeRefused(body, out.quirks, (name, value) => {
    // Of other wires' requests the gateway has said so itself.
    const isAdded = (name === 'store' && value === false) || (name === 'include' && request.logprobs === undefined)
    if (out.own || !isAdded) out.drop(out.nameOf(name))
  })
  const names = noCustomTools ? undoOf(original, listed) : out.names.undo
  if (Object.keys(names).length > 0) undo.tools = names
  return { body, dropped: [...out.dropped], undo }
}

/** The first that stands in for another vendor's. */
const searchIn = ({ tools }: ChatRequest, { quirks }: Outgoing): Search | undefined => {
  for (const tool of tools) {
    const search = searchFor('responses', tool, quirks)
    if (search !== undefined) return search
  }
  return undefined
}

const encodeToolUse = (request: ChatRequest, out: Outgoing, undo: Undo): JsonObject => {
  const { toolChoice: choice, output } = request
  const tools = encodeTools(request.tools, out)
  const parallel = request.parallelTools === undefined ? {} : { parallel_tool_calls: request.parallelTools }
  const byTool = out.quirks.structuredOutputByTool === true && !forcesCall(choice)
  if (output !== undefined && byTool && !isFormless(output)) {
    const formTool = jsonTool(output, tools, out)
    undo.jsonTool = formTool.name
    return { tools: [...tools, formTool], tool_choice: choiceWithForm(formTool.name, request, out), ...parallel }
  }
  // The provider refuses a tool choice without tools; those of a client of this wire may be stored at the provider.
  if (tools.length === 0 && !out.own) {
    if (choice === undefined || choice.type === 'auto' || choice.type === 'none') return {}
    throw noTools(choice)
  }
  return {
    ...(tools.length === 0 ? {} : { tools }),
    ...(choice && { tool_choice: sentChoice(choice, out, (one) => encodeToolChoice(one, request, out)) }),
    ...parallel,
  }
}

/** The choice where a tool is added for the structured answer: the client's tools stay callable as it chose. */
const choiceWithForm = (formTool: string, request: ChatRequest, out: Outgoing): Json => {
  const { toolChoice: choice, tools } = request
  const form = { type: 'function', name: formTool }
  if (choice?.type === 'allowed') {
    const allowed = asObject(encodeToolChoice(choice, request, out))
    return { ...allowed, mode: 'required', tools: [...asList(allowed.tools), form] }
  }
  return tools.length === 0 || choice?.type === 'none' ? form : 'required'
}

const encodeLimits = ({ maxOutput, stop }: ChatRequest, target: Target, out: Outgoing, undo: Undo): JsonObject => {
  const limits: JsonObject = {}
  if (maxOutput !== undefined) {
    const least = Math.max(LEAST_OUTPUT, target.quirks.leastOutput ?? 0)
    if (maxOutput < least) out.drop(out.nameOf('max_output_tokens'))
    limits.max_output_tokens = Math.max(least, Math.min(maxOutput, target.maxOutput))
  }
  if (stop !== undefined && !stopInGateway(stop, undo)) out.drop(out.nameOf('stop'))
  return limits
}

/** A model that thinks accepts only the default sampling: the default is left out, other values are dropped. */
const encodeSampling = ({ sampling }: ChatRequest, reasoning: JsonObject | undefined, out: Outgoing): JsonObject => {
  const thinks = !out.own && reasoning !== undefined && reasoning.effort !== 'none'
  const refused = thinks || out.quirks.noSampling === true
  const { temperature, topP } = refused ? withoutDefaults(sampling) : sampling
  const { topK, frequencyPenalty, presencePenalty, seed } = withoutDefaults(sampling)
  const sent: JsonObject = {}
  for (const [name, value] of Object.entries({ temperature, top_p: topP })) {
    if (value === undefined) continue
    if (refused) out.drop(name)
    else sent[name] = value
  }
  const unsayable = { top_k: topK, frequency_penalty: frequencyPenalty, presence_penalty: presencePenalty, seed }
  for (const [name, value] of Object.entries(unsayable)) if (value !== undefined) out.drop(name)
  return sent
}

const encodeLabels = (request: ChatRequest, out: Outgoing): JsonObject => {
  const { user, metadata, serviceTier } = request
  const cacheKey = request.cacheKey ?? (request.origin === 'messages' ? sessionIn(user) : undefined)
  const labels: JsonObject = {}
  if (user !== undefined) labels.user = out.own ? user : label(user)
  if (metadata !== undefined) labels.metadata = encodeMetadata(metadata, out)
  if (cacheKey !== undefined) labels.prompt_cache_key = out.own ? cacheKey : label(cacheKey)
  if (isTier(serviceTier)) labels.service_tier = serviceTier
  else if (serviceTier !== undefined) out.drop('service_tier')
  return labels
}

/**
 * A cache key from the session id in Claude Code's user ids, of newer and older versions: with one, the provider finds its
 * cached prompt more often. Undefined for other user ids, which do not identify a conversation.
 */
const sessionIn = (user = ''): string | undefined => {
  const { session_id: session } = parseObject(user) ?? {}
  const id = typeof session === 'string' && session !== '' ? session : /_session_([0-9a-f-]{36})$/.exec(user)?.[1]
  return id === undefined ? undefined : `s_${digest(id)}`
}

const encodeText = ({ output, verbosity }: ChatRequest, out: Outgoing): JsonObject | undefined => {
  const text: JsonObject = {}
  if (output !== undefined && out.quirks.structuredOutputByTool !== true) text.format = encodeFormat(output, out)
  if (verbosity !== undefined) {
    if (['low', 'medium', 'high'].includes(verbosity)) text.verbosity = verbosity
    else out.drop(out.nameOf('text.verbosity'))
  }
  return Object.keys(text).length === 0 ? undefined : text
}
