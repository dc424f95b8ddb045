// Usage on this wire: `prompt_tokens` counts cached tokens in, `completion_tokens` counts reasoning in.

import { isObject, type JsonObject } from '../../ir/json.ts'
import type { Usage } from '../../ir/usage.ts'

const count = (value: unknown): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? Math.round(value) : undefined

/** The disjoint classes of a `usage` object; undefined where it holds no count at all. */
export const decodeUsage = (raw: unknown): Usage | undefined => {
  if (!isObject(raw)) return undefined
  const prompt = count(raw.prompt_tokens)
  const completion = count(raw.completion_tokens)
  if (prompt === undefined && completion === undefined) return undefined
  const promptDetails = isObject(raw.prompt_tokens_details) ? raw.prompt_tokens_details : {}
  const completionDetails = isObject(raw.completion_tokens_details) ? raw.completion_tokens_details : {}
  const cacheRead = count(promptDetails.cached_tokens) ?? count(raw.prompt_cache_hit_tokens)
  const cacheWrite = count(promptDetails.cache_write_tokens)
  const reasoning = count(completionDetails.reasoning_tokens)
  const usage: Usage = {}
  if (prompt !== undefined) usage.input = Math.max(0, prompt - (cacheRead ?? 0) - (cacheWrite ?? 0))
  if (cacheRead !== undefined) usage.cacheRead = cacheRead
  if (cacheWrite !== undefined) usage.cacheWrite = cacheWrite
  if (completion !== undefined) {
    // Some compatible servers leave reasoning out of the completion count: their own total gives it away.
    const apart =
      reasoning !== undefined && reasoning > 0 && raw.total_tokens === (prompt ?? 0) + completion + reasoning
    usage.output = apart ? completion + reasoning : completion
  }
  if (reasoning !== undefined) usage.reasoning = reasoning
  return usage
}

/** A `usage` object. The wire demands prompt, completion and total: a class nobody reported counts as none there. */
export const encodeUsage = (usage: Usage): JsonObject => {
  const prompt = (usage.input ?? 0) + (usage.cacheRead ?? 0) + (usage.cacheWrite ?? 0)
  const completion = usage.output ?? 0
  const promptDetails: JsonObject = {}
  if (usage.cacheRead !== undefined) promptDetails.cached_tokens = usage.cacheRead
  if (usage.cacheWrite !== undefined) promptDetails.cache_write_tokens = usage.cacheWrite
  const body: JsonObject = { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
  if (Object.keys(promptDetails).length > 0) body.prompt_tokens_details = promptDetails
  if (usage.reasoning !== undefined) body.completion_tokens_details = { reasoning_tokens: usage.reasoning }
  return body
}
