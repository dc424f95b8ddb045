// A request's settings on their way out: sampling, stops, form, thought, labels, and what only its own wire can say.

import { type ErrorOptions, GatewayError, invalidRequest } from '../../errors.ts'
import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import type { ChatRequest, OutputFormat } from '../../ir/request.ts'
import type { Target } from '../codec.ts'
import { isClosed } from '../object-schema.ts'
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

/** `held`: the client's own wire holds the model to every schema. */
export const encodeOutput = (output: OutputFormat, held: boolean): JsonObject => {
  if (output.type === 'json-object') return { type: 'json_object' }
  const { name = 'response', description, schema, strict } = output
  const json: JsonObject = { name: name.replace(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || 'response', schema }
  if (description !== undefined) json.description = description
  if (strict !== undefined) json.strict = strict
  else if (held && isClosed(schema)) json.strict = true
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
  if (mode === 'off') {
    body.reasoning_effort = 'none'
    if (effort !== undefined) out.drop('output_config.effort')
  } else if (effort !== undefined) {
    // The highest effort of the messages wire is one this vendor's models mostly refuse.
    body.reasoning_effort = effort === 'max' && out.origin === 'messages' ? 'xhigh' : effort
  } else if (mode === 'budget' && budgetTokens !== undefined) {
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

/** Members that the vendor's newer wire has under the same name and meaning, and what of each this wire knows. */
const SHARED: { [name: string]: ((value: Json) => Json | undefined) | undefined } = {
  store: (value) => value,
  safety_identifier: (value) => value,
  moderation: (value) => value,
  prompt_cache_retention: (value) => value,
  prompt_cache_options: (value) => {
    const { mode, ttl } = isObject(value) ? value : {}
    return { ...(mode === undefined ? {} : { mode }), ...(ttl === '30m' ? { ttl } : {}) }
  },
  stream_options: (value) => {
    const { include_obfuscation: blurred } = isObject(value) ? value : {}
    return blurred === undefined ? {} : { include_obfuscation: blurred }
  },
}

export const encodeOpaque = (request: ChatRequest, body: JsonObject, out: Outgoing): void => {
  for (const { name, value, essential, details, advice, met } of request.opaque) {
    if (request.origin === 'chat-completions') {
      // What stood within messages and tools is in its part.
      if (name.includes('.')) continue
      if (name !== 'stream_options') body[name] = value
      else if (request.stream && isObject(value)) body.stream_options = { ...value, include_usage: true }
    } else if (request.origin === 'responses' && SHARED[name] !== undefined) {
      const known = SHARED[name](value)
      if (JSON.stringify(known) !== JSON.stringify(value)) out.drop(name)
      if (name === 'stream_options') Object.assign(isObject(body.stream_options) ? body.stream_options : {}, known)
      else if (!isObject(known) || Object.keys(known).length > 0) body[name] = known
    } else if (met) {
      // Nothing to say here.
    } else if (essential) {
      const options: ErrorOptions = { param: name }
      if (details !== undefined) options.details = details
      throw new GatewayError(
        'invalid_request',
        `'${name}' cannot be used with this model. ${advice ?? 'Leave it out, or use a model whose provider has it.'}`,
        options,
      )
    } else {
      out.drop(name)
    }
  }
}
