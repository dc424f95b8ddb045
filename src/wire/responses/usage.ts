// Usage on the responses wire: `input_tokens` is the whole prompt, the cache classes are parts of it.

import { isObject, type Json, type JsonObject } from '../../ir/json.ts'
import { totalTokens, type Usage } from '../../ir/usage.ts'

/** The disjoint classes of a responses `usage` object; undefined where it is no such object (null until the end). */
export const decodeUsage = (raw: unknown): Usage | undefined => {
  if (!isObject(raw)) return undefined
  const details = isObject(raw.input_tokens_details) ? raw.input_tokens_details : {}
  const produced = isObject(raw.output_tokens_details) ? raw.output_tokens_details : {}
  const usage: Usage = {}
  const prompt = count(raw.input_tokens)
  const cacheRead = count(details.cached_tokens)
  const cacheWrite = count(details.cache_write_tokens)
  const output = count(raw.output_tokens)
  const reasoning = count(produced.reasoning_tokens)
  if (prompt !== undefined) usage.input = Math.max(0, prompt - (cacheRead ?? 0) - (cacheWrite ?? 0))
  if (cacheRead !== undefined) usage.cacheRead = cacheRead
  if (cacheWrite !== undefined) usage.cacheWrite = cacheWrite
  if (output !== undefined) usage.output = output
  if (reasoning !== undefined) usage.reasoning = reasoning
  return usage
}

/** The `usage` object of a finished response, every member its clients require included. */
export const encodeUsage = (usage: Usage): JsonObject => {
  const cacheRead = usage.cacheRead ?? 0
  const cacheWrite = usage.cacheWrite
  return {
    input_tokens: (usage.input ?? 0) + cacheRead + (cacheWrite ?? 0),
    input_tokens_details: {
      cached_tokens: cacheRead,
      ...(cacheWrite === undefined ? {} : { cache_write_tokens: cacheWrite }),
    },
    output_tokens: usage.output ?? 0,
    output_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
    total_tokens: totalTokens(usage),
  }
}

const count = (value: Json | undefined): number | undefined =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0 ? value : undefined
