// Usage on the responses wire: `input_tokens` is the whole prompt, cached tokens included.

import { asObject, isObject, type JsonObject } from '../../ir/json.ts'
import { count, disjoint, inCharge, inKinds, sum, totalTokens, type Usage } from '../../ir/usage.ts'

/** A response's usage object, with the usage of the image generation tool, which is reported and billed separately. */
export const usageObject = ({ usage, tool_usage: tools }: JsonObject): JsonObject | undefined => {
  if (!isObject(usage)) return undefined
  return totalTokens(imageUsage({ tool_usage: tools }) ?? {}) > 0 ? { ...usage, tool_usage: tools ?? null } : usage
}

/** The disjoint classes of a responses `usage` object; undefined where it is not an object (it is null until the end). */
export const decodeUsage = (raw: unknown): Usage | undefined => {
  if (!isObject(raw)) return undefined
  return inCharge(sum(classesOf(raw), imageUsage(raw)) ?? {}, raw)
}

const imageUsage = ({ tool_usage: tools }: JsonObject): Usage | undefined => {
  const pictures = isObject(tools) ? tools.image_gen : undefined
  if (!isObject(pictures)) return undefined
  const { cached_tokens: cached = null, input_tokens_details: inPrompt } = pictures
  return classesOf({ ...pictures, input_tokens_details: { cached_tokens: cached, ...asObject(inPrompt) } })
}

const classesOf = (raw: JsonObject): Usage => {
  // A few servers of this wire tell them under another wire's names.
  const inPrompt = asObject(raw.input_tokens_details ?? raw.prompt_tokens_details)
  const inOutput = asObject(raw.output_tokens_details ?? raw.completion_tokens_details)
  const usage = disjoint({
    prompt: count(raw.input_tokens) ?? count(raw.prompt_tokens),
    cacheRead: count(inPrompt.cached_tokens),
    cacheWrite: count(inPrompt.cache_write_tokens),
    output: count(raw.output_tokens) ?? count(raw.completion_tokens),
    reasoning: count(inOutput.reasoning_tokens),
    total: count(raw.total_tokens),
  })
  // The wire's longer lifetime, 12 hours, is counted as the IR's longer one, an hour.
  const lifetimes = asObject(inPrompt.cache_write_tokens_details)
  const long = Math.min(count(lifetimes.ttl_12h_tokens) ?? 0, usage.cacheWrite ?? 0)
  if (long > 0) usage.cacheWrite1h = long
  return inKinds(usage, inPrompt, inOutput)
}

/** The `usage` object of a finished response, every member its clients require included. */
export const encodeUsage = (usage: Usage): JsonObject => {
  const { cacheRead = 0, cacheWrite = 0, cacheWrite1h: long } = usage
  const lifetimes = { ttl_12h_tokens: long ?? 0, ttl_30m_tokens: cacheWrite - (long ?? 0) }
  return {
    input_tokens: (usage.input ?? 0) + cacheRead + cacheWrite,
    input_tokens_details: {
      cached_tokens: cacheRead,
      cache_write_tokens: cacheWrite,
      ...(long === undefined ? {} : { cache_write_tokens_details: lifetimes }),
    },
    output_tokens: usage.output ?? 0,
    output_tokens_details: { reasoning_tokens: usage.reasoning ?? 0 },
    total_tokens: totalTokens(usage),
  }
}
