// Usage of the images wire: input and output tokens, the output being image tokens.

import { isObject, type JsonObject } from '../../ir/json.ts'
import { count, disjoint, sum, type Usage } from '../../ir/usage.ts'

/** An answer's usage object, with what the model took that wrote the picture in SVG: it is told, and billed, beside. */
export const usageObject = ({ usage, svg_usage: author }: JsonObject): JsonObject | undefined => {
  if (!isObject(usage)) return undefined
  return isObject(author) ? { ...usage, svg_usage: author } : usage
}

/** The prompt's tokens include cached ones where the vendor names them. Relays name both as chat-completions does. */
export const decodeUsage = (raw: unknown): Usage | undefined => {
  if (!isObject(raw)) return undefined
  const author = isObject(raw.svg_usage) ? decodeUsage({ ...raw.svg_usage, svg_usage: null }) : undefined
  const details = isObject(raw.input_tokens_details) ? raw.input_tokens_details : {}
  const usage = disjoint({
    prompt: count(raw.input_tokens ?? raw.prompt_tokens),
    cacheRead: count(details.cached_tokens),
    cacheWrite: undefined,
    // No picture is made of nothing: servers that do not count say nought.
    output: count(raw.output_tokens ?? raw.completion_tokens) || undefined,
    reasoning: count(raw.reasoning_tokens),
    total: count(raw.total_tokens),
  })
  // A picture without figures is billed as it is set to be: its author's must not stand in for them.
  if (usage.output !== undefined) return sum(usage, author)
  return Object.keys(usage).length > 0 ? usage : undefined
}
