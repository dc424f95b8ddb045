// Sampling, stop sequences, user and service tier as this provider takes them; what it does not take is listed as dropped.

import type { JsonObject } from '../../ir/json.ts'
import type { Quirks } from '../../ir/quirks.ts'
import type { ChatRequest } from '../../ir/request.ts'
import type { Undo } from '../codec.ts'
import { withoutDefaults } from '../settings/sampling.ts'
import { stopInGateway, stopsInGateway } from '../settings/stops.ts'
import type { Dropped } from './dropped.ts'
import { isBlank } from './encode-parts.ts'

/** The provider requires an output cap: the client's or the model's own, whichever is lower. */
export const cap = (wanted: number | undefined, most: number): number =>
  Math.max(1, Math.trunc(most > 0 ? Math.min(wanted ?? most, most) : (wanted ?? 4096)))

/** In this wire's ranges; with thinking, the provider takes almost no sampling parameters. */
export const encodeSampling = (
  request: ChatRequest,
  refused: boolean,
  thinking: JsonObject | undefined,
  dropped: Dropped,
): JsonObject => {
  const sampling = refused ? withoutDefaults(request.sampling) : request.sampling
  const { topK, frequencyPenalty, presencePenalty, seed } = withoutDefaults(request.sampling)
  const own = request.origin === 'messages'
  const thinks = thinking !== undefined && thinking.type !== 'disabled' && !own
  // Newer models take only one of the two: where one has its default, the other is sent.
  const both = !own && sampling.temperature !== undefined && sampling.topP !== undefined
  const temperature = both && sampling.temperature === 1 ? undefined : sampling.temperature
  const topP = both && temperature !== undefined && sampling.topP === 1 ? undefined : sampling.topP
  const out: JsonObject = {}
  const put = (name: string, value: number | undefined, allowed: boolean) => {
    if (value === undefined) return
    if (allowed && !refused) out[name] = value
    else dropped.path(name)
  }
  if (temperature !== undefined && !own && (temperature > 1 || temperature < 0)) {
    dropped.path('temperature')
    put('temperature', Math.min(Math.max(temperature, 0), 1), !thinks)
  } else {
    put('temperature', temperature, !thinks || temperature === 1)
  }
  put('top_p', topP, own || (temperature === undefined && (!thinks || (topP ?? 0) >= 0.95)))
  put('top_k', topK, !thinks)
  if (frequencyPenalty !== undefined) dropped.path('frequency_penalty')
  if (presencePenalty !== undefined) dropped.path('presence_penalty')
  if (seed !== undefined) dropped.path('seed')
  return out
}

/** The longest user id the provider takes. */
const MAX_USER = 256

/** The user, from whichever member the client uses for it. */
export const userOf = ({ user, metadata, opaque }: ChatRequest): string | undefined => {
  const safety = opaque.find(({ name }) => name === SAFETY)?.value
  return user ?? metadata?.user_id ?? (typeof safety === 'string' && safety.length <= MAX_USER ? safety : undefined)
}

/** The client's member of it. */
export const userMember = ({ user, metadata }: ChatRequest): string => {
  if (user !== undefined) return 'user'
  return metadata?.user_id === undefined ? SAFETY : 'metadata.user_id'
}

/** The other vendor's member for what this wire's user id is: it identifies users who misuse the model. */
export const SAFETY = 'safety_identifier'

const TIERS = new Map([
  ['auto', 'auto'],
  ['default', 'standard_only'],
])

/** Stop sequences, user and tier; lists what this wire has no member for. */
export const encodeRest = (
  request: ChatRequest,
  body: JsonObject,
  quirks: Quirks,
  { dropped, undo }: { dropped: Dropped; undo: Undo },
): void => {
  const own = request.origin === 'messages'
  const stop = stopsInGateway(quirks, 'stop_sequences') ? [] : (request.stop?.filter((text) => !isBlank(text)) ?? [])
  if (stop.length > 0) body.stop_sequences = stop
  // The vendor refuses stop sequences of white space alone.
  if (!stopInGateway(request.stop ?? [], undo, new Set(stop))) dropped.member('stop_sequences')

  const { user_id: _, ...metadata } = request.metadata ?? {}
  const user = userOf(request)
  if (user !== undefined && (own || user.length <= MAX_USER)) body.metadata = { user_id: user }
  else if (user !== undefined) dropped.path(userMember(request))
  if (Object.keys(metadata).length > 0) dropped.path('metadata')

  const tier = request.serviceTier === undefined ? undefined : TIERS.get(request.serviceTier)
  if (tier !== undefined) body.service_tier = tier
  else if (request.serviceTier !== undefined) dropped.path('service_tier')
  if (request.cacheKey !== undefined) dropped.path('prompt_cache_key')
  if (request.verbosity !== undefined && request.verbosity !== 'medium') dropped.member('verbosity')
}
