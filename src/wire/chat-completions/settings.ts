// A request's settings, encoded: sampling, stop sequences, reasoning, labels, and members that only one wire has.

import { asObject, isObject, type JsonObject } from '../../ir/json.ts'
import type { ChatRequest } from '../../ir/request.ts'
import type { Target } from '../codec.ts'
import { leaveOut, SHARED } from '../refusal/opaque-member.ts'
import { effortOf, leastThought } from '../settings/effort.ts'
import { withoutDefaults } from '../settings/sampling.ts'
import { stopInGateway, stopsInGateway } from '../settings/stops.ts'
import { SAMPLING, SAMPLING_KEYS, tierOf } from './members.ts'
import type { Outgoing } from './outgoing.ts'

export const encodeSampling = (
  { sampling }: ChatRequest,
  { quirks }: Target,
  body: JsonObject,
  out: Outgoing,
): void => {
  const wanted = quirks.noSampling ? withoutDefaults(sampling) : sampling
  for (const key of SAMPLING_KEYS) {
    const value = wanted[key]
    if (value === undefined) continue
    // The vendor has no top_k; a seed is no sampling parameter of a model.
    if (key === 'topK' || (quirks.noSampling && key !== 'seed')) out.drop(SAMPLING[key])
    else body[SAMPLING[key]] = value
  }
}

const MAX_STOPS = 4

export const encodeStop = ({ stop, origin }: ChatRequest, body: JsonObject, out: Outgoing): void => {
  if (stop === undefined || stop.length === 0) return
  const most = stopsInGateway(out.quirks, 'stop') ? 0 : MAX_STOPS
  const sent = origin === 'chat-completions' && most > 0 ? stop : stop.slice(0, most)
  if (sent.length > 0) body.stop = sent
  if (!stopInGateway(stop, out.names.undo, new Set(sent))) out.drop(out.nameOf('stop'))
}

export const encodeThinking = (
  { reasoning, opaque, origin }: ChatRequest,
  { quirks }: Target,
  body: JsonObject,
  out: Outgoing,
): void => {
  if (reasoning === undefined) return
  // It was read from `reasoning` or `thinking`, which are sent as they came.
  if (origin === 'chat-completions' && opaque.some(({ name, met }) => met && name !== 'store')) return
  const drop = (setting: 'reasoning' | 'effort'): void =>
    out.drop(out.nameOf(setting === 'effort' ? 'output_config.effort' : 'reasoning_effort'))
  const wanted = leastThought(reasoning, quirks, drop)
  const { mode, effort, summary } = wanted
  if (quirks.noReasoning) {
    if (mode !== 'off' && effort !== 'none') drop('reasoning')
    return
  }
  if (summary !== undefined && summary !== 'omitted') out.drop(out.nameOf('reasoning.summary'))
  const sent = effortOf(wanted, quirks, out.origin, drop)
  if (sent !== undefined) body.reasoning_effort = sent
}

const MAX_LABEL = 64

/** User, cache key and service tier. Those of other wires may be longer than the vendor takes. */
export const encodeLabels = (request: ChatRequest, body: JsonObject, out: Outgoing): void => {
  const label = (member: string, value: string | undefined): void => {
    if (value === undefined) return
    if (value.length > MAX_LABEL && out.origin !== 'chat-completions') out.drop(out.nameOf(member))
    else body[member] = value
  }
  label('user', request.user)
  label('prompt_cache_key', request.cacheKey)
  if (request.serviceTier === undefined) return
  const tier = tierOf(request.serviceTier)
  if (tier === undefined) out.drop('service_tier')
  else body.service_tier = tier
}

/** The vendor takes metadata for stored answers only. */
export const encodeMetadata = ({ metadata }: ChatRequest, body: JsonObject, out: Outgoing): void => {
  if (metadata === undefined || Object.keys(metadata).length === 0) return
  if (out.origin === 'chat-completions' || body.store === true) body.metadata = metadata
  else out.drop('metadata')
}

/** The parts that this wire takes of members that it shares with the vendor's newer one. */
const KNOWN: { [name: string]: ((value: JsonObject) => JsonObject) | undefined } = {
  prompt_cache_options: ({ mode, ttl }) => ({
    ...(mode === undefined ? {} : { mode }),
    ...(ttl === '30m' ? { ttl } : {}),
  }),
  stream_options: ({ include_obfuscation: obfuscate }) =>
    obfuscate === undefined ? {} : { include_obfuscation: obfuscate },
}

export const encodeOpaque = (request: ChatRequest, body: JsonObject, out: Outgoing): void => {
  for (const member of request.opaque) {
    const { name, value } = member
    if (request.origin === 'chat-completions') {
      // Members of messages and tools are in the IR's parts.
      if (name.includes('.')) continue
      if (name !== 'stream_options') body[name] = value
      else if (request.stream && isObject(value)) body.stream_options = { ...value, include_usage: true }
    } else if (request.origin === 'responses' && SHARED.has(name)) {
      const known = KNOWN[name]?.(asObject(value)) ?? value
      if (JSON.stringify(known) !== JSON.stringify(value)) out.drop(name)
      if (name === 'stream_options') Object.assign(asObject(body.stream_options), known)
      else if (!isObject(known) || Object.keys(known).length > 0) body[name] = known
    } else {
      leaveOut(member, out.drop)
    }
  }
}
