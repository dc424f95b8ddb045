// The plain settings of a request as this provider takes them; what it does not take is listed.

import type { JsonObject } from '../../ir/json.ts'
import type { ChatRequest } from '../../ir/request.ts'
import type { Undo } from '../codec.ts'
import { endThere } from '../stops.ts'
import type { Dropped } from './dropped.ts'
import { isBlank } from './encode-parts.ts'

/** The provider demands a cap: the model's own where the client gave none, never more than that. */
export const cap = (wanted: number | undefined, most: number): number =>
  Math.max(1, Math.trunc(most > 0 ? Math.min(wanted ?? most, most) : (wanted ?? 4096)))

/** The range of this wire; with thinking the provider takes hardly any of it. */
export const encodeSampling = (
  request: ChatRequest,
  refused: boolean,
  thinking: JsonObject | undefined,
  dropped: Dropped,
): JsonObject => {
  const { topK, frequencyPenalty, presencePenalty, seed } = request.sampling
  const own = request.origin === 'messages'
  const thinks = thinking !== undefined && thinking.type !== 'disabled' && !own
  // Newer models take one of the two: the one that differs from its default, which says the same by itself.
  const both = !own && request.sampling.temperature !== undefined && request.sampling.topP !== undefined
  const temperature = both && request.sampling.temperature === 1 ? undefined : request.sampling.temperature
  const topP = both && temperature !== undefined && request.sampling.topP === 1 ? undefined : request.sampling.topP
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
  if (frequencyPenalty !== undefined && frequencyPenalty !== 0) dropped.path('frequency_penalty')
  if (presencePenalty !== undefined && presencePenalty !== 0) dropped.path('presence_penalty')
  if (seed !== undefined) dropped.path('seed')
  return out
}

/** The longest user id the provider takes. */
const MAX_USER = 256

/** Who asks, in whichever member the client says so. */
export const userOf = ({ user, metadata, opaque }: ChatRequest): string | undefined => {
  const safety = opaque.find(({ name }) => name === SAFETY)?.value
  return user ?? metadata?.user_id ?? (typeof safety === 'string' && safety.length <= MAX_USER ? safety : undefined)
}

/** The other vendor's member for the same end as this wire's user id: whoever misuses the model is known by it. */
export const SAFETY = 'safety_identifier'

const TIERS = new Map([
  ['auto', 'auto'],
  ['default', 'standard_only'],
])

/** Stops, the user, the tier; and what this wire has no word for. */
export const encodeRest = (request: ChatRequest, body: JsonObject, dropped: Dropped, undo: Undo): void => {
  const own = request.origin === 'messages'
  const stop = request.stop?.filter((text) => !isBlank(text)) ?? []
  if (stop.length > 0) body.stop_sequences = stop
  // The vendor refuses those of white space alone.
  if (!endThere(request.stop?.filter(isBlank) ?? [], undo)) dropped.path(own ? 'stop_sequences' : 'stop')

  const { user_id: _, ...metadata } = request.metadata ?? {}
  const user = userOf(request)
  if (user !== undefined && (own || user.length <= MAX_USER)) body.metadata = { user_id: user }
  else if (user !== undefined) dropped.path('user')
  if (Object.keys(metadata).length > 0) dropped.path('metadata')

  const tier = request.serviceTier === undefined ? undefined : TIERS.get(request.serviceTier)
  if (tier !== undefined) body.service_tier = tier
  else if (request.serviceTier !== undefined) dropped.path('service_tier')
  if (request.cacheKey !== undefined) dropped.path('prompt_cache_key')
  if (request.verbosity !== undefined && request.verbosity !== 'medium') dropped.member('verbosity')
}
