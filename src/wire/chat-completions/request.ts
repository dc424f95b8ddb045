// Requests, both ways. Members that the IR does not have are kept whole.

import { invalidRequest } from '../../errors.ts'
import { asObject, isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { placeOf } from '../../ir/place.ts'
import type { ChatRequest, OpaqueMember, Reasoning, Sampling } from '../../ir/request.ts'
import { atOnce, type Steps } from '../../lib/steps.ts'
import type { EncodedRequest, Target } from '../codec.ts'
import {
  given,
  optionalBoolean,
  optionalCount,
  optionalNumber,
  optionalString,
  readArray,
  readName,
  readObject,
  readString,
} from '../read.ts'
import { removeRefused } from '../refusal/opaque-member.ts'
import { noTools, nothingToRead } from '../refusal/refusals.ts'
import { EFFORTS, effortFor, knownEffort, SUMMARIES } from '../settings/effort.ts'
import { isFormless, JSON_ONLY, jsonBySchema } from '../settings/json-mode.ts'
import { forcesCall, sentChoice } from '../tools/choice.ts'
import { pairEmptyIds } from '../tools/empty-ids.ts'
import { withFoundNames, withToolsFor } from '../tools/list.ts'
import { SEARCH_MEMBER } from '../tools/web-search.ts'
import { CONTINUE, prefilledTurn } from '../turns/prefill.ts'
import { withSaid } from '../turns/said.ts'
import { decodeExtras } from './extras.ts'
import { askForJson, decodeForm, encodeForm, forceTool } from './form.ts'
import { encodeTurns } from './history.ts'
import { SAMPLING, SAMPLING_KEYS } from './members.ts'
import { type Outgoing, outgoing } from './outgoing.ts'
import { includeUsage } from './pass.ts'
import { encodeLabels, encodeMetadata, encodeOpaque, encodeSampling, encodeStop, encodeThinking } from './settings.ts'
import { decodeToolChoice, decodeTools, encodeToolChoice, encodeTools, opaqueChoice } from './tools.ts'
import { decodeTurns } from './turns.ts'

/** Throws `invalid_request` naming the member at fault. */
export const decodeRequest = (body: JsonObject): ChatRequest => atOnce(decodeInSteps(body))

export function* decodeInSteps(body: JsonObject): Steps<ChatRequest> {
  const turns = yield* decodeTurns(body.messages)
  yield
  pairEmptyIds(turns)
  const extras = yield* decodeExtras(body)
  const request: ChatRequest = {
    model: readName(body.model, 'model'),
    stream: optionalBoolean(body.stream, 'stream') ?? false,
    turns,
    tools: decodeTools(body),
    sampling: decodeSampling(body),
    origin: 'chat-completions',
    opaque: [...decodeOpaque(body), ...extras],
  }
  const set = <K extends keyof ChatRequest>(name: K, value: ChatRequest[K] | undefined): void => {
    if (value !== undefined) request[name] = value
  }
  set('toolChoice', decodeToolChoice(body))
  const parallel = optionalBoolean(body.parallel_tool_calls, 'parallel_tool_calls')
  set('parallelTools', parallel ?? (forbidsParallel(body.tool_choice) ? false : undefined))
  // The legacy form can hold one call only.
  if (given(body.functions) && !given(body.tools)) request.parallelTools = false
  const cap = optionalCount(body.max_completion_tokens, 'max_completion_tokens', 1)
  set('maxOutput', cap ?? optionalCount(body.max_tokens, 'max_tokens', 1))
  set('stop', decodeStop(body.stop))
  set('output', decodeForm(body.response_format))
  set('reasoning', decodeThinking(body))
  set('verbosity', optionalString(body.verbosity, 'verbosity'))
  if (optionalBoolean(body.logprobs, 'logprobs')) {
    request.logprobs = { top: optionalCount(body.top_logprobs, 'top_logprobs', 0) ?? 0 }
  } else if (optionalCount(body.top_logprobs, 'top_logprobs', 0)) {
    throw invalidRequest("'top_logprobs' needs 'logprobs' to be true.", 'top_logprobs')
  }
  set('user', optionalString(body.user, 'user'))
  if (given(body.metadata)) set('metadata', decodeMetadata(readObject(body.metadata, 'metadata')))
  set('cacheKey', optionalString(body.prompt_cache_key, 'prompt_cache_key'))
  set('serviceTier', optionalString(body.service_tier, 'service_tier'))
  return request
}

/** In the form of the messages wire. */
const forbidsParallel = (choice: Json | undefined): boolean =>
  isObject(choice) && choice.disable_parallel_tool_use === true

const decodeSampling = (body: JsonObject): Sampling => {
  const sampling: Sampling = {}
  for (const key of SAMPLING_KEYS) {
    const value = optionalNumber(body[SAMPLING[key]], SAMPLING[key])
    if (value !== undefined) sampling[key] = value
  }
  return sampling
}

const decodeStop = (stop: Json | undefined): string[] | undefined => {
  if (!given(stop)) return undefined
  const list = typeof stop === 'string' ? [stop] : readArray(stop, 'stop')
  const sequences = list.map((one, at) => readString(one, `stop.${at}`))
  return sequences.length === 0 ? undefined : sequences
}

const decodeThinking = (body: JsonObject): Reasoning | undefined => {
  const value = optionalString(body.reasoning_effort, 'reasoning_effort')
  if (value === undefined) return otherThinking(body)
  const effort = knownEffort(value)
  if (effort !== undefined) return { effort }
  throw invalidRequest(`'reasoning_effort' must be one of ${EFFORTS.join(', ')}.`, 'reasoning_effort')
}

/**
 * What clients of several vendors send instead of `reasoning_effort`: `reasoning` with an effort, a budget or a switch, or
 * `thinking` in the form of the messages wire. A budget becomes the effort that spends about as much.
 */
const otherThinking = (body: JsonObject): Reasoning | undefined => {
  const reasoning = asObject(body.reasoning)
  const thinking = asObject(body.thinking)
  const amount = amountOf(reasoning, thinking)
  if (amount === undefined) return undefined
  const summary = SUMMARIES.find((one) => one === reasoning.summary)
  if (summary !== undefined) return { ...amount, summary }
  return reasoning.exclude === true || thinking.display === 'omitted' ? { ...amount, summary: 'omitted' } : amount
}

const amountOf = (reasoning: JsonObject, { type, budget_tokens: budget }: JsonObject): Reasoning | undefined => {
  const effort = knownEffort(reasoning.effort)
  if (effort !== undefined) return { effort }
  const tokens = reasoning.max_tokens ?? (type === 'enabled' ? budget : undefined)
  if (typeof tokens === 'number') {
    return { effort: effortFor(tokens) }
  }
  if (reasoning.enabled === false || type === 'disabled') return { effort: 'none' }
  return reasoning.enabled === true || type === 'enabled' || type === 'adaptive' ? { mode: 'adaptive' } : undefined
}

const decodeMetadata = (raw: JsonObject): { [name: string]: string } =>
  Object.fromEntries(Object.entries(raw).map(([name, value]) => [name, readString(value, `metadata.${name}`)]))

/** Members that are read above or need not be kept. */
const KNOWN = new Set([
  'model',
  'messages',
  'stream',
  'stream_options',
  'max_tokens',
  'max_completion_tokens',
  'stop',
  'tools',
  'functions',
  'tool_choice',
  'function_call',
  'parallel_tool_calls',
  'response_format',
  'reasoning_effort',
  'verbosity',
  'logprobs',
  'top_logprobs',
  'user',
  'metadata',
  'prompt_cache_key',
  'service_tier',
  ...Object.values(SAMPLING),
])

/** Without these the answer would not be what the client asked for. */
const ESSENTIAL = new Set(['n', 'audio', 'modalities', 'moderation', 'web_search_options', 'tool_choice'])

/** Wishes that are met at any provider. */
const MET: { [name: string]: Json } = { store: false, include_reasoning: true, reasoning_format: 'parsed' }

/** Read by `otherThinking`. */
const THINKING = new Set(['reasoning', 'thinking'])

/** Read as a tool. */
const isSearch = (name: string, value: Json): boolean => name === SEARCH_MEMBER && isObject(value)

const decodeOpaque = (body: JsonObject): OpaqueMember[] => {
  const opaque: OpaqueMember[] = []
  const isRead = !given(body.reasoning_effort) && otherThinking(body) !== undefined
  const keep = (name: string, value: Json) => {
    // No provider of another wire stores answers anyway, and what is shown of thoughts is shown apart from the text.
    const isMet =
      MET[name] === value ||
      (THINKING.has(name) && isRead) ||
      (name === 'usage' && includeUsage(body)) ||
      isSearch(name, value)
    const met = isMet ? { met: true as const } : {}
    opaque.push({ name, value, essential: ESSENTIAL.has(name), ...met })
  }
  if (given(body.tool_choice) && opaqueChoice(body.tool_choice)) keep('tool_choice', body.tool_choice)
  optionalCount(body.n, 'n', 1)
  for (const [name, value] of Object.entries(body)) {
    if (KNOWN.has(name) || !given(value)) continue
    if (name === 'n' && value === 1) continue
    if (name === 'modalities' && Array.isArray(value) && value.every((one) => one === 'text')) continue
    if (name === 'logit_bias' && isObject(value) && Object.keys(value).length === 0) continue
    keep(name, value)
  }
  if (isObject(body.stream_options)) {
    const { include_usage: _, ...rest } = body.stream_options
    if (Object.keys(rest).length > 0) keep('stream_options', rest)
  }
  return opaque
}

/** Throws `invalid_request` where leaving something out would change the request's meaning. */
export const encodeRequest = (original: ChatRequest, target: Target): EncodedRequest =>
  atOnce(encodeInSteps(original, target))

export function* encodeInSteps(original: ChatRequest, target: Target): Steps<EncodedRequest> {
  const request = withSaid(withToolsFor(original, 'chat-completions'), 'chat-completions', target.blind)
  yield
  const { quirks } = target
  const out = outgoing(request, target)
  const { undo } = out.names
  if (quirks.noDone) undo.noDone = true
  const messages = yield* encodeConversation(request, out)
  const body: JsonObject = { model: target.model, messages }
  if (request.stream) {
    body.stream = true
    if (!quirks.rejects?.includes('stream_options')) body.stream_options = { include_usage: true }
  }
  encodeToolUse(request, body, out)
  if (request.maxOutput !== undefined) {
    const most = Math.min(request.maxOutput, target.maxOutput)
    const { maxTokensField = 'max_completion_tokens', leastOutput = most } = quirks
    if (most < leastOutput) out.drop(out.nameOf(maxTokensField))
    body[maxTokensField] = Math.max(most, leastOutput)
  }
  encodeSampling(request, target, body, out)
  encodeStop(request, body, out)
  if (request.output !== undefined) {
    const byTool = quirks.structuredOutputByTool === true || (quirks.outputOrTools === true && body.tools !== undefined)
    if (!byTool) body.response_format = encodeForm(request.output, out)
    else if (isFormless(request.output)) askForJson(JSON_ONLY, messages, out)
    else if (quirks.noForcedTools && request.output.type === 'json-schema')
      askForJson(jsonBySchema(request.output.schema), messages, out)
    else if (!forcesCall(request.toolChoice)) undo.jsonTool = forceTool(request.output, body, out)
  }
  encodeThinking(request, target, body, out)
  if (request.verbosity !== undefined) {
    if (['low', 'medium', 'high'].includes(request.verbosity)) body.verbosity = request.verbosity
    else out.drop(out.nameOf('verbosity'))
  }
  if (request.logprobs !== undefined) {
    body.logprobs = true
    body.top_logprobs = request.logprobs.top
  }
  encodeLabels(request, body, out)
  encodeOpaque(request, body, out)
  // Checked last: a conversation kept at another provider is refused for that first, with a code that its client acts on.
  if (messages.length === 0) throw nothingToRead(out.nameOf('messages'))
  encodeMetadata(request, body, out)
  removeRefused(body, quirks, (name) => out.drop(out.nameOf(name)))
  return { body, dropped: [...out.dropped], undo }
}

function* encodeConversation(request: ChatRequest, out: Outgoing): Steps<JsonObject[]> {
  const messages = yield* encodeTurns({ ...request, turns: withFoundNames(request.turns, out.names.of) }, out)
  const prefilled = prefilledTurn(request)
  if (prefilled === undefined) return messages
  out.drop(placeOf(prefilled, 'messages'))
  return [...messages, { role: 'user', content: CONTINUE }]
}

const encodeToolUse = (request: ChatRequest, body: JsonObject, out: Outgoing): void => {
  const { tools, toolChoice: choice, parallelTools } = request
  const encoded = encodeTools(tools, out)
  if (encoded.length === 0) {
    if (choice === undefined || choice.type === 'auto' || choice.type === 'none') return
    throw noTools(choice)
  }
  body.tools = encoded
  if (choice !== undefined) body.tool_choice = sentChoice(choice, out, (one) => encodeToolChoice(one, tools, out))
  if (parallelTools !== undefined) body.parallel_tool_calls = parallelTools
}
