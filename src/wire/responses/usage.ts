// Usage on the responses wire: `input_tokens` is the whole prompt, the cache classes are parts of it.

import { isObject, type JsonObject } from '../../ir/json.ts'
import { count, disjoint, totalTokens, type Usage } from '../../ir/usage.ts'

/** The disjoint classes of a responses `usage` object; undefined where it is no such object (null until the end). */
export const decodeUsage = (raw: unknown): Usage | undefined => {
  if (!isObject(raw)) return undefined
  const inPrompt = isObject(raw.input_tokens_details) ? raw.input_tokens_details : {}
  const inOutput = isObject(raw.output_tokens_details) ? raw.output_tokens_details : {}
  return disjoint({
    prompt: count(raw.input_tokens),
    cacheRead: count(inPrompt.cached_tokens),
    cacheWrite: count(inPrompt.cache_write_tokens),
    output: count(raw.output_tokens),
    reasoning: count(inOutput.reasoning_tokens),
    total: count(raw.total_tokens),
  })
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
