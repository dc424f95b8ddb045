// Usage of the images wire: input and output tokens, the output being image tokens.

import { asObject, isObject, type JsonObject } from '../../ir/json.ts'
import { count, disjoint, inKinds, sum, type Usage } from '../../ir/usage.ts'

/** An answer's usage object, with that of the model that wrote an SVG image: it is reported and billed separately. */
export const usageObject = ({ usage, svg_usage: svgUsage }: JsonObject): JsonObject | undefined => {
  if (!isObject(usage)) return undefined
  return isObject(svgUsage) ? { ...usage, svg_usage: svgUsage } : usage
}

/** Prompt tokens include cached ones, where the vendor reports those. Some servers use the names of chat-completions. */
export const decodeUsage = (raw: unknown): Usage | undefined => {
  if (!isObject(raw)) return undefined
  const svgUsage = isObject(raw.svg_usage) ? decodeUsage({ ...raw.svg_usage, svg_usage: null }) : undefined
  const details = asObject(raw.input_tokens_details)
  const classes = disjoint({
    prompt: count(raw.input_tokens ?? raw.prompt_tokens),
    cacheRead: count(details.cached_tokens),
    cacheWrite: undefined,
    // An image has output tokens: servers that do not count them report 0.
    output: count(raw.output_tokens ?? raw.completion_tokens) || undefined,
    reasoning: count(raw.reasoning_tokens),
    total: count(raw.total_tokens),
  })
  const usage = inKinds(classes, details, asObject(raw.output_tokens_details))
  // An image without output tokens is billed at its configured count: the SVG model's must not take their place.
  if (usage.output !== undefined) return sum(usage, svgUsage)
  return Object.keys(usage).length > 0 ? usage : undefined
}
