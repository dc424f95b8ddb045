// A request's settings on their way out: sampling, stops, form, thought, labels, and what only its own wire can say.

import { type ErrorOptions, GatewayError, invalidRequest } from '../../errors.ts'
import { isObject, type JsonObject } from '../../ir/json.ts'
import type { ChatRequest, OutputFormat } from '../../ir/request.ts'
import type { Target } from '../codec.ts'
import { memberName, SAMPLING, SAMPLING_KEYS, tierOf } from './members.ts'
import type { Outgoing } from './outgoing.ts'

export const encodeSampling = (
  { sampling }: ChatRequest,
  { quirks }: Target,
  body: JsonObject,
  out: Outgoing,
): void => {
  for (const key of SAMPLING_KEYS) {
    const value = sampling[key]
    if (value === undefined) continue
    // The vendor has no top_k; a seed is no sampling parameter of a model.
    if (key === 'topK' || (quirks.noSampling && key !== 'seed')) out.drop(SAMPLING[key])
    else body[SAMPLING[key]] = value
  }
}

const MAX_STOPS = 4

export const encodeStop = ({ stop, origin }: ChatRequest, body: JsonObject, out: Outgoing): void => {
  if (stop === undefined || stop.length === 0) return
  const name = memberName(out.origin, 'stop')
  if (stop.length > MAX_STOPS && origin !== 'chat-completions') {
    throw invalidRequest(`'${name}': this model takes at most ${MAX_STOPS} stop sequences.`, name)
  }
  body.stop = stop
}

export const encodeOutput = (output: OutputFormat): JsonObject => {
  if (output.type === 'json-object') return { type: 'json_object' }
  const { name = 'response', description, schema, strict } = output
  const json: JsonObject = { name: name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'response', schema }
  if (description !== undefined) json.description = description
  if (strict !== undefined) json.strict = strict
  return { type: 'json_schema', json_schema: json }
}

/** A budget has no counterpart: it becomes the effort that spends about as much. */
export const encodeReasoning = (
  { reasoning }: ChatRequest,
  { quirks }: Target,
  body: JsonObject,
  out: Outgoing,
): void => {
  if (reasoning === undefined) return
  const { mode, budgetTokens, effort, summary } = reasoning
  const shown = summary !== undefined && summary !== 'omitted'
  if (quirks.noReasoning) {
    if (mode !== 'off' && effort !== 'none') out.drop(memberName(out.origin, 'reasoning_effort'))
    return
  }
  if (shown) out.drop(memberName(out.origin, 'reasoning.summary'))
  // The highest effort of the messages wire is one this vendor's models mostly refuse.
  if (effort !== undefined) body.reasoning_effort = effort === 'max' && out.origin === 'messages' ? 'xhigh' : effort
  else if (mode === 'off') body.reasoning_effort = 'none'
  else if (mode === 'budget' && budgetTokens !== undefined) {
    body.reasoning_effort = budgetTokens <= 4_096 ? 'low' : budgetTokens <= 16_384 ? 'medium' : 'high'
  }
}

const MAX_LABEL = 64

/** Who asks and how to bill and cache it. Labels of other wires may be longer than the vendor takes. */
export const encodeLabels = (request: ChatRequest, body: JsonObject, out: Outgoing): void => {
  const label = (member: string, value: string | undefined): void => {
    if (value === undefined) return
    if (value.length > MAX_LABEL && out.origin !== 'chat-completions') out.drop(memberName(out.origin, member))
    else body[member] = value
  }
  label('user', request.user)
  label('prompt_cache_key', request.cacheKey)
  if (request.serviceTier === undefined) return
  const tier = tierOf(request.serviceTier)
  if (tier === undefined) out.drop('service_tier')
  else body.service_tier = tier
}

/** Members that the vendor's newer wire has under the same name and meaning. */
const SHARED = new Set(['store', 'safety_identifier', 'prompt_cache_retention', 'prompt_cache_options'])

export const encodeOpaque = (request: ChatRequest, body: JsonObject, out: Outgoing): void => {
  for (const { name, value, essential, details, advice } of request.opaque) {
    if (request.origin === 'chat-completions') {
      if (name !== 'stream_options') body[name] = value
      else if (request.stream && isObject(value)) body.stream_options = { ...value, include_usage: true }
    } else if (request.origin === 'responses' && SHARED.has(name)) {
      body[name] = value
    } else if (essential) {
      const options: ErrorOptions = { param: name }
      if (details !== undefined) options.details = details
      throw new GatewayError(
        'invalid_request',
        `'${name}' cannot be used with this model.${advice === undefined ? '' : ` ${advice}`}`,
        options,
      )
    } else {
      out.drop(name)
    }
  }
}
